"""`postern campaign watch`: show the progress of a campaign until it has ended."""

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

POLL_INTERVAL = timedelta(milliseconds=500)
RATE_WINDOW = timedelta(seconds=10)
"""The sending rate is averaged over this time."""
ENDED = ("SENT", "CANCELLED", "FAILED")
"""The final statuses of a campaign."""

Id = Annotated[str, typer.Argument(metavar="CAMPAIGN", help="The campaign's id.")]
Project = Annotated[str, typer.Option(envvar="POSTERN_PROJECT", help="The project's id.")]
Key = Annotated[str, typer.Option(envvar="POSTERN_KEY", help="A secret key with campaigns:read.")]
Server = Annotated[
    str | None,
    typer.Option("--url", envvar="POSTERN_URL", help="Base URL of the server. Default: the server on the data folder."),
]

Show = Callable[[dict[str, Any], float], None]
"""Displays the state of a campaign, as the API returns it, and its sending rate in messages per second."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    campaign = typer.Typer(help="Watch campaigns.", no_args_is_help=True)
    campaign.command()(watch)
    app.add_typer(campaign, name="campaign")


def watch(campaign: Id, project: Project, key: Key, url: Server = None) -> None:
    """Show a campaign's progress until it is SENT, CANCELLED or FAILED. Ctrl-C stops the display, not the campaign.

    Exits with 1 unless the campaign was SENT.
    """
    from rich.console import Console

    from postern.cli.client import resolve_server
    from postern.kernel.config import read_settings

    base_url, _ = resolve_server(url, read_settings())
    with progress_bar(Console(stderr=True)) as show:
        try:
            final_state = asyncio.run(_watch(base_url, key, project, campaign, show))
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
    print(summary(final_state))
    if final_state["status"] != "SENT":
        raise typer.Exit(1)


async def _watch(url: str | None, key: str, project: str, campaign: str, show: Show) -> dict[str, Any]:
    from postern.cli.client import connect

    async with connect(url, key, project) as client:
        return await watch_campaign(client, campaign, show)


async def watch_campaign(client: "ProjectClient", campaign: str, show: Show) -> dict[str, Any]:
    """Display a campaign until it has ended and return its final state. Raises CannotRun if it cannot be read."""
    rate = SendRate()
    async for state in poll_campaign(client, campaign):
        show(state, rate.update(state["progress"]["handedOver"], time.monotonic()))
        if state["status"] in ENDED:
            return state
    raise AssertionError("poll_campaign() does not end.")


async def poll_campaign(client: "ProjectClient", campaign: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the state of a campaign every POLL_INTERVAL, without end."""
    while True:
        yield await client.request("GET", f"/campaigns/{campaign}")
        await sleep(POLL_INTERVAL.total_seconds())


class SendRate:
    """Messages per second, averaged over RATE_WINDOW."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def update(self, count: int, seconds: float) -> float:
        """Add a sample: `count` messages in total were handed over at the time `seconds`. Returns the new rate."""
        while len(self._samples) > 1 and seconds - self._samples[1][0] >= RATE_WINDOW.total_seconds():
            self._samples.popleft()
        self._samples.append((seconds, count))
        oldest_seconds, oldest_count = self._samples[0]
        return (count - oldest_count) / (seconds - oldest_seconds) if seconds > oldest_seconds else 0.0


@contextmanager
def progress_bar(console: Any) -> Generator[Show]:
    """Show a progress bar on a console during the block; yields the function that updates it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[remark]}"), console=console) as progress:
        task = progress.add_task("", total=None, remark="")

        def show(state: dict[str, Any], rate: float) -> None:
            done, expected = count_contacts(state)
            text = remark(state, rate)
            progress.update(
                task, description=state["status"], completed=done, total=expected or None, remark=text, refresh=True
            )

        yield show


SKIP_REASON_LABELS = {"frequencyCap": "over the frequency cap"}
"""Texts for the reasons why contacts were skipped. A reason without a text is printed with its name in the API."""


def count_contacts(state: dict[str, Any]) -> tuple[int, int]:
    """How many contacts of a campaign have been processed, and how many contacts it has in total."""
    progress = state["progress"]
    done = progress["audience"] - progress["waiting"]
    if state["status"] == "SENT":
        return done, done  # Contacts deleted during the campaign are in `expected` but are never processed.
    return done, max(done, progress["expected"])


def remark(state: dict[str, Any], rate: float) -> str:
    """The text after the progress bar: the rate, and the contacts that wait, were skipped or failed."""
    failed = state["stats"]["failed"] + state["stats"]["bounced"]
    skipped = sum(state["progress"]["skipped"].values())
    parts = [f"{rate:,.0f}/s", f"{state['progress']['waiting']:,} waiting"]
    parts += [f"{count:,} {label}" for count, label in ((skipped, "skipped"), (failed, "failed")) if count]
    return ", ".join(parts)


def summary(state: dict[str, Any]) -> str:
    """The final state and counts of a campaign, as text."""
    progress, stats = state["progress"], state["stats"]
    counts = ", ".join(f"{stats[name]:,} {name}" for name in ("sent", "delivered", "bounced", "failed"))
    skipped = ", ".join(
        f"{count:,} {SKIP_REASON_LABELS.get(reason, reason)}" for reason, count in progress["skipped"].items()
    )
    lines = [f"{state['status'].capitalize()}: {counts}; skipped: {skipped}; {progress['perSecond']:,} messages/s."]
    return "\n".join([*lines, *([state["reason"]] if state["reason"] else [])])
