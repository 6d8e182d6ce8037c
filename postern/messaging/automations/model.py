"""Automations, triggers, steps and runs, with their limits."""

from datetime import timedelta
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Conflict, Missing, ProblemError, Unprocessable
from postern.kernel.values import Body, DisplayName, Moment, Record, Timestamp
from postern.messaging.audiences.rules import Rules

AUTOMATIONS_PER_PROJECT: Final = 500
STEPS_LIMIT: Final = 150
"""Maximum number of steps of one automation, including those in branches."""
DEPTH_LIMIT: Final = 10
"""Maximum nesting of branches."""
WAIT_LIMIT: Final = timedelta(days=366)
"""Maximum time that one step can wait."""
DEFAULT_EVENT_TIMEOUT: Final = timedelta(days=30)
"""Default timeout of WAIT_FOR_EVENT."""
DEFAULT_RUNS_PER_HOUR: Final = 1
"""Default of `maxRunsPerHour`: runs of one automation that one contact can start within an hour."""
RUNS_PER_HOUR_MAX: Final = 1_000
LOOP_MIN_DELAY: Final = timedelta(hours=1)
"""A loop of automations with a total delay of at least this is allowed: it is a recurring series."""
CALL_RETRY_DELAYS: Final = tuple(timedelta(seconds=seconds) for seconds in (5, 60, 600, 3_600))
"""Delays before each retry of a WEBHOOK step. If the last retry fails, the step is FAILED and the run continues."""

TriggerType = Literal["AUDIENCE_JOINED", "AUDIENCE_LEFT", "CONTACT_CREATED", "EVENT"]
RunStatus = Literal["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"]
Outcome = Literal["DONE", "SKIPPED", "FAILED", "TRUE", "FALSE", "HAPPENED", "TIMED_OUT"]

RETRY_LIMIT: Final = 1_000
"""Maximum number of failed runs that one request retries."""
CONTACT_DELETED: Final = "The contact was deleted."
"""Error of a run that ended because its contact was deleted."""


class AutomationMissing(Missing):
    """There is no such automation."""


class RunMissing(Missing):
    """There is no such run."""


class RunFinished(Conflict):
    """This run has finished already."""


class RunNotFailed(Conflict):
    """Only a run that FAILED can be retried, and only while its contact is in no other run of the automation."""


class TooManyAutomations(Unprocessable):
    """A project has at most 500 automations; delete some first."""


class AutomationIncomplete(Conflict):
    """The automation refers to something that is missing, so it cannot be active; `errors` lists what."""

    @classmethod
    def of(cls, errors: list[ProblemError]) -> "AutomationIncomplete":
        """Create the problem with `errors`, at least one. Its message quotes the first."""
        return cls(f"{cls.message()} First: {errors[0].message}", errors=errors)


class AutomationLoop(Conflict):
    """Active automations would start each other in an endless loop; `errors` lists the steps of the loop."""

    @classmethod
    def of(cls, errors: list[ProblemError]) -> "AutomationLoop":
        """Create the problem with `errors`, one for each step of the loop. Its message quotes all."""
        steps = " ".join(error.message for error in errors)
        return cls(
            f"Contacts would pass through an endless loop: {steps} Change a step, set `once` in the trigger of one of "
            "these automations, add a delay of at least an hour to the loop, or set `allowLoops`.",
            errors=errors,
        )


Name = DisplayName
MaxRunsPerHour = Annotated[int, msgspec.Meta(ge=1, le=RUNS_PER_HOUR_MAX)]
EventName = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
MinutesOrHours = Annotated[int, msgspec.Meta(ge=1, le=527_040)]
"""A number of minutes or hours. The maximum is WAIT_LIMIT in minutes. `rules.check_steps` checks that the sum of a
duration, also one in hours, is at most WAIT_LIMIT."""


