"""The events that webhooks deliver. `type` tells them apart.

Generated from the API by script/client: do not edit.
"""

from typing import Literal, TypeAlias

from postern_sdk import types
from postern_sdk._record import UnknownEvent, WebhookEvent

__all__ = [
    "BY_TYPE",
    "AudienceCreatedEvent",
    "AudienceDeletedEvent",
    "AudienceJoinedEvent",
    "AudienceLeftEvent",
    "AudienceRefilledEvent",
    "AudienceUpdatedEvent",
    "AutomationCompletedEvent",
    "AutomationFailedEvent",
    "AutomationStartedEvent",
    "CampaignCancelledEvent",
    "CampaignFailedEvent",
    "CampaignPausedEvent",
    "CampaignResumedEvent",
    "CampaignScheduledEvent",
    "CampaignSentEvent",
    "CampaignStartedEvent",
    "CampaignTestedEvent",
    "ContactCreatedEvent",
    "ContactDeletedEvent",
    "ContactUnsubscribedEvent",
    "ContactUpdatedEvent",
    "CustomerBannedEvent",
    "CustomerDeletedEvent",
    "CustomerEmailVerifiedEvent",
    "CustomerIdentityHeldEvent",
    "CustomerImpersonatedEvent",
    "CustomerImpersonationEndedEvent",
    "CustomerLinkedEvent",
    "CustomerLockedEvent",
    "CustomerMailFailedEvent",
    "CustomerMailTextFailedEvent",
    "CustomerMetadataUpdatedEvent",
    "CustomerMfaDisabledEvent",
    "CustomerMfaEnabledEvent",
    "CustomerMfaResetEvent",
    "CustomerPasskeyAddedEvent",
    "CustomerPasskeyRemovedEvent",
    "CustomerPasswordChangedEvent",
    "CustomerRolesUpdatedEvent",
    "CustomerSessionRevokedEvent",
    "CustomerSignInDeniedEvent",
    "CustomerSignInFailedEvent",
    "CustomerSignedInEvent",
    "CustomerSignedOutEvent",
    "CustomerSignedUpEvent",
    "CustomerSteppedUpEvent",
    "CustomerTermsAcceptedEvent",
    "CustomerUnbannedEvent",
    "CustomerUnlinkedEvent",
    "CustomerUnlockedEvent",
    "CustomerUpdatedEvent",
    "DomainBlocklistedEvent",
    "DomainCertificateFailedEvent",
    "DomainCertificateIssuedEvent",
    "DomainCreatedEvent",
    "DomainDegradedEvent",
    "DomainDeletedEvent",
    "DomainDelistedEvent",
    "DomainReputationHeldEvent",
    "DomainReputationRecoveredEvent",
    "DomainReputationReleasedEvent",
    "DomainReputationWarningEvent",
    "DomainSenderRemovedEvent",
    "DomainSenderVerifiedEvent",
    "DomainVerifiedEvent",
    "DomainWarmUpEndedEvent",
    "DomainWarmUpStartedEvent",
    "EmailBouncedEvent",
    "EmailCancelledEvent",
    "EmailClickedEvent",
    "EmailComplainedEvent",
    "EmailDelayedEvent",
    "EmailDeliveredEvent",
    "EmailExpiredEvent",
    "EmailFailedEvent",
    "EmailOpenedEvent",
    "EmailQueuedEvent",
    "EmailScheduledEvent",
    "EmailSentEvent",
    "EmailSuppressedEvent",
    "EmailUnsubscribedEvent",
    "EntitlementChangedEvent",
    "EntitlementExpiredEvent",
    "Event",
    "HookFailedEvent",
    "HookRecoveredEvent",
    "InboundReceivedEvent",
    "InvitationAcceptedEvent",
    "InvitationCreatedEvent",
    "InvitationExpiredEvent",
    "InvitationResentEvent",
    "InvitationRevokedEvent",
    "OrganizationCreatedEvent",
    "OrganizationDeletedEvent",
    "OrganizationDomainLapsedEvent",
    "OrganizationDomainVerifiedEvent",
    "OrganizationMemberAddedEvent",
    "OrganizationMemberRemovedEvent",
    "OrganizationUpdatedEvent",
    "SetupLinkCompletedEvent",
    "SetupLinkCreatedEvent",
    "SetupLinkOpenedEvent",
    "SetupLinkRevokedEvent",
    "SsoActivatedEvent",
    "SsoCertificateExpiringEvent",
    "SsoDeactivatedEvent",
    "SsoMetadataChangedEvent",
    "SsoMetadataFailingEvent",
    "SsoSignedInEvent",
    "UnknownEvent",
    "WebhookDisabledEvent",
    "WebhookEvent",
]


