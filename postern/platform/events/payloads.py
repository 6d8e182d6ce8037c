"""The documentation of events: when Postern records each one, and the `data` that a webhook delivers with it.

The docstrings of the classes and fields are the descriptions in the OpenAPI document, under `webhooks`.
"""

from typing import Literal
from uuid import UUID

import msgspec

from postern.kernel.http.openapi import WebhookDoc
from postern.kernel.values import Moment, Record
from postern.platform.events.model import EventContact


class CommonEventData(Record):
    """Data of every event. If an event would be larger than 20 kB, it has only these fields."""

    id: UUID
    """Id of the record that the event is about."""
    project_id: UUID
    truncated: bool = False
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise."""


class CausedEventData(CommonEventData):
    """Data of events about customers, organizations, invitations and setup links."""

    test: bool = False
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
    then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
    `actorType` `TEST_KEY`."""


class ContactEventData(CommonEventData):
    """Data of events that can be about a contact."""

    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""


class EmailEventData(ContactEventData):
    """Data of events about an e-mail. `id` is the id of the e-mail."""

    email_id: UUID
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str = msgspec.field(name="from")
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: UUID | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: UUID | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: UUID | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: UUID | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""


class EmailScheduledData(EmailEventData):
    """Data of `email.scheduled`."""

    scheduled_at: Moment | None = None
    """The new time (UTC). Absent unless the e-mail was rescheduled."""


class EmailQueuedData(EmailEventData):
    """Data of `email.queued`."""

    retry: bool = False
    """True if a failed e-mail was queued again. Absent otherwise."""


class EmailReportData(EmailEventData):
    """Data of events that record the result of a delivery. The result is the reply of a mail server during an attempt,
    or comes later in a report."""

    source: str | None = None
    """Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of a
    mail service such as `ses`. Absent if the result is the reply of a mail server."""


class EmailDelayedData(EmailReportData):
    """Data of `email.delayed`."""

    reason: str
    """Why the last attempt did not succeed."""
    next_attempt_at: Moment | None
    """When Postern makes the next attempt (UTC); null if a mail server that has accepted the e-mail keeps trying."""


class EmailBouncedData(EmailReportData):
    """Data of `email.bounced`."""

    recipient: str
    """The address that refused the e-mail."""
    type: str
    """Cause of the refusal: `hard` (the recipient can never be reached), `soft` (not at present), `block` (bad
    reputation of the sender) or `policy` (the message violates a rule of the server)."""
    code: int | None
    """SMTP reply code (RFC 5321); null if unknown."""
    enhanced_code: str | None
    """Enhanced status code (RFC 3463), such as `5.1.1`; null if unknown."""
    text: str
    """Text of the receiving server's reply."""


class EmailComplainedData(EmailReportData):
    """Data of `email.complained`."""

    recipient: str | None = None
    """The recipient who complained; null if the report does not name one. Absent for the test
    address `complained@postern.test`."""
    feedback_type: str | None = None
    """The type of the complaint (RFC 5965), such as `abuse`."""


class EmailHitData(EmailEventData):
    """Data of `email.opened` and `email.clicked`."""

    verdict: str
    """`human`, `machine`, or `proxy`: the image proxy of a mail provider, when a person opened the e-mail."""
    reason: str | None
    """Why the verdict is `machine` or `proxy`, such as `too_soon`; null for `human`."""
    first: bool
    """Whether this is the first open (or click) of the e-mail."""
    first_by_person: bool
    """Whether this is the first open (or click) of the e-mail by a person: `human` or `proxy`."""
    ip_address: str
    """IP address of the client."""
    user_agent: str
    """User agent of the client."""


class EmailClickedData(EmailHitData):
    """Data of `email.clicked`."""

    link: str
    """URL of the link."""


class EmailReasonData(EmailEventData):
    """Data of `email.failed`, `email.suppressed`, `email.expired` and `email.cancelled`."""

    reason: str | None = None
    """Why the e-mail was not sent."""
    recipient: str | None = None
    """The recipient to whom it was not sent. Absent if the event is not about a single recipient."""


