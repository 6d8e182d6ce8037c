"""Customers become contacts, if the project is set to do so."""

from tests.identity.customers.conftest import new_address


async def contacts(project, address):
    return (await project.client.get(f"/contacts?q={address}")).json()["data"]


async def test_customers_do_not_become_contacts_by_default(auth, project):
    address = new_address()
    await auth.signed_up(address)
    assert await contacts(project, address) == []


async def test_a_customer_with_a_verified_address_becomes_a_contact(auth, project):
    await auth.settings(contacts="CREATE")
    address = new_address()
    await auth.signed_up(address)
    assert [each["email"] for each in await contacts(project, address)] == [address]
    created = new_address()
    await project.client.post("/customers", {"email": created, "name": "Ada"})
    assert [each["attributes"] for each in await contacts(project, created)] == [{"name": "Ada"}]


async def test_a_customer_becomes_a_contact_when_the_address_is_verified(auth, project):
    await auth.settings(contacts="CREATE")
    address = new_address()
    made = await auth.unverified(address)
    assert await contacts(project, address) == []
    ada = auth.as_(made["accessToken"])
    asked = (await ada.post("/verify-email/send")).json()
    await ada.post("/verify-email", {"challengeId": asked["challengeId"], "code": await auth.code(address)})
    assert len(await contacts(project, address)) == 1


async def test_with_link_no_new_contacts_are_created(auth, project):
    await auth.settings(contacts="LINK")
    known, unknown = new_address(), new_address()
    await project.client.post("/contacts", {"email": known.upper(), "attributes": {"plan": "pro"}})
    await auth.signed_up(known)
    await auth.signed_up(unknown)
    assert [each["attributes"] for each in await contacts(project, known)] == [{"plan": "pro"}]
    assert await contacts(project, unknown) == []


async def test_the_contact_is_erased_with_the_customer(auth, project):
    await auth.settings(contacts="CREATE")
    address = new_address()
    up = await auth.signed_up(address)
    await project.client.delete(f"/customers/{up['customer']['id']}")
    assert await contacts(project, address) == []
