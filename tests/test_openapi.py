"""The OpenAPI document and its page: complete, free of lint, and usable without a network."""

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from postern.app import OPERATIONS
from postern.examples import EXAMPLES
from postern.kernel.openapi import document
from postern.kernel.values import to_json

SPECTRAL = Path(__file__).parent / "peers" / "spectral"
INSTALL = "npm install --no-package-lock --prefix tests/peers/spectral"
READER = Path(__file__).parent / "peers" / "docs_page"
INSTALL_READER = "npm install --no-package-lock --prefix tests/peers/docs_page"
SHOWN = [each for each in OPERATIONS if not each.hidden]
DOCUMENT: dict[str, Any] = json.loads(to_json(document(OPERATIONS, EXAMPLES)))


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


@pytest.mark.needs_node
@pytest.mark.skipif(
    not (shutil.which("node") and (READER / "node_modules" / "jsdom").exists()),
    reason=f"jsdom is not installed: {INSTALL_READER}",
)
async def test_the_page_shows_an_operation_with_its_examples(stranger: Any, tmp_path: Path) -> None:
    path = "/projects/{projectId}/access/check"
    one = {**DOCUMENT, "paths": {path: DOCUMENT["paths"][path]}}
    (tmp_path / "openapi.json").write_bytes(to_json(one))
    (tmp_path / "bundle.js").write_bytes((await stranger.http.get("/docs/assets/swagger-ui-bundle.js")).content)
    start = (await stranger.http.get("/docs/start.js")).text
    (tmp_path / "start.js").write_text(start.replace('docExpansion: "none"', 'docExpansion: "full"'))
    words = ['"reason": "PROJECT_ROLE"', "There is no such customer."]
    command = ["node", READER / "read.cjs", tmp_path, *words]
    shown = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False, timeout=300)
    for each in words:
        assert each in shown.stdout, shown.stdout[:1_000] + shown.stderr


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
        place = content["examples"][problem.code()]["$ref"].removeprefix("#/components/examples/")
        assert DOCUMENT["components"]["examples"][place]["value"]["detail"] == problem.message()
    named = {parameter["name"] for parameter in entry["parameters"] if parameter["in"] == "path"}
    assert named == set(re.findall(r"{(\w+)}", each.wire_path))


ANSWERS = [
    pytest.param(media, id=f"{method.upper()} {path} {status}")
    for path, methods in DOCUMENT["paths"].items()
    for method, entry in methods.items()
    for status, answer in entry["responses"].items()
    for media_type, media in answer.get("content", {}).items()
    if status.startswith("2") and media_type == "application/json"
]


@pytest.mark.parametrize("media", ANSWERS)
def test_an_answer_has_an_example_that_fits_its_schema(media: dict[str, Any]) -> None:
    examples = [each["value"] for each in media["examples"].values()]
    assert examples
    schema = {**media["schema"], "components": {"schemas": whole(DOCUMENT["components"]["schemas"])}}
    validator = Draft202012Validator(schema, validate_formats=True)
    for example in examples:
        assert [error.message for error in validator.iter_errors(example)] == []


def whole(schemas: dict[str, Any]) -> dict[str, Any]:
    """The schemas of records with every field demanded, as answers carry them, and no other allowed."""
    return {
        name: {**schema, "required": [*schema["properties"]], "additionalProperties": False}
        if "properties" in schema
        else schema
        for name, schema in schemas.items()
    }


def test_samples_say_what_fields_hold() -> None:
    """A field that is not named in postern/examples.py would be shown as a mere 0, false or its own name."""
    assert sorted(EXAMPLES.unnamed) == [], "Say in postern/examples.py what these hold, as `Record.field` or `field`."


def test_every_sample_is_of_a_field_that_is_there() -> None:
    fields = {
        name
        for record, schema in DOCUMENT["components"]["schemas"].items()
        for field in schema.get("properties", {})
        for name in (field, f"{re.split(r'[_.]', record.partition('_')[0])[-1]}.{field}")
    }
    assert [name for name in EXAMPLES.samples if name not in fields] == []


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
