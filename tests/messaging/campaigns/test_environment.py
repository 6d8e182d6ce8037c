"""Who starts a campaign decides where its mail may go."""

from uuid import uuid4

from tests.messaging.campaigns.test_campaigns import act, detail, prepared


async def test_a_campaign_started_with_a_test_key_never_leaves_the_machine(project, work_off):
    campaign, emails = await prepared(project, 3)
    relay = {"transport": "relay", "relays": [{"host": "relay.example"}]}
    assert (await project.developer.patch("", {"settings": relay})).status_code == 200
    # A live key is held to a verified domain, because this project's mail really goes out …
    assert (await act(project, campaign, "send")).status_code == 409
    test = await project.key(environment="TEST")
    assert (await test.post(f"/campaigns/{campaign['id']}/send")).status_code == 200
    await work_off()
    # … and what a TEST key sends is only kept for the inbox view.
    done = await detail(project, campaign)
    assert (done["status"], done["stats"]["delivered"]) == ("SENT", 3)
    inbox = (await project.client.get("/inbox?limit=100")).json()
    assert sorted(each["recipients"][0] for each in inbox["data"]) == sorted(emails)


async def test_a_live_key_sends_live(project, world, work_off):
    campaign, _ = await prepared(project, 2, name=f"live {uuid4().hex[:6]}")
    await act(project, campaign, "send")
    await work_off()
    page = (await project.client.get(f"/campaigns/{campaign['id']}/sends")).json()
    assert page["total"] == 2
    async with world.db.connection() as connection:
        cursor = await connection.execute("select bool_or(test) from sends where campaign_id = %s", [campaign["id"]])
        assert await cursor.fetchone() == (False,)