class EmailScheduledEvent(WebhookEvent, frozen=True, kw_only=True):
    """An e-mail will be sent later."""

    data: types.EmailScheduledData
    type: Literal["email.scheduled"] = "email.scheduled"


class EmailQueuedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An e-mail was accepted and will be sent."""

    data: types.EmailQueuedData
    type: Literal["email.queued"] = "email.queued"


class EmailSentEvent(WebhookEvent, frozen=True, kw_only=True):
    """The next mail server accepted the e-mail."""

    data: types.EmailEventData
    type: Literal["email.sent"] = "email.sent"


class EmailDeliveredEvent(WebhookEvent, frozen=True, kw_only=True):
    """The recipient's mail server accepted the e-mail."""

    data: types.EmailReportData
    type: Literal["email.delivered"] = "email.delivered"


class EmailDelayedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An attempt to deliver the e-mail failed; it will be tried again."""

    data: types.EmailDelayedData
    type: Literal["email.delayed"] = "email.delayed"


class EmailBouncedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The recipient's mail server refused the e-mail permanently."""

    data: types.EmailBouncedData
    type: Literal["email.bounced"] = "email.bounced"


class EmailComplainedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The recipient marked the e-mail as spam."""

    data: types.EmailComplainedData
    type: Literal["email.complained"] = "email.complained"


class EmailOpenedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The e-mail was opened, by a person or a machine (`verdict`)."""

    data: types.EmailHitData
    type: Literal["email.opened"] = "email.opened"


class EmailClickedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A link was clicked, by a person or a machine (`verdict`)."""

    data: types.EmailClickedData
    type: Literal["email.clicked"] = "email.clicked"


class EmailFailedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The e-mail could not be sent."""

    data: types.EmailReasonData
    type: Literal["email.failed"] = "email.failed"


class EmailSuppressedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The e-mail was not sent because the recipient is suppressed."""

    data: types.EmailReasonData
    type: Literal["email.suppressed"] = "email.suppressed"


class EmailExpiredEvent(WebhookEvent, frozen=True, kw_only=True):
    """The e-mail could not be sent before it expired."""

    data: types.EmailReasonData
    type: Literal["email.expired"] = "email.expired"


class EmailCancelledEvent(WebhookEvent, frozen=True, kw_only=True):
    """The e-mail was cancelled."""

    data: types.EmailReasonData
    type: Literal["email.cancelled"] = "email.cancelled"


class EmailUnsubscribedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The recipient unsubscribed."""

    data: types.EmailUnsubscribedData
    type: Literal["email.unsubscribed"] = "email.unsubscribed"


class ContactCreatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A contact was created."""

    data: types.ContactChangedData
    type: Literal["contact.created"] = "contact.created"


class ContactUpdatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A contact was changed."""

    data: types.ContactChangedData
    type: Literal["contact.updated"] = "contact.updated"


class ContactDeletedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A contact was deleted."""

    data: types.ContactChangedData
    type: Literal["contact.deleted"] = "contact.deleted"


class ContactUnsubscribedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A contact was unsubscribed."""

    data: types.ContactChangedData
    type: Literal["contact.unsubscribed"] = "contact.unsubscribed"


class AudienceCreatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An audience was created."""

    data: types.AudienceEventData
    type: Literal["audience.created"] = "audience.created"


class AudienceUpdatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An audience was changed."""

    data: types.AudienceEventData
    type: Literal["audience.updated"] = "audience.updated"


class AudienceDeletedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An audience was deleted."""

    data: types.AudienceEventData
    type: Literal["audience.deleted"] = "audience.deleted"


class AudienceRefilledEvent(WebhookEvent, frozen=True, kw_only=True):
    """The members of an audience were recomputed from its rules."""

    data: types.AudienceRefilledData
    type: Literal["audience.refilled"] = "audience.refilled"


class AudienceJoinedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A contact joined an audience."""

    data: types.AudienceMemberData
    type: Literal["audience.joined"] = "audience.joined"


class AudienceLeftEvent(WebhookEvent, frozen=True, kw_only=True):
    """A contact left an audience."""

    data: types.AudienceMemberData
    type: Literal["audience.left"] = "audience.left"


