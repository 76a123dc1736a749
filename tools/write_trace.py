"""Owns what docs/backends.md shows of a trace: records a program, sends it to a real Jaeger, writes what that answers.

Run it with the development environment's Python; JAEGER names the program.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator

_ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(_ROOT / "tests"))

PAGE = _ROOT / "docs" / "backends.md"

Span = Dict[str, Any]

MODEL = """\
import scaly as sc
import scaly_viz
from scaly.codegen.aot import render_c_source


@sc.function(sc.arg("x", 4), sc.arg("u", 1))
def step(x: sc.Expr, u: sc.Expr) -> sc.Expr:
    return x + 0.1 * sc.concat([x[1:], u])


scaly_viz.visualize(step, label="integrator")
render_c_source(step)
"""

# What differs from run to run, and stands for itself in the page.
_VOLATILE = {
    "scaly.recording.id": "(32 hex digits)",
    "scaly.recording.overhead_s": "(seconds)",
    "scaly.payload.digest": "(64 hex digits)",
}
# How a frame of Zstandard begins in base64; the rest depends on the version of the library.
_FRAME = "KLUv"
_SHOWN_CHARS = 64


def shown() -> dict[str, list[str]]:
    """Return the blocks of the page by name, from a trace that went through a real Jaeger."""
    from compose.running import Jaeger, post, spans_of

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "model.py").write_text(MODEL, encoding="utf-8")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "SCALY_"))}
        environment.update(SCALY_VIZ_DIR=temporary, SCALY_CACHE_DIR=temporary)
        subprocess.run([sys.executable, "model.py"], check=True, cwd=temporary, env=environment)
        lines = (folder / "recordings.jsonl").read_text(encoding="utf-8").splitlines()
        (trace,) = spans_of(lines)
        with Jaeger(folder / "jaeger") as jaeger:
            for line in lines:
                post(jaeger.otlp_url, line)
            jaeger.recordings(folder, lines)
            spans = [
                span
                for resource in jaeger.spans(trace)
                for scope in resource["scopeSpans"]
                for span in scope["spans"]
            ]
    (root,) = (span for span in spans if not span.get("parentSpanId"))
    changed = _named(spans, "scaly.step.name", "lowered")
    code = max(spans, key=lambda span: "scaly.code.bytes" in _values(span))
    return {
        "tree": ["```text", *_tree(spans), "```"],
        "root": _table(root),
        "step": _table(changed),
        "plain": _table(_event(changed, "scaly.listing")),
        "compressed": _table(_event(code, "scaly.code")),
    }


def with_blocks(text: str, blocks: dict[str, list[str]]) -> str:
    """Return ``text`` with each marked block made anew."""
    return re.sub(
        r"(<!-- trace: (\w+) -->\n).*?(<!-- end -->)",
        lambda match: match[1] + "\n".join(blocks[match[2]]) + "\n" + match[3],
        text,
        flags=re.DOTALL,
    )


def _tree(spans: list[Span]) -> Iterator[str]:
    children: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: int(_values(span).get("scaly.step.index", -1))):
        children.setdefault(span.get("parentSpanId") or "", []).append(span)

    def below(parent: str, indent: str) -> Iterator[str]:
        mine = children.get(parent, [])
        for i, span in enumerate(mine):
            last = i == len(mine) - 1
            head = f"{indent}{'└── ' if last else '├── '}{span['name']}"
            yield f"{head:<38}{_events(span)}".rstrip()
            yield from below(span["spanId"], indent + ("    " if last else "│   "))

    for root in children[""]:
        yield root["name"]
        yield from below(root["spanId"], "")


def _events(span: Span) -> str:
    return ", ".join(
        "{} {}".format(
            event["name"].replace("scaly.", ""), _values(event).get("scaly.payload.encoding", "")
        )
        for event in span.get("events", ())
    )


def _table(carrier: Span) -> list[str]:
    rows = [(key, _VOLATILE.get(key, _short(value))) for key, value in _values(carrier).items()]
    return [
        "| key | value |",
        "| --- | --- |",
        *(f"| `{key}` | `{value}` |" for key, value in rows),
    ]


def _short(value: str) -> str:
    path = re.fullmatch(r"/.*?((?:/[^/\s]+){1,3}\.py)", value)
    # No folder of this machine, and of the compiler's files only where they lie in its package.
    value = re.sub(r"/\S*/(?=model\.py)", "…/", path[0] if path else value)
    value = re.sub(r"/\S*/site-packages/", "…/", value).replace("\n", "⏎").replace("|", "\\|")
    shown = len(_FRAME) if value.startswith(_FRAME) else _SHOWN_CHARS
    return value if len(value) <= shown else value[:shown] + "…"


def _values(carrier: Span) -> dict[str, str]:
    def text(value: dict[str, Any]) -> str:
        ((kind, plain),) = value.items()
        if kind == "arrayValue":
            return ", ".join(text(item) for item in plain.get("values", ()))
        return str(plain).lower() if kind == "boolValue" else str(plain)

    return {each["key"]: text(each["value"]) for each in carrier.get("attributes", ())}


def _named(spans: list[Span], key: str, value: str) -> Span:
    return next(span for span in spans if _values(span).get(key) == value)


def _event(span: Span, name: str) -> Span:
    return next(event for event in span["events"] if event["name"] == name)


if __name__ == "__main__":
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8"), shown()), encoding="utf-8")
