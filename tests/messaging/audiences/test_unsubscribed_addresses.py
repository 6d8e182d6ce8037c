"""An address that unsubscribed stays unsubscribed when its contact is recreated, until an explicit subscription."""

from uuid import uuid4

import pytest


@pytest.fixture
def left(project):
    """An address whose contact unsubscribed by the API and was deleted."""

    async def make():
        address = f"{uuid4().hex}@example.com"
        made = (await project.client.post("/contacts", {"email": address})).json()
        await project.client.patch(f"/contacts/{made['id']}", {"unsubscribed": True})
        assert (await project.client.delete(f"/contacts/{made['id']}")).status_code == 200
        return address

    return make


async def found(project, address):
    (contact,) = (await project.client.get(f"/contacts?q={address}")).json()["data"]
    return contact


@pytest.mark.parametrize("how", ["create", "bulk", "by-email", "import", "event", "letter case"])
async def test_a_recreated_contact_stays_unsubscribed(project, left, work_off, how):
    """Defects: C12"""
    address = await left()
    if how in ("create", "letter case"):
        email = address.upper() if how == "letter case" else address
        made = await project.client.post("/contacts", {"email": email, "unsubscribed": False})
        assert made.json()["unsubscribed"] is True
    elif how == "event":
        await project.client.post("/events", {"name": "order.placed", "email": address})
    elif how == "import":
        headers = {"content-type": "text/csv"}
        answer = await project.client.post("/contacts/import", content=f"email\n{address}\n", headers=headers)
        assert answer.status_code in (200, 201, 202), answer.text
        await work_off()
    else:
        audience = (await project.client.post("/audiences", {"name": "All"})).json()["id"]
        path = f"/audiences/{audience}/contacts"
        body = {"emails": [address]} if how == "bulk" else {"email": address}
        added = await project.client.post(f"{path}/{'bulk-email' if how == 'bulk' else how}", body)
        assert added.status_code in (200, 201), added.text
    assert (await found(project, address))["unsubscribed"] is True


async def test_only_an_explicit_subscription_subscribes_again(project, left):
    """Defects: C12"""
    address = await left()
    contact = (await project.client.post("/contacts", {"email": address})).json()
    changed = await project.client.patch(f"/contacts/{contact['id']}", {"unsubscribed": False})
    assert changed.json()["unsubscribed"] is False
    await project.client.delete(f"/contacts/{contact['id']}")
    assert (await project.client.post("/contacts", {"email": address})).json()["unsubscribed"] is False


async def test_the_unsubscribed_address_is_remembered(project, left):
    """The old address of a contact stays unsubscribed; a contact that changes to it becomes unsubscribed.

    Defects: C12
    """
    address, other = await left(), f"{uuid4().hex}@example.com"
    contact = (await project.client.post("/contacts", {"email": other})).json()
    moved = await project.client.patch(f"/contacts/{contact['id']}", {"email": address})
    assert moved.json()["unsubscribed"] is True
    await project.client.patch(f"/contacts/{contact['id']}", {"email": f"{uuid4().hex}@example.com"})
    assert (await project.client.post("/contacts", {"email": address})).json()["unsubscribed"] is True
    assert (await project.client.post("/contacts", {"email": other})).json()["unsubscribed"] is False


async def test_unsubscribed_addresses_belong_to_one_project(new_project, left):
    """Defects: C12"""
    address, theirs = await left(), await new_project()
    assert (await theirs.client.post("/contacts", {"email": address})).json()["unsubscribed"] is False
