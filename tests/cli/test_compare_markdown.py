"""Owns the tests of what ``scaly-viz compare`` writes for a pull request: Markdown that fits a comment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from programs.compat import STEPS
from scaly_viz.analysis import report
from scaly_viz.cli.compare_markdown import markdown

from .conftest import HOSTILE
from .running import output_of, run


def tokens(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(text):
        yield token
        yield from token.children or ()


def test_markdown_shows_hostile_names_as_code_only(versions: Path, tmp_path: Path) -> None:
    names = ["a|b `c` ``d`` \\| <img src=x> @torvalds #1 [x](http://x) **b**", "`", "x" * 500]
    lines = (versions / "base" / "recordings.jsonl").read_text("utf-8")
    for i, name in enumerate(names):
        shown = json.dumps(HOSTILE)[1:-1], json.dumps(HOSTILE, ensure_ascii=False)[1:-1]
        text = lines
        for old in shown:
            text = text.replace(old, json.dumps(name)[1:-1])
        (tmp_path / f"{i}.jsonl").write_text(text, "utf-8")
        sides = (versions / "new", tmp_path / f"{i}.jsonl")
        found = [*tokens(output_of("compare", *sides, "--format", "markdown"))]
        kinds = {token.type for token in found}
        assert kinds.isdisjoint({"html_inline", "link_open", "image", "em_open"})
        spans = [token.content for token in found if token.type == "code_inline"]
        assert any(name[:100] in span for span in spans)
        assert {token.content for token in found if token.type == "html_block"} >= {"</details>\n"}
        raw = "".join(token.content for token in found if token.type == "html_block")
        assert re.findall(r"<(?!/?(?:details|summary|code)>)", raw) == []


def test_markdown_is_a_table_with_folded_details(versions: Path) -> None:
    options = ("--format", "markdown", "--fail-if", "flops > +0", "--allow-unmatched")
    result = run("compare", versions / "base", versions / "new", *options)
    text = result.stdout
    assert result.exit_code == 1
    assert text.startswith("### scaly-viz: 1 of 2 functions changed\n\n")
    assert text.count("- ❌ `failed: ") == 1
    assert (
        "| function | C source, bytes | flops | memory traffic, bytes | workspace, bytes |" in text
    )
    found = [*tokens(text)]
    assert sum(token.type == "table_open" for token in found) == 3
    rows = sum(token.type == "tr_open" for token in found)
    cells = sum(token.type in ("td_open", "th_open") for token in found)
    # The summary has 8 columns and one function, the figures 4, the steps 3.
    of_steps = 1 + STEPS
    assert cells == 2 * 8 + (rows - 2 - of_steps) * 4 + of_steps * 3
    assert text.count("<details>") == text.count("</details>") == 1
    assert "Only in BASE: `damper: only here`" in text
    unchanged = output_of("compare", versions / "base", versions / "base", "--format", "markdown")
    assert unchanged.startswith("### scaly-viz: 3 functions unchanged\n")
    assert "<details>" not in unchanged


def test_markdown_fits_a_comment_however_much_there_is(versions: Path) -> None:
    made = _made(versions)
    many = msgspec.structs.replace(made, pairs=[made.pairs[0]] * 40)
    shown = markdown(many)
    assert shown.startswith("### scaly-viz: 40 of 40 functions changed\n")
    assert 50_000 < len(shown) <= 60_000
    left_out = re.search(r"\nThe details of (\d+) pairs are too long for a comment\.\n$", shown)
    assert left_out is not None
    assert shown.count("<details>") == 40 - int(left_out[1])


# What makes code spans longer than the text in them.
_LABELS = st.text(st.sampled_from("a`|\\\x1b<&é"), min_size=1, max_size=200)


@pytest.mark.slow
@given(
    label=_LABELS,
    pairs=st.integers(1, 500),
    reasons=st.lists(st.integers(1, 500), max_size=4),
    passed=st.integers(0, 100),
    only=st.integers(0, 100),
    same=st.booleans(),
)
@example(label="`" * 200, pairs=400, reasons=[400, 400, 400], passed=0, only=100, same=False)
@example(label="|" * 200, pairs=400, reasons=[], passed=0, only=0, same=False)
@example(label="`|" * 100, pairs=400, reasons=[400], passed=100, only=0, same=True)
@settings(max_examples=15)
def test_no_number_or_length_of_anything_makes_a_comment_too_long(
    versions: Path,
    label: str,
    pairs: int,
    reasons: list[int],
    passed: int,
    only: int,
    *,
    same: bool,
) -> None:
    made = _made(versions)
    pair = msgspec.structs.replace(made.pairs[1 if same else 0], name=label)
    conditions = [report.ReportedCondition("steps >= 1", "not met", []) for _ in range(passed)] + [
        report.ReportedCondition("steps >= 1", "met", [f"{label}: steps >= 1: it is 18"] * number)
        for number in reasons
    ]
    left = [report.Unmatched("f", label, "0" * 32, 1, "ok", None)] * only
    many = msgspec.structs.replace(
        made, pairs=[pair] * pairs, conditions=conditions, only_base=left, only_new=left
    )

    shown = markdown(many)

    assert len(shown) <= 60_000
    lines = shown.splitlines()
    of = "function" if pairs == 1 else "functions"
    what = f"{pairs} {of} unchanged" if same else f"{pairs} of {pairs} {of} changed"
    assert lines[0] == f"### scaly-viz: {what}"
    # What failed is above what passed, each with a reason, and nothing is left out in silence.
    assert [line[:3] for line in lines[4 : 4 + bool(reasons)]] == ["- ❌"] * bool(reasons)
    if len(reasons) == 1:
        told = shown.count("- ❌")
        assert told == reasons[0] or f"- ... and {reasons[0] - told} more\n" in shown
    if same:
        assert "details of" not in shown
        assert "| function |" not in shown
    else:
        rows = sum(line.startswith("| `") and line.count(" | ") >= 7 for line in lines)
        table = shown.partition("<details>")[0]
        assert rows >= pairs or "\n... and " in table


@cache
def _made(versions: Path) -> report.Report:
    text = output_of("compare", versions / "base", versions / "new", "--json")
    return msgspec.json.decode(text, type=report.Report)
