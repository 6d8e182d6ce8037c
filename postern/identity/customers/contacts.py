"""Customers who are contacts too, where the project wants that: audiences and automations see them."""

from collections.abc import Sequence

from postern.identity.customers import store
from postern.kernel.database.statements import Transaction
from postern.messaging.audiences import contacts
from postern.platform.events.model import Event
from postern.platform.projects import operations as projects


async def link_contact(tx: Transaction, happened: Sequence[Event]) -> None:
    """Link customers whose address is proven (or who were created by API) to the contact with it, or make one."""
    for event in happened:
        if event.subject_id is None:
            continue
        project = await projects.require_project(tx, event.project_id)
        wish = project.settings.sign_in.contacts
        if wish == "NONE":
            continue
        person = await store.get_customer(tx, project_id=event.project_id, id=event.subject_id)
        if person is None or person.email is None:
            continue
        if person.email_verified_at is None and event.actor_type == "CUSTOMER":
            continue  # Anybody can claim an address: marketing begins when it is proven.
        if wish == "CREATE":
            name = {"name": person.name} if person.name else {}
            contact = await contacts.find_or_create(
                tx, event.project_id, person.email, event.occurred_at, attributes=name
            )
        else:
            contact = await contacts.contact_of(tx, event.project_id, person.email)
        if contact is not None and contact.id != person.contact_id:
            await store.set_contact(tx, project_id=event.project_id, id=person.id, contact_id=contact.id)
