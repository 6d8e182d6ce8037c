"""Objects within requests as plain dicts, with the names of the API, for type checkers.

Generated from the API by script/client: do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from postern_sdk import types


class AccessCheckDict(TypedDict):
    """A check whether a customer has a permission in the project or in one of its organizations."""

    permission: str
    """Permission to check."""
    customerId: NotRequired[str | None]
    """Required, except with a customer's token, which implies the customer."""
    organizationId: NotRequired[str | None]
    """Id of the organization."""


class AddToAudienceDict(TypedDict):
    """Add the contact to a STATIC audience."""

    type: Literal["ADD_TO_AUDIENCE"]
    """Type of the record."""
    audienceId: str
    """Id of the audience."""


class AttributeMappingDict(TypedDict):
    """For each profile field, the `Name` or `FriendlyName` of its SAML attribute, or the name of its claim. Omitted
    fields use common names.
    """

    subject: NotRequired[str | None]
    """Persistent identifier of a user; defaults to the NameID, or the claim `sub`."""
    email: NotRequired[str | None]
    """SAML attribute with the e-mail address."""
    name: NotRequired[str | None]
    """SAML attribute with the full name."""
    firstName: NotRequired[str | None]
    """SAML attribute or claim with the first name."""
    lastName: NotRequired[str | None]
    """SAML attribute or claim with the last name."""
    groups: NotRequired[str | None]
    """SAML attribute or claim with the groups."""


class BulkContactDict(TypedDict):
    """One contact of a bulk addition; the attributes are merged into a contact that exists."""

    email: str
    """E-mail address."""
    attributes: NotRequired[Mapping[str, Any]]
    """Custom data about the contact, for templates and audience rules."""


class CallWebhookDict(TypedDict):
    """POST the contact to a URL, signed like webhooks. After five failed attempts the run continues."""

    type: Literal["WEBHOOK"]
    """Type of the record."""
    url: str
    """The URL."""


class CodeVerificationDict(TypedDict):
    """The code from the mail, and the id of the challenge that was returned when the code was requested."""

    challengeId: str
    """Id of the challenge. Send it back with the code."""
    code: str
    """Six digits, such as `123456`."""


ConditionDict = TypedDict(
    "ConditionDict",
    {
        "type": "Literal['CONDITION']",
        "rules": "types.Rules | RulesDict",
        "then": NotRequired[
            "Sequence[types.SendEmail | SendEmailDict | types.Delay | DelayDict | types.Condition | ConditionDict | types.WaitForEvent | WaitForEventDict | types.UpdateContact | UpdateContactDict | types.AddToAudience | AddToAudienceDict | types.RemoveFromAudience | RemoveFromAudienceDict | types.CallWebhook | CallWebhookDict | types.Exit | ExitDict]"
        ],
        "else": NotRequired[
            "Sequence[types.SendEmail | SendEmailDict | types.Delay | DelayDict | types.Condition | ConditionDict | types.WaitForEvent | WaitForEventDict | types.UpdateContact | UpdateContactDict | types.AddToAudience | AddToAudienceDict | types.RemoveFromAudience | RemoveFromAudienceDict | types.CallWebhook | CallWebhookDict | types.Exit | ExitDict]"
        ],
    },
)
"""Continue with `then` if the contact matches the rules (as for audiences), otherwise with `else`."""


class CustomEventDict(TypedDict):
    """Something that happened in your product."""

    name: str
    """Words separated by dots (`order.placed`). Names that begin with `email.`, `contact.` … are reserved."""
    contactId: NotRequired[str | None]
    """Id of the contact; null if there is none."""
    email: NotRequired[str | None]
    """Address of the contact concerned; a contact with this address is created if there is none."""
    data: NotRequired[Mapping[str, Any]]
    """Custom data, for automations and webhooks."""
    idempotencyKey: NotRequired[str | None]
    """An event whose key was used within the last 24 hours is not recorded again."""


