"""Deletion of expired content and idempotency keys."""

from datetime import timedelta

from postern.messaging.emails.retention import delete_expired
from tests.workers import in_another_process

MAIL = {"to": ["ada@example.com"], "from": "Acme <hello@acme.example>", "subject": "Hello", "text": "x"}


async def test_content_is_deleted_after_the_retention_period_and_the_log_stays(project, new_project, world, clock):
    other_project = await new_project()
    await project.developer.patch("", {"settings": {"retentionDays": 2}})
    sent = (await project.client.post("/emails", MAIL)).json()
    sent_by_other = (await other_project.client.post("/emails", MAIL)).json()
    scheduled_at = (clock() + timedelta(days=20)).isoformat()
    scheduled = (await project.client.post("/emails", {**MAIL, "scheduledAt": scheduled_at})).json()
    clock.move(timedelta(days=3))
    await delete_expired(world)
    assert (await project.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "DELIVERED"
    response = await project.client.get(f"/emails/logs/{sent['id']}/message")
    assert (response.status_code, response.json()["code"]) == (404, "message_gone")
    assert (await project.client.get("/inbox")).json()["total"] == 0
    assert (await other_project.client.get(f"/emails/logs/{sent_by_other['id']}/message")).status_code == 200
    assert (await project.client.get(f"/emails/logs/{scheduled['id']}/message")).status_code == 200


async def test_expired_idempotency_keys_are_deleted(project, world):
    await project.client.post("/emails", MAIL, headers={"idempotency-key": "k"})
    async with world.db.connection() as connection:
        await connection.execute(
            "update idempotency_keys set created_at = now() - interval '25 hours' where project_id = %s", [project.id]
        )
        await in_another_process(delete_expired(world))
        row = await connection.execute("select count(*) from idempotency_keys where project_id = %s", [project.id])
        assert await row.fetchone() == (0,)
