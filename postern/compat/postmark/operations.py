"""The operations of Postmark's API: send a message or a batch, with content or with templates."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain
from uuid import UUID

import msgspec

from postern.compat.postmark.errors import POSTMARK, rejected
from postern.compat.postmark.model import (
    MAX_BATCH_MESSAGES,
    PostmarkEmail,
    PostmarkOutcome,
    PostmarkTemplateBatch,
    SenderNotConfirmed,
    TooManyMessages,
)
from postern.compat.postmark.rules import (
    email_of,
    inactive_among,
    outcome_of,
    path_in_message,
    plain_addresses,
    result_of,
    template_id_of,
)
from postern.kernel.http.call import Call
from postern.kernel.http.handler import read_item
from postern.kernel.http.idempotency import IdempotencyHeader
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import to_json
from postern.messaging.emails import operations as emails
from postern.messaging.emails.model import (
    BATCH_BYTES,
    SINGLE_BYTES,
    DomainNotVerified,
    Email,
    IdempotencyKey,
    IdempotencyRow,
)
from postern.messaging.emails.submission import SubmissionContext, parse_key, stored_response
from postern.messaging.emails.suppressions import suppressed_addresses
from postern.messaging.templates import operations as templates
from postern.protocols.mail.templates.composing import address_of

OUTCOMES = "data"
"""The field of a stored (idempotent) response that holds the outcomes. It must be `data`, in which the erasure of an
address (data protection) looks for addresses: see `erasure_store.py`."""
EMAIL_DECODER = msgspec.json.Decoder(PostmarkEmail)


@post("/email", needs="emails:send", body_limit=SINGLE_BYTES, compatible_api=POSTMARK)
async def send_postmark_email(
    call: Call, data: PostmarkEmail, idempotency_key: IdempotencyHeader = None
) -> HttpResponse:
    """Send a message. It is stored before the response, and the workers transmit it."""
    key = parse_key(call, "compat/postmark/email", idempotency_key, data)
    return await _send_one(call, data, key, has_template=False)


@post("/email/withTemplate", needs="emails:send", body_limit=SINGLE_BYTES, compatible_api=POSTMARK)
async def send_postmark_template(
    call: Call, data: PostmarkEmail, idempotency_key: IdempotencyHeader = None
) -> HttpResponse:
    """Send a message with a template of the project."""
    key = parse_key(call, "compat/postmark/template", idempotency_key, data)
    return await _send_one(call, data, key, has_template=True)


@post("/email/batch", needs="emails:send", body_limit=BATCH_BYTES, compatible_api=POSTMARK)
async def send_postmark_batch(
    call: Call, data: list[msgspec.Raw], idempotency_key: IdempotencyHeader = None
) -> HttpResponse:
    """Send up to 500 messages. The results are in the order of the request; one that is not accepted has its ErrorCode,
    and the others are sent."""
    _require_few(data)
    key = parse_key(call, "compat/postmark/batch", idempotency_key, data)
    return await _send_batch(call, data, key, has_template=False)


@post("/email/batchWithTemplates", needs="emails:send", body_limit=BATCH_BYTES, compatible_api=POSTMARK)
async def send_postmark_template_batch(
    call: Call, data: PostmarkTemplateBatch, idempotency_key: IdempotencyHeader = None
) -> HttpResponse:
    """Send up to 500 messages with templates; see `send_postmark_batch`."""
    _require_few(data.messages)
    key = parse_key(call, "compat/postmark/templates", idempotency_key, data)
    return await _send_batch(call, data.messages, key, has_template=True)


def _require_few(raw_messages: Sequence[msgspec.Raw]) -> None:
    """Raises TooManyMessages. Called before the body is hashed for its idempotency key."""
    if len(raw_messages) > MAX_BATCH_MESSAGES:
        raise TooManyMessages


async def _send_one(
    call: Call, message: PostmarkEmail, key: IdempotencyKey | None, *, has_template: bool
) -> HttpResponse:
    outcomes: list[PostmarkOutcome] = []
    try:
        batch, (outcome,) = await _check(call, [message], has_template=has_template)
        if isinstance(outcome, Problem):
            raise outcome
        outcomes = [outcome]
        # The response to an earlier request with this key; None if this is the first.
        first_response = await emails.commit_batch(call, batch, key, (200, {OUTCOMES: outcomes}))
    except Problem:
        # A repeated request gets its first response, even if its template or domain was deleted since.
        first_response = key and await stored_response(call, key)
        if not first_response:
            raise
    (outcome,) = _stored_outcomes(first_response) if first_response else outcomes
    return HttpResponse(to_json(result_of(message, outcome)))


async def _send_batch(
    call: Call, raw_messages: list[msgspec.Raw], key: IdempotencyKey | None, *, has_template: bool
) -> HttpResponse:
    messages = [read_item(EMAIL_DECODER, raw) for raw in raw_messages]
    batch, checked = await _check(call, messages, has_template=has_template)
    outcomes = [rejected(outcome) if isinstance(outcome, Problem) else outcome for outcome in checked]
    first_response = await emails.commit_batch(call, batch, key, (200, {OUTCOMES: outcomes}))
    outcomes = _stored_outcomes(first_response) if first_response else outcomes
    return HttpResponse(
        to_json([result_of(message, outcome) for message, outcome in zip(messages, outcomes, strict=True)])
    )


def _stored_outcomes(row: IdempotencyRow) -> list[PostmarkOutcome]:
    return msgspec.convert(row.response[OUTCOMES], list[PostmarkOutcome])


async def _check(
    call: Call, messages: Sequence[PostmarkEmail | Problem], *, has_template: bool
) -> tuple[emails.CheckedBatch, list[PostmarkOutcome | Problem]]:
    """The messages that are accepted, ready to be committed, and the outcome of each message in the same order."""
    ids = await _ids_by_alias(call, messages) if has_template else None
    items: list[Email | Problem] = []
    recipients: list[list[str]] = []
    for message in messages:
        item = _email_of(message, ids)
        items.append(item)
        recipients.append([] if isinstance(item, Problem) else _recipients(item))
        await asyncio.sleep(0)  # Other requests are served between two messages.
    suppressed = await suppressed_addresses(call.db, call.project_id, list(chain.from_iterable(recipients)))
    inactive_or_problems = [
        [] if isinstance(item, Problem) else _inactive_recipients(item, addresses, suppressed)
        for item, addresses in zip(items, recipients, strict=True)
    ]
    items = [
        inactive_or_problem if isinstance(inactive_or_problem, Problem) else item
        for item, inactive_or_problem in zip(items, inactive_or_problems, strict=True)
    ]
    context = SubmissionContext()
    batch = await emails.check_batch(call, items, context)
    outcomes: list[PostmarkOutcome | Problem] = []
    for item, inactive_or_problem, checked in zip(items, inactive_or_problems, batch.results, strict=True):
        if isinstance(checked, Problem):
            # Errors name a field of the Postmark message (`/To`), not of the Email made of it (`/to`).
            outcomes.append(_sender_problem(checked.relocated(path_in_message), item, context))
        else:
            assert not isinstance(inactive_or_problem, Problem)  # `checked` would be this problem.
            # If each recipient gets a message of its own (`unsubscribable`), the outcome has the id of the first one.
            outcomes.append(outcome_of(checked[0].send, inactive_or_problem))
    return batch, outcomes


async def _ids_by_alias(call: Call, messages: Sequence[PostmarkEmail | Problem]) -> dict[str, list[UUID]]:
    aliases = {
        message.template_alias
        for message in messages
        if isinstance(message, PostmarkEmail) and message.template_alias and not message.template_id
    }
    return await templates.ids_by_name(call.db, call.project_id, aliases) if aliases else {}


def _email_of(message: PostmarkEmail | Problem, ids_by_alias: dict[str, list[UUID]] | None) -> Email | Problem:
    """The e-mail of a message, or the problem with it. `ids_by_alias` is None if messages have content of their own."""
    if isinstance(message, Problem):
        return message
    try:
        return email_of(message, None if ids_by_alias is None else template_id_of(message, ids_by_alias))
    except Problem as problem:
        return problem


def _recipients(email: Email) -> list[str]:
    return plain_addresses([*email.to, *(email.cc or []), *(email.bcc or [])])


def _inactive_recipients(email: Email, addresses: Sequence[str], suppressed: Mapping[str, str]) -> list[str] | Problem:
    """The suppressed recipients. If no other recipient is left, returns (does not raise) InactiveRecipient."""
    # The reason UNSUBSCRIBE suppresses only mail that has an unsubscribe link.
    reasons = {
        address: suppressed[address]
        for address in map(str.lower, addresses)
        if address in suppressed and (suppressed[address] != "UNSUBSCRIBE" or email.unsubscribable)
    }
    try:
        return inactive_among(addresses, reasons)
    except Problem as problem:
        return problem


def _sender_problem(problem: Problem, item: Email | Problem, context: SubmissionContext) -> Problem:
    """Replace DomainNotVerified by SenderNotConfirmed if the project has added the sender's domain, but not verified
    it. Other problems are returned unchanged."""
    if not isinstance(problem, DomainNotVerified) or isinstance(item, Problem):
        return problem
    domain = context.domains.get(address_of(item.from_).domain)
    return problem if domain is None else SenderNotConfirmed(problem.detail, next=problem.next)
