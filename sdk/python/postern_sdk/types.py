"""The objects of the API, as they are received and, within requests, sent.

Generated from the API by script/client: do not edit.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from postern_sdk._record import Record

if TYPE_CHECKING:
    AccessDecisionReason: TypeAlias = (
        Literal[
            "ALL_ORGANIZATIONS_ROLE",
            "CUSTOMER_BANNED",
            "NOT_A_MEMBER",
            "NO_ROLE_GRANTS_PERMISSION",
            "ORGANIZATION_ROLE",
            "ORGANIZATION_SUSPENDED",
            "PROJECT_ROLE",
            "UNKNOWN_PERMISSION",
        ]
        | str
    )
    AccessDecisionScope: TypeAlias = Literal["ORGANIZATION", "PROJECT"] | str
    AccessExplanationStep: TypeAlias = (
        Literal[
            "ALL_ORGANIZATIONS_ROLE",
            "CUSTOMER_GIVEN",
            "CUSTOMER_NOT_BANNED",
            "MEMBER",
            "ORGANIZATION_ACTIVE",
            "ORGANIZATION_ROLE",
            "PERMISSION_DECLARED",
            "PROJECT_ROLE",
        ]
        | str
    )
    AccountInvitationRole: TypeAlias = Literal["ADMIN", "DEVELOPER", "VIEWER"] | str
    AccountMemberRole: TypeAlias = Literal["ADMIN", "DEVELOPER", "OWNER", "VIEWER"] | str
    AccountProfileRole: TypeAlias = Literal["ADMIN", "DEVELOPER", "OWNER", "VIEWER"] | str
    ApiKeyType: TypeAlias = Literal["PUBLISHABLE", "SECRET"] | str
    ApiKeyEnvironment: TypeAlias = Literal["LIVE", "TEST"] | str
    AppSsoConnectionStatus: TypeAlias = Literal["ACTIVE", "DRAFT", "INACTIVE"] | str
    AssetContentType: TypeAlias = Literal["image/gif", "image/jpeg", "image/png", "image/webp"] | str
    AudienceType: TypeAlias = Literal["DYNAMIC", "STATIC"] | str
    AutomationRunStatus: TypeAlias = Literal["CANCELLED", "COMPLETED", "EXITED", "FAILED", "RUNNING", "WAITING"] | str
    AutomationRunDetailStatus: TypeAlias = (
        Literal["CANCELLED", "COMPLETED", "EXITED", "FAILED", "RUNNING", "WAITING"] | str
    )
    AutomationRunStepOutcome: TypeAlias = (
        Literal["DONE", "FAILED", "FALSE", "HAPPENED", "SKIPPED", "TIMED_OUT", "TRUE"] | str
    )
    BillingPlan: TypeAlias = Literal["free", "pro"] | str
    BillingBillingCycle: TypeAlias = Literal["monthly", "yearly"] | str
    BillingStatus: TypeAlias = Literal["active", "cancelled", "none", "past_due"] | str
    BlocklistEntryStatus: TypeAlias = Literal["CLEAR", "LISTED", "UNKNOWN"] | str
    CampaignStatus: TypeAlias = (
        Literal["CANCELLED", "DRAFT", "FAILED", "PAUSED", "SCHEDULED", "SENDING", "SENT", "TESTING"] | str
    )
    CampaignAbTestMetric: TypeAlias = Literal["CLICK_RATE", "OPEN_RATE"] | str
    CampaignDetailStatus: TypeAlias = (
        Literal["CANCELLED", "DRAFT", "FAILED", "PAUSED", "SCHEDULED", "SENDING", "SENT", "TESTING"] | str
    )
    CampaignDetailAbTestMetric: TypeAlias = Literal["CLICK_RATE", "OPEN_RATE"] | str
    ContactAttributeType: TypeAlias = Literal["boolean", "date", "list", "number", "string"] | str
    ContactImportStatus: TypeAlias = Literal["COMPLETED", "FAILED", "PENDING", "RUNNING", "UPLOADING"] | str
    ContactImportMode: TypeAlias = Literal["skip", "upsert"] | str
    ContactImportCharsetFrom: TypeAlias = Literal["BOM", "DECLARED", "DETECTED"] | str
    ContactImportColumnDecidedBy: TypeAlias = Literal["ATTRIBUTE", "DECLARED", "EXACT", "IGNORED", "SYNONYM"] | str
    ContactImportPreviewCharsetFrom: TypeAlias = Literal["BOM", "DECLARED", "DETECTED"] | str
    ContactImportPreviewDelimiterFrom: TypeAlias = Literal["DECLARED", "DETECTED"] | str
    ContactImportPreviewColumnDecidedBy: TypeAlias = (
        Literal["ATTRIBUTE", "DECLARED", "EXACT", "IGNORED", "SYNONYM"] | str
    )
    ContactImportPreviewColumnType: TypeAlias = Literal["boolean", "date", "list", "number", "string"] | str
    CustomerMailMail: TypeAlias = (
        Literal[
            "CODE",
            "EMAIL_CHANGED",
            "IDENTITY_CHANGED",
            "IMPERSONATED",
            "INVITATION",
            "LINK",
            "MFA_CHANGED",
            "NEW_DEVICE",
            "PASSWORD_CHANGED",
            "RESET",
            "SETUP_LINK",
            "SIGN_UP",
            "SIGN_UP_KNOWN",
            "VERIFY",
        ]
        | str
    )
    CustomerMailRequiredBlock: TypeAlias = Literal["button", "code"] | str
    CustomerMailEditedLanguages: TypeAlias = Literal["de", "en", "es", "fr", "ja", "pt"] | str
    DeliverySiteTransport: TypeAlias = Literal["direct", "relay", "ses"] | str
    DeliverySiteState: TypeAlias = Literal["OPEN", "SLOWED", "SUSPENDED"] | str
    DeliverySiteSuspensionBy: TypeAlias = Literal["OPERATOR", "PROJECT"] | str
    DeveloperRole: TypeAlias = Literal["ADMIN", "DEVELOPER", "OWNER", "VIEWER"] | str
    DirectoryConnectionStatus: TypeAlias = Literal["ACTIVE", "DISABLED"] | str
    DirectoryConnectionWithTokenStatus: TypeAlias = Literal["ACTIVE", "DISABLED"] | str
    DkimResultVerdict: TypeAlias = Literal["fail", "pass", "permerror", "temperror"] | str
    DmarcResultVerdict: TypeAlias = Literal["fail", "none", "pass", "permerror", "temperror"] | str
    DmarcResultPolicy: TypeAlias = Literal["none", "quarantine", "reject"] | str
    DnsRecordType: TypeAlias = Literal["CNAME", "TXT"] | str
    DnsRecordPurpose: TypeAlias = (
        Literal["DKIM", "DKIM_ED25519", "DKIM_NEXT", "DMARC", "PAGES", "RETURN_PATH", "SPF", "TRACKING"] | str
    )
    DnsRecordStatus: TypeAlias = Literal["PENDING", "UNKNOWN", "VERIFIED", "WRONG"] | str
    DomainStatus: TypeAlias = Literal["DEGRADED", "FAILED", "PENDING", "VERIFIED"] | str
    DomainCertificateStatus: TypeAlias = Literal["FAILED", "ISSUED", "PENDING", "RENEWING"] | str
    DomainJoinReason: TypeAlias = (
        Literal[
            "ALREADY_MEMBER",
            "AUTO_JOIN_DISABLED",
            "CUSTOMER_BANNED",
            "EMAIL_NOT_VERIFIED",
            "JOINED",
            "MEMBER_REMOVED",
            "NO_MATCHING_DOMAIN",
            "ORGANIZATION_SUSPENDED",
            "PUBLIC_DOMAIN",
        ]
        | str
    )
    DryRunStatus: TypeAlias = Literal["CANCELLED", "COMPLETED", "EXITED", "FAILED", "RUNNING", "WAITING"] | str
    DryRunReasonCode: TypeAlias = Literal["already_run", "run_limited", "unfinished_run", "where_not_matched"] | str
    DryRunStepOutcome: TypeAlias = Literal["DONE", "FAILED", "FALSE", "HAPPENED", "SKIPPED", "TIMED_OUT", "TRUE"] | str
    EmailEngine: TypeAlias = Literal["minijinja", "none"] | str
    EmailBatchItemStatus: TypeAlias = (
        Literal[
            "BOUNCED",
            "CANCELLED",
            "COMPLAINED",
            "DELAYED",
            "DELIVERED",
            "EXPIRED",
            "FAILED",
            "QUEUED",
            "SCHEDULED",
            "SENT",
            "SUPPRESSED",
        ]
        | str
    )
    EmailLogEntryStatus: TypeAlias = (
        Literal[
            "BOUNCED",
            "CANCELLED",
            "COMPLAINED",
            "DELAYED",
            "DELIVERED",
            "EXPIRED",
            "FAILED",
            "QUEUED",
            "SCHEDULED",
            "SENT",
            "SUPPRESSED",
        ]
        | str
    )
    EmailLogEntryDetailStatus: TypeAlias = (
        Literal[
            "BOUNCED",
            "CANCELLED",
            "COMPLAINED",
            "DELAYED",
            "DELIVERED",
            "EXPIRED",
            "FAILED",
            "QUEUED",
            "SCHEDULED",
            "SENT",
            "SUPPRESSED",
        ]
        | str
    )
    EmailLogEntryDetailEngine: TypeAlias = Literal["minijinja", "none"] | str
    EmailWaitingCause: TypeAlias = (
        Literal[
            "CAMPAIGN_PAUSED",
            "CAPACITY",
            "DEFERRED",
            "QUEUE",
            "REPUTATION",
            "SCHEDULE",
            "SETUP",
            "SITE_SLOWED",
            "SITE_SUSPENDED",
            "SITE_UNREACHABLE",
            "TLS",
            "WARM_UP",
        ]
        | str
    )
    EntitlementType: TypeAlias = Literal["BOOLEAN", "LIMIT"] | str
    EntitlementSource: TypeAlias = Literal["DEFAULT", "NONE", "OVERRIDE", "PLAN"] | str
    FeatureType: TypeAlias = Literal["BOOLEAN", "LIMIT"] | str
    FindingSeverity: TypeAlias = Literal["ADVICE", "ERROR", "WARNING"] | str
    FormerReasonReason: TypeAlias = Literal["BOUNCE", "COMPLAINT", "MANUAL", "UNSUBSCRIBE"] | str
    IdentityRequestStatus: TypeAlias = Literal["APPROVED", "PENDING", "REJECTED"] | str
    ImportedRowOutcome: TypeAlias = Literal["CREATED", "FAILED", "UNCHANGED"] | str
    InboundMessageSource: TypeAlias = Literal["api", "smtp"] | str
    InboundMessageSpf: TypeAlias = (
        Literal["fail", "neutral", "none", "pass", "permerror", "softfail", "temperror"] | str
    )
    InboundMessageDkim: TypeAlias = Literal["fail", "none", "pass", "temperror"] | str
    InboundMessageDmarc: TypeAlias = Literal["fail", "none", "pass", "permerror", "temperror"] | str
    InboundSummarySource: TypeAlias = Literal["api", "smtp"] | str
    InboundSummarySpf: TypeAlias = (
        Literal["fail", "neutral", "none", "pass", "permerror", "softfail", "temperror"] | str
    )
    InboundSummaryDkim: TypeAlias = Literal["fail", "none", "pass", "temperror"] | str
    InboundSummaryDmarc: TypeAlias = Literal["fail", "none", "pass", "permerror", "temperror"] | str
    InvitationPreviewStatus: TypeAlias = Literal["ACCEPTED", "EXPIRED", "PENDING", "REVOKED"] | str
    ListedAudienceType: TypeAlias = Literal["DYNAMIC", "STATIC"] | str
    ListedCampaignStatus: TypeAlias = (
        Literal["CANCELLED", "DRAFT", "FAILED", "PAUSED", "SCHEDULED", "SENDING", "SENT", "TESTING"] | str
    )
    ListedCampaignAbTestMetric: TypeAlias = Literal["CLICK_RATE", "OPEN_RATE"] | str
    MailBlockType: TypeAlias = Literal["button", "code", "text"] | str
    MailTextMail: TypeAlias = (
        Literal[
            "CODE",
            "EMAIL_CHANGED",
            "IDENTITY_CHANGED",
            "IMPERSONATED",
            "INVITATION",
            "LINK",
            "MFA_CHANGED",
            "NEW_DEVICE",
            "PASSWORD_CHANGED",
            "RESET",
            "SETUP_LINK",
            "SIGN_UP",
            "SIGN_UP_KNOWN",
            "VERIFY",
        ]
        | str
    )
    MailTextLanguage: TypeAlias = Literal["de", "en", "es", "fr", "ja", "pt"] | str
    MxRecordType: TypeAlias = Literal["MX"] | str
    MxRecordStatus: TypeAlias = Literal["PENDING", "UNKNOWN", "VERIFIED", "WRONG"] | str
    OAuthClientEnvironment: TypeAlias = Literal["LIVE", "TEST"] | str
    OAuthClientType: TypeAlias = Literal["CONFIDENTIAL", "PUBLIC"] | str
    OAuthClientSecurityProfile: TypeAlias = Literal["FAPI2", "STANDARD"] | str
    OAuthClientIdTokenSigningAlg: TypeAlias = Literal["ES256", "RS256"] | str
    OAuthClientWithSecretEnvironment: TypeAlias = Literal["LIVE", "TEST"] | str
    OAuthClientWithSecretType: TypeAlias = Literal["CONFIDENTIAL", "PUBLIC"] | str
    OAuthClientWithSecretSecurityProfile: TypeAlias = Literal["FAPI2", "STANDARD"] | str
    OAuthClientWithSecretIdTokenSigningAlg: TypeAlias = Literal["ES256", "RS256"] | str
    OAuthResourceEnvironment: TypeAlias = Literal["LIVE", "TEST"] | str
    OrganizationStatus: TypeAlias = Literal["ACTIVE", "SUSPENDED"] | str
    OrganizationAllowedMethods: TypeAlias = (
        Literal["EMAIL_CODE", "EMAIL_LINK", "PASSKEY", "PASSWORD", "SOCIAL", "SSO"] | str
    )
    OrganizationDomainStatus: TypeAlias = Literal["FAILED", "LAPSED", "PENDING", "VERIFIED"] | str
    OrganizationDomainReason: TypeAlias = (
        Literal["DNS_UNAVAILABLE", "RECORD_NOT_FOUND", "VERIFIED_BY_ANOTHER_ORGANIZATION"] | str
    )
    OrganizationInvitationStatus: TypeAlias = Literal["ACCEPTED", "EXPIRED", "PENDING", "REVOKED"] | str
    OrganizationMemberSource: TypeAlias = Literal["API", "DOMAIN", "INVITATION", "SCIM", "SSO"] | str
    OrganizationMembershipStatus: TypeAlias = Literal["ACTIVE", "SUSPENDED"] | str
    PageTextPages: TypeAlias = (
        Literal[
            "ACCOUNT",
            "ALL",
            "APPS",
            "INVITATION",
            "ORGANIZATION",
            "PASSKEY",
            "PASSWORD",
            "PROBLEMS",
            "SECOND_FACTOR",
            "SETUP",
            "SIGN_IN",
            "SIGN_UP",
            "SINGLE_SIGN_ON",
            "SUPPORT",
            "TERMS",
        ]
        | str
    )
    ProjectRelayTls: TypeAlias = Literal["implicit", "none", "starttls", "starttls-required"] | str
    ProjectSettingsTransport: TypeAlias = Literal["capture", "direct", "relay", "ses"] | str
    ProjectSettingsFallbackTransports: TypeAlias = Literal["direct", "relay", "ses"] | str
    ProjectSettingsOnAmbiguous: TypeAlias = Literal["hold", "retry"] | str
    RecipientMessageStatus: TypeAlias = (
        Literal[
            "BOUNCED",
            "CANCELLED",
            "COMPLAINED",
            "DELAYED",
            "DELIVERED",
            "EXPIRED",
            "FAILED",
            "QUEUED",
            "SCHEDULED",
            "SENT",
            "SUPPRESSED",
        ]
        | str
    )
    RecipientOutcomeField: TypeAlias = Literal["bcc", "cc", "to"] | str
    RecipientOutcomeStatus: TypeAlias = (
        Literal[
            "BOUNCED",
            "CANCELLED",
            "COMPLAINED",
            "DELAYED",
            "DELIVERED",
            "EXPIRED",
            "FAILED",
            "QUEUED",
            "SCHEDULED",
            "SENT",
            "SUPPRESSED",
        ]
        | str
    )
    ReportReceiptType: TypeAlias = Literal["automatic_reply", "complaint", "delivery", "unrecognized"] | str
    ReportedResultKind: TypeAlias = Literal["BOUNCED", "COMPLAINED", "DELAYED", "DELIVERED"] | str
    ReportedResultResult: TypeAlias = Literal["applied", "unchanged", "unknown_send"] | str
    ReputationState: TypeAlias = Literal["HEALTHY", "HELD", "WARNING"] | str
    RoleScope: TypeAlias = Literal["ORGANIZATION", "PROJECT"] | str
    RuleConditionMatch: TypeAlias = Literal["all", "any"] | str
    RulesMatch: TypeAlias = Literal["all", "any"] | str
    SendAttemptOutcome: TypeAlias = Literal["ACCEPTED", "AMBIGUOUS", "DEFERRED", "FAILED", "REJECTED"] | str
    SendEventType: TypeAlias = (
        Literal["Bounce", "Click", "Complaint", "Delivery", "DeliveryDelay", "Open", "Reject", "Send"] | str
    )
    SendReportKind: TypeAlias = Literal["BOUNCED", "COMPLAINED", "DELAYED", "DELIVERED"] | str
    SendResultStatus: TypeAlias = (
        Literal[
            "BOUNCED",
            "CANCELLED",
            "COMPLAINED",
            "DELAYED",
            "DELIVERED",
            "EXPIRED",
            "FAILED",
            "QUEUED",
            "SCHEDULED",
            "SENT",
            "SUPPRESSED",
        ]
        | str
    )
    SenderStatus: TypeAlias = Literal["PENDING", "VERIFIED"] | str
    SettingsChangeTransport: TypeAlias = Literal["capture", "direct", "relay", "ses"] | str
    SettingsChangeFallbackTransports: TypeAlias = Literal["direct", "relay", "ses"] | str
    SettingsChangeOnAmbiguous: TypeAlias = Literal["hold", "retry"] | str
    SetupLinkSteps: TypeAlias = Literal["DOMAIN", "SCIM", "SSO"] | str
    SetupLinkStatus: TypeAlias = Literal["COMPLETED", "EXPIRED", "OPENED", "PENDING", "REVOKED"] | str
    SetupLinkProvider: TypeAlias = Literal["ENTRA", "GOOGLE", "JUMPCLOUD", "OIDC", "OKTA", "SAML"] | str
    SetupLinkWithUrlSteps: TypeAlias = Literal["DOMAIN", "SCIM", "SSO"] | str
    SetupLinkWithUrlStatus: TypeAlias = Literal["COMPLETED", "EXPIRED", "OPENED", "PENDING", "REVOKED"] | str
    SetupLinkWithUrlProvider: TypeAlias = Literal["ENTRA", "GOOGLE", "JUMPCLOUD", "OIDC", "OKTA", "SAML"] | str
    SignInChangeMethods: TypeAlias = Literal["EMAIL_CODE", "EMAIL_LINK", "PASSKEY", "PASSWORD"] | str
    SignInChangeVerifyEmail: TypeAlias = Literal["LATER", "REQUIRED"] | str
    SignInChangeSecurityMails: TypeAlias = (
        Literal["EMAIL_CHANGED", "IDENTITY_CHANGED", "IMPERSONATED", "MFA_CHANGED", "NEW_DEVICE", "PASSWORD_CHANGED"]
        | str
    )
    SignInChangeContacts: TypeAlias = Literal["CREATE", "LINK", "NONE"] | str
    SignInChangeDefaultLanguage: TypeAlias = Literal["de", "en", "es", "fr", "ja", "pt"] | str
    SignInChangeClientRegistration: TypeAlias = Literal["OFF", "OPEN", "TOKEN"] | str
    SignInHookKind: TypeAlias = Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str
    SignInHookOnFailure: TypeAlias = Literal["CONTINUE", "REFUSE"] | str
    SignInHookWithSecretKind: TypeAlias = Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str
    SignInHookWithSecretOnFailure: TypeAlias = Literal["CONTINUE", "REFUSE"] | str
    SignInProviderKind: TypeAlias = (
        Literal[
            "APPLE", "DISCORD", "FACEBOOK", "GITHUB", "GITLAB", "GOOGLE", "LINKEDIN", "MICROSOFT", "OIDC", "SLACK", "X"
        ]
        | str
    )
    SignInProviderOnNewSubject: TypeAlias = Literal["HOLD", "REFUSE"] | str
    SignInSettingsMethods: TypeAlias = Literal["EMAIL_CODE", "EMAIL_LINK", "PASSKEY", "PASSWORD"] | str
    SignInSettingsVerifyEmail: TypeAlias = Literal["LATER", "REQUIRED"] | str
    SignInSettingsSecurityMails: TypeAlias = (
        Literal["EMAIL_CHANGED", "IDENTITY_CHANGED", "IMPERSONATED", "MFA_CHANGED", "NEW_DEVICE", "PASSWORD_CHANGED"]
        | str
    )
    SignInSettingsContacts: TypeAlias = Literal["CREATE", "LINK", "NONE"] | str
    SignInSettingsDefaultLanguage: TypeAlias = Literal["de", "en", "es", "fr", "ja", "pt"] | str
    SignInSettingsClientRegistration: TypeAlias = Literal["OFF", "OPEN", "TOKEN"] | str
    SignInSettingsHooks: TypeAlias = Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] | str
    SpCertificatePlace: TypeAlias = Literal["CURRENT", "NEXT", "PREVIOUS"] | str
    SpamHintCode: TypeAlias = (
        Literal[
            "client_name_invalid",
            "date_far_off",
            "dmarc_fail",
            "name_has_other_address",
            "no_date",
            "no_message_id",
            "not_authenticated",
            "program_attached",
            "reply_to_other_domain",
            "several_authors",
            "spf_fail",
        ]
        | str
    )
    SpfResultVerdict: TypeAlias = Literal["fail", "neutral", "none", "pass", "permerror", "softfail", "temperror"] | str
    SsoCertificateExpiringDataOwner: TypeAlias = Literal["IDP", "SP"] | str
    SsoConnectionKind: TypeAlias = Literal["OIDC", "SAML"] | str
    SsoConnectionStatus: TypeAlias = Literal["ACTIVE", "DRAFT", "INACTIVE"] | str
    SsoConnectionIdpSsoBinding: TypeAlias = Literal["POST", "REDIRECT"] | str
    SsoConnectionIdpSloBinding: TypeAlias = Literal["POST", "REDIRECT"] | str
    SsoConnectionOnNewSubject: TypeAlias = Literal["HOLD", "REFUSE"] | str
    SsoConnectionWithOrganizationKind: TypeAlias = Literal["OIDC", "SAML"] | str
    SsoConnectionWithOrganizationStatus: TypeAlias = Literal["ACTIVE", "DRAFT", "INACTIVE"] | str
    SsoConnectionWithOrganizationIdpSsoBinding: TypeAlias = Literal["POST", "REDIRECT"] | str
    SsoConnectionWithOrganizationIdpSloBinding: TypeAlias = Literal["POST", "REDIRECT"] | str
    SsoConnectionWithOrganizationOnNewSubject: TypeAlias = Literal["HOLD", "REFUSE"] | str
    SsoTraceKind: TypeAlias = Literal["LOGOUT", "SIGN_ON", "TEST"] | str
    SsoTraceOutcome: TypeAlias = Literal["ACCEPTED", "REFUSED"] | str
    StepUpOptionsMethods: TypeAlias = Literal["EMAIL_CODE", "PASSKEY", "PASSWORD", "RECOVERY_CODE", "TOTP"] | str
    SuppressionReason: TypeAlias = Literal["BOUNCE", "COMPLAINT", "MANUAL", "UNSUBSCRIBE"] | str
    TemplateEngine: TypeAlias = Literal["minijinja", "none"] | str
    TemplateVersionEngine: TypeAlias = Literal["minijinja", "none"] | str
    ThemeChangeCorners: TypeAlias = Literal["LARGE", "MEDIUM", "SMALL", "SQUARE"] | str
    ThemeChangeFont: TypeAlias = Literal["GEOMETRIC", "HUMANIST", "MONOSPACE", "ROUNDED", "SERIF", "SYSTEM"] | str
    ThemeChangeHeadingFont: TypeAlias = (
        Literal["GEOMETRIC", "HUMANIST", "MONOSPACE", "ROUNDED", "SERIF", "SYSTEM"] | str
    )
    ThemeSettingsCorners: TypeAlias = Literal["LARGE", "MEDIUM", "SMALL", "SQUARE"] | str
    ThemeSettingsFont: TypeAlias = Literal["GEOMETRIC", "HUMANIST", "MONOSPACE", "ROUNDED", "SERIF", "SYSTEM"] | str
    ThemeSettingsHeadingFont: TypeAlias = (
        Literal["GEOMETRIC", "HUMANIST", "MONOSPACE", "ROUNDED", "SERIF", "SYSTEM"] | str
    )
    TimelineEntryKind: TypeAlias = Literal["AUDIT", "EMAIL", "EVENT", "SESSION"] | str
    TrackingHitKind: TypeAlias = Literal["CLICK", "OPEN", "UNSUBSCRIBE"] | str
    TrackingHitVerdict: TypeAlias = Literal["human", "machine", "proxy"] | str
    TriggerType: TypeAlias = Literal["AUDIENCE_JOINED", "AUDIENCE_LEFT", "CONTACT_CREATED", "EVENT"] | str
    UnrecognizedMessageSource: TypeAlias = Literal["api", "smtp"] | str
    WarmUpStatus: TypeAlias = Literal["ACTIVE", "CANCELLED", "COMPLETED", "SCHEDULED"] | str
    WebhookFormat: TypeAlias = Literal["postern", "resend"] | str
    WebhookDeliveryStatus: TypeAlias = Literal["FAILED", "PENDING", "SUCCEEDED"] | str
    WebhookDeliveryDetailStatus: TypeAlias = Literal["FAILED", "PENDING", "SUCCEEDED"] | str
    WebhookWithSecretFormat: TypeAlias = Literal["postern", "resend"] | str
else:
    # A server that is newer than this package may send other values, which must not be an error.
    AccessDecisionReason = str
    AccessDecisionScope = str
    AccessExplanationStep = str
    AccountInvitationRole = str
    AccountMemberRole = str
    AccountProfileRole = str
    ApiKeyType = str
    ApiKeyEnvironment = str
    AppSsoConnectionStatus = str
    AssetContentType = str
    AudienceType = str
    AutomationRunStatus = str
    AutomationRunDetailStatus = str
    AutomationRunStepOutcome = str
    BillingPlan = str
    BillingBillingCycle = str
    BillingStatus = str
    BlocklistEntryStatus = str
    CampaignStatus = str
    CampaignAbTestMetric = str
    CampaignDetailStatus = str
    CampaignDetailAbTestMetric = str
    ContactAttributeType = str
    ContactImportStatus = str
    ContactImportMode = str
    ContactImportCharsetFrom = str
    ContactImportColumnDecidedBy = str
    ContactImportPreviewCharsetFrom = str
    ContactImportPreviewDelimiterFrom = str
    ContactImportPreviewColumnDecidedBy = str
    ContactImportPreviewColumnType = str
    CustomerMailMail = str
    CustomerMailRequiredBlock = str
    CustomerMailEditedLanguages = str
    DeliverySiteTransport = str
    DeliverySiteState = str
    DeliverySiteSuspensionBy = str
    DeveloperRole = str
    DirectoryConnectionStatus = str
    DirectoryConnectionWithTokenStatus = str
    DkimResultVerdict = str
    DmarcResultVerdict = str
    DmarcResultPolicy = str
    DnsRecordType = str
    DnsRecordPurpose = str
    DnsRecordStatus = str
    DomainStatus = str
    DomainCertificateStatus = str
    DomainJoinReason = str
    DryRunStatus = str
    DryRunReasonCode = str
    DryRunStepOutcome = str
    EmailEngine = str
    EmailBatchItemStatus = str
    EmailLogEntryStatus = str
    EmailLogEntryDetailStatus = str
    EmailLogEntryDetailEngine = str
    EmailWaitingCause = str
    EntitlementType = str
    EntitlementSource = str
    FeatureType = str
    FindingSeverity = str
    FormerReasonReason = str
    IdentityRequestStatus = str
    ImportedRowOutcome = str
    InboundMessageSource = str
    InboundMessageSpf = str
    InboundMessageDkim = str
    InboundMessageDmarc = str
    InboundSummarySource = str
    InboundSummarySpf = str
    InboundSummaryDkim = str
    InboundSummaryDmarc = str
    InvitationPreviewStatus = str
    ListedAudienceType = str
    ListedCampaignStatus = str
    ListedCampaignAbTestMetric = str
    MailBlockType = str
    MailTextMail = str
    MailTextLanguage = str
    MxRecordType = str
    MxRecordStatus = str
    OAuthClientEnvironment = str
    OAuthClientType = str
    OAuthClientSecurityProfile = str
    OAuthClientIdTokenSigningAlg = str
    OAuthClientWithSecretEnvironment = str
    OAuthClientWithSecretType = str
    OAuthClientWithSecretSecurityProfile = str
    OAuthClientWithSecretIdTokenSigningAlg = str
    OAuthResourceEnvironment = str
    OrganizationStatus = str
    OrganizationAllowedMethods = str
    OrganizationDomainStatus = str
    OrganizationDomainReason = str
    OrganizationInvitationStatus = str
    OrganizationMemberSource = str
    OrganizationMembershipStatus = str
    PageTextPages = str
    ProjectRelayTls = str
    ProjectSettingsTransport = str
    ProjectSettingsFallbackTransports = str
    ProjectSettingsOnAmbiguous = str
    RecipientMessageStatus = str
    RecipientOutcomeField = str
    RecipientOutcomeStatus = str
    ReportReceiptType = str
    ReportedResultKind = str
    ReportedResultResult = str
    ReputationState = str
    RoleScope = str
    RuleConditionMatch = str
    RulesMatch = str
    SendAttemptOutcome = str
    SendEventType = str
    SendReportKind = str
    SendResultStatus = str
    SenderStatus = str
    SettingsChangeTransport = str
    SettingsChangeFallbackTransports = str
    SettingsChangeOnAmbiguous = str
    SetupLinkSteps = str
    SetupLinkStatus = str
    SetupLinkProvider = str
    SetupLinkWithUrlSteps = str
    SetupLinkWithUrlStatus = str
    SetupLinkWithUrlProvider = str
    SignInChangeMethods = str
    SignInChangeVerifyEmail = str
    SignInChangeSecurityMails = str
    SignInChangeContacts = str
    SignInChangeDefaultLanguage = str
    SignInChangeClientRegistration = str
    SignInHookKind = str
    SignInHookOnFailure = str
    SignInHookWithSecretKind = str
    SignInHookWithSecretOnFailure = str
    SignInProviderKind = str
    SignInProviderOnNewSubject = str
    SignInSettingsMethods = str
    SignInSettingsVerifyEmail = str
    SignInSettingsSecurityMails = str
    SignInSettingsContacts = str
    SignInSettingsDefaultLanguage = str
    SignInSettingsClientRegistration = str
    SignInSettingsHooks = str
    SpCertificatePlace = str
    SpamHintCode = str
    SpfResultVerdict = str
    SsoCertificateExpiringDataOwner = str
    SsoConnectionKind = str
    SsoConnectionStatus = str
    SsoConnectionIdpSsoBinding = str
    SsoConnectionIdpSloBinding = str
    SsoConnectionOnNewSubject = str
    SsoConnectionWithOrganizationKind = str
    SsoConnectionWithOrganizationStatus = str
    SsoConnectionWithOrganizationIdpSsoBinding = str
    SsoConnectionWithOrganizationIdpSloBinding = str
    SsoConnectionWithOrganizationOnNewSubject = str
    SsoTraceKind = str
    SsoTraceOutcome = str
    StepUpOptionsMethods = str
    SuppressionReason = str
    TemplateEngine = str
    TemplateVersionEngine = str
    ThemeChangeCorners = str
    ThemeChangeFont = str
    ThemeChangeHeadingFont = str
    ThemeSettingsCorners = str
    ThemeSettingsFont = str
    ThemeSettingsHeadingFont = str
    TimelineEntryKind = str
    TrackingHitKind = str
    TrackingHitVerdict = str
    TriggerType = str
    UnrecognizedMessageSource = str
    WarmUpStatus = str
    WebhookFormat = str
    WebhookDeliveryStatus = str
    WebhookDeliveryDetailStatus = str
    WebhookWithSecretFormat = str


class AcceptedInvitation(Record, frozen=True, kw_only=True):
    """The result of accepting an invitation."""

    invitation: OrganizationInvitation
    """The invitation."""
    organization: OrganizationRef
    """The organization."""
    roles: list[str]
    """Keys of the roles."""


class AccessCheck(Record, frozen=True, kw_only=True):
    """A check whether a customer has a permission in the project or in one of its organizations."""

    permission: str
    """Permission to check."""
    customer_id: str | None | UnsetType = UNSET
    """Required, except with a customer's token, which implies the customer."""
    organization_id: str | None | UnsetType = UNSET
    """Id of the organization."""


