"""One attempt to deliver a claimed send: select the recipients, compose and sign the message, transmit it, and settle
the attempt (store its outcome). Also the renewal of the leases of attempts.

The process that accepted a message and the workers run the same code. Each step batches the sends that are at this step
(`world.batcher`), so that rendering, signing, marking and settling happen for many at a time.
"""

import asyncio
import time
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.batching import groups_of
from postern.kernel.config import BOUNCE_LABEL
from postern.kernel.http.problems import Problem
from postern.kernel.values import Moment, distinct_ids, new_id
from postern.messaging.domains import senders
from postern.messaging.domains import sending as domains
from postern.messaging.domains.model import SendingDomain
from postern.messaging.emails import rules, store
from postern.messaging.emails.model import MARKETING, MESSAGE_GONE, CapturedMail, Send, SendBody, TransmittedParts
from postern.messaging.emails.outcomes import FinishedAttempt, settle_all
from postern.messaging.emails.pre_send_check import (
    FRESH_SECONDS,
    ContentChanged,
    LeaseLost,
    SendQueue,
    SendTurn,
    queues,
)
from postern.messaging.emails.redaction import redact_outcome, redacted_body, seal_captured
from postern.messaging.emails.return_addresses import RETURN_PATH_PURPOSE, AddressKind, signed_address
from postern.messaging.emails.rules import SendOutcome
from postern.messaging.emails.transports import (
    NoSmartHost,
    configured_transports,
    is_captured,
    transport_names,
    transport_of,
)
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectSettings
from postern.protocols.mail import mime
from postern.protocols.mail.address import AddressInvalid
from postern.protocols.mail.dkim import Signer
from postern.protocols.mail.templates.composing import (
    ComposeRequest,
    ComposeResult,
    MessageDraft,
    MessageTemplates,
    address_of,
)
from postern.protocols.mail.templates.content import TrackingOptions
from postern.protocols.mail.templates.rendering import MustUseSlowLane, RenderingBusy, RenderingUnavailable
from postern.protocols.mail.transports.capture import CaptureTransport
from postern.protocols.mail.transports.ses import REWRITTEN_HEADERS
from postern.protocols.mail.transports.transport import (
    NO_TIME,
    DeliveryHooks,
    DeliveryOutcome,
    Envelope,
    Result,
    Transport,
    WaitCause,
    defer_all,
)
from postern.security.secrets import Secrets

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

SETTLE_TRIES, SETTLE_PAUSE = 20, timedelta(seconds=0.5)
"""How often storing an outcome is tried, and the pause between tries."""
PREPARE_BATCH = 250
"""Maximum messages that are rendered, composed and signed in one batch, which takes about 0.1 s."""
GATHER_SECONDS = 0.05
"""How long outcomes are collected before they are stored together, if no request waits for them."""
LINKS_PURPOSE = "links"
"""The purpose of the key that signs tracked links (`Secrets.key`)."""
COMPOSE_TRIES = 3
"""How often a message is composed within one attempt, as its content may change while it waits for a connection."""


