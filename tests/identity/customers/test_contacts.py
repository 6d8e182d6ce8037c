"""Customers become contacts, depending on the setting `contacts` of the project."""

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
    assert [contact["email"] for contact in await contacts(project, address)] == [address]
    created = new_address()
    await project.client.post("/customers", {"email": created, "name": "Ada"})
    assert [contact["attributes"] for contact in await contacts(project, created)] == [{"name": "Ada"}]


async def test_a_customer_becomes_a_contact_when_the_address_is_verified(auth, project):
    await auth.settings(contacts="CREATE")
    address = new_address()
    sign_up = await auth.unverified(address)
    assert await contacts(project, address) == []
    ada = auth.as_(sign_up["accessToken"])
    challenge = (await ada.post("/verify-email/send")).json()
    await ada.post("/verify-email", {"challengeId": challenge["challengeId"], "code": await auth.code(address)})
    assert len(await contacts(project, address)) == 1


async def test_with_link_no_new_contacts_are_created(auth, project):
    await auth.settings(contacts="LINK")
    with_contact, without_contact = new_address(), new_address()
    await project.client.post("/contacts", {"email": with_contact.upper(), "attributes": {"plan": "pro"}})
    await auth.signed_up(with_contact)
    await auth.signed_up(without_contact)
    assert [contact["attributes"] for contact in await contacts(project, with_contact)] == [{"plan": "pro"}]
    assert await contacts(project, without_contact) == []


async def test_the_contact_is_erased_with_the_customer(auth, project):
    await auth.settings(contacts="CREATE")
    address = new_address()
    sign_up = await auth.signed_up(address)
    await project.client.delete(f"/customers/{sign_up['customer']['id']}")
    assert await contacts(project, address) == []