class CustomerBanDict(TypedDict):
    """The reason for a ban, and when the ban ends."""

    reason: NotRequired[str | None]
    """Reason, as text."""
    expiresAt: NotRequired[datetime | str | None]
    """If null, the ban lasts until the customer is unbanned."""


class CustomerImportRowDict(TypedDict):
    """A customer from another system, with the organizations of which it is a member."""

    externalUserId: str
    """Id of the person in your own system."""
    email: NotRequired[str | None]
    """E-mail address."""
    emailVerified: NotRequired[bool]
    """Whether the e-mail address is verified. Default: `false`."""
    otherEmails: NotRequired[Sequence[types.ImportedEmail | ImportedEmailDict]]
    """Further e-mail addresses with which the customer can sign in."""
    name: NotRequired[str | None]
    """Display name."""
    language: NotRequired[str | None]
    """The language that the customer reads."""
    phone: NotRequired[str | None]
    """Phone number in E.164 form."""
    phoneVerified: NotRequired[bool]
    """Whether you have verified the number. Default: `false`."""
    passwordHash: NotRequired[str | None]
    """Hash from another system: bcrypt, scrypt, PBKDF2 or argon2."""
    metadata: NotRequired[Mapping[str, Any]]
    """Custom data, up to 16 KiB of JSON."""
    roles: NotRequired[Sequence[str]]
    """Keys of the roles."""
    createdAt: NotRequired[datetime | str | None]
    """When the account was created in the other system. Default: now."""
    ban: NotRequired[types.CustomerBan | CustomerBanDict | None]
    """The customer is banned from signing in."""
    totpSecret: NotRequired[str | None]
    """The secret of an authenticator app in base32, for codes of six digits by SHA-1 every 30 seconds."""
    passkeys: NotRequired[Sequence[types.ImportedPasskey | ImportedPasskeyDict]]
    """Passkeys that were created for the domain of this project."""
    identities: NotRequired[Sequence[types.ImportedIdentity | ImportedIdentityDict]]
    """The customer's sign-in identities, such as a password or an identity provider."""
    organizations: NotRequired[Sequence[types.ImportedMembership | ImportedMembershipDict]]
    """The 50 receivers that reported the most messages."""


class DelayDict(TypedDict):
    """Wait for the sum of `minutes`, `hours` and `days`, or `until` a time."""

    type: Literal["DELAY"]
    """Type of the record."""
    minutes: NotRequired[int | None]
    """Minutes."""
    hours: NotRequired[int | None]
    """Hours."""
    days: NotRequired[int | None]
    """Days."""
    until: NotRequired[datetime | str | None]
    """End of the period, or time to wait for (UTC)."""


class DurationDict(TypedDict):
    """A duration: the sum of its fields."""

    minutes: NotRequired[int | None]
    """Minutes."""
    hours: NotRequired[int | None]
    """Hours."""
    days: NotRequired[int | None]
    """Days."""


EmailDict = TypedDict(
    "EmailDict",
    {
        "to": "Sequence[str]",
        "from": "str",
        "subject": NotRequired["str | None"],
        "html": NotRequired["str | None"],
        "text": NotRequired["str | None"],
        "templateId": NotRequired["str | None"],
        "engine": NotRequired["Literal['minijinja', 'none'] | str | None"],
        "variables": NotRequired["Mapping[str, Any]"],
        "cc": NotRequired["Sequence[str] | None"],
        "bcc": NotRequired["Sequence[str] | None"],
        "replyTo": NotRequired["str | Sequence[str] | None"],
        "headers": NotRequired["Mapping[str, str] | None"],
        "attachments": NotRequired["Sequence[types.EmailAttachment | EmailAttachmentDict] | None"],
        "tags": NotRequired["Sequence[str] | None"],
        "scheduledAt": NotRequired["datetime | str | None"],
        "trackOpens": NotRequired["bool | None"],
        "trackClicks": NotRequired["bool | None"],
        "expiresAt": NotRequired["datetime | str | None"],
        "unsubscribable": NotRequired["bool"],
        "requireTls": NotRequired["bool | None"],
    },
)
"""An e-mail to send."""


