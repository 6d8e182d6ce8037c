"""Preflight: checks a message before it is sent for what large mailbox providers object to.

The message is composed as it would be sent, in a render process, but without a signature. Nothing is stored or sent.
The network is used for DNS lookups of the sender's domain and, only on request, to open the links.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Problem, RateLimited, Unavailable
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.outbound.client import OutboundFailed, OutboundRefused, OutboundResponse
from postern.kernel.values import Record
from postern.messaging.domains import senders
from postern.messaging.domains import sending as domains
from postern.messaging.emails.delivery import LINKS_PURPOSE, draft_of
from postern.messaging.emails.model import SINGLE_BYTES, Email, Send, SendBody
from postern.messaging.emails.operations import EXAMPLE, RENDER_PROBLEMS
from postern.messaging.emails.submission import NewSend, check_email, render_check
from postern.messaging.reputation.sending import limit_status
from postern.platform.projects import operations as projects
from postern.protocols.mail import dmarc
from postern.protocols.mail.address import Address, AddressInvalid
from postern.protocols.mail.dns import DnsUnavailable
from postern.protocols.mail.domain_findings import domain_finding, inspect_dmarc
from postern.protocols.mail.findings import Finding
from postern.protocols.mail.link_findings import shows_other_domain
from postern.protocols.mail.message_findings import (
    LARGE_MESSAGE_OCTETS,
    InspectedLink,
    inspect_addresses,
    inspect_attachments,
    inspect_unsubscribing,
    message_finding,
)
from postern.protocols.mail.public_suffixes import registered_domain
from postern.protocols.mail.templates.composing import MessageReport, address_of

DNS_TIMEOUT = timedelta(seconds=40)
"""How long the lookups of the sender's domain may take."""
LINKS_OPENED = 20
"""How many different links of one message are opened on request."""
LINKS_AT_ONCE = 5
"""How many links of one message are opened at the same time."""
LINKS_TIMEOUT = timedelta(seconds=20)
"""How long opening the links of one message may take."""
LINK_RATE = RateLimit("preflight-links", 100, timedelta(hours=1))
"""Limits the requests of a project that open links, so that nobody can scan other servers through this one."""
LINK_OCTETS = 0
"""Octets of a page that are kept: its status is enough."""

SEVERITIES = ("ERROR", "WARNING", "ADVICE")


class PreflightEmail(Email):
    """An e-mail to check. The fields are those of an e-mail to send."""

    marketing: bool | None = None
    """Whether it is marketing mail, which needs one-click unsubscribing. Null: not known, so that is only advised."""
    check_links: bool = False
    """Open the links of the message, at most 20, with GET requests."""


class Preflight(Record):
    """What large mailbox providers would object to in a message."""

    ok: bool
    """Whether there is no finding with the severity ERROR."""
    findings: list[Finding]
    """The most severe first."""
    message_octets: int | None
    """The size of the message without DKIM signatures; null if it cannot be composed."""
    html_octets: int | None
    """The size of the html with tracked links; null if the message cannot be composed."""
    links_opened: int
    """How many links were opened."""


@post(
    "/projects/{project_id}/emails/preflight",
    needs="emails:send",
    body_limit=SINGLE_BYTES,
    problems=[TooManyRequests, *RENDER_PROBLEMS],
    example=EXAMPLE,
)
async def preflight_email(call: Call, data: PreflightEmail) -> Preflight:
    """Check an e-mail for what large mailbox providers object to, without sending it.

    The body is that of an e-mail to send. The message is composed as it would be sent. An error that would make sending
    fail, such as one in a template, becomes a finding with the code of the problem. The checks cover the authentication
    of the sender's domain (SPF, DKIM, DMARC), one-click unsubscribing, size, text and images, links, attachments,
    addresses, and features that mail clients do not support. Links are only opened with `checkLinks`.
    """
    try:
        sender = address_of(data.from_)
    except AddressInvalid:
        sender = None  # `check_email` reports it.
    findings: list[Finding] = []
    report = None
    opened = 0
    try:
        new = await check_email(
            call, data, await projects.settings_of(call), deliver_now=False, render=False, require_domain=False
        )
    except Problem as problem:
        findings += findings_of_problem(problem)
    else:
        content = await preflight_content(
            call, new.send, new.body, is_marketing=data.marketing, check_links=data.check_links
        )
        findings, report, opened = content.findings, content.report, content.opened
    if sender is not None:
        findings += await sender_findings(call, sender, is_marketing=data.marketing)
    return preflight_of(findings, report, opened)


def preflight_of(findings: Sequence[Finding], report: MessageReport | None, opened: int) -> Preflight:
    """The response with these findings, sorted by severity."""
    return Preflight(
        ok=all(finding.severity != "ERROR" for finding in findings),
        findings=sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)),
        message_octets=report.message_octets if report else None,
        html_octets=report.html_octets if report else None,
        links_opened=opened,
    )


