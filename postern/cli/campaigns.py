"""`postern campaign watch`: a campaign on its way, with a bar, until it has ended."""

import asyncio
import time
from asyncio import sleep
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from postern.cli.client import ProjectClient

LOOK_EVERY = timedelta(milliseconds=500)
RATE_OVER = timedelta(seconds=10)
"""How far back the rate that is shown looks."""
ENDED = ("SENT", "CANCELLED", "FAILED")

Id = Annotated[str, typer.Argument(metavar="CAMPAIGN", help="The campaign's id.")]
Project = Annotated[str, typer.Option(envvar="POSTERN_PROJECT", help="The project's id.")]
Key = Annotated[str, typer.Option(envvar="POSTERN_KEY", help="A secret key with campaigns:read.")]
Server = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Where the server is.")]

Show = Callable[[dict[str, Any], float], None]
"""Shows a campaign as it is now, and how many messages a second it hands over."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    campaign = typer.Typer(help="Campaigns.", no_args_is_help=True)
    campaign.command()(watch)
    app.add_typer(campaign, name="campaign")


def watch(campaign: Id, project: Project, key: Key, url: Server = None) -> None:
    """Show how a campaign goes, until it is SENT, CANCELLED or FAILED. Ctrl-C stops the watching, not the campaign."""
    from rich.console import Console

    from postern.cli.client import server_at
    from postern.kernel.config import read_settings

    base_url, _ = server_at(url, read_settings())
    with bar(Console(stderr=True)) as show:
        try:
            last = asyncio.run(_watch(base_url, key, project, campaign, show))
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
    print(summary(last))
    if last["status"] != "SENT":
        raise typer.Exit(1)


async def _watch(url: str | None, key: str, project: str, campaign: str, show: Show) -> dict[str, Any]:
    from postern.cli.client import connect

    async with connect(url, key, project) as there:
        return await watch_campaign(there, campaign, show)


async def watch_campaign(there: "ProjectClient", campaign: str, show: Show) -> dict[str, Any]:
    """Show a campaign until it has ended; returns it as it is then. Raises CannotRun where it cannot be read."""
    rate = SendRate()
    async for state in follow(there, campaign):
        show(state, rate.of(state["progress"]["handedOver"], time.monotonic()))
        if state["status"] in ENDED:
            return state
    raise AssertionError("A campaign is followed until it has ended.")


async def follow(there: "ProjectClient", campaign: str) -> AsyncIterator[dict[str, Any]]:
    """A campaign again and again."""
    while True:
        yield await there.ask("GET", f"/campaigns/{campaign}")
        await sleep(LOOK_EVERY.total_seconds())


class SendRate:
    """Messages a second over the last moments."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def of(self, count: int, seconds: float) -> float:
        """The rate when `count` have been handed over at the moment `seconds`."""
        while len(self._seen) > 1 and seconds - self._seen[1][0] >= RATE_OVER.total_seconds():
            self._seen.popleft()
        self._seen.append((seconds, count))
        began, first = self._seen[0]
        return (count - first) / (seconds - began) if seconds > began else 0.0


@contextmanager
def bar(console: Any) -> Generator[Show]:
    """A bar on a console, for the length of the block; yields what moves it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[remark]}"), console=console) as progress:
        task = progress.add_task("", total=None, remark="")

        def show(state: dict[str, Any], rate: float) -> None:
            done, expected = amount(state)
            said = remark(state, rate)
            progress.update(
                task, description=state["status"], completed=done, total=expected or None, remark=said, refresh=True
            )

        yield show


SKIPPED = {"frequencyCap": "over the frequency cap"}
"""How reasons for skipping a contact are shown where the API's word is none for people."""


def amount(state: dict[str, Any]) -> tuple[int, int]:
    """How many contacts are done with, and how many there are in all."""
    progress = state["progress"]
    done = progress["audience"] - progress["waiting"]
    if state["status"] == "SENT":
        return done, done  # Contacts that were deleted on the way are nobody's any more.
    return done, max(done, progress["expected"])


def remark(state: dict[str, Any], rate: float) -> str:
    """What stands behind the bar."""
    failed = state["stats"]["failed"] + state["stats"]["bounced"]
    skipped = sum(state["progress"]["skipped"].values())
    words = [f"{rate:,.0f}/s", f"{state['progress']['waiting']:,} waiting"]
    words += [f"{count:,} {what}" for count, what in ((skipped, "skipped"), (failed, "failed")) if count]
    return ", ".join(words)


def summary(state: dict[str, Any]) -> str:
    """What became of a campaign, for people."""
    progress, stats = state["progress"], state["stats"]
    counts = ", ".join(f"{stats[name]:,} {name}" for name in ("sent", "delivered", "bounced", "failed"))
    skipped = ", ".join(f"{count:,} {SKIPPED.get(why, why)}" for why, count in progress["skipped"].items())
    lines = [f"{state['status'].capitalize()}: {counts}; skipped: {skipped}; {progress['perSecond']:,} messages/s."]
    return "\n".join([*lines, *([state["reason"]] if state["reason"] else [])])
