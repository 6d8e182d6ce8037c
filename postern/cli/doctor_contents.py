"""`postern doctor contents`: check the store of contents, `POSTERN_CONTENT_STORE`."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from postern.cli.doctor import CheckResult
    from postern.world import World

TEST_CONTENT = b"postern doctor contents"

NewStore = Annotated[
    bool,
    typer.Option(
        "--new-store",
        help="Accept an empty store in the place of one that is lost, with all contents that were in it.",
    ),
]


def check_contents(*, new_store: NewStore = False) -> None:
    """Write, read and delete an object in the store of contents, and check that it is the store of this server.

    Exits with 1 if there is a problem.
    """
    from postern.cli.doctor import EXIT_PROBLEM, print_results

    if asyncio.run(print_results(_diagnose(new_store=new_store))):
        raise typer.Exit(EXIT_PROBLEM)


async def _diagnose(*, new_store: bool) -> AsyncIterator["CheckResult"]:
    from postern.cli.console import open_server_world

    async with open_server_world() as world:
        async for result in diagnose(world, new_store=new_store):
            yield result


async def diagnose(world: "World", *, new_store: bool) -> AsyncIterator["CheckResult"]:
    """Yield the results of all checks."""
    from postern.cli.doctor import CheckResult
    from postern.kernel.object_store import StoreFailed
    from postern.kernel.values import new_id
    from postern.messaging.content_store.operations import Contents

    contents: Contents = world.resources[Contents]
    is_used = await contents.is_used()
    if contents.objects is None:
        advice = "set it again, or contents that were moved cannot be read" if is_used else ""
        yield CheckResult("note", "POSTERN_CONTENT_STORE", "is not set; contents stay in the database", advice)
        return
    objects, name = contents.objects, f"doctor/{new_id()}"
    subject = objects.place
    advice = "check the path or URL, the permissions, and for an object store AWS_… and POSTERN_CONTENT_STORE_ENDPOINT"
    try:
        await objects.put(name, TEST_CONTENT)
        if await objects.get(name, max_octets=len(TEST_CONTENT)) != TEST_CONTENT:
            raise StoreFailed("an object that was written is not there")
        await objects.delete(name)
        if await objects.get(name, max_octets=len(TEST_CONTENT)) is not None:
            raise StoreFailed("an object that was deleted is still there")
    except StoreFailed as error:
        yield CheckResult("problem", subject, str(error), advice)
        return
    yield CheckResult("ok", subject, "objects can be written, read and deleted")
    advice = "mount or name the store that has them; if it is lost, run postern doctor contents --new-store"
    try:
        if is_used:
            await contents.mark(is_new=new_store)
        elif not await contents.has_marker():
            yield CheckResult("ok", subject, "has no contents yet")
            return
    except StoreFailed as error:
        yield CheckResult("problem", subject, str(error), advice)
    else:
        yield CheckResult("ok", subject, "is the store of this server")
