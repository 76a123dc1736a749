"""The API: what it answers, how it is cached, what it says when it cannot."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from scaly_viz.codec import FailedPayload, Payload
from scaly_viz.sources import load_dicts
from scaly_viz.spans import Failure
from scaly_viz_viewer import create_app

from .recorded import STEPS, Recorder

API = "/api/v1"
TESTS = Path(__file__).parents[1]


def listed(client: FlaskClient, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"{API}/recordings{query}")
    assert response.status_code == 200
    recordings: list[dict[str, Any]] = response.json["recordings"] if response.json else []
    return recordings


def detail(client: FlaskClient, key: str) -> dict[str, Any]:
    response = client.get(f"{API}/recordings/{key}")
    assert response.status_code == 200
    found: dict[str, Any] = response.json or {}
    return found


def error(client: FlaskClient, url: str) -> tuple[int, str, str]:
    response = client.get(url)
    assert response.json is not None
    return response.status_code, response.json["error"]["code"], response.json["error"]["message"]


def test_recordings_are_listed_newest_first(client: FlaskClient, recorder: Recorder) -> None:
    first = recorder.record("cartpole", label="tuned weights")
    second = recorder.record("defect")
    newest, oldest = listed(client)
    assert (newest["id"], newest["name"], newest["steps"]) == (second, "defect", 3)
    assert (oldest["id"], oldest["name"], oldest["function"]) == (
        first,
        "tuned weights",
        "cartpole",
    )
    assert {newest["status"], oldest["status"]} == {"ok"}


def test_an_empty_or_missing_file_has_no_recordings(client: FlaskClient, path: Path) -> None:
    assert listed(client) == []
    path.touch()
    assert listed(client) == []


def test_a_section_of_the_list_can_be_asked_for(client: FlaskClient, recorder: Recorder) -> None:
    ids = [recorder.record() for _ in range(5)][::-1]
    answer = client.get(f"{API}/recordings?limit=2&offset=1").json
    assert answer is not None
    assert [recording["id"] for recording in answer.pop("recordings")] == ids[1:3]
    assert answer == {"total": 5, "offset": 1, "limit": 2}
    assert listed(client, "?offset=9") == []
    assert listed(client, "?limit=0") == []


@pytest.mark.parametrize("query", ["limit=-1", "limit=x", "offset=", "limit=1e3", "offset=٣"])
def test_a_section_that_makes_no_sense_is_refused(client: FlaskClient, query: str) -> None:
    name = query.partition("=")[0]
    message = f"{name} must be a whole number, 0 or more"
    assert error(client, f"{API}/recordings?{query}") == (400, "bad_parameter", message)


def test_recordings_are_chosen_by_words_and_put_in_order(
    client: FlaskClient, recorder: Recorder
) -> None:
    recorder.record("ocp_cartpole", steps=STEPS[:1])
    recorder.record("qp")
    recorder.record("ocp_crane", failure=Failure("ValueError", "no", ""))

    def names(query: str) -> list[str]:
        return [summary["function"] for summary in listed(client, query)]

    assert names("?q=fn:ocp*") == ["ocp_crane", "ocp_cartpole"]
    assert names("?q=fn:ocp*&order=asc") == ["ocp_cartpole", "ocp_crane"]
    assert names("?q=-failed&sort=name&order=asc") == ["ocp_cartpole", "qp"]
    assert names("?sort=steps&order=asc&limit=1") == ["ocp_cartpole"]
    assert {summary["source"] for summary in listed(client)} == {"recordings.jsonl"}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?q=since:x", "q: 'x' is neither a time span nor a date, as 2h, 3d or 2026-11-30"),
        ("?order=up", "order must be one of desc, asc"),
        ("?sort=", "sort must be one of started, duration, code, nodes, steps, name, status"),
    ],
)
def test_what_cannot_be_understood_is_refused(
    client: FlaskClient, query: str, message: str
) -> None:
    assert error(client, f"{API}/recordings{query}") == (400, "bad_parameter", message)


def test_recordings_are_grouped_by_function(client: FlaskClient, recorder: Recorder) -> None:
    recorder.record("qp")
    recorder.record("ocp")
    newest = recorder.record("ocp", failure=Failure("ValueError", "no", ""))
    answer = client.get(f"{API}/functions").json
    assert answer is not None
    assert answer["total"] == 2
    ocp, qp = answer["functions"]
    assert (ocp["function"], ocp["count"], ocp["failed"]) == ("ocp", 2, 1)
    assert ocp["newest"]["id"] == newest
    assert (ocp["code_bytes"], ocp["duration_s"]) == ([None, None], [3.0, 3.0])
    assert (qp["function"], qp["count"]) == ("qp", 1)
    chosen = client.get(f"{API}/functions?q=failed").json
    assert chosen is not None
    assert [group["count"] for group in chosen["functions"]] == [1]


def test_a_timeline_shows_the_steps_of_a_recording(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record()
    answer = client.get(f"{API}/recordings/{key}/timeline").json
    assert answer is not None
    bars = [(span["name"], span["start_s"], span["duration_s"]) for span in answer["spans"]]
    steps = [(f"pass:number_{i}", float(i), 1.0) for i in range(3)]
    assert bars == [("f", 0.0, 3.0), *steps]
    assert error(client, f"{API}/recordings/nothing/timeline")[:2] == (404, "recording_not_found")


def test_a_recording_has_its_steps_and_their_payloads(
    client: FlaskClient, recorder: Recorder
) -> None:
    answer = detail(client, recorder.record())
    assert [step["name"] for step in answer["steps"]] == [f"pass:number_{i}" for i in range(3)]
    kinds = [[payload["kind"] for payload in step["payloads"]] for step in answer["steps"]]
    assert kinds == [["assembly"], ["assembly", "listing"], ["code"]]


def test_a_text_comes_as_it_was_recorded(client: FlaskClient, recorder: Recorder) -> None:
    long = "".join(f"%{i} = prog.add(%{i - 1}, 1)\r\n" for i in range(5_000))
    steps = [*STEPS, {"listing": long}, {"listing": long + "\0\x1b[31m\u202eé😀\ufeff"}]
    key = recorder.record(steps=steps)
    for index, contents in enumerate(steps):
        for kind, text in contents.items():
            response = client.get(f"{API}/recordings/{key}/steps/{index}/payloads/{kind}")
            assert response.content_type == "text/plain; charset=utf-8"
            assert response.data.decode() == text


RENDER = """
import scaly as sc, scaly_viz
from programs.compat import arg, function
from scaly.codegen.aot import render_c_source