class ProjectState(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a project that determine whether messages are sent, to whom, and how."""

    settings: ProjectSettings
    domains: Mapping[str, SendingDomain | None]
    """The sending domains of the messages, by name; None for a name that is not a domain of the project."""
    suppressed: Mapping[str, str]
    """The suppression reasons of recipients, by address in lower case."""
    states: Mapping[int, str] = {}
    """The states of shared content and of contacts; deleted contacts are left out. Keyed by the number of the id
    (`UUID.int`), because the hash of a UUID takes many times as long."""
    single_senders: frozenset[str] = frozenset()
    """The confirmed single senders, in lower case, among the senders without a verified domain."""


class DeliveryJob(msgspec.Struct, frozen=True, kw_only=True):
    """A claimed send with its content."""

    send: Send
    body: SendBody | None
    values: dict[str, Any] = {}
    """The template variables of the contact, for content that many sends share; they override those of the body."""
    sources: tuple[str, ...] | None = None
    """The IP addresses from which the message must leave; None if the transport chooses them."""
    is_marked: bool = False
    """Whether the mark "transmission begun, reply unknown" was committed together with the claim."""
    project: ProjectState | None = None
    """What the request that created the send has read since `created_at`, so that a delivery right after it need not
    read it again. Without states of content and contacts, which such a send does not need."""


class RecipientDecision(msgspec.Struct, frozen=True, kw_only=True):
    """Which recipients get a message, and what it is composed from."""

    envelope: Envelope
    request: ComposeRequest
    settings: ProjectSettings
    fixed_results: tuple[Result, ...] = ()
    """The fixed results of test addresses (in `rules.TEST_DOMAIN`), which are not passed to a transport."""
    complained: bool = False
    """Whether one of the recipients is the test address for complaints."""
    warms_up: bool = False
    """Whether the message leaves this server, from a domain with a warm-up plan."""
    links_base: str = ""
    """Scheme and host of the tracked links."""
    unsubscribe_domain: str | None = None
    """The domain of the address for unsubscribing; None if the message has none."""
    suppressed: tuple[tuple[str, str], ...] = ()
    """Recipients who are left out, each with the reason on the suppression list."""


class CampaignPaused(msgspec.Struct, frozen=True):
    """The campaign is paused, so the send waits without a `due_at`."""


class PreparedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A composed and signed message."""

    decision: RecipientDecision
    message: bytes
    subject: str
    has_safe_lines: bool
    """See `Envelope.has_safe_lines`."""


async def deliver_claimed(world: "World", job: DeliveryJob) -> str:
    """Try once to deliver a claimed send, settle the attempt, and return the new status of the send.

    Renews the lease of the send meanwhile. Raises the errors of `deliver_leased`.
    """
    with lease_keeper(world).renewing(job.send):
        return await deliver_leased(world, job, gather_seconds=0)


async def deliver_leased(world: "World", job: DeliveryJob, *, gather_seconds: float = GATHER_SECONDS) -> str:
    """Like `deliver_claimed`, for a send whose lease the caller renews (`LeaseKeeper.renewing`); ends the renewal.

    The outcome is stored together with others, after at most `gather_seconds`. Returns the old status if the campaign
    is paused or a later attempt has begun. Raises errors of the project (it was deleted, for example) and of the
    database; then the send is claimed again when its lease ends.
    """
    try:
        finished = await _attempt(world, job)
        if finished is None:
            return job.send.status
        return await _settle(world, finished, gather_seconds)
    finally:
        lease_keeper(world).release(job.send)


async def _attempt(world: "World", job: DeliveryJob) -> FinishedAttempt | None:
    """One attempt; None if the campaign is paused or a later attempt has begun."""
    needs_mark = not job.is_marked
    job = _without_old_state(world, job)
    for _ in range(COMPOSE_TRIES):
        try:
            return await _attempt_once(world, job, needs_mark=needs_mark)
        except LeaseLost:
            return None
        except ContentChanged:
            # An earlier check may have committed the mark; committing it again changes nothing.
            needs_mark = True
            job = msgspec.structs.replace(job, project=None)
        except (RenderingUnavailable, RenderingBusy) as error:
            not_rendered = rules.not_rendered(job.send, error.detail, world.clock())
            return FinishedAttempt(send=job.send, send_outcome=not_rendered)
    return FinishedAttempt(send=job.send, send_outcome=rules.content_kept_changing(job.send, world.clock()))


def _without_old_state(world: "World", job: DeliveryJob) -> DeliveryJob:
    """The job without the state of its project if that is too old, or lacks what the decision needs."""
    if job.project is None:
        return job
    domain = job.project.domains.get(_domain_of(job.send.sender) or "")
    captured = is_captured(world, job.project.settings, test=job.send.test)
    if (captured or (domain is not None and domain.may_send)) and _seconds_since_created(world, job) <= FRESH_SECONDS:
        return job
    return msgspec.structs.replace(job, project=None)


def _seconds_since_created(world: "World", job: DeliveryJob) -> float:
    return abs((world.clock() - job.send.created_at).total_seconds())  # The clock may have been set back.


async def _attempt_once(world: "World", job: DeliveryJob, *, needs_mark: bool) -> FinishedAttempt | None:
    secrets = job.body.secrets if job.body else []
    started = time.monotonic()
    check_started_at = asyncio.get_running_loop().time()
    if job.project is not None:
        check_started_at -= _seconds_since_created(world, job)
    prepare = prepare_marketing if job.send.lane == MARKETING else prepare_all
    prepared: PreparedMessage | SendOutcome | CampaignPaused
    try:
        prepared = await world.batcher(
            prepare, max_concurrent=2, max_batch_size=PREPARE_BATCH, by=attrgetter("send.project_id")
        )(job)
    except MustUseSlowLane:
        prepared = await _prepare_in_slow_lane(world, job)
    if isinstance(prepared, CampaignPaused):
        await _hold(world, job.send)
        return None
    if isinstance(prepared, SendOutcome):
        return FinishedAttempt(send=job.send, send_outcome=prepared, has_secrets=bool(secrets))
    turn = _new_turn(job.send, job.body, prepared.decision, needs_mark=needs_mark)
    if not needs_mark:  # The decision was just made, so it counts as a check.
        turn.result, turn.checked_at = "GO", check_started_at
    outcome, captured = await _deliver(world, job, prepared, turn)
    if secrets:
        outcome = redact_outcome(outcome, secrets)
    duration = timedelta(seconds=time.monotonic() - started)
    send_outcome = rules.outcome_of_attempt(
        job.send,
        outcome,
        world.clock(),
        on_ambiguous=prepared.decision.settings.on_ambiguous,
        chance=world.random.random,
    )
    if prepared.decision.complained and send_outcome.delivered:
        send_outcome = rules.with_complaint(send_outcome)
    suppressed = prepared.decision.suppressed
    return FinishedAttempt(
        send=job.send,
        send_outcome=rules.with_suppressed_recipients(send_outcome, suppressed),
        outcome=outcome,
        duration=duration,
        subject=prepared.subject,
        dated_at=turn.dated_at,
        # A DKIM signature contains a hash of the body, which would allow finding a one-time code by trying all codes.
        transmitted=None if secrets else _transmitted_parts(job.send, prepared),
        has_secrets=bool(secrets),
        suppressed=suppressed,
        warms_up=prepared.decision.warms_up,
        captured=captured,
    )


def _transmitted_parts(send: Send, prepared: PreparedMessage) -> TransmittedParts | None:
    """The data that `get_email_message` needs in addition to the send; None for campaigns, whose messages it does not
    return."""
    if send.content_id is not None:
        return None
    # The composed message begins with `From`; the signatures precede that field.
    signatures, separator, _ = prepared.message.partition(b"\r\nFrom: ")
    return TransmittedParts(
        signatures=f"{signatures.decode()}\r\n" if separator and not prepared.message.startswith(b"From: ") else "",
        links_base=prepared.decision.links_base,
        unsubscribe_domain=prepared.decision.unsubscribe_domain,
    )


async def _settle(world: "World", finished: FinishedAttempt, gather_seconds: float) -> str:
    """Store the outcome of an attempt and return the status of the send. Retries while the database cannot be reached.

    Changes nothing if a later attempt has begun in the meantime.
    """
    settle = world.batcher(settle_all, pause_seconds=gather_seconds, by=attrgetter("send.project_id"))
    for _ in range(SETTLE_TRIES):
        try:
            return await settle(finished)
        except (OperationalError, PoolTimeout) as error:
            log.warning("outcome_not_stored", send=str(finished.send.id), error=str(error).strip()[:200])
            await asyncio.sleep(SETTLE_PAUSE.total_seconds())
    return await settle(finished)


async def _deliver(
    world: "World", job: DeliveryJob, prepared: PreparedMessage, turn: SendTurn
) -> tuple[DeliveryOutcome, CapturedMail | None]:
    """Deliver a message. The second result is the message if it was captured; it is to be stored with the outcome.

    Raises LeaseLost or ContentChanged if the message must not be sent as it was composed.
    """
    decision, send, captured = prepared.decision, job.send, None
    if not decision.envelope.recipients:
        return DeliveryOutcome(results=decision.fixed_results, host="postern.test", duration=NO_TIME), None
    if is_captured(world, decision.settings, test=send.test):
        outcome, captured = await _capture(world, job, prepared)
    else:
        try:
            names = configured_transports(world, decision.settings)
            transport = transport_of(world, send.project_id, decision.settings, names)
        except NoSmartHost as error:
            delay = rules.no_server_delay(send.attempt)
            deferral = defer_all(
                decision.envelope,
                error.detail,
                "",
                no_server_contacted=True,
                wait_cause=WaitCause.SETUP,
                retry_after=delay,
            )
            return deferral, None
        queue = queues(world).of(transport, send.lane)
        async with queue.keeping_queued(turn):
            outcome = await _deliver_through(transport, prepared, turn, queue)
        if not outcome.transport:
            outcome = msgspec.structs.replace(outcome, transport=names[0])
    if decision.fixed_results:
        outcome = msgspec.structs.replace(outcome, results=(*decision.fixed_results, *outcome.results))
    return outcome, captured


async def _capture(
    world: "World", job: DeliveryJob, prepared: PreparedMessage
) -> tuple[DeliveryOutcome, CapturedMail | None]:
    """Capture a message instead of sending it; stores nothing. The second result is None if no recipient is valid."""
    send, envelope = job.send, prepared.decision.envelope
    message, sealed = prepared.message, None
    if job.body and job.body.secrets:
        sealed = seal_captured(world, send.id, message)
        templates, draft = draft_of(send, redacted_body(job.body), job.values, "", b"", now=world.clock())
        result = await world.rendering.compose(ComposeRequest(templates, draft, (), str(send.project_id)), now=0)
        message = result.message
    captured: list[CapturedMail] = []

    async def capture(_envelope: Envelope, _message: bytes) -> None:
        captured.append(
            CapturedMail(
                project_id=send.project_id,
                id=new_id(),
                send_id=send.id,
                mail_from=envelope.mail_from,
                recipients=list(envelope.recipients),
                sender=send.sender,
                subject=prepared.subject,
                message=message,
                sealed=sealed,
                captured_at=world.clock(),
            )
        )

    outcome = await CaptureTransport(capture).deliver(envelope, message)
    return msgspec.structs.replace(outcome, transport="capture"), captured[0] if captured else None


async def _deliver_through(
    transport: Transport, prepared: PreparedMessage, turn: SendTurn, queue: SendQueue
) -> DeliveryOutcome:
    """Deliver through a transport. The mark "transmission begun, reply unknown" is committed when a connection is free.

    With `onAmbiguous: hold` the mark is committed right before the final dot, so that fewer attempts are ambiguous.
    """
    envelope, message = prepared.decision.envelope, prepared.message
    if prepared.has_safe_lines:
        envelope = msgspec.structs.replace(envelope, has_safe_lines=True)
    if not turn.needs_mark or prepared.decision.settings.on_ambiguous != "hold":
        return await transport.deliver(envelope, message, DeliveryHooks(admit=lambda: queue.admit(turn)))
    turn.needs_mark = False

    async def mark() -> None:
        turn.needs_mark = True
        await queue.admit(turn)

    return await transport.deliver(envelope, message, DeliveryHooks(admit=lambda: queue.admit(turn), before_dot=mark))


def _new_turn(send: Send, body: SendBody | None, decision: RecipientDecision, *, needs_mark: bool) -> SendTurn:
    addresses = [recipient.lower() for recipient in decision.envelope.recipients]
    date = Moment.fromtimestamp(decision.request.draft.date, UTC)
    return SendTurn(
        send, addresses, skip_unsubscribed=_skips_unsubscribed(send, body), needs_mark=needs_mark, dated_at=date
    )


async def _hold(world: "World", send: Send) -> None:
    """Let a send of a paused campaign wait without a `due_at` until it is released."""
    lease_keeper(world).release(send)  # A lease renewal must not delay a send that is released in the meantime.
    await world.batcher(hold_all, by=attrgetter("project_id"))(send)


async def hold_all(world: "World", sends: list[Send]) -> list[None]:
    """Remove `due_at` from these sends if their campaigns are still paused; otherwise make them due now.

    Does not change a send of which a later attempt has begun. The result has one None per send, for `world.batcher`.
    """
    await store.hold_sends(
        world.db,
        project_id=[send.project_id for send in sends],
        content_ids=sorted({send.content_id for send in sends if send.content_id is not None}),
        ids=[send.id for send in sends],
        attempts=[send.attempt for send in sends],
        now=world.clock(),
    )
    return [None] * len(sends)


async def prepare_all(
    world: "World", jobs: list[DeliveryJob]
) -> list[PreparedMessage | SendOutcome | CampaignPaused | BaseException]:
    """Render, compose and sign messages; returns one result per job, in the same order.

    A message that must not be sent or cannot be composed gives a SendOutcome. An exception as a result is an error of
    the project (it was just deleted, or its DKIM key cannot be decrypted), or MustUseSlowLane for a message that must
    be rendered in the slow lane (a render process for expensive templates). Raises only errors of the database
    connection.
    """
    by_project: dict[int, list[DeliveryJob]] = {}
    for job in jobs:
        by_project.setdefault(job.send.project_id.int, []).append(job)
    contexts = {number: await _context_or_failure(world, group) for number, group in by_project.items()}
    decisions = [_decide_or_fail(job, contexts[job.send.project_id.int]) for job in jobs]
    requests = [decision.request for decision in decisions if isinstance(decision, RecipientDecision)]
    results = iter(await world.rendering.compose_all(requests, now=int(world.clock().timestamp())))
    return [
        _prepared_unless_in_slow_lane(decision, next(results)) if isinstance(decision, RecipientDecision) else decision
        for decision in decisions
    ]


async def prepare_marketing(
    world: "World", jobs: list[DeliveryJob]
) -> list[PreparedMessage | SendOutcome | CampaignPaused | BaseException]:
    """The same as `prepare_all`, for marketing mail. `world.batcher` batches each function separately, so a password
    reset does not wait for marketing mail."""
    return await prepare_all(world, jobs)


async def _prepare_in_slow_lane(world: "World", job: DeliveryJob) -> PreparedMessage | SendOutcome | CampaignPaused:
    """Like `prepare_all`, for one message of a project whose expensive templates need a separate render process."""
    decision = _decide_or_fail(job, await _context_or_failure(world, [job]))
    if isinstance(decision, BaseException):
        raise decision
    if not isinstance(decision, RecipientDecision):
        return decision
    return _prepared_message(
        decision, await world.rendering.compose_in_slow_lane(decision.request, now=int(world.clock().timestamp()))
    )


def _decide_or_fail(
    job: DeliveryJob, context: "DeliveryContext | Exception"
) -> RecipientDecision | SendOutcome | CampaignPaused | BaseException:
    if isinstance(context, Exception):
        return context
    try:
        return _decide(job, context)
    except Problem as problem:
        return rules.failed(problem.detail[:1_000])
    except Exception as error:  # An internal error fails only this message.
        log.exception("composing_failed", send=str(job.send.id))
        return rules.failed(f"The message could not be composed: {type(error).__name__}.")


def _prepared_unless_in_slow_lane(
    decision: RecipientDecision, result: ComposeResult | MustUseSlowLane
) -> PreparedMessage | SendOutcome | MustUseSlowLane:
    return result if isinstance(result, MustUseSlowLane) else _prepared_message(decision, result)


def _prepared_message(decision: RecipientDecision, result: ComposeResult) -> PreparedMessage | SendOutcome:
    if result.reason is None:
        return PreparedMessage(
            decision=decision, message=result.message, subject=result.subject, has_safe_lines=result.has_safe_lines
        )
    if result.trace is not None:
        log.error("composing_failed", send=decision.request.draft.send_id, trace=result.trace)
    return rules.failed(result.reason)


class DeliveryContext(msgspec.Struct, frozen=True, kw_only=True):
    """The data that all messages of one project share."""

    tenant: str
    """The id of the project."""
    settings: ProjectSettings
    suppressed: Mapping[str, str]
    """The suppression reasons, by address in lower case."""
    states: Mapping[int, str]
    """See `ProjectState.states`."""
    signers: dict[str, list[Signer]]
    """The DKIM signers, by sending domain."""
    may_send: frozenset[str]
    """The sending domains that are verified now."""
    warming_up: frozenset[str]
    """The sending domains with a warm-up plan."""
    single_senders: frozenset[str]
    """The confirmed single senders, in lower case."""
    captures: bool
    """Whether the project's LIVE mail is captured: stored for the inbox view instead of being sent."""
    transports: tuple[str, ...]
    """The names of the transports of the project's LIVE mail."""
    secrets: Secrets
    tracking_base: str
    tracking_key: bytes
    return_path_domain: str | None
    """The domain of signed return paths; None if bounces go to the sender."""
    own_return_paths: frozenset[str]
    """The sending domains whose own return path leads to this server."""
    return_path_key: bytes
    unsubscribes_by_mail: bool
    """Whether this server receives mail, so that messages can have an address for unsubscribing."""
    now: Any


async def _context_or_failure(world: "World", jobs: Sequence[DeliveryJob]) -> DeliveryContext | Exception:
    try:
        return await _context_of(world, jobs)
    except (OperationalError, PoolTimeout):
        raise  # The database cannot be reached, so the other projects of the batch would fail too.
    except Exception as error:  # An error of one project must not affect the others of the batch.
        return error


async def _state_of(world: "World", jobs: Sequence[DeliveryJob]) -> ProjectState:
    """The state of a project for some of its messages, at least one: what the requests have read, if that is known for
    all messages; otherwise it is read now."""
    known_states = [job.project for job in jobs if job.project is not None]
    if len(known_states) == len(jobs):
        known_domains: dict[str, SendingDomain | None] = {}
        known_suppressed: dict[str, str] = {}
        for state in known_states:
            known_domains |= state.domains
            known_suppressed |= state.suppressed
        return ProjectState(settings=known_states[-1].settings, domains=known_domains, suppressed=known_suppressed)
    sends = [job.send for job in jobs]
    project_id = sends[0].project_id
    project = await projects.require_project(world.db, project_id)
    addresses = {address.lower() for send in sends for address in _readable_recipients(send)}
    suppressed = await store.suppressed_among(world.db, project_id=project_id, addresses=sorted(addresses))
    content_ids = distinct_ids(send.content_id for send in sends)
    contact_ids = distinct_ids(send.contact_id for send in sends if send.lane == MARKETING)
    states = (
        await store.states_of(world.db, project_id=project_id, content_ids=content_ids, contact_ids=contact_ids)
        if content_ids or contact_ids
        else []
    )
    sender_texts = {send.sender for send in sends}
    domain_names = sorted({name for sender in sender_texts if (name := _domain_of(sender)) is not None})
    sending_domains = (
        await domains.sending_domains_all(world, [(project_id, name) for name in domain_names]) if domain_names else []
    )
    may_send = frozenset(domain.domain for domain in sending_domains if domain is not None and domain.may_send)
    return ProjectState(
        settings=project.settings,
        domains=dict(zip(domain_names, sending_domains, strict=True)),
        suppressed={entry.address: entry.reason for entry in suppressed},
        states={row.id.int: row.state for row in states},
        single_senders=await _single_senders(world, project_id, sender_texts, may_send),
    )


async def _context_of(world: "World", jobs: Sequence[DeliveryJob]) -> DeliveryContext:
    """The context of messages of one project, at least one."""
    project = await _state_of(world, jobs)
    sending_domains = [domain for domain in project.domains.values() if domain is not None]
    base = world.settings.public_url
    if project.settings.tracking_domain:
        base = f"https://{project.settings.tracking_domain}"
    return DeliveryContext(
        tenant=str(jobs[0].send.project_id),
        settings=project.settings,
        suppressed=project.suppressed,
        states=project.states,
        signers={domain.domain: await domains.signers(world, domain) for domain in sending_domains},
        may_send=frozenset(domain.domain for domain in sending_domains if domain.may_send),
        warming_up=frozenset(domain.domain for domain in sending_domains if domain.warms_up),
        single_senders=project.single_senders,
        captures=is_captured(world, project.settings, test=False),
        transports=transport_names(world, project.settings),
        secrets=world.secrets,
        tracking_base=base,
        tracking_key=world.secrets.key(LINKS_PURPOSE),
        return_path_domain=world.settings.bounce_domain,
        own_return_paths=frozenset(
            domain.domain
            for domain in sending_domains
            if world.settings.has_inbound_zone and domain.return_path_verified
        ),
        return_path_key=world.secrets.key(RETURN_PATH_PURPOSE),
        unsubscribes_by_mail=world.settings.receives_mail,
        now=world.clock(),
    )


async def _single_senders(
    world: "World", project_id: UUID, sender_texts: Iterable[str], may_send: frozenset[str]
) -> frozenset[str]:
    """The confirmed single senders among the senders without a verified domain."""
    specs = sorted(
        {
            address_of(sender).spec.lower()
            for sender in sender_texts
            if (name := _domain_of(sender)) is not None and name not in may_send
        }
    )
    if not specs:
        return frozenset()
    verified = await senders.verified_senders_all(world, [(project_id, spec) for spec in specs])
    return frozenset(spec for spec, is_verified in zip(specs, verified, strict=True) if is_verified)


def _decide(job: DeliveryJob, context: DeliveryContext) -> RecipientDecision | SendOutcome | CampaignPaused:
    """Decide which recipients get the message now, or with which outcome it is not sent."""
    send, body = job.send, job.body
    content_state = context.states.get(send.content_id.int) if send.content_id is not None else None
    if content_state == "STOPPED":
        return rules.cancelled(send)
    if content_state == "HELD":
        return CampaignPaused()
    if send.lane == MARKETING and send.contact_id is not None:
        contact_state = context.states.get(send.contact_id.int)
        if contact_state is None:
            return rules.contact_deleted()
        if contact_state == "UNSUBSCRIBED":
            return rules.suppressed(send, [(send.recipient, "UNSUBSCRIBE")])
    if send.expires_at is not None and send.expires_at <= context.now:
        return rules.expired()
    captured = send.test or context.captures
    if rules.was_interrupted(send) and context.settings.on_ambiguous == "hold" and not captured:
        return rules.held()
    if body is None:
        return rules.failed(MESSAGE_GONE)
    domain = _domain_of(send.sender)
    signed_by = context.signers.get(domain or "", ())
    if not (captured or domain in context.may_send):
        if send.domain_id is not None or domain is None:
            return rules.domain_not_verified(domain or send.sender)
        if send.lane == MARKETING or address_of(send.sender).spec.lower() not in context.single_senders:
            return rules.sender_not_verified(address_of(send.sender).spec)
        signed_by = ()  # The keys of a domain that is not verified are not published.
    remaining: list[str] = list(send.pending) if send.pending else recipients_of(send)
    suppressed = [
        (recipient, reason)
        for recipient in remaining
        if (reason := _suppression(recipient, send, body, context)) is not None
    ]
    fixed = {recipient: result for recipient in remaining if (result := rules.fixed_outcome(recipient)) is not None}
    suppressed += [
        (recipient, "TEST ADDRESS") for recipient, result in fixed.items() if result is rules.FixedOutcome.SUPPRESSED
    ]
    suppressed_addresses = {address for address, _ in suppressed}
    deliverable = [recipient for recipient in remaining if recipient not in suppressed_addresses]
    if not deliverable:
        return rules.suppressed(send, suppressed)
    own_domain = return_path_domain(domain, context)
    unsubscribe_domain = own_domain if context.unsubscribes_by_mail else None
    templates, draft = draft_of(
        send,
        body,
        job.values,
        context.tracking_base,
        context.tracking_key,
        now=context.now,
        unsubscribe_address=unsubscribe_address(context.return_path_key, send, unsubscribe_domain),
    )
    if "ses" in context.transports and not captured:
        # SES accepts only one signature, and replaces header fields. Receivers must be able to verify the signature,
        # whichever transport takes the message.
        signed_by = [signer for signer in signed_by if isinstance(signer.private_key, RSAPrivateKey)][:1]
        draft = msgspec.structs.replace(draft, unsigned_headers=list(REWRITTEN_HEADERS))
    fixed = {recipient: result for recipient, result in fixed.items() if recipient not in suppressed_addresses}
    envelope = Envelope(
        mail_from=return_path(send, context, own_domain),
        recipients=tuple(recipient for recipient in deliverable if recipient not in fixed),
        message_id=send.message_id,
        bulk=send.lane == MARKETING,
        require_tls=body.require_tls,
        # RFC 8689 §5: the field is ignored if the message requires TLS.
        ignore_tls_policy=not body.require_tls and _declines_tls(body.headers),
        tenant=context.tenant,
        sources=job.sources,
        reference=(
            rules.send_reference(context.secrets, send.project_id, send.id) if "ses" in context.transports else ""
        ),
    )
    return RecipientDecision(
        envelope=envelope,
        request=ComposeRequest(templates, draft, signed_by, context.tenant),
        settings=context.settings,
        fixed_results=tuple(rules.fixed_result(result, recipient) for recipient, result in fixed.items()),
        complained=rules.FixedOutcome.COMPLAINED in fixed.values(),
        warms_up=domain in context.warming_up and not captured,
        links_base=context.tracking_base,
        unsubscribe_domain=unsubscribe_domain if body.unsubscribable else None,
        suppressed=tuple(suppressed),
    )


def _declines_tls(headers: Sequence[tuple[str, str]]) -> bool:
    """Whether the message has the header field `TLS-Required: No` (RFC 8689 §5)."""
    return any(name.lower() == "tls-required" and value.strip().lower() == "no" for name, value in headers)


def _suppression(address: str, send: Send, body: SendBody, context: DeliveryContext) -> str | None:
    """The reason why an address is suppressed for this send; None if it is not. UNSUBSCRIBE suppresses only
    marketing mail and mail with an unsubscribe link.
    """
    reason = context.suppressed.get(address.lower())
    return None if reason == "UNSUBSCRIBE" and not _skips_unsubscribed(send, body) else reason


def _skips_unsubscribed(send: Send, body: SendBody | None) -> bool:
    return send.lane == MARKETING or (body is not None and body.unsubscribable)


def _domain_of(sender: str) -> str | None:
    """The domain of a sender's address; None if the address was erased.

    It identifies the sending domain by name, not by id, because a domain that was deleted and added again has a new id.
    """
    try:
        return address_of(sender).domain
    except AddressInvalid:
        return None


def recipients_of(send: Send) -> list[str]:
    """The envelope recipients: the addresses in to, cc and bcc, without duplicates. Raises AddressInvalid."""
    if len(send.to_addresses) == 1 and not (send.cc_addresses or send.bcc_addresses):
        return [address_of(send.to_addresses[0]).spec]
    texts = [*send.to_addresses, *(send.cc_addresses or []), *(send.bcc_addresses or [])]
    return list(dict.fromkeys([address_of(text).spec for text in texts]))


def _readable_recipients(send: Send) -> list[str]:
    """The recipients; empty if an address is invalid, so that the error fails only this send and not the batch."""
    try:
        return recipients_of(send)
    except AddressInvalid:
        return []


def return_path(send: Send, context: DeliveryContext, domain: str | None) -> str:
    """The envelope sender: a signed address at `domain` that is unique to the send (VERP), or the address of the sender
    if `domain` is None (see `return_path_domain`)."""
    if domain is None:
        return address_of(send.sender).spec
    return signed_address(context.return_path_key, AddressKind.REPORTS, send.id, domain)


def return_path_domain(domain: str | None, context: DeliveryContext) -> str | None:
    """The domain of the signed addresses of a send from `domain`; None if it has no signed addresses.

    It is the return-path subdomain of the sending domain if that leads to this server, because SPF is then aligned for
    DMARC (RFC 7489 §3.1.2), otherwise the return-path domain of the server.
    """
    return f"{BOUNCE_LABEL}.{domain}" if domain in context.own_return_paths else context.return_path_domain


def unsubscribe_address(key: bytes, send: Send, domain: str | None) -> str | None:
    """The address for unsubscribing the recipient of a send, at `domain`; None without one."""
    return None if domain is None else signed_address(key, AddressKind.UNSUBSCRIBE, send.id, domain)


def draft_of(
    send: Send,
    body: SendBody,
    values: dict[str, Any],
    tracking_base: str,
    tracking_key: bytes,
    *,
    now: datetime,
    unsubscribe_address: str | None = None,
) -> tuple[MessageTemplates, MessageDraft]:
    """The templates and the draft of a send's message.

    `values` override the variables of `body`. The message's date is `dated_at` of the send; `now` if it has none. An
    `unsubscribable` message gets `unsubscribe_address` besides its link.
    Every attempt gives the same bytes, because date, Message-ID and boundary are derived from the send.
    """
    tracking = TrackingOptions(base=tracking_base, key=tracking_key, opens=body.track_opens, clicks=body.track_clicks)
    is_tracked = body.track_opens or body.track_clicks or body.unsubscribable
    draft = MessageDraft(
        send_id=str(send.id),
        values={**body.variables, **values},
        sender=send.sender,
        to=send.to_addresses,
        cc=send.cc_addresses or [],
        reply_to=body.reply_to,
        headers=body.headers,
        date=int((send.dated_at or now).timestamp()),
        message_id=send.message_id,
        tracking=tracking if is_tracked else None,
        unsubscribe=tracking if body.unsubscribable else None,
        unsubscribe_address=unsubscribe_address if body.unsubscribable else None,
        list_id=body.list_id,
        feedback_id=body.feedback_id,
        from_name=body.from_name,
        is_bulk=send.lane == MARKETING,
        attachments=[
            mime.Attachment(
                filename=attachment.filename,
                content=b64decode(attachment.content),
                content_type=attachment.content_type,
                content_id=attachment.content_id,
            )
            for attachment in body.attachments
        ],
    )
    return MessageTemplates(body.subject, body.html, body.text, body.engine), draft


class LeaseKeeper:
    """Renews the leases of the attempts of this process that are not settled yet. `len` gives their number.

    A server may take ten minutes to reply to the final dot (RFC 5321 §4.5.3.2.6), but the messages of a process that
    died should be delivered sooner. So a lease lasts a minute, and the process renews it while the attempt lasts.
    """

    def __init__(self, world: "World") -> None:
        self._world = world
        self._leases: dict[int, tuple[Send, object]] = {}
        """The attempts whose leases are renewed, each with the block that renews it: the last one that began. Keyed by
        the `id()` of the send, because the hash of a UUID takes many times as long."""
        self._renewal: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._leases)

    @property
    def sends(self) -> list[Send]:
        """The sends whose leases are renewed."""
        return [send for send, _ in self._leases.values()]

    @contextmanager
    def renewing(self, *sends: Send) -> Iterator[None]:
        """Renew the leases of these attempts while the block runs, or until each is released.

        An attempt is identified by the object that was made when it was claimed, not by an equal one. If another block
        for an attempt begins meanwhile, the lease is renewed until that one ends.
        """
        holder = object()
        for send in sends:
            self._leases[id(send)] = (send, holder)
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._renew_periodically())
        try:
            yield
        finally:
            for send in sends:
                lease = self._leases.get(id(send))
                if lease is not None and lease[1] is holder:
                    self.release(send)

    def release(self, send: Send) -> None:
        """Stop renewing the lease of this attempt, for example because it is settled; the lease itself does not end."""
        self._leases.pop(id(send), None)

    async def _renew_periodically(self) -> None:
        lease = self._world.settings.lease
        while True:
            await asyncio.sleep(lease.total_seconds() / 3)
            if not self._leases:
                return
            sends = self.sends
            is_distributed = self._world.db.is_distributed
            for group in groups_of(sends, attrgetter("project_id")) if is_distributed else [sends]:
                try:
                    await store.renew_leases(
                        self._world.db,
                        project_id=[send.project_id for send in group],
                        id=[send.id for send in group],
                        attempt=[send.attempt for send in group],
                        until=self._world.clock() + lease,
                    )
                except (OperationalError, PoolTimeout) as error:
                    log.warning("leases_not_renewed", sends=len(group), error=str(error).strip())

    async def aclose(self) -> None:
        """Stop renewing leases."""
        if self._renewal is not None:
            self._renewal.cancel()


def lease_keeper(world: "World") -> LeaseKeeper:
    """The lease keeper of this process, created on first use."""
    return world.resources[LeaseKeeper]
