"""Every public method of the Python package `resend`, called in an order in which each can work."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

import resend

UNKNOWN = str(uuid4())
"""An id that no record has, for methods that answer 501 before they look for a record."""


def all_methods() -> dict[str, Any]:
    """The public methods of the package by name, such as `Emails.send`; those of coroutines end with `_async`."""
    methods: dict[str, Any] = {}

    def collect(kind: type, prefix: str) -> None:
        for name, value in vars(kind).items():
            if name.startswith("_"):
                continue
            if isinstance(value, classmethod | staticmethod):
                methods[f"{prefix}.{name}"] = getattr(kind, name)
            elif isinstance(value, type) and value.__module__.startswith("resend"):
                collect(value, f"{prefix}.{name}")

    for name in resend.__all__:
        kind = getattr(resend, name)
        if inspect.isclass(kind) and name != "Request" and not issubclass(kind, BaseException):
            collect(kind, name)
    return methods


class Recorder:
    """Calls methods by name and records the result or the error of the last call of each."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
        self.results: dict[str, Any] = {}

    def __call__(self, name: str, *args: Any, **kwargs: Any) -> Any:
        try:
            self.results[name] = self._call(name, *args, **kwargs)
        except resend.exceptions.ResendError as error:
            self.results[name] = error
        return self.results[name]

    def all(self, names: Iterable[str], *args: Any) -> None:
        """Call several methods with the same arguments."""
        for name in names:
            self(name, *args)


def call_everything(
    call: Recorder, domain: str, hook_url: str, publish: Callable[[list[Any]], None], deliver: Callable[[str], None]
) -> None:
    """Call every method. `publish` publishes DNS records; `deliver` waits until a webhook has got a delivery."""
    created = call("Domains.create", {"name": domain, "region": "us-east-1"})
    publish(created["records"])
    call("Domains.verify", created["id"])
    call("Domains.get", created["id"])
    call("Domains.list", {"limit": 5})
    call("Domains.update", {"id": created["id"], "open_tracking": True})
    webhook = call("Webhooks.create", {"endpoint": hook_url, "events": ["email.sent", "email.delivery_delayed"]})
    _emails(call, domain)
    deliver(webhook["id"])
    _webhooks(call, webhook["id"])
    _contacts(call)
    _templates(call, domain)
    _broadcasts(call, domain)
    _suppressions(call)
    _not_offered(call)
    call("Domains.remove", call("Domains.create", {"name": f"second.{domain}"})["id"])


def _emails(call: Recorder, domain: str) -> None:
    email = {
        "from": f"Acme <hello@{domain}>",
        "to": "ada@example.com",
        "cc": ["bob@example.com"],
        "reply_to": "support@example.com",
        "subject": "Hello {{name}}",
        "html": "<p>Hello {{name}}</p>",
        "text": "Hello {{name}}",
        "headers": {"X-Entity-Ref-ID": "123"},
        "tags": [{"name": "category", "value": "confirm_email"}],
        "attachments": [{"filename": "a.txt", "content": list(b"hello")}],
    }
    sent = call("Emails.send", email, {"idempotency_key": f"key-{domain}"})
    again = call("Emails.send", email, {"idempotency_key": f"key-{domain}"})
    assert again["id"] == sent["id"]
    call("Emails.get", sent["id"])
    for prefix in ("Emails.Attachments", "EmailAttachments"):
        attachments = call(f"{prefix}.list", sent["id"])
        call(f"{prefix}.get", sent["id"], attachments["data"][0]["id"])
    later = call("Emails.send", {**email, "scheduled_at": "in 1 hour"})
    call("Emails.update", {"id": later["id"], "scheduled_at": "tomorrow at 9am"})
    call("Emails.cancel", later["id"])
    call("Batch.send", [email, {**email, "subject": "Second"}], {"batch_validation": "permissive"})
    call("Emails.list", {"limit": 2})
    call("Emails.share", sent["id"])
    call("Emails.metrics")


def _webhooks(call: Recorder, webhook_id: str) -> None:
    call("Webhooks.get", webhook_id)
    call("Webhooks.list")
    events = call("Webhooks.list_events", webhook_id)
    event_id = events["data"][0]["id"]
    call("Webhooks.get_event", webhook_id, event_id)
    call("Webhooks.list_event_attempts", webhook_id, event_id)
    call("Webhooks.replay_event", webhook_id, event_id)
    call("Webhooks.update", {"webhook_id": webhook_id, "events": ["email.bounced", "email.failed"]})
    call("Webhooks.rotate_signing_secret", webhook_id)
    call("Webhooks.remove", webhook_id)