class AccessDecision(Record, frozen=True, kw_only=True):
    """Whether a customer has a permission, and why."""

    allowed: bool
    """Whether access is allowed."""
    reason: AccessDecisionReason
    """Reason, as text."""
    permission: str
    """Permission to check."""
    scope: AccessDecisionScope
    """Whether it applies to the whole project or to one organization."""
    roles: list[str]
    """The customer's roles in the scope. In an organization, also the roles for all organizations that grant the
    permission.
    """
    explanation: list[AccessExplanation]
    """The steps that led to the decision."""
    customer_id: str | None
    """Id of the customer."""
    organization_id: str | None
    """Id of the organization."""


class AccessDecisions(Record, frozen=True, kw_only=True):
    """The results of several checks, in the order of the request."""

    results: list[AccessDecision]
    """One result for each item, in the order of the request."""


class AccessExplanation(Record, frozen=True, kw_only=True):
    """One step of a check. All checks in the same scope have the same steps, in the same order."""

    step: AccessExplanationStep
    """Description or index of the step."""
    ok: bool
    """Whether it succeeded."""
    roles: list[str]
    """The roles that grant the permission, if the step concerns roles."""


class AccountAuditEntry(Record, frozen=True, kw_only=True):
    """A change in an account, with its actor and IP address; `projectId` is null for changes of the account itself."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    actor_email: str | None
    """E-mail address of the actor; null if the actor is not a person."""
    action: str
    """The action, as `noun.verb`."""
    target_type: str
    """Type of the record that was acted on."""
    target_id: str | None
    """Id of the record that was acted on."""
    metadata: dict[str, Any]
    """Details of the action."""
    impersonated_by_staff_email: str | None
    """E-mail address of the staff member who impersonated the actor; null if nobody did."""
    created_at: datetime
    """When the record was created (UTC)."""
    project_id: str | None
    """Id of the project."""
    actor_type: str
    """Kind of actor: `DEVELOPER`, `API_KEY`, `TEST_KEY`, `CUSTOMER` or `SYSTEM`."""
    actor_id: str | None
    """Id of the actor; null for the service itself."""
    ip_address: str | None
    """IP address of the client."""


class AccountExport(Record, frozen=True, kw_only=True):
    """Everything that is kept about an account."""

    exported_at: datetime
    """When this copy was made."""
    account: CurrentCustomer
    """The account."""
    phone_verified_at: datetime | None
    """When the phone number was verified (UTC); null if it is not verified."""
    last_sign_in_at: datetime | None
    """When the last sign-in was (UTC); null if there was none."""
    emails: list[OwnAddress]
    """The e-mails, or their number or maximum number; a null maximum means unlimited."""
    identities: list[OwnIdentity]
    """The ways to sign in that the account has used."""
    passkeys: list[Passkey]
    """Passkeys that were created for the domain of this project."""
    remembered_devices: list[MyRememberedDevice]
    """The devices on which the second factor is not asked for."""
    sessions: list[OwnSession]
    """Open sessions."""
    organizations: list[OrganizationMembership]
    """The 50 receivers that reported the most messages."""
    connected_apps: list[OAuthConsent]
    """The apps that may use the account, and what they may do."""
    accepted_terms: list[TermsAcceptance]
    """The version of the terms that the person has accepted; for an account, all of them."""
    events: list[ExportedEvent]
    """Names of events, or the events."""


class AccountInvitation(Record, frozen=True, kw_only=True):
    """An open invitation to an account. It is deleted when accepted or revoked."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str
    """E-mail address."""
    role: AccountInvitationRole
    """Role of the person."""
    invited_by: str
    """E-mail address of the person who sent the invitation."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""
    created_at: datetime
    """When the record was created (UTC)."""


class AccountMember(Record, frozen=True, kw_only=True):
    """A member of an account, as other members see it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str
    """E-mail address."""
    name: str
    """Display name."""
    role: AccountMemberRole
    """Role of the person."""
    mfa_enabled_at: datetime | None
    """When the second factor was set up (UTC); null if there is none."""
    joined_at: datetime
    """When the person became a member (UTC)."""
    last_sign_in_at: datetime | None
    """When the last sign-in was (UTC); null if there was none."""


class AccountProfile(Record, frozen=True, kw_only=True):
    """The signed-in developer, with the account and its projects."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str
    """E-mail address."""
    name: str
    """Display name."""
    role: AccountProfileRole
    """Role of the person."""
    email_verified_at: datetime | None
    """When the e-mail address was verified (UTC); null if it is not verified."""
    pending_email: str | None
    """A new address that has not been confirmed yet."""
    mfa_enabled_at: datetime | None
    """When the second factor was set up (UTC); null if there is none."""
    recovery_codes_left: int
    """Number of unused recovery codes."""
    joined_at: datetime
    """When the person became a member (UTC)."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    account: AccountSummary
    """The account."""
    projects: list[Project]
    """Projects of the account, or their number or maximum number; a null maximum means unlimited."""


class AccountSummary(Record, frozen=True, kw_only=True):
    """The account that a developer belongs to."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""


class AddToAudience(Record, frozen=True, kw_only=True, tag_field="type", tag="ADD_TO_AUDIENCE"):
    """Add the contact to a STATIC audience."""

    audience_id: str
    """Id of the audience."""


class ApiKey(Record, frozen=True, kw_only=True):
    """An API key of a project. Only the response to its creation contains the whole `key`."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    type: ApiKeyType
    """Type of the record."""
    environment: ApiKeyEnvironment
    """`LIVE` or `TEST`. Mail that is sent with a TEST key is captured and not delivered."""
    permissions: list[str] | None
    """Null: all permissions of the project except `projects:write` and `customers:impersonate`, none of the
    account.
    """
    ip_allow_list: list[str] | None
    """IP addresses and networks that can use the key; null allows all."""
    expires_at: datetime | None
    """When it expires (UTC); null if it does not expire."""
    key: str
    """Key that identifies it in requests, or the API key."""
    last_used_at: datetime | None
    """When it was last used (UTC), to the minute; null if it was never used."""
    created_at: datetime
    """When the record was created (UTC)."""


class AppOrganization(Record, frozen=True, kw_only=True):
    """An organization as the operations under `/apps` return it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    name: str
    """Display name."""
    slug: str
    """Name for URLs, unique in the project."""
    metadata: dict[str, Any]
    """Custom data, up to 16 KiB of JSON."""
    require_sso: bool
    """Whether its members and customers at its domains can sign in only by its single sign-on."""
    require_mfa: bool
    """Whether its members must sign in with a second factor."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    member_count: int
    """Number of members."""
    pending_invitation_count: int
    """Number of pending invitations."""


class AppSsoConnection(Record, frozen=True, kw_only=True):
    """A connection of an organization to its identity provider, as the operations under `/apps` return it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    organization_id: str
    """Id of the organization."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    name: str
    """Display name."""
    domain: str
    """Domain name."""
    status: AppSsoConnectionStatus
    """Status of the record."""
    held: str | None
    """Why the connection is on hold; null if it is not."""
    idp_entity_id: str | None
    """Entity id of the identity provider."""
    idp_sso_url: str | None
    """Single sign-on URL of the identity provider."""
    idp_certificate: list[str]
    """Signing certificates of the identity provider, in PEM."""
    sp_certificate: str
    """Certificate with which this service signs requests and decrypts assertions, in PEM."""
    sp_entity_id: str
    """Entity id of this service."""
    sp_acs_url: str
    """Assertion consumer service URL of this service."""
    sp_slo_url: str
    """Single logout URL of this service."""
    sp_metadata_url: str
    """URL of this service's metadata."""
    login_url: str
    """URL that starts the sign-in; null if there is none."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class Asset(Record, frozen=True, kw_only=True):
    """An image."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    project_id: str
    """Id of the project."""
    name: str
    """The name that was given at the upload; it has no meaning for Postern."""
    url: str
    """The public address of the image. Its content never changes."""
    content_type: AssetContentType
    """Media type of the file."""
    size: int
    """Size of the stored file in bytes. Metadata in the file, such as a position, is removed at the upload and not
    counted.
    """
    width: int
    """In pixels."""
    height: int
    """In pixels."""
    created_at: datetime
    """When the record was created (UTC)."""


class AttributeMapping(Record, frozen=True, kw_only=True):
    """For each profile field, the `Name` or `FriendlyName` of its SAML attribute, or the name of its claim. Omitted
    fields use common names.
    """

    subject: str | None | UnsetType = UNSET
    """Persistent identifier of a user; defaults to the NameID, or the claim `sub`."""
    email: str | None | UnsetType = UNSET
    """SAML attribute with the e-mail address."""
    name: str | None | UnsetType = UNSET
    """SAML attribute with the full name."""
    first_name: str | None | UnsetType = UNSET
    """SAML attribute or claim with the first name."""
    last_name: str | None | UnsetType = UNSET
    """SAML attribute or claim with the last name."""
    groups: str | None | UnsetType = UNSET
    """SAML attribute or claim with the groups."""


class Audience(Record, frozen=True, kw_only=True):
    """A list of contacts: STATIC (added by callers) or DYNAMIC (chosen by rules)."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    name: str
    """Display name."""
    type: AudienceType
    """Type of the record."""
    rules: dict[str, Any] | None
    """The rules that choose the members; null for a STATIC audience."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class AudienceBulkResult(Record, frozen=True, kw_only=True):
    """Result of a bulk addition. `skipped` counts invalid and duplicate addresses and existing members."""

    added: int
    """Number of records that were added."""
    skipped: int
    """Number of records that were skipped."""


class AudienceChangeResult(Record, frozen=True, kw_only=True):
    """Number of contacts that joined and left."""

    added: int
    """Number of records that were added."""
    removed: int
    """Whether a record was removed."""


class AudienceEventData(Record, frozen=True, kw_only=True):
    """Data of events about an audience. `id` is the id of the audience."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    name: str
    """Name of the audience."""


class AudienceMemberData(Record, frozen=True, kw_only=True):
    """Data of `audience.joined` and `audience.left`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    audience_id: str
    """Id of the audience."""
    contact_id: str
    """Id of the contact."""


class AudienceMembership(Record, frozen=True, kw_only=True):
    """One contact in one audience."""

    audience_id: str
    """Id of the audience."""
    contact_id: str
    """Id of the contact; null if there is none."""


class AudiencePreview(Record, frozen=True, kw_only=True):
    """The contacts that rules choose now."""

    count: int
    """The number of all contacts that match."""
    contacts: list[Contact]
    """The newest contacts that match, at most 10."""


class AudienceRefilledData(Record, frozen=True, kw_only=True):
    """Data of `audience.refilled`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    name: str
    """Name of the audience."""
    added: int
    """Number of contacts that joined."""
    removed: int
    """Number of contacts that left."""


class AuditEntry(Record, frozen=True, kw_only=True):
    """One change by a developer or a key."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    actor_email: str | None
    """E-mail address of the actor; null if the actor is not a person."""
    action: str
    """The action, as `noun.verb`."""
    target_type: str
    """Type of the record that was acted on."""
    target_id: str | None
    """Id of the record that was acted on."""
    metadata: dict[str, Any]
    """Details of the action."""
    impersonated_by_staff_email: str | None
    """E-mail address of the staff member who impersonated the actor; null if nobody did."""
    created_at: datetime
    """When the record was created (UTC)."""


class Automation(Record, frozen=True, kw_only=True):
    """A trigger and the steps that it starts."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    name: str
    """Display name."""
    trigger: dict[str, Any]
    """Trigger that starts runs."""
    steps: list[dict[str, Any]]
    """The steps, in order."""
    active: bool
    """Whether the record is active."""
    version: int
    """Incremented by each change of the steps; a run keeps the version with which it started."""
    max_runs_per_hour: int
    """Maximum runs that one contact can start within an hour. Further ones are counted as `limited`."""
    allow_loops: bool
    """Whether the automation may be active even if it is part of a loop."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class AutomationEndedData(Record, frozen=True, kw_only=True):
    """Data of `automation.completed` and `automation.failed`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    automation_id: str
    """Id of the automation."""
    contact_id: str | None
    """Id of the contact for whom the automation runs."""
    status: str
    """How the run ended, such as `COMPLETED`, `CANCELLED` or `FAILED`."""
    error: str | None
    """Why the run failed or was cancelled; null if it completed."""


class AutomationRun(Record, frozen=True, kw_only=True):
    """The run of one contact through an automation."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    automation_id: str
    """Id of the automation."""
    contact_id: str
    """Id of the contact; null if there is none."""
    version: int
    """Version number, from 1. Each change increments it."""
    current_step: int
    """Index of the step when all steps are numbered from 0: a branching step, then the steps in its `then`, then
    those in its `else`, then the step after it.
    """
    status: AutomationRunStatus
    """Status of the record."""
    error: str | None
    """Why it failed; null if it did not fail."""
    next_at: datetime | None
    """When the run continues by itself: at the end of a delay, or when the timeout of a wait for an event passes."""
    waiting_for: str | None
    """Name of the event that the run waits for, if any."""
    started_at: datetime
    """When it started (UTC)."""
    finished_at: datetime | None
    """When it finished (UTC); null while it is running."""


class AutomationRunDetail(Record, frozen=True, kw_only=True):
    """A run with its history."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    automation_id: str
    """Id of the automation."""
    contact_id: str
    """Id of the contact; null if there is none."""
    version: int
    """Version number, from 1. Each change increments it."""
    current_step: int
    """Index of the step when all steps are numbered from 0: a branching step, then the steps in its `then`, then
    those in its `else`, then the step after it.
    """
    status: AutomationRunDetailStatus
    """Status of the record."""
    error: str | None
    """Why it failed; null if it did not fail."""
    next_at: datetime | None
    """When the run continues by itself: at the end of a delay, or when the timeout of a wait for an event passes."""
    waiting_for: str | None
    """Name of the event that the run waits for, if any."""
    started_at: datetime
    """When it started (UTC)."""
    finished_at: datetime | None
    """When it finished (UTC); null while it is running."""
    steps: list[AutomationRunStep]
    """The steps, in order."""


class AutomationRunPosition(Record, frozen=True, kw_only=True):
    """The number of unfinished runs at one step of one version of an automation."""

    version: int
    """Version number, from 1. Each change increments it."""
    step: int
    """Index of the step in this version, numbered as in `AutomationRun.current_step`."""
    runs: int
    """Number of the unfinished runs at this step."""


class AutomationRunStep(Record, frozen=True, kw_only=True):
    """The outcome of an executed step."""

    step: int
    """Description or index of the step."""
    type: str
    """Type of the record."""
    outcome: AutomationRunStepOutcome
    """Outcome of the attempt."""
    detail: dict[str, Any]
    """Further details, as text."""
    started_at: datetime
    """When it started (UTC)."""
    finished_at: datetime
    """When it finished (UTC); null while it is running."""


class AutomationRunTotals(Record, frozen=True, kw_only=True):
    """Numbers of runs, and of runs and messages that a limit prevented."""

    total_runs: int
    """Number of runs."""
    completed: int
    """Runs that reached the end or an EXIT step."""
    failed: int
    """Number of failures."""
    limited: int
    """Runs that did not start because the contact had already started `maxRunsPerHour` runs within the last hour."""
    capped: int
    """Messages that were not sent because of the project's frequency cap."""


class AutomationStartedData(Record, frozen=True, kw_only=True):
    """Data of events about a run of an automation. `id` is the id of the run."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    automation_id: str
    """Id of the automation."""
    contact_id: str | None
    """Id of the contact for whom the automation runs."""


class AutomationTotals(Record, frozen=True, kw_only=True):
    """Numbers of runs of the project's automations."""

    total_runs: int
    """Number of runs."""
    completed: int
    """Number of completed runs."""
    failed: int
    """Number of failures."""
    success_rate: float
    """Share of finished runs that completed, from 0 to 1."""


class AutomationWebhookSecret(Record, frozen=True, kw_only=True):
    """The secret that signs the calls of an automation's WEBHOOK steps."""

    secret: str
    """Shared secret. Shown only once."""


class Billing(Record, frozen=True, kw_only=True):
    """The plan, usage and limits of an account."""

    plan: BillingPlan
    """Plan of the account."""
    billing_cycle: BillingBillingCycle | None
    """Billing cycle of the plan: `monthly` or `yearly`, in lower case."""
    status: BillingStatus
    """Status of the subscription at the payment provider."""
    current_period_end: datetime | None
    """End of the paid period (UTC); null without a paid plan."""
    b2b_enhanced: bool
    """Whether the account has the B2B add-on."""
    usage: Usage
    """Usage that counts towards the limits."""
    limits: PlanLimits
    """Limits of the plan."""
    provider: str
    """Key of the sign-in provider, such as `GOOGLE`, or name of the payment provider."""


class BillingPageUrl(Record, frozen=True, kw_only=True):
    """The URL of a page to open in a browser."""

    url: str
    """The URL."""


class BlocklistEntry(Record, frozen=True, kw_only=True):
    """The status of the domain, or of an IP address that sends its mail, on one blocklist."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    list_name: str
    """Name of the blocklist."""
    listed: bool
    """Whether the last check with a result, LISTED or CLEAR, found it listed."""
    status: BlocklistEntryStatus
    """The result of the last check. UNKNOWN: the blocklist refused the query, failed its health check or did not
    respond.
    """
    codes: list[str]
    """Response codes of the blocklist."""
    reason: str
    """Reason, as text."""
    first_listed_at: datetime | None
    """When the listing was first detected (UTC); null if it is not listed."""
    last_checked_at: datetime | None
    """When it was last checked (UTC); null before the first check."""
    subject_value: str
    """IP address or domain that was checked."""


class BulkContact(Record, frozen=True, kw_only=True):
    """One contact of a bulk addition; the attributes are merged into a contact that exists."""

    email: str
    """E-mail address."""
    attributes: dict[str, Any] | UnsetType = UNSET
    """Custom data about the contact, for templates and audience rules."""


class ByDomainItem(Record, frozen=True, kw_only=True):
    """The statistics of one sending domain."""

    domain: str
    """Domain name."""
    domain_id: str
    """Id of the sending domain."""
    status: str
    """Status of the record."""
    total: int
    """Total number of records."""
    delivered: int
    """Number of messages that were delivered."""
    bounced: int
    """Number of messages that bounced."""
    complained: int
    """Number of messages that were reported as spam."""
    opened: int
    """Number of messages that people opened."""
    clicked: int
    """Number of messages in which people clicked a link."""
    bounce_rate: float
    """Share of messages that bounced, from 0 to 1."""
    complaint_rate: float
    """Share of messages that were reported as spam, from 0 to 1."""
    open_rate: float
    """Share of messages that were opened, from 0 to 1."""


class CallWebhook(Record, frozen=True, kw_only=True, tag_field="type", tag="WEBHOOK"):
    """POST the contact to a URL, signed like webhooks. After five failed attempts the run continues."""

    url: str
    """The URL."""


class Campaign(Record, frozen=True, kw_only=True):
    """A campaign."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    subject: str | None
    """Subject line."""
    from_name: str | None
    """Display name of the sender."""
    from_email: str | None
    """E-mail address of the sender."""
    preview_text: str | None
    """Preview text that mail clients show after the subject."""
    status: CampaignStatus
    """Status of the record."""
    scheduled_at: datetime | None
    """When to send it (UTC); null for immediately."""
    sent_at: datetime | None
    """When it was sent (UTC); null if it was not sent."""
    template_id: str | None
    """Id of the template that provides subject, html and text."""
    domain_id: str | None
    """Id of the sending domain."""
    audience_id: str | None
    """Id of the audience."""
    ab_test_enabled: bool
    """Whether the campaign has an A/B test."""
    ab_test_sample_percent: int | None
    """Share of the audience in the A/B test, in percent (5 to 100)."""
    ab_test_metric: CampaignAbTestMetric | None
    """Rate that decides the A/B test."""
    ab_test_duration_minutes: int | None
    """Duration of the A/B test in minutes (15 to 10,080)."""
    ab_test_started_at: datetime | None
    """When the A/B test started (UTC); null if it has not started."""
    ab_test_sample_size: int | None
    """Contacts in the test, chosen when it begins: `abTestSamplePercent` of the audience, but at least one contact
    for each variant.
    """
    reason: str | None
    """Why the campaign failed; null unless its status is FAILED."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    app_id: str
    """The project's id. The older path family calls a project an app."""


class CampaignDetail(Record, frozen=True, kw_only=True):
    """A campaign with its variants, statistics and progress."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    subject: str | None
    """Subject line."""
    from_name: str | None
    """Display name of the sender."""
    from_email: str | None
    """E-mail address of the sender."""
    preview_text: str | None
    """Preview text that mail clients show after the subject."""
    status: CampaignDetailStatus
    """Status of the record."""
    scheduled_at: datetime | None
    """When to send it (UTC); null for immediately."""
    sent_at: datetime | None
    """When it was sent (UTC); null if it was not sent."""
    template_id: str | None
    """Id of the template that provides subject, html and text."""
    domain_id: str | None
    """Id of the sending domain."""
    audience_id: str | None
    """Id of the audience."""
    ab_test_enabled: bool
    """Whether the campaign has an A/B test."""
    ab_test_sample_percent: int | None
    """Share of the audience in the A/B test, in percent (5 to 100)."""
    ab_test_metric: CampaignDetailAbTestMetric | None
    """Rate that decides the A/B test."""
    ab_test_duration_minutes: int | None
    """Duration of the A/B test in minutes (15 to 10,080)."""
    ab_test_started_at: datetime | None
    """When the A/B test started (UTC); null if it has not started."""
    ab_test_sample_size: int | None
    """Contacts in the test, chosen when it begins: `abTestSamplePercent` of the audience, but at least one contact
    for each variant.
    """
    reason: str | None
    """Why the campaign failed; null unless its status is FAILED."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    variants: list[CampaignVariant]
    """Variants of the A/B test, 2 to 8."""
    stats: CampaignStats
    """Statistics so far."""
    progress: CampaignProgress
    """Progress of the campaign."""
    evidence: dict[str, Any] | None
    """How the winner of the A/B test was chosen: `decidedBy`, `reason` and, unless the test was cancelled or left
    out, the counts and probabilities of the variants. Null before that.
    """
    ab_test_ends_at: datetime | None
    """When the A/B test ends. Null without a test and while the campaign is paused, which extends the test."""
    warnings: list[ProblemError]
    """Settings that do not prevent sending but are probably a mistake, such as a sample that is too small."""


class CampaignEventData(Record, frozen=True, kw_only=True):
    """Data of events about a campaign. `id` is the id of the campaign."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    name: str
    """Name of the campaign."""


class CampaignFailedData(Record, frozen=True, kw_only=True):
    """Data of `campaign.failed`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    name: str
    """Name of the campaign."""
    reason: str
    """Why the campaign failed."""
    total: int | None = None
    """Number of e-mails of the campaign. Absent if it failed before it started."""


class CampaignProgress(Record, frozen=True, kw_only=True):
    """The progress of a campaign."""

    expected: int
    """Contacts in the audience when the campaign started; 0 before the start."""
    audience: int
    """Contacts of the audience that have been processed so far: those with a send and those that were skipped."""
    waiting: int
    """Sends that no server has accepted or rejected yet, those that are retried included."""
    retrying: int
    """The waiting sends that were deferred and are retried. A campaign can be SENT while some are retried."""
    handed_over: int
    """Sends that a mail server has accepted or permanently rejected. Sends that failed, expired or were suppressed
    do not count.
    """
    skipped: CampaignSkipped
    """Numbers of contacts that get no message, by reason."""
    per_second: float
    """Messages per second since the start."""
    waiting_reason: str | None
    """Why messages wait because of their sending domain, its rates of bounces or complaints or its warm-up plan, or
    because of the warm-up of an address of the server; null if none does.
    """
    waiting_until: datetime | None
    """The time until which one of these messages waits; it may be sent earlier. Null if none waits."""


class CampaignScheduledData(Record, frozen=True, kw_only=True):
    """Data of `campaign.scheduled`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    name: str
    """Name of the campaign."""
    scheduled_at: datetime
    """When it will be sent (UTC)."""


class CampaignSendResult(Record, frozen=True, kw_only=True):
    """The campaign was started or scheduled."""

    success: bool
    """Always true. Default: `true`."""


class CampaignSentData(Record, frozen=True, kw_only=True):
    """Data of `campaign.sent`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    name: str
    """Name of the campaign."""
    total: int
    """Number of e-mails of the campaign."""
    retrying: int
    """Number of these e-mails that are still being retried."""


class CampaignSkipped(Record, frozen=True, kw_only=True):
    """Contacts of the audience that get no message, by reason."""

    unsubscribed: int
    """Number of unsubscribed contacts."""
    suppressed: int
    """Number of suppressed addresses."""
    deleted: int
    """Contacts that were deleted after the start and before their message was sent."""
    frequency_cap: int
    """Contacts that got as many marketing messages within 24 hours as the project's `frequencyCap` allows. Each has
    a send with the status SUPPRESSED and that reason.
    """


class CampaignStartedData(Record, frozen=True, kw_only=True):
    """Data of `campaign.started`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    name: str
    """Name of the campaign."""
    testing: bool
    """Whether the campaign starts with an A/B test."""


class CampaignStats(Record, frozen=True, kw_only=True):
    """The statistics of a campaign's sends. Opens and clicks by machines are not counted."""

    total: int
    """All sends, whatever their status."""
    sent: int
    """Sends that a mail server accepted, without those that bounced later."""
    delivered: int
    """Number of messages that were delivered."""
    opened: int
    """Number of messages that people opened."""
    clicked: int
    """Number of messages in which people clicked a link."""
    bounced: int
    """Number of messages that bounced."""
    complained: int
    """Number of messages that were reported as spam."""
    failed: int
    """Sends that failed, expired or were suppressed, without those that the frequency cap suppressed."""


class CampaignTestResult(Record, frozen=True, kw_only=True):
    """The number of test copies that were queued."""

    success: bool
    """Always true."""
    sent: int
    """Number of messages that were sent."""


class CampaignTestedData(Record, frozen=True, kw_only=True):
    """Data of `campaign.tested`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    name: str
    """Name of the campaign."""
    winner_id: str
    """Id of the variant that is sent to the rest of the audience."""
    decided_by: str
    """How the variant was chosen: `rule` (by the metric of the test), `hand` (by a person), `cancelled` (the test
    was cancelled) or `too_small` (no test took place).
    """
    reason: str | None = None
    """Why the test ended without a comparison. Absent otherwise."""


class CampaignTotals(Record, frozen=True, kw_only=True):
    """How many campaigns the project has (`total`), and how many of them are SENT (`sent`)."""

    total: int
    """Total number of records."""
    sent: int
    """Number of campaigns that were sent."""


class CampaignVariant(Record, frozen=True, kw_only=True):
    """A variant of the message in an A/B test."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    campaign_id: str
    """Id of the campaign; null if there is none."""
    name: str
    """Display name."""
    subject: str | None
    """Subject line."""
    template_id: str | None
    """Id of the template that provides subject, html and text."""
    weight: int
    """Share of the A/B test in percent; the weights of all variants sum to 100."""
    is_winner: bool
    """Whether this variant won the A/B test."""
    created_at: datetime
    """When the record was created (UTC)."""
    stats: VariantStats
    """Statistics so far."""


