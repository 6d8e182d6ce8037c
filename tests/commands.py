"""Runs commands of `postern` in copies of a process that has imported the application.

`python -m postern` spends up to two seconds of processor time on imports, and tests run hundreds of commands. Here a
fork server of the standard library imports once per process of a test run. A command gets its own arguments,
environment, current folder and standard files. Servers are started with `python -m postern`: see tests/test_boot.py.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIMIT_SECONDS = 120.0

_fork_server = multiprocessing.get_context("forkserver")
_fork_server.set_forkserver_preload(["tests.preloaded"])


def run_command(
    *words: str, environment: Mapping[str, str], cwd: Path = ROOT, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `postern WORDS` with exactly these environment variables and this standard input.

    Raises subprocess.TimeoutExpired after LIMIT_SECONDS.
    """
    with tempfile.TemporaryDirectory(prefix="postern-command-") as name:
        folder = Path(name)
        (folder / "0").write_text(stdin)
        process = _fork_server.Process(target=_run, args=(words, dict(environment), str(cwd), name))
        process.start()
        process.join(LIMIT_SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(["postern", *words], LIMIT_SECONDS)
        stdout, stderr = ((folder / number).read_text() for number in "12")
        return subprocess.CompletedProcess(["postern", *words], process.exitcode, stdout, stderr)


def _run(words: tuple[str, ...], environment: dict[str, str], cwd: str, folder: str) -> None:
    """Do what `python -m postern WORDS` does, in a process that multiprocessing has made for it."""
    for number, flags in enumerate((os.O_RDONLY, os.O_CREAT | os.O_WRONLY, os.O_CREAT | os.O_WRONLY)):
        descriptor = os.open(f"{folder}/{number}", flags, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = [str(ROOT / "postern/__main__.py"), *words]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    from postern.cli import main

    main()
