"""Files, functions, packages and batches in docs/architecture are those of the code."""

import ast
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from postern.kernel.batching import Batcher
from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.domains.test_domains import publish
from tests.peers.smtp_sink import Sink

ROOT = Path(__file__).parent.parent
TOUR = ROOT / "docs/architecture.md"
FLOWS = sorted((ROOT / "docs/architecture").glob("*.md"))
PAGES = [TOUR, *FLOWS]


@cache
def files() -> frozenset[str]:
    """The paths of all files and folders of the code and the tests, without the packages that peers need."""
    paths: set[str] = set()
    for name in ("postern", "tests"):
        for folder, folders, names in os.walk(ROOT / name):
            folders[:] = [path for path in folders if path not in PACKAGES]
            paths.update(Path(folder, path).relative_to(ROOT).as_posix() for path in folders + names)
    return frozenset(paths)


PACKAGES = {"node_modules", "packages", "debian_packages", "__pycache__"}


@cache
def names() -> frozenset[str]:
    """The names of functions, classes, arguments, attributes and variables in the code."""
    return frozenset(
        name
        for file in (ROOT / "postern").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in (
            [node.name] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else
            [node.arg] if isinstance(node, ast.arg) else
            [node.attr] if isinstance(node, ast.Attribute) else
            [node.id] if isinstance(node, ast.Name) else
            [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []
        )
    )  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_in_the_architecture_docs_exist(page: Path) -> None:
    mentioned = re.findall(r"`([a-z_/]+(?:\.py|/))`", page.read_text())
    ends = {path: f"/{path.rstrip('/')}" for path in mentioned}
    missing = [path for path, end in ends.items() if not any(f"/{file}".endswith(end) for file in files())]
    assert mentioned
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_functions_in_the_architecture_docs_exist(page: Path) -> None:
    mentioned = re.findall(r"`(_?[a-z]+_[a-z_]+)`", page.read_text())
    assert [name for name in mentioned if name not in names()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_in_the_architecture_docs_resolve(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


PASSED_ON = {
    "prepare": {"prepare_all", "prepare_marketing"},
    "refresh": {"refresh_customer_sessions", "refresh_developer_sessions"},
}
"""The functions that variables stand for which are passed to `World.batcher`."""


def test_every_batch_is_in_a_table() -> None:
    """The tables of batches in all pages together list the functions that are passed to `World.batcher`, and no
    others."""
    passed = {
        ast.unparse(node.args[0]).rpartition(".")[2]
        for file in (ROOT / "postern").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "batcher"
    }
    tables = [
        table for page in PAGES for table in re.findall(r"^\| batch \|(?:.*\n)+?\n", page.read_text(), re.MULTILINE)
    ]
    listed = [
        name
        for table in tables
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in row.split(", ")
    ]
    assert sorted(name.strip("`") for name in listed) == sorted(
        function for name in passed for function in PASSED_ON.get(name, {name})
    )
    assert passed >= PASSED_ON.keys()


@pytest.mark.parametrize("page", FLOWS, ids=lambda page: page.name)
def test_each_file_of_a_flow_is_mentioned_by_its_path(page: Path) -> None:
    """A name without a folder stands for the file that was mentioned with its path before it."""
    assert [path for path, file in files_mentioned(page.read_text()).items() if file is None] == []


@pytest.mark.parametrize("page", FLOWS, ids=lambda page: page.name)
def test_functions_of_a_flow_stand_in_the_file_before_them(page: Path) -> None:
    """In the text "`file.py`: `name`, `name`", the names are defined at the top of the file (of one of several)."""
    text = page.read_text()
    mentioned = files_mentioned(text)
    groups = re.findall(r"((?:`[a-z_/]+\.py`(?:, )?)+): ((?:`\w+`(?:, )?)+)", text)
    assert groups
    missing = [
        (paths, name)
        for paths, names_after in groups
        for name in re.findall(r"`(\w+)`", names_after)
        if not any(name in defined_in(mentioned[path]) for path in re.findall(r"`(.*?)`", paths))
    ]
    assert missing == []


def files_mentioned(text: str) -> dict[str, Path | None]:
    """The files of postern/ that a page mentions, by the path in the text; None for a path that is no single file."""
    mentioned: dict[str, Path | None] = {}
    for path in re.findall(r"`([a-z_/]+\.py)`", text):
        file = ROOT / "postern" / path
        if "/" not in path:
            earlier = {other for other in mentioned.values() if other is not None and other.name == path}
            file = earlier.pop() if len(earlier) == 1 else file
        mentioned[path] = file if file.exists() else None
    return mentioned


@cache
def defined_in(file: Path | None) -> frozenset[str]:
    """The names of functions, classes and variables at the top of a file."""
    body: list[Any] = ast.parse(file.read_text()).body if file else []
    assigned = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    assigned += [node.target for node in body if isinstance(node, ast.AnnAssign)]
    return frozenset(
        [node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
        + [target.id for target in assigned if isinstance(target, ast.Name)]
    )


@pytest.mark.parametrize("layer", ["protocols", "security", "platform", "messaging", "identity", "compat"])
def test_the_drawing_has_every_package(layer: str) -> None:
    (line,) = re.findall(rf"^    {layer}\[.*$", TOUR.read_text(), re.MULTILINE)
    packages = [init.parent.name for init in (ROOT / "postern" / layer).glob("*/__init__.py")]
    assert [package for package in packages if not re.search(rf"\b{package}\b", line)] == []


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8")))


async def test_the_diagram_of_a_send_has_its_batches_in_order(project, zone, monkeypatch):
    """A request that waits for the delivery uses exactly the batches of the first diagram in send.md."""
    batches: list[str] = []

    async def record(batcher: Any, item: Any) -> Any:
        batches.append(batcher._do.func.__name__)
        return await add(batcher, item)

    add = Batcher.__call__
    diagram = (ROOT / "docs/architecture/send.md").read_text().partition("```mermaid")[2].partition("```")[0]
    async with Sink() as sink:
        domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
        publish(zone, domain)
        assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
        relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
        changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
        assert changed.status_code == 200, changed.text
        for key in ("first", "second"):  # The first send also gets a share of the relay's limits.
            monkeypatch.setattr(Batcher, "__call__", record if key == "second" else add)
            mail = {"from": "hello@example.com", "to": ["ada@example.org"], "subject": "Hello", "text": "Hello"}
            sent = await project.client.post("/emails", mail, headers={"Idempotency-Key": f"architecture-{key}"})
            assert (sent.status_code, sent.json()["status"]) == (201, "SENT")
    assert batches == re.findall(r"\(batch (\w+)\)", diagram)