class CapturedMessage(Record, frozen=True, kw_only=True):
    """A captured message without its content."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    send_id: str
    """Id of the send; null if there is none."""
    mail_from: str
    """The envelope sender, to which bounces go."""
    recipients: list[str]
    """The envelope recipients, including those in bcc."""
    sender: str
    """The sender in the header field `From`."""
    subject: str
    """Subject line."""
    size: int
    """The size of the message in octets."""
    captured_at: datetime
    """When the message was captured (UTC)."""


class CausedEventData(Record, frozen=True, kw_only=True):
    """Data of events about customers, organizations, invitations and setup links."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """


class ChallengeSent(Record, frozen=True, kw_only=True):
    """A code was sent, if the address may receive one. Send the code back together with `challengeId`."""

    challenge_id: str
    """Id of the challenge. Send it back with the code."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""


class CodeVerification(Record, frozen=True, kw_only=True):
    """The code from the mail, and the id of the challenge that was returned when the code was requested."""

    challenge_id: str
    """Id of the challenge. Send it back with the code."""
    code: str
    """Six digits, such as `123456`."""


class Condition(Record, frozen=True, kw_only=True, tag_field="type", tag="CONDITION"):
    """Continue with `then` if the contact matches the rules (as for audiences), otherwise with `else`."""

    rules: Rules
    """Rules that choose the members; null for a STATIC audience."""
    then: (
        list[
            SendEmail
            | Delay
            | Condition
            | WaitForEvent
            | UpdateContact
            | AddToAudience
            | RemoveFromAudience
            | CallWebhook
            | Exit
        ]
        | UnsetType
    ) = UNSET
    """Steps to execute if the condition holds or the event occurs."""
    else_: (
        list[
            SendEmail
            | Delay
            | Condition
            | WaitForEvent
            | UpdateContact
            | AddToAudience
            | RemoveFromAudience
            | CallWebhook
            | Exit
        ]
        | UnsetType
    ) = UNSET
    """Steps to execute if the condition does not hold or the timeout elapses."""


class Contact(Record, frozen=True, kw_only=True):
    """A recipient of a project. The address is unique in the project, regardless of case."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    email: str
    """E-mail address."""
    attributes: dict[str, Any]
    """Custom data about the contact, for templates and audience rules."""
    unsubscribed: bool
    """Whether the contact has unsubscribed from marketing mail."""
    unsubscribed_at: datetime | None
    """When the contact unsubscribed (UTC); null if it has not."""
    last_opened_at: datetime | None
    """When the contact last opened a message (UTC); null if it never did."""
    last_clicked_at: datetime | None
    """When the contact last clicked a link (UTC); null if it never did."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class ContactAttribute(Record, frozen=True, kw_only=True):
    """An attribute of the project's contacts, and its type, by which CSV cells are read and written."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    name: str
    """Name of the attribute: its key in a contact's `attributes`."""
    type: ContactAttributeType
    """Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or `list`."""
    inferred: bool
    """Whether the type was inferred from the first values; false if it was declared."""
    description: str
    """Description for people."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class ContactChangedData(Record, frozen=True, kw_only=True):
    """Data of events about a contact. `id` is the id of the contact."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email: str
    """Address of the contact."""
    changed: list[str] | None = None
    """Names of the fields that were changed."""
    unsubscribed: bool | None = None
    """Whether the contact is unsubscribed now. Absent if that was not changed."""
    email_id: str | None = None
    """Id of the e-mail from which the contact unsubscribed. Absent if the contact used none to unsubscribe."""
    send_id: str | None = None
    """The former name of `emailId`."""


class ContactImport(Record, frozen=True, kw_only=True):
    """An import of a file of contacts.

    `rows` counts the rows read so far. `bytes` is the size of the file, 0 until it is uploaded.
    """

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    status: ContactImportStatus
    """Status of the record."""
    mode: ContactImportMode
    """`upsert` creates and updates, `skip` leaves existing contacts unchanged."""
    bytes: int
    """Size of the file in bytes."""
    position: int
    """Bytes of the file processed so far."""
    rows: int
    """Number of rows that were processed so far."""
    created: int
    """Number of records that were created."""
    updated: int
    """Number of records that were updated."""
    skipped: int
    """Number of records that were skipped."""
    failed: int
    """Number of failures."""
    errors: list[ContactImportError]
    """The first 200 errors, by line."""
    charset: str | None
    """Character encoding by which the file is read; null while it is being uploaded."""
    charset_from: ContactImportCharsetFrom | None
    """How the encoding was determined: by a byte order mark, by the caller, or by detection."""
    delimiter: str | None
    """Character between the cells; null while the file is being uploaded."""
    columns: list[ContactImportColumn]
    """The file's columns and their targets, from the left; empty while it is being uploaded."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    finished_at: datetime | None
    """When it finished (UTC); null while it is running."""


class ContactImportColumn(Record, frozen=True, kw_only=True):
    """A column of an imported file and what it is mapped to."""

    number: int
    """Position of the column, counted from 1 from the left."""
    name: str
    """The name in the file's header."""
    target: str | None
    """Target of the column: `email`, `unsubscribed`, `subscribed` (the opposite), `attributes` (a JSON object) or
    `attributes.<name>`; null for a column that is not imported.
    """
    decided_by: ContactImportColumnDecidedBy
    """How the target was chosen: the column has the field's name (`EXACT`) or a synonym of it (`SYNONYM`), the
    caller mapped it (`DECLARED`), or it has any other name (`ATTRIBUTE`). `IGNORED` columns have no name, or are
    export columns that an import does not use, such as `createdAt`.
    """


class ContactImportError(Record, frozen=True, kw_only=True):
    """What is wrong with a line of an imported file."""

    line: int
    """Line number in the file, counted from 1; the header is line 1."""
    message: str
    """Description of the error."""


class ContactImportNotice(Record, frozen=True, kw_only=True):
    """An error in a file's header that prevents an import, or a warning."""

    code: str
    """Machine-readable code: `email_column_missing`, `column_repeated`, `column_invalid`, `too_many_columns`,
    `column_not_used`, `subscribed_not_used`, `type_not_used`, `charset_guessed` or `charset_doubtful`.
    """
    message: str
    """Description of the error."""
    column: int | None
    """Number of the column concerned; null if the notice concerns the whole file."""
    blocking: bool
    """Whether the notice prevents an import of the file."""
    next: str | None
    """What to do next; null if the message says it."""


class ContactImportPreview(Record, frozen=True, kw_only=True):
    """How an import would read a file. Nothing is stored."""

    charset: str
    """Character encoding by which the file is read, as the WHATWG Encoding Standard names it."""
    charset_from: ContactImportPreviewCharsetFrom
    """How the encoding was determined: by a byte order mark, by the caller, or by detection."""
    delimiter: str
    """Character between the cells."""
    delimiter_from: ContactImportPreviewDelimiterFrom
    """How the delimiter was determined: by a line `sep=;`, or by detection in the header."""
    header_line: int
    """Number of the header line: 2 after a line `sep=;`, otherwise 1."""
    columns: list[ContactImportPreviewColumn]
    """The columns and their targets, from the left."""
    rows: list[ContactImportPreviewRow]
    """The first 20 rows as they would be read; empty if the header is invalid."""
    problems: list[ContactImportNotice]
    """Errors that prevent an import of the file, and warnings."""
    importable: bool
    """Whether the file can be imported; single rows may still fail."""


class ContactImportPreviewColumn(Record, frozen=True, kw_only=True):
    """A column in the preview of an import, with sample cells."""

    number: int
    """Position of the column, counted from 1 from the left."""
    name: str
    """The name in the file's header."""
    target: str | None
    """Target of the column: `email`, `unsubscribed`, `subscribed` (the opposite), `attributes` (a JSON object) or
    `attributes.<name>`; null for a column that is not imported.
    """
    decided_by: ContactImportPreviewColumnDecidedBy
    """How the target was chosen: the column has the field's name (`EXACT`) or a synonym of it (`SYNONYM`), the
    caller mapped it (`DECLARED`), or it has any other name (`ATTRIBUTE`). `IGNORED` columns have no name, or are
    export columns that an import does not use, such as `createdAt`.
    """
    type: ContactImportPreviewColumnType | None
    """Type by which cells are parsed; null if the column is not mapped to an attribute or the attribute has no
    type.
    """
    samples: list[str]
    """The first cells of the column that are not empty, at most 3."""


class ContactImportPreviewRow(Record, frozen=True, kw_only=True):
    """A row of a file as an import would read it, or why it is invalid."""

    line: int
    """Line of the file on which the row begins, counted from 1."""
    email: str | None
    """The address; null if the row is invalid."""
    unsubscribed: bool | None
    """Whether the row unsubscribes the contact; null if the row is invalid."""
    attributes: dict[str, Any] | None
    """The attributes in the row; null if the row is invalid."""
    error: str | None
    """Why the row is invalid; null if it is valid."""


class ContactRef(Record, frozen=True, kw_only=True):
    """The first recipient of a send; `id` is null if there is no contact with this address."""

    id: str | None
    """Unique identifier. Treat it as an opaque string."""
    email: str
    """E-mail address."""


class ContactTotals(Record, frozen=True, kw_only=True):
    """Numbers of the project's contacts."""

    total: int
    """Total number of records."""
    unsubscribed: int
    """Number of unsubscribed contacts."""
    unsubscribe_rate: float
    """Share of contacts that unsubscribed, from 0 to 1."""
    new_last30_days: int
    """Number of new records in the last 30 days."""


class CreatedImpersonationLink(Record, frozen=True, kw_only=True):
    """A link that opens the app as the customer, once."""

    url: str
    """Open it in a browser. Whoever has it can use it; it is not returned again."""
    expires_at: datetime
    """Five minutes after its creation."""


class CurrentCustomer(Record, frozen=True, kw_only=True):
    """A customer's own account, as the customer sees it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str | None
    """E-mail address."""
    email_verified_at: datetime | None
    """When the e-mail address was verified (UTC); null if it is not verified."""
    name: str | None
    """Display name."""
    language: str | None
    """The language that the customer reads, as a language tag (BCP 47); null if it is not known."""
    phone: str | None
    """Phone number in E.164 form."""
    roles: list[str]
    """Keys of the roles."""
    metadata: dict[str, Any]
    """Custom data, up to 16 KiB of JSON."""
    identities: list[str]
    """The customer's sign-in identities, such as a password or an identity provider."""
    organization_id: str | None
    """The active organization of the access token; null without one."""
    mfa_enabled_at: datetime | None
    """When the second factor was set up (UTC); null if there is none."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    impersonated_by: str | None
    """Who acts as the customer in this session: a member of the app's team; null if it is the customer. Apps should
    show it in a banner.
    """


class CustomEvent(Record, frozen=True, kw_only=True):
    """Something that happened in your product."""

    name: str
    """Words separated by dots (`order.placed`). Names that begin with `email.`, `contact.` … are reserved."""
    contact_id: str | None | UnsetType = UNSET
    """Id of the contact; null if there is none."""
    email: str | None | UnsetType = UNSET
    """Address of the contact concerned; a contact with this address is created if there is none."""
    data: dict[str, Any] | UnsetType = UNSET
    """Custom data, for automations and webhooks."""
    idempotency_key: str | None | UnsetType = UNSET
    """An event whose key was used within the last 24 hours is not recorded again."""


class CustomEventBatchResult(Record, frozen=True, kw_only=True):
    """Events that were recorded, in the order of the request."""

    data: list[CustomEventResult]
    """The events, in the order of the request."""


class CustomEventResult(Record, frozen=True, kw_only=True):
    """An event that was recorded."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    contact_id: str | None
    """Id of the contact; null if there is none."""


class Customer(Record, frozen=True, kw_only=True):
    """A user of the project's app."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str | None
    """E-mail address."""
    email_verified_at: datetime | None
    """When the e-mail address was verified (UTC); null if it is not verified."""
    metadata: dict[str, Any]
    """Custom data, up to 16 KiB of JSON."""
    roles: list[str]
    """Keys of the roles."""
    last_sign_in_at: datetime | None
    """When the last sign-in was (UTC); null if there was none."""
    banned_at: datetime | None
    """When the customer was banned (UTC); null if not banned."""
    mfa_enabled_at: datetime | None
    """When the second factor was set up (UTC); null if there is none."""
    failed_sign_in_attempts: int
    """Number of failed sign-ins since the last successful one."""
    sign_in_locked_until: datetime | None
    """Until when sign-in is locked after failed attempts (UTC); null if it is not locked."""
    identities: list[CustomerIdentity]
    """The customer's sign-in identities, such as a password or an identity provider."""
    sessions: list[CustomerSession]
    """Open sessions."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    project_id: str
    """Id of the project."""
    external_user_id: str | None
    """The customer's identifier in your own system."""
    other_emails: list[OtherEmail]
    """Further e-mail addresses with which the customer can sign in."""
    phone: str | None
    """Phone number in E.164 form."""
    phone_verified_at: datetime | None
    """When the phone number was verified (UTC); null if it is not verified."""
    name: str | None
    """Display name."""
    language: str | None
    """The language that the customer reads, as a language tag (BCP 47) such as `de` or `pt-BR`; null if it is not
    known.
    """
    ban_reason: str | None
    """Why the customer was banned."""
    ban_expires_at: datetime | None
    """When the ban ends (UTC); null for a permanent ban."""


class CustomerAttemptData(Record, frozen=True, kw_only=True):
    """Data of `customer.sign_in_failed` and `customer.locked`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    method: str
    """The authentication method."""
    ip_address: str | None
    """IP address of the client."""


class CustomerBan(Record, frozen=True, kw_only=True):
    """The reason for a ban, and when the ban ends."""

    reason: str | None | UnsetType = UNSET
    """Reason, as text."""
    expires_at: datetime | None | UnsetType = UNSET
    """If null, the ban lasts until the customer is unbanned."""


class CustomerBannedData(Record, frozen=True, kw_only=True):
    """Data of `customer.banned`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    reason: str | None
    """The reason that was given."""


class CustomerEmailVerifiedData(Record, frozen=True, kw_only=True):
    """Data of `customer.email_verified`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    changed: bool
    """True if this is a new address of the customer; false if the existing address was verified."""
    provider: str | None = None
    """The identity provider that verified the address. Absent if Postern verified it."""


class CustomerEvent(Record, frozen=True, kw_only=True):
    """An event of a customer."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    type: str
    """Type of the record."""
    actor_type: str
    """Kind of actor: `DEVELOPER`, `API_KEY`, `TEST_KEY`, `CUSTOMER` or `SYSTEM`."""
    actor_id: str | None
    """Id of the actor; null for the service itself."""
    actor_label: str | None
    """Display name of the actor."""
    subject_customer_id: str
    """Id of the customer that the event is about."""
    metadata: dict[str, Any]
    """Details of the event."""
    occurred_at: datetime
    """When it happened (UTC)."""
    erased_at: datetime | None
    """When the event's metadata and the label of its actor were erased, or null."""


class CustomerFactorData(Record, frozen=True, kw_only=True):
    """Data of events about a second factor. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    method: str
    """The second factor."""


class CustomerIdentity(Record, frozen=True, kw_only=True):
    """A sign-in method of a customer: PASSWORD, EMAIL_CODE, PASSKEY, or a linked account: SAML or SSO_OIDC (single
    sign-on) or the key of a sign-in provider.
    """

    provider: str
    """Key of the sign-in provider, such as `GOOGLE`, or name of the payment provider."""
    created_at: datetime
    """When the record was created (UTC)."""


class CustomerImpersonatedData(Record, frozen=True, kw_only=True):
    """Data of `customer.impersonated`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    session_id: str
    """Id of the session."""
    actor: str | None
    """Who acts as the customer: an e-mail address, or the name of an API key."""
    reason: str
    """Why."""
    expires_at: datetime
    """When the session ends at the latest."""


class CustomerImpersonationEndedData(Record, frozen=True, kw_only=True):
    """Data of `customer.impersonation_ended`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    session_id: str
    """Id of the session."""
    actor: str | None
    """Who acted as the customer: an e-mail address, or the name of an API key."""
    reason: str
    """Why."""
    cause: str
    """`SIGNED_OUT` by the person who acted, `REVOKED` by your team, the customer or a rule of sign-in, or
    `EXPIRED`.
    """


class CustomerImportError(Record, frozen=True, kw_only=True):
    """A customer that could not be imported: its index in the list, and why."""

    index: int
    """Index in the request, from 0."""
    code: str
    """Machine-readable code of the error."""
    message: str
    """Description of the error."""


class CustomerImportResult(Record, frozen=True, kw_only=True):
    """How many customers were created, how many were skipped because their address or external identifier is taken,
    and
        how many failed. `faults` has the reason for each of the failed ones.
    """

    created: int
    """Number of records that were created."""
    skipped: int
    """Number of records that were skipped."""
    failed: int
    """Number of failures."""
    faults: list[CustomerImportError]
    """The rows or items that could not be imported, with the reason."""


class CustomerImportRow(Record, frozen=True, kw_only=True):
    """A customer from another system, with the organizations of which it is a member."""

    external_user_id: str
    """Id of the person in your own system."""
    email: str | None | UnsetType = UNSET
    """E-mail address."""
    email_verified: bool | UnsetType = UNSET
    """Whether the e-mail address is verified. Default: `false`."""
    other_emails: list[ImportedEmail] | UnsetType = UNSET
    """Further e-mail addresses with which the customer can sign in."""
    name: str | None | UnsetType = UNSET
    """Display name."""
    language: str | None | UnsetType = UNSET
    """The language that the customer reads."""
    phone: str | None | UnsetType = UNSET
    """Phone number in E.164 form."""
    phone_verified: bool | UnsetType = UNSET
    """Whether you have verified the number. Default: `false`."""
    password_hash: str | None | UnsetType = UNSET
    """Hash from another system: bcrypt, scrypt, PBKDF2 or argon2."""
    metadata: dict[str, Any] | UnsetType = UNSET
    """Custom data, up to 16 KiB of JSON."""
    roles: list[str] | UnsetType = UNSET
    """Keys of the roles."""
    created_at: datetime | None | UnsetType = UNSET
    """When the account was created in the other system. Default: now."""
    ban: CustomerBan | None | UnsetType = UNSET
    """The customer is banned from signing in."""
    totp_secret: str | None | UnsetType = UNSET
    """The secret of an authenticator app in base32, for codes of six digits by SHA-1 every 30 seconds."""
    passkeys: list[ImportedPasskey] | UnsetType = UNSET
    """Passkeys that were created for the domain of this project."""
    identities: list[ImportedIdentity] | UnsetType = UNSET
    """The customer's sign-in identities, such as a password or an identity provider."""
    organizations: list[ImportedMembership] | UnsetType = UNSET
    """The 50 receivers that reported the most messages."""


class CustomerLinkResult(Record, frozen=True, kw_only=True):
    """The customer with its new external identifier. `mergedCustomerId` is the id of the customer that had this
    identifier and was merged into it, or null.
    """

    customer: Customer
    """The customer."""
    merged_customer_id: str | None
    """Id of the customer that was merged into this one; null if none was merged."""


class CustomerLinkedData(Record, frozen=True, kw_only=True):
    """Data of `customer.linked`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    merged_customer_id: str | None
    """Id of the customer that was merged into this one; null if none was merged."""
    provider: str | None = None
    """The identity provider whose account was linked. Absent if none was linked."""


class CustomerMail(Record, frozen=True, kw_only=True):
    """A mail to customers whose texts can be edited."""

    mail: CustomerMailMail
    """The mail that a SEND_EMAIL step would send; null if the step would send none, and for other steps."""
    purpose: str
    """When customers get this mail."""
    required_block: CustomerMailRequiredBlock | None
    """The block that the mail must have, because it shows the link or the one-time code; other mails have neither."""
    variables: list[MailVariable]
    """Values of template variables such as `{{name}}`; of a template, the names of its variables."""
    edited_languages: list[CustomerMailEditedLanguages]
    """The languages in which the project has its own text; in the others, customers get the built-in one."""


class CustomerMailFailedData(Record, frozen=True, kw_only=True):
    """Data of `customer.mail_failed`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    kind: str
    """What the e-mail is for, such as `CODE`."""
    code: str
    """Code of the problem, as in error responses."""
    reason: str
    """Why the e-mail could not be sent."""


class CustomerMailPreview(Record, frozen=True, kw_only=True):
    """A mail with sample values."""

    subject: str
    """Subject line."""
    html: str
    """HTML body."""
    text: str
    """Plain text body."""


class CustomerMailTextFailedData(Record, frozen=True, kw_only=True):
    """Data of `customer.mail_text_failed`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    kind: str
    """What the e-mail is for, such as `CODE`."""
    language: str
    """The language of the text, such as `de`."""
    code: str
    """Code of the problem, as in error responses."""
    reason: str
    """Why the text could not be used."""


class CustomerMetadataUpdatedData(Record, frozen=True, kw_only=True):
    """Data of `customer.metadata_updated`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    keys: list[str]
    """Keys that were set or removed."""


class CustomerPasskeyAddedData(Record, frozen=True, kw_only=True):
    """Data of `customer.passkey_added`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    passkey_id: str
    """Id of the passkey."""
    name: str
    """Name of the passkey."""


class CustomerPasskeyRemovedData(Record, frozen=True, kw_only=True):
    """Data of `customer.passkey_removed`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    passkey_id: str
    """Id of the passkey."""


class CustomerProviderData(Record, frozen=True, kw_only=True):
    """Data of `customer.unlinked` and `customer.identity_held`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    provider: str
    """The identity provider of the account."""


class CustomerRecoveryCodes(Record, frozen=True, kw_only=True):
    """Recovery codes. Each can be used once instead of a code of the authenticator app. They are shown only once."""

    codes: list[str]
    """Recovery codes. Shown only once."""


class CustomerRolesUpdatedData(Record, frozen=True, kw_only=True):
    """Data of `customer.roles_updated`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    roles: list[str]
    """The roles that the customer has now."""


class CustomerRowsResult(Record, frozen=True, kw_only=True):
    """The numbers of rows by outcome, and the report on each row."""

    created: int
    """Number of records that were created."""
    unchanged: int
    """How many rows have the `externalUserId` of an existing customer."""
    failed: int
    """Number of failures."""
    rows: list[ImportedRow]
    """Number of rows that were processed so far."""


class CustomerSession(Record, frozen=True, kw_only=True):
    """A session of a customer."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    user_agent: str
    """`User-Agent` header of the request."""
    ip_address: str
    """IP address of the client."""
    methods: list[str]
    """The authentication methods of the sign-in, as in the claim `amr` (RFC 8176)."""
    created_at: datetime
    """When the record was created (UTC)."""
    last_used_at: datetime
    """When it was last used (UTC), to the minute; null if it was never used."""
    expires_at: datetime
    """When the session ends if its tokens are not refreshed before."""
    impersonation_reason: str | None
    """Why a member of the app's team acts as the customer in this session; null if it is a session of the customer."""
    impersonated_by: str | None
    """Who acts as the customer in this session: an e-mail address, or the name of an API key; null if nobody does."""


class CustomerSessionData(Record, frozen=True, kw_only=True):
    """Data of events about a session. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    session_id: str
    """Id of the session."""
    reason: str | None = None
    """Why Postern ended the session, such as `REFRESH_TOKEN_REUSED`, or `DEPROVISIONED` by a directory. Absent if
    the customer or your application ended it.
    """


class CustomerSignInResult(Record, frozen=True, kw_only=True):
    """The result of a sign-in: tokens, or the step that is still required.

    With `mfaRequired` the tokens are null: send `mfaToken` and a code to `mfa/verify`. With
        `mfaEnrollmentRequired`
    too, the customer must first set up a second factor: send `mfaToken` to `mfa/enroll`, then a first code
        to
    `mfa/enroll/confirm`. With `termsRequired` the tokens are null, too: show the customer `terms`, then send
    `termsToken` and the version to `terms/accept`.
    """

    session_id: str | None
    """Id of the session; null if no session was started."""
    access_token: str | None
    """Short-lived bearer token for requests."""
    access_token_expires_at: datetime | None
    """When the access token expires (UTC)."""
    refresh_token: str | None
    """Single-use token to get the next access token."""
    refresh_token_expires_at: datetime | None
    """When the refresh token expires (UTC)."""
    organization_id: str | None
    """The active organization, which the access token describes; null without one."""
    customer: CurrentCustomer | None
    """The customer."""
    mfa_required: bool
    """Whether a second factor is required to finish the sign-in. Default: `false`."""
    mfa_enrollment_required: bool
    """Whether the customer must set up a second factor first; see `mfa/enroll`. Default: `false`."""
    mfa_token: str | None
    """Token that proves the first factor. Send it with the second factor."""
    mfa_methods: list[str] | None
    """Second factors that can be used or set up: `TOTP`, `RECOVERY_CODE`."""
    remembered_device_token: str | None
    """With `rememberDevice` at `mfa/verify`: store it on the device and send it with later sign-ins, which then
    need no second factor. Null if devices are not remembered here.
    """
    remembered_device_expires_at: datetime | None
    """When the second factor is asked for on this device again at the latest."""
    terms_required: bool
    """Whether the customer must accept the terms to finish the sign-in. Default: `false`."""
    terms_token: str | None
    """Token of the sign-in that waits for the terms. Send it with the version that was accepted."""
    terms: RequiredTerms | None
    """The terms that the customer must accept before the sign-in is complete; null if there are none."""


class CustomerSignUpResult(Record, frozen=True, kw_only=True):
    """The challenge to verify the address with, or (with `verifyEmail: LATER`) the tokens of a session."""

    session_id: str | None
    """Id of the session; null if no session was started."""
    access_token: str | None
    """Short-lived bearer token for requests."""
    access_token_expires_at: datetime | None
    """When the access token expires (UTC)."""
    refresh_token: str | None
    """Single-use token to get the next access token."""
    refresh_token_expires_at: datetime | None
    """When the refresh token expires (UTC)."""
    organization_id: str | None
    """The active organization, which the access token describes; null without one."""
    customer: CurrentCustomer | None
    """The customer."""
    mfa_required: bool
    """Whether a second factor is required to finish the sign-in. Default: `false`."""
    mfa_enrollment_required: bool
    """Whether the customer must set up a second factor first; see `mfa/enroll`. Default: `false`."""
    mfa_token: str | None
    """Token that proves the first factor. Send it with the second factor."""
    mfa_methods: list[str] | None
    """Second factors that can be used or set up: `TOTP`, `RECOVERY_CODE`."""
    remembered_device_token: str | None
    """With `rememberDevice` at `mfa/verify`: store it on the device and send it with later sign-ins, which then
    need no second factor. Null if devices are not remembered here.
    """
    remembered_device_expires_at: datetime | None
    """When the second factor is asked for on this device again at the latest."""
    terms_required: bool
    """Whether the customer must accept the terms to finish the sign-in. Default: `false`."""
    terms_token: str | None
    """Token of the sign-in that waits for the terms. Send it with the version that was accepted."""
    terms: RequiredTerms | None
    """The terms that the customer must accept before the sign-in is complete; null if there are none."""
    challenge_id: str | None
    """Id of the challenge. Send it back with the code."""
    challenge_expires_at: datetime | None
    """When the code or link expires (UTC); null if none was sent."""


class CustomerSignedInData(Record, frozen=True, kw_only=True):
    """Data of `customer.signed_in`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    session_id: str
    """Id of the session."""
    methods: list[str]
    """Authentication methods (`amr`, RFC 8176)."""
    ip_address: str | None
    """IP address of the customer."""
    user_agent: str | None
    """User agent of the customer."""
    via: str | None = None
    """The single sign-on connection with which the customer signed in. Absent for other methods."""


class CustomerSignedUpData(Record, frozen=True, kw_only=True):
    """Data of `customer.signed_up`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    method: str
    """How the customer signed up: a sign-in method or an identity provider; `API` if your application created the
    customer, `IMPORT` if the customer came from another system.
    """


class CustomerStats(Record, frozen=True, kw_only=True):
    """Numbers of customers in a project."""

    total: int
    """Total number of records."""
    verified: int
    """Number of customers with a verified e-mail address."""
    banned: int
    """Number of banned customers."""
    mfa_enabled: int
    """Number of customers with a second factor."""


class CustomerSteppedUpData(Record, frozen=True, kw_only=True):
    """Data of `customer.stepped_up`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    session_id: str
    """Id of the session."""
    methods: list[str]
    """The authentication methods that were used now (`amr`, RFC 8176)."""
    acr: str
    """How strong the authentication of the session is since then: the claim `acr`."""
    ip_address: str | None
    """IP address of the customer."""


class CustomerTermsAcceptedData(Record, frozen=True, kw_only=True):
    """Data of `customer.terms_accepted`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    version: str
    """The version of the terms."""
    ip_address: str | None
    """IP address of the customer."""
    user_agent: str | None
    """User agent of the customer."""


class CustomerTokens(Record, frozen=True, kw_only=True):
    """New tokens of a session. The refresh token that was sent is no longer valid."""

    session_id: str
    """Id of the session; null if no session was started."""
    access_token: str
    """Short-lived bearer token for requests."""
    access_token_expires_at: datetime
    """When the access token expires (UTC)."""
    refresh_token: str
    """Single-use token to get the next access token."""
    refresh_token_expires_at: datetime
    """When the refresh token expires (UTC)."""
    organization_id: str | None
    """The active organization, which the access token describes; null without one."""


class CustomerUpdatedData(Record, frozen=True, kw_only=True):
    """Data of `customer.updated`. `id` is the id of the customer."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    changed: list[str]
    """Names of the fields that were changed."""


class Delay(Record, frozen=True, kw_only=True, tag_field="type", tag="DELAY"):
    """Wait for the sum of `minutes`, `hours` and `days`, or `until` a time."""

    minutes: int | None | UnsetType = UNSET
    """Minutes."""
    hours: int | None | UnsetType = UNSET
    """Hours."""
    days: int | None | UnsetType = UNSET
    """Days."""
    until: datetime | None | UnsetType = UNSET
    """End of the period, or time to wait for (UTC)."""


class Deleted(Record, frozen=True, kw_only=True):
    """The response of an operation that deletes a record and does not return it."""

    deleted: bool
    """Always true: the record is deleted. Default: `true`."""