class EmailAttachmentDict(TypedDict):
    """An attached file."""

    filename: str
    """File name."""
    content: str
    """The file in base64; line breaks are allowed."""
    contentType: NotRequired[str | None]
    """Defaults to the media type of the file name's extension, or `application/octet-stream`."""
    contentId: NotRequired[str | None]
    """Makes the file inline, so that html can refer to it as `cid:…`."""


class ExitDict(TypedDict):
    """End the run here."""

    type: Literal["EXIT"]
    """Type of the record."""


class ImportedEmailDict(TypedDict):
    """A secondary address, which can be used to sign in."""

    email: str
    """E-mail address."""
    verified: NotRequired[bool]
    """Number of customers with a verified e-mail address. Default: `false`."""


class ImportedIdentityDict(TypedDict):
    """An account at a sign-in provider."""

    provider: str
    """The key of the provider, such as `GOOGLE`."""
    subject: str
    """The id of the account at the provider: the claim `sub` of its ID tokens; at GitHub the numeric id."""
    issuer: NotRequired[str | None]
    """Default: the issuer of the provider. Microsoft needs that of the account's tenant."""


class ImportedMembershipDict(TypedDict):
    """A membership of an organization, which is created if there is none with this external id."""

    externalId: str
    """The id of the organization in the other system."""
    name: NotRequired[str | None]
    """The name of a new organization. Default: the external id."""
    roles: NotRequired[Sequence[str]]
    """Keys of roles with the scope ORGANIZATION."""


class ImportedPasskeyDict(TypedDict):
    """A passkey that was registered with another system for the same relying party id. Binary values are in
    base64url
        or base64.
    """

    rpId: str
    """The relying party id with which the passkey was created. A passkey only works with this one."""
    credentialId: str
    """The id that the authenticator gave to the credential."""
    publicKey: str
    """The public key as COSE_Key (RFC 9052 §7), as an authenticator sends it."""
    signCount: NotRequired[int]
    """The signature counter at the last use; 0 if the authenticator does not count. Default: `0`."""
    userHandle: NotRequired[str | None]
    """The user handle that the other system gave to the authenticator; null accepts any."""
    backedUp: NotRequired[bool]
    """Whether the passkey is synchronised to other devices. Default: `false`."""
    name: NotRequired[str]
    """Display name. Default: `"Passkey"`."""


class JsonWebKeysDict(TypedDict):
    """A set of public keys (RFC 7517 §5)."""

    keys: Sequence[Mapping[str, str | bool | Sequence[str]]]
    """The keys: EC with P-256, OKP with Ed25519, or RSA with at least 2048 bits. Each of several needs a `kid`."""


class MailBlockDict(TypedDict):
    """A part of a mail. `text` is a template: `{{ app }}` is replaced by a value.

    The button leads to the link of the mail, and the code shows its one-time code; `text` is the label of
        the button,
    or what stands above the code.
    """

    type: Literal["button", "code", "text"] | str
    """Type of the record."""
    text: str
    """Plain text body."""


class MailTextContentDict(TypedDict):
    """What a mail says, as templates: `{{ app }}` is replaced by a value, `{% if … %}` is possible, too."""

    subject: str
    """Subject line."""
    preheader: NotRequired[str]
    """What lists of mails show beside the subject; "" for the beginning of the mail."""
    blocks: Sequence[types.MailBlock | MailBlockDict]
    """Paragraphs, and the button or code of the mail, in their order."""
    footer: NotRequired[str]
    """What stands below the mail, such as the postal address; "" for nothing."""


