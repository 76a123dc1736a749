"""Owns the limits of the backends: each lets through what scaly-viz writes."""

from __future__ import annotations

import re

from scaly_viz.codec import BODY_CHARS
from scaly_viz.spans import SPAN_CHARS

from .files import read_yaml
from .test_compose import SERVICES

_MIB = 1 << 20
# What scaly-viz puts into one message at most.
_MESSAGE_BYTES = 3_500_000

_JAEGER = read_yaml("jaeger/jaeger.yaml")
_TEMPO = read_yaml("tempo/tempo.yaml")
_COLLECTOR = read_yaml("collector/collector.yaml")
_RECEIVERS = {
    "jaeger": _JAEGER["receivers"]["otlp"]["protocols"],
    "tempo": _TEMPO["distributor"]["receivers"]["otlp"]["protocols"],
    "collector": _COLLECTOR["receivers"]["otlp"]["protocols"],
}


def test_receivers_take_the_largest_message() -> None:
    for protocols in _RECEIVERS.values():
        assert protocols["grpc"]["max_recv_msg_size_mib"] * _MIB > 4 * _MESSAGE_BYTES
        assert protocols["http"].get("max_request_body_size", 20 * _MIB) > 4 * _MESSAGE_BYTES


def test_receivers_listen_on_the_ports_that_are_published() -> None:
    for name, protocols in _RECEIVERS.items():
        published = {port.split(":")[2] for port in SERVICES[name]["ports"]}

        for protocol in protocols.values():
            host, port = protocol["endpoint"].split(":")
            assert host == "0.0.0.0"
            assert port in published


def test_a_payload_body_is_shorter_than_what_tempo_cuts_and_badger_refuses() -> None:
    assert _TEMPO["distributor"]["max_attribute_bytes"] > 4 * BODY_CHARS
    assert BODY_CHARS + 200 < 65_000


def test_a_trace_of_tempo_fits_the_messages_between_its_parts() -> None:
    limits = _TEMPO["overrides"]["defaults"]

    assert SPAN_CHARS < limits["global"]["max_bytes_per_trace"] < 16 * _MIB
    assert limits["ingestion"]["burst_size_bytes"] > _MESSAGE_BYTES


def test_tempo_counts_spans_of_every_kind_without_a_prometheus() -> None:
    generator = _TEMPO["metrics_generator"]

    assert _TEMPO["overrides"]["defaults"]["metrics_generator"]["processors"] == ["local-blocks"]
    assert generator["processor"]["local_blocks"]["filter_server_spans"] is False
    assert "remote_write" not in generator["storage"]


def test_the_agent_keeps_on_disk_what_it_acknowledged_and_cuts_by_bytes() -> None:
    exporter = _COLLECTOR["exporters"]["otlp_http"]
    queue = exporter["sending_queue"]

    assert queue["storage"] in _COLLECTOR["service"]["extensions"]
    assert queue["sizer"] == queue["batch"]["sizer"] == "bytes"
    assert SPAN_CHARS < queue["batch"]["max_size"] <= _MESSAGE_BYTES < 4 * _MIB
    assert exporter["retry_on_failure"]["max_elapsed_time"] == "0s"
    # Anything behind the receiver that holds spans in memory would lose what it acknowledged.
    assert _COLLECTOR["service"]["pipelines"]["traces"]["processors"] == ["memory_limiter"]


def test_data_lies_in_the_volume_of_its_service() -> None:
    badger = _JAEGER["extensions"]["jaeger_storage"]["backends"]["recordings"]["badger"]
    folders = {
        "jaeger": [*badger["directories"].values()],
        "tempo": [
            _TEMPO["storage"]["trace"]["wal"]["path"],
            _TEMPO["storage"]["trace"]["local"]["path"],
            _TEMPO["metrics_generator"]["storage"]["path"],
            _TEMPO["metrics_generator"]["traces_storage"]["path"],
        ],
        "collector": [_COLLECTOR["extensions"]["file_storage"]["directory"]],
    }
    for name, paths in folders.items():
        (volume,) = [
            mount.split(":")[1]
            for mount in SERVICES[name]["volumes"]
            if mount.startswith(f"{name}:")
        ]
        assert all(path.startswith(volume + "/") for path in paths)
    assert badger["ephemeral"] is False


def test_both_backends_keep_recordings_equally_long() -> None:
    badger = _JAEGER["extensions"]["jaeger_storage"]["backends"]["recordings"]["badger"]

    kept = {badger["ttl"]["spans"], _TEMPO["compactor"]["compaction"]["block_retention"]}
    assert kept == {"720h"}
    assert all(re.fullmatch(r"\d+h", time) for time in kept)