class EmailUnsubscribedData(EmailEventData):
    """Data of `email.unsubscribed`."""

    recipient: str
    """The address that was unsubscribed."""


class ContactChangedData(ContactEventData):
    """Data of events about a contact. `id` is the id of the contact."""

    email: str
    """Address of the contact."""
    changed: list[str] | None = None
    """Names of the fields that were changed."""
    unsubscribed: bool | None = None
    """Whether the contact is unsubscribed now. Absent if that was not changed."""
    email_id: UUID | None = None
    """Id of the e-mail from which the contact unsubscribed. Absent if the contact used none to unsubscribe."""
    send_id: str | None = None
    """The former name of `emailId`."""


class AudienceEventData(CommonEventData):
    """Data of events about an audience. `id` is the id of the audience."""

    name: str
    """Name of the audience."""


class AudienceRefilledData(AudienceEventData):
    """Data of `audience.refilled`."""

    added: int
    """Number of contacts that joined."""
    removed: int
    """Number of contacts that left."""


class AudienceMemberData(ContactEventData):
    """Data of `audience.joined` and `audience.left`."""

    audience_id: UUID
    """Id of the audience."""
    contact_id: UUID
    """Id of the contact."""


class CampaignEventData(CommonEventData):
    """Data of events about a campaign. `id` is the id of the campaign."""

    name: str
    """Name of the campaign."""


class CampaignScheduledData(CampaignEventData):
    """Data of `campaign.scheduled`."""

    scheduled_at: Moment
    """When it will be sent (UTC)."""


class CampaignStartedData(CampaignEventData):
    """Data of `campaign.started`."""

    testing: bool
    """Whether the campaign starts with an A/B test."""


class CampaignTestedData(CampaignEventData):
    """Data of `campaign.tested`."""

    winner_id: UUID
    """Id of the variant that is sent to the rest of the audience."""
    decided_by: str
    """How the variant was chosen: `rule` (by the metric of the test), `hand` (by a person), `cancelled` (the test was
    cancelled) or `too_small` (no test took place)."""
    reason: str | None = None
    """Why the test ended without a comparison. Absent otherwise."""


class CampaignSentData(CampaignEventData):
    """Data of `campaign.sent`."""

    total: int
    """Number of e-mails of the campaign."""
    retrying: int
    """Number of these e-mails that are still being retried."""


class CampaignFailedData(CampaignEventData):
    """Data of `campaign.failed`."""

    reason: str
    """Why the campaign failed."""
    total: int | None = None
    """Number of e-mails of the campaign. Absent if it failed before it started."""


class AutomationStartedData(ContactEventData):
    """Data of events about a run of an automation. `id` is the id of the run."""

    automation_id: UUID
    """Id of the automation."""
    contact_id: UUID | None
    """Id of the contact for whom the automation runs."""


class AutomationEndedData(AutomationStartedData):
    """Data of `automation.completed` and `automation.failed`."""

    status: str
    """How the run ended, such as `COMPLETED`, `CANCELLED` or `FAILED`."""
    error: str | None
    """Why the run failed or was cancelled; null if it completed."""


class InboundReceivedData(CommonEventData):
    """Data of `inbound.received`. `id` is the id of the received message."""

    message_id: str | None
    """The `Message-ID` of the message; null if it has none."""
    email_id: UUID | None
    """Id of the project's e-mail to which the message is a reply; null if it is not a reply to one."""
    from_: str = msgspec.field(name="from")
    """The first address in `From`; empty if there is none."""
    from_name: str
    """The display name of this address; empty if it has none."""
    to: list[str]
    """The first 20 addresses in `To`."""
    recipients: list[str]
    """The envelope recipients (RCPT TO) that match a route of the project, in lower case."""
    route_ids: list[UUID]
    """Ids of the routes that the recipients match."""
    tag: str | None
    """The part between `+` and `@` of the first recipient that has one: `a1` in `help+a1@example.com`. Null if none
    has one."""
    subject: str
    """The subject."""
    size: int
    """Size of the whole message in octets."""
    attachment_count: int
    """Number of attachments. `GET …/inbound/{id}` lists them."""
    automatic: bool
    """Whether a program and not a person sent the message. Do not reply to it automatically."""
    spf: str
    """The SPF result."""
    dkim: str
    """The DKIM result: `pass` if at least one signature is valid, whatever its domain."""
    dmarc: str
    """The DMARC result: whether the domain in `From` is authenticated."""
    hints: list[str]
    """Codes of properties of the message that are typical of unwanted mail."""
    reply_text: str | None
    """The plain text without the quoted message and the signature; null if the bodies are too large for an event."""
    text: str | None
    """The plain-text body; null if there is none, or if the bodies are too large for an event."""
    html: str | None
    """The HTML body as it arrived; null if there is none, or if the bodies are too large for an event."""


