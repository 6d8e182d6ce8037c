"""Submission of e-mails: validation, then one commit of the sends with their events before the response.

Concurrent requests are committed together (`world.batcher`), with one fsync and a few statements. The idempotency key,
sends and events of a request are in one transaction, so a key exists only together with its sends.
"""

import asyncio
import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from postern.kernel.batching import isolate_errors
from postern.kernel.database.statements import FEW_ROWS, ROW_ERRORS, Jsonb, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.idempotency import digest_of, read_key
from postern.kernel.http.problems import Invalid, ProblemError
from postern.kernel.values import Moment, as_id, new_id, with_milliseconds
from postern.messaging.domains import senders
from postern.messaging.domains import sending as domains
from postern.messaging.domains.model import SendingDomain
from postern.messaging.emails import store
from postern.messaging.emails.delivery import recipients_of
from postern.messaging.emails.model import (
    IDEMPOTENCY_LEASE,
    IDEMPOTENCY_WINDOW,
    RECIPIENTS_LIMIT,
    SCHEDULE_HORIZON,
    SEPARATE_MESSAGES_BYTES,
    VARIABLES_BYTES,
    DomainNotVerified,
    Email,
    EmailAttachment,
    EmailInvalid,
    IdempotencyKey,
    IdempotencyKeyInProgress,
    IdempotencyKeyReused,
    IdempotencyRow,
    Send,
    SendBody,
    StoredAttachment,
)
from postern.messaging.emails.outcomes import event_of
from postern.messaging.emails.redaction import redacted_body, seal_body
from postern.messaging.emails.rules import message_id_of, new_send
from postern.messaging.emails.transports import is_captured
from postern.messaging.templates import operations as templates
from postern.messaging.templates.model import TemplateContent
from postern.platform.events import operations as events
from postern.platform.projects.model import ProjectSettings
from postern.platform.projects.quotas import QuotaRequest, quota_left
from postern.protocols.mail import mime
from postern.protocols.mail.address import Address, AddressInvalid, HeaderInvalid, parsed_address_key
from postern.protocols.mail.templates.composing import MessageTemplates, address_of
from postern.protocols.mail.templates.content import fill_placeholders, is_blank
from postern.protocols.mail.templates.links import LINKS_LIMIT

if TYPE_CHECKING:
    from postern.world import World


MAX_CHARACTERS_WITHOUT_ENGINE = 1_000_000
"""Content with more characters is always checked by a render process, because it may be too large after encoding."""


class NewSend(msgspec.Struct, frozen=True, kw_only=True):
    """A validated e-mail, ready to be committed."""

    send: Send
    body: SendBody
    deliver_now: bool
    """Whether the accepting process delivers it itself right after the commit."""
    sealed: bytes | None = None
    """The encrypted body if it has one-time secrets; then only the redacted body is stored in clear."""


class Committed(msgspec.Struct, frozen=True):
    """The result of a request whose sends were committed."""

    suppressed: dict[str, str] = {}
    """The suppressed ones among the recipients to whom this process delivers, each with the reason."""


class SubmissionContext(msgspec.Struct, frozen=True):
    """Domains, templates and senders that the e-mails of one request use; each is looked up once."""

    domains: dict[str, SendingDomain | None] = {}
    templates: dict[UUID, TemplateContent | None] = {}
    senders: dict[str, bool] = {}
    """Whether each address is a verified single sender."""


class SubmissionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The sends of one request, to be committed with its idempotency key."""

    project_id: UUID
    sends: list[NewSend]
    key: IdempotencyKey | None
    response: tuple[int, Any] | None
    """Status and body of the response; None if it depends on the delivery, and is stored after that."""
    near_quota: bool = False
    """Whether the quota is nearly used up, so that it must be checked again in the transaction."""


async def check_email(
    call: Call,
    data: Email,
    settings: ProjectSettings,
    *,
    deliver_now: bool,
    context: SubmissionContext | None = None,
    render: bool = True,
    require_domain: bool = True,
) -> NewSend:
    """Validate an e-mail completely and return its send and content, not yet stored. Raises a Problem that names the
    invalid field by its path.

    `deliver_now`: this process delivers the e-mail right after the commit, unless it is scheduled. `context` caches
    lookups across the e-mails of a request. With `render=False` the caller must call `render_check`, with
    `require_domain=False` it must check the sender.
    """
    context = SubmissionContext() if context is None else context
    # Checked first, because parsing addresses is slow.
    if len(data.to) + len(data.cc or []) + len(data.bcc or []) > RECIPIENTS_LIMIT:
        message = f"`to`, `cc` and `bcc` together can have at most {RECIPIENTS_LIMIT} recipients."
        raise Invalid.at("/to", message, "too_many")
    sender = _address("/from", data.from_)
    to = [_address(f"/to/{index}", text) for index, text in enumerate(data.to)]
    cc = [_address(f"/cc/{index}", text) for index, text in enumerate(data.cc or [])]
    bcc = [_address(f"/bcc/{index}", text) for index, text in enumerate(data.bcc or [])]
    body = await _body(await _content_of(call, data, context), data, settings)
    domain_id = await _require_domain_id(call, sender, settings, context) if require_domain else None
    scheduled_at = _schedule(call, data)
    send = msgspec.structs.replace(
        new_send(call.project_id, sender, to[0].spec, call.now),
        test=call.caller.environment == "TEST",
        subject=body.subject,
        to_addresses=[str(address) for address in to],
        cc_addresses=[str(address) for address in cc] or None,
        bcc_addresses=[str(address) for address in bcc] or None,
        domain_id=domain_id,
        tags=data.tags,
        expires_at=Moment.of(data.expires_at) if data.expires_at else None,
    )
    if scheduled_at is not None:
        deliver_now = False
        send = msgspec.structs.replace(send, status="SCHEDULED", due_at=scheduled_at, scheduled_at=scheduled_at)
    elif deliver_now:
        due_at = call.now + call.world.settings.lease
        send = msgspec.structs.replace(send, due_at=due_at, attempt=1, dated_at=call.now)
    new = NewSend(send=send, body=body, deliver_now=deliver_now)
    return await render_check(call, new) if render else new


def split_by_recipient(new: NewSend) -> list[NewSend]:
    """The messages of an e-mail: one, or one for each recipient if it is unsubscribable.

    An unsubscribe link belongs to one recipient, so several recipients cannot share a message with such a link.
    Raises Invalid if the messages together are too large.
    """
    send, body = new.send, new.body
    all_addresses = [*send.to_addresses, *(send.cc_addresses or []), *(send.bcc_addresses or [])]
    recipients: dict[str, str] = {}
    for text in all_addresses:
        recipients.setdefault(address_of(text).spec, text)
    if not body.unsubscribable or len(recipients) == 1:
        return [new]
    size = len(body.html or "") + len(body.text or "") + sum(len(attachment.content) for attachment in body.attachments)
    if size * len(recipients) > SEPARATE_MESSAGES_BYTES:
        message = (
            "An unsubscribable e-mail becomes a separate message for each recipient; together, these messages can have"
            f" at most {SEPARATE_MESSAGES_BYTES // 1_000_000} MB. Send to fewer recipients at a time."
        )
        raise Invalid.at("/to", message, "too_large")
    return [_addressed_to(new, spec, text, new_id()) for spec, text in recipients.items()]


def _addressed_to(new: NewSend, spec: str, text: str, send_id: UUID) -> NewSend:
    send = msgspec.structs.replace(
        new.send,
        id=send_id,
        message_id=message_id_of(send_id, address_of(new.send.sender)),
        recipient=spec,
        to_addresses=[text],
        cc_addresses=None,
        bcc_addresses=None,
    )
    return msgspec.structs.replace(new, send=send)


def _address(path: str, text: str) -> Address:
    try:
        return address_of(text)
    except AddressInvalid as error:
        raise EmailInvalid(
            error.detail, errors=[ProblemError(path=path, code="address_invalid", message=error.detail)]
        ) from None


async def _content_of(call: Call, data: Email, context: SubmissionContext) -> MessageTemplates:
    """Subject, html, text and engine: those of the e-mail, or of its template where the e-mail has none."""
    subject, html, text, engine = data.subject, data.html, data.text, data.engine
    if data.template_id is not None:
        template_id = as_id(data.template_id)
        if template_id not in context.templates:
            context.templates[template_id] = await templates.get_content(call.db, call.project_id, template_id)
        template = context.templates[template_id]
        if template is None:
            raise Invalid.at("/templateId", "There is no such template in this project.", "template_missing")
        if html is None and text is None:
            html, text = template.html, template.text
            engine = engine or template.engine
        subject = subject if subject is not None else template.subject
    if subject is None:
        raise Invalid.at("/subject", "Set `subject`, or use a template that has one.", "required")
    if is_blank(html, text):
        path = "/html" if data.template_id is None else "/templateId"
        raise Invalid.at(path, "The message would be blank: set `html` or `text`, or use a template.", "required")
    return MessageTemplates(subject, html, text, engine or "minijinja")


_UNSUBSCRIBE_URL = r"<(?:https?|mailto):[^<>\s]+>"
_UNSUBSCRIBE = re.compile(rf"{_UNSUBSCRIBE_URL}(?:\s*,\s*{_UNSUBSCRIBE_URL})*", re.IGNORECASE)
"""RFC 2369, section 3.2: one or several URLs in angle brackets."""


def _check_unsubscribe(headers: Sequence[tuple[str, str]]) -> None:
    """Raises Invalid if the caller's `List-Unsubscribe` or `List-Unsubscribe-Post` violates RFC 2369 or RFC 8058."""
    by_name = {name.lower(): (name, value.strip()) for name, value in headers}
    name, urls = by_name.get("list-unsubscribe", ("", ""))
    if name and not _UNSUBSCRIBE.fullmatch(urls):
        message = "Use URLs in angle brackets, separated by commas: `<https://a.example/1>, <mailto:u@a.example>`."
        raise Invalid.at(f"/headers/{name}", message, "header_invalid")
    name, value = by_name.get("list-unsubscribe-post", ("", ""))
    if name and (value.lower() != "list-unsubscribe=one-click" or "<https:" not in urls.lower()):
        message = "Use `List-Unsubscribe=One-Click`, together with a `List-Unsubscribe` with an https URL (RFC 8058)."
        raise Invalid.at(f"/headers/{name}", message, "header_invalid")


