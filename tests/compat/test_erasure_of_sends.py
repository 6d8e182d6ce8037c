"""The erasure of a customer covers what only the APIs of other companies store: values in tags, and their responses."""

from uuid import uuid4

from tests.compat.test_postmark import MAIL, new_template, post
from tests.compat.test_sendgrid import MAIL as SENDGRID_MAIL
from tests.compat.test_sendgrid import SEND
from tests.identity.customers.test_erasure import columns_with


async def test_nothing_of_a_person_is_left_after_the_erasure(project, world, run_due_work):
    unique = uuid4().hex[:10]
    address, secret, key = f"ada-{unique}@example.org", f"favourite {unique}", {"Idempotency-Key": uuid4().hex}
    customer = (await project.client.post("/customers", {"email": address, "emailVerified": True})).json()["id"]
    metadata = {"Metadata": {"email": address, "likes": secret}, "Tag": "kept"}
    mail = {**MAIL, "To": f"Ada <{address}>", "Cc": "other@example.org", **metadata}
    broadcast = {**mail, "MessageStream": "broadcast", "Cc": None}
    first = await post(project.client, "/email", mail, **key)
    batch = [mail, {**mail, "To": f"{address}, nobody"}, broadcast]
    # Refused, because the only recipient is suppressed: the error in the stored response has the address, but no send.
    assert (await project.client.post("/suppressions", {"address": address})).status_code == 201
    refused, refused_key = [{**mail, "Cc": None}], {"Idempotency-Key": uuid4().hex}
    refused_batch = (await post(project.client, "/email/batch", refused, **refused_key)).json()
    assert address in refused_batch[0]["Message"]
    assert (await project.client.delete(f"/suppressions/{address}")).status_code == 200
    first_batch = await post(project.client, "/email/batch", batch, **key)
    person = {"to": [{"email": address, "name": secret}], "custom_args": {"email": address}}
    unsubscribable = {"tracking_settings": {"subscription_tracking": {"enable": True}}}
    sendgrid_mail = {**SENDGRID_MAIL, "personalizations": [person], "categories": [secret, "kept"], **unsubscribable}
    assert (await project.client.post(SEND, sendgrid_mail, headers=key)).status_code == 202
    own = {"to": [address, "other@example.org"], "from": "hello@example.com", "subject": "x", "text": "x"}
    separate = await project.client.post("/emails", {**own, "unsubscribable": True}, headers=key)
    assert len(separate.json()["messages"]) == 2
    template = {
        "From": MAIL["From"],
        "To": address,
        "TemplateId": await new_template(project),
        "TemplateModel": {"name": secret},
    }
    assert (await post(project.client, "/email/withTemplate", template)).status_code == 200
    await run_due_work()
    before = await columns_with(world, [address, secret])
    assert {"sends.tags", "sends.to_addresses", "events.data", "idempotency_keys.response"} <= before

    assert (await project.client.delete(f"/customers/{customer}")).status_code == 200
    await run_due_work()
    assert await columns_with(world, [address, secret]) == set()
    logs = (await project.client.get("/emails/logs?limit=100")).json()["data"]
    assert [log["tags"] for log in logs if log["subject"] == "erased" and log["tags"]] == [["kept"]] * 4

    refused_again = await post(project.client, "/email/batch", refused, **refused_key)
    assert refused_again.json() == [{**refused_batch[0], "Message": "erased"}]
    again = await post(project.client, "/email", mail, **key)
    assert again.json() == first.json()
    batch_again = (await post(project.client, "/email/batch", batch, **key)).json()
    assert batch_again[0] == first_batch.json()[0]
    assert batch_again[1] == {"ErrorCode": 300, "Message": "erased"}
    assert (await project.client.post("/emails", {**own, "unsubscribable": True}, headers=key)).json() == {
        **separate.json(),
        "messages": [{**message, "to": "erased"} for message in separate.json()["messages"]],
    }