class DomainEventData(CommonEventData):
    """Data of events about a sending domain. `id` is the id of the domain."""

    domain: str
    """Name of the domain."""


class DomainCertificateData(DomainEventData):
    """Data of `domain.certificate_issued` and `domain.certificate_failed`."""

    name: str
    """The host name of the certificate."""
    expires_at: Moment | None
    """When the certificate that the server uses at present expires (UTC); null if it has none."""


class DomainCertificateFailedData(DomainCertificateData):
    """Data of `domain.certificate_failed`."""

    problem: str
    """Why the last attempt to obtain a certificate failed."""


class DomainListedData(DomainEventData):
    """Data of `domain.blocklisted` and `domain.delisted`."""

    list_name: str
    """Name of the blocklist."""
    subject_value: str
    """The domain or IP address that is or was on the blocklist."""
    codes: list[str]
    """The addresses with which the blocklist replied, such as `127.0.0.2`."""


class DomainReputationData(DomainEventData):
    """Data of events about the bounce rate and complaint rate of a sending domain."""

    reason: str | None
    """A sentence that names the rate that is or was above a threshold, with its numbers."""
    messages: int
    """Number of messages from which the rates are calculated."""
    bounced: int
    """How many of these messages had a hard bounce."""
    complained: int
    """How many of these messages a recipient reported as spam."""
    bounce_rate: float
    """Share of the messages with a hard bounce, from 0 to 1."""
    complaint_rate: float
    """Share of the messages that were reported as spam, from 0 to 1."""
    bounce_limit: float
    """The bounce rate from which marketing mail is held, from 0 to 1."""
    complaint_limit: float
    """The complaint rate from which marketing mail is held, from 0 to 1."""


class DomainWarmUpData(DomainEventData):
    """Data of `domain.warm_up_started` and `domain.warm_up_ended`."""

    status: str
    """ACTIVE, COMPLETED, or CANCELLED if the plan was deleted."""
    ceiling: int
    """Maximum number of messages on the current day."""
    last_ceiling: int
    """Maximum number of messages on the last day of the plan."""


class SenderEventData(CommonEventData):
    """Data of events about a single sender. `id` is the id of the sender."""

    email: str
    """Address of the sender."""


class CustomerSignedUpData(CausedEventData):
    """Data of `customer.signed_up`. `id` is the id of the customer."""

    method: str
    """How the customer signed up: a sign-in method or an identity provider; `API` if your application created the
    customer, `IMPORT` if the customer came from another system."""


class CustomerSignedInData(CausedEventData):
    """Data of `customer.signed_in`. `id` is the id of the customer."""

    session_id: UUID
    """Id of the session."""
    methods: list[str]
    """Authentication methods (`amr`, RFC 8176)."""
    ip_address: str | None
    """IP address of the customer."""
    user_agent: str | None
    """User agent of the customer."""
    via: str | None = None
    """The single sign-on connection with which the customer signed in. Absent for other methods."""


class CustomerSteppedUpData(CausedEventData):
    """Data of `customer.stepped_up`. `id` is the id of the customer."""

    session_id: UUID
    """Id of the session."""
    methods: list[str]
    """The authentication methods that were used now (`amr`, RFC 8176)."""
    acr: str
    """How strong the authentication of the session is since then: the claim `acr`."""
    ip_address: str | None
    """IP address of the customer."""