async def _body(content: MessageTemplates, data: Email, settings: ProjectSettings) -> SendBody:
    reply_to = [data.reply_to] if isinstance(data.reply_to, str) else data.reply_to or []
    headers = list((data.headers or {}).items())
    names = set[str]()
    if len(msgspec.json.encode(data.variables)) > VARIABLES_BYTES:
        raise Invalid.at("/variables", f"Variables can have at most {VARIABLES_BYTES // 1_000} kB.", "too_large")
    for name, value in headers:
        try:
            mime.check_headers([(name, value)])
        except HeaderInvalid as error:
            pointer = name.replace("~", "~0").replace("/", "~1")
            raise Invalid.at(f"/headers/{pointer}", error.detail, "header_invalid") from None
        if data.unsubscribable and name.lower() in {"list-unsubscribe", "list-unsubscribe-post"}:
            message = "`unsubscribable` adds this header. Remove the header or `unsubscribable`."
            raise Invalid.at(f"/headers/{name}", message, "header_invalid")
        if name.lower() in names:
            # Such as `TLS-Required` (RFC 8689 §3); JSON distinguishes names by case, and header fields do not.
            raise Invalid.at(f"/headers/{name}", "The field may occur only once.", "repeated")
        names.add(name.lower())
    if len(headers) > mime.HEADERS_LIMIT:
        raise Invalid.at("/headers", f"`headers` can have at most {mime.HEADERS_LIMIT} headers.", "too_many")
    _check_unsubscribe(headers)
    attachments = [await _attachment(index, attachment) for index, attachment in enumerate(data.attachments or [])]
    _check_size(attachments, content)
    return SendBody(
        subject=content.subject,
        html=content.html,
        text=content.text,
        engine=content.engine,
        variables=data.variables,
        reply_to=[str(_address("/replyTo", address)) for address in reply_to],
        headers=headers,
        attachments=attachments,
        track_opens=settings.track_opens if data.track_opens is None else data.track_opens,
        track_clicks=settings.track_clicks if data.track_clicks is None else data.track_clicks,
        unsubscribable=data.unsubscribable,
        require_tls=settings.require_tls if data.require_tls is None else data.require_tls,
    )