class DeliverySite(Record, frozen=True, kw_only=True):
    """A group of mail servers that are limited together: those of a provider such as Google, or of one domain. A
    relay
        and Amazon SES are sites, too.

        State and limits are those of all projects; the numbers are those of this project.
    """

    name: str
    """Name of the provider, name of the first mail server, or `host:port` of the relay or of Amazon SES."""
    transport: DeliverySiteTransport
    """The transport that sends to the site."""
    provider: str | None
    """The provider whose limits apply; null for other sites."""
    hosts: list[str]
    """The mail servers that were last used, the preferred ones first."""
    state: DeliverySiteState
    """SLOWED: it gets less mail than `defaultLimits` allow, because it asked for less."""
    suspension: DeliverySiteSuspension | None
    """Null if it is not suspended."""
    limits: DeliverySiteLimits
    """The limits at present."""
    default_limits: DeliverySiteLimits
    """The limits without a slow-down."""
    throttled_until: datetime | None
    """Until when no mail is sent to it, because it asked for less."""
    last_reply: str | None
    """Its last reply to this project that was not positive."""
    last_reply_at: datetime | None
    """When that reply came."""
    waiting: int
    """Messages that wait for the site after an attempt or a postponement, counted up to 10,000."""
    oldest_waiting_at: datetime | None
    """When the oldest waiting message was created."""
    delivered: int
    """Recipients for whom it accepted a message in the last 24 hours."""
    deferred: int
    """Temporary failures in the last 24 hours."""
    bounced: int
    """Permanent failures in the last 24 hours."""
    bounce: DeliverySiteBounce | None
    """The last time that its waiting messages were given up; null if that never happened."""
    created_at: datetime
    """When the project first used it."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class DeliverySiteBounce(Record, frozen=True, kw_only=True):
    """The last time that the messages that waited for a site were given up."""

    reason: str
    """Reason, as text."""
    failed: int
    """How many messages have failed so far."""
    started_at: datetime
    """When it started (UTC)."""
    ended_at: datetime | None
    """Null while it goes on."""


class DeliverySiteLimits(Record, frozen=True, kw_only=True):
    """The limits of a site, for all projects and processes together; null for no limit."""

    connections: int | None
    """Connections at the same time."""
    messages_per_connection: int | None
    """Messages after which a connection is closed."""
    messages_per_minute: float | None
    """Messages per minute."""


class DeliverySiteSuspension(Record, frozen=True, kw_only=True):
    """A suspension of a site: no mail is sent to it."""

    by: DeliverySiteSuspensionBy
    """Who suspended it: this project, or the operator of the server for all projects."""
    reason: str
    """Reason, as text."""
    since: datetime
    """Start of the period (UTC); null for no start."""
    until: datetime | None
    """End of the period, or time to wait for (UTC)."""


class Developer(Record, frozen=True, kw_only=True):
    """A developer, as sign-in returns it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str
    """E-mail address."""
    email_verified_at: datetime | None
    """Null until the address is verified; until then the developer can only read, and send mail that is captured
    and never delivered.
    """
    name: str
    """Display name."""
    role: DeveloperRole
    """Role of the person."""
    account_id: str
    """Id of the account."""


class DeveloperRecoveryCodes(Record, frozen=True, kw_only=True):
    """Ten codes, each of which replaces the app's code once. Only this response contains them."""

    recovery_codes: list[str]
    """One-time codes to use if the second factor is lost. Shown only once."""


class DeveloperSignInResult(Record, frozen=True, kw_only=True):
    """The tokens of a session. Send `accessToken` as `Authorization: Bearer …`."""

    access_token: str
    """Short-lived bearer token for requests."""
    access_token_expires_at: datetime
    """When the access token expires (UTC)."""
    refresh_token: str
    """Single-use token to get the next access token."""
    refresh_token_expires_at: datetime
    """When the refresh token expires (UTC)."""
    developer: Developer
    """The developer who is signed in."""
    projects: list[Project]
    """Projects of the account, or their number or maximum number; a null maximum means unlimited."""


class DeveloperTotpEnrolment(Record, frozen=True, kw_only=True):
    """The key to enter in an authenticator app, and the `otpauth://` URI to show as a QR code."""

    secret: str
    """Shared secret. Shown only once."""
    uri: str
    """`otpauth://` URI to show as a QR code."""


class DirectoryConnection(Record, frozen=True, kw_only=True):
    """The connection of an organization to its directory, such as Entra ID or Okta."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    project_id: str
    """Id of the project."""
    organization_id: str
    """Id of the organization."""
    name: str
    """Display name."""
    status: DirectoryConnectionStatus
    """Status of the record."""
    base_url: str
    """The URL to enter in the directory, together with a token."""
    default_roles: list[str]
    """The roles of all active users of the directory."""
    group_roles: dict[str, list[str]]
    """Further roles of the members of groups, by the name, the `externalId` or the id of the group."""
    allow_other_domains: bool
    """Whether users may have addresses at domains that the organization has not verified."""
    tokens: list[DirectoryTokenInfo]
    """The valid tokens, newest first: more than one after a rotation."""
    user_count: int
    """Number of users, active or not."""
    active_user_count: int
    """Number of users who are members."""
    group_count: int
    """Number of groups."""
    last_synced_at: datetime | None
    """The time of the last change by the directory, to within a minute; null if there was none."""
    recent_errors: list[DirectoryError]
    """The last refused requests, newest first."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class DirectoryConnectionWithToken(Record, frozen=True, kw_only=True):
    """A connection with a new token, which is not shown again."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    project_id: str
    """Id of the project."""
    organization_id: str
    """Id of the organization."""
    name: str
    """Display name."""
    status: DirectoryConnectionWithTokenStatus
    """Status of the record."""
    base_url: str
    """The URL to enter in the directory, together with a token."""
    default_roles: list[str]
    """The roles of all active users of the directory."""
    group_roles: dict[str, list[str]]
    """Further roles of the members of groups, by the name, the `externalId` or the id of the group."""
    allow_other_domains: bool
    """Whether users may have addresses at domains that the organization has not verified."""
    tokens: list[DirectoryTokenInfo]
    """The valid tokens, newest first: more than one after a rotation."""
    user_count: int
    """Number of users, active or not."""
    active_user_count: int
    """Number of users who are members."""
    group_count: int
    """Number of groups."""
    last_synced_at: datetime | None
    """The time of the last change by the directory, to within a minute; null if there was none."""
    recent_errors: list[DirectoryError]
    """The last refused requests, newest first."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    token: str
    """Token from the link in the mail."""


class DirectoryError(Record, frozen=True, kw_only=True):
    """A request of the directory that was refused."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    method: str
    """The second factor."""
    path: str
    """The path below the base URL, without the query."""
    status: int
    """Status of the record."""
    scim_type: str | None
    """The kind of the error (RFC 7644 §3.12), such as `uniqueness`; null if SCIM has none for it."""
    detail: str
    """Further details, as text."""
    occurred_at: datetime
    """When it happened (UTC)."""


class DirectoryGroup(Record, frozen=True, kw_only=True):
    """A group of a directory."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    external_id: str | None
    """The id of the group in the directory."""
    display_name: str
    """The name of the group."""
    member_count: int
    """Number of members."""
    roles: list[str]
    """The roles that the connection gives to the members of the group."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class DirectoryTokenInfo(Record, frozen=True, kw_only=True):
    """A token of a connection. The token itself is only in the response that created it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    created_at: datetime
    """When the record was created (UTC)."""
    expires_at: datetime | None
    """When the token ends, because another one has replaced it; null for the newest one."""
    last_used_at: datetime | None
    """The time of the last request with this token, to within a minute; null if there was none."""


class DirectoryUser(Record, frozen=True, kw_only=True):
    """A user of a directory."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    customer_id: str
    """Id of the customer."""
    external_id: str | None
    """The id of the user in the directory."""
    user_name: str
    """The name with which the user signs in at the directory."""
    display_name: str | None
    """The name that the directory shows."""
    active: bool
    """Whether the record is active."""
    roles: list[DirectoryUserRole]
    """The roles that come from the directory. They are taken away when the user leaves the group. The member can
    have others, which were assigned otherwise and stay.
    """
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class DirectoryUserRole(Record, frozen=True, kw_only=True):
    """A role that the directory has added to a member, and the groups that it comes from."""

    role: str
    """Role of the person."""
    groups: list[str]
    """The names of the groups with this role; empty if it is one of `defaultRoles`."""


class DkimResult(Record, frozen=True, kw_only=True):
    """The result of one signature."""

    verdict: DkimResultVerdict
    """The result for this signature."""
    reason: str
    """Reason, as text."""
    domain: str
    """The signing domain `d=` in lower case; empty if the signature cannot be parsed."""
    selector: str
    """The selector `s=`, which names the key."""
    algorithm: str
    """The algorithm `a=`, such as `rsa-sha256`."""
    signature: str
    """The first eight characters of `b=`, which identify the signature (RFC 6008)."""


class DmarcCounts(Record, frozen=True, kw_only=True):
    """Messages by their results, as receivers reported them."""

    messages: int
    """All messages."""
    aligned: int
    """Messages that passed DMARC: DKIM or SPF passed for an aligned domain."""
    dkim_aligned: int
    """Messages for which DKIM passed for an aligned domain."""
    spf_aligned: int
    """Messages for which SPF passed for an aligned domain."""
    quarantined: int
    """Messages that receivers put into the spam folder because of the policy."""
    rejected: int
    """Messages that receivers rejected because of the policy."""


class DmarcDay(Record, frozen=True, kw_only=True):
    """The messages of one day."""

    messages: int
    """All messages."""
    aligned: int
    """Messages that passed DMARC: DKIM or SPF passed for an aligned domain."""
    dkim_aligned: int
    """Messages for which DKIM passed for an aligned domain."""
    spf_aligned: int
    """Messages for which SPF passed for an aligned domain."""
    quarantined: int
    """Messages that receivers put into the spam folder because of the policy."""
    rejected: int
    """Messages that receivers rejected because of the policy."""
    day: date
    """The day in UTC on which the period of the report began."""


class DmarcOrganization(Record, frozen=True, kw_only=True):
    """The messages that one receiver reported."""

    messages: int
    """All messages."""
    aligned: int
    """Messages that passed DMARC: DKIM or SPF passed for an aligned domain."""
    dkim_aligned: int
    """Messages for which DKIM passed for an aligned domain."""
    spf_aligned: int
    """Messages for which SPF passed for an aligned domain."""
    quarantined: int
    """Messages that receivers put into the spam folder because of the policy."""
    rejected: int
    """Messages that receivers rejected because of the policy."""
    organization: str
    """The name of the receiver, as in its reports."""
    reporter: str | None
    """The domain for which its e-mails were authenticated: anyone can write any other name into a report. Null for
    reports that the project added itself.
    """
    last_day: date
    """The last day with messages."""


class DmarcReportResult(Record, frozen=True, kw_only=True):
    """A report that was read."""

    organization: str
    """The receiver that made the report."""
    report_id: str
    """The id that the receiver gave the report."""
    begins: datetime
    """The beginning of the period of the report (UTC)."""
    ends: datetime
    """The end of the period of the report (UTC)."""
    messages: int
    """Messages of the domain in the report."""
    skipped: int
    """Records that were not counted: those of other domains, and invalid ones."""
    duplicate: bool
    """Whether nothing was added, because the domain already has this report."""


class DmarcResult(Record, frozen=True, kw_only=True):
    """The DMARC result of a message."""

    verdict: DmarcResultVerdict
    """The DMARC result."""
    reason: str
    """Reason, as text."""
    domain: str
    """The domain of the author's address in From; empty if there is not exactly one author domain."""
    policy: DmarcResultPolicy | None
    """What the domain's owner asks receivers to do with messages that fail; None without a record."""


class DmarcSource(Record, frozen=True, kw_only=True):
    """The messages of one host."""

    messages: int
    """All messages."""
    aligned: int
    """Messages that passed DMARC: DKIM or SPF passed for an aligned domain."""
    dkim_aligned: int
    """Messages for which DKIM passed for an aligned domain."""
    spf_aligned: int
    """Messages for which SPF passed for an aligned domain."""
    quarantined: int
    """Messages that receivers put into the spam folder because of the policy."""
    rejected: int
    """Messages that receivers rejected because of the policy."""
    source_ip: str
    """The IP address of the host."""
    last_day: date
    """The last day with messages."""


class DmarcSummary(Record, frozen=True, kw_only=True):
    """What receivers reported about the mail of a domain."""

    domain: str
    """Domain name."""
    totals: DmarcCounts
    """The sums over all days, hosts and receivers."""
    days: list[DmarcDay]
    """Oldest first; days without messages are included."""
    sources: list[DmarcSource]
    """The 100 hosts with the most messages."""
    organizations: list[DmarcOrganization]
    """The 50 receivers that reported the most messages."""
    unauthenticated: int
    """Reports that arrived by e-mail from senders that could not be authenticated. They are not counted."""


class DnsRecord(Record, frozen=True, kw_only=True):
    """A DNS record to publish, with the result of the last check."""

    type: DnsRecordType
    """Type of the DNS record."""
    name: str
    """Name of the DNS record."""
    value: str
    """Value to publish."""
    purpose: DnsRecordPurpose
    """Purpose of the DNS record."""
    required: bool
    """Whether the domain cannot be verified, or its name not be used, without this record."""
    status: DnsRecordStatus
    """PENDING: not published; WRONG: published with another value; UNKNOWN: the lookup failed. Default:
    `"PENDING"`.
    """
    found: list[str]
    """The values that are published at this name."""
    reason: str | None
    """Why the record is not VERIFIED."""


class Domain(Record, frozen=True, kw_only=True):
    """A sending domain with the DNS records to publish."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    domain: str
    """Domain name."""
    status: DomainStatus
    """PENDING: the DKIM record was not found yet. VERIFIED: it is published, and mail can be sent. DEGRADED: it has
    been missing for three days, so that no mail can be sent. FAILED: it has been missing for 30 days, and the
    periodic checks have ended.
    """
    spf_verified: bool
    """Whether the SPF record is published correctly."""
    dkim_verified: bool
    """Whether the DKIM key is published correctly."""
    dmarc_verified: bool
    """Whether a DMARC policy is published."""
    verified_at: datetime | None
    """When it was verified (UTC); null if it is not."""
    failing_since: datetime | None
    """Since when the DKIM record has been missing; null if it is published, and while the domain is PENDING."""
    last_checked_at: datetime | None
    """When it was last checked (UTC); null before the first check."""
    findings: list[Finding]
    """The mistakes in the domain's DNS records that the last check found, and advice."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    dkim_tokens: list[str]
    """The selectors of the current and of the next DKIM key. Publish `<token>._domainkey.<domain>` for both."""
    records: list[DnsRecord]
    """DNS records to publish."""
    next_check_at: datetime | None
    """When it is checked next (UTC); null if no check is scheduled."""
    app_id: str
    """The project's id. The older path family calls a project an app."""


class DomainCertificate(Record, frozen=True, kw_only=True):
    """The TLS certificate of a host name of a sending domain, which this server obtains by ACME."""

    name: str
    """The host name."""
    status: DomainCertificateStatus
    """PENDING: there is none yet; ISSUED; RENEWING: the next one has been ordered; FAILED: the last attempt failed.
    A certificate is served until `expiresAt`, also while renewals fail.
    """
    problem: str | None
    """Why the last attempt failed or was postponed; otherwise null."""
    issued_at: datetime | None
    """When the certificate that is served was issued (UTC); null if there is none."""
    expires_at: datetime | None
    """When the certificate that is served expires (UTC); null if there is none."""
    next_attempt_at: datetime | None
    """When the next attempt or check is made (UTC)."""


class DomainCertificateData(Record, frozen=True, kw_only=True):
    """Data of `domain.certificate_issued` and `domain.certificate_failed`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    domain: str
    """Name of the domain."""
    name: str
    """The host name of the certificate."""
    expires_at: datetime | None
    """When the certificate that the server uses at present expires (UTC); null if it has none."""


class DomainCertificateFailedData(Record, frozen=True, kw_only=True):
    """Data of `domain.certificate_failed`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    domain: str
    """Name of the domain."""
    name: str
    """The host name of the certificate."""
    expires_at: datetime | None
    """When the certificate that the server uses at present expires (UTC); null if it has none."""
    problem: str
    """Why the last attempt to obtain a certificate failed."""


class DomainEventData(Record, frozen=True, kw_only=True):
    """Data of events about a sending domain. `id` is the id of the domain."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    domain: str
    """Name of the domain."""


class DomainJoin(Record, frozen=True, kw_only=True):
    """Whether a customer joined the organization that has verified the domain of the customer's address, and why or
    why
        not.
    """

    joined: bool
    """Whether the customer is a member of the organization now."""
    organization_id: str | None
    """Id of the organization."""
    domain: str | None
    """Domain name."""
    reason: DomainJoinReason
    """Why the customer did not join; null if joined."""


class DomainListedData(Record, frozen=True, kw_only=True):
    """Data of `domain.blocklisted` and `domain.delisted`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    domain: str
    """Name of the domain."""
    list_name: str
    """Name of the blocklist."""
    subject_value: str
    """The domain or IP address that is or was on the blocklist."""
    codes: list[str]
    """The addresses with which the blocklist replied, such as `127.0.0.2`."""


class DomainReputationData(Record, frozen=True, kw_only=True):
    """Data of events about the bounce rate and complaint rate of a sending domain."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    domain: str
    """Name of the domain."""
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


class DomainWarmUpData(Record, frozen=True, kw_only=True):
    """Data of `domain.warm_up_started` and `domain.warm_up_ended`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    domain: str
    """Name of the domain."""
    status: str
    """ACTIVE, COMPLETED, or CANCELLED if the plan was deleted."""
    ceiling: int
    """Maximum number of messages on the current day."""
    last_ceiling: int
    """Maximum number of messages on the last day of the plan."""


class DryRun(Record, frozen=True, kw_only=True):
    """What an automation would do with a contact."""

    reasons: list[DryRunReason]
    """Why no run would start now; empty if one would. `steps` shows what a run would do if it started nevertheless."""
    conditions: list[DryRunCondition]
    """Each condition of the trigger's `where` rules."""
    status: DryRunStatus
    """The status in which the run would end."""
    error: str | None
    """Why it failed; null if it did not fail."""
    steps: list[DryRunStep]
    """The steps, in order."""


class DryRunCondition(Record, frozen=True, kw_only=True):
    """A condition of the rules of a step or trigger, and whether it holds."""

    path: str
    """JSON pointer to the condition below the rules: `/conditions/0`."""
    holds: bool
    """Whether the condition is true for the contact."""
    value: Any
    """The value of the contact or of the event's data that is compared. Null if there is none, and for conditions
    on audiences and events.
    """


class DryRunMail(Record, frozen=True, kw_only=True):
    """The mail that a step would send, rendered."""

    sender: str
    """`From` header."""
    to: str
    """Recipients."""
    reply_to: str | None
    """Address for replies (`Reply-To` header)."""
    subject: str | None
    """Subject line."""
    html: str | None
    """HTML body."""
    text: str | None
    """Plain text body."""
    problem: str | None
    """Why the mail is shown without subject and content; null if it was rendered."""


class DryRunReason(Record, frozen=True, kw_only=True):
    """Why the event would not start a run."""

    code: DryRunReasonCode
    """Machine-readable code of the reason."""
    message: str
    """Description of the error."""


class DryRunStep(Record, frozen=True, kw_only=True):
    """A step that would be executed."""

    step: int
    """Index of the step, numbered as in `currentStep` of a run."""
    path: str
    """JSON pointer to the step: `/steps/1/then/0`."""
    type: str
    """Type of the record."""
    outcome: DryRunStepOutcome
    """Outcome of the attempt."""
    detail: dict[str, Any]
    """Further details, as text."""
    starts_at: datetime
    """When the step would begin."""
    ends_at: datetime
    """When the run would continue with the next step; the same as `startsAt` for steps that do not wait."""
    conditions: list[DryRunCondition]
    """For CONDITION steps: each condition of the rules. Empty beyond 200 conditions in one dry run."""
    mail: DryRunMail | None
    """The mail that a SEND_EMAIL step would send; null if the step would send none, and for other steps."""


class Duration(Record, frozen=True, kw_only=True):
    """A duration: the sum of its fields."""

    minutes: int | None | UnsetType = UNSET
    """Minutes."""
    hours: int | None | UnsetType = UNSET
    """Hours."""
    days: int | None | UnsetType = UNSET
    """Days."""


class Email(Record, frozen=True, kw_only=True):
    """An e-mail to send."""

    to: list[str]
    """Recipients."""
    from_: str
    """Sender: `ada@example.com` or `Ada <ada@example.com>`."""
    subject: str | None | UnsetType = UNSET
    """Subject line."""
    html: str | None | UnsetType = UNSET
    """HTML body."""
    text: str | None | UnsetType = UNSET
    """Plain text body."""
    template_id: str | None | UnsetType = UNSET
    """Id of the template that provides subject, html and text."""
    engine: EmailEngine | None | UnsetType = UNSET
    """`minijinja` renders tags such as `{{name}}`. `none` sends subject, html and text unchanged, including `{{`,
    `{%` and `{#`, and ignores `variables`. Null: the template's engine, or `minijinja` without a template.
    """
    variables: dict[str, Any] | UnsetType = UNSET
    """Values of template variables such as `{{name}}`; of a template, the names of its variables."""
    cc: list[str] | None | UnsetType = UNSET
    """Recipients of a copy (Cc)."""
    bcc: list[str] | None | UnsetType = UNSET
    """Recipients of a blind copy (Bcc)."""
    reply_to: str | list[str] | None | UnsetType = UNSET
    """Address for replies (`Reply-To` header)."""
    headers: dict[str, str] | None | UnsetType = UNSET
    """Message headers, by name."""
    attachments: list[EmailAttachment] | None | UnsetType = UNSET
    """Attached files, at most 20."""
    tags: list[str] | None | UnsetType = UNSET
    """Tags by which messages can be filtered, at most 75."""
    scheduled_at: datetime | None | UnsetType = UNSET
    """At most 30 days in the future; a time in the past means now."""
    track_opens: bool | None | UnsetType = UNSET
    """Whether opens are tracked; null uses the project's setting."""
    track_clicks: bool | None | UnsetType = UNSET
    """Whether clicks are tracked; null uses the project's setting."""
    expires_at: datetime | None | UnsetType = UNSET
    """The message is not sent after this time; useful for one-time codes."""
    unsubscribable: bool | UnsetType = UNSET
    """Adds `List-Unsubscribe` with one-click unsubscribing (RFC 8058). Several recipients each get a separate
    message with their own unsubscribe link. Default: `false`.
    """
    require_tls: bool | None | UnsetType = UNSET
    """Whether the message is sent only over TLS, and only to servers with a valid certificate that offer REQUIRETLS
    (RFC 8689). To any other server it bounces: with 5.7.10 if TLS or a valid certificate is missing, with 5.7.30
    if REQUIRETLS is not offered. Null: the setting of the project.
    """


class EmailAttachment(Record, frozen=True, kw_only=True):
    """An attached file."""

    filename: str
    """File name."""
    content: str
    """The file in base64; line breaks are allowed."""
    content_type: str | None | UnsetType = UNSET
    """Defaults to the media type of the file name's extension, or `application/octet-stream`."""
    content_id: str | None | UnsetType = UNSET
    """Makes the file inline, so that html can refer to it as `cid:…`."""


class EmailBatchItem(Record, frozen=True, kw_only=True):
    """The result of one e-mail of a batch. `error` is the reason if it was not accepted."""

    id: str | None
    """Unique identifier. Treat it as an opaque string."""
    message_id: str | None
    """`Message-ID` header of the message, the same for all attempts."""
    status: EmailBatchItemStatus
    """Status of the record."""
    error: str | None
    """Why it failed; null if it did not fail."""
    messages: list[RecipientMessage]
    """The message to each recipient if an `unsubscribable` e-mail has several."""


class EmailBatchResult(Record, frozen=True, kw_only=True):
    """The results, in the order of the request."""

    data: list[EmailBatchItem]
    """The results, in the order of the request."""


class EmailBouncedData(Record, frozen=True, kw_only=True):
    """Data of `email.bounced`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
    source: str | None = None
    """Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of
    a mail service such as `ses`. Absent if the result is the reply of a mail server.
    """
    recipient: str
    """The address that refused the e-mail."""
    type: str
    """Cause of the refusal: `hard` (the recipient can never be reached), `soft` (not at present), `block` (bad
    reputation of the sender) or `policy` (the message violates a rule of the server).
    """
    code: int | None
    """SMTP reply code (RFC 5321); null if unknown."""
    enhanced_code: str | None
    """Enhanced status code (RFC 3463), such as `5.1.1`; null if unknown."""
    text: str
    """Text of the receiving server's reply."""


class EmailClickedData(Record, frozen=True, kw_only=True):
    """Data of `email.clicked`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
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
    link: str
    """URL of the link."""


class EmailComplainedData(Record, frozen=True, kw_only=True):
    """Data of `email.complained`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
    source: str | None = None
    """Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of
    a mail service such as `ses`. Absent if the result is the reply of a mail server.
    """
    recipient: str | None = None
    """The recipient who complained; null if the report does not name one. Absent for the test address
    `complained@postern.test`.
    """
    feedback_type: str | None = None
    """The type of the complaint (RFC 5965), such as `abuse`."""


class EmailDelayedData(Record, frozen=True, kw_only=True):
    """Data of `email.delayed`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
    source: str | None = None
    """Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of
    a mail service such as `ses`. Absent if the result is the reply of a mail server.
    """
    reason: str
    """Why the last attempt did not succeed."""
    next_attempt_at: datetime | None
    """When Postern makes the next attempt (UTC); null if a mail server that has accepted the e-mail keeps trying."""


class EmailEventData(Record, frozen=True, kw_only=True):
    """Data of events about an e-mail. `id` is the id of the e-mail."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""


class EmailHitData(Record, frozen=True, kw_only=True):
    """Data of `email.opened` and `email.clicked`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
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


class EmailLogEntry(Record, frozen=True, kw_only=True):
    """A send in the e-mail log."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    status: EmailLogEntryStatus
    """Status of the record."""
    message_id: str
    """`Message-ID` header of the message, the same for all attempts."""
    subject: str
    """Subject line."""
    from_: str
    """Sender: `ada@example.com` or `Ada <ada@example.com>`."""
    to: list[str]
    """Recipients."""
    cc: list[str]
    """Recipients of a copy (Cc)."""
    bcc: list[str]
    """Recipients of a blind copy (Bcc)."""
    contact: ContactRef
    """The contact of the first recipient."""
    recipients: list[RecipientOutcome]
    """The status for each recipient in `to`, `cc` and `bcc`, each address once."""
    campaign_id: str | None
    """Id of the campaign; null if there is none."""
    tags: list[str]
    """Tags by which messages can be filtered, at most 75."""
    reason: str | None
    """Why it failed, bounced, was deferred or was suppressed."""
    ambiguous_attempts: int
    """Attempts that ended before the server's reply, so that it is unknown whether the message arrived (RFC 1047)."""
    test: bool
    """Whether a TEST key sent it; then it is not delivered, but captured for the inbox view."""
    scheduled_at: datetime | None
    """When to send it (UTC); null for immediately."""
    expires_at: datetime | None
    """When it expires (UTC); null if it does not expire."""
    sent_at: datetime | None
    """When it was sent (UTC); null if it was not sent."""
    delivered_at: datetime | None
    """When it was delivered (UTC); null if it was not delivered."""
    opened_at: datetime | None
    """When it was first opened, by a person or a machine (UTC); null if it was not opened."""
    clicked_at: datetime | None
    """When a link was first clicked, by a person or a machine (UTC); null if none was clicked."""
    bounced_at: datetime | None
    """When it bounced (UTC); null if it did not bounce."""
    complained_at: datetime | None
    """When the recipient reported it as spam (UTC); null if it was not reported."""
    created_at: datetime
    """When the record was created (UTC)."""


class EmailLogEntryDetail(Record, frozen=True, kw_only=True):
    """A send with its events."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    status: EmailLogEntryDetailStatus
    """Status of the record."""
    message_id: str
    """`Message-ID` header of the message, the same for all attempts."""
    subject: str
    """Subject line."""
    from_: str
    """Sender: `ada@example.com` or `Ada <ada@example.com>`."""
    to: list[str]
    """Recipients."""
    cc: list[str]
    """Recipients of a copy (Cc)."""
    bcc: list[str]
    """Recipients of a blind copy (Bcc)."""
    contact: ContactRef
    """The contact of the first recipient."""
    recipients: list[RecipientOutcome]
    """The status for each recipient in `to`, `cc` and `bcc`, each address once."""
    campaign_id: str | None
    """Id of the campaign; null if there is none."""
    tags: list[str]
    """Tags by which messages can be filtered, at most 75."""
    reason: str | None
    """Why it failed, bounced, was deferred or was suppressed."""
    ambiguous_attempts: int
    """Attempts that ended before the server's reply, so that it is unknown whether the message arrived (RFC 1047)."""
    test: bool
    """Whether a TEST key sent it; then it is not delivered, but captured for the inbox view."""
    scheduled_at: datetime | None
    """When to send it (UTC); null for immediately."""
    expires_at: datetime | None
    """When it expires (UTC); null if it does not expire."""
    sent_at: datetime | None
    """When it was sent (UTC); null if it was not sent."""
    delivered_at: datetime | None
    """When it was delivered (UTC); null if it was not delivered."""
    opened_at: datetime | None
    """When it was first opened, by a person or a machine (UTC); null if it was not opened."""
    clicked_at: datetime | None
    """When a link was first clicked, by a person or a machine (UTC); null if none was clicked."""
    bounced_at: datetime | None
    """When it bounced (UTC); null if it did not bounce."""
    complained_at: datetime | None
    """When the recipient reported it as spam (UTC); null if it was not reported."""
    created_at: datetime
    """When the record was created (UTC)."""
    webhook_events: list[SendEvent]
    """The events of the send, oldest first."""
    engine: EmailLogEntryDetailEngine | None
    """The template engine of its subject, html and text; null if they are no longer stored."""
    waiting: EmailWaiting | None
    """What it waits for, and until when; null if it does not wait."""
    require_tls: bool | None
    """Whether it is sent only over TLS (`requireTls` of the e-mail or of the project); null if its content is no
    longer stored.
    """


class EmailQueuedData(Record, frozen=True, kw_only=True):
    """Data of `email.queued`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
    retry: bool | None = None
    """True if a failed e-mail was queued again. Absent otherwise. Default: `false`."""


class EmailReasonData(Record, frozen=True, kw_only=True):
    """Data of `email.failed`, `email.suppressed`, `email.expired` and `email.cancelled`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
    reason: str | None = None
    """Why the e-mail was not sent."""
    recipient: str | None = None
    """The recipient to whom it was not sent. Absent if the event is not about a single recipient."""