class NewCustomerDict(TypedDict):
    """A customer to create or import: with a password, with a password hash of another system, or with neither."""

    email: NotRequired[str | None]
    """E-mail address."""
    emailVerified: NotRequired[bool]
    """Whether the e-mail address is verified. Default: `false`."""
    name: NotRequired[str | None]
    """Display name."""
    language: NotRequired[str | None]
    """The language that the customer reads. Mails and the account page are in it, if they exist in it."""
    phone: NotRequired[str | None]
    """Phone number in E.164 form."""
    phoneVerified: NotRequired[bool]
    """Whether you have verified the number. Default: `false`."""
    externalUserId: NotRequired[str | None]
    """Id of the person in your own system."""
    password: NotRequired[str | None]
    """Password. A new password must have at least 8 characters."""
    passwordHash: NotRequired[str | None]
    """Hash from another system: bcrypt, scrypt, PBKDF2 or argon2."""
    metadata: NotRequired[Mapping[str, Any]]
    """Custom data, up to 16 KiB of JSON."""
    roles: NotRequired[Sequence[str]]
    """Keys of the roles."""


class NewVariantDict(TypedDict):
    """A variant of the message for an A/B test."""

    name: str
    """A display name: one line of text, not only blanks."""
    subject: NotRequired[str | None]
    """Null: the campaign's subject."""
    templateId: NotRequired[str | None]
    """Null: the campaign's template."""
    weight: int
    """The share of the test sample that gets this variant, in percent; all weights sum to 100."""


class PageTextSettingsChangeDict(TypedDict):
    """Texts of hosted pages to change, by language; omitted languages keep theirs, and null removes those of a
    language.
    """

    en: NotRequired[types.PageTextsChange | PageTextsChangeDict | None]
    """Texts in English; null for the built-in ones."""
    de: NotRequired[types.PageTextsChange | PageTextsChangeDict | None]
    """Texts in German; null for the built-in ones."""
    es: NotRequired[types.PageTextsChange | PageTextsChangeDict | None]
    """Texts in Spanish; null for the built-in ones."""
    fr: NotRequired[types.PageTextsChange | PageTextsChangeDict | None]
    """Texts in French; null for the built-in ones."""
    pt: NotRequired[types.PageTextsChange | PageTextsChangeDict | None]
    """Texts in Portuguese; null for the built-in ones."""
    ja: NotRequired[types.PageTextsChange | PageTextsChangeDict | None]
    """Texts in Japanese; null for the built-in ones."""


class PageTextsChangeDict(TypedDict):
    """Texts of hosted pages in one language to change; omitted fields keep their values, and null means the built-
    in
        text.
    """

    signInTitle: NotRequired[str | None]
    """Title of the sign-in page; null for the built-in one."""
    signInLead: NotRequired[str | None]
    """A sentence below the title of the sign-in page."""
    signInButton: NotRequired[str | None]
    """The button of the first page, below the e-mail address."""
    signUpTitle: NotRequired[str | None]
    """Title of the sign-up page; null for the built-in one."""
    signUpLead: NotRequired[str | None]
    """A sentence below the title of the sign-up page."""
    signUpButton: NotRequired[str | None]
    """Button of the sign-up page; null for the built-in one."""
    footer: NotRequired[str | None]
    """A line in the foot of all pages, such as the name of the company."""


class PasskeySignInDict(TypedDict):
    """The assertion that the browser returned."""

    challengeId: str
    """Id of the challenge. Send it back with the code."""
    credential: Mapping[str, Any]
    """Result of the browser's `navigator.credentials`, as JSON."""


class PlanFeatureDict(TypedDict):
    """A feature of a plan."""

    featureKey: str
    """A key for programs: letters, digits, `_`, `.`, `:` and `-`, beginning with a letter: `sso`."""
    enabled: NotRequired[bool]
    """Whether it is enabled. Default: `true`."""
    limit: NotRequired[int | None]
    """Null is unlimited."""