def findings_of_problem(problem: Problem) -> list[Finding]:
    """What would make sending fail, as findings, also if the caller lacks a permission. Raises the problem if it says
    nothing about the message: a rate limit, or a part of the server that is away."""
    if isinstance(problem, RateLimited | Unavailable):
        raise problem
    fix = problem.next or "Correct it: sending would fail with this problem."
    errors = [(error.path, error.code, error.message) for error in problem.errors]
    return [
        Finding(code=code, severity="ERROR", path=path, message=message, fix=fix)
        for path, code, message in errors or [("", problem.code(), problem.detail)]
    ]


class ContentFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What is found in a message besides the authentication of its sender."""

    findings: list[Finding]
    report: MessageReport | None = None
    """None if the message cannot be composed."""
    opened: int = 0
    """How many links were opened."""


async def preflight_content(
    call: Call, send: Send, body: SendBody, *, is_marketing: bool | None, check_links: bool
) -> ContentFindings:
    """Compose the message of a send that is not stored, and inspect it.

    Raises TooManyRequests, RenderingBusy or RenderingUnavailable.
    """
    if check_links:
        call.world.limiter.take(LINK_RATE, str(call.project_id))
    settings = await projects.settings_of(call)
    base = f"https://{settings.tracking_domain}" if settings.tracking_domain else call.world.settings.public_url
    templates, draft = draft_of(send, body, {}, base, call.world.secrets.key(LINKS_PURPOSE), now=call.now)
    try:
        await render_check(call, NewSend(send=send, body=body, deliver_now=False))
        size = templates.size + sum(len(attachment.content) for attachment in draft.attachments)
        arguments: list[Any] = [msgspec.to_builtins(value, builtin_types=(bytes,)) for value in (templates, draft)]
        result = await call.world.rendering.call(str(call.project_id), "inspect_message", *arguments, size=size)
    except Problem as problem:
        return ContentFindings(findings=findings_of_problem(problem))
    report = msgspec.convert(result, MessageReport)
    findings = [*report.content.findings, *inspect_attachments(draft.attachments)]
    if report.message_octets > LARGE_MESSAGE_OCTETS:
        number, limit = report.message_octets, LARGE_MESSAGE_OCTETS
        findings.append(message_finding("message_large", "", number=number, limit=limit))
    findings += _unsubscribe_findings(body, base, report, is_marketing)
    # Loading the list of public suffixes takes long the first time.
    links = report.content.links
    findings += await asyncio.to_thread(_address_findings, send, body)
    findings += await asyncio.to_thread(_shown_url_findings, links, base if body.track_clicks else None)
    opened = 0
    if check_links:
        urls = list(dict.fromkeys(link.url for link in links if link.may_be_opened))
        link_findings, opened = await _open_links(call, urls)
        findings += link_findings
    return ContentFindings(findings=findings, report=report, opened=opened)


def _address_findings(send: Send, body: SendBody) -> list[Finding]:
    sender = address_of(send.sender)
    replies = [address_of(text) for text in body.reply_to]
    if body.from_name:  # It is rendered with each message.
        sender = msgspec.structs.replace(sender, name=body.from_name)
    findings = list(inspect_addresses(sender))
    others = [
        address.spec for address in replies if registered_domain(address.domain) != registered_domain(sender.domain)
    ]
    if others:
        findings.append(message_finding("reply_to_other_domain", "/replyTo", others))
    return findings


def _unsubscribe_findings(body: SendBody, base: str, report: MessageReport, is_marketing: bool | None) -> list[Finding]:
    if body.unsubscribable:
        findings = [] if base.startswith("https://") else [message_finding("unsubscribe_not_https", "/unsubscribable")]
        if is_marketing and not report.content.has_unsubscribe_link:
            findings.append(message_finding("unsubscribe_link_missing", "/html"))
        return findings
    headers = {name.lower(): value for name, value in body.headers}
    has_link = report.content.has_unsubscribe_link
    return list(inspect_unsubscribing(headers, is_marketing=is_marketing, has_link=has_link))


def _shown_url_findings(links: Sequence[InspectedLink], tracking_base: str | None) -> list[Finding]:
    """The links whose text shows another domain than the one to which they lead, directly or by click tracking."""
    other: list[str] = []
    tracked: list[str] = []
    for link in links:
        if link.shown is None:
            continue
        if shows_other_domain(link.shown, link.url):
            other.append(f"{link.shown} → {link.url}")
        elif tracking_base and link.is_tracked and shows_other_domain(link.shown, tracking_base):
            tracked.append(link.shown)
    findings: list[Finding] = []
    if other:
        findings.append(message_finding("link_text_differs", "/html", other))
    if tracked:
        findings.append(message_finding("link_text_tracked", "/html", tracked, host=tracking_base))
    return findings


async def _open_links(call: Call, urls: Sequence[str]) -> tuple[list[Finding], int]:
    """Open links with GET requests; returns the findings and the number of links that were opened."""
    slots = asyncio.Semaphore(LINKS_AT_ONCE)
    broken: list[str] = []
    refused: list[str] = []
    opened: set[str] = set()

    async def open_link(url: str) -> None:
        async with slots:
            outcome = await call.world.outbound.get(url, keep=LINK_OCTETS)
        opened.add(url)
        match outcome:
            case OutboundResponse(status=status) if status in (404, 410) or status >= 500:
                broken.append(f"HTTP {status}: {url}")
            case OutboundResponse(status=status) if status >= 400:
                refused.append(f"HTTP {status}: {url}")
            case OutboundFailed(kind="timeout"):
                refused.append(f"{outcome.reason} {url}")
            case OutboundFailed() | OutboundRefused():
                broken.append(f"{outcome.reason} {url}")
            case _:
                pass

    tasks = [asyncio.create_task(open_link(url)) for url in urls[:LINKS_OPENED]]
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=LINKS_TIMEOUT.total_seconds())
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    findings: list[Finding] = []
    if broken:
        findings.append(message_finding("link_broken", "/html", broken))
    if refused:
        findings.append(message_finding("link_refused", "/html", refused))
    if unopened := [url for url in urls if url not in opened]:
        findings.append(message_finding("link_unchecked", "/html", unopened, limit=len(opened)))
    return findings, len(opened)


async def sender_findings(call: Call, sender: Address, *, is_marketing: bool | None) -> list[Finding]:
    """Whether the message would be authenticated for the sender's domain, by the DNS records as they are now, and what
    limits the marketing mail of the domain."""
    world, findings = call.world, list[Finding]()
    domain = await domains.sending_domain(call.db, call.project_id, sender.domain)
    if domain is None or not domain.may_send:
        (is_single,) = await senders.verified_senders_all(world, [(call.project_id, sender.spec)])
        if not is_single:
            findings.append(message_finding("domain_not_verified", "/from", [sender.domain]))
    try:
        async with asyncio.timeout(DNS_TIMEOUT.total_seconds()):
            findings += await _authentication_findings(call, sender, domain)
    except DnsUnavailable as error:
        findings.append(domain_finding("dns_unavailable", sender.domain, reason=error))
    except TimeoutError:
        findings.append(domain_finding("dns_unavailable", sender.domain, reason="The lookups took too long."))
    if domain is not None and is_marketing:
        findings += await _limit_findings(call, domain.id)
    return findings


async def _limit_findings(call: Call, domain_id: UUID) -> list[Finding]:
    """What limits the marketing mail of a domain: its rates of bounces and complaints, and its warm-up plan."""
    status = await limit_status(call.db, call.project_id, domain_id)
    findings: list[Finding] = []
    if status.state != "HEALTHY":
        findings.append(message_finding(f"reputation_{status.state.lower()}", "/from", reason=status.reason))
    if status.ceiling is not None:
        findings.append(message_finding("warm_up_active", "/from", limit=f"{status.ceiling:,}"))
    return findings


async def _authentication_findings(call: Call, sender: Address, domain: domains.SendingDomain | None) -> list[Finding]:
    """The findings in the domain's records, and whether SPF and DKIM count for the sender's domain (RFC 9989 §4.4).

    Raises DnsUnavailable.
    """
    world = call.world
    checked = await domains.check_now(world, call.project_id, domain.id) if domain else None
    dmarc_findings, policy = await inspect_dmarc(world.resolver, sender.domain)
    findings = list(checked.findings if checked else dmarc_findings)
    findings = [finding for finding in findings if finding.severity != "ADVICE"]
    # Verdicts are None if the lookup failed; then nothing is reported about the record here.
    has_dkim = checked.verdict("DKIM") if checked and domain and domain.may_send else False
    envelope_domain = world.settings.return_path_domain or sender.domain
    if envelope_domain != sender.domain:  # Receivers look up SPF for the envelope sender only.
        findings = [finding for finding in findings if not finding.code.startswith("spf_")]
    is_aligned = await _is_aligned(call, sender.domain, envelope_domain, policy)
    has_spf = checked.verdict("SPF") if checked and envelope_domain == sender.domain else False
    if has_dkim is False:
        findings.append(message_finding("dkim_not_aligned", "/from", [sender.domain]))
        if has_spf is False and policy is not None:
            findings.append(message_finding("dmarc_fails", "/from", [sender.domain], policy=policy.policy))
    if not is_aligned:
        findings.append(message_finding("spf_not_aligned", "/from", [sender.domain], domain=envelope_domain))
    return findings


async def _is_aligned(call: Call, from_domain: str, envelope_domain: str, policy: dmarc.DmarcDiscovery | None) -> bool:
    """Whether SPF of the envelope sender counts for the sender's domain. Raises DnsUnavailable."""
    if envelope_domain == from_domain:
        return True
    if policy is not None and policy.record.aspf is dmarc.Alignment.STRICT:
        return False
    resolver = call.world.resolver
    organizations = [
        dmarc.organizational_domain(name, await dmarc.walk(resolver, name)) for name in (from_domain, envelope_domain)
    ]
    return organizations[0] == organizations[1]
