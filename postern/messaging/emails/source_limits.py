"""The choice of IP addresses for marketing mail through the transport `direct`, if some of the addresses are new.

A new address has a warm-up plan with a ceiling for each day. The worker that has claimed marketing mail chooses its
addresses, so that a message above the ceilings waits for the next day without being composed. The transport chooses the
addresses of all other mail.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from postern.messaging.emails import store
from postern.messaging.emails.model import MARKETING, Postponement, Send
from postern.messaging.emails.sources import grant_sources, source_warm_ups
from postern.messaging.emails.transports import NoSmartHost, configured_transports, is_captured
from postern.messaging.reputation.source_warm_up import SourceGrant, SourceRequest
from postern.platform.projects import operations as projects
from postern.protocols.mail.transports.transport import WaitCause

if TYPE_CHECKING:
    from postern.world import World


class ChosenSources(msgspec.Struct, frozen=True, kw_only=True):
    """The claimed sends that may be sent now, and the IP addresses from which each must leave."""

    sends: list[Send]
    addresses: dict[UUID, tuple[str, ...]] = {}
    """By the id of the send. A send that is left out may leave from every address of its project and lane."""


async def choose_sources(world: "World", sends: list[Send]) -> ChosenSources:
    """Choose the IP addresses of the claimed sends of one project and lane, and postpone marketing mail above the
    ceilings."""
    plans = source_warm_ups(world)
    if not sends or sends[0].lane != MARKETING or not plans.warming:
        return ChosenSources(sends=sends)
    pool = plans.pool(str(sends[0].project_id), bulk=True)
    if plans.warming.isdisjoint(pool):
        return ChosenSources(sends=sends)
    settings = (await projects.require_project(world.db, sends[0].project_id)).settings
    direct = [send for send in sends if not is_captured(world, settings, test=send.test)]
    try:
        # Mail through another transport does not count for the ceilings. If `direct` is only a fallback, the transport
        # chooses the addresses of the messages that it gets.
        is_first = bool(direct) and configured_transports(world, settings)[0] == "direct"
    except NoSmartHost:
        is_first = False
    if not is_first:
        return ChosenSources(sends=sends)
    requests = [SourceRequest(message_id=send.message_id, pool=pool, waits=True) for send in direct]
    grants = dict(zip([send.id for send in direct], await grant_sources(world, requests), strict=True))
    waiting = await _postpone(world, direct, grants)
    addresses = {send_id: granted.addresses for send_id, granted in grants.items() if granted.addresses}
    return ChosenSources(sends=[send for send in sends if send.id not in waiting], addresses=addresses)


async def _postpone(world: "World", sends: Sequence[Send], grants: Mapping[UUID, SourceGrant]) -> set[UUID]:
    """Postpone the sends that got no address; returns their ids."""
    postponed = [
        Postponement(
            id=send.id,
            attempt=send.attempt,
            due_at=granted.wait_until,
            scheduled_at=granted.wait_until,
            waits_for=WaitCause.WARM_UP.value,
            reason=granted.reason,
        )
        for send in sends
        if (granted := grants[send.id]).wait_until is not None
    ]
    if postponed:
        await store.postpone(world.db, postponed, project_id=sends[0].project_id, now=world.clock())
    return {send.id for send in postponed}
