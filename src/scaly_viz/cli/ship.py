"""Owns ``scaly-viz ship``: what waits in the outbox, or recordings from files, to a backend over OTLP."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, TypedDict, Unpack
from urllib.parse import urlsplit

import click

from scaly_viz.cli import completing, exit_codes
from scaly_viz.cli.options import json_option
from scaly_viz.errors import ScalyVizError

if TYPE_CHECKING:
    from scaly_viz.cli.shipping import Task
    from scaly_viz_exporters.otlp_settings import OtlpSettings

_HELP = """\
Send recordings to a Collector, Jaeger, Tempo or any other backend that takes OTLP.

Without FILES it sends what the exporter "otlp" could not deliver and left in the outbox, what a
backend has refused before included. With FILES it sends the recordings in those files and folders:
scaly-viz's own, any OTLP JSON lines, scaly.viz's recordings.json, plain, .gz or .zst; or those in
another backend, "jaeger:URL" or "tempo:URL".

What is delivered is remembered, so that the command can be repeated, after an interruption, say.
OpenTelemetry's variables (OTEL_EXPORTER_OTLP_HEADERS, ..._CERTIFICATE, ...) hold; options win.

\b
Examples:
  scaly-viz ship --to http://collector:4318
  scaly-viz ship ~/.cache/scaly/viz --to http://jaeger:4317 --protocol grpc
  scaly-viz ship old.jsonl.zst --to https://otlp.example.com --header 'authorization=Bearer ...'
"""


class _Options(TypedDict):
    """What the command line asks for."""

    to: str | None
    protocol: str | None
    headers: dict[str, str]
    timeout: float | None
    wait: float | None
    again: bool
    dry_run: bool
    as_json: bool


def _headers(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    headers = {}
    for value in values:
        name, equals, content = value.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{value!r} is not NAME=VALUE")
        headers[name.strip()] = content.strip()
    return headers


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _seconds(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    if value is not None and math.isnan(value):  # which is within any range
        raise click.BadParameter("nan is not a number of seconds")
    return value


_EPILOG = exit_codes.epilog(
    {
        exit_codes.DONE: "all is delivered, or there was nothing to send",
        exit_codes.FAILED: "some is not delivered, and kept; one line on standard error says why",
    }
)


@click.command(
    "ship", help=_HELP, short_help="Send recordings to a backend over OTLP.", epilog=_EPILOG
)
@click.argument("files", nargs=-1, shell_complete=completing.files)
@click.option(
    "--to",
    metavar="URL",
    help="Where to: http://host:4318, to which /v1/traces is added, or with --protocol grpc"
    " http://host:4317.  [default: OTEL_EXPORTER_OTLP_ENDPOINT]",
)
@click.option(
    "--protocol",
    type=click.Choice(["http/protobuf", "grpc", "http/json"]),
    help="How.  [default: OTEL_EXPORTER_OTLP_PROTOCOL, else http/protobuf]",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_headers,
    help="A header to send along, such as a token; may be given several times.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    callback=_seconds,
    metavar="SECONDS",
    help="How long one message may take.  [default: OTEL_EXPORTER_OTLP_TIMEOUT, else 10]",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    callback=_seconds,
    metavar="SECONDS",
    help="How long to wait, in all, for a backend that is down or asks to wait."
    "  [default: 60 where it asks, not at all where it is down]",
)
@click.option("--again", is_flag=True, help="Send also what is known to be delivered there.")
@click.option("--dry-run", is_flag=True, help="Only say what would be sent.")
@json_option
def command(files: tuple[str, ...], **options: Unpack[_Options]) -> None:
    """Send recordings."""
    from scaly_viz.cli import output, reading, shipping
    from scaly_viz.sources.address import is_address

    settings = _settings(options)
    paths = [file if is_address(file) else reading.of_recordings(file) for file in files]
    task = (
        shipping.files_task(settings, paths, again=options["again"])
        if files
        else shipping.outbox_task(settings)
    )
    if options["dry_run"]:
        _foretell(task, as_json=options["as_json"])
        return
    ended = shipping.run(task, wait_s=options["wait"])
    if options["as_json"]:
        cause = ended.error or ("interrupted" if ended.interrupted else None)
        output.write_json({"to": settings.where, **task.figures(), "error": cause})
    if ended.interrupted:
        output.warn(f"interrupted: {ended.text}; run it again to go on")
        click.get_current_context().exit(exit_codes.INTERRUPTED)
    if ended.error:
        raise ScalyVizError(f"{ended.error}; {ended.text}")
    if not options["as_json"]:
        output.write(f"{ended.text}\n")


def _settings(options: _Options) -> OtlpSettings:
    from scaly_viz_exporters import otlp_settings

    to = options["to"]
    if to is None and not otlp_settings.names_an_endpoint(os.environ):
        raise click.UsageError(
            "where to? Give --to URL, or set OTEL_EXPORTER_OTLP_ENDPOINT",
            click.get_current_context(),
        )
    settings = otlp_settings.read(
        os.environ,
        to=to,
        protocol=options["protocol"],
        headers=options["headers"],
        timeout_s=options["timeout"],
    )
    if to is not None and settings.protocol != otlp_settings.GRPC and not _is_url(to):
        raise ScalyVizError(f"--to {to}: not a URL such as http://localhost:4318")
    return settings


def _foretell(task: Task, *, as_json: bool) -> None:
    from scaly_viz.cli import output

    outlook = task.outlook()
    if as_json:
        output.write_json({"to": task.settings.where, "dry_run": True, **outlook.figures})
    else:
        output.write(f"{outlook.text}\n")