class Trigger(Body):
    """What starts a run: a contact joins or leaves an audience or is created, or an event concerning it occurs."""

    type: TriggerType
    audience_id: str | None = None
    event: EventName | None = None
    """For an EVENT trigger: the name of a Postern event or of a custom event."""
    where: Rules | None = None
    """For an EVENT trigger: only events whose data matches these rules start a run. The syntax is that of audience
    rules; a field is a key of the event's data (`total`), with dots for nested keys (`customer.plan`)."""
    once: bool = True
    """Whether a contact can start only one run, ever. Otherwise it can start runs repeatedly, but not while it has an
    unfinished run, and at most `maxRunsPerHour` within an hour. Runs that TEST keys start are counted separately."""


class Duration(Body):
    """A duration: the sum of its fields."""

    minutes: MinutesOrHours | None = None
    hours: MinutesOrHours | None = None
    days: Annotated[int, msgspec.Meta(ge=1, le=366)] | None = None


class SendEmail(Body, tag="SEND_EMAIL", tag_field="type"):
    """Send a template to the contact; skipped for unsubscribed contacts."""

    template_id: str
    domain_id: str | None = None
    """The sending domain; `fromEmail` must belong to it."""
    from_email: Annotated[str, msgspec.Meta(min_length=3, max_length=320)]
    from_name: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    subject: Annotated[str, msgspec.Meta(max_length=2_000)] | None = None
    """Defaults to the template's subject."""
    reply_to: Annotated[str, msgspec.Meta(min_length=3, max_length=320)] | None = None


class Delay(Body, tag="DELAY", tag_field="type"):
    """Wait for the sum of `minutes`, `hours` and `days`, or `until` a time."""

    minutes: MinutesOrHours | None = None
    hours: MinutesOrHours | None = None
    days: Annotated[int, msgspec.Meta(ge=1, le=366)] | None = None
    until: Timestamp | None = None


class Condition(Body, tag="CONDITION", tag_field="type"):
    """Continue with `then` if the contact matches the rules (as for audiences), otherwise with `else`."""

    rules: Rules
    then: list["Step"] = []
    else_: list["Step"] = msgspec.field(default_factory=list, name="else")


class WaitForEvent(Body, tag="WAIT_FOR_EVENT", tag_field="type"):
    """Wait for an event of the contact, then continue with `then`; after the timeout with `else`."""

    event: EventName
    timeout: Duration | None = None
    """Defaults to 30 days."""
    then: list["Step"] = []
    else_: list["Step"] = msgspec.field(default_factory=list, name="else")


class UpdateContact(Body, tag="UPDATE_CONTACT", tag_field="type"):
    """Merge attributes into the contact; null removes one."""

    attributes: dict[str, Any]


class AddToAudience(Body, tag="ADD_TO_AUDIENCE", tag_field="type"):
    """Add the contact to a STATIC audience."""

    audience_id: str


class RemoveFromAudience(Body, tag="REMOVE_FROM_AUDIENCE", tag_field="type"):
    """Remove the contact from a STATIC audience."""

    audience_id: str


class CallWebhook(Body, tag="WEBHOOK", tag_field="type"):
    """POST the contact to a URL, signed like webhooks. After five failed attempts the run continues."""

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
    """A trigger and the steps that it starts."""

    id: UUID
    app_id: UUID  # The id of the project; its older name in the API.
    name: str
    trigger: dict[str, Any]
    steps: list[dict[str, Any]]
    active: bool
    version: int
    """Incremented by each change of the steps; a run keeps the version with which it started."""
    max_runs_per_hour: int
    """Maximum runs that one contact can start within an hour. Further ones are counted as `limited`."""
    allow_loops: bool
    """Whether the automation may be active even if it is part of a loop."""
    created_at: Moment
    updated_at: Moment


class AutomationSettings(Record):
    """The columns that are written when an automation is created or changed."""

    project_id: UUID
    id: UUID
    name: str
    trigger: dict[str, Any]
    steps: list[dict[str, Any]]
    version: int = 1
    active: bool
    starts_on: str
    """The type of the events that start a run. Triggers other than EVENT have fixed types (`rules.STARTS_ON`)."""
    starts_on_audience: UUID | None
    """The audience that such an event must concern, if any."""
    once: bool
    max_runs_per_hour: int
    allow_loops: bool
    waits_for: list[str]
    """Event types that steps wait for."""


