"""Errors of `/compat/resend` in the form of Resend's API, and the checks of every request."""

import re
from uuid import uuid4

import pytest

from postern.app import COMPATIBLE_APIS, COMPATIBLE_OPERATIONS, OPERATIONS
from postern.platform.projects.permissions import PERMISSIONS

EMAIL = {"from": "Acme <hello@acme.example>", "to": "ada@example.com", "subject": "Hi", "html": "<p>Hi</p>"}
SEND = "/compat/resend/emails"
WITH_KEY = [operation for operation in COMPATIBLE_OPERATIONS if operation.accepts]
PERMISSION_MISSING = {"/compat/resend": 401, "/compat/sendgrid": 403, "/compat/postmark": 401}
"""The status of a response to a key that lacks the permission."""
SIGNED_URLS = {"download_resend_attachment"}
"""Operations without a key, because their URL is signed."""


def path_of(operation) -> str:
    return re.sub(r"{\w+}", lambda _: str(uuid4()), operation.path)


def operation_name(operation) -> str:
    return f"{operation.method} {operation.path}"


@pytest.mark.parametrize("operation", WITH_KEY, ids=operation_name)
async def test_operations_without_a_key_are_401(operation, stranger):
    response = await stranger.request(operation.method, path_of(operation), json={})
    assert response.status_code == 401
    assert response.headers["content-type"] == "application/json"


def test_operations_accept_only_secret_keys_and_need_known_permissions():
    assert {operation.name for operation in COMPATIBLE_OPERATIONS if not operation.accepts} == SIGNED_URLS
    for operation in COMPATIBLE_OPERATIONS:
        assert operation.accepts in ({"secret_key"}, frozenset())
        assert operation.needs is None or operation.needs in PERMISSIONS
        assert operation.compatible_api in COMPATIBLE_APIS
        assert operation.path.startswith(f"{operation.compatible_api.path}/")
    assert not {operation.name for operation in COMPATIBLE_OPERATIONS} & {operation.name for operation in OPERATIONS}


def test_every_operation_that_does_something_needs_a_permission():
    without = {operation.name for operation in COMPATIBLE_OPERATIONS if operation.needs is None}
    assert without == {"resend_not_offered", *SIGNED_URLS}


@pytest.mark.parametrize("operation", [operation for operation in WITH_KEY if operation.needs], ids=operation_name)
async def test_a_key_without_the_permission_is_refused(operation, project):
    permission = "webhooks:read" if operation.needs != "webhooks:read" else "emails:read"
    client = await project.key(permission)
    response = await client.request(operation.method, path_of(operation), json={})
    assert response.status_code == PERMISSION_MISSING[operation.compatible_api.path]


async def test_a_send_answers_with_its_id_and_the_rate_limit(project):
    response = await project.client.post(SEND, json=EMAIL)
    assert response.status_code == 200
    assert list(response.json()) == ["id"]
    assert int(response.headers["ratelimit-remaining"]) < int(response.headers["ratelimit-limit"])
    assert int(response.headers["ratelimit-reset"]) >= 1


async def test_errors_have_the_bodies_of_resend(project, stranger):
    no_key = await stranger.post(SEND, json=EMAIL)
    assert no_key.json()["statusCode"] == 401
    assert no_key.json()["name"] == "missing_api_key"
    wrong_key = await stranger.post(SEND, json=EMAIL, headers={"Authorization": "Bearer re_123"})
    assert (wrong_key.status_code, wrong_key.json()["name"]) == (403, "invalid_api_key")
    malformed = await project.client.post(SEND, content=b'{"to":', headers={"Content-Type": "application/json"})
    assert (malformed.status_code, malformed.json()["name"]) == (400, "validation_error")
    missing = await project.client.post(SEND, json={"from": "a@acme.example"})
    assert (missing.status_code, missing.json()["name"]) == (422, "missing_required_field")
    invalid = await project.client.post(SEND, json={**EMAIL, "from": "Acme"})
    assert (invalid.status_code, invalid.json()["name"]) == (422, "invalid_from_address")
    unknown = await project.client.get("/compat/resend/nothing")
    assert (unknown.status_code, unknown.json()["name"]) == (404, "not_found")
    method = await project.client.put(SEND, json={})
    assert (method.status_code, method.json()["name"]) == (405, "method_not_allowed")
