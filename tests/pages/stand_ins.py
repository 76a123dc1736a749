"""Owns what the pages' shell runs in the place of commands that a test cannot run, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StandIn:
    """A command of a page, the shell function that runs instead, and the reason."""

    command: str
    body: str
    reason: str


STAND_INS = (
    StandIn("docker", "true", "Docker is not to be had in tests; compose/ has tests of its own."),
    StandIn(
        "make",
        'command make --dry-run --directory "$CHECKOUT" "$@" > /dev/null',
        "Make would run this very suite; --dry-run tells whether the target exists.",
    ),
    StandIn(
        "pip",
        'local path="${2%%[*}" extra="${2#*[}"; [ -e "$CHECKOUT/$path" ] &&'
        ' { [ "$extra" = "$2" ] || grep -q "^${extra%]} = " "$CHECKOUT/pyproject.toml"; }',
        "A test must not change its environment; whether folder and extra exist is looked up,"
        " and tests/test_packaging.py installs them.",
    ),
)

# What pages use behind the scenes: a small program of scaly, and recordings that were made only once.
_PROGRAM = """\
import scaly as sc
import scaly_viz
from scaly.codegen.aot import render_c_source


@sc.function(sc.arg("x", 4), sc.arg("u", 1))
def step(x: sc.Expr, u: sc.Expr) -> sc.Expr:
    return x + 0.1 * sc.concat([x[1:], u])


scaly_viz.visualize(step, label="integrator")
render_c_source(step)
"""
_BEHIND_THE_SCENES = f"""
program() {{ cat > "$1" <<'END'
{_PROGRAM}END
}}
demo() {{
    [ -d "$DEMO" ] || SCALY_VIZ_DIR="$DEMO" python "$CHECKOUT/examples/demo.py" > /dev/null
    mkdir -p ~/.cache/scaly/viz && cp "$DEMO/recordings.jsonl" ~/.cache/scaly/viz/
}}
"""

FUNCTIONS = "\n".join(
    [_BEHIND_THE_SCENES, *(f"{each.command}() {{ {each.body}; }}" for each in STAND_INS)]
)
