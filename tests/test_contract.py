"""Every operation of the contract exists and rejects credentials without access."""

import re
import time
from uuid import uuid4

import pytest

from postern.app import OPERATIONS
from postern.platform.projects.permissions import PERMISSIONS
from tests.contract import contract, name_of

GUARDED = [each for each in OPERATIONS if each.accepts and "nobody" not in each.accepts]
IN_A_PROJECT = [each for each in GUARDED if "{project_id}" in each.path or "{app_id}" in each.path]


_KNOWN: dict[str, tuple[float, object]] = {}
"""Tenants that all tests of this module share, and since when: none of them gets in, so none changes anything."""
SHARED_SECONDS = 600
"""Their tokens live longer, but a busy machine may take its time between two tests of this module."""


async def shared(name, make):
    if name not in _KNOWN or time.monotonic() - _KNOWN[name][0] > SHARED_SECONDS:
        _KNOWN[name] = (time.monotonic(), await make())
    return _KNOWN[name][1]


@pytest.fixture
async def project(new_project, app):
    return await shared("project", new_project)


@pytest.fixture
async def other_project(new_project, app):
    return await shared("other", new_project)


def title(each) -> str:
    return f"{each.method} {each.wire_path}"


def path_for(each, project_id: str, identifier: str | None = None) -> str:
    path = each.path.replace("{project_id}", project_id).replace("{app_id}", project_id)
    return re.sub(r"{\w+}", lambda _: identifier or str(uuid4()), path)


def test_every_operation_of_the_contract_has_a_route():
    routes = {title(each) for each in OPERATIONS}
    wanted = {name_of(each) for each in contract()["operations"]}
    assert wanted <= routes


def test_every_permission_that_an_operation_needs_exists():
    assert {each.needs for each in OPERATIONS if each.needs} <= set(PERMISSIONS)


@pytest.mark.parametrize("each", GUARDED, ids=title)
async def test_operations_without_a_credential_are_401(each, project, stranger):
    answer = await stranger.request(each.method, path_for(each, project.id), json={})
    assert answer.status_code == 401


@pytest.mark.parametrize("each", IN_A_PROJECT, ids=title)
async def test_another_projects_key_gets_the_response_of_an_unknown_project(each, project, other_project):
    theirs = other_project
    client = theirs.client if "secret_key" in each.accepts else theirs.developer
    same = str(uuid4())
    foreign = await client.request(each.method, path_for(each, project.id, same), json={})
    unknown = await client.request(each.method, path_for(each, str(uuid4()), same), json={})
    assert foreign.status_code == unknown.status_code == 404
    assert without_id(foreign) == without_id(unknown)


@pytest.mark.parametrize("each", [each for each in IN_A_PROJECT if each.needs], ids=title)
async def test_a_key_without_the_permission_gets_403(each, project):
    other = "webhooks:read" if each.needs != "webhooks:read" else "emails:read"
    client = await shared(other, lambda: project.key(other))
    answer = await client.request(each.method, path_for(each, project.id), json={})
    assert answer.status_code == 403


def without_id(answer) -> bytes:
    return answer.content.replace(answer.headers["x-request-id"].encode(), b"")
