"""Every operation of the contract exists and rejects credentials without access."""

import re
import time
from uuid import uuid4

import pytest

from postern.app import OPERATIONS
from postern.platform.projects.permissions import PERMISSIONS
from tests.contract import contract, name_of

WITH_CREDENTIAL = [operation for operation in OPERATIONS if operation.accepts and "anonymous" not in operation.accepts]
"""The operations that require a credential."""
IN_A_PROJECT = [
    operation for operation in WITH_CREDENTIAL if "{project_id}" in operation.path or "{app_id}" in operation.path
]


_SHARED: dict[str, tuple[float, object]] = {}
"""Tenants and clients that the tests of this module share, each with the time of its creation.

The requests of these tests are rejected, so they change nothing.
"""
SHARED_SECONDS = 600
"""How long they are shared: less than the lifetime of their tokens."""


async def shared(name, make):
    """The shared object of this name; `make` creates it if there is none or it is too old."""
    if name not in _SHARED or time.monotonic() - _SHARED[name][0] > SHARED_SECONDS:
        _SHARED[name] = (time.monotonic(), await make())
    return _SHARED[name][1]


@pytest.fixture
async def project(new_project, app):
    return await shared("project", new_project)


@pytest.fixture
async def other_project(new_project, app):
    return await shared("other", new_project)


def operation_name(operation) -> str:
    return f"{operation.method} {operation.wire_path}"


def path_for(operation, project_id: str, identifier: str | None = None) -> str:
    path = operation.path.replace("{project_id}", project_id).replace("{app_id}", project_id)
    return re.sub(r"{\w+}", lambda _: identifier or str(uuid4()), path)


def test_every_operation_of_the_contract_has_a_route():
    routes = {operation_name(operation) for operation in OPERATIONS}
    expected = {name_of(operation) for operation in contract()["operations"]}
    assert expected <= routes


def test_every_permission_that_an_operation_needs_exists():
    assert {operation.needs for operation in OPERATIONS if operation.needs} <= set(PERMISSIONS)


@pytest.mark.parametrize("operation", WITH_CREDENTIAL, ids=operation_name)
async def test_operations_without_a_credential_are_401(operation, project, stranger):
    response = await stranger.request(operation.method, path_for(operation, project.id), json={})
    assert response.status_code == 401


@pytest.mark.parametrize("operation", IN_A_PROJECT, ids=operation_name)
async def test_another_projects_key_gets_the_response_of_an_unknown_project(operation, project, other_project):
    client = other_project.client if "secret_key" in operation.accepts else other_project.developer
    record_id = str(uuid4())
    foreign = await client.request(operation.method, path_for(operation, project.id, record_id), json={})
    unknown = await client.request(operation.method, path_for(operation, str(uuid4()), record_id), json={})
    assert foreign.status_code == unknown.status_code == 404
    assert without_id(foreign) == without_id(unknown)


@pytest.mark.parametrize("operation", [operation for operation in IN_A_PROJECT if operation.needs], ids=operation_name)
async def test_a_key_without_the_permission_gets_403(operation, new_project, app):
    permission = "webhooks:read" if operation.needs != "webhooks:read" else "emails:read"

    async def project_with_key():
        # A new project: the developer's session of one that is shared may have been deleted by the due work of tests
        # that move the clock.
        project = await new_project()
        return project.id, await project.key(permission)

    project_id, client = await shared(permission, project_with_key)
    response = await client.request(operation.method, path_for(operation, project_id), json={})
    assert response.status_code == 403


def without_id(response) -> bytes:
    """The body without the request id."""
    return response.content.replace(response.headers["x-request-id"].encode(), b"")