def _check_size(attachments: list[StoredAttachment], content: MessageTemplates) -> None:
    """Raises MessageTooLarge if attachments and the parts without template tags are already too large together."""
    attachment_octets = sum(len(attachment.content) for attachment in attachments)
    line_ends = attachment_octets // 76 * 2
    parts_without_tags = [
        part for part in (content.html, content.text) if part and (content.engine == "none" or "{" not in part)
    ]
    if attachment_octets + line_ends + sum(map(len, parts_without_tags)) > mime.MESSAGE_BYTES_LIMIT:
        message = mime.MessageTooLarge.message()
        raise mime.MessageTooLarge(
            errors=[ProblemError(path="/attachments", code="message_too_large", message=message)]
        )


DECODED_CHARACTERS = 1 << 19
"""Characters of base64 that are decoded at a time, in about a millisecond."""


async def _decoded(encoded: str) -> bytes:
    """Decode base64. Other requests are served between pieces of a large attachment. Raises ValueError."""
    if len(encoded) <= DECODED_CHARACTERS:
        return b64decode(encoded, validate=True)
    pieces: list[bytes] = []
    for start in range(0, len(encoded), DECODED_CHARACTERS):
        if pieces and encoded[start - 1] == "=":
            raise ValueError("There is padding before the end.")
        pieces.append(b64decode(encoded[start : start + DECODED_CHARACTERS], validate=True))
        await asyncio.sleep(0)
    return b"".join(pieces)


async def _attachment(index: int, data: EmailAttachment) -> StoredAttachment:
    # RFC 2045 §6.8: base64 may be broken into lines. Content in one line is not copied.
    has_lines = "\n" in data.content or "\r" in data.content
    encoded = data.content.translate(_WITHOUT_WHITESPACE) if has_lines else data.content
    try:
        content = await _decoded(encoded)
    except ValueError:  # binascii.Error is one, too.
        raise Invalid.at(f"/attachments/{index}/content", "The content is not valid base64.", "invalid") from None
    attachment = mime.Attachment(
        filename=data.filename,
        content=content,
        content_type=data.content_type or mime.content_type_of(data.filename),
        content_id=data.content_id,
    )
    try:
        mime.check_attachments([attachment])
    except mime.AttachmentInvalid as invalid:
        errors = [
            ProblemError(path=error.path.replace("/0/", f"/{index}/", 1), code=error.code, message=error.message)
            for error in invalid.errors
        ]
        raise Invalid(invalid.detail, errors=errors) from None
    return StoredAttachment(data.filename, encoded, attachment.content_type, data.content_id)


_WITHOUT_WHITESPACE = str.maketrans("", "", "\r\n\t ")