class ProjectRelayDict(TypedDict):
    """A smart host (SMTP relay) for the project's mail."""

    host: str
    """A host name or IP address, such as `mail.example.com`."""
    port: NotRequired[int]
    """TCP port. Default: `587`."""
    tls: NotRequired[Literal["implicit", "none", "starttls", "starttls-required"] | str]
    """`starttls` uses TLS if offered, `starttls-required` requires it, `implicit` uses TLS from the start. Default:
    `"starttls-required"`.
    """
    username: NotRequired[str | None]
    """User name for SMTP authentication; null for none."""
    password: NotRequired[str | None]
    """At most 1,000 characters. Returned as `********`; sending that value keeps the password."""
    weight: NotRequired[int]
    """Share of the messages that this relay gets, relative to the weights of the other relays. Default: `1`."""
    messagesPerSecond: NotRequired[int | None]
    """Maximum messages per second; null for no limit."""


class ProjectSesDict(TypedDict):
    """An account of Amazon SES for the project's mail, in one AWS region."""

    region: str
    """The name of an AWS region, such as `eu-central-1`."""
    accessKeyId: str
    """The id of the access key."""
    secretAccessKey: str
    """At most 128 characters. Returned as `********`; sending that value keeps the secret of the same access key."""
    configurationSet: NotRequired[str | None]
    """SES configuration set, which determines where SES publishes events; null for none."""
    topics: NotRequired[Sequence[str]]
    """The SNS topics whose notifications about this project's mail are accepted."""
    forwardFeedback: NotRequired[bool]
    """Whether SES also mails bounces and complaints to the return path, whose domain must be verified in SES.
    Default: `false`.
    """


class RemoveFromAudienceDict(TypedDict):
    """Remove the contact from a STATIC audience."""

    type: Literal["REMOVE_FROM_AUDIENCE"]
    """Type of the record."""
    audienceId: str
    """Id of the audience."""


class RuleConditionDict(TypedDict):
    """A condition (`field`, `operator`, `value`) or a group of them (`match`, `conditions`)."""

    field: NotRequired[str | None]
    """Field to compare: `email`, `createdAt`, `attributes.<name>` …"""
    operator: NotRequired[str | None]
    """Comparison operator: `eq`, `contains`, `withinDays` …"""
    value: NotRequired[Any]
    """Value to compare the field with."""
    withinDays: NotRequired[float | None]
    """For conditions on how often an event happened: count only events within this number of days before now."""
    match: NotRequired[Literal["all", "any"] | str | None]
    """Whether `all` conditions must hold, or `any` of them."""
    conditions: NotRequired[Sequence[types.RuleCondition | RuleConditionDict] | None]
    """Conditions (a field with an operator) or nested groups of conditions."""


class RulesDict(TypedDict):
    """Contacts match if all conditions hold, or any of them, depending on `match`."""

    match: NotRequired[Literal["all", "any"] | str]
    """Whether `all` conditions must hold, or `any` of them. Default: `"all"`."""
    conditions: Sequence[types.RuleCondition | RuleConditionDict]
    """Conditions (a field with an operator) or nested groups of conditions."""


class SampleContactDict(TypedDict):
    """A contact that need not exist."""

    email: str
    """E-mail address."""
    attributes: NotRequired[Mapping[str, Any]]
    """Custom data about the contact, for templates and audience rules."""


class SendEmailDict(TypedDict):
    """Send a template to the contact; skipped for unsubscribed contacts."""

    type: Literal["SEND_EMAIL"]
    """Type of the record."""
    templateId: str
    """Id of the template that provides subject, html and text."""
    domainId: NotRequired[str | None]
    """The sending domain; `fromEmail` must belong to it."""
    fromEmail: str
    """E-mail address of the sender."""
    fromName: NotRequired[str | None]
    """Display name of the sender."""
    subject: NotRequired[str | None]
    """Defaults to the template's subject."""
    replyTo: NotRequired[str | None]
    """Address for replies (`Reply-To` header)."""


