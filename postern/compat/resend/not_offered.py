"""The operations of Resend's API that Postern does not have. They respond with 501 and what to use instead."""

from typing import Any

from postern.compat.resend.errors import RESEND
from postern.kernel.http.call import Call
from postern.kernel.http.compatible_api import NotOffered
from postern.kernel.http.operation import Operation, operation

API_KEYS = "API keys are created and deleted with a developer's token, never with a secret key."
RECEIVING = "Received mail is not in this API: read it with GET …/inbound of our API."
SHARE = "E-mails cannot be shared by link: read the message with GET …/emails/logs/{id}/message of our API."
METRICS = "Read the statistics with GET …/analytics of our API."
DOMAIN_UPDATE = "Domains have no settings: tracking and TLS are settings of the project."
DOMAIN_CLAIMS = "Domains need no claim: the DKIM record proves who owns a domain, and several projects can have it."
TOPICS = "Postern has no topics: use segments, and their unsubscribe links."
IMPORTS = "Import contacts with POST …/contacts/import of our API, which takes a CSV file."
PROPERTY_UPDATE = "Properties have no fallback value: write it into the template, as `{{{plan|free}}}`."
RECIPIENTS = "Read the sends of a broadcast with GET …/campaigns/{id}/sends of our API."
CLICKED_LINKS = "Clicked links are in the events `email.clicked`: subscribe a webhook."
EVENTS = "Events need no declaration: send them with /events/send."
AUTOMATIONS = "Automations have other steps here: create them with our API."
LOGS = "Requests to the API are not stored: the log of e-mails is at /emails."
OAUTH = "Postern grants no access to its API by OAuth."
INBOXES = "This API has no inboxes: read received mail with GET …/inbound of our API."
USAGE = "Read the usage with GET /account/auth-billing of our API."

_CRUD = (("POST", ""), ("GET", ""), ("GET", "/{id}"), ("PATCH", "/{id}"), ("DELETE", "/{id}"))
_INBOX = "/inboxes/{inbox_id}"
_THREAD = f"{_INBOX}/threads/{{thread_id}}"

PATHS: dict[str, list[tuple[str, str]]] = {
    API_KEYS: [("POST", "/api-keys"), ("GET", "/api-keys"), ("PATCH", "/api-keys/{id}"), ("DELETE", "/api-keys/{id}")],
    RECEIVING: [
        ("GET", "/emails/receiving"),
        ("GET", "/emails/receiving/{id}"),
        ("GET", "/emails/receiving/{id}/attachments"),
        ("GET", "/emails/receiving/{id}/attachments/{attachment_id}"),
    ],
    SHARE: [("POST", "/emails/{id}/share")],
    METRICS: [("GET", "/emails/metrics")],
    DOMAIN_UPDATE: [("PATCH", "/domains/{id}")],
    DOMAIN_CLAIMS: [("POST", "/domains/claim"), ("GET", "/domains/{id}/claim"), ("POST", "/domains/{id}/claim/verify")],
    TOPICS: [
        *((method, f"/topics{path}") for method, path in _CRUD),
        ("GET", "/contacts/{id_or_email}/topics"),
        ("PATCH", "/contacts/{id_or_email}/topics"),
    ],
    IMPORTS: [("POST", "/contacts/imports"), ("GET", "/contacts/imports"), ("GET", "/contacts/imports/{id}")],
    PROPERTY_UPDATE: [("PATCH", "/contact-properties/{id}")],
    RECIPIENTS: [("GET", "/broadcasts/{id}/recipients")],
    CLICKED_LINKS: [("GET", "/broadcasts/{id}/clicked-links")],
    EVENTS: [(method, f"/events{path}") for method, path in _CRUD],
    AUTOMATIONS: [
        *((method, f"/automations{path}") for method, path in _CRUD),
        ("POST", "/automations/{id}/duplicate"),
        ("POST", "/automations/{id}/stop"),
        ("GET", "/automations/{id}/runs"),
        ("GET", "/automations/{id}/runs/{run_id}"),
    ],
    LOGS: [("GET", "/logs"), ("GET", "/logs/{id}")],
    OAUTH: [("GET", "/oauth/grants"), ("DELETE", "/oauth/grants/{id}")],
    USAGE: [("GET", "/usage")],
    INBOXES: [
        ("POST", "/inboxes"),
        ("GET", "/inboxes"),
        *((method, _INBOX) for method in ("GET", "PATCH", "DELETE")),
        *((method, f"{_INBOX}/agent") for method in ("GET", "PATCH")),
        *((method, f"{_INBOX}/labels") for method in ("GET", "POST")),
        *((method, f"{_INBOX}/labels/{{id}}") for method in ("PATCH", "DELETE")),
        *((method, f"{_INBOX}/drafts") for method in ("GET", "POST")),
        *((method, f"{_INBOX}/drafts/{{id}}") for method in ("GET", "PATCH", "DELETE")),
        ("POST", f"{_INBOX}/drafts/{{id}}/send"),
        ("GET", f"{_INBOX}/threads"),
        ("GET", f"{_INBOX}/threads/search"),
        *((method, _THREAD) for method in ("GET", "PATCH", "DELETE")),
        *((method, f"{_THREAD}/labels") for method in ("POST", "PUT")),
        ("DELETE", f"{_THREAD}/labels/{{id}}"),
        ("GET", f"{_THREAD}/emails"),
        ("GET", f"{_THREAD}/emails/{{id}}"),
        ("POST", f"{_THREAD}/emails/{{id}}/reply"),
        ("POST", f"{_THREAD}/emails/{{id}}/forward"),
    ],
}
"""The methods and paths that are not offered, keyed by the sentence of the response."""


def _not_offered(method: str, path: str, sentence: str) -> Operation[Any, Any]:
    async def resend_not_offered(call: Call) -> dict[str, Any]:
        """Answer 501 with a sentence."""
        raise NotOffered(sentence)

    return operation(method, path, compatible_api=RESEND)(resend_not_offered)


OPERATIONS = [_not_offered(method, path, sentence) for sentence, paths in PATHS.items() for method, path in paths]
"""The operations of these paths."""
