"""Who receives the mail of a domain after its owner has changed."""

from datetime import timedelta

from postern.messaging.inbound.routing import receives_mail_for
from tests.messaging.inbound.test_messages import (
    deliver,
    domain,
    listed,
    message,
    new_route,
    port,
    settings,
    verified_domain,
)

__all__ = ["domain", "port", "settings"]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def unpublish(zone, domain):
    """Remove the DKIM keys of a domain and of those below it from its DNS, as when the domain is registered anew."""
    for name, _ in list(zone.records):
        if "._domainkey." in name and name.endswith(f".{domain}"):
            zone.remove(name)


async def status_of(project, domain):
    (row,) = [row for row in (await project.client.get("/domains")).json() if row["domain"] == domain]
    return row["status"], bool(row["failingSince"])


async def test_a_former_owner_receives_nothing_once_another_project_proves_ownership(
    project, new_project, domain, port, clock, zone, run_due_work
):
    """The next check of the former owner's domain is a day away; it is made at once instead."""
    await new_route(project, f"support@{domain}")
    await run_due_work()
    unpublish(zone, domain)
    owner = await new_project()
    await verified_domain(owner, zone, domain)
    await run_due_work()
    assert await status_of(project, domain) == ("VERIFIED", True)
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([550], None)
    await new_route(owner, f"*@{domain}")
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([250], 250)
    assert (len(await listed(project)), len(await listed(owner))) == (0, 1)


async def test_a_degraded_domain_receives_until_another_project_proves_ownership(
    project, new_project, domain, port, clock, zone, run_due_work, world
):
    """A mistake in the DNS loses no mail: without another proof the domain receives for 30 days more."""
    await new_route(project, f"support@{domain}")
    unpublish(zone, domain)
    clock.move(DAY)
    await run_due_work()
    clock.move(3 * DAY)
    await run_due_work()
    assert await status_of(project, domain) == ("DEGRADED", True)
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([250], 250)
    assert await receives_mail_for(world.db, domain)
    owner = await new_project()
    await verified_domain(owner, zone, domain)
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([550], None)
    assert not await receives_mail_for(world.db, domain)
    unpublish(zone, domain)
    clock.move(DAY)
    await run_due_work()
    assert await status_of(owner, domain) == ("VERIFIED", True)
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([250], 250), "nobody proves it now"
    clock.move(30 * DAY)
    await run_due_work()
    assert await status_of(project, domain) == ("FAILED", True)
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([550], None)
    assert len(await listed(project)) == 2


async def test_the_owner_of_a_domain_owns_the_names_below_it(
    project, new_project, domain, port, clock, zone, run_due_work
):
    below = await verified_domain(project, zone, f"mail.{domain}")
    await new_route(project, f"a@{below}")
    await new_route(project, f"b@reply.{domain}")
    await run_due_work()
    unpublish(zone, domain)
    other = await verified_domain(await new_project(), zone, f"x{domain}")
    await run_due_work()
    assert await status_of(project, domain) == ("VERIFIED", False), f"{other} is no parent of {domain}"
    await verified_domain(await new_project(), zone, domain)
    await run_due_work()
    for address in (f"a@{below}", f"b@reply.{domain}"):
        assert await deliver(port, [address], message(clock)) == ([550], None), address


async def test_a_project_that_still_proves_ownership_receives_beside_others(
    project, new_project, domain, port, clock, zone, run_due_work
):
    await new_route(project, f"support@{domain}")
    await verified_domain(await new_project(), zone, domain)
    await run_due_work()
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([250], 250)


async def test_a_deleted_project_proves_nothing(project, new_project, domain, port, clock, zone, run_due_work):
    await new_route(project, f"support@{domain}")
    former = await new_project()
    unpublish(zone, domain)
    await verified_domain(former, zone, domain)
    await run_due_work()
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([550], None)
    deleted = await former.developer.delete("")
    assert deleted.status_code in (200, 202), deleted.text
    assert await deliver(port, [f"support@{domain}"], message(clock)) == ([250], 250)
