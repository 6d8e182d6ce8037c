"""Erasing a customer removes all personal data from the database."""

from uuid import uuid4

from postern.platform.audit.operations import verify_chain
from tests.identity.customers.conftest import GOOD

COLUMNS = """
    select c.table_name, c.column_name, c.data_type from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and c.data_type not in ('uuid', 'bigint', 'integer', 'smallint', 'boolean', 'double precision', 'numeric',
                              'timestamp with time zone', 'date', 'interval')
"""


async def columns_with(world, words):
    """The columns of all tables that contain any of the words, ignoring case."""
    names = set()
    async with world.db.connection() as connection:
        columns = await (await connection.execute(COLUMNS)).fetchall()
        assert len(columns) > 60
        for table, column, kind in columns:
            as_text = f"encode(\"{column}\", 'escape')" if kind == "bytea" else f'"{column}"::text'
            for word in words:
                query = f'select count(*) from "{table}" where strpos(lower({as_text}), %s) > 0'
                if (await (await connection.execute(query, [word.lower()])).fetchone())[0]:
                    names.add(f"{table}.{column}")
    return names


async def test_erasure_removes_address_name_and_metadata_from_all_tables(auth, project, world, run_due_work):
    unique = uuid4().hex[:10]
    address, name, secret = f"ada-{unique}@example.com", f"Ada{unique} Lovelace", f"favourite-{unique}"
    await project.developer.post("/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["*"]})
    await auth.settings(contacts="CREATE", redirectUrls=["https://app.example.com/in"])
    sign_up = await auth.signed_up(address)
    customer = sign_up["customer"]["id"]
    ada = auth.as_(sign_up["accessToken"])
    await ada.client.patch("/me", {"name": name})
    change = {"metadata": {"colour": secret, secret: 1}}
    assert (await project.client.patch(f"/customers/{customer}/metadata", change)).status_code == 200
    await project.client.post("/customers/link", {"customerId": customer, "externalUserId": f"crm-{unique}"})
    await project.client.patch(f"/customers/{customer}/roles", {"roles": ["MEMBER"]})
    await auth.at(agent=f"Browser of {name}").sign_in(address)
    await auth.sign_in(address, "wrong password")
    await auth.post("/sign-in/code", {"email": address})
    await auth.post("/sign-in/link", {"email": address})
    await auth.post("/password/forgot", {"email": address})
    await ada.post("/verify-email/send")
    await run_due_work()
    mail = {"to": [address], "from": "shop@postern.test", "subject": f"Hello {name}", "text": secret}
    assert (await project.client.post("/emails", mail, headers={"idempotency-key": unique})).status_code == 201
    await auth.post("/sign-in/code", {"email": address})
    ban = {"reason": f"{name} was rude"}
    assert (await project.client.post(f"/customers/{customer}/ban", ban)).status_code == 200
    await project.client.post(f"/customers/{customer}/unban")

    words = [address, name, secret, f"crm-{unique}", unique]
    before = await columns_with(world, words)
    assert {"customers.email", "customers.name", "customers.metadata", "events.data", "sends.recipient"} <= before

    assert (await project.client.delete(f"/customers/{customer}")).status_code == 200
    await run_due_work()
    assert await columns_with(world, [address, name, secret, f"crm-{unique}"]) == set()
    report = await verify_chain(world.db, project.id)
    assert report.intact
    assert report.entries > 3
    assert (await auth.sign_in(address)).status_code == 401
    assert (await ada.get("/me")).status_code == 401
    events = (await project.client.get(f"/customers/{customer}/events")).json()["data"]
    assert {"customer.signed_up", "customer.signed_in", "customer.deleted"} <= {event["type"] for event in events}
    assert all(event["erasedAt"] and not event["metadata"] and not event["actorLabel"] for event in events)


async def test_erasing_a_customer_does_not_affect_other_customers(auth, project, world):
    one, other = f"one-{uuid4().hex[:8]}@example.com", f"other-{uuid4().hex[:8]}@example.com"
    first, second = await auth.signed_up(one), await auth.signed_up(other)
    before = await columns_with(world, [other])
    assert (await project.client.delete(f"/customers/{first['customer']['id']}")).status_code == 200
    assert await columns_with(world, [other]) == before
    assert (await auth.sign_in(other, GOOD)).status_code == 200
    timeline = (await project.client.get(f"/customers/{second['customer']['id']}/timeline")).json()
    assert {"EVENT", "SESSION", "EMAIL"} <= {entry["kind"] for entry in timeline["data"]}


async def test_erasure_removes_mails_to_exactly_the_address(project):
    """Not to longer addresses that contain it, nor to addresses that match it as a LIKE pattern."""
    unique = uuid4().hex[:10]
    address = f"a_a%-{unique}@example.com"
    created = await project.client.post("/customers", {"email": address, "emailVerified": True})
    assert created.status_code == 201, created.text
    similar_addresses = [
        f"b{address}",
        f"{address}.au",
        f"{address}-x.com",
        address.replace("_", "x"),
        address.replace("%", "xx"),
    ]
    other, sender = "bob@example.com", "shop@acme.example"
    kept = [{"to": [similar], "subject": "Hello"} for similar in similar_addresses]
    kept += [{"to": [other], "subject": f"About {similar} and more"} for similar in similar_addresses]
    erased = [
        {"to": [f"Ada <{address.upper()}>"], "subject": "Hello"},
        {"to": [other], "cc": [address], "subject": "Hello"},
        {"to": [other], "bcc": [f"Ada <{address}>"], "subject": "Hello"},
        *({"to": [other], "subject": subject.format(address)} for subject in ("{}", "Write to {}.", "({0}), '{0}'")),
    ]
    send_ids = [
        (await project.client.post("/emails", {"from": sender, "text": "x", "engine": "none", **mail})).json()["id"]
        for mail in [*kept, *erased]
    ]
    assert (await project.client.delete(f"/customers/{created.json()['id']}")).status_code in (200, 204)
    logs = [(await project.client.get(f"/emails/logs/{send_id}")).json() for send_id in send_ids]
    assert [log["subject"] == "erased" for log in logs] == [False] * len(kept) + [True] * len(erased)


async def test_a_request_repeated_after_erasure_gets_the_first_response(project):
    address, key = f"ada-{uuid4().hex[:10]}@example.com", {"idempotency-key": uuid4().hex}
    created = await project.client.post("/customers", {"email": address, "emailVerified": True})
    mail = {"to": [address], "from": "shop@acme.example", "subject": "Hello", "text": "Hello"}
    batch = {"emails": [mail, {**mail, "to": [f"not an address: {address}"]}]}
    first = await project.client.post("/emails", mail, headers=key)
    first_batch = await project.client.post("/emails/batch", batch, headers=key)
    assert first_batch.json()["data"][1]["error"]
    assert (await project.client.delete(f"/customers/{created.json()['id']}")).status_code in (200, 204)
    assert (await project.client.post("/emails", mail, headers=key)).json() == first.json()
    repeated = (await project.client.post("/emails/batch", batch, headers=key)).json()["data"]
    assert repeated[0] == first_batch.json()["data"][0]
    assert repeated[1] == {**first_batch.json()["data"][1], "error": "erased"}
