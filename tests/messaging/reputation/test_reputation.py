"""Rates of bounces and complaints: campaigns wait while a domain is held, transactional mail goes on."""

from datetime import timedelta
from uuid import uuid4

import pytest

from postern.kernel.config import SettingInvalid, Settings, read_settings
from postern.messaging.emails import domain_limits, store
from postern.messaging.emails.signals import apply_signals
from postern.messaging.emails.work import SENDS, deliver_batch
from postern.messaging.reputation import rules
from postern.messaging.reputation.model import (
    EVALUATION_DELAY,
    EVALUATION_INTERVAL,
    MIN_BOUNCE_MESSAGES,
    REPUTATION_WINDOW,
    ReputationCounts,
)
from tests.messaging.campaigns.test_campaigns import HTML, get_campaign, request_action
from tests.messaging.campaigns.test_stopping import claim_due, create_sends
from tests.messaging.domains.test_domains import publish
from tests.messaging.emails.test_relay import MAIL, entry
from tests.messaging.emails.test_signals import signal_of

UNKNOWN_USER = {"code": 550, "enhanced": "5.1.1", "text": "No such user here"}


@pytest.fixture
def small_numbers(monkeypatch):
    """Thresholds that act from 20 messages on."""
    monkeypatch.setattr(rules, "MIN_BOUNCE_MESSAGES", 20)
    monkeypatch.setattr(rules, "MIN_COMPLAINT_MESSAGES", 20)


async def domain_of(project, name="example.com"):
    return next(domain for domain in (await project.client.get("/domains")).json() if domain["domain"] == name)


async def start_campaign(project, good, bad=0, domain="example.com"):
    """Start a campaign to contacts of whom `bad` do not exist; returns it."""
    domain_id = (await domain_of(project, domain))["id"]
    template = (await project.client.post("/templates", {"name": "T", "html": HTML, "subject": "Hi"})).json()
    audience = (await project.client.post("/audiences", {"name": "All"})).json()
    names = [f"c{number}" for number in range(good)] + [f"permfail{number}" for number in range(bad)]
    contacts = [{"email": f"{name}-{uuid4().hex[:8]}@example.org"} for name in names]
    for first in range(0, len(contacts), 500):
        path = f"/audiences/{audience['id']}/contacts/bulk-email"
        added = await project.client.post(path, {"contacts": contacts[first : first + 500]})
        assert added.status_code in (200, 201), added.text
    body = {
        "name": "Spring",
        "fromEmail": f"news@{domain}",
        "templateId": template["id"],
        "domainId": domain_id,
        "audienceId": audience["id"],
    }
    campaign = await project.client.post("/campaigns", body)
    assert campaign.status_code == 201, campaign.text
    assert (await request_action(project, campaign.json(), "send")).status_code == 200
    return campaign.json()


async def reputation_of(project, days=7):
    response = await project.client.get(f"/domains/{(await domain_of(project))['id']}/reputation?days={days}")
    assert response.status_code == 200, response.text
    return response.json()


async def release(project, reason="Removed the addresses"):
    path = f"/domains/{(await domain_of(project))['id']}/reputation/release"
    return await project.client.post(path, {"reason": reason})


async def events_of(project, prefix="domain.reputation"):
    events = (await project.client.get("/events?limit=200")).json()["data"]
    return [event for event in reversed(events) if event["type"].startswith(prefix)]


async def evaluate(clock, run_due_work):
    clock.move(EVALUATION_DELAY)
    await run_due_work()


