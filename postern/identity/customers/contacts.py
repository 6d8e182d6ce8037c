"""Link customers to contacts, whom audiences and automations of the project reach, if its settings say so."""

from collections.abc import Sequence

from postern.identity.customers import store
from postern.kernel.database.statements import Transaction
from postern.messaging.audiences import contacts
from postern.messaging.audiences.membership import actor_because_of
from postern.platform.events.model import EventRow
from postern.platform.projects import operations as projects


async def link_contacts(tx: Transaction, new_events: Sequence[EventRow]) -> None:
    """Link the customer of each event to the contact with the customer's address, as `settings.signIn.contacts` says.

    The events are sign-ups and verifications of an address. NONE links nothing, LINK only existing contacts, and CREATE
    also creates missing ones. Customers who signed up themselves are linked only if their address is verified.
    """
    for event in new_events:
        if event.subject_id is None:
            continue
        project = await projects.require_project(tx, event.project_id)
        mode = project.settings.sign_in.contacts
        if mode == "NONE":
            continue
        customer = await store.get_customer(tx, project_id=event.project_id, id=event.subject_id)
        if customer is None or customer.email is None:
            continue
        if customer.email_verified_at is None and event.actor_type == "CUSTOMER":
            continue  # Anybody can sign up with any address: it becomes a contact only when it is verified.
        if mode == "CREATE":
            name = {"name": customer.name} if customer.name else {}
            contact = await contacts.find_or_create(
                tx,
                event.project_id,
                customer.email,
                event.occurred_at,
                attributes=name,
                actor=actor_because_of(event),
            )
        else:
            contact = await contacts.contact_of(tx, event.project_id, customer.email)
        if contact is not None and contact.id != customer.contact_id:
            await store.set_contact(tx, project_id=event.project_id, id=customer.id, contact_id=contact.id)