class SettingsChangeDict(TypedDict):
    """Settings to change; omitted fields keep their values. Null resets a setting to its default, where null is
    allowed.
    """

    transport: NotRequired[Literal["capture", "direct", "relay", "ses"] | str | None]
    """How mail is sent: `relay` through an SMTP relay, `ses` through Amazon SES, `direct` to the recipients' mail
    servers if the server offers it; `capture` only stores it in the inbox. Null uses the server's default.
    """
    fallbackTransports: NotRequired[Sequence[Literal["direct", "relay", "ses"] | str] | None]
    """Transports to use, in this order, if `transport` cannot be reached. Null: none, or those of the server if
    `transport` is null.
    """
    relays: NotRequired[Sequence[types.ProjectRelay | ProjectRelayDict] | None]
    """SMTP relays to send through; null uses the server's relays."""
    ses: NotRequired[types.ProjectSes | ProjectSesDict | None]
    """Account of Amazon SES to send through; null uses the server's account."""
    trackingDomain: NotRequired[str | None]
    """Host name of tracking links; null uses the server's host name."""
    trackOpens: NotRequired[bool]
    """Whether opens are tracked."""
    trackClicks: NotRequired[bool]
    """Whether clicks are tracked."""
    requireTls: NotRequired[bool]
    """Whether the message is sent only over TLS, and only to servers with a valid certificate that offer REQUIRETLS
    (RFC 8689). To any other server it bounces: with 5.7.10 if TLS or a valid certificate is missing, with 5.7.30
    if REQUIRETLS is not offered. Null: the setting of the project.
    """
    seedList: NotRequired[Sequence[str] | None]
    """E-mail addresses that get a test copy of a campaign on request (`test-seed-list`)."""
    retentionDays: NotRequired[int | None]
    """Number of days for which message bodies are kept; null uses the server's default."""
    inboundRetentionDays: NotRequired[int | None]
    """Number of days for which received messages are kept; null means 30."""
    logRetentionDays: NotRequired[int | None]
    """Number of days for which e-mail log, opens and clicks are kept; null keeps them."""
    eventRetentionDays: NotRequired[int | None]
    """Number of days for which events are kept; null keeps them."""
    archiveExpired: NotRequired[bool]
    """Whether log and events are written to the server's archive before they are deleted."""
    onAmbiguous: NotRequired[Literal["hold", "retry"] | str]
    """Action if a connection ends before the server replies to the complete message: `retry` or `hold`."""
    frequencyCap: NotRequired[int | None]
    """Maximum messages of campaigns and automations to one contact within 24 hours; null uses the default of 10."""
    rateLimit: NotRequired[int | None]
    """Maximum requests per second of this project; null uses the server's default."""
    signIn: NotRequired[types.SignInChange | SignInChangeDict]
    """Sign-in settings for customers."""
    extra: NotRequired[Mapping[str, Any]]
    """Further settings, merged with the stored ones by name; null removes a name. At most 64 KiB in all, as JSON."""