class CampaignScheduledEvent(WebhookEvent, frozen=True, kw_only=True):
    """A campaign will be sent later."""

    data: types.CampaignScheduledData
    type: Literal["campaign.scheduled"] = "campaign.scheduled"


class CampaignStartedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A campaign started."""

    data: types.CampaignStartedData
    type: Literal["campaign.started"] = "campaign.started"


class CampaignTestedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An A/B test ended."""

    data: types.CampaignTestedData
    type: Literal["campaign.tested"] = "campaign.tested"


class CampaignSentEvent(WebhookEvent, frozen=True, kw_only=True):
    """All e-mails of a campaign were handed over or failed."""

    data: types.CampaignSentData
    type: Literal["campaign.sent"] = "campaign.sent"


class CampaignCancelledEvent(WebhookEvent, frozen=True, kw_only=True):
    """A campaign was cancelled."""

    data: types.CampaignEventData
    type: Literal["campaign.cancelled"] = "campaign.cancelled"


class CampaignFailedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A campaign could not be sent."""

    data: types.CampaignFailedData
    type: Literal["campaign.failed"] = "campaign.failed"


class CampaignPausedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A campaign was paused."""

    data: types.CampaignEventData
    type: Literal["campaign.paused"] = "campaign.paused"


class CampaignResumedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A paused campaign was resumed."""

    data: types.CampaignEventData
    type: Literal["campaign.resumed"] = "campaign.resumed"


class AutomationStartedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A run of an automation started."""

    data: types.AutomationStartedData
    type: Literal["automation.started"] = "automation.started"


class AutomationCompletedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A run of an automation ended without failing."""

    data: types.AutomationEndedData
    type: Literal["automation.completed"] = "automation.completed"


class AutomationFailedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A run of an automation failed."""

    data: types.AutomationEndedData
    type: Literal["automation.failed"] = "automation.failed"


class InboundReceivedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A message to the address of a route was received."""

    data: types.InboundReceivedData
    type: Literal["inbound.received"] = "inbound.received"


class DomainCreatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A sending domain was added."""

    data: types.DomainEventData
    type: Literal["domain.created"] = "domain.created"


class DomainVerifiedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A sending domain was verified."""

    data: types.DomainEventData
    type: Literal["domain.verified"] = "domain.verified"


class DomainDegradedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A verified sending domain no longer has its DNS records."""

    data: types.DomainEventData
    type: Literal["domain.degraded"] = "domain.degraded"


class DomainDeletedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A sending domain was deleted."""

    data: types.DomainEventData
    type: Literal["domain.deleted"] = "domain.deleted"


class DomainBlocklistedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A sending domain or IP address is on a blocklist."""

    data: types.DomainListedData
    type: Literal["domain.blocklisted"] = "domain.blocklisted"


class DomainDelistedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A sending domain or IP address is no longer on a blocklist."""

    data: types.DomainListedData
    type: Literal["domain.delisted"] = "domain.delisted"


class DomainReputationWarningEvent(WebhookEvent, frozen=True, kw_only=True):
    """A rate of a sending domain is above a threshold."""

    data: types.DomainReputationData
    type: Literal["domain.reputation_warning"] = "domain.reputation_warning"


class DomainReputationHeldEvent(WebhookEvent, frozen=True, kw_only=True):
    """Marketing mail of a sending domain is held."""

    data: types.DomainReputationData
    type: Literal["domain.reputation_held"] = "domain.reputation_held"


class DomainReputationRecoveredEvent(WebhookEvent, frozen=True, kw_only=True):
    """The rates of a sending domain are below the thresholds again."""

    data: types.DomainReputationData
    type: Literal["domain.reputation_recovered"] = "domain.reputation_recovered"


class DomainReputationReleasedEvent(WebhookEvent, frozen=True, kw_only=True):
    """Held marketing mail of a sending domain was released."""

    data: types.DomainReputationData
    type: Literal["domain.reputation_released"] = "domain.reputation_released"


class DomainWarmUpStartedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The warm-up plan of a sending domain began."""

    data: types.DomainWarmUpData
    type: Literal["domain.warm_up_started"] = "domain.warm_up_started"


class DomainWarmUpEndedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The warm-up plan of a sending domain ended."""

    data: types.DomainWarmUpData
    type: Literal["domain.warm_up_ended"] = "domain.warm_up_ended"


class DomainCertificateIssuedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A new certificate was issued for a host name of a sending domain."""

    data: types.DomainCertificateData
    type: Literal["domain.certificate_issued"] = "domain.certificate_issued"


class DomainCertificateFailedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A host name of a sending domain got no new certificate for a day, or its certificate expires soon."""

    data: types.DomainCertificateFailedData
    type: Literal["domain.certificate_failed"] = "domain.certificate_failed"


class DomainSenderVerifiedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A single sender was verified."""

    data: types.SenderEventData
    type: Literal["domain.sender_verified"] = "domain.sender_verified"


class DomainSenderRemovedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A single sender was removed."""

    data: types.SenderEventData
    type: Literal["domain.sender_removed"] = "domain.sender_removed"


class CustomerSignedUpEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer signed up or was created."""

    data: types.CustomerSignedUpData
    type: Literal["customer.signed_up"] = "customer.signed_up"


class CustomerSignedInEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer signed in."""

    data: types.CustomerSignedInData
    type: Literal["customer.signed_in"] = "customer.signed_in"


class CustomerSignInFailedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An attempt to sign in failed."""

    data: types.CustomerAttemptData
    type: Literal["customer.sign_in_failed"] = "customer.sign_in_failed"


class CustomerSignedOutEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer signed out."""

    data: types.CustomerSessionData
    type: Literal["customer.signed_out"] = "customer.signed_out"


class CustomerSteppedUpEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer authenticated again in a session."""

    data: types.CustomerSteppedUpData
    type: Literal["customer.stepped_up"] = "customer.stepped_up"


class CustomerLockedEvent(WebhookEvent, frozen=True, kw_only=True):
    """Sign-in was locked after too many failed attempts."""

    data: types.CustomerAttemptData
    type: Literal["customer.locked"] = "customer.locked"


class CustomerUnlockedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A lock of a customer's sign-in was removed."""

    data: types.CausedEventData
    type: Literal["customer.unlocked"] = "customer.unlocked"


class CustomerEmailVerifiedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer's e-mail address was verified."""

    data: types.CustomerEmailVerifiedData
    type: Literal["customer.email_verified"] = "customer.email_verified"


class CustomerPasswordChangedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer's password was changed."""

    data: types.CausedEventData
    type: Literal["customer.password_changed"] = "customer.password_changed"


class CustomerMfaEnabledEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer set up a second factor."""

    data: types.CustomerFactorData
    type: Literal["customer.mfa_enabled"] = "customer.mfa_enabled"


class CustomerMfaDisabledEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer removed the second factor."""

    data: types.CustomerFactorData
    type: Literal["customer.mfa_disabled"] = "customer.mfa_disabled"


class CustomerMfaResetEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer's second factors were removed by your application or team."""

    data: types.CausedEventData
    type: Literal["customer.mfa_reset"] = "customer.mfa_reset"


class CustomerPasskeyAddedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer added a passkey."""

    data: types.CustomerPasskeyAddedData
    type: Literal["customer.passkey_added"] = "customer.passkey_added"


class CustomerPasskeyRemovedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer removed a passkey."""

    data: types.CustomerPasskeyRemovedData
    type: Literal["customer.passkey_removed"] = "customer.passkey_removed"


class CustomerSessionRevokedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A session of a customer was ended."""

    data: types.CustomerSessionData
    type: Literal["customer.session_revoked"] = "customer.session_revoked"


class CustomerSignInDeniedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer said that a sign-in was not theirs."""

    data: types.CustomerSessionData
    type: Literal["customer.sign_in_denied"] = "customer.sign_in_denied"


class CustomerImpersonatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A member of your team began a session as a customer."""

    data: types.CustomerImpersonatedData
    type: Literal["customer.impersonated"] = "customer.impersonated"


class CustomerImpersonationEndedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A session in which a member of your team acted as a customer has ended."""

    data: types.CustomerImpersonationEndedData
    type: Literal["customer.impersonation_ended"] = "customer.impersonation_ended"


class CustomerTermsAcceptedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer accepted a version of your terms."""

    data: types.CustomerTermsAcceptedData
    type: Literal["customer.terms_accepted"] = "customer.terms_accepted"


class CustomerBannedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer was banned."""

    data: types.CustomerBannedData
    type: Literal["customer.banned"] = "customer.banned"


class CustomerUnbannedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A ban was removed."""

    data: types.CausedEventData
    type: Literal["customer.unbanned"] = "customer.unbanned"


class CustomerUpdatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer's profile was changed."""

    data: types.CustomerUpdatedData
    type: Literal["customer.updated"] = "customer.updated"


class CustomerMetadataUpdatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer's metadata was changed."""

    data: types.CustomerMetadataUpdatedData
    type: Literal["customer.metadata_updated"] = "customer.metadata_updated"


class CustomerRolesUpdatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer's roles were changed."""

    data: types.CustomerRolesUpdatedData
    type: Literal["customer.roles_updated"] = "customer.roles_updated"


class CustomerLinkedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer was linked to an identity provider, an external id or another customer."""

    data: types.CustomerLinkedData
    type: Literal["customer.linked"] = "customer.linked"


class CustomerUnlinkedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An account at an identity provider was unlinked from a customer."""

    data: types.CustomerProviderData
    type: Literal["customer.unlinked"] = "customer.unlinked"


class CustomerIdentityHeldEvent(WebhookEvent, frozen=True, kw_only=True):
    """An account at an identity provider waits for approval to be linked to a customer."""

    data: types.CustomerProviderData
    type: Literal["customer.identity_held"] = "customer.identity_held"


class CustomerMailFailedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An e-mail to a customer could not be sent."""

    data: types.CustomerMailFailedData
    type: Literal["customer.mail_failed"] = "customer.mail_failed"


class CustomerMailTextFailedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The project's text of an e-mail could not be rendered; the customer got the built-in one."""

    data: types.CustomerMailTextFailedData
    type: Literal["customer.mail_text_failed"] = "customer.mail_text_failed"


class CustomerDeletedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer was deleted and the personal data erased."""

    data: types.CausedEventData
    type: Literal["customer.deleted"] = "customer.deleted"


class OrganizationCreatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An organization was created."""

    data: types.OrganizationEventData
    type: Literal["organization.created"] = "organization.created"


class OrganizationUpdatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An organization or a member's roles were changed."""

    data: types.OrganizationUpdatedData
    type: Literal["organization.updated"] = "organization.updated"


class OrganizationDeletedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An organization was deleted."""

    data: types.OrganizationEventData
    type: Literal["organization.deleted"] = "organization.deleted"


class OrganizationMemberAddedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer became a member of an organization."""

    data: types.OrganizationMemberAddedData
    type: Literal["organization.member_added"] = "organization.member_added"


class OrganizationMemberRemovedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A member was removed or left."""

    data: types.OrganizationMemberRemovedData
    type: Literal["organization.member_removed"] = "organization.member_removed"


class OrganizationDomainVerifiedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A domain of an organization was verified."""

    data: types.OrganizationDomainData
    type: Literal["organization.domain_verified"] = "organization.domain_verified"


class OrganizationDomainLapsedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A verified domain no longer has its DNS record."""

    data: types.OrganizationDomainData
    type: Literal["organization.domain_lapsed"] = "organization.domain_lapsed"


class InvitationCreatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An invitation was created and will be mailed."""

    data: types.InvitationEventData
    type: Literal["invitation.created"] = "invitation.created"


class InvitationResentEvent(WebhookEvent, frozen=True, kw_only=True):
    """An invitation will be mailed again with a new link."""

    data: types.InvitationEventData
    type: Literal["invitation.resent"] = "invitation.resent"


class InvitationAcceptedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An invitation was accepted."""

    data: types.InvitationAcceptedData
    type: Literal["invitation.accepted"] = "invitation.accepted"


class InvitationRevokedEvent(WebhookEvent, frozen=True, kw_only=True):
    """An invitation was revoked."""

    data: types.InvitationEventData
    type: Literal["invitation.revoked"] = "invitation.revoked"


class InvitationExpiredEvent(WebhookEvent, frozen=True, kw_only=True):
    """An invitation expired."""

    data: types.InvitationEventData
    type: Literal["invitation.expired"] = "invitation.expired"


class SetupLinkCreatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A setup link was created for the administrator of an organization."""

    data: types.SetupLinkEventData
    type: Literal["setup_link.created"] = "setup_link.created"


class SetupLinkOpenedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A setup link was opened, and bound to the browser that opened it."""

    data: types.SetupLinkEventData
    type: Literal["setup_link.opened"] = "setup_link.opened"


class SetupLinkCompletedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The administrator has completed the setup."""

    data: types.SetupLinkEventData
    type: Literal["setup_link.completed"] = "setup_link.completed"


class SetupLinkRevokedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A setup link was revoked."""

    data: types.SetupLinkEventData
    type: Literal["setup_link.revoked"] = "setup_link.revoked"


class SsoActivatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A single sign-on connection was activated."""

    data: types.SsoEventData
    type: Literal["sso.activated"] = "sso.activated"


class SsoDeactivatedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A single sign-on connection was deactivated."""

    data: types.SsoEventData
    type: Literal["sso.deactivated"] = "sso.deactivated"


class SsoSignedInEvent(WebhookEvent, frozen=True, kw_only=True):
    """A customer signed in with single sign-on."""

    data: types.SsoSignedInData
    type: Literal["sso.signed_in"] = "sso.signed_in"


class SsoCertificateExpiringEvent(WebhookEvent, frozen=True, kw_only=True):
    """A certificate of a connection expires soon."""

    data: types.SsoCertificateExpiringData
    type: Literal["sso.certificate_expiring"] = "sso.certificate_expiring"


class SsoMetadataChangedEvent(WebhookEvent, frozen=True, kw_only=True):
    """The identity provider's metadata changed."""

    data: types.SsoMetadataChangedData
    type: Literal["sso.metadata_changed"] = "sso.metadata_changed"


class SsoMetadataFailingEvent(WebhookEvent, frozen=True, kw_only=True):
    """The identity provider's metadata cannot be used."""

    data: types.SsoMetadataFailingData
    type: Literal["sso.metadata_failing"] = "sso.metadata_failing"


class EntitlementChangedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A feature, a plan or an organization's entitlement was changed."""

    data: types.EntitlementChangedData
    type: Literal["entitlement.changed"] = "entitlement.changed"


class EntitlementExpiredEvent(WebhookEvent, frozen=True, kw_only=True):
    """An override of an organization's entitlement expired."""

    data: types.EntitlementExpiredData
    type: Literal["entitlement.expired"] = "entitlement.expired"


class HookFailedEvent(WebhookEvent, frozen=True, kw_only=True):
    """A sign-in hook failed five times in succession and is paused."""

    data: types.HookFailedData
    type: Literal["hook.failed"] = "hook.failed"


class HookRecoveredEvent(WebhookEvent, frozen=True, kw_only=True):
    """A sign-in hook that was paused responds again."""

    data: types.HookRecoveredData
    type: Literal["hook.recovered"] = "hook.recovered"


class WebhookDisabledEvent(WebhookEvent, frozen=True, kw_only=True):
    """A webhook was disabled because its deliveries failed."""

    data: types.WebhookDisabledData
    type: Literal["webhook.disabled"] = "webhook.disabled"


