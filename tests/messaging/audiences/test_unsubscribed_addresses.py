"""An address that unsubscribed stays unsubscribed when its contact is recreated, until an explicit subscription."""

from uuid import uuid4

import pytest


@pytest.fixture
def create_unsubscribed_address(project):
    """A function that returns an address whose contact unsubscribed and was then deleted."""

    async def create():
        address = f"{uuid4().hex}@example.com"
        contact = (await project.client.post("/contacts", {"email": address})).json()
        await project.client.patch(f"/contacts/{contact['id']}", {"unsubscribed": True})
        assert (await project.client.delete(f"/contacts/{contact['id']}")).status_code == 200
        return address

    return create


async def contact_with(project, address):
    (contact,) = (await project.client.get(f"/contacts?q={address}")).json()["data"]
    return contact


@pytest.mark.parametrize("operation", ["create", "bulk", "by-email", "import", "event", "letter case"])
async def test_a_recreated_contact_stays_unsubscribed(project, create_unsubscribed_address, run_due_work, operation):
    """Regression test of C12 (tests/defects.md)."""
    address = await create_unsubscribed_address()
    if operation in ("create", "letter case"):
        email = address.upper() if operation == "letter case" else address
        contact = await project.client.post("/contacts", {"email": email, "unsubscribed": False})
        assert contact.json()["unsubscribed"] is True
    elif operation == "event":
        await project.client.post("/events", {"name": "order.placed", "email": address})
    elif operation == "import":
        headers = {"content-type": "text/csv"}
        response = await project.client.post("/contacts/import", content=f"email\n{address}\n", headers=headers)
        assert response.status_code in (200, 201, 202), response.text
        await run_due_work()
    else:
        audience = (await project.client.post("/audiences", {"name": "All"})).json()["id"]
        path = f"/audiences/{audience}/contacts"
        body = {"emails": [address]} if operation == "bulk" else {"email": address}
        added = await project.client.post(f"{path}/{'bulk-email' if operation == 'bulk' else operation}", body)
        assert added.status_code in (200, 201), added.text
    assert (await contact_with(project, address))["unsubscribed"] is True


async def test_only_an_explicit_subscription_subscribes_again(project, create_unsubscribed_address):
    """Regression test of C12 (tests/defects.md)."""
    address = await create_unsubscribed_address()
    contact = (await project.client.post("/contacts", {"email": address})).json()
    changed = await project.client.patch(f"/contacts/{contact['id']}", {"unsubscribed": False})
    assert changed.json()["unsubscribed"] is False
    await project.client.delete(f"/contacts/{contact['id']}")
    assert (await project.client.post("/contacts", {"email": address})).json()["unsubscribed"] is False


async def test_the_unsubscribed_address_is_remembered(project, create_unsubscribed_address):
    """A contact that gets an unsubscribed address is unsubscribed; its earlier addresses keep their state.

    Regression test of C12 (tests/defects.md).
    """
    address, other = await create_unsubscribed_address(), f"{uuid4().hex}@example.com"
    contact = (await project.client.post("/contacts", {"email": other})).json()
    changed = await project.client.patch(f"/contacts/{contact['id']}", {"email": address})
    assert changed.json()["unsubscribed"] is True
    await project.client.patch(f"/contacts/{contact['id']}", {"email": f"{uuid4().hex}@example.com"})
    assert (await project.client.post("/contacts", {"email": address})).json()["unsubscribed"] is True
    assert (await project.client.post("/contacts", {"email": other})).json()["unsubscribed"] is False


async def test_unsubscribed_addresses_belong_to_one_project(new_project, create_unsubscribed_address):
    """Regression test of C12 (tests/defects.md)."""
    address, other_project = await create_unsubscribed_address(), await new_project()
    assert (await other_project.client.post("/contacts", {"email": address})).json()["unsubscribed"] is False