async def test_a_campaign_with_6_percent_bounces_holds_marketing_mail_until_the_release(
    sender, sink, clock, run_due_work
):
    first = await start_campaign(sender, 1_128, 72)
    await run_due_work()
    assert len(sink.messages) == 1_128
    await evaluate(clock, run_due_work)
    assert (await get_campaign(sender, first))["status"] == "SENT"
    reputation = await reputation_of(sender)
    reason = "bounce rate 6 % of 1,200 messages over 7 days; limit 5 %"
    assert (reputation["state"], reputation["reason"], reputation["bounceRate"]) == ("HELD", reason, 0.06)
    assert reputation["counts"] == {"messages": 1_200, "bounced": 72, "complained": 0}
    assert reputation["days"][-1] == {"day": clock().date().isoformat(), **reputation["counts"]}
    (event,) = await events_of(sender)
    assert event["type"] == "domain.reputation_held"
    assert (event["data"]["reason"], event["data"]["bounceLimit"]) == (reason, 0.05)

    second = await start_campaign(sender, 30)
    await run_due_work()
    assert len(sink.messages) == 1_128
    progress = (await get_campaign(sender, second))["progress"]
    assert (progress["waiting"], progress["waitingReason"]) == (30, f"Held: {reason}.")
    assert progress["waitingUntil"] == reputation["heldUntil"]
    (send, *_) = (await sender.client.get(f"/campaigns/{second['id']}/sends")).json()["data"]
    log = await entry(sender, send["id"])
    assert (log["status"], log["reason"], log["scheduledAt"]) == ("QUEUED", f"Held: {reason}.", reputation["heldUntil"])
    sent = await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})
    assert sent.json()["status"] == "SENT"

    released = await release(sender)
    assert (released.status_code, released.json()["state"], released.json()["counts"]["messages"]) == (
        200,
        "HEALTHY",
        0,
    )
    await run_due_work()
    assert len(sink.messages) == 1_128 + 1 + 30
    clock.move(timedelta(seconds=10))
    await run_due_work()
    assert (await get_campaign(sender, second))["status"] == "SENT"
    reputation = await reputation_of(sender)
    assert (reputation["state"], reputation["counts"]["messages"], reputation["counts"]["bounced"]) == (
        "HEALTHY",
        30,
        0,
    )
    assert [event["type"] for event in await events_of(sender)][-1] == "domain.reputation_released"
    assert (await release(sender)).json()["code"] == "nothing_held"
    path = f"/account/audit-log?projectId={sender.id}&action=domain.reputation_released"
    (audited,) = (await sender.developer.get(path)).json()["data"]
    assert audited["metadata"]["reason"] == "Removed the addresses"
    assert audited["metadata"]["heldBecause"] == reason


async def hold(sender, clock, run_due_work):
    """Let a campaign to 18 contacts and two that do not exist hold the marketing mail of the domain."""
    await start_campaign(sender, 18, 2)
    await run_due_work()
    await evaluate(clock, run_due_work)
    reputation = await reputation_of(sender)
    assert reputation["state"] == "HELD"
    return reputation


async def test_mail_is_released_when_the_bounces_leave_the_window(sender, sink, clock, run_due_work, small_numbers):
    await hold(sender, clock, run_due_work)
    campaign = await start_campaign(sender, 3)
    await run_due_work()
    assert len(sink.messages) == 18
    for _ in range(2):  # Nothing changes from hour to hour while the bounces are in the window.
        clock.move(EVALUATION_INTERVAL)
        await run_due_work()
    assert (await reputation_of(sender))["state"] == "HELD"
    clock.move(REPUTATION_WINDOW)
    await run_due_work()
    assert len(sink.messages) == 21
    assert (await reputation_of(sender))["state"] == "HEALTHY"
    clock.move(timedelta(seconds=10))
    await run_due_work()
    assert (await get_campaign(sender, campaign))["status"] == "SENT"
    types = [event["type"] for event in await events_of(sender)]
    assert types == ["domain.reputation_held", "domain.reputation_released"]


async def test_a_rate_between_the_thresholds_is_a_warning(sender, sink, clock, run_due_work, small_numbers):
    await start_campaign(sender, 97, 3)
    await run_due_work()
    await evaluate(clock, run_due_work)
    reputation = await reputation_of(sender)
    assert (reputation["state"], reputation["bounceRate"], reputation["heldUntil"]) == ("WARNING", 0.03, None)
    await start_campaign(sender, 5)
    await run_due_work()
    assert len(sink.messages) == 102
    clock.move(REPUTATION_WINDOW + EVALUATION_INTERVAL)
    await run_due_work()
    types = [event["type"] for event in await events_of(sender)]
    assert types == ["domain.reputation_warning", "domain.reputation_recovered"]