async def render_check(call: Call, new: NewSend) -> NewSend:
    """The e-mail with its rendered subject. Renders all content once, so that errors are found before the submission.

    Raises Invalid with the path, MessageTooLarge, or a problem of the render processes.
    """
    body = new.body
    subject = _subject_without_engine(body)
    if subject is not None:
        try:
            mime.check_subject(subject)
        except HeaderInvalid as error:
            raise Invalid.at("/subject", error.detail, "header_invalid") from None
    else:
        subject = await call.world.rendering.call(
            str(new.send.project_id),
            "check_message",
            body.subject,
            body.html,
            body.text,
            body.variables,
            str(new.send.id),
            sum(len(attachment.content) for attachment in body.attachments),
            body.engine,
            size=sum(len(part) for part in (body.subject, body.html, body.text) if part is not None),
        )
    return msgspec.structs.replace(new, send=msgspec.structs.replace(new.send, subject=subject))


def _subject_without_engine(body: SendBody) -> str | None:
    """The rendered subject if the content is small and has only simple placeholders; None if the template engine must
    check the message."""
    html = body.html or ""
    parts = [part for part in (body.subject, body.html, body.text) if part is not None]
    if sum(map(len, parts)) > MAX_CHARACTERS_WITHOUT_ENGINE:
        return None
    if len(html) > LINKS_LIMIT and html.count("<a") + html.count("<A") > LINKS_LIMIT:
        return None
    if body.engine == "none":
        return body.subject.strip()
    filled = [fill_placeholders(part, body.variables) for part in parts]
    return None if filled[0] is None or None in filled else filled[0].strip()


async def _require_domain_id(
    call: Call, sender: Address, settings: ProjectSettings, context: SubmissionContext
) -> UUID | None:
    """The id of the sender's sending domain. Raises DomainNotVerified.

    None if the sender is a confirmed single sender, or if the mail is captured and the project has no such domain.
    """
    if sender.domain not in context.domains:
        context.domains[sender.domain] = await call.world.batcher(domains.sending_domains_all, by=itemgetter(0))(
            (call.project_id, sender.domain)
        )
    domain = context.domains[sender.domain]
    captured = is_captured(call.world, settings, test=call.caller.environment == "TEST")
    if not captured and (domain is None or not domain.may_send):
        if await _is_single_sender(call, sender, context):
            return None
        message = f"{sender.domain} is not a verified sending domain of this project."
        errors = [ProblemError(path="/from", code="domain_not_verified", message=message)]
        raise DomainNotVerified(message, errors=errors, next=_how_to_verify(call.project_id, sender.domain, domain))
    return domain.id if domain else None


async def _is_single_sender(call: Call, sender: Address, context: SubmissionContext) -> bool:
    """Whether the address is a confirmed single sender."""
    if sender.spec not in context.senders:
        context.senders[sender.spec] = await call.world.batcher(senders.verified_senders_all, by=itemgetter(0))(
            (call.project_id, sender.spec)
        )
    return context.senders[sender.spec]


def _how_to_verify(project_id: UUID, name: str, domain: domains.SendingDomain | None) -> str:
    """The next step to be able to send from a domain."""
    path = f"/projects/{project_id}/domains"
    if domain is None:
        return (
            f'Add the domain with POST {path} and {{"domain": "{name}"}}, publish the `records` of the response in the '
            f"DNS, then POST {path}/{{id}}/verify. For tests, use the transport `capture`, or confirm a single address "
            f'by mail: POST /projects/{project_id}/senders {{"email": "…"}}.'
        )
    return (
        f"Publish the records of GET {path}/{domain.id} that are not VERIFIED, first of all the DKIM key, then "
        f"POST {path}/{domain.id}/verify."
    )


def _schedule(call: Call, data: Email) -> Moment | None:
    """When the e-mail is sent; None: at once. Raises Invalid if that is too late, or if the e-mail expires before."""
    if data.scheduled_at is not None and data.scheduled_at > call.now + SCHEDULE_HORIZON:
        raise Invalid.at("/scheduledAt", "The time can be at most 30 days in the future.", "too_far")
    send_at = max(data.scheduled_at or call.now, call.now)
    if data.expires_at is not None and data.expires_at <= send_at:
        raise Invalid.at("/expiresAt", "The e-mail would expire before it is sent.", "too_early")
    return Moment.of(send_at) if send_at > call.now else None