class EmailReportData(Record, frozen=True, kw_only=True):
    """Data of events that record the result of a delivery. The result is the reply of a mail server during an
    attempt,
        or comes later in a report.
    """

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
    source: str | None = None
    """Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of
    a mail service such as `ses`. Absent if the result is the reply of a mail server.
    """


class EmailScheduledData(Record, frozen=True, kw_only=True):
    """Data of `email.scheduled`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
    scheduled_at: datetime | None = None
    """The new time (UTC). Absent unless the e-mail was rescheduled."""


class EmailUnsubscribedData(Record, frozen=True, kw_only=True):
    """Data of `email.unsubscribed`."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    contact: EventContact | None
    """The contact that the event is about; null if it is about no contact."""
    email_id: str
    """Id of the e-mail."""
    message_id: str
    """The `Message-ID` header (RFC 5322)."""
    from_: str
    """The sender, as in the message."""
    to: list[str]
    """The recipients in `To`."""
    subject: str | None
    """The subject; null if it is the e-mail of a campaign and was never composed."""
    tags: list[str]
    """Tags of the e-mail."""
    contact_id: str | None
    """Id of the contact to whom the e-mail is sent; null if the recipient is no contact."""
    campaign_id: str | None
    """Id of the campaign; null if the e-mail belongs to none."""
    variant_id: str | None
    """Id of the variant of the A/B test; null if the e-mail belongs to none."""
    domain_id: str | None
    """Id of the sending domain; null if the sender's address is not at a sending domain of the project."""
    test: bool
    """Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered."""
    recipient: str
    """The address that was unsubscribed."""


class EmailWaiting(Record, frozen=True, kw_only=True):
    """What an e-mail waits for."""

    cause: EmailWaitingCause
    """SCHEDULE: its scheduled time has not come. QUEUE: a worker will take it, or is sending it. CAMPAIGN_PAUSED:
    its campaign is paused. WARM_UP: its domain, or the IP addresses of the server, may send no more marketing
    mail today. REPUTATION: the bounce or complaint rate of its domain is too high. SITE_SUSPENDED: its site (the
    group of mail servers to which it goes, see the list of delivery sites) is suspended. SITE_SLOWED: its site
    has asked for less mail. SITE_UNREACHABLE: its site could not be reached several times in a row. CAPACITY:
    earlier messages are sent first. TLS: encryption that the recipient's domain or the relay's settings require
    has failed. DEFERRED: a mail server asked to try again later, or could not be reached. SETUP: Postern has no
    transport for it, or is overloaded.
    """
    until: datetime | None
    """When it will be tried; null if that is not known, for example if a suspension has no end."""
    site: str | None
    """The name of the site for which it waits, as in the list of delivery sites; null if it waits for none."""


class EndUser(Record, frozen=True, kw_only=True):
    """A customer as the operations under `/apps/{appId}/end-users` return it. These are additional paths of
    operations
        on customers, in which a project is called an app.
    """

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str | None
    """E-mail address."""
    email_verified_at: datetime | None
    """When the e-mail address was verified (UTC); null if it is not verified."""
    metadata: dict[str, Any]
    """Custom data, up to 16 KiB of JSON."""
    roles: list[str]
    """Keys of the roles."""
    last_sign_in_at: datetime | None
    """When the last sign-in was (UTC); null if there was none."""
    banned_at: datetime | None
    """When the customer was banned (UTC); null if not banned."""
    mfa_enabled_at: datetime | None
    """When the second factor was set up (UTC); null if there is none."""
    failed_sign_in_attempts: int
    """Number of failed sign-ins since the last successful one."""
    sign_in_locked_until: datetime | None
    """Until when sign-in is locked after failed attempts (UTC); null if it is not locked."""
    identities: list[CustomerIdentity]
    """The customer's sign-in identities, such as a password or an identity provider."""
    sessions: list[CustomerSession]
    """Open sessions."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    app_id: str
    """The project's id. The older path family calls a project an app."""


class EnrolledSignIn(Record, frozen=True, kw_only=True):
    """The tokens of the session, and the recovery codes, which are shown only once."""

    session_id: str | None
    """Id of the session; null if no session was started."""
    access_token: str | None
    """Short-lived bearer token for requests."""
    access_token_expires_at: datetime | None
    """When the access token expires (UTC)."""
    refresh_token: str | None
    """Single-use token to get the next access token."""
    refresh_token_expires_at: datetime | None
    """When the refresh token expires (UTC)."""
    organization_id: str | None
    """The active organization, which the access token describes; null without one."""
    customer: CurrentCustomer | None
    """The customer."""
    mfa_required: bool
    """Whether a second factor is required to finish the sign-in. Default: `false`."""
    mfa_enrollment_required: bool
    """Whether the customer must set up a second factor first; see `mfa/enroll`. Default: `false`."""
    mfa_token: str | None
    """Token that proves the first factor. Send it with the second factor."""
    mfa_methods: list[str] | None
    """Second factors that can be used or set up: `TOTP`, `RECOVERY_CODE`."""
    remembered_device_token: str | None
    """With `rememberDevice` at `mfa/verify`: store it on the device and send it with later sign-ins, which then
    need no second factor. Null if devices are not remembered here.
    """
    remembered_device_expires_at: datetime | None
    """When the second factor is asked for on this device again at the latest."""
    terms_required: bool
    """Whether the customer must accept the terms to finish the sign-in. Default: `false`."""
    terms_token: str | None
    """Token of the sign-in that waits for the terms. Send it with the version that was accepted."""
    terms: RequiredTerms | None
    """The terms that the customer must accept before the sign-in is complete; null if there are none."""
    recovery_codes: list[str]
    """Each can be used once instead of a code of the authenticator app."""


class Entitlement(Record, frozen=True, kw_only=True):
    """Whether and up to which limit an organization can use a feature, and why."""

    feature_key: str
    """Key of the feature."""
    type: EntitlementType | None
    """Null for a feature that is not declared."""
    enabled: bool
    """Whether it is enabled."""
    limit: int | None
    """Null is unlimited. Always null for a BOOLEAN feature."""
    source: EntitlementSource
    """What decided: an override of the organization, its plan, the default of the feature, or NONE if the project
    has not declared the feature.
    """
    plan_key: str | None
    """Key of the plan, if the source is PLAN."""
    reason: str | None
    """The reason of the override, or that the organization is suspended; otherwise null."""
    expires_at: datetime | None
    """When the override ends, if the source is OVERRIDE."""
    organization_id: str | None
    """Id of the organization."""


class EntitlementChangedData(Record, frozen=True, kw_only=True):
    """Data of `entitlement.changed`. `id` is the id of the organization, the plan or the feature that was changed."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
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


class EntitlementExpiredData(Record, frozen=True, kw_only=True):
    """Data of `entitlement.expired`. `id` is the id of the organization."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    feature_key: str
    """Key of the feature whose override expired."""


class Event(Record, frozen=True, kw_only=True):
    """Something that happened in a project."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    type: str
    """A name in `EVENT_NAMES`, or the name of a custom event."""
    subject_id: str | None
    """Id of the record that the event is about: a send, a contact, a customer, a campaign …; null if there is none."""
    actor_type: str
    """Kind of actor: `DEVELOPER`, `API_KEY`, `TEST_KEY`, `CUSTOMER` or `SYSTEM`."""
    actor_id: str | None
    """Id of the actor; null for the service itself."""
    actor_label: str | None
    """Display name of the actor."""
    data: dict[str, Any]
    """Data of the event."""
    occurred_at: datetime
    """When it happened (UTC)."""
    project_id: str
    """Id of the project."""
    contact: EventContact | None
    """The contact that the event concerns, or null."""


class EventContact(Record, frozen=True, kw_only=True):
    """The contact that an event concerns."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str | None
    """The address of the contact; null if the contact has been deleted."""


class Exit(Record, frozen=True, kw_only=True, tag_field="type", tag="EXIT"):
    """End the run here."""


class ExportedEvent(Record, frozen=True, kw_only=True):
    """Something that happened to the account."""

    type: str
    """Type of the record."""
    occurred_at: datetime
    """When it happened (UTC)."""
    data: dict[str, Any]
    """Details, if the customer did it."""


class Feature(Record, frozen=True, kw_only=True):
    """A feature that organizations can use: on or off, or up to a limit."""

    key: str
    """Key that identifies it in requests, or the API key."""
    name: str
    """Display name."""
    type: FeatureType
    """Type of the record."""
    default_enabled: bool
    """Whether organizations without a plan have the feature."""
    default_limit: int | None
    """The limit where neither a plan nor an override sets the feature; null is unlimited."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class Finding(Record, frozen=True, kw_only=True):
    """One rule that a message or a DNS record does not follow, with what to do about it."""

    code: str
    """The stable name of the rule; see the guide."""
    severity: FindingSeverity
    """ERROR, WARNING or ADVICE; see the guide."""
    path: str
    """What it concerns: a JSON pointer into the request, or the name of a DNS record."""
    message: str
    """What is wrong, and why it matters."""
    fix: str
    """What to do."""
    count: int
    """How often the rule is not followed. Default: `1`."""
    snippets: list[str]
    """The first such places or values, shortened."""


class FormerReason(Record, frozen=True, kw_only=True):
    """A weaker reason for which an address was suppressed before."""

    reason: FormerReasonReason
    """Reason, as text."""
    source: str
    """Source of the record."""
    detail: str | None
    """Further details, as text."""
    send_id: str | None
    """Id of the send; null if there is none."""
    since: datetime
    """Since when the address was suppressed for this reason (UTC)."""


class HeaderField(Record, frozen=True, kw_only=True):
    """A decoded header field."""

    name: str
    """Name of the header."""
    value: str
    """Value of the header."""


class HookFailedData(Record, frozen=True, kw_only=True):
    """Data of `hook.failed`. `id` is the id of the sign-in hook."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    kind: str
    """The kind of the hook: `BEFORE_SIGN_UP`, `BEFORE_TOKEN` or `MIGRATION`."""
    reason: str
    """Why the last call failed."""


class HookFailure(Record, frozen=True, kw_only=True):
    """A call of a hook without a valid answer."""

    reason: str
    """Reason, as text."""
    status: int | None
    """The HTTP status; null if there was no response."""
    response_time: float | None
    """In milliseconds; null if no request was made."""
    at: datetime
    """When the message got this status for this recipient; null before the first attempt."""


class HookRecoveredData(Record, frozen=True, kw_only=True):
    """Data of `hook.recovered`. `id` is the id of the sign-in hook."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    kind: str
    """The kind of the hook: `BEFORE_SIGN_UP`, `BEFORE_TOKEN` or `MIGRATION`."""


class IdentityLinkStart(Record, frozen=True, kw_only=True):
    """Where to send the customer's browser."""

    url: str
    """The URL."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""


class IdentityRequest(Record, frozen=True, kw_only=True):
    """A request to link an account at a provider to a customer, which an administrator approves or rejects."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    customer_id: str
    """Id of the customer."""
    provider: str
    """Key of the sign-in provider, such as `GOOGLE`, or name of the payment provider."""
    connection_id: str | None
    """The single sign-on connection of the account; null for a sign-in provider of the project."""
    issuer: str
    """Issuer of an OpenID Connect provider."""
    subject: str
    """The identity provider's id of the account."""
    email: str | None
    """E-mail address."""
    name: str | None
    """Display name."""
    status: IdentityRequestStatus
    """Status of the record."""
    created_at: datetime
    """When the record was created (UTC)."""
    decided_at: datetime | None
    """When it was approved or rejected (UTC); null while it is pending."""


class IdpCertificate(Record, frozen=True, kw_only=True):
    """Details of a pinned certificate of the identity provider."""

    subject: str
    """Subject of the certificate."""
    fingerprint: str
    """SHA-256, lower-case hexadecimal."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""
    expired: bool
    """Whether it has expired."""


class ImportedEmail(Record, frozen=True, kw_only=True):
    """A secondary address, which can be used to sign in."""

    email: str
    """E-mail address."""
    verified: bool | UnsetType = UNSET
    """Number of customers with a verified e-mail address. Default: `false`."""


class ImportedIdentity(Record, frozen=True, kw_only=True):
    """An account at a sign-in provider."""

    provider: str
    """The key of the provider, such as `GOOGLE`."""
    subject: str
    """The id of the account at the provider: the claim `sub` of its ID tokens; at GitHub the numeric id."""
    issuer: str | None | UnsetType = UNSET
    """Default: the issuer of the provider. Microsoft needs that of the account's tenant."""


class ImportedMembership(Record, frozen=True, kw_only=True):
    """A membership of an organization, which is created if there is none with this external id."""

    external_id: str
    """The id of the organization in the other system."""
    name: str | None | UnsetType = UNSET
    """The name of a new organization. Default: the external id."""
    roles: list[str] | UnsetType = UNSET
    """Keys of roles with the scope ORGANIZATION."""


class ImportedPasskey(Record, frozen=True, kw_only=True):
    """A passkey that was registered with another system for the same relying party id. Binary values are in
    base64url
        or base64.
    """

    rp_id: str
    """The relying party id with which the passkey was created. A passkey only works with this one."""
    credential_id: str
    """The id that the authenticator gave to the credential."""
    public_key: str
    """The public key as COSE_Key (RFC 9052 §7), as an authenticator sends it."""
    sign_count: int | UnsetType = UNSET
    """The signature counter at the last use; 0 if the authenticator does not count. Default: `0`."""
    user_handle: str | None | UnsetType = UNSET
    """The user handle that the other system gave to the authenticator; null accepts any."""
    backed_up: bool | UnsetType = UNSET
    """Whether the passkey is synchronised to other devices. Default: `false`."""
    name: str | UnsetType = UNSET
    """Display name. Default: `"Passkey"`."""


class ImportedRow(Record, frozen=True, kw_only=True):
    """What happened to one row. `UNCHANGED`: there is a customer with this `externalUserId` already."""

    index: int
    """Index in the request, from 0."""
    external_user_id: str | None
    """Id of the person in your own system."""
    outcome: ImportedRowOutcome
    """Outcome of the attempt."""
    customer_id: str | None
    """Null if the row failed, or would be created after a dry run."""
    faults: list[ProblemError]
    """Why the row failed; `path` is a JSON pointer into the row."""


class InboundEnvelope(Record, frozen=True, kw_only=True):
    """How a message arrived."""

    sender: str
    """The envelope sender (RFC 5321); empty for reports and automatic replies."""
    client_ip: str | None
    """The IP address of the client; null if it is not known."""
    client_name: str | None
    """The name that the client gave in EHLO; null if it is not known."""


class InboundMessage(Record, frozen=True, kw_only=True):
    """A received message."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    source: InboundMessageSource
    """`smtp`, or `api` if it was added through the API."""
    recipients: list[InboundRecipient]
    """The recipients in the envelope that have a route of the project."""
    subject: str
    """Subject line."""
    message_id: str | None
    """The `Message-ID` of the message; null if it has none."""
    email_id: str | None
    """Id of the project's e-mail to which the message is a reply; null if it is not a reply to one."""
    size: int
    """Size of the whole message in octets."""
    automatic: bool
    """Whether a program and not a person sent the message, for example as a vacation notice. Do not reply to it
    automatically.
    """
    hints: list[SpamHint]
    """Facts that are common in unwanted mail. No message is refused because of them."""
    received_at: datetime
    """When it was received (UTC)."""
    from_: MailContact | None
    """The first address in From; null if there is none."""
    to: list[MailContact]
    """The addresses in To."""
    attachment_count: int
    """Number of attachments. `GET …/inbound/{id}` lists them."""
    spf: InboundMessageSpf
    """The SPF result (RFC 7208), for the domain of the envelope sender."""
    dkim: InboundMessageDkim
    """`pass` if a DKIM signature is valid, whatever its domain; `none` if there is no signature."""
    dmarc: InboundMessageDmarc
    """The DMARC result: whether the domain in From is authenticated."""
    expires_at: datetime
    """When the message will be deleted (UTC), by the present value of the project's setting `inboundRetentionDays`."""
    headers: list[MessageField]
    """The header fields in their order."""
    cc: list[MailContact]
    """The addresses in Cc."""
    reply_to: list[MailContact]
    """The addresses in Reply-To."""
    date: datetime | None
    """The time in Date, which the sender chooses (UTC); null if there is none."""
    in_reply_to: str | None
    """The `Message-ID` in In-Reply-To; null if there is none."""
    references: list[str]
    """The message ids in References and In-Reply-To, the latest last; at most 50."""
    text: str | None
    """The plain text; null if there is none."""
    html: str | None
    """The HTML body as it arrived. It can be hostile: never show it in a page of your own origin without sanitizing
    it.
    """
    reply_text: str
    """The plain text without the quoted message and the signature, as far as they are recognized."""
    attachments: list[ReceivedAttachment]
    """Attached files."""
    authentication: MessageAuthentication
    """The results of SPF, DKIM and DMARC in detail."""
    authentication_results: str
    """The same as the value of a field Authentication-Results (RFC 8601), for programs that read it."""
    envelope: InboundEnvelope
    """How the message arrived."""
    notices: list[str]
    """Which parts of the message could not be read, and why. The raw message is complete."""


class InboundReceipt(Record, frozen=True, kw_only=True):
    """The result of adding a message."""

    id: str
    """Id of the received message."""
    duplicate: bool
    """Whether nothing was added, because the same message for the same recipients was stored before."""


class InboundReceivedData(Record, frozen=True, kw_only=True):
    """Data of `inbound.received`. `id` is the id of the received message."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    message_id: str | None
    """The `Message-ID` of the message; null if it has none."""
    email_id: str | None
    """Id of the project's e-mail to which the message is a reply; null if it is not a reply to one."""
    from_: str
    """The first address in `From`; empty if there is none."""
    from_name: str
    """The display name of this address; empty if it has none."""
    to: list[str]
    """The first 20 addresses in `To`."""
    recipients: list[str]
    """The envelope recipients (RCPT TO) that match a route of the project, in lower case."""
    route_ids: list[str]
    """Ids of the routes that the recipients match."""
    tag: str | None
    """The part between `+` and `@` of the first recipient that has one: `a1` in `help+a1@example.com`. Null if none
    has one.
    """
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


class InboundRecipient(Record, frozen=True, kw_only=True):
    """A recipient of a received message."""

    address: str
    """The address in the envelope (RFC 5321)."""
    route_id: str
    """Id of the route of the address."""
    tag: str | None
    """The part of the local part after `+`; null if there is none."""


class InboundRoute(Record, frozen=True, kw_only=True):
    """An address, or all addresses of a domain, for which the project receives mail."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    address: str
    """The address, or `*@` and the domain for every address of it that has no route of its own. Mail to an address
    with a tag, such as `support+42@…`, goes to the route of the address without the tag, unless there is one
    with the tag.
    """
    active: bool
    """Whether mail is received. Mail to the address of an inactive route is refused, even if the domain has an
    active route.
    """
    domain_id: str
    """Id of the verified sending domain to which the address belongs."""
    record: MxRecord
    """MX record to publish for the domain of the address."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class InboundSummary(Record, frozen=True, kw_only=True):
    """A received message without its content."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    source: InboundSummarySource
    """`smtp`, or `api` if it was added through the API."""
    recipients: list[InboundRecipient]
    """The recipients in the envelope that have a route of the project."""
    subject: str
    """Subject line."""
    message_id: str | None
    """The `Message-ID` of the message; null if it has none."""
    email_id: str | None
    """Id of the project's e-mail to which the message is a reply; null if it is not a reply to one."""
    size: int
    """Size of the whole message in octets."""
    automatic: bool
    """Whether a program and not a person sent the message, for example as a vacation notice. Do not reply to it
    automatically.
    """
    hints: list[SpamHint]
    """Facts that are common in unwanted mail. No message is refused because of them."""
    received_at: datetime
    """When it was received (UTC)."""
    from_: MailContact | None
    """The first address in From; null if there is none."""
    to: list[MailContact]
    """The addresses in To."""
    attachment_count: int
    """Number of attachments. `GET …/inbound/{id}` lists them."""
    spf: InboundSummarySpf
    """The SPF result (RFC 7208), for the domain of the envelope sender."""
    dkim: InboundSummaryDkim
    """`pass` if a DKIM signature is valid, whatever its domain; `none` if there is no signature."""
    dmarc: InboundSummaryDmarc
    """The DMARC result: whether the domain in From is authenticated."""
    expires_at: datetime
    """When the message will be deleted (UTC), by the present value of the project's setting `inboundRetentionDays`."""


class InboxAttachment(Record, frozen=True, kw_only=True):
    """An attachment; `number` is its number in the URL, from 0."""

    number: int
    """Number of the attachment in its URL."""
    filename: str
    """File name."""
    content_type: str
    """Media type of the file."""
    content_id: str | None
    """Content-ID by which the HTML refers to the file as `cid:…`; null for a plain attachment."""
    size: int
    """The size of the decoded file in octets."""


class InboxMessage(Record, frozen=True, kw_only=True):
    """A captured message with its headers, html, text and attachments."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    send_id: str
    """Id of the send; null if there is none."""
    mail_from: str
    """The envelope sender, to which bounces go."""
    recipients: list[str]
    """The envelope recipients, including those in bcc."""
    sender: str
    """The sender in the header field `From`."""
    subject: str
    """Subject line."""
    size: int
    """The size of the message in octets."""
    captured_at: datetime
    """When the message was captured (UTC)."""
    headers: list[HeaderField]
    """Message headers."""
    html: str | None
    """HTML body."""
    text: str | None
    """Plain text body."""
    attachments: list[InboxAttachment]
    """Attached files."""
    redacted: bool
    """Whether one-time codes and links are replaced by `[removed]`, because the caller does not have the permission
    `customers:impersonate`.
    """


class InvitationAcceptedData(Record, frozen=True, kw_only=True):
    """Data of `invitation.accepted`. `id` is the id of the invitation."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    organization_id: str
    """Id of the organization."""
    customer_id: str
    """Id of the customer who accepted it."""


class InvitationEventData(Record, frozen=True, kw_only=True):
    """Data of events about an invitation. `id` is the id of the invitation."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    organization_id: str
    """Id of the organization."""
    role: str | None = None
    """Role that the invitation gives."""


class InvitationPreview(Record, frozen=True, kw_only=True):
    """What a visitor with the token of an invitation can see without signing in."""

    organization: OrganizationRef
    """The organization."""
    email: str
    """E-mail address."""
    role: str
    """Role of the person."""
    status: InvitationPreviewStatus
    """Status of the record."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""


class JsonWebKeys(Record, frozen=True, kw_only=True):
    """A set of public keys (RFC 7517 §5)."""

    keys: list[dict[str, str | bool | list[str]]]
    """The keys: EC with P-256, OKP with Ed25519, or RSA with at least 2048 bits. Each of several needs a `kid`."""


class ListedAudience(Record, frozen=True, kw_only=True):
    """An audience in a list."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    name: str
    """Display name."""
    type: ListedAudienceType
    """Type of the record."""
    rules: dict[str, Any] | None
    """The rules that choose the members; null for a STATIC audience."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    member_count: int | None
    """The number of contacts in it, counted up to 100,000; null unless `include=counts` is requested."""


class ListedAutomation(Record, frozen=True, kw_only=True):
    """An automation in a list."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    name: str
    """Display name."""
    trigger: dict[str, Any]
    """Trigger that starts runs."""
    steps: list[dict[str, Any]]
    """The steps, in order."""
    active: bool
    """Whether the record is active."""
    version: int
    """Incremented by each change of the steps; a run keeps the version with which it started."""
    max_runs_per_hour: int
    """Maximum runs that one contact can start within an hour. Further ones are counted as `limited`."""
    allow_loops: bool
    """Whether the automation may be active even if it is part of a loop."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    totals: AutomationRunTotals | None
    """The numbers of its runs; null unless `include=counts` is requested."""
    unfinished: int | None
    """Number of its unfinished runs; null unless `include=counts` is requested."""
    last_run_at: datetime | None
    """When its latest run started; null without a run, and unless `include=counts` is requested."""


class ListedCampaign(Record, frozen=True, kw_only=True):
    """A campaign in a list."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    subject: str | None
    """Subject line."""
    from_name: str | None
    """Display name of the sender."""
    from_email: str | None
    """E-mail address of the sender."""
    preview_text: str | None
    """Preview text that mail clients show after the subject."""
    status: ListedCampaignStatus
    """Status of the record."""
    scheduled_at: datetime | None
    """When to send it (UTC); null for immediately."""
    sent_at: datetime | None
    """When it was sent (UTC); null if it was not sent."""
    template_id: str | None
    """Id of the template that provides subject, html and text."""
    domain_id: str | None
    """Id of the sending domain."""
    audience_id: str | None
    """Id of the audience."""
    ab_test_enabled: bool
    """Whether the campaign has an A/B test."""
    ab_test_sample_percent: int | None
    """Share of the audience in the A/B test, in percent (5 to 100)."""
    ab_test_metric: ListedCampaignAbTestMetric | None
    """Rate that decides the A/B test."""
    ab_test_duration_minutes: int | None
    """Duration of the A/B test in minutes (15 to 10,080)."""
    ab_test_started_at: datetime | None
    """When the A/B test started (UTC); null if it has not started."""
    ab_test_sample_size: int | None
    """Contacts in the test, chosen when it begins: `abTestSamplePercent` of the audience, but at least one contact
    for each variant.
    """
    reason: str | None
    """Why the campaign failed; null unless its status is FAILED."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    stats: CampaignStats | None
    """The statistics of its sends; null unless `include=counts` is requested."""


class MailBlock(Record, frozen=True, kw_only=True):
    """A part of a mail. `text` is a template: `{{ app }}` is replaced by a value.

    The button leads to the link of the mail, and the code shows its one-time code; `text` is the label of
        the button,
    or what stands above the code.
    """

    type: MailBlockType
    """Type of the record."""
    text: str
    """Plain text body."""


class MailContact(Record, frozen=True, kw_only=True):
    """An address in a header field."""

    name: str
    """The display name; empty if there is none."""
    email: str
    """The address as it is written in the message, which can be invalid."""


class MailPreview(Record, frozen=True, kw_only=True):
    """Where the message is shown. `path` is the path on this server to load in an `iframe`."""

    path: str
    """Path on this server to load in an `iframe`."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""


class MailTestSent(Record, frozen=True, kw_only=True):
    """The e-mail of a test."""

    id: str
    """The id of the e-mail, for `GET …/emails/{id}`."""


class MailText(Record, frozen=True, kw_only=True):
    """The text of a mail in one language, as customers get it."""

    mail: MailTextMail
    """The mail that a SEND_EMAIL step would send; null if the step would send none, and for other steps."""
    language: MailTextLanguage
    """The language that the customer reads."""
    content: MailTextContent
    """Null: the text was reset to the built-in one."""
    is_built_in: bool
    """Whether this is the text that every project has."""
    version: int
    """The number of the newest version; 0 if the text was never edited."""
    updated_by: str | None
    """Who changed the text last: the e-mail address of a developer or the name of an API key."""
    updated_at: datetime
    """When the text was changed last; if never, when the project was created."""


class MailTextContent(Record, frozen=True, kw_only=True):
    """What a mail says, as templates: `{{ app }}` is replaced by a value, `{% if … %}` is possible, too."""

    subject: str
    """Subject line."""
    preheader: str | UnsetType = UNSET
    """What lists of mails show beside the subject; "" for the beginning of the mail."""
    blocks: list[MailBlock]
    """Paragraphs, and the button or code of the mail, in their order."""
    footer: str | UnsetType = UNSET
    """What stands below the mail, such as the postal address; "" for nothing."""


class MailTextVersion(Record, frozen=True, kw_only=True):
    """A version of a mail in one language."""

    version: int
    """Version number, from 1. Each change increments it."""
    content: MailTextContent | None
    """Null: the text was reset to the built-in one."""
    created_by: str | None
    """Who created the version: the e-mail address of a developer or the name of an API key."""
    created_at: datetime
    """When the record was created (UTC)."""


class MailVariable(Record, frozen=True, kw_only=True):
    """A variable that the texts of a mail can use."""

    name: str
    """Display name."""
    description: str
    """Description for people."""
    sample: str
    """The value in previews and tests."""


class MessageAuthentication(Record, frozen=True, kw_only=True):
    """The results of SPF, DKIM and DMARC of a received message."""

    spf: SpfResult
    """The SPF result (RFC 7208), for the domain of the envelope sender."""
    spf_domain: str
    """The domain that SPF was checked for: of MAIL FROM, or of EHLO if MAIL FROM is empty."""
    dkim: list[DkimResult]
    """One per signature, from the top of the message."""
    dmarc: DmarcResult
    """The DMARC result: whether the domain in From is authenticated."""


class MessageField(Record, frozen=True, kw_only=True):
    """A header field."""

    name: str
    """The name as it is written in the message."""
    value: str
    """The value, unfolded, with its encoded words (RFC 2047) decoded. At most 8,192 characters."""


class MxRecord(Record, frozen=True, kw_only=True):
    """The MX record to publish so that mail for a domain reaches this server, with the result of the last check."""

    type: MxRecordType
    """Type of the record."""
    name: str
    """The domain."""
    value: str
    """The name of this server."""
    priority: int
    """The preference (RFC 5321 §5.1); other numbers work, too."""
    status: MxRecordStatus
    """PENDING: there is no MX record; WRONG: there are only others; UNKNOWN: the lookup failed."""
    found: list[str]
    """The mail servers that are published for the domain."""
    reason: str | None
    """Why the record is not VERIFIED."""
    checked_at: datetime
    """When it was last checked (UTC)."""


class MyOrganizationPermissions(Record, frozen=True, kw_only=True):
    """The roles and permissions of the signed-in customer in the active organization."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    roles: list[str]
    """Keys of the roles."""
    permissions: list[str]
    """Keys of all permissions in this organization, sorted: from its roles, and from project roles that apply to
    all organizations.
    """


class MyPermissions(Record, frozen=True, kw_only=True):
    """All permissions of the signed-in customer."""

    permissions: list[str]
    """Keys of the permissions that the project roles grant, sorted."""
    organization: MyOrganizationPermissions | None
    """The active organization of the access token; null without one."""


