"""Automations, triggers, steps and runs, with their limits."""

from datetime import timedelta
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Conflict, Missing, ProblemError, Unprocessable
from postern.kernel.values import Body, NameForPeople, Record, Timestamp
from postern.messaging.audiences.rules import Rules

AUTOMATIONS_PER_PROJECT: Final = 500
STEPS_LIMIT: Final = 150
"""Steps of one automation, those in branches counted."""
DEPTH_LIMIT: Final = 10
"""How deep branches may be nested."""
WAIT_LIMIT: Final = timedelta(days=366)
"""The longest that one step may wait."""
EVENT_WAIT: Final = timedelta(days=30)
"""How long a step waits for an event unless it says otherwise."""
RUNS_PER_HOUR: Final = 1
"""Runs of one automation that one contact starts within an hour, unless the automation says otherwise."""
RUNS_PER_HOUR_MAX: Final = 1_000
LOOP_TIME: Final = timedelta(hours=1)
"""A loop of automations in which a contact waits at least this long is no fault: it is a recurring series."""
CALL_PAUSES: Final = tuple(timedelta(seconds=seconds) for seconds in (5, 60, 600, 3_600))
"""What passes after each failed call of a WEBHOOK step; then it is given up."""

TriggerType = Literal["AUDIENCE_JOINED", "AUDIENCE_LEFT", "CONTACT_CREATED", "EVENT"]
RunStatus = Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
Outcome = Literal["DONE", "SKIPPED", "FAILED", "TRUE", "FALSE", "HAPPENED", "TIMED_OUT"]

TRANSITIONS: dict[str, frozenset[str]] = {
    "RUNNING": frozenset(("RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED")),
    "WAITING": frozenset(("RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED")),
    "COMPLETED": frozenset(),
    "EXITED": frozenset(),
    "FAILED": frozenset(("RUNNING",)),
    "CANCELLED": frozenset(),
}
"""Where a run may go from where it is: what has ended stays ended, but what failed can be retried."""
RETRIED_AT_ONCE: Final = 1_000
"""Failed runs that one request retries."""
CONTACT_DELETED: Final = "The contact was deleted."
"""Why a run ended, where that is why."""
CURRENT: Final = ("RUNNING", "WAITING")


class AutomationMissing(Missing):
    """There is no such automation."""


class RunMissing(Missing):
    """There is no such run."""


class RunFinished(Conflict):
    """This run has ended already."""


class RunNotFailed(Conflict):
    """Only a run that FAILED can be retried, and only while its contact is in no other run of the automation."""


class TooManyAutomations(Unprocessable):
    """A project has at most 500 automations; delete some first."""


class AutomationIncomplete(Conflict):
    """An automation runs only when everything it refers to is there; `errors` says what is missing."""

    @classmethod
    def of(cls, faults: list[ProblemError]) -> "AutomationIncomplete":
        return cls(f"{cls.message()} First: {faults[0].message}", errors=faults)


class AutomationLoop(Conflict):
    """Active automations would pass contacts round in a loop without end; `errors` names the steps of the loop."""

    @classmethod
    def of(cls, faults: list[ProblemError]) -> "AutomationLoop":
        links = " ".join(fault.message for fault in faults)
        return cls(
            f"Contacts would go round in a loop without end: {links} Change a step, make one of these automations "
            "`once`, put a delay of at least an hour into the loop, or set `allowLoops`.",
            errors=faults,
        )


Name = NameForPeople
MaxRunsPerHour = Annotated[int, msgspec.Meta(ge=1, le=RUNS_PER_HOUR_MAX)]
EventName = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Count = Annotated[int, msgspec.Meta(ge=1, le=527_040)]


class Trigger(Body):
    """What starts a run: a contact joins or leaves an audience, is created, or something happens to it."""

    type: TriggerType
    audience_id: str | None = None
    event: EventName | None = None
    """Of an EVENT trigger: a name of ours, or of an event that you send in."""
    where: Rules | None = None
    """Of an EVENT trigger: only events whose data fits start a run. The language is that of audiences; a field is a
    name in the event's data (`total`), with dots for what lies deeper (`customer.plan`)."""
    once: bool = True
    """Whether a contact starts it once in its life. Otherwise again and again, but not while it is still in it, and
    at most `maxRunsPerHour` times within an hour."""


class Duration(Body):
    """A length of time: the sum of what is given."""

    minutes: Count | None = None
    hours: Count | None = None
    days: Annotated[int, msgspec.Meta(ge=1, le=366)] | None = None


class SendEmail(Body, tag="SEND_EMAIL", tag_field="type"):
    """Send a template to the contact; unsubscribed contacts are passed over."""

    template_id: str
    domain_id: str | None = None
    """The sending domain; `fromEmail` has to belong to it."""
    from_email: Annotated[str, msgspec.Meta(min_length=3, max_length=320)]
    from_name: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    subject: Annotated[str, msgspec.Meta(max_length=2_000)] | None = None
    """The template's own, if left out."""
    reply_to: Annotated[str, msgspec.Meta(min_length=3, max_length=320)] | None = None


class Delay(Body, tag="DELAY", tag_field="type"):
    """Wait: for `minutes`, `hours`, `days` or their sum, or `until` a moment."""

    minutes: Count | None = None
    hours: Count | None = None
    days: Annotated[int, msgspec.Meta(ge=1, le=366)] | None = None
    until: Timestamp | None = None


