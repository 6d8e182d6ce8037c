"""The operation of SendGrid's API: send."""

import asyncio
from functools import partial
from typing import Annotated

from postern.compat.sendgrid.errors import SENDGRID
from postern.compat.sendgrid.model import SendGridMail
from postern.compat.sendgrid.rules import emails_of, is_sandbox, path_in_request, require_valid, template_id_of
from postern.kernel.http.call import Call
from postern.kernel.http.idempotency import IdempotencyHeader
from postern.kernel.http.operation import HeaderParameter, post
from postern.kernel.http.problems import Invalid, Problem
from postern.kernel.http.responses import HttpResponse
from postern.messaging.emails import operations as emails
from postern.messaging.emails.model import SINGLE_BYTES, Email
from postern.messaging.emails.submission import SubmissionContext, parse_key, stored_response
from postern.messaging.templates import operations as templates
from postern.messaging.templates.model import TemplateContent

IDEMPOTENCY_ROUTE = "compat/sendgrid"
MESSAGE_ID = "X-Message-Id"


@post("/v3/mail/send", needs="emails:send", status=202, body_limit=SINGLE_BYTES, compatible_api=SENDGRID)
async def send_sendgrid_mail(
    call: Call,
    data: SendGridMail,
    idempotency_key: IdempotencyHeader = None,
    on_behalf_of: Annotated[str | None, HeaderParameter("On-Behalf-Of")] = None,
) -> HttpResponse:
    """Send a message for each personalization: all of them, or none if one is not accepted.

    The response 202 means that the messages are stored and will be sent; its `X-Message-Id` is the id of the first
    message. With sandbox mode the response is 200, and nothing is sent. An `Idempotency-Key` works as for
    `POST /emails`. A request with `On-Behalf-Of` is refused, because there are no subusers.
    """
    if on_behalf_of is not None:
        message = "There are no subusers here. Use a key of the project that sends."
        raise Invalid.at("header/On-Behalf-Of", message, "not_offered")
    key = parse_key(call, IDEMPOTENCY_ROUTE, idempotency_key, data)
    response: dict[str, str] = {}
    try:
        batch = await _check(call, data)
        if is_sandbox(data):
            return HttpResponse(b"", status=200)
        response = {MESSAGE_ID: str(batch.sends[0].send.id)}
        stored = await emails.commit_batch(call, batch, key, (202, response))
    except Problem:
        # A repeated request gets its first response, even if its template or domain was deleted since.
        stored = key and await stored_response(call, key)
        if not stored:
            raise
    return HttpResponse(b"", status=202, headers=stored.response if stored else response)


async def _check(call: Call, data: SendGridMail) -> emails.CheckedBatch:
    """The messages, ready to be committed. Raises the first problem, with its location in the request."""
    require_valid(data)
    context = SubmissionContext()
    items: list[Email | Problem] = []
    for email in emails_of(data, await _template(call, data, context)):
        items.append(email)
        await asyncio.sleep(0)  # Other requests are served between two messages.
    batch = await emails.check_batch(call, items, context)
    for index, result in enumerate(batch.results):
        if isinstance(result, Problem):
            raise result.relocated(partial(path_in_request, data, index))
    return batch


async def _template(call: Call, mail: SendGridMail, context: SubmissionContext) -> TemplateContent | None:
    """The content of the template, which is also stored in `context` for the later checks; None without a template.
    Raises Invalid for an unknown template."""
    template_id = template_id_of(mail)
    if template_id is None:
        return None
    content = await templates.get_content(call.db, call.project_id, template_id)
    if content is None:
        # The first sentence is SendGrid's.
        message = (
            f"The template_id must be a valid GUID, you provided '{(mail.template_id or '')[:100]}'. Use the id of a "
            "template of this project, with or without `d-` before it."
        )
        raise Invalid.at("/template_id", message, "template_missing")
    context.templates[template_id] = content
    return content