class MyRememberedDevice(Record, frozen=True, kw_only=True):
    """A device on which you are not asked for the second factor."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    user_agent: str
    """`User-Agent` header of the request."""
    ip_address: str
    """IP address of the client."""
    created_at: datetime
    """When the record was created (UTC)."""
    expires_at: datetime
    """When the second factor is asked for again at the latest."""


class NewCustomer(Record, frozen=True, kw_only=True):
    """A customer to create or import: with a password, with a password hash of another system, or with neither."""

    email: str | None | UnsetType = UNSET
    """E-mail address."""
    email_verified: bool | UnsetType = UNSET
    """Whether the e-mail address is verified. Default: `false`."""
    name: str | None | UnsetType = UNSET
    """Display name."""
    language: str | None | UnsetType = UNSET
    """The language that the customer reads. Mails and the account page are in it, if they exist in it."""
    phone: str | None | UnsetType = UNSET
    """Phone number in E.164 form."""
    phone_verified: bool | UnsetType = UNSET
    """Whether you have verified the number. Default: `false`."""
    external_user_id: str | None | UnsetType = UNSET
    """Id of the person in your own system."""
    password: str | None | UnsetType = UNSET
    """Password. A new password must have at least 8 characters."""
    password_hash: str | None | UnsetType = UNSET
    """Hash from another system: bcrypt, scrypt, PBKDF2 or argon2."""
    metadata: dict[str, Any] | UnsetType = UNSET
    """Custom data, up to 16 KiB of JSON."""
    roles: list[str] | UnsetType = UNSET
    """Keys of the roles."""


class NewVariant(Record, frozen=True, kw_only=True):
    """A variant of the message for an A/B test."""

    name: str
    """A display name: one line of text, not only blanks."""
    subject: str | None | UnsetType = UNSET
    """Null: the campaign's subject."""
    template_id: str | None | UnsetType = UNSET
    """Null: the campaign's template."""
    weight: int
    """The share of the test sample that gets this variant, in percent; all weights sum to 100."""


class OAuthClient(Record, frozen=True, kw_only=True):
    """An app that signs customers in through the project's OpenID provider."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    environment: OAuthClientEnvironment
    """A TEST client signs customers in with TEST sessions, and its access tokens have an audience of their own."""
    name: str
    """Display name."""
    type: OAuthClientType
    """CONFIDENTIAL: runs on a server and has a secret or a key. PUBLIC: runs in a browser or on a device."""
    first_party: bool
    """Whether the client belongs to the project: then customers are not asked for their consent."""
    self_registered: bool
    """Whether the client has registered itself (RFC 7591): nobody of the project has checked who it is."""
    secret_last_four: str | None
    """The last four characters of the secret; null without one."""
    redirect_uris: list[str]
    """Where authorization responses may be sent; compared exactly."""
    post_logout_redirect_uris: list[str]
    """Where the browser may go after it has signed out; compared exactly."""
    grant_types: list[str]
    """How the client may get tokens: `authorization_code`, `refresh_token`, `client_credentials`,
    `urn:ietf:params:oauth:grant-type:device_code`.
    """
    scopes: list[str]
    """The scopes that the client may get: standard ones, and permissions that the project has declared."""
    website_url: str | None
    """The website of the client, shown to customers."""
    privacy_url: str | None
    """The privacy policy of the client, shown to customers."""
    terms_url: str | None
    """The terms of service of the client, shown to customers."""
    backchannel_logout_uri: str | None
    """Where the client is told that a session has ended; null if it is not told."""
    require_dpop: bool
    """Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449)."""
    jwks: dict[str, Any] | None
    """The public keys with which the client authenticates (`private_key_jwt`); null without one."""
    jwks_uri: str | None
    """Where the client publishes these keys instead; null if it does not."""
    security_profile: OAuthClientSecurityProfile
    """STANDARD; or FAPI2: the client is held to the FAPI 2.0 Security Profile."""
    id_token_signing_alg: OAuthClientIdTokenSigningAlg
    """How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing
    else.
    """
    metadata_url: str | None
    """The URL of the document with the client's metadata, which is its `clientId`; null for other clients."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    client_id: str
    """The `client_id` of OAuth: the same as `id`, or the `metadataUrl`."""
    issuer: str
    """The issuer of the project: append `/.well-known/openid-configuration` for its configuration."""


class OAuthClientWithSecret(Record, frozen=True, kw_only=True):
    """A client with its secret, which is returned only once."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    environment: OAuthClientWithSecretEnvironment
    """A TEST client signs customers in with TEST sessions, and its access tokens have an audience of their own."""
    name: str
    """Display name."""
    type: OAuthClientWithSecretType
    """CONFIDENTIAL: runs on a server and has a secret or a key. PUBLIC: runs in a browser or on a device."""
    first_party: bool
    """Whether the client belongs to the project: then customers are not asked for their consent."""
    self_registered: bool
    """Whether the client has registered itself (RFC 7591): nobody of the project has checked who it is."""
    secret_last_four: str | None
    """The last four characters of the secret; null without one."""
    redirect_uris: list[str]
    """Where authorization responses may be sent; compared exactly."""
    post_logout_redirect_uris: list[str]
    """Where the browser may go after it has signed out; compared exactly."""
    grant_types: list[str]
    """How the client may get tokens: `authorization_code`, `refresh_token`, `client_credentials`,
    `urn:ietf:params:oauth:grant-type:device_code`.
    """
    scopes: list[str]
    """The scopes that the client may get: standard ones, and permissions that the project has declared."""
    website_url: str | None
    """The website of the client, shown to customers."""
    privacy_url: str | None
    """The privacy policy of the client, shown to customers."""
    terms_url: str | None
    """The terms of service of the client, shown to customers."""
    backchannel_logout_uri: str | None
    """Where the client is told that a session has ended; null if it is not told."""
    require_dpop: bool
    """Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449)."""
    jwks: dict[str, Any] | None
    """The public keys with which the client authenticates (`private_key_jwt`); null without one."""
    jwks_uri: str | None
    """Where the client publishes these keys instead; null if it does not."""
    security_profile: OAuthClientWithSecretSecurityProfile
    """STANDARD; or FAPI2: the client is held to the FAPI 2.0 Security Profile."""
    id_token_signing_alg: OAuthClientWithSecretIdTokenSigningAlg
    """How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing
    else.
    """
    metadata_url: str | None
    """The URL of the document with the client's metadata, which is its `clientId`; null for other clients."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    client_id: str
    """The `client_id` of OAuth: the same as `id`, or the `metadataUrl`."""
    issuer: str
    """The issuer of the project: append `/.well-known/openid-configuration` for its configuration."""
    client_secret: str | None
    """The secret; null for a PUBLIC client, and for one that authenticates with a key."""


class OAuthConsent(Record, frozen=True, kw_only=True):
    """What a customer has allowed a client."""

    client_id: str
    """Id of the client."""
    client_name: str
    """Name of the client."""
    first_party: bool
    """Whether the client belongs to the project."""
    scopes: list[str]
    """The scopes that the customer has allowed, sorted."""
    resource_scopes: dict[str, list[str]]
    """The scopes that the customer has allowed at an API, by the API's identifier."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class OAuthRegistrationToken(Record, frozen=True, kw_only=True):
    """An initial access token (RFC 7591 §3)."""

    token: str
    """Clients send it to the registration endpoint, in the header `Authorization` with `Bearer`."""
    expires_at: datetime
    """Until when it works, for at most 100 registrations."""


class OAuthResource(Record, frozen=True, kw_only=True):
    """An API for which clients can ask for access tokens (RFC 8707)."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    environment: OAuthResourceEnvironment
    """Only clients of the same environment can ask for tokens."""
    identifier: str
    """The URL of the API: the value of `resource` in requests, and the audience of the tokens."""
    name: str
    """Name of the API, shown to customers on the consent page."""
    scopes: list[str]
    """The permissions that tokens for the API can have in `scope`."""
    introspection_client_id: str | None
    """The CONFIDENTIAL client with which the API asks the introspection endpoint for the state of tokens."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class Organization(Record, frozen=True, kw_only=True):
    """An organization as the operations under `/projects` return it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    project_id: str
    """Id of the project."""
    name: str
    """Display name."""
    slug: str
    """Name for URLs, unique in the project."""
    metadata: dict[str, Any]
    """Custom data, up to 16 KiB of JSON."""
    external_id: str | None
    """Id of the organization in your own system."""
    status: OrganizationStatus
    """Status of the record."""
    require_sso: bool
    """Whether its members, and customers with an address at its verified domains, can sign in only by its single
    sign-on.
    """
    require_mfa: bool
    """Whether its members must sign in with a second factor; members without one must set it up first."""
    allowed_methods: list[OrganizationAllowedMethods] | None
    """The methods by which its members can sign in; null for all."""
    session_lifetime_minutes: int | None
    """How long after the sign-in sessions of its members end, even if they are used; null for 30 days."""
    session_idle_minutes: int | None
    """How long without a refresh sessions of its members end; null for 7 days."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    member_count: int
    """Number of members."""
    pending_invitation_count: int
    """Number of pending invitations."""


class OrganizationDomain(Record, frozen=True, kw_only=True):
    """A domain of an organization, verified or not."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    organization_id: str
    """Id of the organization."""
    project_id: str
    """Id of the project."""
    domain: str
    """Domain name."""
    status: OrganizationDomainStatus
    """Status of the record."""
    reason: OrganizationDomainReason | None
    """Why the last check failed, or null."""
    verified_at: datetime | None
    """When it was verified (UTC); null if it is not."""
    last_checked_at: datetime | None
    """When it was last checked (UTC); null before the first check."""
    missing_since: datetime | None
    """When a check of the verified domain first did not find its TXT record; null while the record exists."""
    auto_join_enabled: bool
    """Whether customers with a verified e-mail address at the domain join automatically."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    record_name: str
    """Name of the TXT record to publish."""
    record: str
    """The value of the TXT record."""
    next_check_at: datetime | None
    """When it is checked next (UTC); null if no check is scheduled."""


class OrganizationDomainData(Record, frozen=True, kw_only=True):
    """Data of `organization.domain_verified` and `organization.domain_lapsed`. `id` is the id of the organization."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    domain: str
    """Name of the domain."""
    domain_id: str
    """Id of the domain."""


class OrganizationEventData(Record, frozen=True, kw_only=True):
    """Data of `organization.created` and `organization.deleted`. `id` is the id of the organization."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    name: str
    """Name of the organization."""
    external_id: str | None
    """Id of the organization in your own system."""


class OrganizationInvitation(Record, frozen=True, kw_only=True):
    """An invitation to join an organization."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    organization_id: str
    """Id of the organization."""
    email: str
    """E-mail address."""
    role: str
    """Role of the person."""
    status: OrganizationInvitationStatus
    """Status of the record."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""
    accepted_at: datetime | None
    """When it was accepted (UTC); null if it was not accepted."""
    revoked_at: datetime | None
    """When it was revoked (UTC); null if it was not revoked."""
    sent_at: datetime
    """When the latest e-mail was requested."""
    mailed_at: datetime | None
    """When the latest e-mail was accepted for delivery; null until then."""
    mail_problem: str | None
    """Why the latest e-mail could not be sent, or null."""
    created_at: datetime
    """When the record was created (UTC)."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    invited_by_end_user_id: str | None
    """Id of the inviting customer; null if a developer or an API key invites."""


