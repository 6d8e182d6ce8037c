"""The OpenAPI document and its page: complete, free of lint, and usable without a network."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from postern.app import OPERATIONS
from postern.kernel.openapi import document
from postern.kernel.values import to_json

SPECTRAL = Path(__file__).parent / "peers" / "spectral"
INSTALL = "npm install --no-package-lock --prefix tests/peers/spectral"
SHOWN = [each for each in OPERATIONS if not each.hidden]
DOCUMENT: dict[str, Any] = json.loads(to_json(document(OPERATIONS)))


@pytest.mark.needs_node
@pytest.mark.skipif(
    not (shutil.which("node") and (SPECTRAL / "node_modules" / ".bin" / "spectral").exists()),
    reason=f"Spectral is not installed: {INSTALL}",
)
def test_spectral_finds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    file.write_bytes(to_json(DOCUMENT))
    linted = subprocess.run(
        [SPECTRAL / "node_modules/.bin/spectral", "lint", "-r", SPECTRAL / ".spectral.json", "--format", "json", file],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.parametrize("each", SHOWN, ids=lambda each: f"{each.method} {each.wire_path}")
def test_an_operation_says_all_about_itself(each: Any) -> None:
    entry = DOCUMENT["paths"][each.wire_path][each.method.lower()]
    assert entry["summary"]
    assert entry["description"]
    assert entry["tags"] == [each.area]
    assert entry.get("x-permission") == each.needs
    if each.needs:
        assert f"`{each.needs}`" in entry["description"]
    if each.body is not None:
        assert entry["requestBody"]["content"][each.takes]["examples"]
    for problem in each.problems:
        content = entry["responses"][str(problem.status)]["content"]["application/problem+json"]
        assert content["examples"][problem.code()]["value"]["detail"] == problem.message()
    named = {parameter["name"] for parameter in entry["parameters"] if parameter["in"] == "path"}
    assert named == set(re.findall(r"{(\w+)}", each.wire_path))


def patterns_in(part: Any) -> set[str]:
    if isinstance(part, list):
        return set().union(*map(patterns_in, part))
    if not isinstance(part, dict):
        return set()
    own = {part["pattern"]} if isinstance(part.get("pattern"), str) else set()
    return own.union(*map(patterns_in, part.values()))


def test_no_pattern_lets_a_line_break_in_at_the_end() -> None:
    """Python's `$` matches before a final line feed as well; `(?!\\n)` before it does not."""
    patterns = patterns_in(DOCUMENT)
    assert len(patterns) > 10
    assert [each for each in patterns if each.endswith("$") and not each.endswith(r"(?!\n)$")] == []


async def test_the_page_needs_nothing_from_elsewhere(stranger: Any) -> None:
    page = await stranger.http.get("/docs")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert not re.search(r"<script(?![^>]*src=)|\bon\w+=|https?://", page.text), "Nothing inline, nothing from afar."
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(addresses) == 3
    for address in addresses:
        assert address.startswith("/")
        assert (await stranger.http.get(address)).status_code == 200
    assert (await stranger.http.get("/openapi.json")).json() == DOCUMENT