class CustomerTermsAcceptedData(CausedEventData):
    """Data of `customer.terms_accepted`. `id` is the id of the customer."""

    version: str
    """The version of the terms."""
    ip_address: str | None
    """IP address of the customer."""
    user_agent: str | None
    """User agent of the customer."""


class CustomerAttemptData(CausedEventData):
    """Data of `customer.sign_in_failed` and `customer.locked`. `id` is the id of the customer."""

    method: str
    """The authentication method."""
    ip_address: str | None
    """IP address of the client."""


class CustomerSessionData(CausedEventData):
    """Data of events about a session. `id` is the id of the customer."""

    session_id: UUID
    """Id of the session."""
    reason: str | None = None
    """Why Postern ended the session, such as `REFRESH_TOKEN_REUSED`, or `DEPROVISIONED` by a directory. Absent if the
    customer or your application ended it."""


class CustomerEmailVerifiedData(CausedEventData):
    """Data of `customer.email_verified`. `id` is the id of the customer."""

    changed: bool
    """True if this is a new address of the customer; false if the existing address was verified."""
    provider: str | None = None
    """The identity provider that verified the address. Absent if Postern verified it."""


class CustomerFactorData(CausedEventData):
    """Data of events about a second factor. `id` is the id of the customer."""

    method: str
    """The second factor."""


class CustomerPasskeyAddedData(CausedEventData):
    """Data of `customer.passkey_added`. `id` is the id of the customer."""

    passkey_id: UUID
    """Id of the passkey."""
    name: str
    """Name of the passkey."""


class CustomerPasskeyRemovedData(CausedEventData):
    """Data of `customer.passkey_removed`. `id` is the id of the customer."""

    passkey_id: UUID
    """Id of the passkey."""


class CustomerBannedData(CausedEventData):
    """Data of `customer.banned`. `id` is the id of the customer."""

    reason: str | None
    """The reason that was given."""


class CustomerUpdatedData(CausedEventData):
    """Data of `customer.updated`. `id` is the id of the customer."""

    changed: list[str]
    """Names of the fields that were changed."""


class CustomerMetadataUpdatedData(CausedEventData):
    """Data of `customer.metadata_updated`. `id` is the id of the customer."""

    keys: list[str]
    """Keys that were set or removed."""


class CustomerRolesUpdatedData(CausedEventData):
    """Data of `customer.roles_updated`. `id` is the id of the customer."""

    roles: list[str]
    """The roles that the customer has now."""


class CustomerLinkedData(CausedEventData):
    """Data of `customer.linked`. `id` is the id of the customer."""

    merged_customer_id: UUID | None
    """Id of the customer that was merged into this one; null if none was merged."""
    provider: str | None = None
    """The identity provider whose account was linked. Absent if none was linked."""


class CustomerProviderData(CausedEventData):
    """Data of `customer.unlinked` and `customer.identity_held`. `id` is the id of the customer."""

    provider: str
    """The identity provider of the account."""


class CustomerMailFailedData(CausedEventData):
    """Data of `customer.mail_failed`. `id` is the id of the customer."""

    kind: str
    """What the e-mail is for, such as `CODE`."""
    code: str
    """Code of the problem, as in error responses."""
    reason: str
    """Why the e-mail could not be sent."""


class CustomerMailTextFailedData(CausedEventData):
    """Data of `customer.mail_text_failed`. `id` is the id of the customer."""

    kind: str
    """What the e-mail is for, such as `CODE`."""
    language: str
    """The language of the text, such as `de`."""
    code: str
    """Code of the problem, as in error responses."""
    reason: str
    """Why the text could not be used."""


class OrganizationEventData(CausedEventData):
    """Data of `organization.created` and `organization.deleted`. `id` is the id of the organization."""

    name: str
    """Name of the organization."""
    external_id: str | None
    """Id of the organization in your own system."""