@function(arg("x", 3), arg("u", 2), outputs=arg("next"), name="unicycle")
def unicycle(x, u):
    return x + 0.1 * sc.stack([u[0] * x[2].cos(), u[0] * x[2].sin(), u[1]])

render_c_source(scaly_viz.visualize(unicycle, label="real"))
print(scaly_viz.recording_path())
"""


def test_a_real_recording_is_answered_as_load_recordings_reads_it() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", RENDER], capture_output=True, check=True, cwd=TESTS
    )
    path = Path(printed.stdout.decode().strip())
    client = create_app(path).test_client()
    (expected,) = load_dicts(path, strict=True)
    (summary,) = listed(client)
    assert (summary["name"], summary["function"]) == ("real", "unicycle")
    assert summary["compiler_version"]
    answer = detail(client, summary["id"])
    assert [step["name"] for step in answer["steps"]] == [s["name"] for s in expected["steps"]]
    for step, known in zip(answer["steps"], expected["steps"], strict=True):
        for payload in step["payloads"]:
            url = f"{API}/recordings/{summary['id']}/steps/{step['index']}/payloads"
            response = client.get(f"{url}/{payload['kind']}")
            value = response.json if payload["kind"] == "graph" else response.data.decode()
            assert value == known[payload["kind"]]


@pytest.mark.parametrize(
    ("media_type", "sent_as"),
    [
        ("text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        ("text/html", "text/plain; charset=utf-8"),
        ("TEXT/HTML; charset=utf-8", "text/plain; charset=utf-8"),
        ("application/json", "application/json"),
        ("application/vnd.tiles+json", "application/json"),
        ("application/xhtml+xml", "application/octet-stream"),
        ("image/svg+xml", "application/octet-stream"),
        ("application/javascript", "application/octet-stream"),
        ("x\r\nSet-Cookie: a=b", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_an_unknown_kind_is_listed_and_handed_through_but_never_as_a_page(
    client: FlaskClient, recorder: Recorder, media_type: str, sent_as: str
) -> None:
    data = b'{"tiles": ["<script>alert(1)</script>"]}'
    key = recorder.record(steps=[{"tiles": Payload("tiles", data, media_type)}])
    (payload,) = detail(client, key)["steps"][0]["payloads"]
    assert (payload["kind"], payload["media_type"]) == ("tiles", media_type)
    response = client.get(f"{API}/recordings/{key}/steps/0/payloads/tiles")
    assert (response.data, response.content_type) == (data, sent_as)
    is_binary = sent_as == "application/octet-stream"
    assert response.headers.get("Content-Disposition") == ("attachment" if is_binary else None)


def test_a_graph_in_a_form_of_the_future_is_handed_through(
    client: FlaskClient, recorder: Recorder
) -> None:
    payload = Payload("graph", b"\x00\xff", "application/vnd.scaly-viz.graph-delta+cbor")
    key = recorder.record(steps=[{"graph": payload}])
    response = client.get(f"{API}/recordings/{key}/steps/0/payloads/graph")
    assert (response.data, response.content_type) == (b"\x00\xff", "application/octet-stream")


@pytest.mark.parametrize("kind", ["a/b", "a//b", "a?b#c", "%2e", "ключ", "<b>", "a b"])
def test_a_kind_may_have_any_name(client: FlaskClient, recorder: Recorder, kind: str) -> None:
    key = recorder.record(steps=[{kind: "content"}])
    assert detail(client, key)["steps"][0]["payloads"][0]["kind"] == kind
    url = f"{API}/recordings/{key}/steps/0/payloads/{quote(kind, safe='')}"
    assert client.get(url).data == b"content"


@pytest.mark.parametrize(
    "id_", ["../../etc/passwd", "a/b", "..", "x" * 5_000, "é", " ", "<b>", "\0"]
)
def test_a_recording_whose_id_cannot_stand_in_an_address_gets_one_that_can(
    client: FlaskClient, recorder: Recorder, id_: str
) -> None:
    recorder.record(recording_id=id_)
    (summary,) = listed(client)
    assert re.fullmatch(r"x-[0-9a-f]{32}", summary["id"])
    assert detail(client, summary["id"])["recording"] == summary


def test_names_may_hold_what_utf8_cannot(
    client: FlaskClient, path: Path, recorder: Recorder
) -> None:
    key = recorder.record(label="LABEL", steps=[{"kind": FailedPayload("kind", "LABEL")}])
    path.write_text(path.read_text().replace("LABEL", r"\ud800<\udfff"))
    assert listed(client)[0]["name"] == "\ufffd<\ufffd"
    assert detail(client, key)["steps"][0]["payloads"][0]["error"] == "\ufffd<\ufffd"
    assert error(client, f"{API}/recordings/{key}/steps/0/payloads/kind")[2] == "\ufffd<\ufffd"


def test_failed_and_incomplete_recordings_say_what_is_wrong(
    client: FlaskClient, recorder: Recorder
) -> None:
    recorder.record("bad", failure=Failure("LoweringError", "not yet lowered"))
    recorder.begin("running").add({"assembly": "x"})
    running, failed = listed(client)
    assert (failed["status"], failed["error"]) == ("failed", "LoweringError('not yet lowered')")
    assert running["status"] == "incomplete"
    assert running["problems"] == [
        "the render is still running, or its process was ended in the middle"
    ]


def test_a_step_whose_span_was_lost_is_listed_as_missing(
    client: FlaskClient, path: Path, recorder: Recorder
) -> None:
    key = recorder.record()
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + "".join(lines[2:]))
    assert [step["missing"] for step in detail(client, key)["steps"]] == [False, True, False]
    url = f"{API}/recordings/{key}/steps/1/payloads/listing"
    assert error(client, url) == (404, "payload_not_found", "the step has no such payload")


def test_a_payload_that_could_not_be_made_says_why(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record(steps=[{"listing": FailedPayload("listing", "RecursionError: deep")}])
    assert detail(client, key)["steps"][0]["payloads"][0]["error"] == "RecursionError: deep"
    url = f"{API}/recordings/{key}/steps/0/payloads/listing"
    assert error(client, url) == (422, "payload_unreadable", "RecursionError: deep")


def test_a_payload_that_cannot_be_rebuilt_says_why_and_the_others_are_fine(
    client: FlaskClient, path: Path, recorder: Recorder
) -> None:
    texts = ["".join(f"{i}: {n}\n" for i in range(2_000)) for n in range(3)]
    key = recorder.record(steps=[{"listing": text} for text in texts])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + "".join(lines[2:]))
    url = f"{API}/recordings/{key}/steps"
    assert client.get(f"{url}/0/payloads/listing").data.decode() == texts[0]
    status, code, message = error(client, f"{url}/2/payloads/listing")
    assert (status, code) == (422, "payload_unreadable")
    assert re.fullmatch("it builds on payload [0-9a-f]{12}, which is missing", message)


def test_who_asks_for_errors_as_answers_gets_them(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record()
    asked = {"Scaly-Viz-Errors": "200"}
    for path_, status, code in (
        ("recordings/nothing", "404", "recording_not_found"),
        (f"recordings/{key}/values?step=0&kind=assembly&line=9", "404", "value_not_found"),
        ("recordings?q=since:yesteryear", "400", "bad_parameter"),
    ):
        answer = client.get(f"{API}/{path_}", headers=asked)
        assert (answer.status_code, answer.headers["Scaly-Viz-Status"]) == (200, status)
        assert answer.get_json()["error"]["code"] == code
        assert answer.headers["Cache-Control"] == "no-store"
        assert client.get(f"{API}/{path_}").status_code == int(status)
    foreign = client.get(f"{API}/recordings", headers=asked | {"Host": "elsewhere"})
    assert foreign.status_code == 421
    assert "Scaly-Viz-Status" not in client.get(f"{API}/recordings", headers=asked).headers


@pytest.mark.parametrize(
    ("path_", "code"),
    [
        ("recordings/nothing", "recording_not_found"),
        (f"recordings/{'9' * 60_000}", "recording_not_found"),
        ("recordings/ключ", "recording_not_found"),
        ("recordings/%00", "recording_not_found"),
        ("recordings/%2e%2e%2fetc", "not_found"),
        ("recordings/a%2Fb", "not_found"),
        ("recordings/", "not_found"),
        ("recordings/KEY/steps/3/payloads/listing", "step_not_found"),
        ("recordings/KEY/steps/-1/payloads/listing", "step_not_found"),
        ("recordings/KEY/steps/01/payloads/assembly", "step_not_found"),
        ("recordings/KEY/steps/%D9%A0/payloads/assembly", "step_not_found"),
        (f"recordings/KEY/steps/{'9' * 6_000}/payloads/listing", "step_not_found"),
        ("recordings/KEY/steps/0/payloads/listing", "payload_not_found"),
        ("recordings/KEY/steps/0/payloads/assembly?digest=0", "payload_not_found"),
        ("recordings/KEY/steps/0/payloads/..%2f..%2fetc", "payload_not_found"),
        ("recordings/KEY/steps/0", "not_found"),
        ("nothing", "not_found"),
    ],
)
def test_what_is_not_there_is_404(
    client: FlaskClient, recorder: Recorder, path_: str, code: str
) -> None:
    url = f"{API}/{path_.replace('KEY', recorder.record())}"
    assert error(client, url)[:2] == (404, code)


def test_what_has_not_changed_is_not_sent_again(client: FlaskClient, recorder: Recorder) -> None:
    key = recorder.record()
    payload = f"{API}/recordings/{key}/steps/0/payloads/assembly"
    urls = [f"{API}/recordings", f"{API}/recordings/{key}", f"{API}/sources", payload]
    tags = {url: client.get(url).headers["ETag"] for url in urls}
    for url, tag in tags.items():
        response = client.get(url, headers={"If-None-Match": f'"other", {tag}'})
        assert (response.status_code, response.data) == (304, b"")
        assert response.headers["ETag"] == tag
    recorder.record()
    changed = [
        url
        for url, tag in tags.items()
        if client.get(url, headers={"If-None-Match": tag}).status_code == 200
    ]
    assert changed == [f"{API}/recordings", f"{API}/sources"]


def test_only_what_is_addressed_by_digest_is_kept_for_good(
    client: FlaskClient, recorder: Recorder
) -> None:
    key = recorder.record()
    digest = detail(client, key)["steps"][0]["payloads"][0]["digest"]
    url = f"{API}/recordings/{key}/steps/0/payloads/assembly"
    assert client.get(url).headers["ETag"] == f'"{digest}"'
    cached = {u: client.get(u).headers["Cache-Control"] for u in (url, f"{url}?digest={digest}")}
    assert [*cached.values()] == ["no-cache", "private, max-age=31536000, immutable"]
    assert client.get(f"{API}/recordings").headers["Cache-Control"] == "no-cache"
    assert client.get(f"{API}/nothing").headers["Cache-Control"] == "no-store"


def test_long_answers_are_compressed_for_those_who_take_it(
    client: FlaskClient, recorder: Recorder
) -> None:
    text = "for i in 0..3\n" * 1_000
    url = f"{API}/recordings/{recorder.record(steps=[{'listing': text}])}/steps/0/payloads/listing"
    plain = client.get(url)
    packed = client.get(url, headers={"Accept-Encoding": "br, gzip"})
    assert (plain.data.decode(), plain.headers.get("Content-Encoding")) == (text, None)
    assert (gzip.decompress(packed.data).decode(), packed.headers["Content-Encoding"]) == (
        text,
        "gzip",
    )
    assert len(packed.data) < len(plain.data) / 10
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    for response in (plain, packed):
        tag = response.headers["ETag"]
        again = client.get(url, headers={"Accept-Encoding": "gzip", "If-None-Match": tag})
        assert again.status_code == 304
    refused = client.get(url, headers={"Accept-Encoding": "gzip;q=0, *;q=0"})
    assert "Content-Encoding" not in refused.headers


def test_head_answers_as_get_does_without_a_body(client: FlaskClient, recorder: Recorder) -> None:
    url = f"{API}/recordings/{recorder.record()}"
    head, get = client.head(url), client.get(url)
    assert head.data == b""
    assert {k: v for k, v in head.headers.items() if k != "Date"} == {
        k: v for k, v in get.headers.items() if k != "Date"
    }


def test_sources_say_what_cannot_be_read(path: Path, recorder: Recorder, tmp_path: Path) -> None:
    recorder.record()
    with path.open("a") as file:
        file.write("garbage\n")
    missing = tmp_path / "later.jsonl"
    client = create_app([path, missing]).test_client()
    response = client.get(f"{API}/sources")
    assert response.json is not None
    first, second = response.json["sources"]
    assert first == {
        "name": "recordings.jsonl",
        "path": str(path),
        "recordings": 1,
        "problems": [
            "recordings.jsonl:5: not JSON: Expecting value at column 1; the line was left out"
        ],
    }
    assert second["problems"] == [f"{missing}: does not exist yet; it is waited for"]