class SignInChangeDict(TypedDict):
    """Sign-in settings to change; omitted fields keep their values. Null resets a setting to its default, where
    null is
        allowed.
    """

    methods: NotRequired[Sequence[Literal["EMAIL_CODE", "EMAIL_LINK", "PASSKEY", "PASSWORD"] | str] | None]
    """Authentication methods that were used or are allowed."""
    signUp: NotRequired[bool]
    """Whether anyone can sign up."""
    verifyEmail: NotRequired[Literal["LATER", "REQUIRED"] | str]
    """Whether an address must be verified before the first sign-in (`REQUIRED`) or not (`LATER`)."""
    allowedOrigins: NotRequired[Sequence[str] | None]
    """Web origins that can call the sign-in operations from a browser (CORS)."""
    redirectUrls: NotRequired[Sequence[str] | None]
    """URLs to which a sign-in can redirect."""
    mailFrom: NotRequired[str | None]
    """Sender of sign-in mail; null uses the server's sender. Of a captured message: the envelope sender."""
    securityMails: NotRequired[
        Sequence[
            Literal[
                "EMAIL_CHANGED", "IDENTITY_CHANGED", "IMPERSONATED", "MFA_CHANGED", "NEW_DEVICE", "PASSWORD_CHANGED"
            ]
            | str
        ]
        | None
    ]
    """Notices about a customer's security that are sent by mail."""
    contacts: NotRequired[Literal["CREATE", "LINK", "NONE"] | str]
    """Whether a customer is linked to the contact with the same address: `NONE`, `LINK` if there is one, `CREATE`
    also creates a missing one.
    """
    passkeyDomain: NotRequired[str | None]
    """Domain that passkeys belong to (WebAuthn relying party id)."""
    pagesDomain: NotRequired[str | None]
    """Host name of hosted pages, such as `login.example.com`; null for that of this server. It must be below a
    verified sending domain of the project, and no other project can have it.
    """
    appName: NotRequired[str | None]
    """Name of your product on pages and in mail."""
    logoUrl: NotRequired[str | None]
    """URL of the image on pages and in mail."""
    accentColor: NotRequired[str | None]
    """Color of buttons on pages and in mail, as `#rrggbb`."""
    defaultLanguage: NotRequired[Literal["de", "en", "es", "fr", "ja", "pt"] | str | None]
    """The language of hosted pages and e-mails if neither the request nor the browser asks for one of the others;
    null means English.
    """
    theme: NotRequired[types.ThemeChange | ThemeChangeDict | None]
    """Colors, corners and fonts of hosted pages and e-mails."""
    pageTexts: NotRequired[types.PageTextSettingsChange | PageTextSettingsChangeDict | None]
    """Texts of hosted pages that replace the built-in ones, by language."""
    privacyUrl: NotRequired[str | None]
    """URL of your privacy policy, in the foot of pages."""
    termsUrl: NotRequired[str | None]
    """URL of your terms of service, in the foot of pages."""
    helpUrl: NotRequired[str | None]
    """Links in the foot of hosted pages."""
    termsVersion: NotRequired[str | None]
    """The current version of the terms at `termsUrl` and of the privacy policy."""
    requireTerms: NotRequired[bool]
    """Whether customers must accept the current version of the terms: when they sign up, and at the next sign-in
    after the version has changed. Requires `termsUrl` and `termsVersion`.
    """
    requireSso: NotRequired[bool]
    """Whether all customers must use single sign-on. Requires a working connection."""
    requireMfa: NotRequired[bool]
    """Whether all customers must sign in with a second factor; customers without one must set it up first."""
    rememberedDeviceDays: NotRequired[int | None]
    """For how many days customers may choose not to be asked for the second factor on a device again; null, the
    default, for never. Has no effect where the project or an organization requires a second factor.
    """
    tokenClaims: NotRequired[types.TokenClaimsChange | TokenClaimsChangeDict | None]
    """The keys of metadata that access tokens contain. Customers can read their tokens."""
    accountDeletion: NotRequired[bool]
    """Whether customers can delete their accounts themselves; true by default."""
    organizationSetup: NotRequired[bool]
    """Whether OWNERs of organizations can set up domains, single sign-on and directories themselves, on the page of
    their organization; false by default.
    """
    clientRegistration: NotRequired[Literal["OFF", "OPEN", "TOKEN"] | str]
    """Whether clients of the OpenID provider can register themselves: no, with an initial access token, or without."""
    clientMetadataDocuments: NotRequired[bool]
    """Whether the id of a client of the OpenID provider can be the URL of a document with its metadata, so that
    clients need not be registered.
    """


class ThemeChangeDict(TypedDict):
    """Parts of the theme to change; omitted fields keep their values, and null resets one to its default."""

    light: NotRequired[types.ThemeColorsChange | ThemeColorsChangeDict | None]
    """Colors on devices in light mode."""
    dark: NotRequired[types.ThemeColorsChange | ThemeColorsChangeDict | None]
    """Colors on devices in dark mode."""
    corners: NotRequired[Literal["LARGE", "MEDIUM", "SMALL", "SQUARE"] | str | None]
    """Corners of buttons, fields and boxes."""
    font: NotRequired[Literal["GEOMETRIC", "HUMANIST", "MONOSPACE", "ROUNDED", "SERIF", "SYSTEM"] | str | None]
    """Font of the text."""
    headingFont: NotRequired[Literal["GEOMETRIC", "HUMANIST", "MONOSPACE", "ROUNDED", "SERIF", "SYSTEM"] | str | None]
    """Font of titles."""
    pictureUrl: NotRequired[str | None]
    """An https URL of a picture beside the form, on screens of 900 px and more."""