class OrganizationUpdatedData(CausedEventData):
    """Data of `organization.updated`. If a member's roles were changed, it has `customerId` and `roles`; otherwise the
    fields of the organization. `id` is the id of the organization."""

    name: str | None = None
    """Name of the organization."""
    status: str | None = None
    """Status of the organization."""
    require_sso: bool | None = None
    """Whether members must use single sign-on."""
    require_mfa: bool | None = None
    """Whether members need a second factor."""
    allowed_methods: list[str] | None = None
    """Methods by which members can sign in; null for all."""
    session_lifetime_minutes: int | None = None
    """How long sessions of members last; null for the default."""
    session_idle_minutes: int | None = None
    """How long sessions of members last without use; null for the default."""
    customer_id: UUID | None = None
    """Id of the member whose roles were changed."""
    roles: list[str] | None = None
    """The roles that the member has now."""


class OrganizationMemberAddedData(CausedEventData):
    """Data of `organization.member_added`. `id` is the id of the organization."""

    customer_id: UUID
    """Id of the customer."""
    roles: list[str]
    """Roles of the member."""
    source: str
    """How the customer became a member: `API`, `INVITATION`, `DOMAIN`, `SSO` or `SCIM`."""


class OrganizationMemberRemovedData(CausedEventData):
    """Data of `organization.member_removed`. `id` is the id of the organization."""

    customer_id: UUID
    """Id of the customer."""


class OrganizationDomainData(CausedEventData):
    """Data of `organization.domain_verified` and `organization.domain_lapsed`. `id` is the id of the organization."""

    domain: str
    """Name of the domain."""
    domain_id: UUID
    """Id of the domain."""


class InvitationEventData(CausedEventData):
    """Data of events about an invitation. `id` is the id of the invitation."""

    organization_id: UUID
    """Id of the organization."""
    role: str | None = None
    """Role that the invitation gives."""


class InvitationAcceptedData(CausedEventData):
    """Data of `invitation.accepted`. `id` is the id of the invitation."""

    organization_id: UUID
    """Id of the organization."""
    customer_id: UUID
    """Id of the customer who accepted it."""


class SetupLinkEventData(CausedEventData):
    """Data of events about a setup link. `id` is the id of the link."""

    organization_id: UUID
    """Id of the organization."""
    steps: list[str] | None = None
    """What the link permits, in `setup_link.created`: DOMAIN, SSO, SCIM."""


class SsoEventData(CommonEventData):
    """Data of events about a single sign-on connection. `id` is the id of the connection."""

    organization_id: UUID
    """Id of the organization."""
    domain: str
    """Domain of the connection."""
    reason: str | None = None
    """Why Postern deactivated the connection itself, such as `DOMAIN_LOST`. Absent if a caller deactivated it."""


class SsoSignedInData(CommonEventData):
    """Data of `sso.signed_in`. `id` is the id of the connection."""

    organization_id: UUID
    """Id of the organization."""
    customer_id: UUID
    """Id of the customer."""
    roles: list[str]
    """Roles of the customer in the organization."""


class SsoCertificateExpiringData(SsoEventData):
    """Data of `sso.certificate_expiring`. `id` is the id of the connection."""

    owner: Literal["IDP", "SP"]
    """Whose certificate expires: the identity provider's (`IDP`) or this server's (`SP`)."""
    expires_at: Moment
    """When it expires (UTC)."""
    days_left: int
    """Number of days until it expires."""


class SsoMetadataChangedData(SsoEventData):
    """Data of `sso.metadata_changed`. `id` is the id of the connection."""

    changed: list[str]
    """Names of the fields of the connection that were changed."""


class SsoMetadataFailingData(CommonEventData):
    """Data of `sso.metadata_failing`. `id` is the id of the connection."""

    problem: str
    """Why the metadata cannot be used."""
    last_read_at: Moment | None
    """When usable metadata was read for the last time (UTC)."""


class EntitlementChangedData(CommonEventData):
    """Data of `entitlement.changed`. `id` is the id of the organization, the plan or the feature that was changed."""

    feature_key: str | None = None
    """Key of the feature, if a feature or an organization's entitlement to it was changed."""
    plan_key: str | None = None
    """Key of the plan, if a plan was changed or assigned to an organization."""
    enabled: bool | None = None
    """Whether the organization has the feature now. Absent if a plan or a feature was changed."""
    limit: int | None = None
    """The organization's limit for the feature now; null means unlimited."""
    source: str | None = None
    """Where the entitlement comes from now: `OVERRIDE`, `PLAN`, `DEFAULT` or `NONE`."""


