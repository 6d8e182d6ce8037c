"""Commands find the server's database from any current folder, and only `serve` and `restore` create one."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.test_boot import (
    ROOT,
    WAIT_SECONDS,
    StartedServer,
    assert_bootstrapped,
    command,
    environment,
    eventually,
    is_ready,
)


@dataclass
class Installation:
    """A copy of the source tree with its own default data folder, run from another current folder."""

    root: Path
    current_folder: Path

    def environment(self, **extra: str) -> dict[str, str]:
        variables = environment(self.root / "unused", **extra)
        del variables["POSTERN_DATA"]
        return {**variables, "PYTHONPATH": str(self.root), "HOME": str(self.current_folder)}

    def run(self, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "postern", *arguments],
            env=self.environment(**extra),
            cwd=self.current_folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_SECONDS,
        )

    def files_in_current_folder(self) -> list[str]:
        return sorted(path.name for path in self.current_folder.iterdir())


@pytest.fixture
def installation(base_folder: Path) -> Iterator[Installation]:
    root, current_folder = base_folder / "installation", base_folder / "current_folder"
    for folder in ("postern", "migrations"):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copy(ROOT / "pyproject.toml", root)
    current_folder.mkdir()
    yield Installation(root, current_folder)
    shutil.rmtree(root)
    shutil.rmtree(current_folder)


def test_commands_find_the_data_folder_of_the_installation(installation: Installation) -> None:
    """Without POSTERN_DATA, a command uses the data folder of its installation, from any folder, and prints it.

    Regression test of N1 (tests/defects.md).
    """
    output = installation.root / "serve.log"
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "postern", "serve"],
            env=installation.environment(),
            cwd=installation.root.parent,
            stdout=file,
            stderr=file,
            text=True,
        )
    server = StartedServer(process, installation.root / "var", output)
    try:
        server.wait_until_ready()
        bootstrapped = installation.run("bootstrap", "--json")
        assert_bootstrapped(json.loads(bootstrapped.stdout), server.url)
        note = f"Using the server that runs on the data folder {installation.root / 'var'}."
        assert note in bootstrapped.stderr
        backed_up = installation.run("backup", "x.dump")
        assert (backed_up.returncode, note in backed_up.stderr) == (0, True), backed_up.stderr
        assert (installation.current_folder / "x.dump").stat().st_size > 100_000
        verified = installation.run("audit", "verify")
        assert (verified.returncode, note in verified.stderr) == (0, True)
        assert not verified.stdout.startswith("0 chains"), verified.stdout
        migrated = installation.run("migrate")
        assert (migrated.stdout, note in migrated.stderr) == ("The schema is up to date.\n", True)
        page = installation.current_folder / "page.txt"
        page.write_text("Hello")
        sent = installation.run("send", "--to", "a@example.com", "--subject", "Hi", "--text", "page.txt")
        assert (sent.returncode, server.url in sent.stderr) == (0, True), sent.stderr
        assert installation.files_in_current_folder() == ["page.txt", "x.dump"]
    finally:
        assert server.stop() == 0
    backed_up = installation.run("backup", "offline.dump")
    assert (backed_up.returncode, "no server runs on it" in backed_up.stderr) == (0, True), backed_up.stderr
    assert (installation.current_folder / "offline.dump").stat().st_size > 100_000


ON_THE_DATABASE = ["bootstrap", "access", "audit verify", "migrate", "backup x.dump", "api", "worker"]
ON_THE_SERVER = ["demo", "send --to a@b.example --subject Hi --text FILE", "tail", "listen", "import FILE"]


@pytest.mark.parametrize("arguments", [*ON_THE_DATABASE, *ON_THE_SERVER, "campaign watch x", "restore DUMP"])
def test_commands_without_a_server_are_refused_and_create_nothing(
    arguments: str, first: StartedServer, tmp_path: Path
) -> None:
    """Only `serve` creates a database: every other command is refused and does not change the folder.

    Regression test of N1 (tests/defects.md).
    """
    folder, file, dump = tmp_path / "nowhere", tmp_path / "file", tmp_path / "dump"
    file.write_text("email\nada@example.com\n")
    if "DUMP" in arguments:
        assert command(first.folder, "backup", str(dump)).returncode == 0
    before = sorted(tmp_path.iterdir())
    line = arguments.replace("FILE", str(file)).replace("DUMP", str(dump)).replace("x.dump", str(tmp_path / "x.dump"))
    keys = {} if arguments.startswith(("demo", "send")) else {"POSTERN_KEY": "sk_live_x", "POSTERN_PROJECT": "x"}
    for _ in range(2):
        refused = command(folder, *line.split(), **keys)
        assert refused.returncode == 78, refused.stdout
        assert refused.stderr.startswith(("postern: There is no", "postern: No server"))
        assert str(folder) in refused.stderr
        assert (refused.stdout, refused.stderr.count("\n")) == ("", 1)
        assert sorted(tmp_path.iterdir()) == before
        folder.mkdir(exist_ok=True)
        before = sorted(tmp_path.iterdir())
        assert not list(folder.iterdir())


def test_a_failed_restore_leaves_no_database(first: StartedServer, base_folder: Path) -> None:
    """The new database of a failed restore is removed, so that the next `serve` does not start with it.

    Regression test of N1 (tests/defects.md).
    """
    dump, folder = base_folder / "whole.dump", base_folder / "half"
    assert command(first.folder, "backup", str(dump)).returncode == 0
    folder.mkdir()
    shutil.copy(first.folder / "master.key", folder)
    with dump.open("r+b") as file:
        file.truncate(dump.stat().st_size - 5_000)
    failed = command(folder, "restore", str(dump))
    assert (failed.returncode, "Traceback" in failed.stderr) == (78, False), failed.stderr
    assert not (folder / "postgres").exists()


def test_database_url_alone_is_refused_without_the_master_key(first: StartedServer, tmp_path: Path) -> None:
    """With DATABASE_URL alone, commands create no master key: the server would refuse API keys made with it.

    Regression test of N1 (tests/defects.md).
    """
    database = first.running["database_url"]
    for subcommand in ("bootstrap", "access"):
        refused = command(tmp_path / "stray", subcommand, DATABASE_URL=database)
        assert (refused.returncode, "There is no master key" in refused.stderr) == (78, True), refused.stderr
        assert not (tmp_path / "stray").exists()
    eventually(lambda: is_ready(first.url), first)
    assert httpx.get(f"{first.url}/healthz", timeout=WAIT_SECONDS).status_code == 200