def parse_key(call: Call, route: str, header: str | None, data: Any) -> IdempotencyKey | None:
    """Return the key of a request with the header `Idempotency-Key`; None without one. Raises Invalid.

    The same key can be used again for another `route`, and in the other environment. `data` is the request body, of
    which a hash is stored.
    """
    if header is None:
        return None
    key = read_key(header)
    encoded: bytes = msgspec.json.encode(data)
    try:
        canonical: bytes = msgspec.json.encode(msgspec.json.decode(encoded), order="sorted")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        canonical = encoded  # The e-mails of a batch are raw JSON. If one is malformed, the bytes are compared.
    return IdempotencyKey(
        project_id=call.project_id,
        route=route if call.caller.environment == "LIVE" else f"{route}?test",
        key=digest_of(key),
        body_hash=hashlib.sha256(canonical).digest(),
    )


async def submit(call: Call, request: SubmissionRequest) -> Committed | IdempotencyRow:
    """Commit the sends of a request; if it is a repetition, commit nothing and return its key's row.

    Records events and wakes the workers. Raises IdempotencyKeyInProgress, IdempotencyKeyReused or PlanLimitReached.
    """
    batcher = call.world.batcher(commit_all, by=attrgetter("project_id"))
    if _is_large(request):
        batcher = call.world.batcher(commit_large, max_batch_size=LARGE_TOGETHER, by=attrgetter("project_id"))
    committed: Committed | None = await batcher(request)
    if committed is not None:
        return committed
    assert request.key is not None, "Only a request with a key can be a repetition."
    stored = await stored_response(call, request.key)
    if stored is None:
        raise IdempotencyKeyInProgress  # The key expired between two statements; the next request can claim it.
    return stored


async def stored_response(call: Call, key: IdempotencyKey) -> IdempotencyRow | None:
    """The row of a key with the stored response; None if the key is unknown.

    The row has no response if the process died before it stored one. Raises IdempotencyKeyInProgress, or
    IdempotencyKeyReused if the key was used with another body.
    """
    row = await store.get_key(
        call.db, project_id=call.project_id, route=key.route, key=key.key, window=IDEMPOTENCY_WINDOW
    )
    if row is None:
        return None
    if row.body_hash != key.body_hash:
        raise IdempotencyKeyReused
    if row.is_running:
        raise IdempotencyKeyInProgress
    return row


LARGE_SENDS = 50
LARGE_OCTETS = 250_000
"""A request with more sends, or with a larger one, is committed apart from small ones, which would wait for it."""
LARGE_TOGETHER = 4
"""Large requests in one transaction."""


def _is_large(request: SubmissionRequest) -> bool:
    sends = request.sends
    return len(sends) > LARGE_SENDS or any(_octets_of(new_send.body) > LARGE_OCTETS for new_send in sends)


def _octets_of(body: SendBody) -> int:
    """The approximate size of a body: that of its parts and attachments."""
    octets = len(body.html or "") + len(body.text or "")
    return octets + sum(len(attachment.content) for attachment in body.attachments) if body.attachments else octets


async def commit_large(world: "World", requests: list[SubmissionRequest]) -> list[Committed | None | BaseException]:
    """Like `commit_all`, in batches of their own."""
    return await commit_all(world, requests)