class EntitlementExpiredData(CommonEventData):
    """Data of `entitlement.expired`. `id` is the id of the organization."""

    feature_key: str
    """Key of the feature whose override expired."""


class WebhookDisabledData(CommonEventData):
    """Data of `webhook.disabled`. `id` is the id of the webhook."""

    url: str
    """URL of the webhook."""
    reason: str
    """Why it was disabled."""


class CustomerImpersonatedData(CausedEventData):
    """Data of `customer.impersonated`. `id` is the id of the customer."""

    session_id: UUID
    """Id of the session."""
    actor: str | None
    """Who acts as the customer: an e-mail address, or the name of an API key."""
    reason: str
    """Why."""
    expires_at: Moment
    """When the session ends at the latest."""


class CustomerImpersonationEndedData(CausedEventData):
    """Data of `customer.impersonation_ended`. `id` is the id of the customer."""

    session_id: UUID
    """Id of the session."""
    actor: str | None
    """Who acted as the customer: an e-mail address, or the name of an API key."""
    reason: str
    """Why."""
    cause: str
    """`SIGNED_OUT` by the person who acted, `REVOKED` by your team, the customer or a rule of sign-in, or `EXPIRED`."""


class HookRecoveredData(CommonEventData):
    """Data of `hook.recovered`. `id` is the id of the sign-in hook."""

    kind: str
    """The kind of the hook: `BEFORE_SIGN_UP`, `BEFORE_TOKEN` or `MIGRATION`."""


class HookFailedData(HookRecoveredData):
    """Data of `hook.failed`. `id` is the id of the sign-in hook."""

    reason: str
    """Why the last call failed."""