class ThemeColorsChangeDict(TypedDict):
    """Colors to change; omitted fields keep their values, and null resets one to its default."""

    accent: NotRequired[str | None]
    """Buttons. Null in the light theme means `accentColor`; null in the dark theme means the light accent,
    lightened if the contrast needs it.
    """
    page: NotRequired[str | None]
    """The background."""
    card: NotRequired[str | None]
    """Fields and boxes; null means `page`."""
    ink: NotRequired[str | None]
    """Text."""
    muted: NotRequired[str | None]
    """Text that is less important."""
    line: NotRequired[str | None]
    """Lines between parts."""


class TokenClaimsChangeDict(TypedDict):
    """The keys of metadata that access tokens contain; omitted fields keep their values, and null removes all keys."""

    customer: NotRequired[Sequence[str] | None]
    """Keys of the customer's metadata, in the claim `metadata`."""
    organization: NotRequired[Sequence[str] | None]
    """Keys of the active organization's metadata, in the claim `org.metadata`."""


class TriggerDict(TypedDict):
    """What starts a run: a contact joins or leaves an audience or is created, or an event concerning it occurs."""

    type: Literal["AUDIENCE_JOINED", "AUDIENCE_LEFT", "CONTACT_CREATED", "EVENT"] | str
    """Type of the trigger."""
    audienceId: NotRequired[str | None]
    """Id of the audience."""
    event: NotRequired[str | None]
    """For an EVENT trigger: the name of a Postern event or of a custom event."""
    where: NotRequired[types.Rules | RulesDict | None]
    """For an EVENT trigger: only events whose data matches these rules start a run. The syntax is that of audience
    rules; a field is a key of the event's data (`total`), with dots for nested keys (`customer.plan`).
    """
    once: NotRequired[bool]
    """Whether a contact can start only one run, ever. Otherwise it can start runs repeatedly, but not while it has
    an unfinished run, and at most `maxRunsPerHour` within an hour. Runs that TEST keys start are counted
    separately. Default: `true`.
    """


class UpdateContactDict(TypedDict):
    """Merge attributes into the contact; null removes one."""

    type: Literal["UPDATE_CONTACT"]
    """Type of the record."""
    attributes: Mapping[str, Any]
    """Custom data about the contact, for templates and audience rules."""


WaitForEventDict = TypedDict(
    "WaitForEventDict",
    {
        "type": "Literal['WAIT_FOR_EVENT']",
        "event": "str",
        "timeout": NotRequired["types.Duration | DurationDict | None"],
        "then": NotRequired[
            "Sequence[types.SendEmail | SendEmailDict | types.Delay | DelayDict | types.Condition | ConditionDict | types.WaitForEvent | WaitForEventDict | types.UpdateContact | UpdateContactDict | types.AddToAudience | AddToAudienceDict | types.RemoveFromAudience | RemoveFromAudienceDict | types.CallWebhook | CallWebhookDict | types.Exit | ExitDict]"
        ],
        "else": NotRequired[
            "Sequence[types.SendEmail | SendEmailDict | types.Delay | DelayDict | types.Condition | ConditionDict | types.WaitForEvent | WaitForEventDict | types.UpdateContact | UpdateContactDict | types.AddToAudience | AddToAudienceDict | types.RemoveFromAudience | RemoveFromAudienceDict | types.CallWebhook | CallWebhookDict | types.Exit | ExitDict]"
        ],
    },
)
"""Wait for an event of the contact, then continue with `then`; after the timeout with `else`."""
