"""The environment of the key that starts a campaign decides whether its mail is captured."""

from uuid import uuid4

from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action


async def test_messages_of_a_campaign_sent_with_a_test_key_are_captured(project, run_due_work):
    campaign, emails = await create_campaign(project, 3)
    relay = {"transport": "relay", "relays": [{"host": "relay.example"}]}
    assert (await project.developer.patch("", {"settings": relay})).status_code == 200
    # With a live key the mail is delivered, which requires a verified domain.
    assert (await request_action(project, campaign, "send")).status_code == 409
    test_client = await project.key(environment="TEST")
    assert (await test_client.post(f"/campaigns/{campaign['id']}/send")).status_code == 200
    await run_due_work()
    # With a TEST key the mail is only captured.
    current = await get_campaign(project, campaign)
    assert (current["status"], current["stats"]["delivered"]) == ("SENT", 3)
    inbox = (await project.client.get("/inbox?limit=100")).json()
    assert sorted(message["recipients"][0] for message in inbox["data"]) == sorted(emails)


async def test_messages_of_a_campaign_sent_with_a_live_key_are_delivered(project, world, run_due_work):
    campaign, _ = await create_campaign(project, 2, name=f"live {uuid4().hex[:6]}")
    await request_action(project, campaign, "send")
    await run_due_work()
    page = (await project.client.get(f"/campaigns/{campaign['id']}/sends")).json()
    assert page["total"] == 2
    async with world.db.connection() as connection:
        cursor = await connection.execute("select bool_or(test) from sends where campaign_id = %s", [campaign["id"]])
        assert await cursor.fetchone() == (False,)