async def test_few_messages_change_nothing(sender, clock, run_due_work):
    await start_campaign(sender, 10, 10)
    await run_due_work()
    await evaluate(clock, run_due_work)
    reputation = await reputation_of(sender)
    assert (reputation["state"], reputation["bounceRate"]) == ("HEALTHY", 0.5)
    assert reputation["thresholds"]["bounces"] == {"warning": 0.02, "hold": 0.05, "minMessages": MIN_BOUNCE_MESSAGES}
    assert await events_of(sender) == []


async def test_a_repeated_report_counts_once(sender, world, clock, run_due_work):
    sent = (await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})).json()
    clock.move(timedelta(hours=2))
    for _ in range(3):
        await apply_signals(world, [signal_of(sender, sent, "BOUNCED", world, **UNKNOWN_USER)] * 2)
        await apply_signals(world, [signal_of(sender, sent, "COMPLAINED", world, source=name) for name in "ab"])
    counts = (await reputation_of(sender))["counts"]
    assert counts == {"messages": 1, "bounced": 1, "complained": 1}


async def test_rejections_because_of_the_sender_do_not_count(sender, world, clock):
    sent = (await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})).json()
    blocked = {"code": 554, "enhanced": "5.7.1", "text": "Service unavailable; blocked using zen.spamhaus.org"}
    await apply_signals(world, [signal_of(sender, sent, "BOUNCED", world, bounce="hard", **blocked)])
    for name in ("bounced", "complained"):  # Test addresses neither.
        await sender.client.post("/emails", {**MAIL, "to": [f"{name}@postern.test"], "cc": None, "bcc": None})
    counts = (await reputation_of(sender))["counts"]
    assert (counts["bounced"], counts["complained"]) == (0, 0)


async def test_several_recipients_that_do_not_exist_are_one_bounced_message(sender, world, clock, run_due_work):
    to = [f"permfail{number}-{uuid4().hex[:6]}@example.org" for number in range(4)] + ["ada@example.org"]
    sent = (await sender.client.post("/emails", {**MAIL, "to": to, "cc": None, "bcc": None})).json()
    await apply_signals(world, [signal_of(sender, sent, "BOUNCED", world, recipient="ada@example.org", **UNKNOWN_USER)])
    assert (await reputation_of(sender))["counts"]["bounced"] == 1


async def test_complaints_hold_marketing_mail(sender, world, clock, run_due_work, small_numbers):
    campaign = await start_campaign(sender, 20)
    await run_due_work()
    (send, *_) = (await sender.client.get(f"/campaigns/{campaign['id']}/sends")).json()["data"]
    await apply_signals(world, [signal_of(sender, send, "COMPLAINED", world, source="arf")])
    await evaluate(clock, run_due_work)
    reputation = await reputation_of(sender)
    assert (reputation["state"], reputation["complaintRate"]) == ("HELD", 0.05)
    assert "complaint rate 5 %" in reputation["reason"]


async def test_late_bounces_of_earlier_mail_do_not_count_after_the_release(
    sender, world, clock, run_due_work, small_numbers
):
    await hold(sender, clock, run_due_work)
    sent = (await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})).json()
    clock.move(timedelta(minutes=1))
    assert (await release(sender)).status_code == 200
    await apply_signals(world, [signal_of(sender, sent, "BOUNCED", world, **UNKNOWN_USER)])
    await start_campaign(sender, 24, 2)
    await run_due_work()
    reputation = await reputation_of(sender)
    assert reputation["counts"]["bounced"] == 2
    assert reputation["countedFrom"] == clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    await evaluate(clock, run_due_work)
    assert (await reputation_of(sender))["state"] == "HELD", "2 of 26 new messages"


async def test_sends_that_a_worker_claimed_before_the_release_are_sent(
    sender, sink, world, clock, run_due_work, small_numbers, monkeypatch
):
    """A worker that has read the limits before a release must not let its sends wait after it."""
    await hold(sender, clock, run_due_work)
    limits = domain_limits.reputation.limits_of

    async def release_in_between(db, project_id):
        current_limits = await limits(db, project_id)
        assert (await release(sender)).status_code == 200
        await domain_limits.DOMAIN_LIMITS[0].do(world, await claim_due(world, sender, domain_limits.DOMAIN_LIMITS[0]))
        return current_limits

    await start_campaign(sender, 4)
    await create_sends(world, sender)
    sends = await claim_due(world, sender, SENDS[1])
    assert len(sends) == 4
    with monkeypatch.context() as patch:
        patch.setattr(domain_limits.reputation, "limits_of", release_in_between)
        await deliver_batch(world, sends)
    assert len(sink.messages) == 18
    await run_due_work()
    assert len(sink.messages) == 22