class OrganizationMember(Record, frozen=True, kw_only=True):
    """A customer in an organization."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    organization_id: str
    """Id of the organization."""
    customer_id: str
    """Id of the customer."""
    email: str | None
    """E-mail address."""
    name: str | None
    """Display name."""
    roles: list[str]
    """Keys of the roles."""
    source: OrganizationMemberSource
    """How the member joined."""
    joined_at: datetime
    """When the person became a member (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class OrganizationMemberAddedData(Record, frozen=True, kw_only=True):
    """Data of `organization.member_added`. `id` is the id of the organization."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    customer_id: str
    """Id of the customer."""
    roles: list[str]
    """Roles of the member."""
    source: str
    """How the customer became a member: `API`, `INVITATION`, `DOMAIN`, `SSO` or `SCIM`."""


class OrganizationMemberRemovedData(Record, frozen=True, kw_only=True):
    """Data of `organization.member_removed`. `id` is the id of the organization."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    customer_id: str
    """Id of the customer."""


class OrganizationMembership(Record, frozen=True, kw_only=True):
    """An organization that a customer belongs to, with the roles of the customer in it."""

    organization: OrganizationRef
    """The organization."""
    status: OrganizationMembershipStatus
    """Status of the record."""
    roles: list[str]
    """Keys of the roles."""
    joined_at: datetime
    """When the person became a member (UTC)."""


class OrganizationPlan(Record, frozen=True, kw_only=True):
    """The plan of an organization."""

    organization_id: str
    """Id of the organization."""
    plan_key: str | None
    """Key of the plan; null for no plan."""
    plan: Plan | None
    """The plan of the organization; null for no plan."""


class OrganizationRef(Record, frozen=True, kw_only=True):
    """A reference to an organization."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    slug: str
    """Name for URLs, unique in the project."""


class OrganizationUpdatedData(Record, frozen=True, kw_only=True):
    """Data of `organization.updated`. If a member's roles were changed, it has `customerId` and `roles`; otherwise
    the
        fields of the organization. `id` is the id of the organization.
    """

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
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
    customer_id: str | None = None
    """Id of the member whose roles were changed."""
    roles: list[str] | None = None
    """The roles that the member has now."""


class OtherEmail(Record, frozen=True, kw_only=True):
    """A secondary address, which a customer got when another customer was merged into it. It can be used to sign
    in.
    """

    email: str
    """E-mail address."""
    verified_at: datetime | None
    """When it was verified (UTC); null if it is not."""


class OwnAddress(Record, frozen=True, kw_only=True):
    """An address of the customer's own account."""

    email: str | None
    """E-mail address."""
    verified_at: datetime | None
    """When it was verified (UTC); null if it is not."""
    primary: bool
    """Whether codes and security mail go to this address."""


class OwnIdentity(Record, frozen=True, kw_only=True):
    """A sign-in method of the customer who asks."""

    provider: str
    """Key of the sign-in provider, such as `GOOGLE`, or name of the payment provider."""
    created_at: datetime
    """When the record was created (UTC)."""
    account_name: str | None
    """The address or name of a linked account, if it is known."""


class OwnSession(Record, frozen=True, kw_only=True):
    """One of the caller's own sessions; `current` marks the session of the request."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    user_agent: str
    """`User-Agent` header of the request."""
    ip_address: str
    """IP address of the client."""
    methods: list[str]
    """The authentication methods of the sign-in, as in the claim `amr` (RFC 8176)."""
    created_at: datetime
    """When the record was created (UTC)."""
    last_used_at: datetime
    """When it was last used (UTC), to the minute; null if it was never used."""
    expires_at: datetime
    """When the session ends if its tokens are not refreshed before."""
    impersonation_reason: str | None
    """Why a member of the app's team acts as the customer in this session; null if it is a session of the customer."""
    current: bool
    """Whether this is the session of the request."""


class PageText(Record, frozen=True, kw_only=True):
    """A text of the hosted pages in one language."""

    id: str
    """12 hexadecimal digits, the same in all languages and projects. They change only if the English text changes."""
    pages: list[PageTextPages]
    """The pages that show the text; empty if this version of Postern has no such text any more."""
    english: str
    """The built-in text in English."""
    built_in: str
    """The built-in text in this language; "" if this version of Postern has no such text any more."""
    text: str | None
    """What the pages of this project say instead; null for the built-in text."""
    placeholders: list[str]
    """The values that the text can have, as `{name}`."""


class PageTextSettings(Record, frozen=True, kw_only=True):
    """The texts of hosted pages, by language; null if a language has none."""

    en: PageTexts | None
    """Texts in English; null for the built-in ones."""
    de: PageTexts | None
    """Texts in German; null for the built-in ones."""
    es: PageTexts | None
    """Texts in Spanish; null for the built-in ones."""
    fr: PageTexts | None
    """Texts in French; null for the built-in ones."""
    pt: PageTexts | None
    """Texts in Portuguese; null for the built-in ones."""
    ja: PageTexts | None
    """Texts in Japanese; null for the built-in ones."""


class PageTextSettingsChange(Record, frozen=True, kw_only=True):
    """Texts of hosted pages to change, by language; omitted languages keep theirs, and null removes those of a
    language.
    """

    en: PageTextsChange | None | UnsetType = UNSET
    """Texts in English; null for the built-in ones."""
    de: PageTextsChange | None | UnsetType = UNSET
    """Texts in German; null for the built-in ones."""
    es: PageTextsChange | None | UnsetType = UNSET
    """Texts in Spanish; null for the built-in ones."""
    fr: PageTextsChange | None | UnsetType = UNSET
    """Texts in French; null for the built-in ones."""
    pt: PageTextsChange | None | UnsetType = UNSET
    """Texts in Portuguese; null for the built-in ones."""
    ja: PageTextsChange | None | UnsetType = UNSET
    """Texts in Japanese; null for the built-in ones."""


class PageTexts(Record, frozen=True, kw_only=True):
    """The texts of hosted pages in one language; null for the built-in text."""

    sign_in_title: str | None
    """Title of the sign-in page; null for the built-in one."""
    sign_in_lead: str | None
    """A sentence below the title of the sign-in page."""
    sign_in_button: str | None
    """The button of the first page, below the e-mail address."""
    sign_up_title: str | None
    """Title of the sign-up page; null for the built-in one."""
    sign_up_lead: str | None
    """A sentence below the title of the sign-up page."""
    sign_up_button: str | None
    """Button of the sign-up page; null for the built-in one."""
    footer: str | None
    """A line in the foot of all pages, such as the name of the company."""


class PageTextsChange(Record, frozen=True, kw_only=True):
    """Texts of hosted pages in one language to change; omitted fields keep their values, and null means the built-
    in
        text.
    """

    sign_in_title: str | None | UnsetType = UNSET
    """Title of the sign-in page; null for the built-in one."""
    sign_in_lead: str | None | UnsetType = UNSET
    """A sentence below the title of the sign-in page."""
    sign_in_button: str | None | UnsetType = UNSET
    """The button of the first page, below the e-mail address."""
    sign_up_title: str | None | UnsetType = UNSET
    """Title of the sign-up page; null for the built-in one."""
    sign_up_lead: str | None | UnsetType = UNSET
    """A sentence below the title of the sign-up page."""
    sign_up_button: str | None | UnsetType = UNSET
    """Button of the sign-up page; null for the built-in one."""
    footer: str | None | UnsetType = UNSET
    """A line in the foot of all pages, such as the name of the company."""


class PagesDomainStatus(Record, frozen=True, kw_only=True):
    """Whether customers can open the hosted pages at the project's own host name."""

    name: str
    """The host name: `settings.signIn.pagesDomain`."""
    record: DnsRecord | None
    """The DNS record to publish, with what was found now. VERIFIED also if the name has address records of the
    server's addresses instead, or of a proxy such as a CDN through which the server answers at the name. Null if
    the server's own host is not a domain name, as on a developer's machine.
    """
    domain_verified: bool
    """Whether a sending domain of the project above the name is VERIFIED. Otherwise the name is not served."""
    certificate: DomainCertificate | None
    """The TLS certificate of the name. Null if this server does not obtain certificates, and while `domainVerified`
    is false.
    """
    in_use: bool
    """Whether links, redirects and callback URLs have the name now. A change takes up to five seconds."""


class Passkey(Record, frozen=True, kw_only=True):
    """A passkey."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    backed_up: bool
    """Whether the passkey is synchronised to other devices."""
    created_at: datetime
    """When the record was created (UTC)."""
    last_used_at: datetime | None
    """When it was last used (UTC), to the minute; null if it was never used."""


class PasskeyOptions(Record, frozen=True, kw_only=True):
    """The options to pass to `navigator.credentials` as `publicKey`, with binary values in base64url."""

    challenge_id: str
    """Id of the challenge. Send it back with the code."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""
    options: dict[str, Any]
    """Options for the browser's `navigator.credentials`, as defined by WebAuthn."""


class PasskeySignIn(Record, frozen=True, kw_only=True):
    """The assertion that the browser returned."""

    challenge_id: str
    """Id of the challenge. Send it back with the code."""
    credential: dict[str, Any]
    """Result of the browser's `navigator.credentials`, as JSON."""


class Permission(Record, frozen=True, kw_only=True):
    """A permission that roles can grant."""

    key: str
    """Key that identifies it in requests, or the API key."""
    description: str | None
    """Description for people."""
    created_at: datetime
    """When the record was created (UTC)."""


class Plan(Record, frozen=True, kw_only=True):
    """A set of features that can be assigned to organizations."""

    key: str
    """Key that identifies it in requests, or the API key."""
    name: str
    """Display name."""
    features: list[PlanFeature]
    """Features of the plan."""
    organization_count: int
    """Number of organizations that have it."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class PlanFeature(Record, frozen=True, kw_only=True):
    """A feature of a plan."""

    feature_key: str
    """A key for programs: letters, digits, `_`, `.`, `:` and `-`, beginning with a letter: `sso`."""
    enabled: bool | UnsetType = UNSET
    """Whether it is enabled. Default: `true`."""
    limit: int | None | UnsetType = UNSET
    """Null is unlimited."""


class PlanLimits(Record, frozen=True, kw_only=True):
    """The limits of a plan; null means no limit."""

    projects: int | None
    """Projects of the account, or their number or maximum number; a null maximum means unlimited."""
    customers: int | None
    """The customers, or their number or maximum number; a null maximum means unlimited."""
    emails: int | None
    """Per calendar month (UTC)."""


class Preflight(Record, frozen=True, kw_only=True):
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


class ProblemError(Record, frozen=True, kw_only=True):
    """One error in a request, with its location."""

    path: str
    """JSON pointer (RFC 6901) into the body, or `query/name`, `header/Name`; for a file `column/3` or `byte/17`."""
    code: str
    """Machine-readable code of the error."""
    message: str
    """Description of the error."""


class Project(Record, frozen=True, kw_only=True):
    """A project: the tenant that everything else belongs to."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    account_id: str
    """Id of the account."""
    name: str
    """Display name."""
    settings: ProjectSettings
    """Settings of the project."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class ProjectRelay(Record, frozen=True, kw_only=True):
    """A smart host (SMTP relay) for the project's mail."""

    host: str
    """A host name or IP address, such as `mail.example.com`."""
    port: int | UnsetType = UNSET
    """TCP port. Default: `587`."""
    tls: ProjectRelayTls | UnsetType = UNSET
    """`starttls` uses TLS if offered, `starttls-required` requires it, `implicit` uses TLS from the start. Default:
    `"starttls-required"`.
    """
    username: str | None | UnsetType = UNSET
    """User name for SMTP authentication; null for none."""
    password: str | None | UnsetType = UNSET
    """At most 1,000 characters. Returned as `********`; sending that value keeps the password."""
    weight: int | UnsetType = UNSET
    """Share of the messages that this relay gets, relative to the weights of the other relays. Default: `1`."""
    messages_per_second: int | None | UnsetType = UNSET
    """Maximum messages per second; null for no limit."""


class ProjectSes(Record, frozen=True, kw_only=True):
    """An account of Amazon SES for the project's mail, in one AWS region."""

    region: str
    """The name of an AWS region, such as `eu-central-1`."""
    access_key_id: str
    """The id of the access key."""
    secret_access_key: str
    """At most 128 characters. Returned as `********`; sending that value keeps the secret of the same access key."""
    configuration_set: str | None | UnsetType = UNSET
    """SES configuration set, which determines where SES publishes events; null for none."""
    topics: list[str] | UnsetType = UNSET
    """The SNS topics whose notifications about this project's mail are accepted."""
    forward_feedback: bool | UnsetType = UNSET
    """Whether SES also mails bounces and complaints to the return path, whose domain must be verified in SES.
    Default: `false`.
    """


class ProjectSettings(Record, frozen=True, kw_only=True):
    """Settings of a project. Null means the default of the instance."""

    transport: ProjectSettingsTransport | None
    """`relay` sends messages through the relays, `direct` to the recipients' mail servers, `ses` through Amazon
    SES; `capture` only stores them in the inbox.
    """
    fallback_transports: list[ProjectSettingsFallbackTransports] | None
    """The transports to use, in this order, if `transport` cannot be reached; null means none, or the server's if
    `transport` is null, too.
    """
    relays: list[ProjectRelay] | None
    """SMTP relays to send through; null uses the server's relays."""
    ses: ProjectSes | None
    """Account of Amazon SES to send through; null uses the server's account."""
    tracking_domain: str | None
    """Host name of tracking links; null uses the server's host name."""
    track_opens: bool
    """Whether opens are tracked. Default: `true`."""
    track_clicks: bool
    """Whether clicks are tracked. Default: `true`."""
    require_tls: bool
    """Whether messages are passed on only over TLS, to authenticated servers that promise the same (REQUIRETLS, RFC
    8689), unless `requireTls` of an e-mail is false. Few servers support it; messages to all others bounce.
    Default: `false`.
    """
    seed_list: list[str] | None
    """The addresses that get a test copy of a campaign on request; at most 50."""
    retention_days: int | None
    """Days for which the bodies of sent messages are kept; null means the default of the instance (30 days)."""
    inbound_retention_days: int | None
    """Days for which received messages are kept; null means 30."""
    log_retention_days: int | None
    """Days for which the e-mail log, opens and clicks are kept; null means that they are not deleted."""
    event_retention_days: int | None
    """Days for which events are kept; null means that they are not deleted."""
    archive_expired: bool
    """Whether records whose days have ended are written to the server's archive before they are deleted. Default:
    `false`.
    """
    on_ambiguous: ProjectSettingsOnAmbiguous
    """Action if a connection ends before the server replies to the complete message: `retry` or `hold`. Default:
    `"retry"`.
    """
    frequency_cap: int | None
    """Maximum number of messages from campaigns and automations that one contact gets within 24 hours; null means
    10. Further messages are not sent; the e-mail log lists them as SUPPRESSED, with the frequency cap as the
    reason.
    """
    rate_limit: int | None
    """Requests per second; null means the default of the instance."""
    sign_in: SignInSettings
    """Sign-in settings for customers."""
    extra: dict[str, Any]
    """Further settings, keyed by name. The feature that reads a setting defines its structure."""


class ProjectSummary(Record, frozen=True, kw_only=True):
    """The statistics of a project."""

    project_id: str
    """Id of the project."""
    project_name: str
    """Name of the project."""
    contacts: ContactTotals
    """Statistics of contacts."""
    sends: SendTotals
    """Statistics of sends."""
    campaigns: CampaignTotals
    """Statistics of campaigns."""
    automations: AutomationTotals
    """Statistics of automations."""


class RateThresholds(Record, frozen=True, kw_only=True):
    """The thresholds of a rate, from 0 to 1."""

    warning: float
    """From this rate on, the state is WARNING."""
    hold: float
    """From this rate on, marketing mail is held."""
    min_messages: int
    """With fewer messages in the window, the rate changes nothing."""


class ReceivedAttachment(Record, frozen=True, kw_only=True):
    """A part of a message that is not its text."""

    id: str
    """The number of the attachment in the message, from 1."""
    filename: str
    """The name that the sender gave it; `attachment-1` and so on without one. Do not use it as a path."""
    content_type: str
    """The media type that the sender declares, without parameters."""
    size: int
    """The size of the decoded file in octets."""
    content_id: str | None
    """The id by which the html refers to it (`cid:`), without angle brackets; null if there is none."""
    inline: bool
    """Whether it is meant to be shown within the message and not as a file."""


class RecipientMessage(Record, frozen=True, kw_only=True):
    """The message to one recipient of an `unsubscribable` e-mail."""

    to: str
    """Recipients."""
    id: str
    """The id of this recipient's own send."""
    message_id: str
    """`Message-ID` header of the message, the same for all attempts."""
    status: RecipientMessageStatus
    """Status of the record."""


class RecipientOutcome(Record, frozen=True, kw_only=True):
    """The status of a message for one of its recipients."""

    email: str
    """E-mail address."""
    field: RecipientOutcomeField
    """The field of the message with the recipient: `to`, `cc` or `bcc`."""
    status: RecipientOutcomeStatus
    """Status of the record."""
    reason: str | None
    """Why it failed, bounced, was deferred or was suppressed for this recipient."""
    at: datetime | None
    """When the message got this status for this recipient; null before the first attempt."""


class RemoveFromAudience(Record, frozen=True, kw_only=True, tag_field="type", tag="REMOVE_FROM_AUDIENCE"):
    """Remove the contact from a STATIC audience."""

    audience_id: str
    """Id of the audience."""


class Removed(Record, frozen=True, kw_only=True):
    """The response of an operation that removes a member from a group, such as a contact from an audience."""

    removed: bool
    """Whether a record was removed. Default: `true`."""


class RenderedDraft(Record, frozen=True, kw_only=True):
    """Rendered content. A part with an error is null."""

    subject: str | None
    """Subject line."""
    html: str | None
    """HTML body."""
    text: str | None
    """Plain text body."""
    variables: list[str]
    """The names of the variables that the content uses."""
    problems: list[TemplateFault]
    """The errors; empty if the content can be sent."""


class ReportReceipt(Record, frozen=True, kw_only=True):
    """The result of processing a message about e-mail."""

    type: ReportReceiptType
    """A delivery report, a complaint, an automatic reply such as a vacation notice, or something else."""
    email_id: str | None
    """Id of the e-mail that the message is about; null if it names no e-mail of the project."""
    results: list[ReportedResult]
    """The effects of a report, one for each recipient that it names."""
    report_id: str | None
    """Id of the message if it was not understood and therefore kept; otherwise null."""
    reason: str | None
    """Why the message was not understood; otherwise null."""


class ReportedResult(Record, frozen=True, kw_only=True):
    """The effect of a report for one recipient of an e-mail."""

    kind: ReportedResultKind
    """Kind of the entry."""
    recipient: str | None
    """The address that the report names; null if it names none."""
    result: ReportedResultResult
    """`unchanged`: the same was reported before, or something newer, or the address is no recipient of the e-mail.
    `unknown_send`: there is no such e-mail.
    """


class Reputation(Record, frozen=True, kw_only=True):
    """The bounce and complaint rates of a domain, and its state."""

    domain_id: str
    """Id of the sending domain."""
    domain: str
    """Domain name."""
    state: ReputationState
    """HEALTHY, WARNING, or HELD: marketing mail of this domain waits."""
    since: datetime | None
    """When the state began; null if it has never changed."""
    reason: str | None
    """The rate that is above a threshold, with its numbers; null if HEALTHY."""
    held_until: datetime | None
    """The time until which waiting messages are held, unless the domain is released earlier. It is moved forward as
    long as the state is HELD; null in other states.
    """
    counted_from: datetime
    """The time since which messages count for the rates: seven days ago, or the last release if it is later."""
    counts: ReputationCounts
    """The messages since `countedFrom`."""
    bounce_rate: float
    """The share of messages with a hard bounce, from 0 to 1."""
    complaint_rate: float
    """The share of messages with a complaint, from 0 to 1."""
    thresholds: ReputationThresholds
    """The rates at which the state changes."""
    days: list[ReputationDay]
    """The counts of each day, oldest first; days without messages are included."""


class ReputationCounts(Record, frozen=True, kw_only=True):
    """How many messages a domain sent, and how many of them bounced or were reported as spam."""

    messages: int
    """Messages that a mail server accepted, or rejected because of the recipient."""
    bounced: int
    """Messages with a hard bounce: the recipient does not exist. Rejections for other reasons do not count."""
    complained: int
    """Messages that a recipient reported as spam."""


class ReputationDay(Record, frozen=True, kw_only=True):
    """How many messages a domain sent on one day, and how many of them bounced or were reported as spam."""

    messages: int
    """Messages that a mail server accepted, or rejected because of the recipient."""
    bounced: int
    """Messages with a hard bounce: the recipient does not exist. Rejections for other reasons do not count."""
    complained: int
    """Messages that a recipient reported as spam."""
    day: date
    """The day in UTC on which the messages were transmitted."""


class ReputationThresholds(Record, frozen=True, kw_only=True):
    """The thresholds of both rates."""

    bounces: RateThresholds
    """The thresholds of the rate of hard bounces."""
    complaints: RateThresholds
    """The thresholds of the rate of complaints."""


class RequiredTerms(Record, frozen=True, kw_only=True):
    """The terms that a project's customers must accept."""

    version: str
    """What to send as `acceptedTerms`."""
    terms_url: str | None
    """URL of your terms of service, in the foot of pages."""
    privacy_url: str | None
    """URL of your privacy policy, in the foot of pages."""


class Role(Record, frozen=True, kw_only=True):
    """A named set of permissions."""

    key: str
    """Key that identifies it in requests, or the API key."""
    name: str
    """Display name."""
    description: str | None
    """Description for people."""
    scope: RoleScope
    """Where the permissions of the role apply: in the project, or in the organization whose member has the role."""
    applies_to_all_organizations: bool
    """Whether a customer who has the role in the project has it in every organization too."""
    system: bool
    """Whether the role is built in and cannot be changed."""
    permissions: list[str]
    """Permissions, such as `emails:send`."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class RuleCondition(Record, frozen=True, kw_only=True):
    """A condition (`field`, `operator`, `value`) or a group of them (`match`, `conditions`)."""

    field: str | None | UnsetType = UNSET
    """Field to compare: `email`, `createdAt`, `attributes.<name>` …"""
    operator: str | None | UnsetType = UNSET
    """Comparison operator: `eq`, `contains`, `withinDays` …"""
    value: Any | UnsetType = UNSET
    """Value to compare the field with."""
    within_days: float | None | UnsetType = UNSET
    """For conditions on how often an event happened: count only events within this number of days before now."""
    match: RuleConditionMatch | None | UnsetType = UNSET
    """Whether `all` conditions must hold, or `any` of them."""
    conditions: list[RuleCondition] | None | UnsetType = UNSET
    """Conditions (a field with an operator) or nested groups of conditions."""


class Rules(Record, frozen=True, kw_only=True):
    """Contacts match if all conditions hold, or any of them, depending on `match`."""

    match: RulesMatch | UnsetType = UNSET
    """Whether `all` conditions must hold, or `any` of them. Default: `"all"`."""
    conditions: list[RuleCondition]
    """Conditions (a field with an operator) or nested groups of conditions."""


class RunsRetried(Record, frozen=True, kw_only=True):
    """Number of failed runs that were resumed."""

    retried: int
    """Number of records that were queued again."""
    more: bool
    """Whether there may be more failed runs; if so, repeat the request."""


class SampleContact(Record, frozen=True, kw_only=True):
    """A contact that need not exist."""

    email: str
    """E-mail address."""
    attributes: dict[str, Any] | UnsetType = UNSET
    """Custom data about the contact, for templates and audience rules."""


class SendAttempt(Record, frozen=True, kw_only=True):
    """One delivery attempt with the server's replies and the SMTP dialogue."""

    attempt: int
    """Number of the attempt, from 1."""
    outcome: SendAttemptOutcome
    """Outcome of the attempt."""
    transport: str | None
    """`direct`, `relay`, `ses` or `capture`; null if no transport was used, or if that is not known."""
    host: str
    """Host name of the server."""
    results: list[dict[str, Any]]
    """The result for each recipient."""
    dialogue: list[str]
    """SMTP dialogue, line by line: `C:` is this server, `S:` the remote server, `TLS:` the encryption."""
    duration_ms: int
    """Duration in milliseconds."""
    finished_at: datetime
    """When it finished (UTC); null while it is running."""


class SendEmail(Record, frozen=True, kw_only=True, tag_field="type", tag="SEND_EMAIL"):
    """Send a template to the contact; skipped for unsubscribed contacts."""

    template_id: str
    """Id of the template that provides subject, html and text."""
    domain_id: str | None | UnsetType = UNSET
    """The sending domain; `fromEmail` must belong to it."""
    from_email: str
    """E-mail address of the sender."""
    from_name: str | None | UnsetType = UNSET
    """Display name of the sender."""
    subject: str | None | UnsetType = UNSET
    """Defaults to the template's subject."""
    reply_to: str | None | UnsetType = UNSET
    """Address for replies (`Reply-To` header)."""


class SendEvent(Record, frozen=True, kw_only=True):
    """An event of a send."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    type: SendEventType
    """Type of the record."""
    created_at: datetime
    """When the record was created (UTC)."""


class SendReport(Record, frozen=True, kw_only=True):
    """A report about a send that arrived after its attempts: a bounce, a complaint, a delay or a delivery."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    kind: SendReportKind
    """Kind of the entry."""
    recipient: str
    """The address that the report is about; empty if it does not say."""
    source: str
    """How it arrived: `dsn` (RFC 3464), `bounce` (a bounce in another form), `arf` (RFC 5965), or the name of a
    provider such as `ses`.
    """
    type: str | None
    """The kind of bounce: `hard` (the recipient can never be reached), `soft` (not at present), `block` (bad
    reputation of the sender) or `policy` (the message violates a rule of the server); null for other reports.
    """
    code: int
    """SMTP reply code (RFC 5321); 0 if the report has none."""
    enhanced_code: str
    """Enhanced status code (RFC 3463); empty if the report has none."""
    text: str
    """The text of the server that refused or delayed the message, or of the report."""
    host: str
    """The server that made the report; empty if it does not say."""
    feedback_type: str | None
    """The type of a complaint (RFC 5965 §3.5), such as `abuse`; null for other reports."""
    changed: bool
    """Whether the report changed the send; false if, for example, the send had already bounced."""
    times: int
    """How many times this report arrived."""
    occurred_at: datetime
    """When it happened (UTC)."""
    received_at: datetime
    """When the latest of these reports arrived."""


class SendResult(Record, frozen=True, kw_only=True):
    """An accepted send. `status` is its status at the time of the response."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    message_id: str
    """`Message-ID` header of the message, the same for all attempts."""
    status: SendResultStatus
    """Status of the record."""
    messages: list[RecipientMessage]
    """The message to each recipient if an `unsubscribable` e-mail has several; `id`, `messageId` and `status` are
    those of the first.
    """


class SendTotals(Record, frozen=True, kw_only=True):
    """Numbers and rates of the project's sends. Opens and clicks by machines are counted separately."""

    total: int
    """Sends that were created, whether they were sent or not."""
    sent: int
    """Sends that a mail server accepted, without those that bounced later."""
    delivered: int
    """Number of messages that were delivered."""
    opened: int
    """Number of messages that people opened."""
    clicked: int
    """Number of messages in which people clicked a link."""
    bounced: int
    """Number of messages that bounced."""
    complained: int
    """Number of messages that were reported as spam."""
    failed: int
    """Number of failures."""
    machine_opened: int
    """Sends that were opened by machines only."""
    machine_clicked: int
    """Sends in which only machines clicked."""
    last30_days: int
    """Sends that were created in the last 30 days, whatever `days` is."""
    open_rate: float
    """Share of messages that were opened, from 0 to 1."""
    click_rate: float
    """Share of messages in which a link was clicked, from 0 to 1."""
    bounce_rate: float
    """Share of messages that bounced, from 0 to 1."""
    complaint_rate: float
    """Share of messages that were reported as spam, from 0 to 1."""


class Sender(Record, frozen=True, kw_only=True):
    """A single sender: one address that can be used as `from` without a verified domain."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email: str
    """E-mail address."""
    status: SenderStatus
    """Status of the record."""
    dmarc_policy: str | None
    """The DMARC policy of the address's domain: `none`, `quarantine` or `reject`; null if it has none or the lookup
    failed.
    """
    warnings: list[str]
    """How receivers may treat mail from this sender."""
    link_expires_at: datetime | None
    """When the link in the last confirmation mail expires (UTC); null once the sender is confirmed."""
    verified_at: datetime | None
    """When it was verified (UTC); null if it is not."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class SenderEventData(Record, frozen=True, kw_only=True):
    """Data of events about a single sender. `id` is the id of the sender."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    email: str
    """Address of the sender."""


class SettingsChange(Record, frozen=True, kw_only=True):
    """Settings to change; omitted fields keep their values. Null resets a setting to its default, where null is
    allowed.
    """

    transport: SettingsChangeTransport | None | UnsetType = UNSET
    """How mail is sent: `relay` through an SMTP relay, `ses` through Amazon SES, `direct` to the recipients' mail
    servers if the server offers it; `capture` only stores it in the inbox. Null uses the server's default.
    """
    fallback_transports: list[SettingsChangeFallbackTransports] | None | UnsetType = UNSET
    """Transports to use, in this order, if `transport` cannot be reached. Null: none, or those of the server if
    `transport` is null.
    """
    relays: list[ProjectRelay] | None | UnsetType = UNSET
    """SMTP relays to send through; null uses the server's relays."""
    ses: ProjectSes | None | UnsetType = UNSET
    """Account of Amazon SES to send through; null uses the server's account."""
    tracking_domain: str | None | UnsetType = UNSET
    """Host name of tracking links; null uses the server's host name."""
    track_opens: bool | UnsetType = UNSET
    """Whether opens are tracked."""
    track_clicks: bool | UnsetType = UNSET
    """Whether clicks are tracked."""
    require_tls: bool | UnsetType = UNSET
    """Whether the message is sent only over TLS, and only to servers with a valid certificate that offer REQUIRETLS
    (RFC 8689). To any other server it bounces: with 5.7.10 if TLS or a valid certificate is missing, with 5.7.30
    if REQUIRETLS is not offered. Null: the setting of the project.
    """
    seed_list: list[str] | None | UnsetType = UNSET
    """E-mail addresses that get a test copy of a campaign on request (`test-seed-list`)."""
    retention_days: int | None | UnsetType = UNSET
    """Number of days for which message bodies are kept; null uses the server's default."""
    inbound_retention_days: int | None | UnsetType = UNSET
    """Number of days for which received messages are kept; null means 30."""
    log_retention_days: int | None | UnsetType = UNSET
    """Number of days for which e-mail log, opens and clicks are kept; null keeps them."""
    event_retention_days: int | None | UnsetType = UNSET
    """Number of days for which events are kept; null keeps them."""
    archive_expired: bool | UnsetType = UNSET
    """Whether log and events are written to the server's archive before they are deleted."""
    on_ambiguous: SettingsChangeOnAmbiguous | UnsetType = UNSET
    """Action if a connection ends before the server replies to the complete message: `retry` or `hold`."""
    frequency_cap: int | None | UnsetType = UNSET
    """Maximum messages of campaigns and automations to one contact within 24 hours; null uses the default of 10."""
    rate_limit: int | None | UnsetType = UNSET
    """Maximum requests per second of this project; null uses the server's default."""
    sign_in: SignInChange | UnsetType = UNSET
    """Sign-in settings for customers."""
    extra: dict[str, Any] | UnsetType = UNSET
    """Further settings, merged with the stored ones by name; null removes a name. At most 64 KiB in all, as JSON."""


class SetupLink(Record, frozen=True, kw_only=True):
    """A link with which an administrator of an organization sets it up."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    project_id: str
    """Id of the project."""
    organization_id: str
    """Id of the organization."""
    steps: list[SetupLinkSteps]
    """The steps, in order."""
    assignable_roles: list[str]
    """Roles besides MEMBER that the administrator may give to groups of the directory."""
    email: str | None
    """E-mail address."""
    status: SetupLinkStatus
    """PENDING until it is opened, then OPENED until it is COMPLETED by the administrator, REVOKED or EXPIRED."""
    provider: SetupLinkProvider | None
    """The provider that the administrator has chosen."""
    sso_connection_id: str | None
    """The connection that the link has created; that of an earlier link of the organization is taken over."""
    directory_connection_id: str | None
    """The directory connection that the link has created or taken over."""
    created_at: datetime
    """When the record was created (UTC)."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""
    opened_at: datetime | None
    """When the link was opened, and bound to the browser that opened it."""
    last_used_at: datetime | None
    """The time of the last request with the link, to within a minute."""
    completed_at: datetime | None
    """When the administrator has finished the setup."""
    revoked_at: datetime | None
    """When it was revoked (UTC); null if it was not revoked."""


class SetupLinkEventData(Record, frozen=True, kw_only=True):
    """Data of events about a setup link. `id` is the id of the link."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    test: bool | None = None
    """True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the
    event is then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of
    events then shows `actorType` `TEST_KEY`. Default: `false`.
    """
    organization_id: str
    """Id of the organization."""
    steps: list[str] | None = None
    """What the link permits, in `setup_link.created`: DOMAIN, SSO, SCIM."""


class SetupLinkWithUrl(Record, frozen=True, kw_only=True):
    """A new setup link with its URL, which is not shown again."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    project_id: str
    """Id of the project."""
    organization_id: str
    """Id of the organization."""
    steps: list[SetupLinkWithUrlSteps]
    """The steps, in order."""
    assignable_roles: list[str]
    """Roles besides MEMBER that the administrator may give to groups of the directory."""
    email: str | None
    """E-mail address."""
    status: SetupLinkWithUrlStatus
    """PENDING until it is opened, then OPENED until it is COMPLETED by the administrator, REVOKED or EXPIRED."""
    provider: SetupLinkWithUrlProvider | None
    """The provider that the administrator has chosen."""
    sso_connection_id: str | None
    """The connection that the link has created; that of an earlier link of the organization is taken over."""
    directory_connection_id: str | None
    """The directory connection that the link has created or taken over."""
    created_at: datetime
    """When the record was created (UTC)."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""
    opened_at: datetime | None
    """When the link was opened, and bound to the browser that opened it."""
    last_used_at: datetime | None
    """The time of the last request with the link, to within a minute."""
    completed_at: datetime | None
    """When the administrator has finished the setup."""
    revoked_at: datetime | None
    """When it was revoked (UTC); null if it was not revoked."""
    url: str
    """The URL."""


class SignInChange(Record, frozen=True, kw_only=True):
    """Sign-in settings to change; omitted fields keep their values. Null resets a setting to its default, where
    null is
        allowed.
    """

    methods: list[SignInChangeMethods] | None | UnsetType = UNSET
    """Authentication methods that were used or are allowed."""
    sign_up: bool | UnsetType = UNSET
    """Whether anyone can sign up."""
    verify_email: SignInChangeVerifyEmail | UnsetType = UNSET
    """Whether an address must be verified before the first sign-in (`REQUIRED`) or not (`LATER`)."""
    allowed_origins: list[str] | None | UnsetType = UNSET
    """Web origins that can call the sign-in operations from a browser (CORS)."""
    redirect_urls: list[str] | None | UnsetType = UNSET
    """URLs to which a sign-in can redirect."""
    mail_from: str | None | UnsetType = UNSET
    """Sender of sign-in mail; null uses the server's sender. Of a captured message: the envelope sender."""
    security_mails: list[SignInChangeSecurityMails] | None | UnsetType = UNSET
    """Notices about a customer's security that are sent by mail."""
    contacts: SignInChangeContacts | UnsetType = UNSET
    """Whether a customer is linked to the contact with the same address: `NONE`, `LINK` if there is one, `CREATE`
    also creates a missing one.
    """
    passkey_domain: str | None | UnsetType = UNSET
    """Domain that passkeys belong to (WebAuthn relying party id)."""
    pages_domain: str | None | UnsetType = UNSET
    """Host name of hosted pages, such as `login.example.com`; null for that of this server. It must be below a
    verified sending domain of the project, and no other project can have it.
    """
    app_name: str | None | UnsetType = UNSET
    """Name of your product on pages and in mail."""
    logo_url: str | None | UnsetType = UNSET
    """URL of the image on pages and in mail."""
    accent_color: str | None | UnsetType = UNSET
    """Color of buttons on pages and in mail, as `#rrggbb`."""
    default_language: SignInChangeDefaultLanguage | None | UnsetType = UNSET
    """The language of hosted pages and e-mails if neither the request nor the browser asks for one of the others;
    null means English.
    """
    theme: ThemeChange | None | UnsetType = UNSET
    """Colors, corners and fonts of hosted pages and e-mails."""
    page_texts: PageTextSettingsChange | None | UnsetType = UNSET
    """Texts of hosted pages that replace the built-in ones, by language."""
    privacy_url: str | None | UnsetType = UNSET
    """URL of your privacy policy, in the foot of pages."""
    terms_url: str | None | UnsetType = UNSET
    """URL of your terms of service, in the foot of pages."""
    help_url: str | None | UnsetType = UNSET
    """Links in the foot of hosted pages."""
    terms_version: str | None | UnsetType = UNSET
    """The current version of the terms at `termsUrl` and of the privacy policy."""
    require_terms: bool | UnsetType = UNSET
    """Whether customers must accept the current version of the terms: when they sign up, and at the next sign-in
    after the version has changed. Requires `termsUrl` and `termsVersion`.
    """
    require_sso: bool | UnsetType = UNSET
    """Whether all customers must use single sign-on. Requires a working connection."""
    require_mfa: bool | UnsetType = UNSET
    """Whether all customers must sign in with a second factor; customers without one must set it up first."""
    remembered_device_days: int | None | UnsetType = UNSET
    """For how many days customers may choose not to be asked for the second factor on a device again; null, the
    default, for never. Has no effect where the project or an organization requires a second factor.
    """
    token_claims: TokenClaimsChange | None | UnsetType = UNSET
    """The keys of metadata that access tokens contain. Customers can read their tokens."""
    account_deletion: bool | UnsetType = UNSET
    """Whether customers can delete their accounts themselves; true by default."""
    organization_setup: bool | UnsetType = UNSET
    """Whether OWNERs of organizations can set up domains, single sign-on and directories themselves, on the page of
    their organization; false by default.
    """
    client_registration: SignInChangeClientRegistration | UnsetType = UNSET
    """Whether clients of the OpenID provider can register themselves: no, with an initial access token, or without."""
    client_metadata_documents: bool | UnsetType = UNSET
    """Whether the id of a client of the OpenID provider can be the URL of a document with its metadata, so that
    clients need not be registered.
    """


class SignInHook(Record, frozen=True, kw_only=True):
    """A URL of your server that is called in a sign-up or sign-in."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    kind: SignInHookKind
    """Kind of the entry."""
    url: str
    """The URL."""
    active: bool
    """Whether the record is active."""
    on_failure: SignInHookOnFailure
    """What happens without a valid answer in time. `CONTINUE`: as if there was no hook. `REFUSE`: 503
    `hook_failed`.
    """
    timeout_ms: int
    """How long a call may take, in milliseconds."""
    previous_secret_expires_at: datetime | None
    """Until when the previous secret also signs deliveries (UTC); null if there is none."""
    failures: int
    """Number of successive failures; 0 if the last call succeeded."""
    failing_since: datetime | None
    """Since when the check fails (UTC); null if it succeeds."""
    paused_until: datetime | None
    """Until when the hook is not called after repeated failures, and `onFailure` applies at once; or null."""
    recent_failures: list[HookFailure]
    """The last 20 failures, newest first."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class SignInHookTest(Record, frozen=True, kw_only=True):
    """The result of a test call."""

    ok: bool
    """Whether the answer is valid."""
    status: int | None
    """The HTTP status; null if there was no response."""
    response_time: float
    """In milliseconds."""
    reason: str | None
    """Why the call failed; null if it succeeded."""
    answer: dict[str, Any] | None
    """The answer of the hook, if it is valid."""


class SignInHookWithSecret(Record, frozen=True, kw_only=True):
    """A hook with its secret, which only the responses to creation and rotation contain."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    kind: SignInHookWithSecretKind
    """Kind of the entry."""
    url: str
    """The URL."""
    active: bool
    """Whether the record is active."""
    on_failure: SignInHookWithSecretOnFailure
    """What happens without a valid answer in time. `CONTINUE`: as if there was no hook. `REFUSE`: 503
    `hook_failed`.
    """
    timeout_ms: int
    """How long a call may take, in milliseconds."""
    previous_secret_expires_at: datetime | None
    """Until when the previous secret also signs deliveries (UTC); null if there is none."""
    failures: int
    """Number of successive failures; 0 if the last call succeeded."""
    failing_since: datetime | None
    """Since when the check fails (UTC); null if it succeeds."""
    paused_until: datetime | None
    """Until when the hook is not called after repeated failures, and `onFailure` applies at once; or null."""
    recent_failures: list[HookFailure]
    """The last 20 failures, newest first."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    secret: str
    """Shared secret. Shown only once."""


class SignInProvider(Record, frozen=True, kw_only=True):
    """A sign-in provider of the project, without its client secret."""

    key: str
    """Key that identifies it in requests, or the API key."""
    kind: SignInProviderKind
    """Kind of the provider."""
    name: str
    """Display name."""
    issuer: str
    """Issuer of an OpenID Connect provider."""
    client_id: str
    """Client id from the provider."""
    has_secret: bool
    """Whether a client secret is stored."""
    scopes: str
    """Scopes to request, separated by spaces."""
    trusted_email_domains: list[str]
    """Domains whose e-mail addresses count as verified if this provider asserts them."""
    team_id: str | None
    """Apple team id; null for other providers."""
    key_id: str | None
    """Apple key id; null for other providers."""
    acr_values: list[str]
    """Authentication context classes to request (`acr_values`)."""
    max_age_seconds: int | None
    """Maximum age of the provider's session in seconds (`max_age`); null for any age."""
    on_new_subject: SignInProviderOnNewSubject
    """How to treat an account with the address of a customer who is linked to another account there: `REFUSE` it,
    or `HOLD` it for approval.
    """
    enabled: bool
    """Whether it is enabled."""
    callback_url: str
    """The redirect URI to register at the provider."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class SignInSettings(Record, frozen=True, kw_only=True):
    """Settings for sign-in of the project's customers."""

    methods: list[SignInSettingsMethods]
    """Authentication methods that were used or are allowed."""
    sign_up: bool
    """Whether new customers can sign up; the API can always create customers. Default: `true`."""
    verify_email: SignInSettingsVerifyEmail
    """REQUIRED: the customer is created when the address is verified; responses do not reveal existing addresses.
    LATER: sign-up signs the customer in at once; the response reveals whether the address is taken. Default:
    `"REQUIRED"`.
    """
    allowed_origins: list[str]
    """Web origins that can call the sign-in operations (CORS)."""
    redirect_urls: list[str]
    """Allowed redirect URLs of hosted pages, links and providers; compared exactly."""
    mail_from: str | None
    """Sender of sign-in e-mails; must belong to a verified sending domain."""
    security_mails: list[SignInSettingsSecurityMails]
    """Notices about a customer's security that are sent by mail."""
    contacts: SignInSettingsContacts
    """NONE: customers are not linked to contacts. LINK: a customer is linked to the contact with the same address,
    if there is one. CREATE: like LINK, and a missing contact is created. Default: `"NONE"`.
    """
    passkey_domain: str | None
    """Relying party id of passkeys, a domain; null for that of this server."""
    pages_domain: str | None
    """Host name of hosted pages, such as `login.example.com`; null for that of this server. It is below a verified
    sending domain of the project, and used only while this domain is VERIFIED.
    """
    app_name: str | None
    """Name of your product on pages and in mail."""
    logo_url: str | None
    """URL of the image on pages and in mail."""
    accent_color: str | None
    """Color of buttons on pages and in mail, as `#rrggbb`."""
    default_language: SignInSettingsDefaultLanguage | None
    """The language of hosted pages and e-mails if neither the request nor the browser asks for one of the others;
    null means English.
    """
    theme: ThemeSettings
    """Colors, corners and fonts of hosted pages and e-mails. Default:
    `{"light":{"accent":null,"page":null,"card":null,"ink":null,"muted":null,"line":null},"dark":{"accent":null,"page":null,"card":null,"ink":null,"muted":null,"line":null},"corners":"MEDIUM","font":"SYSTEM","headingFont":"SYSTEM","pictureUrl":null}`.
    """
    page_texts: PageTextSettings
    """Texts of hosted pages that replace the built-in ones, by language. Default:
    `{"en":null,"de":null,"es":null,"fr":null,"pt":null,"ja":null}`.
    """
    privacy_url: str | None
    """URL of your privacy policy, in the foot of pages."""
    terms_url: str | None
    """URL of your terms of service, in the foot of pages."""
    help_url: str | None
    """Links in the foot of hosted pages."""
    terms_version: str | None
    """The current version of the terms at `terms_url` and of the privacy policy."""
    require_terms: bool
    """Whether customers must accept the current version of the terms: when they sign up, and at the next sign-in
    after the version has changed. Default: `false`.
    """
    require_sso: bool
    """Whether all customers can sign in only by the single sign-on of an organization. Default: `false`."""
    require_mfa: bool
    """Whether all customers must sign in with a second factor; customers without one must set it up first. Default:
    `false`.
    """
    remembered_device_days: int | None
    """For how many days customers may choose not to be asked for the second factor on a device again; null for
    never. Has no effect for customers of whom the project or an organization requires a second factor.
    """
    token_claims: TokenClaimSettings
    """The keys of metadata that access tokens contain. Customers can read their tokens."""
    account_deletion: bool
    """Whether customers can delete their accounts themselves. Default: `true`."""
    organization_setup: bool
    """Whether OWNERs of organizations can set up domains, single sign-on and directories themselves, on the page of
    their organization. Default: `false`.
    """
    client_registration: SignInSettingsClientRegistration
    """Whether clients of the OpenID provider can register themselves (RFC 7591). OFF: no. TOKEN: with an initial
    access token. OPEN: whoever can reach this server can register clients. Default: `"OFF"`.
    """
    client_metadata_documents: bool
    """Whether the id of a client of the OpenID provider can be the URL of a document with its metadata, so that
    clients need not be registered. Default: `false`.
    """
    hooks: list[SignInSettingsHooks]
    """The kinds of active sign-in hooks. The operations on these hooks set it."""


class SpCertificate(Record, frozen=True, kw_only=True):
    """A service provider certificate of the connection."""

    place: SpCertificatePlace
    """CURRENT signs; NEXT will sign after the next rotation; PREVIOUS is only used to decrypt."""
    certificate: str
    """The certificate in PEM."""
    fingerprint: str
    """SHA-256 fingerprint of the certificate."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""


class SpamHint(Record, frozen=True, kw_only=True):
    """A fact about a message that is common in unwanted mail."""

    code: SpamHintCode
    """Machine-readable code of the hint."""
    message: str
    """The fact in words."""


class SpfResult(Record, frozen=True, kw_only=True):
    """The SPF result for a host, and the reason."""

    verdict: SpfResultVerdict
    """The SPF result."""
    reason: str
    """Reason, as text."""
    record: str | None
    """The SPF record of the checked domain, if it has exactly one."""
    lookups: int
    """How many of the ten allowed lookups (MAX_LOOKUPS) the evaluation used. Default: `0`."""


class SsoCertificateExpiringData(Record, frozen=True, kw_only=True):
    """Data of `sso.certificate_expiring`. `id` is the id of the connection."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    organization_id: str
    """Id of the organization."""
    domain: str
    """Domain of the connection."""
    reason: str | None = None
    """Why Postern deactivated the connection itself, such as `DOMAIN_LOST`. Absent if a caller deactivated it."""
    owner: SsoCertificateExpiringDataOwner
    """Whose certificate expires: the identity provider's (`IDP`) or this server's (`SP`)."""
    expires_at: datetime
    """When it expires (UTC)."""
    days_left: int
    """Number of days until it expires."""


class SsoConnection(Record, frozen=True, kw_only=True):
    """A connection of an organization to its identity provider, as the operations under `/projects` return it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    organization_id: str
    """Id of the organization."""
    project_id: str
    """Id of the project."""
    kind: SsoConnectionKind
    """SAML, or OIDC (OpenID Connect). Fields of the other protocol are null, empty or their default."""
    name: str
    """Display name."""
    domain: str
    """Domain name."""
    status: SsoConnectionStatus
    """Status of the record."""
    held: str | None
    """Why an active connection does not work: DOMAIN_NOT_VERIFIED or ORGANIZATION_SUSPENDED; otherwise null."""
    idp_entity_id: str | None
    """Entity id of the identity provider."""
    idp_sso_url: str | None
    """Single sign-on URL of the identity provider."""
    idp_sso_binding: SsoConnectionIdpSsoBinding
    """SAML binding of authentication requests."""
    idp_slo_url: str | None
    """Single logout URL of the identity provider; null for no single logout."""
    idp_slo_binding: SsoConnectionIdpSloBinding
    """SAML binding of logout requests."""
    idp_slo_response_url: str | None
    """URL for responses to logout requests; null uses `idpSloUrl`."""
    idp_certificate: list[str]
    """The pinned signing certificates, PEM; any of them may sign."""
    idp_certificates: list[IdpCertificate]
    """Details of the identity provider's signing certificates."""
    idp_metadata_url: str | None
    """URL of the identity provider's metadata, which is read daily; null for manual settings."""
    idp_metadata_read_at: datetime | None
    """When the metadata was last read from that URL; it is refreshed every day."""
    idp_metadata_problem: str | None
    """Why the last refresh failed, or null; the metadata read before stays in use."""
    sp_certificate: str
    """The certificate of the key that signs requests, PEM."""
    sp_certificates: list[SpCertificate]
    """Certificates of this service: current, next and previous."""
    sp_entity_id: str
    """Entity id of this service."""
    sp_acs_url: str
    """Assertion consumer service URL of this service."""
    sp_slo_url: str
    """Single logout URL of this service."""
    sp_metadata_url: str
    """URL of this service's metadata."""
    oidc_issuer: str | None
    """Issuer of the OpenID provider; null for SAML."""
    oidc_client_id: str | None
    """Client id at the OpenID provider; null for SAML."""
    oidc_has_secret: bool
    """Whether a client secret is stored. It is never returned."""
    oidc_scopes: str | None
    """Scopes to request, separated by spaces; null for SAML."""
    oidc_redirect_url: str | None
    """The redirect URI to enter at the OpenID provider."""
    oidc_post_logout_redirect_url: str | None
    """The post-logout redirect URI to enter at the OpenID provider."""
    oidc_backchannel_logout_url: str | None
    """The back-channel logout URI to enter at the OpenID provider."""
    login_url: str
    """Where your app sends browsers, with `redirectUrl`, `codeChallenge` and `state`."""
    allow_idp_initiated: bool
    """Whether a sign-in can be initiated by the identity provider."""
    require_encryption: bool
    """Whether assertions must be encrypted."""
    allow_aes_cbc: bool
    """Whether the outdated AES-CBC encryption is accepted."""
    accept_expired_certificates: bool
    """Whether expired certificates of the identity provider are accepted."""
    force_authn: bool
    """Whether the identity provider must authenticate the person again (`ForceAuthn`)."""
    name_id_format: str | None
    """Format of the name identifier to request; null for any."""
    clock_skew_seconds: int
    """Tolerated clock difference in seconds."""
    attribute_mapping: AttributeMapping
    """Names of the SAML attributes or claims with the person's data."""
    default_roles: list[str]
    """Roles that new members get."""
    group_roles: dict[str, list[str]]
    """Roles by group of the identity provider."""
    create_customers: bool
    """Whether customers are created for unknown people."""
    allow_other_domains: bool
    """Whether e-mail addresses outside the connection's domains are accepted."""
    trust_mfa: bool
    """Whether every sign-on counts as multi-factor. If false, only a sign-on counts whose assertion says so."""
    on_new_subject: SsoConnectionOnNewSubject
    """How to treat an account with the address of a customer who is linked to another account there: `REFUSE` it,
    or `HOLD` it for approval.
    """
    default_redirect_url: str | None
    """URL after a sign-in that the identity provider initiated; null uses the first redirect URL."""
    tested_at: datetime | None
    """When a test last succeeded with exactly these settings."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class SsoConnectionWithOrganization(Record, frozen=True, kw_only=True):
    """A connection with the organization that has it."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    organization_id: str
    """Id of the organization."""
    project_id: str
    """Id of the project."""
    kind: SsoConnectionWithOrganizationKind
    """SAML, or OIDC (OpenID Connect). Fields of the other protocol are null, empty or their default."""
    name: str
    """Display name."""
    domain: str
    """Domain name."""
    status: SsoConnectionWithOrganizationStatus
    """Status of the record."""
    held: str | None
    """Why an active connection does not work: DOMAIN_NOT_VERIFIED or ORGANIZATION_SUSPENDED; otherwise null."""
    idp_entity_id: str | None
    """Entity id of the identity provider."""
    idp_sso_url: str | None
    """Single sign-on URL of the identity provider."""
    idp_sso_binding: SsoConnectionWithOrganizationIdpSsoBinding
    """SAML binding of authentication requests."""
    idp_slo_url: str | None
    """Single logout URL of the identity provider; null for no single logout."""
    idp_slo_binding: SsoConnectionWithOrganizationIdpSloBinding
    """SAML binding of logout requests."""
    idp_slo_response_url: str | None
    """URL for responses to logout requests; null uses `idpSloUrl`."""
    idp_certificate: list[str]
    """The pinned signing certificates, PEM; any of them may sign."""
    idp_certificates: list[IdpCertificate]
    """Details of the identity provider's signing certificates."""
    idp_metadata_url: str | None
    """URL of the identity provider's metadata, which is read daily; null for manual settings."""
    idp_metadata_read_at: datetime | None
    """When the metadata was last read from that URL; it is refreshed every day."""
    idp_metadata_problem: str | None
    """Why the last refresh failed, or null; the metadata read before stays in use."""
    sp_certificate: str
    """The certificate of the key that signs requests, PEM."""
    sp_certificates: list[SpCertificate]
    """Certificates of this service: current, next and previous."""
    sp_entity_id: str
    """Entity id of this service."""
    sp_acs_url: str
    """Assertion consumer service URL of this service."""
    sp_slo_url: str
    """Single logout URL of this service."""
    sp_metadata_url: str
    """URL of this service's metadata."""
    oidc_issuer: str | None
    """Issuer of the OpenID provider; null for SAML."""
    oidc_client_id: str | None
    """Client id at the OpenID provider; null for SAML."""
    oidc_has_secret: bool
    """Whether a client secret is stored. It is never returned."""
    oidc_scopes: str | None
    """Scopes to request, separated by spaces; null for SAML."""
    oidc_redirect_url: str | None
    """The redirect URI to enter at the OpenID provider."""
    oidc_post_logout_redirect_url: str | None
    """The post-logout redirect URI to enter at the OpenID provider."""
    oidc_backchannel_logout_url: str | None
    """The back-channel logout URI to enter at the OpenID provider."""
    login_url: str
    """Where your app sends browsers, with `redirectUrl`, `codeChallenge` and `state`."""
    allow_idp_initiated: bool
    """Whether a sign-in can be initiated by the identity provider."""
    require_encryption: bool
    """Whether assertions must be encrypted."""
    allow_aes_cbc: bool
    """Whether the outdated AES-CBC encryption is accepted."""
    accept_expired_certificates: bool
    """Whether expired certificates of the identity provider are accepted."""
    force_authn: bool
    """Whether the identity provider must authenticate the person again (`ForceAuthn`)."""
    name_id_format: str | None
    """Format of the name identifier to request; null for any."""
    clock_skew_seconds: int
    """Tolerated clock difference in seconds."""
    attribute_mapping: AttributeMapping
    """Names of the SAML attributes or claims with the person's data."""
    default_roles: list[str]
    """Roles that new members get."""
    group_roles: dict[str, list[str]]
    """Roles by group of the identity provider."""
    create_customers: bool
    """Whether customers are created for unknown people."""
    allow_other_domains: bool
    """Whether e-mail addresses outside the connection's domains are accepted."""
    trust_mfa: bool
    """Whether every sign-on counts as multi-factor. If false, only a sign-on counts whose assertion says so."""
    on_new_subject: SsoConnectionWithOrganizationOnNewSubject
    """How to treat an account with the address of a customer who is linked to another account there: `REFUSE` it,
    or `HOLD` it for approval.
    """
    default_redirect_url: str | None
    """URL after a sign-in that the identity provider initiated; null uses the first redirect URL."""
    tested_at: datetime | None
    """When a test last succeeded with exactly these settings."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    organization: OrganizationRef
    """The organization."""


class SsoEventData(Record, frozen=True, kw_only=True):
    """Data of events about a single sign-on connection. `id` is the id of the connection."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    organization_id: str
    """Id of the organization."""
    domain: str
    """Domain of the connection."""
    reason: str | None = None
    """Why Postern deactivated the connection itself, such as `DOMAIN_LOST`. Absent if a caller deactivated it."""


class SsoLookup(Record, frozen=True, kw_only=True):
    """The connection for a domain; all fields are null if there is none."""

    connection_id: str | None
    """Id of the SSO connection."""
    organization_id: str | None
    """Id of the organization."""
    name: str | None
    """Display name."""
    login_url: str | None
    """URL that starts the sign-in; null if there is none."""
    choices: list[SsoLookupChoice] | None
    """If the organization has several active connections and none of them is for this domain: all of them, so that
    the person can choose. Otherwise null.
    """


class SsoLookupChoice(Record, frozen=True, kw_only=True):
    """One of several connections by which people with an address at a domain can sign in."""

    connection_id: str
    """Id of the SSO connection."""
    name: str
    """Display name."""
    login_url: str
    """URL that starts the sign-in; null if there is none."""


class SsoMetadataChangedData(Record, frozen=True, kw_only=True):
    """Data of `sso.metadata_changed`. `id` is the id of the connection."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    organization_id: str
    """Id of the organization."""
    domain: str
    """Domain of the connection."""
    reason: str | None = None
    """Why Postern deactivated the connection itself, such as `DOMAIN_LOST`. Absent if a caller deactivated it."""
    changed: list[str]
    """Names of the fields of the connection that were changed."""


class SsoMetadataFailingData(Record, frozen=True, kw_only=True):
    """Data of `sso.metadata_failing`. `id` is the id of the connection."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    problem: str
    """Why the metadata cannot be used."""
    last_read_at: datetime | None
    """When usable metadata was read for the last time (UTC)."""


class SsoSignOut(Record, frozen=True, kw_only=True):
    """URL to sign out at the identity provider too. Null if the session was not started by single sign-on, or if
    the
        provider does not support logout by redirect (SAML single logout, or RP-initiated logout of OpenID
            Connect).
    """

    url: str | None
    """The URL."""


class SsoSignedInData(Record, frozen=True, kw_only=True):
    """Data of `sso.signed_in`. `id` is the id of the connection."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    organization_id: str
    """Id of the organization."""
    customer_id: str
    """Id of the customer."""
    roles: list[str]
    """Roles of the customer in the organization."""


class SsoTest(Record, frozen=True, kw_only=True):
    """A link that starts a test: open it in a browser and sign on at the identity provider."""

    url: str
    """The URL."""
    expires_at: datetime
    """When it expires (UTC); null if it does not expire."""


class SsoTrace(Record, frozen=True, kw_only=True):
    """The checks of a sign-on, test or logout, in order."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    connection_id: str
    """Id of the SSO connection."""
    kind: SsoTraceKind
    """Kind of the entry."""
    outcome: SsoTraceOutcome
    """Outcome of the attempt."""
    reason: str | None
    """Reason of the first failed check."""
    detail: str | None
    """Further details, as text."""
    steps: list[SsoTraceStep]
    """The steps, in order."""
    profile: dict[str, Any] | None
    """The user: subject, e-mail address, name, groups, resulting roles, and all attributes as sent."""
    customer_id: str | None
    """Id of the customer."""
    created_at: datetime
    """When the record was created (UTC)."""


class SsoTraceStep(Record, frozen=True, kw_only=True):
    """One check: its name, whether it passed, and as `detail` what was found, or why the check failed."""

    step: str
    """Description or index of the step."""
    ok: bool
    """Whether it succeeded."""
    detail: str
    """Further details, as text."""


class StepUpOptions(Record, frozen=True, kw_only=True):
    """How a session can authenticate again."""

    acr: str
    """How strong the authentication of the session is: `urn:postern:single-factor`, `urn:postern:multi-factor` or
    `phr`.
    """
    authenticated_at: datetime
    """When the customer has last authenticated in this session: the claim `auth_time`."""
    methods: list[StepUpOptionsMethods]
    """What the session accepts; empty if the customer must sign in again instead."""
    acr_values: list[str]
    """The levels that the session can get to with these methods, the weakest first."""


class SteppedUpSession(Record, frozen=True, kw_only=True):
    """A session after it has authenticated again. Its refresh token stays valid."""

    session_id: str
    """Id of the session; null if no session was started."""
    access_token: str
    """A new access token, with the new `auth_time`, `acr` and `amr`."""
    access_token_expires_at: datetime
    """When the access token expires (UTC)."""
    acr: str
    """How strong the authentication of the session is: `urn:postern:single-factor`, `urn:postern:multi-factor` or
    `phr`.
    """
    methods: list[str]
    """All authentication methods of the session, as in the claim `amr` (RFC 8176)."""
    authenticated_at: datetime
    """Now: the claim `auth_time`."""


class Suppression(Record, frozen=True, kw_only=True):
    """An address that gets no mail from this project. With the reason UNSUBSCRIBE, it gets no marketing mail and no
    `unsubscribable` e-mails, but all other mail.
    """

    id: str
    """Unique identifier. Treat it as an opaque string."""
    address: str
    """E-mail address."""
    reason: SuppressionReason
    """Reason, as text."""
    source: str
    """Source of the record."""
    detail: str | None
    """Further details, as text."""
    send_id: str | None
    """Id of the send; null if there is none."""
    history: list[FormerReason]
    """Earlier, weaker reasons, oldest first."""
    created_at: datetime
    """Since when the address is suppressed."""
    updated_at: datetime
    """Since when it is suppressed for this reason."""


class SuppressionBulkResult(Record, frozen=True, kw_only=True):
    """The result of a bulk addition."""

    added: int
    """Number of records that were added."""
    skipped: int
    """Addresses that are invalid, repeated, or already suppressed for this or a stronger reason."""
    upgraded: int
    """How many of `added` were suppressed for a weaker reason before."""


class Template(Record, frozen=True, kw_only=True):
    """An e-mail template."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    name: str
    """Display name."""
    subject: str | None
    """Subject line."""
    builder_json: dict[str, Any] | None
    """Source from which the HTML is rendered: `{mjml}` or `{blocks}`."""
    html: str | None
    """HTML body."""
    text: str | None
    """Plain text body."""
    engine: TemplateEngine
    """`minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged."""
    variables: list[str]
    """The names of the variables that subject, html and text use."""
    version: int
    """Version number, from 1. Each change increments it."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    app_id: str
    """The id of the project; its older name in the API."""


class TemplateFault(Record, frozen=True, kw_only=True):
    """An error in the content of a template."""

    path: str
    """JSON pointer to the part of the request: `/html`, `/builderJson/blocks/2/url`; empty for all of it."""
    code: str
    """Machine-readable code of the error."""
    message: str
    """Description of the error."""
    line: int | None
    """The line in the part, from 1; null if it is not known."""
    column: int | None
    """The column in the line, from 1; null if it is not known."""


class TemplatePreview(Record, frozen=True, kw_only=True):
    """A rendered template; `text` is derived from the html if the template has no text."""

    subject: str | None
    """Subject line."""
    html: str | None
    """HTML body."""
    text: str | None
    """Plain text body."""


class TemplateVersion(Record, frozen=True, kw_only=True):
    """A version of a template."""

    version: int
    """Version number, from 1. Each change increments it."""
    name: str
    """Display name."""
    subject: str | None
    """Subject line."""
    builder_json: dict[str, Any] | None
    """Source from which the HTML is rendered: `{mjml}` or `{blocks}`."""
    html: str | None
    """HTML body."""
    text: str | None
    """Plain text body."""
    engine: TemplateVersionEngine
    """`minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged."""
    created_by: str | None
    """Who created the version: the e-mail address of a developer or the name of an API key."""
    created_at: datetime
    """When the record was created (UTC)."""


class TermsAcceptance(Record, frozen=True, kw_only=True):
    """A version of the project's terms that a customer has accepted."""

    version: str
    """The version of the terms, as the project's settings had it."""
    accepted_at: datetime
    """When it was accepted (UTC); null if it was not accepted."""
    ip_address: str
    """IP address of the client."""
    user_agent: str
    """`User-Agent` header of the request."""


class ThemeChange(Record, frozen=True, kw_only=True):
    """Parts of the theme to change; omitted fields keep their values, and null resets one to its default."""

    light: ThemeColorsChange | None | UnsetType = UNSET
    """Colors on devices in light mode."""
    dark: ThemeColorsChange | None | UnsetType = UNSET
    """Colors on devices in dark mode."""
    corners: ThemeChangeCorners | None | UnsetType = UNSET
    """Corners of buttons, fields and boxes."""
    font: ThemeChangeFont | None | UnsetType = UNSET
    """Font of the text."""
    heading_font: ThemeChangeHeadingFont | None | UnsetType = UNSET
    """Font of titles."""
    picture_url: str | None | UnsetType = UNSET
    """An https URL of a picture beside the form, on screens of 900 px and more."""


class ThemeColors(Record, frozen=True, kw_only=True):
    """The colors of the light or of the dark theme, as `#rrggbb`; null for the default."""

    accent: str | None
    """Buttons. Null in the light theme means `accentColor`; null in the dark theme means the light accent,
    lightened if the contrast needs it.
    """
    page: str | None
    """The background."""
    card: str | None
    """Fields and boxes; null means `page`."""
    ink: str | None
    """Text."""
    muted: str | None
    """Text that is less important."""
    line: str | None
    """Lines between parts."""


class ThemeColorsChange(Record, frozen=True, kw_only=True):
    """Colors to change; omitted fields keep their values, and null resets one to its default."""

    accent: str | None | UnsetType = UNSET
    """Buttons. Null in the light theme means `accentColor`; null in the dark theme means the light accent,
    lightened if the contrast needs it.
    """
    page: str | None | UnsetType = UNSET
    """The background."""
    card: str | None | UnsetType = UNSET
    """Fields and boxes; null means `page`."""
    ink: str | None | UnsetType = UNSET
    """Text."""
    muted: str | None | UnsetType = UNSET
    """Text that is less important."""
    line: str | None | UnsetType = UNSET
    """Lines between parts."""


class ThemeSettings(Record, frozen=True, kw_only=True):
    """How hosted pages and e-mails look."""

    light: ThemeColors
    """Colors on devices in light mode. Default:
    `{"accent":null,"page":null,"card":null,"ink":null,"muted":null,"line":null}`.
    """
    dark: ThemeColors
    """Colors on devices in dark mode. Default:
    `{"accent":null,"page":null,"card":null,"ink":null,"muted":null,"line":null}`.
    """
    corners: ThemeSettingsCorners
    """Corners of buttons, fields and boxes. Default: `"MEDIUM"`."""
    font: ThemeSettingsFont
    """Font of the text. Default: `"SYSTEM"`."""
    heading_font: ThemeSettingsHeadingFont
    """Font of titles. Default: `"SYSTEM"`."""
    picture_url: str | None
    """An https URL of a picture beside the form, on screens of 900 px and more."""


class TimeSeriesItem(Record, frozen=True, kw_only=True):
    """The statistics of one day."""

    date: date
    """The day, YYYY-MM-DD."""
    sent: int
    """Number of messages that were sent."""
    delivered: int
    """Number of messages that were delivered."""
    opened: int
    """Number of messages that people opened."""
    clicked: int
    """Number of messages in which people clicked a link."""
    bounced: int
    """Number of messages that bounced."""
    complained: int
    """Number of messages that were reported as spam."""
    failed: int
    """Number of failures."""


class TimelineActor(Record, frozen=True, kw_only=True):
    """Who caused an entry of the timeline."""

    type: str
    """Type of the record."""
    id: str | None
    """Unique identifier. Treat it as an opaque string."""
    label: str | None
    """Display name."""


class TimelineEntry(Record, frozen=True, kw_only=True):
    """An entry of a customer's timeline: an event, an e-mail, a change by a developer, or a session."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    kind: TimelineEntryKind
    """Kind of the entry."""
    type: str
    """Type of the record."""
    title: str
    """Short text for people."""
    occurred_at: datetime
    """When it happened (UTC)."""
    actor: TimelineActor
    """The actor."""
    data: dict[str, Any]
    """Further details."""


class TokenClaimSettings(Record, frozen=True, kw_only=True):
    """The keys of metadata that access tokens of customers contain."""

    customer: list[str]
    """Keys of the customer's metadata, in the claim `metadata`."""
    organization: list[str]
    """Keys of the active organization's metadata, in the claim `org.metadata`."""


class TokenClaimsChange(Record, frozen=True, kw_only=True):
    """The keys of metadata that access tokens contain; omitted fields keep their values, and null removes all keys."""

    customer: list[str] | None | UnsetType = UNSET
    """Keys of the customer's metadata, in the claim `metadata`."""
    organization: list[str] | None | UnsetType = UNSET
    """Keys of the active organization's metadata, in the claim `org.metadata`."""


class TotpEnrolment(Record, frozen=True, kw_only=True):
    """The secret for an authenticator app; `uri` is the content of the QR code."""

    secret: str
    """Shared secret. Shown only once."""
    uri: str
    """`otpauth://` URI to show as a QR code."""


class TrackingHit(Record, frozen=True, kw_only=True):
    """A recorded request for the tracking pixel (OPEN) or a tracked link (CLICK) of a send."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    kind: TrackingHitKind
    """Kind of the entry."""
    url: str | None
    """The target of the link; null for OPEN, and if it was erased."""
    verdict: TrackingHitVerdict
    """What caused the hit: a person, a machine such as a security scanner, or an image proxy."""
    reason: str | None
    """The criterion that decided `verdict`: `no_user_agent`, `apple_mail_privacy_protection`, `image_proxy`,
    `user_agent` (of a program), `too_soon` (within 5 seconds of delivery), or `all_links_at_once` (three or more
    different links of the message were followed within a second); null for `human`.
    """
    ip_address: str
    """IP address of the client."""
    user_agent: str
    """`User-Agent` header of the request."""
    occurred_at: datetime
    """When it happened (UTC)."""


class Trigger(Record, frozen=True, kw_only=True):
    """What starts a run: a contact joins or leaves an audience or is created, or an event concerning it occurs."""

    type: TriggerType
    """Type of the trigger."""
    audience_id: str | None | UnsetType = UNSET
    """Id of the audience."""
    event: str | None | UnsetType = UNSET
    """For an EVENT trigger: the name of a Postern event or of a custom event."""
    where: Rules | None | UnsetType = UNSET
    """For an EVENT trigger: only events whose data matches these rules start a run. The syntax is that of audience
    rules; a field is a key of the event's data (`total`), with dots for nested keys (`customer.plan`).
    """
    once: bool | UnsetType = UNSET
    """Whether a contact can start only one run, ever. Otherwise it can start runs repeatedly, but not while it has
    an unfinished run, and at most `maxRunsPerHour` within an hour. Runs that TEST keys start are counted
    separately. Default: `true`.
    """


class UnrecognizedMessage(Record, frozen=True, kw_only=True):
    """A message about e-mail that was not understood, without its content."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    email_id: str | None
    """Id of the e-mail to whose return path the message was sent; null if it is not known."""
    source: UnrecognizedMessageSource
    """Source of the record."""
    reason: str
    """Why the message was not understood."""
    from_: str
    """Sender: `ada@example.com` or `Ada <ada@example.com>`."""
    subject: str
    """Subject line."""
    size: int
    """Size of the message in octets. Only the first 262,144 of them are kept."""
    received_at: datetime
    """When it was received (UTC)."""


class UpdateContact(Record, frozen=True, kw_only=True, tag_field="type", tag="UPDATE_CONTACT"):
    """Merge attributes into the contact; null removes one."""

    attributes: dict[str, Any]
    """Custom data about the contact, for templates and audience rules."""


class Usage(Record, frozen=True, kw_only=True):
    """Usage of all projects of an account: customers now, and live emails accepted in this calendar month (UTC)."""

    customers: int
    """The customers, or their number or maximum number; a null maximum means unlimited."""
    emails: int
    """The e-mails, or their number or maximum number; a null maximum means unlimited."""


class VariantStats(Record, frozen=True, kw_only=True):
    """The statistics of a variant. Opens and clicks by machines are not counted."""

    sent: int
    """Sends that a mail server accepted, without those that bounced later."""
    opened: int
    """Number of messages that people opened."""
    clicked: int
    """Number of messages in which people clicked a link."""
    open_rate: float
    """Share of messages that were opened, from 0 to 1."""
    click_rate: float
    """Share of messages in which a link was clicked, from 0 to 1."""


class VerifiedEmail(Record, frozen=True, kw_only=True):
    """The address that was verified."""

    email: str
    """E-mail address."""


class WaitForEvent(Record, frozen=True, kw_only=True, tag_field="type", tag="WAIT_FOR_EVENT"):
    """Wait for an event of the contact, then continue with `then`; after the timeout with `else`."""

    event: str
    """Name of the event."""
    timeout: Duration | None | UnsetType = UNSET
    """Defaults to 30 days."""
    then: (
        list[
            SendEmail
            | Delay
            | Condition
            | WaitForEvent
            | UpdateContact
            | AddToAudience
            | RemoveFromAudience
            | CallWebhook
            | Exit
        ]
        | UnsetType
    ) = UNSET
    """Steps to execute if the condition holds or the event occurs."""
    else_: (
        list[
            SendEmail
            | Delay
            | Condition
            | WaitForEvent
            | UpdateContact
            | AddToAudience
            | RemoveFromAudience
            | CallWebhook
            | Exit
        ]
        | UnsetType
    ) = UNSET
    """Steps to execute if the condition does not hold or the timeout elapses."""


class WarmUp(Record, frozen=True, kw_only=True):
    """The warm-up plan of a domain, and its progress."""

    domain_id: str
    """Id of the sending domain."""
    domain: str
    """Domain name."""
    status: WarmUpStatus
    """SCHEDULED before the first day, ACTIVE, or COMPLETED."""
    starts_on: date
    """The first day, in UTC."""
    steps: list[int]
    """The ceiling of each step. A step takes one day, or several if it is repeated."""
    step: int
    """The number of today's step, from 1."""
    ceiling: int | None
    """How many messages the domain may send today; null unless ACTIVE."""
    used: int
    """Messages that count for today's ceiling: marketing messages that may be sent today, and transactional
    messages that were sent.
    """
    repeated_days: int
    """Days after which the step was repeated: nothing was sent, or a rate of the domain was above a threshold."""
    next_day_at: datetime | None
    """When the next day begins; null unless ACTIVE or SCHEDULED."""
    last_day: date | None
    """The day of the last step, if no day is repeated; null unless ACTIVE or SCHEDULED."""
    ended_at: datetime | None
    """When the last step was completed; null before that."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class Webhook(Record, frozen=True, kw_only=True):
    """A subscription of a URL to events."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    url: str
    """The URL."""
    events: list[str]
    """Event names, `email.*`, `*`, or `custom.<name>` and `custom.*` for custom events."""
    format: WebhookFormat
    """The form of the payloads: `postern`, or `resend` if the subscription was created at `/compat/resend`."""
    description: str
    """Description for people."""
    active: bool
    """Whether the record is active."""
    failing_since: datetime | None
    """When the current series of failed attempts began; null if the last attempt succeeded."""
    disabled_at: datetime | None
    """When deliveries were disabled (UTC); null if they are enabled."""
    disabled_reason: str | None
    """Why Postern deactivated it; null if it is active or was deactivated by an API call."""
    previous_secret_expires_at: datetime | None
    """Until when the previous secret also signs deliveries (UTC); null if there is none."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""


class WebhookDelivery(Record, frozen=True, kw_only=True):
    """The delivery of an event to a subscription, with the result of its last attempt."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    subscription_id: str
    """Id of the webhook."""
    event_id: str
    """Sent as `webhook-id`: the same on every attempt and replay."""
    event: str
    """Name of the event."""
    status: WebhookDeliveryStatus
    """Status of the record."""
    attempts: int
    """Number of attempts so far."""
    response_status: int | None
    """HTTP status of the response; null without a response."""
    error_message: str | None
    """Why the attempt failed; null if it succeeded."""
    created_at: datetime
    """When the record was created (UTC)."""
    attempted_at: datetime | None
    """When the last attempt was made (UTC); null before the first attempt."""
    next_attempt_at: datetime | None
    """When the next attempt is made (UTC); null if there is none."""
    delivered_at: datetime | None
    """When it was delivered (UTC); null if it was not delivered."""
    payload: dict[str, Any]
    """JSON body of the delivery."""
    response_time: float | None
    """Duration of the last attempt, in milliseconds."""


class WebhookDeliveryDetail(Record, frozen=True, kw_only=True):
    """A delivery with the first 4 KiB of the response to the last attempt."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    subscription_id: str
    """Id of the webhook."""
    event_id: str
    """Sent as `webhook-id`: the same on every attempt and replay."""
    event: str
    """Name of the event."""
    status: WebhookDeliveryDetailStatus
    """Status of the record."""
    attempts: int
    """Number of attempts so far."""
    response_status: int | None
    """HTTP status of the response; null without a response."""
    error_message: str | None
    """Why the attempt failed; null if it succeeded."""
    created_at: datetime
    """When the record was created (UTC)."""
    attempted_at: datetime | None
    """When the last attempt was made (UTC); null before the first attempt."""
    next_attempt_at: datetime | None
    """When the next attempt is made (UTC); null if there is none."""
    delivered_at: datetime | None
    """When it was delivered (UTC); null if it was not delivered."""
    payload: dict[str, Any]
    """JSON body of the delivery."""
    response_time: float | None
    """Duration of the last attempt, in milliseconds."""
    response_body: str | None
    """Beginning of the response body; null without a response."""


class WebhookDisabledData(Record, frozen=True, kw_only=True):
    """Data of `webhook.disabled`. `id` is the id of the webhook."""

    id: str
    """Id of the record that the event is about."""
    project_id: str
    """Id of the project."""
    truncated: bool | None = None
    """True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
    `false`.
    """
    url: str
    """URL of the webhook."""
    reason: str
    """Why it was disabled."""


class WebhookReplayResult(Record, frozen=True, kw_only=True):
    """Number of deliveries that are sent again."""

    replayed: int
    """Number of deliveries that were queued again."""
    more: bool
    """Whether there are more; if so, repeat the request."""


class WebhookTestResult(Record, frozen=True, kw_only=True):
    """The result of a test request."""

    status: int | None
    """The HTTP status; null if there was no response."""
    ok: bool
    """Whether it succeeded."""
    response_time: float
    """In milliseconds."""
    reason: str | None
    """Why there was no response, or why the response is a failure; null if the test succeeded."""


class WebhookWithSecret(Record, frozen=True, kw_only=True):
    """A subscription with its secret, which only the responses to creation and rotation contain."""

    id: str
    """Unique identifier. Treat it as an opaque string."""
    app_id: str
    """The project's id. The older path family calls a project an app."""
    url: str
    """The URL."""
    events: list[str]
    """Event names, `email.*`, `*`, or `custom.<name>` and `custom.*` for custom events."""
    format: WebhookWithSecretFormat
    """The form of the payloads: `postern`, or `resend` if the subscription was created at `/compat/resend`."""
    description: str
    """Description for people."""
    active: bool
    """Whether the record is active."""
    failing_since: datetime | None
    """When the current series of failed attempts began; null if the last attempt succeeded."""
    disabled_at: datetime | None
    """When deliveries were disabled (UTC); null if they are enabled."""
    disabled_reason: str | None
    """Why Postern deactivated it; null if it is active or was deactivated by an API call."""
    previous_secret_expires_at: datetime | None
    """Until when the previous secret also signs deliveries (UTC); null if there is none."""
    created_at: datetime
    """When the record was created (UTC)."""
    updated_at: datetime
    """When the record was last changed (UTC)."""
    secret: str
    """Shared secret. Shown only once."""
