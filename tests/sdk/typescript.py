"""The TypeScript SDK, built for the tests, and programs that run with it."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

SDK = Path(__file__).parent.parent.parent / "sdk" / "typescript"
INSTALL = "npm install --no-package-lock --prefix sdk/typescript"
TSC = SDK / "node_modules" / ".bin" / "tsc"
ESBUILD = SDK / "node_modules" / ".bin" / "esbuild"
SECONDS = 300

needs_typescript = pytest.mark.skipif(
    not (shutil.which("node") and TSC.exists()),
    reason=f"The compiler of the TypeScript SDK is not installed: {INSTALL}",
)


def built_sdk() -> Path:
    """Build `sdk/typescript` unless `dist` is newer than its sources; returns its folder."""
    sources = sorted([*SDK.glob("src/**/*.ts"), *SDK.glob("src/**/*.tsx"), SDK / "build.mjs", SDK / "tsconfig.json"])
    content = hashlib.sha256(b"\0".join(b"%s\0%s" % (bytes(path), path.read_bytes()) for path in sources)).hexdigest()
    # In node_modules, which every process of a parallel run has and git ignores; `dist` is replaced by a build.
    with (SDK / "node_modules" / ".build-lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = SDK / "node_modules" / ".built-from"
        if not (SDK / "dist").exists() or not stamp.exists() or stamp.read_text() != content:
            run("npm", "run", "--silent", "build", folder=SDK)
            stamp.write_text(content)
    return SDK


def linked_sdk(folder: Path) -> Path:
    """Make `folder` a place whose programs can import `@postern/sdk`; returns it."""
    scope = folder / "node_modules" / "@postern"
    scope.mkdir(parents=True, exist_ok=True)
    (scope / "sdk").symlink_to(built_sdk())
    return folder


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """Run a program in a folder and return what it prints. Raises AssertionError with its output if it fails."""
    result = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("POSTERN_")},
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout[-8_000:]}\n{result.stderr[-8_000:]}"
    return result.stdout