async def test_a_release_goes_on_after_its_worker_was_killed(
    sender, sink, world, clock, run_due_work, small_numbers, monkeypatch
):
    monkeypatch.setattr(domain_limits, "RELEASE_BATCH", 2)
    await hold(sender, clock, run_due_work)
    await start_campaign(sender, 5)
    await run_due_work()
    await release(sender)
    work = domain_limits.DOMAIN_LIMITS[0]
    (row,) = await claim_due(world, sender, work)
    async with world.db.transaction() as tx:  # The worker is killed after its first batch.
        assert await store.release_postponed(
            tx, project_id=row.project_id, domain_id=row.id, due_at=row.releasing, limit=2, now=clock()
        )
    await run_due_work()
    assert len(sink.messages) == 20
    clock.move(work.lease)
    await run_due_work()
    assert len(sink.messages) == 23


async def test_a_held_send_is_claimed_once_and_leaves_other_domains_alone(
    sender, sink, world, zone, clock, run_due_work, small_numbers
):
    await hold(sender, clock, run_due_work)
    domain = (await sender.client.post("/domains", {"domain": "other.example"})).json()
    publish(zone, domain)
    await sender.client.post(f"/domains/{domain['id']}/verify")
    held = await start_campaign(sender, 300, domain="example.com")
    await run_due_work()
    for _ in range(3):
        clock.move(timedelta(hours=2))
        await run_due_work()
    async with world.db.connection() as connection:
        query = "select max(attempt), count(*) from sends where campaign_id = %s"
        assert await (await connection.execute(query, [held["id"]])).fetchone() == (1, 300)
    await start_campaign(sender, 5, domain="other.example")
    await run_due_work()
    assert len(sink.messages) == 18 + 5


async def test_a_cancelled_campaign_does_not_wait(sender, sink, clock, run_due_work, small_numbers):
    await hold(sender, clock, run_due_work)
    campaign = await start_campaign(sender, 5)
    await run_due_work()
    assert (await request_action(sender, campaign, "cancel")).status_code == 200
    await run_due_work()
    sends = (await sender.client.get(f"/campaigns/{campaign['id']}/sends")).json()["data"]
    assert {send["status"] for send in sends} == {"CANCELLED"}
    await release(sender)
    await run_due_work()
    assert len(sink.messages) == 18


async def test_captured_mail_is_not_held(sender, clock, run_due_work, small_numbers):
    await hold(sender, clock, run_due_work)
    await sender.developer.patch("", {"settings": {"transport": "capture"}})
    campaign = await start_campaign(sender, 3)
    await run_due_work()
    assert (await get_campaign(sender, campaign))["stats"]["sent"] == 3


async def test_the_preflight_of_a_campaign_says_that_its_mail_would_wait(sender, clock, run_due_work, small_numbers):
    await hold(sender, clock, run_due_work)
    campaign = await start_campaign(sender, 1)
    report = (await sender.client.post(f"/campaigns/{campaign['id']}/preflight", {})).json()
    (finding,) = [finding for finding in report["findings"] if finding["code"] == "reputation_held"]
    assert (report["ok"], finding["severity"], finding["path"]) == (False, "ERROR", "/from")
    assert "bounce rate 10 % of 20 messages" in finding["message"]
    report = (await sender.client.post("/emails/preflight", {**MAIL, "marketing": False})).json()
    assert "reputation_held" not in [finding["code"] for finding in report["findings"]]


async def test_a_domain_between_the_thresholds_is_a_warning_in_the_preflight(
    sender, clock, run_due_work, small_numbers
):
    await start_campaign(sender, 97, 3)
    await run_due_work()
    await evaluate(clock, run_due_work)
    report = (await sender.client.post("/emails/preflight", {**MAIL, "marketing": True})).json()
    (finding,) = [finding for finding in report["findings"] if finding["code"] == "reputation_warning"]
    assert finding["severity"] == "WARNING"