def _contacts(call: Recorder) -> None:
    segment = call("Segments.create", {"name": "Registered"})
    call("Segments.update", segment["id"], {"name": "Registered users"})
    call("Segments.get", segment["id"])
    call("Segments.list")
    audience = call("Audiences.create", {"name": "Former"})
    call("Audiences.get", audience["id"])
    call("Audiences.list")
    person = {"first_name": "Steve", "last_name": "Wozniak", "unsubscribed": False}
    address = f"steve-{uuid4().hex[:8]}@example.com"
    new = {"email": address, **person, "properties": {"plan": "pro"}, "segments": [{"id": segment["id"]}]}
    contact = call("Contacts.create", new)
    in_audience = call("Contacts.create", {"email": f"x-{address}", "audience_id": audience["id"]})
    assert call("Contacts.get", email=address)["properties"] == {"plan": "pro"}
    assert call("Contacts.get", id=in_audience["id"], audience_id=audience["id"])["id"] == in_audience["id"]
    call("Contacts.update", {"id": contact["id"], "first_name": "Stephen", "unsubscribed": True})
    assert call("Contacts.list", segment_id=segment["id"])["data"][0]["first_name"] == "Stephen"
    assert call("Contacts.list", audience_id=audience["id"])["data"][0]["id"] == in_audience["id"]
    assert len(call("Contacts.list", params={"limit": 1})["data"]) == 1
    for prefix in ("ContactSegments", "Contacts.Segments"):
        membership = {"contact_id": contact["id"], "segment_id": audience["id"]}
        call(f"{prefix}.add", membership)
        assert len(call(f"{prefix}.list", {"contact_id": contact["id"]})["data"]) == 2
        call(f"{prefix}.remove", membership)
    declared = call("ContactProperties.create", {"key": f"key_{uuid4().hex[:8]}", "type": "string"})
    call("ContactProperties.get", declared["id"])
    call("ContactProperties.list")
    call("ContactProperties.update", {"id": declared["id"], "fallback_value": "x"})
    call("ContactProperties.remove", declared["id"])
    call("Events.send", {"event": "user.created", "contact_id": contact["id"], "payload": {"plan": "pro"}})
    call("Contacts.remove", id=in_audience["id"], audience_id=audience["id"])
    call("Contacts.remove", id=contact["id"])
    call("Audiences.remove", audience["id"])
    call("Segments.remove", segment["id"])


def _templates(call: Recorder, domain: str) -> None:
    html = "<p>{{{NAME}}}, buy {{{PRODUCT|nothing}}} {% raw %}</p>"
    variables = [{"key": "NAME", "type": "string", "fallback_value": "friend"}]
    template = call("Templates.create", {"name": "Order", "subject": "Order", "html": html, "variables": variables})
    call("Templates.publish", template["id"])
    call("Templates.update", {"id": template["id"], "name": "Orders"})
    assert call("Templates.get", template["id"])["html"] == html.replace("{{{NAME}}}", "{{{NAME|friend}}}")
    call("Templates.list")
    values = {"id": template["id"], "variables": {"PRODUCT": "<tea>"}}
    sent = call("Emails.send", {"from": f"hello@{domain}", "to": "ada@example.com", "template": values})
    sent_html = call("Emails.get", sent["id"])["html"]
    assert "<p>friend, buy &lt;tea&gt; {% raw %}</p>" in sent_html
    call("Templates.remove", call("Templates.duplicate", template["id"])["id"])


def _broadcasts(call: Recorder, domain: str) -> None:
    segment = call("Segments.create", {"name": "Readers"})
    call("Contacts.create", {"email": f"reader@{domain}", "first_name": "Rea", "segments": [{"id": segment["id"]}]})
    html = 'Hi {{{FIRST_NAME|there}}}, <a href="{{{RESEND_UNSUBSCRIBE_URL}}}">unsubscribe</a>'
    new = {"segment_id": segment["id"], "from": f"Acme <hello@{domain}>", "subject": "News", "html": html}
    broadcast = call("Broadcasts.create", new)
    call("Broadcasts.update", {"broadcast_id": broadcast["id"], "subject": "News for {{{FIRST_NAME|you}}}"})
    assert call("Broadcasts.get", broadcast["id"])["html"] == html
    call("Broadcasts.list")
    copy = call("Broadcasts.duplicate", broadcast["id"])
    call("Broadcasts.send", {"broadcast_id": copy["id"], "scheduled_at": "in 2 hours"})
    call("Broadcasts.cancel", copy["id"])
    call("Broadcasts.remove", call("Broadcasts.create", new)["id"])
    call("Broadcasts.recipients", broadcast["id"], {"type": "opened"})
    call("Broadcasts.clicked_links", broadcast["id"])
    call("Broadcasts.send", {"broadcast_id": broadcast["id"]})


