"""HTTP operations of reports about e-mail, and of messages that were not understood."""

import asyncio
from uuid import UUID

from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest, get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.http.responses import HttpResponse
from postern.messaging.emails import engagement
from postern.messaging.emails.signals import SendInTransmission
from postern.messaging.inbound import rules, store
from postern.messaging.inbound.model import MAX_REPORT_OCTETS, ReportMissing, ReportReceipt, UnrecognizedMessage
from postern.messaging.inbound.receiving import ReportAbout, keep_message, process_reports
from postern.protocols.mail.arf import ComplaintReport
from postern.protocols.mail.dsn import DeliveryReport
from postern.protocols.mail.reports import envelope_addresses, original_message_ids, read_report

NO_SEND = "The message names no e-mail of this project."


@post(
    "/projects/{project_id}/inbound/reports",
    needs="emails:write",
    body_limit=MAX_REPORT_OCTETS,
    takes="message/rfc822",
    problems=[SendInTransmission],
)
async def receive_report(call: Call, request: RawRequest) -> ReportReceipt:
    """Process a bounce or a complaint that another mail server received: the body is the message (RFC 5322).

    The e-mail is found by its return path, which is in the addresses of the message or in the original message, or
    else by its `Message-ID`. A message that is not understood, or names no e-mail of the project, is kept for 30 days.
    Repeating the same report changes nothing.
    """
    content = await request.body()
    if not content:
        raise Invalid.at("", "The body is missing: send the message.", "required")
    report = await asyncio.to_thread(read_report, content)
    send_ids = rules.named_sends(call.world, envelope_addresses(content))
    if isinstance(report, DeliveryReport | ComplaintReport):
        send_ids += [*rules.sends_of_original(call.world, report), *original_message_ids(report)]
    async with call.db.transaction() as tx:
        sends = {send.id: send for send in await engagement.tracked_sends(tx, send_ids)}
        named = [sends[send_id] for send_id in send_ids if send_id in sends]
        own_send = next((send for send in named if send.project_id == call.project_id), None)
        if own_send is not None:
            report_about_send = ReportAbout(own_send, report, content)
            (receipt,) = await process_reports(tx, [report_about_send], source="api", now=call.now)
        else:
            reason = getattr(report, "reason", NO_SEND)
            receipt = await keep_message(tx, call.project_id, None, reason, content, source="api", now=call.now)
    return receipt


@get("/projects/{project_id}/inbound/reports", needs="emails:read")
async def list_unrecognized_reports(
    call: Call, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[UnrecognizedMessage]:
    """List the messages about e-mail that were not understood, newest first: at most 100, of the last 30 days."""
    return await newest_first(call, "unrecognized-reports", cursor, limit, store.messages)


@get(
    "/projects/{project_id}/inbound/reports/{id}/message",
    needs="emails:read",
    problems=[ReportMissing],
    media_types=["message/rfc822"],
)
async def get_unrecognized_report(call: Call, id: UUID) -> HttpResponse:
    """Download a message that was not understood as an `.eml` file: its first 262,144 octets."""
    content = require_found(await store.message(call.db, project_id=call.project_id, id=id), ReportMissing)
    headers = {"Content-Disposition": f'attachment; filename="{id}.eml"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(content, media_type="message/rfc822", headers=headers)