async def test_foreign_projects_and_missing_permissions(sender, new_project):
    domain = await domain_of(sender)
    other = await new_project()
    for path in ("reputation", "warm-up"):
        assert (await other.client.get(f"/domains/{domain['id']}/{path}")).status_code == 404
    assert (await other.client.put(f"/domains/{domain['id']}/warm-up", {"targetPerDay": 9})).status_code == 404
    foreign = await other.client.post(f"/domains/{domain['id']}/reputation/release", {"reason": "x"})
    assert (foreign.status_code, foreign.json()["code"]) == (404, "domain_missing")
    assert (await sender.client.get(f"/domains/{uuid4()}/reputation")).status_code == 404


@pytest.mark.parametrize("reason", ["", " ", "a\nb", "x" * 501, None])
async def test_a_release_needs_a_reason_on_one_line(sender, reason):
    answer = await release(sender, reason)
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, "/reason")


async def test_a_deleted_domain_takes_its_numbers_with_it(sender, world, clock, run_due_work, small_numbers):
    await hold(sender, clock, run_due_work)
    sent = (await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})).json()
    domain = await domain_of(sender)
    await sender.developer.delete(f"/domains/{domain['id']}?force=true")
    await apply_signals(world, [signal_of(sender, sent, "BOUNCED", world, **UNKNOWN_USER)])
    async with world.db.connection() as connection:
        query = "select count(*) from reputation_counters where domain_id = %s"
        assert await (await connection.execute(query, [domain["id"]])).fetchone() == (0,)


THRESHOLDS = rules.thresholds_of(Settings())
EVALUATIONS = {
    # state before, messages, bounced, complained: state after
    "no mail": ("HEALTHY", 0, 0, 0, "HEALTHY"),
    "too few": ("HEALTHY", 499, 499, 0, "HEALTHY"),
    "below the lower threshold": ("HEALTHY", 1_000, 19, 0, "HEALTHY"),
    "at the lower threshold": ("HEALTHY", 1_000, 20, 0, "WARNING"),
    "below the higher threshold": ("HEALTHY", 1_000, 49, 0, "WARNING"),
    "at the higher threshold": ("HEALTHY", 1_000, 50, 0, "HELD"),
    "one complaint": ("HEALTHY", 1_000, 0, 1, "WARNING"),
    "three complaints": ("HEALTHY", 1_000, 0, 3, "HELD"),
    "too few for complaints": ("HEALTHY", 999, 0, 999, "HEALTHY"),
    "from a warning": ("WARNING", 1_000, 50, 0, "HELD"),
    "still a warning": ("WARNING", 1_000, 20, 0, "WARNING"),
    "a warning ends": ("WARNING", 1_000, 19, 0, "HEALTHY"),
    "a hold does not end at the lower threshold": ("HELD", 1_000, 20, 0, "HELD"),
    "a hold ends below it": ("HELD", 1_000, 19, 0, "HEALTHY"),
    "a hold ends without mail": ("HELD", 0, 0, 0, "HEALTHY"),
}


@pytest.mark.parametrize(("state", "messages", "bounced", "complained", "after"), EVALUATIONS.values(), ids=EVALUATIONS)
def test_states_follow_from_the_rates(state, messages, bounced, complained, after):
    counts = ReputationCounts(messages=messages, bounced=bounced, complained=complained)
    verdict = rules.judge(counts, THRESHOLDS)
    assert rules.next_state(state, verdict) == after
    assert (verdict.reason is None) == (verdict.state == "HEALTHY")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("BOUNCE_RATES", text) for text in ("5", "5,2", "2,11", "0,5", "nan,5")),
        *(("COMPLAINT_RATES", text) for text in ("0.1,1", "a,b")),
    ],
)
def test_thresholds_of_the_operator_are_checked(name, text):
    with pytest.raises(SettingInvalid, match=f"POSTERN_{name}"):
        read_settings({f"POSTERN_{name}": text})
    assert read_settings({"POSTERN_BOUNCE_RATES": "1.5, 4"}).bounce_rates == (1.5, 4.0)