class RunUpdate(Record):
    """The columns of a run that a worker writes after it has executed steps of the run."""

    id: UUID
    attempt: int
    """`DueRun.attempt` when this worker claimed the run. Nothing is written if it has changed since."""
    status: RunStatus
    current_step: int
    entered_at: Moment | None
    waiting_for: str | None
    calls: bool
    """Whether the run has to call the URL of a WEBHOOK step next."""
    tried: int
    """Number of failed calls of the current WEBHOOK step."""
    due_at: Moment | None
    error: str | None
    finished_at: Moment | None


class AutomationRunTotals(Record):
    """Numbers of runs, and of runs and messages that a limit prevented."""

    total_runs: int
    completed: int
    """Runs that reached the end or an EXIT step."""
    failed: int
    limited: int
    """Runs that did not start because the contact had already started `maxRunsPerHour` runs within the last hour."""
    capped: int
    """Messages that were not sent because of the project's frequency cap."""


class ListedAutomation(Automation):
    """An automation in a list."""

    totals: AutomationRunTotals | None = None
    """The numbers of its runs; null unless `include=counts` is requested."""
    unfinished: int | None = None
    """Number of its unfinished runs; null unless `include=counts` is requested."""
    last_run_at: Moment | None = None
    """When its latest run started; null without a run, and unless `include=counts` is requested."""


class TriggerRow(Record):
    """An automation's trigger, and the events that its runs may wait for, as needed to process an event."""

    project_id: UUID
    id: UUID
    version: int
    active: bool
    starts_on: str
    starts_on_audience: UUID | None
    once: bool
    max_runs_per_hour: int
    where: dict[str, Any] | None
    """The rules that the event's data must match."""
    waits_for: list[str]


class AutomationRun(Record):
    """The run of one contact through an automation."""

    id: UUID
    automation_id: UUID
    contact_id: UUID
    version: int
    current_step: int
    """Index of the step when all steps are numbered from 0: a branching step, then the steps in its `then`, then those
    in its `else`, then the step after it."""
    status: RunStatus
    error: str | None
    next_at: Moment | None
    """When the run continues by itself: at the end of a delay, or when the timeout of a wait for an event passes."""
    waiting_for: str | None
    """Name of the event that the run waits for, if any."""
    started_at: Moment
    finished_at: Moment | None


class AutomationRunStep(Record):
    """The outcome of an executed step."""

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
    """A due run, claimed by a worker."""

    project_id: UUID
    id: UUID
    automation_id: UUID
    version: int
    contact_id: UUID
    trigger_event_id: UUID
    test: bool
    """Whether a TEST key started the run: its e-mails are captured, and it reacts to events of TEST keys too."""
    status: RunStatus
    current_step: int
    entered_at: Moment | None
    """When the current step began to wait or to call a webhook; None before that, and for other steps."""
    event_id: UUID | None
    """The event that ended the wait of the current step, if any."""
    tried: int
    """Number of failed calls of the current WEBHOOK step."""
    attempt: int
    """Incremented by each claim of a worker, and when the run is retried or cancelled. A worker with an outdated value
    writes nothing."""
    started_at: Moment


class NewRun(Record):
    """A run to start, unless its contact has reached `max_runs_per_hour`."""

    project_id: UUID
    id: UUID
    automation_id: UUID
    version: int
    contact_id: UUID
    once: bool
    max_runs_per_hour: int
    event_id: UUID
    """The event that starts the run."""
    test: bool
    """Whether a TEST key caused this event. Runs that TEST keys start and other runs are limited separately."""
    at: Moment
    """When this event occurred."""


class StepRecord(Record):
    """One entry of a run's history."""

    run_id: UUID
    step: int
    type: str
    outcome: Outcome
    detail: dict[str, Any]
    started_at: Moment


class RunStart(Record):
    """The result of starting a run: whether it started, or the hourly limit prevented it."""

    project_id: UUID
    id: UUID
    automation_id: UUID
    contact_id: UUID
    limited: bool
    """Whether the contact had reached `maxRunsPerHour`; then no run was started."""


class RunsRetried(Record):
    """Number of failed runs that were resumed."""

    retried: int
    more: bool
    """Whether there may be more failed runs; if so, repeat the request."""