async def commit_all(world: "World", requests: list[SubmissionRequest]) -> list[Committed | None | BaseException]:
    """Commit requests in one transaction, or each in a separate one if one of them cannot be stored.

    The results are in the same order: Committed, None if the idempotency key of the request was claimed before, or an
    error. Requests that are `near_quota` are committed one by one, because each locks its account.
    """
    if any(request.near_quota for request in requests):
        together = [request for request in requests if not request.near_quota]
        committed = iter(await commit_all(world, together) if together else [])
        return [
            await _commit_near_quota(world, request) if request.near_quota else next(committed) for request in requests
        ]
    return await isolate_errors(partial(_commit, world), requests, ROW_ERRORS)


async def _commit_near_quota(world: "World", request: SubmissionRequest) -> Committed | None | BaseException:
    # Every error is returned, not raised, because the callers of requests that are committed must get their results.
    (result,) = await isolate_errors(partial(_commit, world), [request], (Exception,))
    return result


async def _require_quota(tx: Transaction, world: "World", request: SubmissionRequest, new_sends: list[NewSend]) -> None:
    """Raises PlanLimitReached if `new_sends` exceed the quota. Locks the account until the end of the transaction."""
    count = sum(not new_send.send.test for new_send in new_sends)
    if not count:
        return
    quota_request = QuotaRequest("emails", count, new_sends[0].send.created_at, project_id=request.project_id)
    remaining = await quota_left(tx, world, quota_request)
    if remaining is not None and count > remaining.number:
        raise remaining.refusal


async def _commit(world: "World", requests: list[SubmissionRequest]) -> list[Committed | None]:
    inserted: dict[UUID, store.InsertedSend] = {}
    async with world.db.transaction() as tx:
        can_commit = await _claim_keys(tx, requests)
        for request, is_new in zip(requests, can_commit, strict=True):
            if request.near_quota and is_new:
                await _require_quota(tx, world, request, request.sends)
        new_sends = [
            send for request, is_new in zip(requests, can_commit, strict=True) if is_new for send in request.sends
        ]
        if new_sends:
            inserted = await _insert(tx, new_sends)
            await events.record_all(
                tx,
                [
                    event_of(
                        send, f"email.{send.status.lower()}", send.created_at, contactId=inserted[send.id].contact_id
                    )
                    for send in (new_send.send for new_send in new_sends)
                ],
            )
            for project_id in {new_send.send.project_id for new_send in new_sends if not new_send.deliver_now}:
                tx.mark_due("sends", project_id)
    return [
        _committed(request, inserted) if is_new else None for request, is_new in zip(requests, can_commit, strict=True)
    ]


def _committed(request: SubmissionRequest, inserted: dict[UUID, store.InsertedSend]) -> Committed:
    suppressed: dict[str, str] = {}
    for new in request.sends:
        suppressed |= inserted[new.send.id].suppressed or {}
    return Committed(suppressed)


async def _claim_keys(tx: Transaction, requests: list[SubmissionRequest]) -> list[bool]:
    """Claim the keys of requests. Returns whether each can be committed: it has no key, or claimed its key first."""
    first: dict[tuple[UUID, str, str], SubmissionRequest] = {}
    for request in requests:
        if request.key:
            first.setdefault((request.project_id, request.key.route, request.key.key), request)
    if not first:
        return [True] * len(requests)
    claims = [
        msgspec.structs.replace(
            request.key,
            send_ids=[new.send.id for new in request.sends],
            status=request.response[0] if request.response else None,
            response=request.response[1] if request.response else None,
        )
        for request in first.values()
        if request.key
    ]
    claimed_rows = await store.claim_keys(tx, claims, lease=IDEMPOTENCY_LEASE, window=IDEMPOTENCY_WINDOW)
    claimed_keys = {(row.project_id, row.route, row.key) for row in claimed_rows}
    return [
        request.key is None
        or (
            (identity := (request.project_id, request.key.route, request.key.key)) in claimed_keys
            and first[identity] is request
        )
        for request in requests
    ]


def _stored_body(body: SendBody, sealed: bytes | None) -> SendBody:
    return body if sealed is None else redacted_body(body)