def _suppressions(call: Recorder) -> None:
    address = f"suppressed-{uuid4().hex[:8]}@example.com"
    suppression = call("Suppressions.add", {"email": address})
    assert call("Suppressions.get", address)["id"] == suppression["id"]
    assert call("Suppressions.get", suppression["id"])["email"] == address
    call("Suppressions.list", {"origin": "manual"})
    call("Suppressions.remove", suppression["id"])
    call("SuppressionsBatch.add", {"emails": [address]})
    assert len(call("SuppressionsBatch.remove", {"emails": [address, "x@example.com"]})["data"]) == 1


def _not_offered(call: Recorder) -> None:
    """The methods for which Postern has nothing: they answer 501."""
    inbox = {"inbox_id": UNKNOWN, "id": UNKNOWN, "thread_id": UNKNOWN, "email_id": UNKNOWN, "labels": ["x"]}
    call("ApiKeys.create", {"name": "Production"})
    call("ApiKeys.update", {"id": UNKNOWN, "name": "Production"})
    call.all(["ApiKeys.list", "Usage.get", "Logs.list", "OAuthGrants.list", "Inboxes.list"])
    call.all(["Automations.list", "Events.list", "Topics.list", "ContactImports.list"])
    call.all(["ApiKeys.remove", "Logs.get", "OAuthGrants.revoke", "Topics.get", "Topics.remove"], UNKNOWN)
    call.all(["Events.get", "Events.remove", "ContactImports.get", "DomainClaims.get", "DomainClaims.verify"], UNKNOWN)
    for name in ("get", "remove", "stop", "duplicate", "Runs.list"):
        call(f"Automations.{name}", UNKNOWN)
    call("Automations.Runs.get", UNKNOWN, UNKNOWN)
    call("Automations.create", {"name": "Welcome", "steps": [], "connections": []})
    call("Automations.update", {"automation_id": UNKNOWN, "status": "disabled"})
    call("Events.create", {"name": "user.created"})
    call("Events.update", {"identifier": "user.created", "schema": {}})
    call("Topics.create", {"name": "News", "default_subscription": "opt_in"})
    call("Topics.update", UNKNOWN, {"name": "News"})
    call("ContactImports.create", {"file": b"email\n"})
    call("DomainClaims.create", {"name": "acme.example"})
    for prefix in ("Contacts.Topics", "ContactsTopics"):
        call(f"{prefix}.list", contact_id=UNKNOWN)
        call(f"{prefix}.update", {"id": UNKNOWN, "topics": []})
    for prefix in ("Emails.Receiving", "EmailsReceiving"):
        call(f"{prefix}.list")
        call(f"{prefix}.get", UNKNOWN)
        call(f"{prefix}.Attachments.list", UNKNOWN)
        call(f"{prefix}.Attachments.get", UNKNOWN, UNKNOWN)
    call("Inboxes.create", {"email_address": "a@acme.example"})
    call("Inboxes.update", inbox)
    call.all(["Inboxes.get", "Inboxes.remove", "InboxAgent.get", "InboxLabels.list", "InboxDrafts.list"], UNKNOWN)
    call.all(["InboxThreads.list", "InboxThreads.search"], UNKNOWN)
    call.all(["InboxAgent.update", "InboxLabels.create", "InboxLabels.update", "InboxDrafts.create"], inbox)
    call.all(["InboxDrafts.update", "InboxThreads.update", "InboxThreadEmails.forward"], inbox)
    call.all(["InboxThreadEmails.reply", "InboxThreadLabels.add", "InboxThreadLabels.set"], inbox)
    call.all(["InboxLabels.remove", "InboxDrafts.get", "InboxDrafts.remove", "InboxDrafts.send"], UNKNOWN, UNKNOWN)
    call.all(["InboxThreads.get", "InboxThreads.remove", "InboxThreadEmails.list"], UNKNOWN, UNKNOWN)
    call.all(["InboxThreadEmails.get", "InboxThreadLabels.remove"], UNKNOWN, UNKNOWN, UNKNOWN)
