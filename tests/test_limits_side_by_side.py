"""Limits hold for concurrent requests, because counting and inserting are one transaction."""

import asyncio
import importlib
from uuid import uuid4

import msgspec
import pytest

MAIL = {"to": ["a@example.com"], "from": "a@acme.example", "subject": "Hi", "text": "Hello"}
CONCURRENT = 50
FREE = 3


def unique_name(number: int) -> str:
    return f"n{number}_{uuid4().hex[:6]}"


KINDS = {
    "keys": ("platform.projects.operations", "KEYS_PER_PROJECT", "/api-keys", lambda n: {"name": unique_name(n)}),
    "webhooks": (
        "platform.webhooks.operations",
        "WEBHOOKS_PER_PROJECT",
        "/webhooks",
        lambda n: {"url": f"https://example.com/{n}", "events": ["*"]},
    ),
    "domains": (
        "messaging.domains.operations",
        "DOMAINS_PER_PROJECT",
        "/domains",
        lambda n: {"domain": f"d{n}.example"},
    ),
    "templates": (
        "messaging.templates.operations",
        "TEMPLATES_PER_PROJECT",
        "/templates",
        lambda n: {"name": unique_name(n)},
    ),
    "audiences": (
        "messaging.audiences.operations",
        "AUDIENCES_PER_PROJECT",
        "/audiences",
        lambda n: {"name": unique_name(n)},
    ),
    "automations": (
        "messaging.automations.operations",
        "AUTOMATIONS_PER_PROJECT",
        "/automations",
        lambda n: {"name": unique_name(n), "trigger": {"type": "CONTACT_CREATED"}, "steps": [{"type": "EXIT"}]},
    ),
    "permissions": (
        "identity.access.operations",
        "PERMISSIONS_PER_PROJECT",
        "/access/permissions",
        lambda n: {"key": f"posts:do{n}"},
    ),
    "roles": (
        "identity.access.operations",
        "ROLES_PER_PROJECT",
        "/access/roles",
        lambda n: {"key": f"ROLE{n}", "permissions": []},
    ),
    "features": (
        "identity.entitlements.features",
        "FEATURES_PER_PROJECT",
        "/b2b/features",
        lambda n: {"key": f"feature_{n}", "type": "BOOLEAN"},
    ),
    "plans": ("identity.entitlements.plans", "PLANS_PER_PROJECT", "/b2b/plans", lambda n: {"key": f"plan_{n}"}),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_concurrent_requests_respect_limits(project, monkeypatch, kind):
    """Regression test of S11 (tests/defects.md)."""
    module, limit, path, body = KINDS[kind]
    before = 1 if kind == "keys" else 0
    monkeypatch.setattr(importlib.import_module(f"postern.{module}"), limit, before + FREE)
    client = project.developer if kind == "keys" else project.client
    number = 12 if kind == "domains" else CONCURRENT  # Creating the signing keys of a domain takes long.
    responses = await asyncio.gather(*(client.post(path, body(n)) for n in range(number)))
    created = [response for response in responses if response.status_code == 201]
    rejections = {(response.status_code, response.json()["code"]) for response in responses if response not in created}
    assert (len(created), len(rejections)) == (FREE, 1), rejections
    ((status, code),) = rejections
    assert status in (409, 422), code
    assert code.startswith("too_many_"), code


@pytest.mark.parametrize("waits", [True, False])
async def test_concurrent_requests_respect_the_email_limit_of_a_plan(project, world, waits):
    """Regression test of S11 (tests/defects.md)."""
    world.settings = msgspec.structs.replace(world.settings, plan_limits="free: emails=30")
    headers = {} if waits else {"Prefer": "wait=0"}
    responses = await asyncio.gather(
        *(project.client.post("/emails", MAIL, headers=headers) for _ in range(CONCURRENT))
    )
    assert sorted(response.status_code for response in responses) == [201] * 30 + [403] * 20
    assert (await project.client.get("/emails/logs")).json()["total"] == 30


async def test_batches_and_single_mails_share_the_limit_of_a_plan(project, world):
    """Regression test of S11 (tests/defects.md)."""
    world.settings = msgspec.structs.replace(world.settings, plan_limits="free: emails=25")
    batches = [project.client.post("/emails/batch", {"emails": [MAIL] * 10}) for _ in range(5)]
    responses = await asyncio.gather(*batches, *(project.client.post("/emails", MAIL) for _ in range(20)))
    total = (await project.client.get("/emails/logs")).json()["total"]
    accepted = sum(10 for response in responses[:5] if response.status_code == 201) + sum(
        response.status_code == 201 for response in responses[5:]
    )
    assert total == accepted <= 25