async def _insert(tx: Transaction, new_sends: list[NewSend]) -> dict[UUID, store.InsertedSend]:
    """Insert new sends, and return them by their ids."""
    if tx.is_distributed and len(new_sends) <= FEW_ROWS:
        return await _insert_few(tx, new_sends)
    large = [new_send for new_send in new_sends if _octets_of(new_send.body) > LARGE_OCTETS]
    apart = {new_send.send.id for new_send in large}
    rows = [
        {name: getattr(send, name) for name in store.INSERTED_FIELDS}
        | {
            "body": None if send.id in apart else _stored_body(body, sealed),
            "sealed": b64encode(sealed).decode() if sealed is not None and send.id not in apart else None,
            "search_text": search_text(send),
        }
        | _looked_up(new)
        for new, send, body, sealed in ((new, new.send, new.body, new.sealed) for new in new_sends)
    ]
    project_ids = sorted({new_send.send.project_id for new_send in new_sends})
    inserted = await store.insert_sends(tx, project_id=project_ids, rows=Jsonb(rows))
    for one in large:
        body = Jsonb(_stored_body(one.body, one.sealed))
        await store.insert_large_body(
            tx, project_id=one.send.project_id, send_id=one.send.id, body=body, sealed=one.sealed
        )
    return {row.id: row for row in inserted}


async def _insert_few(tx: Transaction, new_sends: list[NewSend]) -> dict[UUID, store.InsertedSend]:
    """Insert new sends of one project row by row: on a Citus, that takes a fraction of the time of `insert_sends`."""
    rows = [_looked_up(new) | {"id": new.send.id} for new in new_sends]
    facts = await store.facts_of_recipients(tx, project_id=new_sends[0].send.project_id, rows=Jsonb(rows))
    inserted = {row.id: row for row in facts}
    for new in new_sends:
        send, sealed = new.send, new.sealed
        row = msgspec.structs.replace(send, contact_id=inserted[send.id].contact_id)
        await store.insert_send(tx, with_milliseconds(row))
        body = Jsonb(_stored_body(new.body, sealed))
        await store.insert_large_body(tx, project_id=send.project_id, send_id=send.id, body=body, sealed=sealed)
        await store.insert_search(tx, project_id=send.project_id, send_id=send.id, search_text=search_text(send))
    return inserted


def _looked_up(new: NewSend) -> dict[str, object]:
    """What is looked up when a send is inserted: the contact of its recipient, and suppressed recipients."""
    send = new.send
    return {
        "recipient_key": parsed_address_key(address_of(send.recipient)),
        "suppressible": [recipient.lower() for recipient in recipients_of(send)] if new.deliver_now else None,
    }


def with_secrets(world: "World", new: NewSend, secrets: list[str]) -> NewSend:
    """The e-mail with its one-time secrets, which are stored encrypted until the send is settled.

    Raises SecretInSubject.
    """
    if not secrets:
        return new
    replace = msgspec.structs.replace
    body = replace(new.body, secrets=secrets)
    redacted_body(body)  # Raises SecretInSubject now, and not at the commit with other requests.
    return replace(new, body=body, sealed=seal_body(world, new.send.id, body))


SEARCHED_SUBJECT_CHARACTERS = 1_000
"""The number of characters of a subject that the filter `q` of the e-mail log searches."""


def search_text(send: Send) -> str:
    """The text that the filter `q` of the e-mail log searches: recipients, Message-ID and subject, in lower case."""
    recipients = " ".join([*send.to_addresses, *(send.cc_addresses or []), *(send.bcc_addresses or [])])
    return f"{recipients} {send.message_id} {send.subject[:SEARCHED_SUBJECT_CHARACTERS]}".lower()


async def store_responses(world: "World", finished: list[IdempotencyKey]) -> list[None]:
    """Store status and response of idempotency keys, for repeated requests. Keys that have a response do not change."""
    await store.finish_keys(world.db, finished)
    return [None] * len(finished)
