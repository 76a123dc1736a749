"""What a user installs: the wheel and the sdist, their contents, and how they behave on their own."""

from __future__ import annotations

import csv
import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from configparser import ConfigParser
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import scaly_viz

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
UV = [sys.executable, "-m", "uv"]
PACKAGES = ("scaly_viz", "scaly_viz_exporters", "scaly_viz_viewer")
FOLDERS = ("src/scaly_viz", "exporters/scaly_viz_exporters", "viewer/scaly_viz_viewer")
EXPORTER = ROOT / "examples" / "exporter"
ASSETS = ("index.html", "app.js", "graph.worker.js", "style.css", "boot.js")
STATIC = tuple(f"static/{name}" for name in (*ASSETS, "THIRD_PARTY_LICENSES.txt"))
# Nothing listens there: a build that asks npm's registry fails, and says so.
NO_NPM = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the packages under test; built here where `make` did not."""
    built = os.environ.get("PACKAGES_UNDER_TEST")
    if built:
        return Path(built)
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def sdist(dist: Path) -> Path:
    (path,) = dist.glob("*.tar.gz")
    return path


def build(source: Path, target: Path, *flags: str, environ: Mapping[str, str] = {}) -> None:
    where = ["--python", sys.executable, "--out-dir", str(target)]
    # Another version of hatchling says so in the wheel.
    how = ["--build-constraints", str(ROOT / "requirements.lock"), *flags]
    run([*UV, "build", *where, *how, str(source)], environ=environ)


def run(command: Sequence[str], cwd: Path = ROOT, environ: Mapping[str, str] = {}) -> str:
    """Run ``command`` and return what it prints; fail the test with its output if it fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def names_in_wheel(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def names_in_sdist(sdist: Path) -> set[str]:
    """Return the files of the sdist, without its leading folder."""
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def tracked(folder: str) -> set[str]:
    """Return the Python files and markers of a package in the source tree."""
    root = ROOT / folder
    files = (path for path in root.rglob("*") if path.suffix in (".py", ".typed"))
    return {path.relative_to(root).as_posix() for path in files}


def metadata(wheel: Path, name: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (n for n in archive.namelist() if n.endswith(f".dist-info/{name}"))
        return archive.read(path).decode()


def test_the_wheel_holds_three_typed_packages_the_page_and_nothing_else(wheel: Path) -> None:
    expected = {
        f"{package}/{name}"
        for package, folder in zip(PACKAGES, FOLDERS, strict=True)
        for name in tracked(folder)
    }
    assert {f"{package}/py.typed" for package in PACKAGES} <= expected
    names = names_in_wheel(wheel)
    static = {name for name in names if name.startswith("scaly_viz_viewer/static/")}
    about = {name for name in names if ".dist-info/" in name}
    assert {f"scaly_viz_viewer/{name}" for name in STATIC} <= static
    assert {name.partition(".dist-info/")[2] for name in about} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    }
    assert names - static - about == expected


def test_the_sdist_holds_sources_and_page_but_no_tests_and_no_node_modules(sdist: Path) -> None:
    names = names_in_sdist(sdist)
    sources = {f"{folder}/{name}" for folder in FOLDERS for name in tracked(folder)}
    page = {f"viewer/scaly_viz_viewer/{name}" for name in STATIC}
    web = {f"viewer/web/{name}" for name in ("package-lock.json", "build.mjs", "src/main.ts")}
    papers = {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "hatch_build.py"}
    papers |= {"CITATION.cff", "CONTRIBUTING.md", "SECURITY.md", "docs/schema.md"}
    papers |= {f"examples/{name}" for name in ("README.md", "mpc/run.py", "mpc/flight.c")}
    assert sources | page | web | papers | {"PKG-INFO"} <= names
    assert [name for name in names if re.match(r"examples/.*/out/", name)] == []
    unwanted = re.compile(r"(^|/)(tests|node_modules|__pycache__|\.git|\.venv)/|\.test\.ts$|\.pyc$")
    # The tests of an example are what it shows.
    ours = {name for name in names if not name.startswith("examples/gate/tests/")}
    assert [name for name in ours if unwanted.search(name)] == []


def test_the_license_is_apache_2_in_full_with_those_of_what_the_page_bundles(wheel: Path) -> None:
    about = email.message_from_string(metadata(wheel, "METADATA"))
    bundled = "BSD-3-Clause AND ISC AND MIT AND OFL-1.1"
    assert about["License-Expression"] == f"Apache-2.0 AND {bundled}"
    text = metadata(wheel, "licenses/LICENSE")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_wheel_does_not_require_scaly(wheel: Path) -> None:
    about = email.message_from_string(metadata(wheel, "METADATA"))
    required = [line for line in about.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert [line for line in required if line.startswith("scaly")] == []


def test_the_wheel_names_the_command_and_the_exporters(wheel: Path) -> None:
    entry_points = ConfigParser()
    entry_points.read_string(metadata(wheel, "entry_points.txt"))
    assert dict(entry_points["console_scripts"]) == {"scaly-viz": "scaly_viz.cli:main"}
    assert "scaly_json" in entry_points["opentelemetry_traces_exporter"]
    assert "scaly" in entry_points["opentelemetry_instrumentor"]
    assert dict(entry_points["pytest11"]) == {"scaly_viz": "scaly_viz.pytest_plugin"}


@pytest.mark.slow
def test_a_wheel_from_the_sdist_needs_no_npm_and_any_build_gives_the_same_bytes(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    no_node = {"PATH": str(tmp_path / "empty"), **NO_NPM}
    build(source, tmp_path / "sdist", "--wheel", environ=no_node)
    build(ROOT, tmp_path / "tree", "--wheel")
    (from_sdist,) = (tmp_path / "sdist").glob("*.whl")
    (from_tree,) = (tmp_path / "tree").glob("*.whl")
    assert from_sdist.name == from_tree.name == wheel.name
    assert from_sdist.read_bytes() == from_tree.read_bytes() == wheel.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installed_with_its_extras_no_file_belongs_to_another_package_too(
    wheel: Path, tmp_path: Path, installer: str
) -> None:
    run([*UV, "venv", "--quiet", "--seed", "--python", sys.executable, str(tmp_path / "venv")])
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    install = {
        "pip": [*pip, "install", "--no-compile"],
        "uv": [*UV, "pip", "install", "--python", python],
    }[installer]
    assert {"scaly", "jupyter", "pytest"} <= set(provided(wheel))
    extras = ",".join(name for name in provided(wheel) if name != "instruments")
    run([*install, "--quiet", f"{wheel}[{extras}]", f"scaly=={version('scaly')}"])
    run([*pip, "check"])
    owners = json.loads(run([python, "-c", OWNERS], cwd=tmp_path))
    assert "scaly_viz/__init__.py" in owners
    assert {name: of for name, of in owners.items() if "scaly-viz" in of and len(of) > 1} == {}
    script = str(tmp_path / "venv" / "bin" / "scaly-viz")
    assert run([script, "list", "--json"], cwd=tmp_path)


# The packages that each file belongs to; names that differ in case only are one on some systems.
OWNERS = """
import json
from importlib.metadata import distributions
owners = {}
for package in distributions():
    for file in package.files or ():
        owners.setdefault(str(file).casefold(), []).append(package.name)
print(json.dumps(owners))
"""


def provided(wheel: Path) -> list[str]:
    """Return the names of the extras."""
    return email.message_from_string(metadata(wheel, "METADATA")).get_all("Provides-Extra", [])


@pytest.mark.slow
def test_the_extras_bring_what_the_example_of_a_gate_and_a_notebook_need(
    wheel: Path, tmp_path: Path
) -> None:
    run([*UV, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv")])
    python = str(tmp_path / "venv" / "bin" / "python")
    run([*UV, "pip", "install", "--quiet", "--python", python, f"{wheel}[scaly,pytest,jupyter]"])
    gate = tmp_path / "gate"
    shutil.copytree(ROOT / "examples" / "gate", gate)
    assert "2 passed" in run([python, "-m", "pytest", "--scaly-viz"], cwd=gate)
    magic = "%load_ext scaly_viz\nprint(get_ipython().find_cell_magic('visualize') is not None)"
    assert run([python, "-m", "IPython", "--quick", "-c", magic], cwd=tmp_path).split() == ["True"]


@pytest.mark.slow
def test_uvx_runs_it_where_there_is_no_scaly(wheel: Path, tmp_path: Path) -> None:
    environ = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    uvx = [*UV, "tool", "run", "--quiet", "--python", sys.executable, "--from", str(wheel)]
    ours = wheel.name.split("-")[1]
    assert run([*uvx, "scaly-viz", "--version"], environ=environ) == f"scaly-viz {ours}\n"


def test_the_papers_name_the_version_of_the_wheel(wheel: Path) -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [wheel.name.split("-")[1]]


@pytest.mark.slow
def test_the_citation_is_valid() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    run([*check, "vendor.citation-file-format", str(ROOT / "CITATION.cff")])


@pytest.mark.slow
def test_the_wheel_works_installed_alone_and_without_scaly(wheel: Path, tmp_path: Path) -> None:
    run([*UV, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv")])
    python = str(tmp_path / "venv" / "bin" / "python")
    run([*UV, "pip", "install", "--quiet", "--python", python, str(wheel)])
    script = str(tmp_path / "venv" / "bin" / "scaly-viz")
    ours = wheel.name.split("-")[1]
    assert ours in run([script, "--version"], cwd=tmp_path)
    assert run([python, "-m", "scaly_viz", "--version"], cwd=tmp_path) == run(
        [script, "--version"], cwd=tmp_path
    )
    alone = "import importlib.util as u; print(u.find_spec('scaly'), u.find_spec('numpy'))"
    assert run([python, "-c", alone], cwd=tmp_path).strip() == "None None"
    load = (
        "from importlib.metadata import distribution\n"
        "for point in distribution('scaly-viz').entry_points:\n"
        "    if point.group == 'pytest11': continue  # which pytest loads, and is not here\n"
        "    assert callable(point.load()), point\n"
        "    print(point.name)"
    )
    assert {"scaly-viz", "scaly_json", "scaly"} <= set(
        run([python, "-c", load], cwd=tmp_path).split()
    )


@pytest.mark.slow
def test_the_worked_example_of_an_exporter_works_as_a_package_of_its_own(
    wheel: Path, tmp_path: Path
) -> None:
    build(EXPORTER, tmp_path / "dist", "--wheel")
    (example,) = (tmp_path / "dist").glob("*.whl")
    run([*UV, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv")])
    python = str(tmp_path / "venv" / "bin" / "python")
    scaly = f"scaly=={version('scaly')}"
    run([*UV, "pip", "install", "--quiet", "--python", python, str(wheel), str(example), scaly])
    program = tmp_path / "program.py"
    program.write_text(
        "import scaly as sc, scaly_viz\n"
        "from scaly.codegen.aot import render_c_source\n"
        "@sc.function(sc.arg('x', 3))\n"
        "def sine(x):\n"
        "    return x.sin() * x\n"
        "render_c_source(scaly_viz.visualize(sine))\n",
        encoding="utf-8",
    )
    times = tmp_path / "times.csv"
    environ = {"SCALY_VIZ_EXPORTERS": "json, pass_times", "PASS_TIMES_FILE": str(times)}

    assert run([python, str(program)], cwd=tmp_path, environ=environ) == ""

    with times.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (recording,) = scaly_viz.load_recordings(strict=True)
    assert [row["step"] for row in rows] == [step["name"] for step in recording["steps"]]
    assert {(row["recording"], row["function"]) for row in rows} == {(recording["id"], "sine")}
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert all(int(row["flops"]) > 0 for row in rows if row["step"].startswith("pass:"))


@pytest.mark.parametrize("name", ["pass_times.py", "pyproject.toml"])
def test_the_page_on_exporters_shows_the_worked_example_as_it_is(name: str) -> None:
    page = (ROOT / "docs" / "exporters.md").read_text(encoding="utf-8")
    assert f"\n{(EXPORTER / name).read_text(encoding='utf-8')}```\n" in page


@pytest.mark.parametrize(
    "name", ["requirements.lock", "tools/release.lock", "viewer/web/package-lock.json"]
)
def test_a_lock_file_names_no_registry(name: str) -> None:
    text = (ROOT / name).read_text()
    options = re.findall(
        r"^\s*-(?:i|-index-url|-extra-index-url|-find-links)\b.*", text, re.MULTILINE
    )
    assert options == []
    assert '"resolved"' not in text
    hosts = set(re.findall(r"https?://([^/\"\s]+)", text))
    assert {
        host for host in hosts if re.search(r"pypi|npmjs|npm\.|registry|localhost", host)
    } == set()


@pytest.mark.parametrize("name", ["requirements.lock", "tools/release.lock"])
def test_every_requirement_in_the_lock_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text().replace("\\\n", " ")
    entries = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert len(entries) > 20
    assert [line for line in entries if "==" not in line or "--hash=sha256:" not in line] == []


@pytest.mark.parametrize(("asked", "expected"), [({}, "1"), ({"UV_SYSTEM_CERTS": "0"}, "0")])
def test_the_tasks_trust_whom_the_system_trusts_unless_told_otherwise(
    asked: Mapping[str, str], expected: str
) -> None:
    names = ("NODE_USE_SYSTEM_CA", "UV_SYSTEM_CERTS")
    show = f"import shell; print([shell.environment().get(name) for name in {names}])"
    # An authority of its own, as a company's proxy has: what is in the file does not matter here.
    environ = {name: value for name, value in os.environ.items() if name not in names}
    environ |= {"SSL_CERT_FILE": str(ROOT / "LICENSE"), **asked}
    command = [sys.executable, "-c", show]
    printed = subprocess.check_output(command, cwd=ROOT / "tools", env=environ, text=True)
    assert printed == f"['1', '{expected}']\n"


def test_the_files_that_a_build_makes_are_ignored_by_git() -> None:
    ignored = set((ROOT / ".gitignore").read_text().split())
    made = {
        "viewer/scaly_viz_viewer/static/",
        "viewer/web/bundled.sha256",
        "node_modules/",
        "uv.lock",
    }
    assert made <= ignored
