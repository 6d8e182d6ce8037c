"""A reaction is called with the events of its types, and with no others."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from postern.app import REACTIONS
from postern.kernel.values import new_id
from postern.platform.events import operations as events
from postern.platform.events.model import EVENT_NAMES
from postern.platform.events.operations import Reaction
from tests.event_data import MADE_BY_TEST


@pytest.fixture
def set_reactions(world, monkeypatch):
    """A function that replaces the reactions of the world."""

    def replace_reactions(*reactions: Reaction) -> None:
        monkeypatch.setattr(world.db, "_hooks", replace(world.db.hooks, reactions=reactions))

    return replace_reactions


async def record(world, project, *types: str) -> None:
    recorded = [
        events.make_event(UUID(project.id), name, uuid4(), world.clock(), actor_label=MADE_BY_TEST) for name in types
    ]
    async with world.db.transaction() as tx:
        await events.record_all(tx, recorded)


def collecting_reaction(calls: list, **fields) -> Reaction:
    """A reaction that appends to `calls` the types with which it is called."""

    async def react(_tx, recorded):
        calls.append([event.type for event in recorded])

    async def react_in_bulk(_tx, range_):
        calls.append(range_.types)

    return Reaction(**{"react": react, "react_in_bulk": react_in_bulk, **fields})


async def test_a_reaction_is_called_for_its_types_and_not_for_others(world, project, set_reactions):
    calls: list[list[str]] = []
    set_reactions(collecting_reaction(calls, types={"email.sent", "email.bounced"}))
    await record(world, project, "email.sent", "email.queued", "order.placed", "email.bounced")
    await record(world, project, "email.queued")
    await record(world, project, "order.placed")
    assert calls == [["email.sent", "email.bounced"]]


async def test_a_reaction_to_custom_events_gets_those_of_any_name(world, project, set_reactions):
    calls: list[list[str]] = []
    set_reactions(collecting_reaction(calls, types=set(), custom=True))
    await record(world, project, "order.placed", "email.sent")
    assert calls == [["order.placed"]]


async def test_reactions_are_called_in_the_order_of_their_list(world, project, set_reactions):
    calls: list[list[str]] = []
    set_reactions(
        collecting_reaction(calls, types={"email.sent"}),
        collecting_reaction(calls, types={"email.sent", "email.queued"}),
    )
    await record(world, project, "email.queued", "email.sent")
    assert calls == [["email.sent"], ["email.queued", "email.sent"]]


async def test_a_reaction_is_not_called_in_projects_without_its_condition(world, project, new_project, set_reactions):
    calls: list[list[str]] = []
    condition = "exists (select from contacts where project_id = any (%(project_id)s))"
    set_reactions(
        collecting_reaction(calls, types={"email.sent"}, condition=condition),
        collecting_reaction(calls, types={"email.queued", "email.sent"}),
    )
    await record(world, project, "email.sent")
    assert calls == [["email.sent"]]
    set_reactions(collecting_reaction(calls, types={"email.sent"}, condition=condition))
    await (await new_project()).client.post("/contacts", {"email": "ada@example.com"})
    await record(world, project, "email.sent")
    assert calls == [["email.sent"]]
    await project.client.post("/contacts", {"email": "ada@example.com"})
    await record(world, project, "email.sent")
    assert calls == [["email.sent"], ["email.sent"]]


async def test_events_inserted_in_bulk_reach_the_reactions_to_one_of_their_types(world, project, set_reactions):
    calls: list[tuple[str, ...]] = []
    set_reactions(
        collecting_reaction(calls, types={"audience.joined"}), collecting_reaction(calls, types={"email.sent"})
    )
    async with world.db.transaction() as tx:
        await events.react_to_range(tx, UUID(project.id), new_id(), ("audience.joined", "audience.left"), 2)
        await events.react_to_range(tx, UUID(project.id), new_id(), ("audience.joined",), 0)
    assert calls == [("audience.joined", "audience.left")]


async def test_a_reaction_that_takes_no_events_in_bulk_is_not_skipped_silently(world, project, set_reactions):
    set_reactions(collecting_reaction([], types={"customer.deleted"}, react_in_bulk=None))
    with pytest.raises(AssertionError, match="takes no events in bulk"):
        async with world.db.transaction() as tx:
            await events.react_to_range(tx, UUID(project.id), new_id(), ("customer.deleted",), 1)


def test_a_reaction_to_an_event_that_does_not_exist_is_refused_at_the_start():
    with pytest.raises(ValueError, match=r"There are no events email\.read"):
        collecting_reaction([], types={"email.sent", "email.read"})


def test_webhooks_react_to_every_event():
    webhook_reaction = REACTIONS[0]
    assert webhook_reaction.custom
    assert webhook_reaction.types == set(EVENT_NAMES)