Event: TypeAlias = (
    EmailScheduledEvent
    | EmailQueuedEvent
    | EmailSentEvent
    | EmailDeliveredEvent
    | EmailDelayedEvent
    | EmailBouncedEvent
    | EmailComplainedEvent
    | EmailOpenedEvent
    | EmailClickedEvent
    | EmailFailedEvent
    | EmailSuppressedEvent
    | EmailExpiredEvent
    | EmailCancelledEvent
    | EmailUnsubscribedEvent
    | ContactCreatedEvent
    | ContactUpdatedEvent
    | ContactDeletedEvent
    | ContactUnsubscribedEvent
    | AudienceCreatedEvent
    | AudienceUpdatedEvent
    | AudienceDeletedEvent
    | AudienceRefilledEvent
    | AudienceJoinedEvent
    | AudienceLeftEvent
    | CampaignScheduledEvent
    | CampaignStartedEvent
    | CampaignTestedEvent
    | CampaignSentEvent
    | CampaignCancelledEvent
    | CampaignFailedEvent
    | CampaignPausedEvent
    | CampaignResumedEvent
    | AutomationStartedEvent
    | AutomationCompletedEvent
    | AutomationFailedEvent
    | InboundReceivedEvent
    | DomainCreatedEvent
    | DomainVerifiedEvent
    | DomainDegradedEvent
    | DomainDeletedEvent
    | DomainBlocklistedEvent
    | DomainDelistedEvent
    | DomainReputationWarningEvent
    | DomainReputationHeldEvent
    | DomainReputationRecoveredEvent
    | DomainReputationReleasedEvent
    | DomainWarmUpStartedEvent
    | DomainWarmUpEndedEvent
    | DomainCertificateIssuedEvent
    | DomainCertificateFailedEvent
    | DomainSenderVerifiedEvent
    | DomainSenderRemovedEvent
    | CustomerSignedUpEvent
    | CustomerSignedInEvent
    | CustomerSignInFailedEvent
    | CustomerSignedOutEvent
    | CustomerSteppedUpEvent
    | CustomerLockedEvent
    | CustomerUnlockedEvent
    | CustomerEmailVerifiedEvent
    | CustomerPasswordChangedEvent
    | CustomerMfaEnabledEvent
    | CustomerMfaDisabledEvent
    | CustomerMfaResetEvent
    | CustomerPasskeyAddedEvent
    | CustomerPasskeyRemovedEvent
    | CustomerSessionRevokedEvent
    | CustomerSignInDeniedEvent
    | CustomerImpersonatedEvent
    | CustomerImpersonationEndedEvent
    | CustomerTermsAcceptedEvent
    | CustomerBannedEvent
    | CustomerUnbannedEvent
    | CustomerUpdatedEvent
    | CustomerMetadataUpdatedEvent
    | CustomerRolesUpdatedEvent
    | CustomerLinkedEvent
    | CustomerUnlinkedEvent
    | CustomerIdentityHeldEvent
    | CustomerMailFailedEvent
    | CustomerMailTextFailedEvent
    | CustomerDeletedEvent
    | OrganizationCreatedEvent
    | OrganizationUpdatedEvent
    | OrganizationDeletedEvent
    | OrganizationMemberAddedEvent
    | OrganizationMemberRemovedEvent
    | OrganizationDomainVerifiedEvent
    | OrganizationDomainLapsedEvent
    | InvitationCreatedEvent
    | InvitationResentEvent
    | InvitationAcceptedEvent
    | InvitationRevokedEvent
    | InvitationExpiredEvent
    | SetupLinkCreatedEvent
    | SetupLinkOpenedEvent
    | SetupLinkCompletedEvent
    | SetupLinkRevokedEvent
    | SsoActivatedEvent
    | SsoDeactivatedEvent
    | SsoSignedInEvent
    | SsoCertificateExpiringEvent
    | SsoMetadataChangedEvent
    | SsoMetadataFailingEvent
    | EntitlementChangedEvent
    | EntitlementExpiredEvent
    | HookFailedEvent
    | HookRecoveredEvent
    | WebhookDisabledEvent
    | UnknownEvent
)
"""Any event; a type that this version of the package does not know is an `UnknownEvent`."""