class Condition(Body, tag="CONDITION", tag_field="type"):
    """Go on with `then` if the contact fits the rules (those of audiences), with `else` if not."""

    rules: Rules
    then: list["Step"] = []
    else_: list["Step"] = msgspec.field(default_factory=list, name="else")


class WaitForEvent(Body, tag="WAIT_FOR_EVENT", tag_field="type"):
    """Wait until something happens to the contact, then go on with `then`; with `else` if it does not in time."""

    event: EventName
    timeout: Duration | None = None
    """30 days if left out."""
    then: list["Step"] = []
    else_: list["Step"] = msgspec.field(default_factory=list, name="else")


class UpdateContact(Body, tag="UPDATE_CONTACT", tag_field="type"):
    """Merge attributes into the contact; null removes one."""

    attributes: dict[str, Any]


class AddToAudience(Body, tag="ADD_TO_AUDIENCE", tag_field="type"):
    """Put the contact into a STATIC audience."""

    audience_id: str


class RemoveFromAudience(Body, tag="REMOVE_FROM_AUDIENCE", tag_field="type"):
    """Take the contact out of a STATIC audience."""

    audience_id: str


class CallWebhook(Body, tag="WEBHOOK", tag_field="type"):
    """POST the contact to an address, signed like webhooks; after five failures the run goes on."""

    url: Annotated[str, msgspec.Meta(min_length=1, max_length=2_048)]


class Exit(Body, tag="EXIT", tag_field="type"):
    """End the run here."""


Step = (
    SendEmail
    | Delay
    | Condition
    | WaitForEvent
    | UpdateContact
    | AddToAudience
    | RemoveFromAudience
    | CallWebhook
    | Exit
)
Branching = Condition | WaitForEvent


class Automation(Record):
    """A trigger and the steps that follow it."""

    id: UUID
    app_id: UUID
    name: str
    trigger: dict[str, Any]
    steps: list[dict[str, Any]]
    active: bool
    version: int
    """Counts the changes to the steps; a run keeps the version it began with."""
    max_runs_per_hour: int
    """Most runs that one contact starts within an hour; what comes beyond starts none and is counted as `limited`."""
    allow_loops: bool
    """Whether it may be active although contacts can go round in a loop with it."""
    created_at: Moment
    updated_at: Moment


class AutomationRunTotals(Record):
    """How many runs there were, and how they ended."""

    total_runs: int
    completed: int
    """Those that reached the end or an EXIT."""
    failed: int
    limited: int
    """Runs that did not start because the contact had started `maxRunsPerHour` within the last hour."""
    capped: int
    """Messages that were not sent because of the project's frequency cap."""


class TriggerRow(Record):
    """What an event needs to know of an automation."""

    project_id: UUID
    id: UUID
    version: int
    active: bool
    starts_on: str
    starts_on_audience: UUID | None
    once: bool
    max_runs_per_hour: int
    where: dict[str, Any] | None
    """The rules that the data of an event must fit."""
    waits_for: list[str]


class AutomationRun(Record):
    """One contact on its way through an automation."""

    id: UUID
    automation_id: UUID
    contact_id: UUID
    version: int
    current_step: int
    """An index into the steps of the version, branches written out in order."""
    status: RunStatus
    error: str | None
    next_at: Moment | None
    """When it goes on by itself."""
    waiting_for: str | None
    """The event that it waits for."""
    started_at: Moment
    finished_at: Moment | None


class AutomationRunStep(Record):
    """What one step did."""

    step: int
    type: str
    outcome: Outcome
    detail: dict[str, Any]
    started_at: Moment
    finished_at: Moment


class AutomationRunDetail(AutomationRun):
    """A run with its history."""

    steps: list[AutomationRunStep]


class DueRun(Record):
    """A run that goes on now."""

    project_id: UUID
    id: UUID
    automation_id: UUID
    version: int
    contact_id: UUID
    trigger_event_id: UUID
    status: RunStatus
    current_step: int
    entered_at: Moment | None
    event_id: UUID | None
    tried: int
    attempt: int
    started_at: Moment


class StartedRun(Record):
    """A run that an event has started, or that the hourly limit kept from starting."""

    project_id: UUID
    id: UUID
    automation_id: UUID
    contact_id: UUID
    limited: bool
    """Whether the contact had started as many runs as it may within an hour: then there is no run."""


class RunsRetried(Record):
    """How many failed runs go on."""

    retried: int
    more: bool
    """Whether there are failed runs left: ask again."""


class EndedRun(Record):
    """A run that ended because its contact was deleted."""

    project_id: UUID
    id: UUID
    automation_id: UUID
    contact_id: UUID


class LoopCandidate(Record):
    """What looking for loops needs to know of an active automation."""

    id: UUID
    name: str
    trigger: dict[str, Any]
    steps: list[dict[str, Any]]


class AutomationVersion(Record):
    """The steps of one version."""

    automation_id: UUID
    version: int
    steps: list[dict[str, Any]]


class CounterSum(Record):
    """A counter's sum."""

    measure: str
    count: int


class AutomationWebhookSecret(Record):
    """The secret that signs the calls of an automation's WEBHOOK steps."""

    secret: str
