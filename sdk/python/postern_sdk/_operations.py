"""The operations of the API, as both clients send them.

Generated from the API by script/client: do not edit.
"""

from postern_sdk._request import Operation

SIGN_UP_DEVELOPER = Operation(
    "signUpDeveloper",
    "POST",
    "/auth/sign-up",
    "json",
    result="DeveloperSignInResult",
    body="json",
    media_type="application/json",
)
SIGN_IN_DEVELOPER = Operation(
    "signInDeveloper",
    "POST",
    "/auth/sign-in",
    "json",
    result="DeveloperSignInResult",
    body="json",
    media_type="application/json",
)
REFRESH_DEVELOPER_TOKENS = Operation(
    "refreshDeveloperTokens",
    "POST",
    "/auth/refresh",
    "json",
    result="DeveloperSignInResult",
    body="json",
    media_type="application/json",
)
SIGN_OUT_DEVELOPER = Operation("signOutDeveloper", "POST", "/auth/sign-out", "empty")
VERIFY_DEVELOPER_EMAIL = Operation(
    "verifyDeveloperEmail",
    "POST",
    "/auth/verify-email",
    "json",
    result="VerifiedEmail",
    body="json",
    media_type="application/json",
)
RESEND_DEVELOPER_VERIFICATION = Operation("resendDeveloperVerification", "POST", "/auth/verify-email/resend", "empty")
FORGOT_DEVELOPER_PASSWORD = Operation(
    "forgotDeveloperPassword", "POST", "/auth/password/forgot", "empty", body="json", media_type="application/json"
)
RESET_DEVELOPER_PASSWORD = Operation(
    "resetDeveloperPassword", "POST", "/auth/password/reset", "empty", body="json", media_type="application/json"
)
LIST_DEVELOPER_SESSIONS = Operation(
    "listDeveloperSessions", "GET", "/auth/sessions", "json", result="OwnSession", many=True
)
REVOKE_OTHER_DEVELOPER_SESSIONS = Operation("revokeOtherDeveloperSessions", "DELETE", "/auth/sessions", "empty")
REVOKE_DEVELOPER_SESSION = Operation("revokeDeveloperSession", "DELETE", "/auth/sessions/{sessionId}", "empty")
ENROL_DEVELOPER_TOTP = Operation(
    "enrolDeveloperTotp",
    "POST",
    "/auth/mfa/totp",
    "json",
    result="DeveloperTotpEnrolment",
    body="json",
    media_type="application/json",
)
CONFIRM_DEVELOPER_TOTP = Operation(
    "confirmDeveloperTotp",
    "POST",
    "/auth/mfa/totp/confirm",
    "json",
    result="DeveloperRecoveryCodes",
    body="json",
    media_type="application/json",
)
DISABLE_DEVELOPER_TOTP = Operation(
    "disableDeveloperTotp", "POST", "/auth/mfa/totp/disable", "empty", body="json", media_type="application/json"
)
RENEW_DEVELOPER_RECOVERY_CODES = Operation(
    "renewDeveloperRecoveryCodes",
    "POST",
    "/auth/mfa/recovery-codes",
    "json",
    result="DeveloperRecoveryCodes",
    body="json",
    media_type="application/json",
)
BEGIN_DEVELOPER_PASSKEY_REGISTRATION = Operation(
    "beginDeveloperPasskeyRegistration",
    "POST",
    "/auth/passkeys/register/options",
    "json",
    result="PasskeyOptions",
    body="json",
    media_type="application/json",
)
ADD_DEVELOPER_PASSKEY = Operation(
    "addDeveloperPasskey",
    "POST",
    "/auth/passkeys/register",
    "json",
    result="Passkey",
    body="json",
    media_type="application/json",
)
LIST_DEVELOPER_PASSKEYS = Operation(
    "listDeveloperPasskeys", "GET", "/auth/passkeys", "json", result="Passkey", many=True
)
REMOVE_DEVELOPER_PASSKEY = Operation("removeDeveloperPasskey", "DELETE", "/auth/passkeys/{id}", "empty")
BEGIN_DEVELOPER_PASSKEY_SIGN_IN = Operation(
    "beginDeveloperPasskeySignIn", "POST", "/auth/passkeys/sign-in/options", "json", result="PasskeyOptions"
)
SIGN_IN_DEVELOPER_WITH_PASSKEY = Operation(
    "signInDeveloperWithPasskey",
    "POST",
    "/auth/passkeys/sign-in",
    "json",
    result="DeveloperSignInResult",
    body="json",
    media_type="application/json",
)
GET_ACCOUNT = Operation("getAccount", "GET", "/account", "json", result="AccountProfile")
CHANGE_ACCOUNT = Operation(
    "changeAccount", "PATCH", "/account", "json", result="AccountProfile", body="json", media_type="application/json"
)
DELETE_ACCOUNT = Operation(
    "deleteAccount",
    "DELETE",
    "/account",
    "json",
    result="Deleted",
    permission="account:own",
    body="json",
    media_type="application/json",
)
CHANGE_DEVELOPER_PASSWORD = Operation(
    "changeDeveloperPassword", "PATCH", "/account/password", "empty", body="json", media_type="application/json"
)
LIST_ACCOUNT_MEMBERS = Operation(
    "listAccountMembers",
    "GET",
    "/account/members",
    "json",
    result="AccountMember",
    page="links",
    permission="account:read",
)
LIST_ACCOUNT_INVITATIONS = Operation(
    "listAccountInvitations",
    "GET",
    "/account/invitations",
    "json",
    result="AccountInvitation",
    page="links",
    permission="account:read",
)
INVITE_ACCOUNT_MEMBER = Operation(
    "inviteAccountMember",
    "POST",
    "/account/invitations",
    "json",
    result="AccountInvitation",
    permission="account:write",
    body="json",
    media_type="application/json",
)
REVOKE_ACCOUNT_INVITATION = Operation(
    "revokeAccountInvitation", "DELETE", "/account/invitations/{id}", "empty", permission="account:write"
)
ACCEPT_ACCOUNT_INVITATION = Operation(
    "acceptAccountInvitation",
    "POST",
    "/account/invitations/accept",
    "json",
    result="AccountMember",
    body="json",
    media_type="application/json",
)
CHANGE_ACCOUNT_MEMBER_ROLE = Operation(
    "changeAccountMemberRole",
    "PATCH",
    "/account/members/{userId}",
    "json",
    result="AccountMember",
    permission="account:write",
    body="json",
    media_type="application/json",
)
REMOVE_ACCOUNT_MEMBER = Operation(
    "removeAccountMember", "DELETE", "/account/members/{userId}", "empty", permission="account:write"
)
LEAVE_ACCOUNT = Operation("leaveAccount", "POST", "/account/leave", "empty")
TRANSFER_ACCOUNT_OWNERSHIP = Operation(
    "transferAccountOwnership",
    "POST",
    "/account/members/{userId}/transfer-ownership",
    "json",
    result="AccountMember",
    permission="account:own",
    body="json",
    media_type="application/json",
)
LIST_ACCOUNT_AUDIT_LOG = Operation(
    "listAccountAuditLog",
    "GET",
    "/account/audit-log",
    "json",
    result="AccountAuditEntry",
    page="pages",
    permission="account:read",
)
EXPORT_ACCOUNT = Operation(
    "exportAccount", "GET", "/account/export", "json", result="object", permission="account:export"
)
DELETE_PROJECT = Operation(
    "deleteProject", "DELETE", "/projects/{id}", "json", result="Deleted", permission="projects:write"
)
GET_PROJECT = Operation(
    "getProject", "GET", "/projects/{projectId}", "json", result="Project", permission="projects:read"
)
CHANGE_PROJECT = Operation(
    "changeProject",
    "PATCH",
    "/projects/{projectId}",
    "json",
    result="Project",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
LIST_PROJECTS = Operation(
    "listProjects", "GET", "/projects", "json", result="Project", page="links", permission="projects:read"
)
CREATE_PROJECT = Operation(
    "createProject",
    "POST",
    "/projects",
    "json",
    result="Project",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
LIST_API_KEYS = Operation(
    "listApiKeys",
    "GET",
    "/projects/{projectId}/api-keys",
    "json",
    result="ApiKey",
    page="links",
    permission="keys:read",
)
CREATE_API_KEY = Operation(
    "createApiKey",
    "POST",
    "/projects/{projectId}/api-keys",
    "json",
    result="ApiKey",
    permission="keys:write",
    body="json",
    media_type="application/json",
)
DELETE_API_KEY = Operation(
    "deleteApiKey", "DELETE", "/projects/{projectId}/api-keys/{id}", "json", result="ApiKey", permission="keys:write"
)
LIST_EVENTS = Operation(
    "listEvents", "GET", "/projects/{projectId}/events", "json", result="Event", page="cursor", permission="events:read"
)
RECORD_CUSTOM_EVENT = Operation(
    "recordCustomEvent",
    "POST",
    "/projects/{projectId}/events",
    "json",
    result="CustomEventResult",
    idempotent=True,
    permission="events:write",
    body="json",
    media_type="application/json",
)
LIST_PERMISSIONS = Operation(
    "listPermissions",
    "GET",
    "/projects/{projectId}/access/permissions",
    "json",
    result="Permission",
    page="links",
    permission="access:read",
)
CREATE_PERMISSION = Operation(
    "createPermission",
    "POST",
    "/projects/{projectId}/access/permissions",
    "json",
    result="Permission",
    permission="access:write",
    body="json",
    media_type="application/json",
)
DELETE_PERMISSION = Operation(
    "deletePermission",
    "DELETE",
    "/projects/{projectId}/access/permissions/{key}",
    "json",
    result="Deleted",
    permission="access:write",
)
LIST_ROLES = Operation(
    "listRoles",
    "GET",
    "/projects/{projectId}/access/roles",
    "json",
    result="Role",
    page="links",
    permission="access:read",
)
CREATE_ROLE = Operation(
    "createRole",
    "POST",
    "/projects/{projectId}/access/roles",
    "json",
    result="Role",
    permission="access:write",
    body="json",
    media_type="application/json",
)
GET_ROLE = Operation(
    "getRole", "GET", "/projects/{projectId}/access/roles/{key}", "json", result="Role", permission="access:read"
)
CHANGE_ROLE = Operation(
    "changeRole",
    "PATCH",
    "/projects/{projectId}/access/roles/{key}",
    "json",
    result="Role",
    permission="access:write",
    body="json",
    media_type="application/json",
)
DELETE_ROLE = Operation(
    "deleteRole",
    "DELETE",
    "/projects/{projectId}/access/roles/{key}",
    "json",
    result="Deleted",
    permission="access:write",
)
CHECK_ACCESS = Operation(
    "checkAccess",
    "POST",
    "/projects/{projectId}/access/check",
    "json",
    result="AccessDecision",
    permission="access:read",
    body="json",
    media_type="application/json",
)
CHECK_ACCESS_BATCH = Operation(
    "checkAccessBatch",
    "POST",
    "/projects/{projectId}/access/check/batch",
    "json",
    result="AccessDecisions",
    permission="access:read",
    body="json",
    media_type="application/json",
)
LIST_DOMAINS = Operation(
    "listDomains",
    "GET",
    "/projects/{projectId}/domains",
    "json",
    result="Domain",
    page="links",
    permission="domains:read",
)
CREATE_DOMAIN = Operation(
    "createDomain",
    "POST",
    "/projects/{projectId}/domains",
    "json",
    result="Domain",
    permission="domains:write",
    body="json",
    media_type="application/json",
)
GET_DOMAIN = Operation(
    "getDomain", "GET", "/projects/{projectId}/domains/{id}", "json", result="Domain", permission="domains:read"
)
DELETE_DOMAIN = Operation(
    "deleteDomain", "DELETE", "/projects/{projectId}/domains/{id}", "json", result="Deleted", permission="domains:write"
)
VERIFY_DOMAIN = Operation(
    "verifyDomain",
    "POST",
    "/projects/{projectId}/domains/{id}/verify",
    "json",
    result="Domain",
    permission="domains:write",
)
ROTATE_DOMAIN_KEYS = Operation(
    "rotateDomainKeys",
    "POST",
    "/projects/{projectId}/domains/{id}/rotate-keys",
    "json",
    result="Domain",
    permission="domains:write",
)
GET_DOMAIN_BLOCKLIST_STATUS = Operation(
    "getDomainBlocklistStatus",
    "GET",
    "/projects/{projectId}/domains/{id}/blocklist-status",
    "json",
    result="BlocklistEntry",
    many=True,
    permission="domains:read",
)
ADD_DMARC_REPORT = Operation(
    "addDmarcReport",
    "POST",
    "/projects/{projectId}/domains/{id}/dmarc-reports",
    "json",
    result="DmarcReportResult",
    permission="domains:write",
    body="bytes",
    media_type="application/octet-stream",
)
GET_DMARC_SUMMARY = Operation(
    "getDmarcSummary",
    "GET",
    "/projects/{projectId}/domains/{id}/dmarc",
    "json",
    result="DmarcSummary",
    permission="domains:read",
)
LIST_SENDERS = Operation(
    "listSenders", "GET", "/projects/{projectId}/senders", "json", result="Sender", many=True, permission="domains:read"
)
CREATE_SENDER = Operation(
    "createSender",
    "POST",
    "/projects/{projectId}/senders",
    "json",
    result="Sender",
    permission="domains:write",
    body="json",
    media_type="application/json",
)
GET_SENDER = Operation(
    "getSender", "GET", "/projects/{projectId}/senders/{id}", "json", result="Sender", permission="domains:read"
)
DELETE_SENDER = Operation(
    "deleteSender", "DELETE", "/projects/{projectId}/senders/{id}", "json", result="Deleted", permission="domains:write"
)
RESEND_SENDER_VERIFICATION = Operation(
    "resendSenderVerification",
    "POST",
    "/projects/{projectId}/senders/{id}/resend",
    "json",
    result="Sender",
    permission="domains:write",
)
VERIFY_SENDER = Operation(
    "verifySender",
    "POST",
    "/projects/{projectId}/senders/{id}/verify",
    "json",
    result="Sender",
    permission="domains:write",
    body="json",
    media_type="application/json",
)
LIST_WEBHOOKS = Operation(
    "listWebhooks",
    "GET",
    "/projects/{projectId}/webhooks",
    "json",
    result="Webhook",
    page="links",
    permission="webhooks:read",
)
CREATE_WEBHOOK = Operation(
    "createWebhook",
    "POST",
    "/projects/{projectId}/webhooks",
    "json",
    result="WebhookWithSecret",
    permission="webhooks:write",
    body="json",
    media_type="application/json",
)
GET_WEBHOOK = Operation(
    "getWebhook", "GET", "/projects/{projectId}/webhooks/{id}", "json", result="Webhook", permission="webhooks:read"
)
CHANGE_WEBHOOK = Operation(
    "changeWebhook",
    "PATCH",
    "/projects/{projectId}/webhooks/{id}",
    "json",
    result="Webhook",
    permission="webhooks:write",
    body="json",
    media_type="application/json",
)
DELETE_WEBHOOK = Operation(
    "deleteWebhook",
    "DELETE",
    "/projects/{projectId}/webhooks/{id}",
    "json",
    result="Webhook",
    permission="webhooks:write",
)
ROTATE_WEBHOOK_SECRET = Operation(
    "rotateWebhookSecret",
    "POST",
    "/projects/{projectId}/webhooks/{id}/rotate-secret",
    "json",
    result="WebhookWithSecret",
    permission="webhooks:write",
    body="json",
    media_type="application/json",
)
LIST_WEBHOOK_DELIVERIES = Operation(
    "listWebhookDeliveries",
    "GET",
    "/projects/{projectId}/webhooks/{id}/deliveries",
    "json",
    result="WebhookDelivery",
    page="links",
    permission="webhooks:read",
)
GET_WEBHOOK_DELIVERY = Operation(
    "getWebhookDelivery",
    "GET",
    "/projects/{projectId}/webhooks/{id}/deliveries/{deliveryId}",
    "json",
    result="WebhookDeliveryDetail",
    permission="webhooks:read",
)
REPLAY_WEBHOOK_DELIVERY = Operation(
    "replayWebhookDelivery",
    "POST",
    "/projects/{projectId}/webhooks/{id}/deliveries/{deliveryId}/replay",
    "empty",
    permission="webhooks:write",
)
REPLAY_WEBHOOK_DELIVERIES = Operation(
    "replayWebhookDeliveries",
    "POST",
    "/projects/{projectId}/webhooks/{id}/deliveries/replay",
    "json",
    result="WebhookReplayResult",
    permission="webhooks:write",
    body="json",
    media_type="application/json",
)
TEST_WEBHOOK = Operation(
    "testWebhook",
    "POST",
    "/projects/{projectId}/webhooks/{id}/test",
    "json",
    result="WebhookTestResult",
    permission="webhooks:write",
)
CREATE_ASSET = Operation(
    "createAsset",
    "POST",
    "/projects/{projectId}/assets",
    "json",
    result="Asset",
    permission="templates:write",
    body="bytes",
    media_type="application/octet-stream",
)
LIST_ASSETS = Operation(
    "listAssets",
    "GET",
    "/projects/{projectId}/assets",
    "json",
    result="Asset",
    page="links",
    permission="templates:read",
)
GET_ASSET = Operation(
    "getAsset", "GET", "/projects/{projectId}/assets/{id}", "json", result="Asset", permission="templates:read"
)
DELETE_ASSET = Operation(
    "deleteAsset", "DELETE", "/projects/{projectId}/assets/{id}", "json", result="Asset", permission="templates:write"
)
LIST_TEMPLATES = Operation(
    "listTemplates",
    "GET",
    "/projects/{projectId}/templates",
    "json",
    result="Template",
    page="links",
    permission="templates:read",
)
CREATE_TEMPLATE = Operation(
    "createTemplate",
    "POST",
    "/projects/{projectId}/templates",
    "json",
    result="Template",
    permission="templates:write",
    body="json",
    media_type="application/json",
)
GET_TEMPLATE = Operation(
    "getTemplate", "GET", "/projects/{projectId}/templates/{id}", "json", result="Template", permission="templates:read"
)
CHANGE_TEMPLATE = Operation(
    "changeTemplate",
    "PATCH",
    "/projects/{projectId}/templates/{id}",
    "json",
    result="Template",
    permission="templates:write",
    body="json",
    media_type="application/json",
)
DELETE_TEMPLATE = Operation(
    "deleteTemplate",
    "DELETE",
    "/projects/{projectId}/templates/{id}",
    "json",
    result="Deleted",
    permission="templates:write",
)
DUPLICATE_TEMPLATE = Operation(
    "duplicateTemplate",
    "POST",
    "/projects/{projectId}/templates/{id}/duplicate",
    "json",
    result="Template",
    permission="templates:write",
)
PREVIEW_TEMPLATE = Operation(
    "previewTemplate",
    "POST",
    "/projects/{projectId}/templates/{id}/preview",
    "json",
    result="TemplatePreview",
    permission="templates:read",
    body="json",
    media_type="application/json",
)
RENDER_TEMPLATE = Operation(
    "renderTemplate",
    "POST",
    "/projects/{projectId}/templates/render",
    "json",
    result="RenderedDraft",
    permission="templates:read",
    body="json",
    media_type="application/json",
)
LIST_TEMPLATE_VERSIONS = Operation(
    "listTemplateVersions",
    "GET",
    "/projects/{projectId}/templates/{id}/versions",
    "json",
    result="TemplateVersion",
    many=True,
    permission="templates:read",
)
IMPORT_CONTACTS = Operation(
    "importContacts",
    "POST",
    "/projects/{projectId}/contacts/import",
    "json",
    result="ContactImport",
    permission="contacts:write",
    body="bytes",
    media_type="text/csv",
)
PREVIEW_CONTACT_IMPORT = Operation(
    "previewContactImport",
    "POST",
    "/projects/{projectId}/contacts/import/preview",
    "json",
    result="ContactImportPreview",
    permission="contacts:write",
    body="bytes",
    media_type="text/csv",
)
LIST_CONTACT_IMPORTS = Operation(
    "listContactImports",
    "GET",
    "/projects/{projectId}/contacts/imports",
    "json",
    result="ContactImport",
    page="links",
    permission="contacts:read",
)
GET_CONTACT_IMPORT = Operation(
    "getContactImport",
    "GET",
    "/projects/{projectId}/contacts/imports/{id}",
    "json",
    result="ContactImport",
    permission="contacts:read",
)
EXPORT_CONTACTS = Operation(
    "exportContacts", "GET", "/projects/{projectId}/contacts/export", "text", permission="contacts:read"
)
LIST_CONTACTS = Operation(
    "listContacts",
    "GET",
    "/projects/{projectId}/contacts",
    "json",
    result="Contact",
    page="pages",
    permission="contacts:read",
)
CREATE_CONTACT = Operation(
    "createContact",
    "POST",
    "/projects/{projectId}/contacts",
    "json",
    result="Contact",
    permission="contacts:write",
    body="json",
    media_type="application/json",
)
GET_CONTACT = Operation(
    "getContact", "GET", "/projects/{projectId}/contacts/{id}", "json", result="Contact", permission="contacts:read"
)
CHANGE_CONTACT = Operation(
    "changeContact",
    "PATCH",
    "/projects/{projectId}/contacts/{id}",
    "json",
    result="Contact",
    permission="contacts:write",
    body="json",
    media_type="application/json",
)
DELETE_CONTACT = Operation(
    "deleteContact",
    "DELETE",
    "/projects/{projectId}/contacts/{id}",
    "json",
    result="Deleted",
    permission="contacts:write",
)
LIST_AUDIENCES_OF_CONTACT = Operation(
    "listAudiencesOfContact",
    "GET",
    "/projects/{projectId}/contacts/{id}/audiences",
    "json",
    result="string",
    many=True,
    permission="audiences:read",
)
LIST_CONTACT_ATTRIBUTES = Operation(
    "listContactAttributes",
    "GET",
    "/projects/{projectId}/contact-attributes",
    "json",
    result="ContactAttribute",
    page="links",
    permission="contacts:read",
)
CREATE_CONTACT_ATTRIBUTE = Operation(
    "createContactAttribute",
    "POST",
    "/projects/{projectId}/contact-attributes",
    "json",
    result="ContactAttribute",
    permission="contacts:write",
    body="json",
    media_type="application/json",
)
GET_CONTACT_ATTRIBUTE = Operation(
    "getContactAttribute",
    "GET",
    "/projects/{projectId}/contact-attributes/{id}",
    "json",
    result="ContactAttribute",
    permission="contacts:read",
)
CHANGE_CONTACT_ATTRIBUTE = Operation(
    "changeContactAttribute",
    "PATCH",
    "/projects/{projectId}/contact-attributes/{id}",
    "json",
    result="ContactAttribute",
    permission="contacts:write",
    body="json",
    media_type="application/json",
)
DELETE_CONTACT_ATTRIBUTE = Operation(
    "deleteContactAttribute",
    "DELETE",
    "/projects/{projectId}/contact-attributes/{id}",
    "json",
    result="Deleted",
    permission="contacts:write",
)
LIST_AUDIENCES = Operation(
    "listAudiences",
    "GET",
    "/projects/{projectId}/audiences",
    "json",
    result="ListedAudience",
    page="links",
    permission="audiences:read",
)
CREATE_AUDIENCE = Operation(
    "createAudience",
    "POST",
    "/projects/{projectId}/audiences",
    "json",
    result="Audience",
    permission="audiences:write",
    body="json",
    media_type="application/json",
)
GET_AUDIENCE = Operation(
    "getAudience", "GET", "/projects/{projectId}/audiences/{id}", "json", result="Audience", permission="audiences:read"
)
CHANGE_AUDIENCE = Operation(
    "changeAudience",
    "PATCH",
    "/projects/{projectId}/audiences/{id}",
    "json",
    result="Audience",
    permission="audiences:write",
    body="json",
    media_type="application/json",
)
DELETE_AUDIENCE = Operation(
    "deleteAudience",
    "DELETE",
    "/projects/{projectId}/audiences/{id}",
    "json",
    result="Deleted",
    permission="audiences:write",
)
SET_AUDIENCE_RULES = Operation(
    "setAudienceRules",
    "PATCH",
    "/projects/{projectId}/audiences/{id}/rules",
    "json",
    result="AudienceChangeResult",
    permission="audiences:write",
    body="json",
    media_type="application/json",
)
RECOMPUTE_AUDIENCE = Operation(
    "recomputeAudience",
    "POST",
    "/projects/{projectId}/audiences/{id}/recompute",
    "json",
    result="AudienceChangeResult",
    permission="audiences:write",
)
LIST_AUDIENCE_CONTACTS = Operation(
    "listAudienceContacts",
    "GET",
    "/projects/{projectId}/audiences/{id}/contacts",
    "json",
    result="Contact",
    page="pages",
    permission="audiences:read",
)
ADD_CONTACT_TO_AUDIENCE = Operation(
    "addContactToAudience",
    "POST",
    "/projects/{projectId}/audiences/{id}/contacts",
    "json",
    result="AudienceMembership",
    permission="audiences:write",
    body="json",
    media_type="application/json",
)
ADD_EMAIL_TO_AUDIENCE = Operation(
    "addEmailToAudience",
    "POST",
    "/projects/{projectId}/audiences/{id}/contacts/by-email",
    "json",
    result="AudienceMembership",
    permission="audiences:write",
    body="json",
    media_type="application/json",
)
ADD_EMAILS_TO_AUDIENCE = Operation(
    "addEmailsToAudience",
    "POST",
    "/projects/{projectId}/audiences/{id}/contacts/bulk-email",
    "json",
    result="AudienceBulkResult",
    permission="audiences:write",
    body="json",
    media_type="application/json",
)
REMOVE_CONTACT_FROM_AUDIENCE = Operation(
    "removeContactFromAudience",
    "DELETE",
    "/projects/{projectId}/audiences/{id}/contacts/{contactId}",
    "json",
    result="AudienceMembership",
    permission="audiences:write",
)
PREVIEW_AUDIENCE = Operation(
    "previewAudience",
    "POST",
    "/projects/{projectId}/audiences/preview",
    "json",
    result="AudiencePreview",
    permission="audiences:read",
    body="json",
    media_type="application/json",
)
SEND_EMAIL = Operation(
    "sendEmail",
    "POST",
    "/projects/{projectId}/emails",
    "json",
    result="SendResult",
    idempotent=True,
    permission="emails:send",
    body="json",
    media_type="application/json",
)
SEND_EMAIL_BATCH = Operation(
    "sendEmailBatch",
    "POST",
    "/projects/{projectId}/emails/batch",
    "json",
    result="EmailBatchResult",
    idempotent=True,
    permission="emails:send",
    body="json",
    media_type="application/json",
)
GET_EMAIL_LOG = Operation(
    "getEmailLog",
    "GET",
    "/projects/{projectId}/emails/logs/{sendId}",
    "json",
    result="EmailLogEntryDetail",
    permission="emails:read",
)
GET_EMAIL_MESSAGE = Operation(
    "getEmailMessage", "GET", "/projects/{projectId}/emails/logs/{sendId}/message", "bytes", permission="emails:read"
)
LIST_EMAIL_ATTEMPTS = Operation(
    "listEmailAttempts",
    "GET",
    "/projects/{projectId}/emails/logs/{sendId}/attempts",
    "json",
    result="SendAttempt",
    many=True,
    permission="emails:read",
)
LIST_EMAIL_REPORTS = Operation(
    "listEmailReports",
    "GET",
    "/projects/{projectId}/emails/logs/{sendId}/reports",
    "json",
    result="SendReport",
    many=True,
    permission="emails:read",
)
RESCHEDULE_EMAIL = Operation(
    "rescheduleEmail",
    "PATCH",
    "/projects/{projectId}/emails/{sendId}",
    "json",
    result="EmailLogEntry",
    permission="emails:write",
    body="json",
    media_type="application/json",
)
CANCEL_EMAIL = Operation(
    "cancelEmail",
    "POST",
    "/projects/{projectId}/emails/{sendId}/cancel",
    "json",
    result="EmailLogEntry",
    permission="emails:write",
)
RETRY_EMAIL = Operation(
    "retryEmail",
    "POST",
    "/projects/{projectId}/emails/{sendId}/retry",
    "json",
    result="EmailLogEntry",
    permission="emails:write",
)
PREFLIGHT_EMAIL = Operation(
    "preflightEmail",
    "POST",
    "/projects/{projectId}/emails/preflight",
    "json",
    result="Preflight",
    permission="emails:send",
    body="json",
    media_type="application/json",
)
LIST_EMAIL_LOGS = Operation(
    "listEmailLogs",
    "GET",
    "/projects/{projectId}/emails/logs",
    "json",
    result="EmailLogEntry",
    page="pages",
    permission="emails:read",
)
EXPORT_EMAIL_LOGS = Operation(
    "exportEmailLogs", "GET", "/projects/{projectId}/emails/logs/export", "text", permission="emails:read"
)
LIST_SUPPRESSIONS = Operation(
    "listSuppressions",
    "GET",
    "/projects/{projectId}/suppressions",
    "json",
    result="Suppression",
    page="pages",
    permission="emails:read",
)
ADD_SUPPRESSION = Operation(
    "addSuppression",
    "POST",
    "/projects/{projectId}/suppressions",
    "json",
    result="Suppression",
    permission="emails:write",
    body="json",
    media_type="application/json",
)
EXPORT_SUPPRESSIONS = Operation(
    "exportSuppressions", "GET", "/projects/{projectId}/suppressions/export", "text", permission="emails:read"
)
ADD_SUPPRESSIONS_IN_BULK = Operation(
    "addSuppressionsInBulk",
    "POST",
    "/projects/{projectId}/suppressions/bulk",
    "json",
    result="SuppressionBulkResult",
    permission="emails:write",
    body="json",
    media_type="application/json",
)
GET_SUPPRESSION = Operation(
    "getSuppression",
    "GET",
    "/projects/{projectId}/suppressions/{address}",
    "json",
    result="Suppression",
    permission="emails:read",
)
REMOVE_SUPPRESSION = Operation(
    "removeSuppression",
    "DELETE",
    "/projects/{projectId}/suppressions/{address}",
    "json",
    result="Suppression",
    permission="emails:write",
)
LIST_DELIVERY_SITES = Operation(
    "listDeliverySites",
    "GET",
    "/projects/{projectId}/delivery/sites",
    "json",
    result="DeliverySite",
    page="links",
    permission="emails:read",
)
GET_DELIVERY_SITE = Operation(
    "getDeliverySite",
    "GET",
    "/projects/{projectId}/delivery/sites/{site}",
    "json",
    result="DeliverySite",
    permission="emails:read",
)
SUSPEND_DELIVERY_SITE = Operation(
    "suspendDeliverySite",
    "POST",
    "/projects/{projectId}/delivery/sites/{site}/suspend",
    "json",
    result="DeliverySite",
    permission="emails:write",
    body="json",
    media_type="application/json",
)
RESUME_DELIVERY_SITE = Operation(
    "resumeDeliverySite",
    "POST",
    "/projects/{projectId}/delivery/sites/{site}/resume",
    "json",
    result="DeliverySite",
    permission="emails:write",
)
BOUNCE_DELIVERY_SITE = Operation(
    "bounceDeliverySite",
    "POST",
    "/projects/{projectId}/delivery/sites/{site}/bounce",
    "json",
    result="DeliverySite",
    permission="emails:write",
    body="json",
    media_type="application/json",
)
GET_DOMAIN_REPUTATION = Operation(
    "getDomainReputation",
    "GET",
    "/projects/{projectId}/domains/{domainId}/reputation",
    "json",
    result="Reputation",
    permission="domains:read",
)
RELEASE_DOMAIN_REPUTATION = Operation(
    "releaseDomainReputation",
    "POST",
    "/projects/{projectId}/domains/{domainId}/reputation/release",
    "json",
    result="Reputation",
    permission="domains:write",
    body="json",
    media_type="application/json",
)
PUT_DOMAIN_WARM_UP = Operation(
    "putDomainWarmUp",
    "PUT",
    "/projects/{projectId}/domains/{domainId}/warm-up",
    "json",
    result="WarmUp",
    permission="domains:write",
    body="json",
    media_type="application/json",
)
GET_DOMAIN_WARM_UP = Operation(
    "getDomainWarmUp",
    "GET",
    "/projects/{projectId}/domains/{domainId}/warm-up",
    "json",
    result="WarmUp",
    permission="domains:read",
)
DELETE_DOMAIN_WARM_UP = Operation(
    "deleteDomainWarmUp",
    "DELETE",
    "/projects/{projectId}/domains/{domainId}/warm-up",
    "json",
    result="Deleted",
    permission="domains:write",
)
LIST_DOMAIN_CERTIFICATES = Operation(
    "listDomainCertificates",
    "GET",
    "/projects/{projectId}/domains/{id}/certificates",
    "json",
    result="DomainCertificate",
    many=True,
    permission="domains:read",
)
GET_PAGES_DOMAIN = Operation(
    "getPagesDomain",
    "GET",
    "/projects/{projectId}/pages-domain",
    "json",
    result="PagesDomainStatus",
    permission="projects:read",
)
LIST_CUSTOMERS = Operation(
    "listCustomers",
    "GET",
    "/projects/{projectId}/customers",
    "json",
    result="Customer",
    page="pages",
    permission="customers:read",
)
CREATE_CUSTOMER = Operation(
    "createCustomer",
    "POST",
    "/projects/{projectId}/customers",
    "json",
    result="Customer",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
IMPORT_CUSTOMERS = Operation(
    "importCustomers",
    "POST",
    "/projects/{projectId}/customers/import",
    "json",
    result="CustomerImportResult",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
GET_CUSTOMER_STATS = Operation(
    "getCustomerStats",
    "GET",
    "/projects/{projectId}/customers/stats",
    "json",
    result="CustomerStats",
    permission="customers:read",
)
EXPORT_CUSTOMERS = Operation(
    "exportCustomers", "GET", "/projects/{projectId}/customers/export", "text", permission="customers:read"
)
GET_CUSTOMER = Operation(
    "getCustomer", "GET", "/projects/{projectId}/customers/{id}", "json", result="Customer", permission="customers:read"
)
DELETE_CUSTOMER = Operation(
    "deleteCustomer",
    "DELETE",
    "/projects/{projectId}/customers/{id}",
    "json",
    result="Customer",
    permission="customers:write",
)
CHANGE_CUSTOMER = Operation(
    "changeCustomer",
    "PATCH",
    "/projects/{projectId}/customers/{id}",
    "json",
    result="Customer",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
GET_CUSTOMER_TIMELINE = Operation(
    "getCustomerTimeline",
    "GET",
    "/projects/{projectId}/customers/{id}/timeline",
    "json",
    result="TimelineEntry",
    page="cursor",
    permission="customers:read",
)
LIST_CUSTOMER_EVENTS = Operation(
    "listCustomerEvents",
    "GET",
    "/projects/{projectId}/customers/{id}/events",
    "json",
    result="CustomerEvent",
    page="cursor",
    permission="customers:read",
)
LIST_CUSTOMER_AUDIT_LOG = Operation(
    "listCustomerAuditLog",
    "GET",
    "/projects/{projectId}/customers/{id}/audit-log",
    "json",
    result="AuditEntry",
    page="pages",
    permission="customers:read",
)
BAN_CUSTOMER = Operation(
    "banCustomer",
    "POST",
    "/projects/{projectId}/customers/{id}/ban",
    "json",
    result="Customer",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
UNBAN_CUSTOMER = Operation(
    "unbanCustomer",
    "POST",
    "/projects/{projectId}/customers/{id}/unban",
    "json",
    result="Customer",
    permission="customers:write",
)
UNLOCK_CUSTOMER = Operation(
    "unlockCustomer",
    "POST",
    "/projects/{projectId}/customers/{id}/unlock",
    "json",
    result="Customer",
    permission="customers:write",
)
REVOKE_CUSTOMER_SESSION = Operation(
    "revokeCustomerSession",
    "POST",
    "/projects/{projectId}/customers/{id}/sessions/{sessionId}/revoke",
    "empty",
    permission="customers:write",
)
REVOKE_CUSTOMER_SESSIONS = Operation(
    "revokeCustomerSessions",
    "POST",
    "/projects/{projectId}/customers/{id}/sessions/revoke-all",
    "empty",
    permission="customers:write",
)
RESET_CUSTOMER_MFA = Operation(
    "resetCustomerMfa", "POST", "/projects/{projectId}/customers/{id}/mfa/reset", "empty", permission="customers:write"
)
CHANGE_CUSTOMER_METADATA = Operation(
    "changeCustomerMetadata",
    "PATCH",
    "/projects/{projectId}/customers/{id}/metadata",
    "json",
    result="Customer",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
ADD_CUSTOMER_ROLES = Operation(
    "addCustomerRoles",
    "PATCH",
    "/projects/{projectId}/customers/{id}/roles",
    "json",
    result="Customer",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
REPLACE_CUSTOMER_ROLES = Operation(
    "replaceCustomerRoles",
    "PUT",
    "/projects/{projectId}/customers/{id}/roles",
    "json",
    result="Customer",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
LINK_CUSTOMER = Operation(
    "linkCustomer",
    "POST",
    "/projects/{projectId}/customers/link",
    "json",
    result="CustomerLinkResult",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
LIST_CUSTOMERS_OF_APP = Operation(
    "listCustomersOfApp",
    "GET",
    "/apps/{appId}/end-users",
    "json",
    result="EndUser",
    page="pages",
    permission="customers:read",
)
GET_CUSTOMER_STATS_OF_APP = Operation(
    "getCustomerStatsOfApp",
    "GET",
    "/apps/{appId}/end-users/stats",
    "json",
    result="CustomerStats",
    permission="customers:read",
)
EXPORT_CUSTOMERS_OF_APP = Operation(
    "exportCustomersOfApp", "GET", "/apps/{appId}/end-users/export", "text", permission="customers:read"
)
GET_CUSTOMER_OF_APP = Operation(
    "getCustomerOfApp", "GET", "/apps/{appId}/end-users/{id}", "json", result="EndUser", permission="customers:read"
)
DELETE_CUSTOMER_OF_APP = Operation(
    "deleteCustomerOfApp",
    "DELETE",
    "/apps/{appId}/end-users/{id}",
    "json",
    result="EndUser",
    permission="customers:write",
)
LIST_CUSTOMER_AUDIT_LOG_OF_APP = Operation(
    "listCustomerAuditLogOfApp",
    "GET",
    "/apps/{appId}/end-users/{id}/audit-log",
    "json",
    result="AuditEntry",
    page="pages",
    permission="customers:read",
)
BAN_CUSTOMER_OF_APP = Operation(
    "banCustomerOfApp",
    "POST",
    "/apps/{appId}/end-users/{id}/ban",
    "json",
    result="EndUser",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
UNBAN_CUSTOMER_OF_APP = Operation(
    "unbanCustomerOfApp",
    "POST",
    "/apps/{appId}/end-users/{id}/unban",
    "json",
    result="EndUser",
    permission="customers:write",
)
UNLOCK_CUSTOMER_OF_APP = Operation(
    "unlockCustomerOfApp",
    "POST",
    "/apps/{appId}/end-users/{id}/unlock",
    "json",
    result="EndUser",
    permission="customers:write",
)
REVOKE_CUSTOMER_SESSION_OF_APP = Operation(
    "revokeCustomerSessionOfApp",
    "POST",
    "/apps/{appId}/end-users/{id}/sessions/{sessionId}/revoke",
    "empty",
    permission="customers:write",
)
REVOKE_CUSTOMER_SESSIONS_OF_APP = Operation(
    "revokeCustomerSessionsOfApp",
    "POST",
    "/apps/{appId}/end-users/{id}/sessions/revoke-all",
    "empty",
    permission="customers:write",
)
RESET_CUSTOMER_MFA_OF_APP = Operation(
    "resetCustomerMfaOfApp", "POST", "/apps/{appId}/end-users/{id}/mfa/reset", "empty", permission="customers:write"
)
CHANGE_CUSTOMER_METADATA_OF_APP = Operation(
    "changeCustomerMetadataOfApp",
    "PATCH",
    "/apps/{appId}/end-users/{id}/metadata",
    "json",
    result="EndUser",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
ADD_CUSTOMER_ROLES_OF_APP = Operation(
    "addCustomerRolesOfApp",
    "PATCH",
    "/apps/{appId}/end-users/{id}/roles",
    "json",
    result="EndUser",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
LIST_SIGNING_KEYS = Operation(
    "listSigningKeys", "GET", "/projects/{projectId}/.well-known/jwks.json", "json", result="object"
)
ROTATE_SIGNING_KEYS = Operation(
    "rotateSigningKeys", "POST", "/projects/{projectId}/auth/signing-keys/rotate", "empty", permission="projects:write"
)
REFRESH_CUSTOMER_TOKENS = Operation(
    "refreshCustomerTokens",
    "POST",
    "/projects/{projectId}/auth/token/refresh",
    "json",
    result="CustomerTokens",
    body="json",
    media_type="application/json",
)
SIGN_OUT_CUSTOMER = Operation("signOutCustomer", "POST", "/projects/{projectId}/auth/sign-out", "empty")
GET_CURRENT_CUSTOMER = Operation(
    "getCurrentCustomer", "GET", "/projects/{projectId}/auth/me", "json", result="CurrentCustomer"
)
CHANGE_CURRENT_CUSTOMER = Operation(
    "changeCurrentCustomer",
    "PATCH",
    "/projects/{projectId}/auth/me",
    "json",
    result="CurrentCustomer",
    body="json",
    media_type="application/json",
)
DELETE_CURRENT_CUSTOMER = Operation("deleteCurrentCustomer", "DELETE", "/projects/{projectId}/auth/me", "empty")
LIST_MY_PERMISSIONS = Operation(
    "listMyPermissions", "GET", "/projects/{projectId}/auth/permissions", "json", result="MyPermissions"
)
LIST_MY_SESSIONS = Operation(
    "listMySessions", "GET", "/projects/{projectId}/auth/sessions", "json", result="OwnSession", many=True
)
REVOKE_MY_SESSION = Operation("revokeMySession", "DELETE", "/projects/{projectId}/auth/sessions/{sessionId}", "empty")
REVOKE_MY_OTHER_SESSIONS = Operation(
    "revokeMyOtherSessions", "POST", "/projects/{projectId}/auth/sessions/revoke-others", "empty"
)
SIGN_UP_CUSTOMER = Operation(
    "signUpCustomer",
    "POST",
    "/projects/{projectId}/auth/sign-up",
    "json",
    result="CustomerSignUpResult",
    body="json",
    media_type="application/json",
)
RESEND_SIGN_UP_CODE = Operation(
    "resendSignUpCode",
    "POST",
    "/projects/{projectId}/auth/sign-up/resend",
    "json",
    result="ChallengeSent",
    body="json",
    media_type="application/json",
)
VERIFY_SIGN_UP = Operation(
    "verifySignUp",
    "POST",
    "/projects/{projectId}/auth/sign-up/verify",
    "json",
    result="CustomerSignInResult",
    body="json",
    media_type="application/json",
)
SIGN_IN_CUSTOMER = Operation(
    "signInCustomer",
    "POST",
    "/projects/{projectId}/auth/sign-in",
    "json",
    result="CustomerSignInResult",
    body="json",
    media_type="application/json",
)
REQUEST_SIGN_IN_CODE = Operation(
    "requestSignInCode",
    "POST",
    "/projects/{projectId}/auth/sign-in/code",
    "json",
    result="ChallengeSent",
    body="json",
    media_type="application/json",
)
SIGN_IN_WITH_CODE = Operation(
    "signInWithCode",
    "POST",
    "/projects/{projectId}/auth/sign-in/code/verify",
    "json",
    result="CustomerSignInResult",
    body="json",
    media_type="application/json",
)
REQUEST_SIGN_IN_LINK = Operation(
    "requestSignInLink",
    "POST",
    "/projects/{projectId}/auth/sign-in/link",
    "empty",
    body="json",
    media_type="application/json",
)
SIGN_IN_WITH_LINK = Operation(
    "signInWithLink",
    "POST",
    "/projects/{projectId}/auth/sign-in/link/verify",
    "json",
    result="CustomerSignInResult",
    body="json",
    media_type="application/json",
)
ACCEPT_TERMS = Operation(
    "acceptTerms",
    "POST",
    "/projects/{projectId}/auth/terms/accept",
    "json",
    result="CustomerSignInResult",
    body="json",
    media_type="application/json",
)
LIST_ACCEPTED_TERMS = Operation(
    "listAcceptedTerms",
    "GET",
    "/projects/{projectId}/customers/{id}/terms",
    "json",
    result="TermsAcceptance",
    many=True,
    permission="customers:read",
)
REQUEST_PASSWORD_RESET = Operation(
    "requestPasswordReset",
    "POST",
    "/projects/{projectId}/auth/password/forgot",
    "empty",
    body="json",
    media_type="application/json",
)
RESET_PASSWORD = Operation(
    "resetPassword",
    "POST",
    "/projects/{projectId}/auth/password/reset",
    "empty",
    body="json",
    media_type="application/json",
)
CHANGE_CUSTOMER_PASSWORD = Operation(
    "changeCustomerPassword",
    "POST",
    "/projects/{projectId}/auth/password/change",
    "empty",
    body="json",
    media_type="application/json",
)
REQUEST_EMAIL_VERIFICATION = Operation(
    "requestEmailVerification", "POST", "/projects/{projectId}/auth/verify-email/send", "json", result="ChallengeSent"
)
REQUEST_EMAIL_CHANGE = Operation(
    "requestEmailChange",
    "POST",
    "/projects/{projectId}/auth/email/change",
    "json",
    result="ChallengeSent",
    body="json",
    media_type="application/json",
)
VERIFY_EMAIL = Operation(
    "verifyEmail",
    "POST",
    "/projects/{projectId}/auth/verify-email",
    "json",
    result="CurrentCustomer",
    body="json",
    media_type="application/json",
)
ENROL_TOTP = Operation(
    "enrolTotp", "POST", "/projects/{projectId}/auth/mfa/totp/enroll", "json", result="TotpEnrolment"
)
CONFIRM_TOTP = Operation(
    "confirmTotp",
    "POST",
    "/projects/{projectId}/auth/mfa/totp/confirm",
    "json",
    result="CustomerRecoveryCodes",
    body="json",
    media_type="application/json",
)
BEGIN_REQUIRED_TOTP = Operation(
    "beginRequiredTotp",
    "POST",
    "/projects/{projectId}/auth/mfa/enroll",
    "json",
    result="TotpEnrolment",
    body="json",
    media_type="application/json",
)
CONFIRM_REQUIRED_TOTP = Operation(
    "confirmRequiredTotp",
    "POST",
    "/projects/{projectId}/auth/mfa/enroll/confirm",
    "json",
    result="EnrolledSignIn",
    body="json",
    media_type="application/json",
)
DISABLE_TOTP = Operation(
    "disableTotp",
    "POST",
    "/projects/{projectId}/auth/mfa/totp/disable",
    "empty",
    body="json",
    media_type="application/json",
)
RENEW_RECOVERY_CODES = Operation(
    "renewRecoveryCodes",
    "POST",
    "/projects/{projectId}/auth/recovery-codes",
    "json",
    result="CustomerRecoveryCodes",
    body="json",
    media_type="application/json",
)
VERIFY_SECOND_FACTOR = Operation(
    "verifySecondFactor",
    "POST",
    "/projects/{projectId}/auth/mfa/verify",
    "json",
    result="CustomerSignInResult",
    body="json",
    media_type="application/json",
)
BEGIN_PASSKEY_REGISTRATION = Operation(
    "beginPasskeyRegistration",
    "POST",
    "/projects/{projectId}/auth/passkeys/register/options",
    "json",
    result="PasskeyOptions",
)
ADD_PASSKEY = Operation(
    "addPasskey",
    "POST",
    "/projects/{projectId}/auth/passkeys/register",
    "json",
    result="Passkey",
    body="json",
    media_type="application/json",
)
LIST_PASSKEYS = Operation(
    "listPasskeys", "GET", "/projects/{projectId}/auth/passkeys", "json", result="Passkey", many=True
)
RENAME_PASSKEY = Operation(
    "renamePasskey",
    "PATCH",
    "/projects/{projectId}/auth/passkeys/{id}",
    "json",
    result="Passkey",
    body="json",
    media_type="application/json",
)
REMOVE_PASSKEY = Operation("removePasskey", "DELETE", "/projects/{projectId}/auth/passkeys/{id}", "empty")
BEGIN_PASSKEY_SIGN_IN = Operation(
    "beginPasskeySignIn", "POST", "/projects/{projectId}/auth/passkeys/sign-in/options", "json", result="PasskeyOptions"
)
SIGN_IN_WITH_PASSKEY = Operation(
    "signInWithPasskey",
    "POST",
    "/projects/{projectId}/auth/passkeys/sign-in",
    "json",
    result="CustomerSignInResult",
    body="json",
    media_type="application/json",
)
GET_STEP_UP_OPTIONS = Operation(
    "getStepUpOptions", "GET", "/projects/{projectId}/auth/step-up", "json", result="StepUpOptions"
)
STEP_UP = Operation(
    "stepUp",
    "POST",
    "/projects/{projectId}/auth/step-up",
    "json",
    result="SteppedUpSession",
    body="json",
    media_type="application/json",
)
REQUEST_STEP_UP_CODE = Operation(
    "requestStepUpCode", "POST", "/projects/{projectId}/auth/step-up/email-code", "json", result="ChallengeSent"
)
BEGIN_PASSKEY_STEP_UP = Operation(
    "beginPasskeyStepUp", "POST", "/projects/{projectId}/auth/step-up/passkey-options", "json", result="PasskeyOptions"
)
LIST_REMEMBERED_DEVICES = Operation(
    "listRememberedDevices",
    "GET",
    "/projects/{projectId}/auth/remembered-devices",
    "json",
    result="MyRememberedDevice",
    many=True,
)
FORGET_REMEMBERED_DEVICE = Operation(
    "forgetRememberedDevice", "DELETE", "/projects/{projectId}/auth/remembered-devices/{id}", "empty"
)
LIST_SIGN_IN_HOOKS = Operation(
    "listSignInHooks",
    "GET",
    "/projects/{projectId}/sign-in-hooks",
    "json",
    result="SignInHook",
    many=True,
    permission="projects:read",
)
CREATE_SIGN_IN_HOOK = Operation(
    "createSignInHook",
    "POST",
    "/projects/{projectId}/sign-in-hooks",
    "json",
    result="SignInHookWithSecret",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
GET_SIGN_IN_HOOK = Operation(
    "getSignInHook",
    "GET",
    "/projects/{projectId}/sign-in-hooks/{kind}",
    "json",
    result="SignInHook",
    permission="projects:read",
)
CHANGE_SIGN_IN_HOOK = Operation(
    "changeSignInHook",
    "PATCH",
    "/projects/{projectId}/sign-in-hooks/{kind}",
    "json",
    result="SignInHook",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
DELETE_SIGN_IN_HOOK = Operation(
    "deleteSignInHook",
    "DELETE",
    "/projects/{projectId}/sign-in-hooks/{kind}",
    "json",
    result="SignInHook",
    permission="projects:write",
)
ROTATE_SIGN_IN_HOOK_SECRET = Operation(
    "rotateSignInHookSecret",
    "POST",
    "/projects/{projectId}/sign-in-hooks/{kind}/rotate-secret",
    "json",
    result="SignInHookWithSecret",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
TEST_SIGN_IN_HOOK = Operation(
    "testSignInHook",
    "POST",
    "/projects/{projectId}/sign-in-hooks/{kind}/test",
    "json",
    result="SignInHookTest",
    permission="projects:write",
)
IMPERSONATE_CUSTOMER = Operation(
    "impersonateCustomer",
    "POST",
    "/projects/{projectId}/customers/{id}/impersonate",
    "json",
    result="CustomerSignInResult",
    permission="customers:impersonate",
    body="json",
    media_type="application/json",
)
CREATE_IMPERSONATION_LINK = Operation(
    "createImpersonationLink",
    "POST",
    "/projects/{projectId}/customers/{id}/impersonation-links",
    "json",
    result="CreatedImpersonationLink",
    permission="customers:impersonate",
    body="json",
    media_type="application/json",
)
IMPERSONATION_PAGE = Operation(
    "impersonationPage", "GET", "/projects/{projectId}/auth/pages/impersonation-link", "text"
)
IMPERSONATE_BY_PAGE = Operation(
    "impersonateByPage",
    "POST",
    "/projects/{projectId}/auth/pages/impersonation-link",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
DENIED_SIGN_IN_PAGE = Operation("deniedSignInPage", "GET", "/projects/{projectId}/auth/pages/not-me", "text")
DENY_SIGN_IN_BY_PAGE = Operation(
    "denySignInByPage",
    "POST",
    "/projects/{projectId}/auth/pages/not-me",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
LIST_PROVIDERS = Operation(
    "listProviders",
    "GET",
    "/projects/{projectId}/auth/providers",
    "json",
    result="SignInProvider",
    many=True,
    permission="projects:read",
)
SET_PROVIDER = Operation(
    "setProvider",
    "PUT",
    "/projects/{projectId}/auth/providers/{key}",
    "json",
    result="SignInProvider",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
DELETE_PROVIDER = Operation(
    "deleteProvider",
    "DELETE",
    "/projects/{projectId}/auth/providers/{key}",
    "json",
    result="Deleted",
    permission="projects:write",
)
START_PROVIDER = Operation("startProvider", "GET", "/projects/{projectId}/auth/providers/{key}/start", "redirect")
PROVIDER_CALLBACK = Operation("providerCallback", "GET", "/projects/{projectId}/auth/providers/callback", "redirect")
PROVIDER_CALLBACK_BY_FORM = Operation(
    "providerCallbackByForm",
    "POST",
    "/projects/{projectId}/auth/providers/callback",
    "redirect",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
EXCHANGE_AUTHORIZATION_CODE = Operation(
    "exchangeAuthorizationCode",
    "POST",
    "/projects/{projectId}/auth/token",
    "json",
    result="CustomerSignInResult",
    body="json",
    media_type="application/json",
)
BEGIN_IDENTITY_LINK = Operation(
    "beginIdentityLink",
    "POST",
    "/projects/{projectId}/auth/identities/{key}/link",
    "json",
    result="IdentityLinkStart",
    body="json",
    media_type="application/json",
)
FINISH_IDENTITY_LINK = Operation(
    "finishIdentityLink",
    "POST",
    "/projects/{projectId}/auth/identities",
    "json",
    result="CurrentCustomer",
    body="json",
    media_type="application/json",
)
UNLINK_IDENTITY = Operation("unlinkIdentity", "DELETE", "/projects/{projectId}/auth/identities/{key}", "empty")
LIST_IDENTITY_REQUESTS = Operation(
    "listIdentityRequests",
    "GET",
    "/projects/{projectId}/identity-requests",
    "json",
    result="IdentityRequest",
    page="links",
    permission="customers:read",
)
APPROVE_IDENTITY_REQUEST = Operation(
    "approveIdentityRequest",
    "POST",
    "/projects/{projectId}/identity-requests/{id}/approve",
    "json",
    result="IdentityRequest",
    permission="customers:write",
)
REJECT_IDENTITY_REQUEST = Operation(
    "rejectIdentityRequest",
    "POST",
    "/projects/{projectId}/identity-requests/{id}/reject",
    "json",
    result="IdentityRequest",
    permission="customers:write",
)
PAGE_STYLE = Operation("pageStyle", "GET", "/projects/{projectId}/auth/pages/style.css", "text")
SIGN_IN_PAGE = Operation("signInPage", "GET", "/projects/{projectId}/auth/pages/sign-in", "text")
SIGN_IN_BY_PAGE = Operation(
    "signInByPage",
    "POST",
    "/projects/{projectId}/auth/pages/sign-in",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
SIGN_UP_PAGE = Operation("signUpPage", "GET", "/projects/{projectId}/auth/pages/sign-up", "text")
SIGN_UP_BY_PAGE = Operation(
    "signUpByPage",
    "POST",
    "/projects/{projectId}/auth/pages/sign-up",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
RESEND_SIGN_UP_CODE_BY_PAGE = Operation(
    "resendSignUpCodeByPage",
    "POST",
    "/projects/{projectId}/auth/pages/sign-up/resend",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
VERIFY_SIGN_UP_BY_PAGE = Operation(
    "verifySignUpByPage",
    "POST",
    "/projects/{projectId}/auth/pages/sign-up/verify",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
ASK_FOR_CODE_BY_PAGE = Operation(
    "askForCodeByPage",
    "POST",
    "/projects/{projectId}/auth/pages/code",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
SIGN_ON_BY_PAGE = Operation(
    "signOnByPage",
    "POST",
    "/projects/{projectId}/auth/pages/sso",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
SIGN_IN_WITH_CODE_BY_PAGE = Operation(
    "signInWithCodeByPage",
    "POST",
    "/projects/{projectId}/auth/pages/code/verify",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
SECOND_FACTOR_BY_PAGE = Operation(
    "secondFactorByPage",
    "POST",
    "/projects/{projectId}/auth/pages/mfa",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
SECOND_FACTOR_PAGE = Operation("secondFactorPage", "GET", "/projects/{projectId}/auth/pages/mfa", "text")
SET_UP_SECOND_FACTOR_BY_PAGE = Operation(
    "setUpSecondFactorByPage",
    "POST",
    "/projects/{projectId}/auth/pages/mfa/enroll",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
LEAVE_RECOVERY_CODES_BY_PAGE = Operation(
    "leaveRecoveryCodesByPage",
    "POST",
    "/projects/{projectId}/auth/pages/mfa/enroll/done",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
TERMS_PAGE = Operation("termsPage", "GET", "/projects/{projectId}/auth/pages/terms", "text")
ACCEPT_TERMS_BY_PAGE = Operation(
    "acceptTermsByPage",
    "POST",
    "/projects/{projectId}/auth/pages/terms",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
CONTINUE_ON_PAGE = Operation("continueOnPage", "GET", "/projects/{projectId}/auth/pages/continue", "text")
PASSKEY_OPTIONS_FOR_PAGE = Operation(
    "passkeyOptionsForPage",
    "POST",
    "/projects/{projectId}/auth/pages/passkey/options",
    "json",
    result="PasskeyOptions",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
SIGN_IN_WITH_PASSKEY_BY_PAGE = Operation(
    "signInWithPasskeyByPage",
    "POST",
    "/projects/{projectId}/auth/pages/passkey",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
ADD_PASSKEY_BY_PAGE = Operation(
    "addPasskeyByPage",
    "POST",
    "/projects/{projectId}/auth/pages/passkey/add",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
SKIP_PASSKEY_BY_PAGE = Operation(
    "skipPasskeyByPage",
    "POST",
    "/projects/{projectId}/auth/pages/passkey/skip",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
FORGOT_PAGE = Operation("forgotPage", "GET", "/projects/{projectId}/auth/pages/forgot", "text")
FORGET_PASSWORD_BY_PAGE = Operation(
    "forgetPasswordByPage",
    "POST",
    "/projects/{projectId}/auth/pages/forgot",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
RESET_PAGE = Operation("resetPage", "GET", "/projects/{projectId}/auth/pages/reset", "text")
RESET_PASSWORD_BY_PAGE = Operation(
    "resetPasswordByPage",
    "POST",
    "/projects/{projectId}/auth/pages/reset",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
LIST_CUSTOMER_MAILS = Operation(
    "listCustomerMails",
    "GET",
    "/projects/{projectId}/customer-mails",
    "json",
    result="CustomerMail",
    many=True,
    permission="projects:read",
)
GET_CUSTOMER_MAIL = Operation(
    "getCustomerMail",
    "GET",
    "/projects/{projectId}/customer-mails/{mail}/{language}",
    "json",
    result="MailText",
    permission="projects:read",
)
SET_CUSTOMER_MAIL = Operation(
    "setCustomerMail",
    "PUT",
    "/projects/{projectId}/customer-mails/{mail}/{language}",
    "json",
    result="MailText",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
RESET_CUSTOMER_MAIL = Operation(
    "resetCustomerMail",
    "DELETE",
    "/projects/{projectId}/customer-mails/{mail}/{language}",
    "json",
    result="MailText",
    permission="projects:write",
)
LIST_CUSTOMER_MAIL_VERSIONS = Operation(
    "listCustomerMailVersions",
    "GET",
    "/projects/{projectId}/customer-mails/{mail}/{language}/versions",
    "json",
    result="MailTextVersion",
    many=True,
    permission="projects:read",
)
RESTORE_CUSTOMER_MAIL = Operation(
    "restoreCustomerMail",
    "POST",
    "/projects/{projectId}/customer-mails/{mail}/{language}/restore",
    "json",
    result="MailText",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
PREVIEW_CUSTOMER_MAIL = Operation(
    "previewCustomerMail",
    "POST",
    "/projects/{projectId}/customer-mails/{mail}/{language}/preview",
    "json",
    result="CustomerMailPreview",
    permission="projects:read",
    body="json",
    media_type="application/json",
)
TEST_CUSTOMER_MAIL = Operation(
    "testCustomerMail",
    "POST",
    "/projects/{projectId}/customer-mails/{mail}/{language}/test",
    "json",
    result="MailTestSent",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
LIST_PAGE_TEXTS = Operation(
    "listPageTexts",
    "GET",
    "/projects/{projectId}/page-texts/{language}",
    "json",
    result="PageText",
    many=True,
    permission="projects:read",
)
SET_PAGE_TEXT = Operation(
    "setPageText",
    "PUT",
    "/projects/{projectId}/page-texts/{language}/{textId}",
    "json",
    result="PageText",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
RESET_PAGE_TEXT = Operation(
    "resetPageText",
    "DELETE",
    "/projects/{projectId}/page-texts/{language}/{textId}",
    "empty",
    permission="projects:write",
)
LIST_ALL_SSO_CONNECTIONS = Operation(
    "listAllSsoConnections",
    "GET",
    "/projects/{projectId}/b2b/sso-connections",
    "json",
    result="SsoConnectionWithOrganization",
    page="links",
    permission="sso:read",
)
LIST_SSO_CONNECTIONS = Operation(
    "listSsoConnections",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections",
    "json",
    result="SsoConnection",
    page="links",
    permission="sso:read",
)
CREATE_SSO_CONNECTION = Operation(
    "createSsoConnection",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections",
    "json",
    result="SsoConnection",
    permission="sso:write",
    body="json",
    media_type="application/json",
)
GET_SSO_CONNECTION = Operation(
    "getSsoConnection",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}",
    "json",
    result="SsoConnection",
    permission="sso:read",
)
CHANGE_SSO_CONNECTION = Operation(
    "changeSsoConnection",
    "PATCH",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}",
    "json",
    result="SsoConnection",
    permission="sso:write",
    body="json",
    media_type="application/json",
)
DELETE_SSO_CONNECTION = Operation(
    "deleteSsoConnection",
    "DELETE",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}",
    "json",
    result="Removed",
    permission="sso:write",
)
GET_SSO_METADATA = Operation(
    "getSsoMetadata",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/metadata.xml",
    "text",
    permission="sso:read",
)
ACTIVATE_SSO_CONNECTION = Operation(
    "activateSsoConnection",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/activate",
    "json",
    result="SsoConnection",
    permission="sso:write",
)
DEACTIVATE_SSO_CONNECTION = Operation(
    "deactivateSsoConnection",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/deactivate",
    "json",
    result="SsoConnection",
    permission="sso:write",
)
ROTATE_SSO_CERTIFICATE = Operation(
    "rotateSsoCertificate",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/rotate-certificate",
    "json",
    result="SsoConnection",
    permission="sso:write",
)
TEST_SSO_CONNECTION = Operation(
    "testSsoConnection",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/test",
    "json",
    result="SsoTest",
    permission="sso:write",
)
LIST_SSO_TRACES = Operation(
    "listSsoTraces",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/traces",
    "json",
    result="SsoTrace",
    page="links",
    permission="sso:read",
)
LIST_SSO_CONNECTIONS_OF_APP = Operation(
    "listSsoConnectionsOfApp",
    "GET",
    "/apps/{appId}/organizations/{id}/sso-connections",
    "json",
    result="AppSsoConnection",
    page="links",
    permission="sso:read",
)
CREATE_SSO_CONNECTION_OF_APP = Operation(
    "createSsoConnectionOfApp",
    "POST",
    "/apps/{appId}/organizations/{id}/sso-connections",
    "json",
    result="AppSsoConnection",
    permission="sso:write",
    body="json",
    media_type="application/json",
)
GET_SSO_CONNECTION_OF_APP = Operation(
    "getSsoConnectionOfApp",
    "GET",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}",
    "json",
    result="AppSsoConnection",
    permission="sso:read",
)
CHANGE_SSO_CONNECTION_OF_APP = Operation(
    "changeSsoConnectionOfApp",
    "PATCH",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}",
    "json",
    result="AppSsoConnection",
    permission="sso:write",
    body="json",
    media_type="application/json",
)
DELETE_SSO_CONNECTION_OF_APP = Operation(
    "deleteSsoConnectionOfApp",
    "DELETE",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}",
    "json",
    result="Removed",
    permission="sso:write",
)
GET_SSO_METADATA_OF_APP = Operation(
    "getSsoMetadataOfApp",
    "GET",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}/metadata.xml",
    "text",
    permission="sso:read",
)
ACTIVATE_SSO_CONNECTION_OF_APP = Operation(
    "activateSsoConnectionOfApp",
    "POST",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}/activate",
    "json",
    result="AppSsoConnection",
    permission="sso:write",
)
DEACTIVATE_SSO_CONNECTION_OF_APP = Operation(
    "deactivateSsoConnectionOfApp",
    "POST",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}/deactivate",
    "json",
    result="AppSsoConnection",
    permission="sso:write",
)
ROTATE_SSO_CERTIFICATE_OF_APP = Operation(
    "rotateSsoCertificateOfApp",
    "POST",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}/rotate-certificate",
    "json",
    result="AppSsoConnection",
    permission="sso:write",
)
TEST_SSO_CONNECTION_OF_APP = Operation(
    "testSsoConnectionOfApp",
    "POST",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}/test",
    "json",
    result="SsoTest",
    permission="sso:write",
)
LIST_SSO_TRACES_OF_APP = Operation(
    "listSsoTracesOfApp",
    "GET",
    "/apps/{appId}/organizations/{id}/sso-connections/{connId}/traces",
    "json",
    result="SsoTrace",
    page="links",
    permission="sso:read",
)
LIST_MY_EMAILS = Operation(
    "listMyEmails", "GET", "/projects/{projectId}/auth/emails", "json", result="OwnAddress", many=True
)
ADD_MY_EMAIL = Operation(
    "addMyEmail",
    "POST",
    "/projects/{projectId}/auth/emails",
    "json",
    result="ChallengeSent",
    body="json",
    media_type="application/json",
)
MAKE_MY_EMAIL_PRIMARY = Operation(
    "makeMyEmailPrimary",
    "POST",
    "/projects/{projectId}/auth/emails/primary",
    "json",
    result="CurrentCustomer",
    body="json",
    media_type="application/json",
)
REMOVE_MY_EMAIL = Operation(
    "removeMyEmail",
    "POST",
    "/projects/{projectId}/auth/emails/remove",
    "empty",
    body="json",
    media_type="application/json",
)
EXPORT_MY_DATA = Operation("exportMyData", "GET", "/projects/{projectId}/auth/export", "json", result="AccountExport")
LIST_CAMPAIGNS = Operation(
    "listCampaigns",
    "GET",
    "/projects/{projectId}/campaigns",
    "json",
    result="ListedCampaign",
    page="links",
    permission="campaigns:read",
)
CREATE_CAMPAIGN = Operation(
    "createCampaign",
    "POST",
    "/projects/{projectId}/campaigns",
    "json",
    result="Campaign",
    permission="campaigns:write",
    body="json",
    media_type="application/json",
)
GET_CAMPAIGN = Operation(
    "getCampaign",
    "GET",
    "/projects/{projectId}/campaigns/{id}",
    "json",
    result="CampaignDetail",
    permission="campaigns:read",
)
CHANGE_CAMPAIGN = Operation(
    "changeCampaign",
    "PATCH",
    "/projects/{projectId}/campaigns/{id}",
    "json",
    result="Campaign",
    permission="campaigns:write",
    body="json",
    media_type="application/json",
)
DELETE_CAMPAIGN = Operation(
    "deleteCampaign",
    "DELETE",
    "/projects/{projectId}/campaigns/{id}",
    "json",
    result="Deleted",
    permission="campaigns:write",
)
SEND_CAMPAIGN = Operation(
    "sendCampaign",
    "POST",
    "/projects/{projectId}/campaigns/{id}/send",
    "json",
    result="CampaignSendResult",
    permission="campaigns:send",
)
CANCEL_CAMPAIGN = Operation(
    "cancelCampaign",
    "POST",
    "/projects/{projectId}/campaigns/{id}/cancel",
    "json",
    result="Campaign",
    permission="campaigns:send",
)
PAUSE_CAMPAIGN = Operation(
    "pauseCampaign",
    "POST",
    "/projects/{projectId}/campaigns/{id}/pause",
    "json",
    result="Campaign",
    permission="campaigns:send",
)
RESUME_CAMPAIGN = Operation(
    "resumeCampaign",
    "POST",
    "/projects/{projectId}/campaigns/{id}/resume",
    "json",
    result="Campaign",
    permission="campaigns:send",
)
CANCEL_AB_TEST = Operation(
    "cancelAbTest",
    "POST",
    "/projects/{projectId}/campaigns/{id}/ab-test/cancel",
    "json",
    result="Campaign",
    permission="campaigns:send",
)
SELECT_AB_TEST_WINNER = Operation(
    "selectAbTestWinner",
    "POST",
    "/projects/{projectId}/campaigns/{id}/ab-test/select-winner",
    "json",
    result="Campaign",
    permission="campaigns:send",
    body="json",
    media_type="application/json",
)
TEST_CAMPAIGN = Operation(
    "testCampaign",
    "POST",
    "/projects/{projectId}/campaigns/{id}/test",
    "json",
    result="CampaignTestResult",
    permission="campaigns:send",
    body="json",
    media_type="application/json",
)
PREFLIGHT_CAMPAIGN = Operation(
    "preflightCampaign",
    "POST",
    "/projects/{projectId}/campaigns/{id}/preflight",
    "json",
    result="Preflight",
    permission="campaigns:send",
    body="json",
    media_type="application/json",
)
TEST_CAMPAIGN_WITH_SEED_LIST = Operation(
    "testCampaignWithSeedList",
    "POST",
    "/projects/{projectId}/campaigns/{id}/test-seed-list",
    "json",
    result="CampaignTestResult",
    permission="campaigns:send",
)
DUPLICATE_CAMPAIGN = Operation(
    "duplicateCampaign",
    "POST",
    "/projects/{projectId}/campaigns/{id}/duplicate",
    "json",
    result="Campaign",
    permission="campaigns:write",
)
LIST_CAMPAIGN_SENDS = Operation(
    "listCampaignSends",
    "GET",
    "/projects/{projectId}/campaigns/{id}/sends",
    "json",
    result="EmailLogEntry",
    page="pages",
    permission="campaigns:read",
)
EXPORT_CAMPAIGN_SENDS = Operation(
    "exportCampaignSends",
    "GET",
    "/projects/{projectId}/campaigns/{id}/sends/export",
    "text",
    permission="campaigns:read",
)
GET_ANALYTICS = Operation(
    "getAnalytics",
    "GET",
    "/projects/{projectId}/analytics",
    "json",
    result="ProjectSummary",
    permission="analytics:read",
)
GET_ANALYTICS_TIME_SERIES = Operation(
    "getAnalyticsTimeSeries",
    "GET",
    "/projects/{projectId}/analytics/time-series",
    "json",
    result="TimeSeriesItem",
    many=True,
    permission="analytics:read",
)
GET_ANALYTICS_BY_DOMAIN = Operation(
    "getAnalyticsByDomain",
    "GET",
    "/projects/{projectId}/analytics/by-domain",
    "json",
    result="ByDomainItem",
    many=True,
    permission="analytics:read",
)
EXPORT_ANALYTICS = Operation(
    "exportAnalytics", "GET", "/projects/{projectId}/analytics/export", "text", permission="analytics:read"
)
TRACK_OPEN = Operation("trackOpen", "GET", "/t/o/{sendId}", "bytes")
TRACK_CLICK = Operation("trackClick", "GET", "/t/c/{sendId}", "redirect")
SHOW_UNSUBSCRIBE = Operation("showUnsubscribe", "GET", "/t/u/{sendId}", "text")
UNSUBSCRIBE = Operation("unsubscribe", "POST", "/t/u/{sendId}", "text")
LIST_EMAIL_HITS = Operation(
    "listEmailHits",
    "GET",
    "/projects/{projectId}/emails/logs/{sendId}/hits",
    "json",
    result="TrackingHit",
    many=True,
    permission="emails:read",
)
RECEIVE_REPORT = Operation(
    "receiveReport",
    "POST",
    "/projects/{projectId}/inbound/reports",
    "json",
    result="ReportReceipt",
    permission="emails:write",
    body="bytes",
    media_type="message/rfc822",
)
LIST_UNRECOGNIZED_REPORTS = Operation(
    "listUnrecognizedReports",
    "GET",
    "/projects/{projectId}/inbound/reports",
    "json",
    result="UnrecognizedMessage",
    page="links",
    permission="emails:read",
)
GET_UNRECOGNIZED_REPORT = Operation(
    "getUnrecognizedReport",
    "GET",
    "/projects/{projectId}/inbound/reports/{id}/message",
    "bytes",
    permission="emails:read",
)
LIST_INBOUND_ROUTES = Operation(
    "listInboundRoutes",
    "GET",
    "/projects/{projectId}/inbound/routes",
    "json",
    result="InboundRoute",
    page="links",
    permission="inbound:read",
)
CREATE_INBOUND_ROUTE = Operation(
    "createInboundRoute",
    "POST",
    "/projects/{projectId}/inbound/routes",
    "json",
    result="InboundRoute",
    permission="inbound:write",
    body="json",
    media_type="application/json",
)
GET_INBOUND_ROUTE = Operation(
    "getInboundRoute",
    "GET",
    "/projects/{projectId}/inbound/routes/{id}",
    "json",
    result="InboundRoute",
    permission="inbound:read",
)
CHANGE_INBOUND_ROUTE = Operation(
    "changeInboundRoute",
    "PATCH",
    "/projects/{projectId}/inbound/routes/{id}",
    "json",
    result="InboundRoute",
    permission="inbound:write",
    body="json",
    media_type="application/json",
)
DELETE_INBOUND_ROUTE = Operation(
    "deleteInboundRoute",
    "DELETE",
    "/projects/{projectId}/inbound/routes/{id}",
    "json",
    result="Deleted",
    permission="inbound:write",
)
VERIFY_INBOUND_ROUTE = Operation(
    "verifyInboundRoute",
    "POST",
    "/projects/{projectId}/inbound/routes/{id}/verify",
    "json",
    result="InboundRoute",
    permission="inbound:write",
)
LIST_INBOUND_MESSAGES = Operation(
    "listInboundMessages",
    "GET",
    "/projects/{projectId}/inbound",
    "json",
    result="InboundSummary",
    page="links",
    permission="inbound:read",
)
ADD_INBOUND_MESSAGE = Operation(
    "addInboundMessage",
    "POST",
    "/projects/{projectId}/inbound",
    "json",
    result="InboundReceipt",
    permission="inbound:write",
    body="bytes",
    media_type="message/rfc822",
)
GET_INBOUND_MESSAGE = Operation(
    "getInboundMessage",
    "GET",
    "/projects/{projectId}/inbound/{id}",
    "json",
    result="InboundMessage",
    permission="inbound:read",
)
DELETE_INBOUND_MESSAGE = Operation(
    "deleteInboundMessage",
    "DELETE",
    "/projects/{projectId}/inbound/{id}",
    "json",
    result="Deleted",
    permission="inbound:write",
)
GET_INBOUND_RAW = Operation(
    "getInboundRaw", "GET", "/projects/{projectId}/inbound/{id}/raw", "bytes", permission="inbound:read"
)
GET_INBOUND_MESSAGE_ATTACHMENT = Operation(
    "getInboundMessageAttachment",
    "GET",
    "/projects/{projectId}/inbound/{id}/attachments/{number}",
    "bytes",
    permission="inbound:read",
)
LIST_INBOX = Operation(
    "listInbox",
    "GET",
    "/projects/{projectId}/inbox",
    "json",
    result="CapturedMessage",
    page="pages",
    permission="inbox:read",
)
GET_INBOX_MESSAGE = Operation(
    "getInboxMessage", "GET", "/projects/{projectId}/inbox/{id}", "json", result="InboxMessage", permission="inbox:read"
)
DELETE_INBOX_MESSAGE = Operation(
    "deleteInboxMessage",
    "DELETE",
    "/projects/{projectId}/inbox/{id}",
    "json",
    result="Deleted",
    permission="emails:write",
)
GET_INBOX_RAW = Operation(
    "getInboxRaw", "GET", "/projects/{projectId}/inbox/{id}/raw", "bytes", permission="inbox:read"
)
GET_INBOX_ATTACHMENT = Operation(
    "getInboxAttachment",
    "GET",
    "/projects/{projectId}/inbox/{id}/attachments/{number}",
    "bytes",
    permission="inbox:read",
)
PREVIEW_EMAIL = Operation(
    "previewEmail",
    "POST",
    "/projects/{projectId}/emails/logs/{sendId}/preview",
    "json",
    result="MailPreview",
    permission="emails:read",
    body="json",
    media_type="application/json",
)
PREVIEW_INBOX_MESSAGE = Operation(
    "previewInboxMessage",
    "POST",
    "/projects/{projectId}/inbox/{id}/preview",
    "json",
    result="MailPreview",
    permission="inbox:read",
    body="json",
    media_type="application/json",
)
LIST_AUTOMATIONS = Operation(
    "listAutomations",
    "GET",
    "/projects/{projectId}/automations",
    "json",
    result="ListedAutomation",
    page="links",
    permission="automations:read",
)
CREATE_AUTOMATION = Operation(
    "createAutomation",
    "POST",
    "/projects/{projectId}/automations",
    "json",
    result="Automation",
    permission="automations:write",
    body="json",
    media_type="application/json",
)
GET_AUTOMATION = Operation(
    "getAutomation",
    "GET",
    "/projects/{projectId}/automations/{id}",
    "json",
    result="Automation",
    permission="automations:read",
)
CHANGE_AUTOMATION = Operation(
    "changeAutomation",
    "PATCH",
    "/projects/{projectId}/automations/{id}",
    "json",
    result="Automation",
    permission="automations:write",
    body="json",
    media_type="application/json",
)
DELETE_AUTOMATION = Operation(
    "deleteAutomation",
    "DELETE",
    "/projects/{projectId}/automations/{id}",
    "json",
    result="Deleted",
    permission="automations:write",
)
SET_AUTOMATION_ACTIVE = Operation(
    "setAutomationActive",
    "PATCH",
    "/projects/{projectId}/automations/{id}/active",
    "json",
    result="Automation",
    permission="automations:write",
    body="json",
    media_type="application/json",
)
LIST_AUTOMATION_RUNS = Operation(
    "listAutomationRuns",
    "GET",
    "/projects/{projectId}/automations/{id}/runs",
    "json",
    result="AutomationRun",
    page="links",
    permission="automations:read",
)
GET_AUTOMATION_RUN = Operation(
    "getAutomationRun",
    "GET",
    "/projects/{projectId}/automations/{id}/runs/{runId}",
    "json",
    result="AutomationRunDetail",
    permission="automations:read",
)
CANCEL_AUTOMATION_RUN = Operation(
    "cancelAutomationRun",
    "POST",
    "/projects/{projectId}/automations/{id}/runs/{runId}/cancel",
    "json",
    result="AutomationRun",
    permission="automations:write",
)
RETRY_AUTOMATION_RUN = Operation(
    "retryAutomationRun",
    "POST",
    "/projects/{projectId}/automations/{id}/runs/{runId}/retry",
    "json",
    result="AutomationRun",
    permission="automations:write",
)
RETRY_AUTOMATION_RUNS = Operation(
    "retryAutomationRuns",
    "POST",
    "/projects/{projectId}/automations/{id}/runs/retry",
    "json",
    result="RunsRetried",
    permission="automations:write",
)
GET_AUTOMATION_TOTALS = Operation(
    "getAutomationTotals",
    "GET",
    "/projects/{projectId}/automations/{id}/totals",
    "json",
    result="AutomationRunTotals",
    permission="automations:read",
)
LIST_AUTOMATION_POSITIONS = Operation(
    "listAutomationPositions",
    "GET",
    "/projects/{projectId}/automations/{id}/positions",
    "json",
    result="AutomationRunPosition",
    many=True,
    permission="automations:read",
)
GET_AUTOMATION_WEBHOOK_SECRET = Operation(
    "getAutomationWebhookSecret",
    "GET",
    "/projects/{projectId}/automations/{id}/webhook-secret",
    "json",
    result="AutomationWebhookSecret",
    permission="automations:write",
)
DRY_RUN_AUTOMATION = Operation(
    "dryRunAutomation",
    "POST",
    "/projects/{projectId}/automations/{id}/dry-run",
    "json",
    result="DryRun",
    permission="automations:read",
    body="json",
    media_type="application/json",
)
RECORD_CUSTOM_EVENTS = Operation(
    "recordCustomEvents",
    "POST",
    "/projects/{projectId}/events/batch",
    "json",
    result="CustomEventBatchResult",
    idempotent=True,
    permission="events:write",
    body="json",
    media_type="application/json",
)
LIST_ORGANIZATIONS = Operation(
    "listOrganizations",
    "GET",
    "/projects/{projectId}/b2b/organizations",
    "json",
    result="Organization",
    page="links",
    permission="organizations:read",
)
CREATE_ORGANIZATION = Operation(
    "createOrganization",
    "POST",
    "/projects/{projectId}/b2b/organizations",
    "json",
    result="Organization",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
GET_ORGANIZATION = Operation(
    "getOrganization",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}",
    "json",
    result="Organization",
    permission="organizations:read",
)
CHANGE_ORGANIZATION = Operation(
    "changeOrganization",
    "PATCH",
    "/projects/{projectId}/b2b/organizations/{id}",
    "json",
    result="Organization",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
DELETE_ORGANIZATION = Operation(
    "deleteOrganization",
    "DELETE",
    "/projects/{projectId}/b2b/organizations/{id}",
    "json",
    result="Organization",
    permission="organizations:write",
)
LIST_ORGANIZATION_MEMBERS = Operation(
    "listOrganizationMembers",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/members",
    "json",
    result="OrganizationMember",
    page="links",
    permission="organizations:read",
)
ADD_ORGANIZATION_MEMBER = Operation(
    "addOrganizationMember",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/members",
    "json",
    result="OrganizationMember",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
GET_ORGANIZATION_MEMBER = Operation(
    "getOrganizationMember",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/members/{customerId}",
    "json",
    result="OrganizationMember",
    permission="organizations:read",
)
CHANGE_ORGANIZATION_MEMBER = Operation(
    "changeOrganizationMember",
    "PATCH",
    "/projects/{projectId}/b2b/organizations/{id}/members/{customerId}",
    "json",
    result="OrganizationMember",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
REMOVE_ORGANIZATION_MEMBER = Operation(
    "removeOrganizationMember",
    "DELETE",
    "/projects/{projectId}/b2b/organizations/{id}/members/{customerId}",
    "json",
    result="Removed",
    permission="organizations:write",
)
LIST_MY_ORGANIZATIONS = Operation(
    "listMyOrganizations",
    "GET",
    "/projects/{projectId}/auth/organizations",
    "json",
    result="OrganizationMembership",
    page="links",
)
LIST_CUSTOMER_ORGANIZATIONS = Operation(
    "listCustomerOrganizations",
    "GET",
    "/projects/{projectId}/customers/{id}/organizations",
    "json",
    result="OrganizationMembership",
    page="links",
    permission="organizations:read",
)
LEAVE_ORGANIZATION = Operation(
    "leaveOrganization", "DELETE", "/projects/{projectId}/auth/organizations/{id}", "json", result="Removed"
)
LIST_ORGANIZATION_INVITATIONS = Operation(
    "listOrganizationInvitations",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/invitations",
    "json",
    result="OrganizationInvitation",
    page="links",
    permission="organizations:read",
)
CREATE_ORGANIZATION_INVITATION = Operation(
    "createOrganizationInvitation",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/invitations",
    "json",
    result="OrganizationInvitation",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
RESEND_ORGANIZATION_INVITATION = Operation(
    "resendOrganizationInvitation",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/invitations/{invitationId}/resend",
    "json",
    result="OrganizationInvitation",
    permission="organizations:write",
)
REVOKE_ORGANIZATION_INVITATION = Operation(
    "revokeOrganizationInvitation",
    "DELETE",
    "/projects/{projectId}/b2b/organizations/{id}/invitations/{invitationId}",
    "json",
    result="OrganizationInvitation",
    permission="organizations:write",
)
PREVIEW_INVITATION = Operation(
    "previewInvitation",
    "POST",
    "/projects/{projectId}/auth/invitations/preview",
    "json",
    result="InvitationPreview",
    body="json",
    media_type="application/json",
)
ACCEPT_INVITATION = Operation(
    "acceptInvitation",
    "POST",
    "/projects/{projectId}/auth/invitations/accept",
    "json",
    result="AcceptedInvitation",
    body="json",
    media_type="application/json",
)
INVITATION_PAGE = Operation("invitationPage", "GET", "/projects/{projectId}/auth/pages/invitation", "text")
ACCEPT_INVITATION_BY_PAGE = Operation(
    "acceptInvitationByPage",
    "POST",
    "/projects/{projectId}/auth/pages/invitation",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
LIST_ORGANIZATION_DOMAINS = Operation(
    "listOrganizationDomains",
    "GET",
    "/projects/{projectId}/b2b/organizations/{organizationId}/domains",
    "json",
    result="OrganizationDomain",
    page="links",
    permission="organizations:read",
)
ADD_ORGANIZATION_DOMAIN = Operation(
    "addOrganizationDomain",
    "POST",
    "/projects/{projectId}/b2b/organizations/{organizationId}/domains",
    "json",
    result="OrganizationDomain",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
VERIFY_ORGANIZATION_DOMAIN = Operation(
    "verifyOrganizationDomain",
    "POST",
    "/projects/{projectId}/b2b/organizations/{organizationId}/domains/{domainId}/verify",
    "json",
    result="OrganizationDomain",
    permission="organizations:write",
)
CHANGE_ORGANIZATION_DOMAIN = Operation(
    "changeOrganizationDomain",
    "PATCH",
    "/projects/{projectId}/b2b/organizations/{organizationId}/domains/{domainId}",
    "json",
    result="OrganizationDomain",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
REMOVE_ORGANIZATION_DOMAIN = Operation(
    "removeOrganizationDomain",
    "DELETE",
    "/projects/{projectId}/b2b/organizations/{organizationId}/domains/{domainId}",
    "json",
    result="Removed",
    permission="organizations:write",
)
JOIN_BY_DOMAIN = Operation(
    "joinByDomain",
    "POST",
    "/projects/{projectId}/b2b/domain-join",
    "json",
    result="DomainJoin",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
LIST_ORGANIZATIONS_OF_APP = Operation(
    "listOrganizationsOfApp",
    "GET",
    "/apps/{appId}/organizations",
    "json",
    result="AppOrganization",
    page="links",
    permission="organizations:read",
)
CREATE_ORGANIZATION_OF_APP = Operation(
    "createOrganizationOfApp",
    "POST",
    "/apps/{appId}/organizations",
    "json",
    result="AppOrganization",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
GET_ORGANIZATION_OF_APP = Operation(
    "getOrganizationOfApp",
    "GET",
    "/apps/{appId}/organizations/{id}",
    "json",
    result="AppOrganization",
    permission="organizations:read",
)
CHANGE_ORGANIZATION_OF_APP = Operation(
    "changeOrganizationOfApp",
    "PATCH",
    "/apps/{appId}/organizations/{id}",
    "json",
    result="AppOrganization",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
DELETE_ORGANIZATION_OF_APP = Operation(
    "deleteOrganizationOfApp",
    "DELETE",
    "/apps/{appId}/organizations/{id}",
    "json",
    result="AppOrganization",
    permission="organizations:write",
)
LIST_ORGANIZATION_MEMBERS_OF_APP = Operation(
    "listOrganizationMembersOfApp",
    "GET",
    "/apps/{appId}/organizations/{id}/members",
    "json",
    result="OrganizationMember",
    page="links",
    permission="organizations:read",
)
ADD_ORGANIZATION_MEMBER_OF_APP = Operation(
    "addOrganizationMemberOfApp",
    "POST",
    "/apps/{appId}/organizations/{id}/members",
    "json",
    result="OrganizationMember",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
GET_ORGANIZATION_MEMBER_OF_APP = Operation(
    "getOrganizationMemberOfApp",
    "GET",
    "/apps/{appId}/organizations/{id}/members/{customerId}",
    "json",
    result="OrganizationMember",
    permission="organizations:read",
)
CHANGE_ORGANIZATION_MEMBER_OF_APP = Operation(
    "changeOrganizationMemberOfApp",
    "PATCH",
    "/apps/{appId}/organizations/{id}/members/{customerId}",
    "json",
    result="OrganizationMember",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
REMOVE_ORGANIZATION_MEMBER_OF_APP = Operation(
    "removeOrganizationMemberOfApp",
    "DELETE",
    "/apps/{appId}/organizations/{id}/members/{customerId}",
    "json",
    result="Removed",
    permission="organizations:write",
)
LIST_ORGANIZATION_INVITATIONS_OF_APP = Operation(
    "listOrganizationInvitationsOfApp",
    "GET",
    "/apps/{appId}/organizations/{id}/invitations",
    "json",
    result="OrganizationInvitation",
    page="links",
    permission="organizations:read",
)
CREATE_ORGANIZATION_INVITATION_OF_APP = Operation(
    "createOrganizationInvitationOfApp",
    "POST",
    "/apps/{appId}/organizations/{id}/invitations",
    "json",
    result="OrganizationInvitation",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
RESEND_ORGANIZATION_INVITATION_OF_APP = Operation(
    "resendOrganizationInvitationOfApp",
    "POST",
    "/apps/{appId}/organizations/{id}/invitations/{invitationId}/resend",
    "json",
    result="OrganizationInvitation",
    permission="organizations:write",
)
REVOKE_ORGANIZATION_INVITATION_OF_APP = Operation(
    "revokeOrganizationInvitationOfApp",
    "DELETE",
    "/apps/{appId}/organizations/{id}/invitations/{invitationId}",
    "json",
    result="OrganizationInvitation",
    permission="organizations:write",
)
GET_BILLING = Operation(
    "getBilling", "GET", "/account/auth-billing", "json", result="Billing", permission="billing:read"
)
BEGIN_CHECKOUT = Operation(
    "beginCheckout",
    "POST",
    "/account/auth-billing/checkout",
    "json",
    result="BillingPageUrl",
    permission="billing:write",
    body="json",
    media_type="application/json",
)
BEGIN_B2B_CHECKOUT = Operation(
    "beginB2bCheckout",
    "POST",
    "/account/auth-billing/b2b-enhanced",
    "json",
    result="BillingPageUrl",
    permission="billing:write",
    body="json",
    media_type="application/json",
)
OPEN_BILLING_PORTAL = Operation(
    "openBillingPortal",
    "POST",
    "/account/auth-billing/portal",
    "json",
    result="BillingPageUrl",
    permission="billing:write",
)
LIST_FEATURES = Operation(
    "listFeatures",
    "GET",
    "/projects/{projectId}/b2b/features",
    "json",
    result="Feature",
    page="links",
    permission="entitlements:read",
)
CREATE_FEATURE = Operation(
    "createFeature",
    "POST",
    "/projects/{projectId}/b2b/features",
    "json",
    result="Feature",
    permission="entitlements:write",
    body="json",
    media_type="application/json",
)
GET_FEATURE = Operation(
    "getFeature",
    "GET",
    "/projects/{projectId}/b2b/features/{key}",
    "json",
    result="Feature",
    permission="entitlements:read",
)
CHANGE_FEATURE = Operation(
    "changeFeature",
    "PATCH",
    "/projects/{projectId}/b2b/features/{key}",
    "json",
    result="Feature",
    permission="entitlements:write",
    body="json",
    media_type="application/json",
)
DELETE_FEATURE = Operation(
    "deleteFeature", "DELETE", "/projects/{projectId}/b2b/features/{key}", "empty", permission="entitlements:write"
)
LIST_PLANS = Operation(
    "listPlans",
    "GET",
    "/projects/{projectId}/b2b/plans",
    "json",
    result="Plan",
    page="links",
    permission="entitlements:read",
)
CREATE_PLAN = Operation(
    "createPlan",
    "POST",
    "/projects/{projectId}/b2b/plans",
    "json",
    result="Plan",
    permission="entitlements:write",
    body="json",
    media_type="application/json",
)
GET_PLAN = Operation(
    "getPlan", "GET", "/projects/{projectId}/b2b/plans/{key}", "json", result="Plan", permission="entitlements:read"
)
CHANGE_PLAN = Operation(
    "changePlan",
    "PATCH",
    "/projects/{projectId}/b2b/plans/{key}",
    "json",
    result="Plan",
    permission="entitlements:write",
    body="json",
    media_type="application/json",
)
DELETE_PLAN = Operation(
    "deletePlan",
    "DELETE",
    "/projects/{projectId}/b2b/plans/{key}",
    "json",
    result="Deleted",
    permission="entitlements:write",
)
GET_ORGANIZATION_PLAN = Operation(
    "getOrganizationPlan",
    "GET",
    "/projects/{projectId}/b2b/organizations/{organizationId}/plan",
    "json",
    result="OrganizationPlan",
    permission="entitlements:read",
)
SET_ORGANIZATION_PLAN = Operation(
    "setOrganizationPlan",
    "PUT",
    "/projects/{projectId}/b2b/organizations/{organizationId}/plan",
    "empty",
    permission="entitlements:write",
    body="json",
    media_type="application/json",
)
CHECK_ENTITLEMENT = Operation(
    "checkEntitlement",
    "POST",
    "/projects/{projectId}/b2b/entitlements/check",
    "json",
    result="Entitlement",
    permission="entitlements:read",
    body="json",
    media_type="application/json",
)
LIST_ENTITLEMENTS = Operation(
    "listEntitlements",
    "GET",
    "/projects/{projectId}/b2b/organizations/{organizationId}/entitlements",
    "json",
    result="Entitlement",
    many=True,
    permission="entitlements:read",
)
SET_ENTITLEMENT_OVERRIDE = Operation(
    "setEntitlementOverride",
    "PUT",
    "/projects/{projectId}/b2b/organizations/{organizationId}/entitlements/{featureKey}",
    "json",
    result="Entitlement",
    permission="entitlements:write",
    body="json",
    media_type="application/json",
)
DELETE_ENTITLEMENT_OVERRIDE = Operation(
    "deleteEntitlementOverride",
    "DELETE",
    "/projects/{projectId}/b2b/organizations/{organizationId}/entitlements/{featureKey}",
    "json",
    result="Entitlement",
    permission="entitlements:write",
)
FIND_SSO_CONNECTION = Operation(
    "findSsoConnection", "GET", "/projects/{projectId}/auth/sso", "json", result="SsoLookup"
)
FIND_SSO_CONNECTION_BY_FORM = Operation(
    "findSsoConnectionByForm",
    "POST",
    "/projects/{projectId}/auth/sso",
    "json",
    result="SsoLookup",
    body="json",
    media_type="application/json",
)
GET_PUBLIC_SSO_METADATA = Operation("getPublicSsoMetadata", "GET", "/sso/saml/{connId}/metadata.xml", "text")
BEGIN_SSO = Operation("beginSso", "GET", "/sso/saml/{connId}/login", "text")
RECEIVE_SAML_RESPONSE = Operation(
    "receiveSamlResponse",
    "POST",
    "/sso/saml/{connId}/acs",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
SIGN_OUT_EVERYWHERE = Operation(
    "signOutEverywhere",
    "POST",
    "/projects/{projectId}/auth/sso/sign-out",
    "json",
    result="SsoSignOut",
    body="json",
    media_type="application/json",
)
RECEIVE_SAML_LOGOUT = Operation("receiveSamlLogout", "GET", "/sso/saml/{connId}/slo", "text")
RECEIVE_SAML_LOGOUT_BY_FORM = Operation(
    "receiveSamlLogoutByForm",
    "POST",
    "/sso/saml/{connId}/slo",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
BEGIN_OIDC_SSO = Operation("beginOidcSso", "GET", "/sso/oidc/{connId}/login", "text")
RECEIVE_OIDC_RESPONSE = Operation("receiveOidcResponse", "GET", "/sso/oidc/{connId}/callback", "text")
RECEIVE_OIDC_LOGOUT = Operation("receiveOidcLogout", "GET", "/sso/oidc/{connId}/signed-out", "text")
RECEIVE_OIDC_BACKCHANNEL_LOGOUT = Operation(
    "receiveOidcBackchannelLogout",
    "POST",
    "/sso/oidc/{connId}/backchannel-logout",
    "empty",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
LIST_DIRECTORY_CONNECTIONS = Operation(
    "listDirectoryConnections",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/directory-connections",
    "json",
    result="DirectoryConnection",
    page="links",
    permission="scim:read",
)
CREATE_DIRECTORY_CONNECTION = Operation(
    "createDirectoryConnection",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/directory-connections",
    "json",
    result="DirectoryConnectionWithToken",
    permission="scim:write",
    body="json",
    media_type="application/json",
)
GET_DIRECTORY_CONNECTION = Operation(
    "getDirectoryConnection",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}",
    "json",
    result="DirectoryConnection",
    permission="scim:read",
)
CHANGE_DIRECTORY_CONNECTION = Operation(
    "changeDirectoryConnection",
    "PATCH",
    "/projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}",
    "json",
    result="DirectoryConnection",
    permission="scim:write",
    body="json",
    media_type="application/json",
)
DELETE_DIRECTORY_CONNECTION = Operation(
    "deleteDirectoryConnection",
    "DELETE",
    "/projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}",
    "json",
    result="Removed",
    permission="scim:write",
)
ROTATE_DIRECTORY_TOKEN = Operation(
    "rotateDirectoryToken",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}/rotate-token",
    "json",
    result="DirectoryConnectionWithToken",
    permission="scim:write",
    body="json",
    media_type="application/json",
)
LIST_DIRECTORY_USERS = Operation(
    "listDirectoryUsers",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}/users",
    "json",
    result="DirectoryUser",
    page="links",
    permission="scim:read",
)
LIST_DIRECTORY_GROUPS = Operation(
    "listDirectoryGroups",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}/groups",
    "json",
    result="DirectoryGroup",
    page="links",
    permission="scim:read",
)
LIST_SETUP_LINKS = Operation(
    "listSetupLinks",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/setup-links",
    "json",
    result="SetupLink",
    page="links",
    permission="organizations:read",
)
CREATE_SETUP_LINK = Operation(
    "createSetupLink",
    "POST",
    "/projects/{projectId}/b2b/organizations/{id}/setup-links",
    "json",
    result="SetupLinkWithUrl",
    permission="organizations:write",
    body="json",
    media_type="application/json",
)
GET_SETUP_LINK = Operation(
    "getSetupLink",
    "GET",
    "/projects/{projectId}/b2b/organizations/{id}/setup-links/{linkId}",
    "json",
    result="SetupLink",
    permission="organizations:read",
)
REVOKE_SETUP_LINK = Operation(
    "revokeSetupLink",
    "DELETE",
    "/projects/{projectId}/b2b/organizations/{id}/setup-links/{linkId}",
    "json",
    result="SetupLink",
    permission="organizations:write",
)
IMPORT_CUSTOMER_ROWS = Operation(
    "importCustomerRows",
    "POST",
    "/projects/{projectId}/customers/import/rows",
    "json",
    result="CustomerRowsResult",
    permission="customers:write",
    body="json",
    media_type="application/json",
)
LIST_OAUTH_CLIENTS = Operation(
    "listOauthClients",
    "GET",
    "/projects/{projectId}/oauth-clients",
    "json",
    result="OAuthClient",
    page="links",
    permission="projects:read",
)
CREATE_OAUTH_CLIENT = Operation(
    "createOauthClient",
    "POST",
    "/projects/{projectId}/oauth-clients",
    "json",
    result="OAuthClientWithSecret",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
GET_OAUTH_CLIENT = Operation(
    "getOauthClient",
    "GET",
    "/projects/{projectId}/oauth-clients/{id}",
    "json",
    result="OAuthClient",
    permission="projects:read",
)
CHANGE_OAUTH_CLIENT = Operation(
    "changeOauthClient",
    "PATCH",
    "/projects/{projectId}/oauth-clients/{id}",
    "json",
    result="OAuthClient",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
DELETE_OAUTH_CLIENT = Operation(
    "deleteOauthClient",
    "DELETE",
    "/projects/{projectId}/oauth-clients/{id}",
    "json",
    result="Deleted",
    permission="projects:write",
)
ROTATE_OAUTH_CLIENT_SECRET = Operation(
    "rotateOauthClientSecret",
    "POST",
    "/projects/{projectId}/oauth-clients/{id}/rotate-secret",
    "json",
    result="OAuthClientWithSecret",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
LIST_CUSTOMER_CONSENTS = Operation(
    "listCustomerConsents",
    "GET",
    "/projects/{projectId}/customers/{id}/oauth-consents",
    "json",
    result="OAuthConsent",
    many=True,
    permission="customers:read",
)
REVOKE_CUSTOMER_CONSENT = Operation(
    "revokeCustomerConsent",
    "DELETE",
    "/projects/{projectId}/customers/{id}/oauth-consents/{clientId}",
    "json",
    result="Removed",
    permission="customers:write",
)
LIST_MY_CONSENTS = Operation(
    "listMyConsents", "GET", "/projects/{projectId}/auth/consents", "json", result="OAuthConsent", many=True
)
REVOKE_MY_CONSENT = Operation(
    "revokeMyConsent", "DELETE", "/projects/{projectId}/auth/consents/{clientId}", "json", result="Removed"
)
LIST_OAUTH_RESOURCES = Operation(
    "listOauthResources",
    "GET",
    "/projects/{projectId}/oauth-resources",
    "json",
    result="OAuthResource",
    page="links",
    permission="projects:read",
)
CREATE_OAUTH_RESOURCE = Operation(
    "createOauthResource",
    "POST",
    "/projects/{projectId}/oauth-resources",
    "json",
    result="OAuthResource",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
GET_OAUTH_RESOURCE = Operation(
    "getOauthResource",
    "GET",
    "/projects/{projectId}/oauth-resources/{id}",
    "json",
    result="OAuthResource",
    permission="projects:read",
)
CHANGE_OAUTH_RESOURCE = Operation(
    "changeOauthResource",
    "PATCH",
    "/projects/{projectId}/oauth-resources/{id}",
    "json",
    result="OAuthResource",
    permission="projects:write",
    body="json",
    media_type="application/json",
)
DELETE_OAUTH_RESOURCE = Operation(
    "deleteOauthResource",
    "DELETE",
    "/projects/{projectId}/oauth-resources/{id}",
    "json",
    result="Deleted",
    permission="projects:write",
)
REGISTER_OAUTH_CLIENT = Operation(
    "registerOauthClient", "POST", "/projects/{projectId}/oauth/register", "json", result="object"
)
CREATE_OAUTH_REGISTRATION_TOKEN = Operation(
    "createOauthRegistrationToken",
    "POST",
    "/projects/{projectId}/oauth-clients/registration-tokens",
    "json",
    result="OAuthRegistrationToken",
    permission="projects:write",
)
GET_OPENID_CONFIGURATION = Operation(
    "getOpenidConfiguration", "GET", "/projects/{projectId}/.well-known/openid-configuration", "json", result="object"
)
GET_AUTHORIZATION_SERVER_METADATA = Operation(
    "getAuthorizationServerMetadata",
    "GET",
    "/.well-known/oauth-authorization-server/projects/{projectId}",
    "json",
    result="object",
)
AUTHORIZE = Operation("authorize", "GET", "/projects/{projectId}/oauth/authorize", "text")
AUTHORIZE_BY_FORM = Operation(
    "authorizeByForm",
    "POST",
    "/projects/{projectId}/oauth/authorize",
    "redirect",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
CONTINUE_AUTHORIZATION = Operation("continueAuthorization", "GET", "/projects/{projectId}/oauth/continue", "text")
RESUME_AUTHORIZATION = Operation("resumeAuthorization", "GET", "/projects/{projectId}/oauth/resume", "text")
DECIDE_CONSENT = Operation(
    "decideConsent",
    "POST",
    "/projects/{projectId}/oauth/consent",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
STEP_UP_BY_PAGE = Operation(
    "stepUpByPage",
    "POST",
    "/projects/{projectId}/oauth/step-up",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
PASSKEY_OPTIONS_FOR_STEP_UP = Operation(
    "passkeyOptionsForStepUp",
    "POST",
    "/projects/{projectId}/oauth/step-up/passkey-options",
    "json",
    result="PasskeyOptions",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
ISSUE_OAUTH_TOKENS = Operation(
    "issueOauthTokens",
    "POST",
    "/projects/{projectId}/oauth/token",
    "json",
    result="object",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
PUSH_AUTHORIZATION_REQUEST = Operation(
    "pushAuthorizationRequest",
    "POST",
    "/projects/{projectId}/oauth/par",
    "json",
    result="object",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
REVOKE_OAUTH_TOKEN = Operation(
    "revokeOauthToken",
    "POST",
    "/projects/{projectId}/oauth/revoke",
    "json",
    result="object",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
INTROSPECT_OAUTH_TOKEN = Operation(
    "introspectOauthToken",
    "POST",
    "/projects/{projectId}/oauth/introspect",
    "json",
    result="object",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
GET_USERINFO = Operation("getUserinfo", "GET", "/projects/{projectId}/oauth/userinfo", "json", result="object")
POST_USERINFO = Operation(
    "postUserinfo",
    "POST",
    "/projects/{projectId}/oauth/userinfo",
    "json",
    result="object",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
AUTHORIZE_DEVICE = Operation(
    "authorizeDevice",
    "POST",
    "/projects/{projectId}/oauth/device_authorization",
    "json",
    result="object",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
DEVICE_PAGE = Operation("devicePage", "GET", "/projects/{projectId}/oauth/device", "text")
ENTER_DEVICE_CODE = Operation(
    "enterDeviceCode",
    "POST",
    "/projects/{projectId}/oauth/device",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
END_OAUTH_SESSION = Operation("endOauthSession", "GET", "/projects/{projectId}/oauth/logout", "text")
END_OAUTH_SESSION_BY_FORM = Operation(
    "endOauthSessionByForm",
    "POST",
    "/projects/{projectId}/oauth/logout",
    "redirect",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
CONFIRM_LOGOUT = Operation(
    "confirmLogout",
    "POST",
    "/projects/{projectId}/oauth/logout/confirm",
    "text",
    body="form",
    media_type="application/x-www-form-urlencoded",
)