PAYLOADS: tuple[WebhookDoc, ...] = tuple(
    WebhookDoc(name, description, data)
    for name, data, description in (
        ("email.scheduled", EmailScheduledData, "An e-mail will be sent later."),
        ("email.queued", EmailQueuedData, "An e-mail was accepted and will be sent."),
        ("email.sent", EmailEventData, "The next mail server accepted the e-mail."),
        ("email.delivered", EmailReportData, "The recipient's mail server accepted the e-mail."),
        ("email.delayed", EmailDelayedData, "An attempt to deliver the e-mail failed; it will be tried again."),
        ("email.bounced", EmailBouncedData, "The recipient's mail server refused the e-mail permanently."),
        ("email.complained", EmailComplainedData, "The recipient marked the e-mail as spam."),
        ("email.opened", EmailHitData, "The e-mail was opened, by a person or a machine (`verdict`)."),
        ("email.clicked", EmailClickedData, "A link was clicked, by a person or a machine (`verdict`)."),
        ("email.failed", EmailReasonData, "The e-mail could not be sent."),
        ("email.suppressed", EmailReasonData, "The e-mail was not sent because the recipient is suppressed."),
        ("email.expired", EmailReasonData, "The e-mail could not be sent before it expired."),
        ("email.cancelled", EmailReasonData, "The e-mail was cancelled."),
        ("email.unsubscribed", EmailUnsubscribedData, "The recipient unsubscribed."),
        ("contact.created", ContactChangedData, "A contact was created."),
        ("contact.updated", ContactChangedData, "A contact was changed."),
        ("contact.deleted", ContactChangedData, "A contact was deleted."),
        ("contact.unsubscribed", ContactChangedData, "A contact was unsubscribed."),
        ("audience.created", AudienceEventData, "An audience was created."),
        ("audience.updated", AudienceEventData, "An audience was changed."),
        ("audience.deleted", AudienceEventData, "An audience was deleted."),
        ("audience.refilled", AudienceRefilledData, "The members of an audience were recomputed from its rules."),
        ("audience.joined", AudienceMemberData, "A contact joined an audience."),
        ("audience.left", AudienceMemberData, "A contact left an audience."),
        ("campaign.scheduled", CampaignScheduledData, "A campaign will be sent later."),
        ("campaign.started", CampaignStartedData, "A campaign started."),
        ("campaign.tested", CampaignTestedData, "An A/B test ended."),
        ("campaign.sent", CampaignSentData, "All e-mails of a campaign were handed over or failed."),
        ("campaign.cancelled", CampaignEventData, "A campaign was cancelled."),
        ("campaign.failed", CampaignFailedData, "A campaign could not be sent."),
        ("campaign.paused", CampaignEventData, "A campaign was paused."),
        ("campaign.resumed", CampaignEventData, "A paused campaign was resumed."),
        ("automation.started", AutomationStartedData, "A run of an automation started."),
        ("automation.completed", AutomationEndedData, "A run of an automation ended without failing."),
        ("automation.failed", AutomationEndedData, "A run of an automation failed."),
        ("inbound.received", InboundReceivedData, "A message to the address of a route was received."),
        ("domain.created", DomainEventData, "A sending domain was added."),
        ("domain.verified", DomainEventData, "A sending domain was verified."),
        ("domain.degraded", DomainEventData, "A verified sending domain no longer has its DNS records."),
        ("domain.deleted", DomainEventData, "A sending domain was deleted."),
        ("domain.blocklisted", DomainListedData, "A sending domain or IP address is on a blocklist."),
        ("domain.delisted", DomainListedData, "A sending domain or IP address is no longer on a blocklist."),
        ("domain.reputation_warning", DomainReputationData, "A rate of a sending domain is above a threshold."),
        ("domain.reputation_held", DomainReputationData, "Marketing mail of a sending domain is held."),
        (
            "domain.reputation_recovered",
            DomainReputationData,
            "The rates of a sending domain are below the thresholds again.",
        ),
        ("domain.reputation_released", DomainReputationData, "Held marketing mail of a sending domain was released."),
        ("domain.warm_up_started", DomainWarmUpData, "The warm-up plan of a sending domain began."),
        ("domain.warm_up_ended", DomainWarmUpData, "The warm-up plan of a sending domain ended."),
        (
            "domain.certificate_issued",
            DomainCertificateData,
            "A new certificate was issued for a host name of a sending domain.",
        ),
        (
            "domain.certificate_failed",
            DomainCertificateFailedData,
            "A host name of a sending domain got no new certificate for a day, or its certificate expires soon.",
        ),
        ("domain.sender_verified", SenderEventData, "A single sender was verified."),
        ("domain.sender_removed", SenderEventData, "A single sender was removed."),
        ("customer.signed_up", CustomerSignedUpData, "A customer signed up or was created."),
        ("customer.signed_in", CustomerSignedInData, "A customer signed in."),
        ("customer.sign_in_failed", CustomerAttemptData, "An attempt to sign in failed."),
        ("customer.signed_out", CustomerSessionData, "A customer signed out."),
        ("customer.stepped_up", CustomerSteppedUpData, "A customer authenticated again in a session."),
        ("customer.locked", CustomerAttemptData, "Sign-in was locked after too many failed attempts."),
        ("customer.unlocked", CausedEventData, "A lock of a customer's sign-in was removed."),
        ("customer.email_verified", CustomerEmailVerifiedData, "A customer's e-mail address was verified."),
        ("customer.password_changed", CausedEventData, "A customer's password was changed."),
        ("customer.mfa_enabled", CustomerFactorData, "A customer set up a second factor."),
        ("customer.mfa_disabled", CustomerFactorData, "A customer removed the second factor."),
        (
            "customer.mfa_reset",
            CausedEventData,
            "A customer's second factors were removed by your application or team.",
        ),
        ("customer.passkey_added", CustomerPasskeyAddedData, "A customer added a passkey."),
        ("customer.passkey_removed", CustomerPasskeyRemovedData, "A customer removed a passkey."),
        ("customer.session_revoked", CustomerSessionData, "A session of a customer was ended."),
        ("customer.sign_in_denied", CustomerSessionData, "A customer said that a sign-in was not theirs."),
        ("customer.impersonated", CustomerImpersonatedData, "A member of your team began a session as a customer."),
        (
            "customer.impersonation_ended",
            CustomerImpersonationEndedData,
            "A session in which a member of your team acted as a customer has ended.",
        ),
        ("customer.terms_accepted", CustomerTermsAcceptedData, "A customer accepted a version of your terms."),
        ("customer.banned", CustomerBannedData, "A customer was banned."),
        ("customer.unbanned", CausedEventData, "A ban was removed."),
        ("customer.updated", CustomerUpdatedData, "A customer's profile was changed."),
        ("customer.metadata_updated", CustomerMetadataUpdatedData, "A customer's metadata was changed."),
        ("customer.roles_updated", CustomerRolesUpdatedData, "A customer's roles were changed."),
        (
            "customer.linked",
            CustomerLinkedData,
            "A customer was linked to an identity provider, an external id or another customer.",
        ),
        ("customer.unlinked", CustomerProviderData, "An account at an identity provider was unlinked from a customer."),
        (
            "customer.identity_held",
            CustomerProviderData,
            "An account at an identity provider waits for approval to be linked to a customer.",
        ),
        ("customer.mail_failed", CustomerMailFailedData, "An e-mail to a customer could not be sent."),
        (
            "customer.mail_text_failed",
            CustomerMailTextFailedData,
            "The project's text of an e-mail could not be rendered; the customer got the built-in one.",
        ),
        ("customer.deleted", CausedEventData, "A customer was deleted and the personal data erased."),
        ("organization.created", OrganizationEventData, "An organization was created."),
        ("organization.updated", OrganizationUpdatedData, "An organization or a member's roles were changed."),
        ("organization.deleted", OrganizationEventData, "An organization was deleted."),
        ("organization.member_added", OrganizationMemberAddedData, "A customer became a member of an organization."),
        ("organization.member_removed", OrganizationMemberRemovedData, "A member was removed or left."),
        ("organization.domain_verified", OrganizationDomainData, "A domain of an organization was verified."),
        ("organization.domain_lapsed", OrganizationDomainData, "A verified domain no longer has its DNS record."),
        ("invitation.created", InvitationEventData, "An invitation was created and will be mailed."),
        ("invitation.resent", InvitationEventData, "An invitation will be mailed again with a new link."),
        ("invitation.accepted", InvitationAcceptedData, "An invitation was accepted."),
        ("invitation.revoked", InvitationEventData, "An invitation was revoked."),
        ("invitation.expired", InvitationEventData, "An invitation expired."),
        (
            "setup_link.created",
            SetupLinkEventData,
            "A setup link was created for the administrator of an organization.",
        ),
        ("setup_link.opened", SetupLinkEventData, "A setup link was opened, and bound to the browser that opened it."),
        ("setup_link.completed", SetupLinkEventData, "The administrator has completed the setup."),
        ("setup_link.revoked", SetupLinkEventData, "A setup link was revoked."),
        ("sso.activated", SsoEventData, "A single sign-on connection was activated."),
        ("sso.deactivated", SsoEventData, "A single sign-on connection was deactivated."),
        ("sso.signed_in", SsoSignedInData, "A customer signed in with single sign-on."),
        ("sso.certificate_expiring", SsoCertificateExpiringData, "A certificate of a connection expires soon."),
        ("sso.metadata_changed", SsoMetadataChangedData, "The identity provider's metadata changed."),
        ("sso.metadata_failing", SsoMetadataFailingData, "The identity provider's metadata cannot be used."),
        (
            "entitlement.changed",
            EntitlementChangedData,
            "A feature, a plan or an organization's entitlement was changed.",
        ),
        ("entitlement.expired", EntitlementExpiredData, "An override of an organization's entitlement expired."),
        ("hook.failed", HookFailedData, "A sign-in hook failed five times in succession and is paused."),
        ("hook.recovered", HookRecoveredData, "A sign-in hook that was paused responds again."),
        ("webhook.disabled", WebhookDisabledData, "A webhook was disabled because its deliveries failed."),
    )
)
"""The documentation of every event except custom events: its name, when it is recorded, and its data."""
