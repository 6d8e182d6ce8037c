"""`postern campaign watch`, against the real application."""

import io

import httpx
import pytest
from rich.console import Console

from postern.cli import CannotRun, make_command
from postern.cli.campaigns import SendRate, count_contacts, progress_bar, summary, watch_campaign
from postern.cli.client import ProjectAccess, ProjectClient
from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action


@pytest.fixture
async def client(project, app):
    """The client of the command, connected to the application in this process."""
    headers = {"Authorization": f"Bearer {project.secret_key}"}
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://postern.test", headers=headers) as http:
        yield ProjectClient(http, ProjectAccess("http://postern.test", project.secret_key, project.id, ""))


async def test_a_campaign_is_shown_until_it_is_sent(project, client, run_due_work, monkeypatch):
    campaign, emails = await create_campaign(project, 30)
    await project.client.post("/suppressions", {"address": emails[0]})
    await request_action(project, campaign, "send")
    output, observed = io.StringIO(), []

    async def work_instead_of_sleeping(_seconds):
        await run_due_work()

    monkeypatch.setattr("postern.cli.campaigns.sleep", work_instead_of_sleeping)
    with progress_bar(Console(file=output, width=160, force_terminal=True)) as show:

        def watch(state, rate):
            observed.append((state["status"], *count_contacts(state)))
            show(state, rate)

        last = await watch_campaign(client, campaign["id"], watch)
    assert observed == [("SENDING", 0, 30), ("SENT", 30, 30)]
    assert last["progress"]["expected"] == 30
    printed = output.getvalue()
    assert "SENDING" in printed
    assert "30/30" in printed
    assert "1 skipped" in printed
    assert summary(last).startswith("Sent: 29 sent, 29 delivered, 0 bounced, 0 failed; skipped: 0 unsubscribed, 1 supp")


async def test_the_command_ends_when_the_campaign_is_cancelled(project, client):
    campaign, _ = await create_campaign(project, 3)
    await request_action(project, campaign, "send")
    await request_action(project, campaign, "cancel")
    last = await watch_campaign(client, campaign["id"], lambda *_: None)
    assert summary(last).startswith("Cancelled: 0 sent")


async def test_an_unknown_campaign_is_reported_in_one_sentence(client):
    with pytest.raises(CannotRun, match="no such campaign"):
        await watch_campaign(client, "nonsense", lambda *_: None)


def test_the_rate_is_measured_over_the_last_seconds():
    rate = SendRate()
    assert rate.update(0, 100.0) == 0.0
    assert rate.update(50, 101.0) == 50.0
    assert rate.update(50, 111.0) == pytest.approx(0.0)
    assert [rate.update(50 + 300 * n, 111.0 + n) for n in range(1, 20)][-1] == pytest.approx(300.0)


async def test_progress_includes_the_expected_number(project):
    campaign, _ = await create_campaign(project, 4)
    assert (await get_campaign(project, campaign))["progress"]["expected"] == 0
    await request_action(project, campaign, "send")
    progress = (await get_campaign(project, campaign))["progress"]
    assert (progress["expected"], progress["audience"]) == (4, 0)


def test_the_command_is_registered():
    from typer.testing import CliRunner

    result = CliRunner().invoke(make_command(), ["campaign", "watch", "--help"])
    assert result.exit_code == 0
    assert "CAMPAIGN" in result.output