BY_TYPE: dict[str, type[WebhookEvent]] = {
    "email.scheduled": EmailScheduledEvent,
    "email.queued": EmailQueuedEvent,
    "email.sent": EmailSentEvent,
    "email.delivered": EmailDeliveredEvent,
    "email.delayed": EmailDelayedEvent,
    "email.bounced": EmailBouncedEvent,
    "email.complained": EmailComplainedEvent,
    "email.opened": EmailOpenedEvent,
    "email.clicked": EmailClickedEvent,
    "email.failed": EmailFailedEvent,
    "email.suppressed": EmailSuppressedEvent,
    "email.expired": EmailExpiredEvent,
    "email.cancelled": EmailCancelledEvent,
    "email.unsubscribed": EmailUnsubscribedEvent,
    "contact.created": ContactCreatedEvent,
    "contact.updated": ContactUpdatedEvent,
    "contact.deleted": ContactDeletedEvent,
    "contact.unsubscribed": ContactUnsubscribedEvent,
    "audience.created": AudienceCreatedEvent,
    "audience.updated": AudienceUpdatedEvent,
    "audience.deleted": AudienceDeletedEvent,
    "audience.refilled": AudienceRefilledEvent,
    "audience.joined": AudienceJoinedEvent,
    "audience.left": AudienceLeftEvent,
    "campaign.scheduled": CampaignScheduledEvent,
    "campaign.started": CampaignStartedEvent,
    "campaign.tested": CampaignTestedEvent,
    "campaign.sent": CampaignSentEvent,
    "campaign.cancelled": CampaignCancelledEvent,
    "campaign.failed": CampaignFailedEvent,
    "campaign.paused": CampaignPausedEvent,
    "campaign.resumed": CampaignResumedEvent,
    "automation.started": AutomationStartedEvent,
    "automation.completed": AutomationCompletedEvent,
    "automation.failed": AutomationFailedEvent,
    "inbound.received": InboundReceivedEvent,
    "domain.created": DomainCreatedEvent,
    "domain.verified": DomainVerifiedEvent,
    "domain.degraded": DomainDegradedEvent,
    "domain.deleted": DomainDeletedEvent,
    "domain.blocklisted": DomainBlocklistedEvent,
    "domain.delisted": DomainDelistedEvent,
    "domain.reputation_warning": DomainReputationWarningEvent,
    "domain.reputation_held": DomainReputationHeldEvent,
    "domain.reputation_recovered": DomainReputationRecoveredEvent,
    "domain.reputation_released": DomainReputationReleasedEvent,
    "domain.warm_up_started": DomainWarmUpStartedEvent,
    "domain.warm_up_ended": DomainWarmUpEndedEvent,
    "domain.certificate_issued": DomainCertificateIssuedEvent,
    "domain.certificate_failed": DomainCertificateFailedEvent,
    "domain.sender_verified": DomainSenderVerifiedEvent,
    "domain.sender_removed": DomainSenderRemovedEvent,
    "customer.signed_up": CustomerSignedUpEvent,
    "customer.signed_in": CustomerSignedInEvent,
    "customer.sign_in_failed": CustomerSignInFailedEvent,
    "customer.signed_out": CustomerSignedOutEvent,
    "customer.stepped_up": CustomerSteppedUpEvent,
    "customer.locked": CustomerLockedEvent,
    "customer.unlocked": CustomerUnlockedEvent,
    "customer.email_verified": CustomerEmailVerifiedEvent,
    "customer.password_changed": CustomerPasswordChangedEvent,
    "customer.mfa_enabled": CustomerMfaEnabledEvent,
    "customer.mfa_disabled": CustomerMfaDisabledEvent,
    "customer.mfa_reset": CustomerMfaResetEvent,
    "customer.passkey_added": CustomerPasskeyAddedEvent,
    "customer.passkey_removed": CustomerPasskeyRemovedEvent,
    "customer.session_revoked": CustomerSessionRevokedEvent,
    "customer.sign_in_denied": CustomerSignInDeniedEvent,
    "customer.impersonated": CustomerImpersonatedEvent,
    "customer.impersonation_ended": CustomerImpersonationEndedEvent,
    "customer.terms_accepted": CustomerTermsAcceptedEvent,
    "customer.banned": CustomerBannedEvent,
    "customer.unbanned": CustomerUnbannedEvent,
    "customer.updated": CustomerUpdatedEvent,
    "customer.metadata_updated": CustomerMetadataUpdatedEvent,
    "customer.roles_updated": CustomerRolesUpdatedEvent,
    "customer.linked": CustomerLinkedEvent,
    "customer.unlinked": CustomerUnlinkedEvent,
    "customer.identity_held": CustomerIdentityHeldEvent,
    "customer.mail_failed": CustomerMailFailedEvent,
    "customer.mail_text_failed": CustomerMailTextFailedEvent,
    "customer.deleted": CustomerDeletedEvent,
    "organization.created": OrganizationCreatedEvent,
    "organization.updated": OrganizationUpdatedEvent,
    "organization.deleted": OrganizationDeletedEvent,
    "organization.member_added": OrganizationMemberAddedEvent,
    "organization.member_removed": OrganizationMemberRemovedEvent,
    "organization.domain_verified": OrganizationDomainVerifiedEvent,
    "organization.domain_lapsed": OrganizationDomainLapsedEvent,
    "invitation.created": InvitationCreatedEvent,
    "invitation.resent": InvitationResentEvent,
    "invitation.accepted": InvitationAcceptedEvent,
    "invitation.revoked": InvitationRevokedEvent,
    "invitation.expired": InvitationExpiredEvent,
    "setup_link.created": SetupLinkCreatedEvent,
    "setup_link.opened": SetupLinkOpenedEvent,
    "setup_link.completed": SetupLinkCompletedEvent,
    "setup_link.revoked": SetupLinkRevokedEvent,
    "sso.activated": SsoActivatedEvent,
    "sso.deactivated": SsoDeactivatedEvent,
    "sso.signed_in": SsoSignedInEvent,
    "sso.certificate_expiring": SsoCertificateExpiringEvent,
    "sso.metadata_changed": SsoMetadataChangedEvent,
    "sso.metadata_failing": SsoMetadataFailingEvent,
    "entitlement.changed": EntitlementChangedEvent,
    "entitlement.expired": EntitlementExpiredEvent,
    "hook.failed": HookFailedEvent,
    "hook.recovered": HookRecoveredEvent,
    "webhook.disabled": WebhookDisabledEvent,
}
"""The class of each event."""