class EndedRun(Record):
    """A run that ended because its contact was deleted."""

    project_id: UUID
    id: UUID
    automation_id: UUID
    contact_id: UUID


class RepeatableAutomation(Record):
    """An active automation that a contact can start repeatedly (`once: false`), as needed for loop detection."""

    id: UUID
    name: str
    trigger: dict[str, Any]
    steps: list[dict[str, Any]]


class AutomationVersion(Record):
    """The steps of one version of an automation."""

    automation_id: UUID
    version: int
    steps: list[dict[str, Any]]


class CounterSum(Record):
    """The sum of one counter of an automation, such as STARTED."""

    measure: str
    count: int


class AutomationRunPosition(Record):
    """The number of unfinished runs at one step of one version of an automation."""

    version: int
    step: int
    """Index of the step in this version, numbered as in `AutomationRun.current_step`."""
    runs: int
    """Number of the unfinished runs at this step."""


class EarlierRuns(Record):
    """The runs of an automation that one contact has had."""

    any_unfinished: bool
    any_with_once: bool
    """Whether one of them was started with `once`; a trigger with `once` then starts no further run."""
    last_hour: int
    """Number of those that started in the last hour."""


class AutomationActivity(Record):
    """The number of unfinished runs of an automation, and when the latest run started."""

    automation_id: UUID
    unfinished: int
    last_run_at: Moment | None


class AutomationCounterSum(CounterSum):
    """The sum of one counter of an automation, with the automation."""

    automation_id: UUID


class AutomationWebhookSecret(Record):
    """The secret that signs the calls of an automation's WEBHOOK steps."""

    secret: str


class DryRunRequest(Body):
    """The contact to try an automation with, and what to assume."""

    contact_id: str
    event_data: dict[str, Any] = {}
    """Data of the event that would start the run."""
    happened: Annotated[list[int], msgspec.Meta(max_length=STEPS_LIMIT)] = []
    """Indices of the WAIT_FOR_EVENT steps whose event is assumed to occur at once; the others time out. Steps are
    numbered as in `currentStep` of a run."""
    trigger: Trigger | None = None
    """A trigger to try instead of that of the automation."""
    steps: Annotated[list[Step], msgspec.Meta(max_length=STEPS_LIMIT)] | None = None
    """Steps to try instead of those of the automation."""


class DryRunCondition(Record):
    """A condition of the rules of a step or trigger, and whether it holds."""

    path: str
    """JSON pointer to the condition below the rules: `/conditions/0`."""
    holds: bool
    """Whether the condition is true for the contact."""
    value: Any
    """The value of the contact or of the event's data that is compared. Null if there is none, and for conditions on
    audiences and events."""


class DryRunReason(Record):
    """Why the event would not start a run."""

    code: Literal["where_not_matched", "already_run", "unfinished_run", "run_limited"]
    message: str


class DryRunMail(Record):
    """The mail that a step would send, rendered."""

    sender: str
    to: str
    reply_to: str | None
    subject: str | None
    html: str | None
    text: str | None
    problem: str | None
    """Why the mail is shown without subject and content; null if it was rendered."""


class DryRunStep(Record):
    """A step that would be executed."""

    step: int
    """Index of the step, numbered as in `currentStep` of a run."""
    path: str
    """JSON pointer to the step: `/steps/1/then/0`."""
    type: str
    outcome: Outcome
    detail: dict[str, Any]
    starts_at: Moment
    """When the step would begin."""
    ends_at: Moment
    """When the run would continue with the next step; the same as `startsAt` for steps that do not wait."""
    conditions: list[DryRunCondition]
    """For CONDITION steps: each condition of the rules. Empty beyond 200 conditions in one dry run."""
    mail: DryRunMail | None
    """The mail that a SEND_EMAIL step would send; null if the step would send none, and for other steps."""


class DryRun(Record):
    """What an automation would do with a contact."""

    reasons: list[DryRunReason]
    """Why no run would start now; empty if one would. `steps` shows what a run would do if it started nevertheless."""
    conditions: list[DryRunCondition]
    """Each condition of the trigger's `where` rules."""
    status: RunStatus
    """The status in which the run would end."""
    error: str | None
    steps: list[DryRunStep]
