"""Tables of text that commands print, or the same as JSON."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from postern.kernel.values import to_json

if TYPE_CHECKING:
    from postern.messaging.emails.model import InstanceSite
    from postern.messaging.emails.sources import SourceState

SITE_COLUMNS = ("SITE", "STATE", "PART", "WAITING", "DELIVERED", "DEFERRED", "BOUNCED", "PROJECTS", "LAST REPLY")
SOURCE_COLUMNS = ("ADDRESS", "NAME", "LANE", "PROJECT", "WARM-UP", "STEP", "TODAY", "USED", "REPEATED", "LAST DAY")
REPLY_CHARACTERS = 60


def describe_sites(sites: "Sequence[InstanceSite]", *, as_json: bool) -> str:
    """The sites as a table or as JSON."""
    return to_json(sites).decode() if as_json else _table([SITE_COLUMNS, *map(_site_cells, sites)])


def _site_cells(site: "InstanceSite") -> tuple[str, ...]:
    return (
        site.name,
        site.state,
        f"{site.factor:.0%}",
        *(str(number) for number in (site.waiting, site.delivered, site.deferred, site.bounced, site.projects)),
        (site.suspension_reason or site.last_reply or "")[:REPLY_CHARACTERS],
    )


def describe_sources(states: "Sequence[SourceState]", *, as_json: bool) -> str:
    """The addresses and their warm-up plans as a table or as JSON."""
    return to_json(states).decode() if as_json else _table([SOURCE_COLUMNS, *map(_source_cells, states)])


def _source_cells(state: "SourceState") -> tuple[str, ...]:
    names = (state.address, state.name or "(not in POSTERN_SOURCES)", state.lane or "all", state.project_id or "all")
    if state.status is None or state.steps is None:
        return (*names, "none", *[""] * 5)
    last_day = "" if state.last_day is None else str(state.last_day)
    numbers = (state.ceiling, state.used, state.repeated_days)
    ceiling, used, repeated = ("" if number is None else f"{number:,}" for number in numbers)
    step = f"{state.step}/{len(state.steps)}"
    status = f"SCHEDULED {state.starts_on}" if state.status == "SCHEDULED" else state.status
    return (*names, status, step, ceiling, used, repeated, last_day)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines, with each column as wide as its longest cell."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
