// Written by script/client from the API. Do not edit.
import type { RawBody, RequestOptions } from "../options.js";
import type { PagePromise } from "../pages.js";
import type {
  AcceptedInvitation,
  AccessCheck,
  AccessCheckBatch,
  AccessDecision,
  AccessDecisions,
  AccountAuditEntry,
  AccountDeletion,
  AccountExport,
  AccountInvitation,
  AccountInvitationAcceptance,
  AccountMember,
  AccountMemberRoleChange,
  AccountProfile,
  AccountProfileChange,
  ApiKey,
  AppOrganization,
  AppSsoConnection,
  Asset,
  Audience,
  AudienceBulkResult,
  AudienceChange,
  AudienceChangeResult,
  AudienceMembership,
  AudiencePreview,
  AudiencePreviewRequest,
  AuditEntry,
  AuthorizationCodeGrant,
  Automation,
  AutomationActivation,
  AutomationChange,
  AutomationRun,
  AutomationRunDetail,
  AutomationRunPosition,
  AutomationRunTotals,
  AutomationWebhookSecret,
  Billing,
  BillingPageUrl,
  BlocklistEntry,
  BulkMembers,
  ByDomainItem,
  Campaign,
  CampaignChange,
  CampaignDetail,
  CampaignPreflight,
  CampaignSendResult,
  CampaignTest,
  CampaignTestResult,
  CapturedMessage,
  ChallengeSent,
  CheckoutRequest,
  CodeResend,
  CodeVerification,
  Contact,
  ContactAttribute,
  ContactAttributeChange,
  ContactChange,
  ContactImport,
  ContactImportPreview,
  CreatedImpersonationLink,
  CurrentCustomer,
  CurrentCustomerChange,
  CustomEvent,
  CustomEventBatch,
  CustomEventBatchResult,
  CustomEventResult,
  Customer,
  CustomerBan,
  CustomerChange,
  CustomerEvent,
  CustomerImport,
  CustomerImportResult,
  CustomerLink,
  CustomerLinkResult,
  CustomerMail,
  CustomerMailPreview,
  CustomerPasswordChange,
  CustomerRecoveryCodes,
  CustomerRows,
  CustomerRowsResult,
  CustomerSignInResult,
  CustomerSignUp,
  CustomerSignUpResult,
  CustomerStats,
  CustomerTokenRefresh,
  CustomerTokens,
  Deleted,
  DeliverySite,
  DeveloperPasswordChange,
  DeveloperRecoveryCodes,
  DeveloperSignIn,
  DeveloperSignInResult,
  DeveloperSignUp,
  DeveloperTokenRefresh,
  DeveloperTotpEnrolment,
  DirectoryConnection,
  DirectoryConnectionChange,
  DirectoryConnectionWithToken,
  DirectoryGroup,
  DirectoryUser,
  DmarcReportResult,
  DmarcSummary,
  Domain,
  DomainCertificate,
  DomainJoin,
  DomainJoinRequest,
  DryRun,
  DryRunRequest,
  Email,
  EmailBatch,
  EmailBatchResult,
  EmailLogEntry,
  EmailLogEntryDetail,
  EmailOnly,
  EmailReschedule,
  EndUser,
  EnrolledSignIn,
  EnrollmentProof,
  EnrollmentToken,
  Entitlement,
  EntitlementCheck,
  EntitlementOverride,
  Event,
  Feature,
  FeatureChange,
  ForgotPassword,
  HookSecretRotation,
  IdentityLinkCompletion,
  IdentityLinkRequest,
  IdentityLinkStart,
  IdentityRequest,
  InboundMessage,
  InboundReceipt,
  InboundRoute,
  InboundRouteChange,
  InboundSummary,
  InboxMessage,
  InvitationPreview,
  InvitationToken,
  LinkVerification,
  ListedAudience,
  ListedAutomation,
  ListedCampaign,
  MailDraft,
  MailPreview,
  MailRestore,
  MailTest,
  MailTestSent,
  MailText,
  MailTextContent,
  MailTextVersion,
  MetadataChange,
  MyPermissions,
  MyRememberedDevice,
  NewAccountInvitation,
  NewApiKey,
  NewAudience,
  NewAudienceMember,
  NewAutomation,
  NewCampaign,
  NewContact,
  NewContactAttribute,
  NewCustomer,
  NewDirectoryConnection,
  NewDomain,
  NewFeature,
  NewImpersonation,
  NewImpersonationLink,
  NewInboundRoute,
  NewMemberByEmail,
  NewOAuthClient,
  NewOAuthResource,
  NewOrganization,
  NewOrganizationDomain,
  NewOrganizationInvitation,
  NewOrganizationMember,
  NewPasskey,
  NewPermission,
  NewPlan,
  NewProject,
  NewRole,
  NewSender,
  NewSetupLink,
  NewSignInHook,
  NewSiteBounce,
  NewSiteSuspension,
  NewSsoConnection,
  NewSuppression,
  NewSuppressions,
  NewTemplate,
  NewWebhook,
  OAuthClient,
  OAuthClientChange,
  OAuthClientWithSecret,
  OAuthConsent,
  OAuthRegistrationToken,
  OAuthResource,
  OAuthResourceChange,
  OAuthSecretRotation,
  Organization,
  OrganizationChange,
  OrganizationDomain,
  OrganizationDomainChange,
  OrganizationInvitation,
  OrganizationMember,
  OrganizationMemberChange,
  OrganizationMembership,
  OrganizationPlan,
  OwnAddress,
  OwnSession,
  OwnershipTransfer,
  PageText,
  PageTextChange,
  PagesDomainStatus,
  Passkey,
  PasskeyChange,
  PasskeyOptions,
  PasskeySignIn,
  PasswordAgain,
  PasswordAndAnyCode,
  PasswordAndCode,
  PasswordReset,
  PasswordSignIn,
  Permission,
  Plan,
  PlanChange,
  PlanChoice,
  Preflight,
  PreflightEmail,
  PreviewOptions,
  PreviewVariables,
  Project,
  ProjectChange,
  ProjectSummary,
  ProviderSettings,
  Removed,
  RenderedDraft,
  ReportReceipt,
  Reputation,
  ReputationRelease,
  ResetPassword,
  Role,
  RoleChange,
  RolesChange,
  Rules,
  RunsRetried,
  SecondFactorProof,
  SecondFactorSignIn,
  SendAttempt,
  SendReport,
  SendResult,
  Sender,
  SenderToken,
  SetupLink,
  SetupLinkWithUrl,
  SignInCodeVerification,
  SignInHook,
  SignInHookChange,
  SignInHookTest,
  SignInHookWithSecret,
  SignInLinkRequest,
  SignInProvider,
  SsoConnection,
  SsoConnectionChange,
  SsoConnectionWithOrganization,
  SsoLookup,
  SsoSignOut,
  SsoSignOutRequest,
  SsoTest,
  SsoTrace,
  StepUp,
  StepUpOptions,
  SteppedUpSession,
  Suppression,
  SuppressionBulkResult,
  Template,
  TemplateChange,
  TemplateDraft,
  TemplatePreview,
  TemplateVersion,
  TermsAcceptance,
  TermsProof,
  TimeSeriesItem,
  TimelineEntry,
  TokenRotation,
  TotpCode,
  TotpConfirmation,
  TotpEnrolment,
  TrackingHit,
  UnrecognizedMessage,
  VerifiedEmail,
  VerifyEmail,
  WarmUp,
  WarmUpPlan,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookReplay,
  WebhookReplayResult,
  WebhookSecretRotation,
  WebhookTestResult,
  WebhookWithSecret,
  WinnerChoice,
} from "./types.js";

/** Parameters of `account.members.list`. */
export interface AccountMembersListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `account.invitations.list`. */
export interface AccountInvitationsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `account.auditLog.list`. */
export interface AccountAuditLogListParams {
  /** Action. */
  action?: string | undefined;
  /** Target type. */
  targetType?: string | undefined;
  /** Target id. */
  targetId?: string | undefined;
  /** Actor id. */
  actorId?: string | undefined;
  /** Project id. */
  projectId?: string | undefined;
  /** From. */
  from?: string | undefined;
  /** To. */
  to?: string | undefined;
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `projects.list`. */
export interface ProjectsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `apiKeys.list`. */
export interface ApiKeysListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `events.list`. */
export interface EventsListParams {
  /** Type. */
  type?: string | undefined;
  /** Subject id. */
  subjectId?: string | undefined;
  /** After. */
  after?: string | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `access.permissions.list`. */
export interface AccessPermissionsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `access.roles.list`. */
export interface AccessRolesListParams {
  /** Scope. */
  scope?: "ORGANIZATION" | "PROJECT" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `access.roles.get`. */
export interface AccessRolesGetParams {
  /** Scope. */
  scope?: "ORGANIZATION" | "PROJECT" | (string & {}) | undefined;
}

/** Parameters of `domains.list`. */
export interface DomainsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `domains.delete`. */
export interface DomainsDeleteParams {
  /** Delete the domain even if messages wait to be sent from it. */
  force?: boolean | undefined;
}

/** Parameters of `domains.getDmarcSummary`. */
export interface DomainsGetDmarcSummaryParams {
  /** The number of past days in UTC, including today. */
  days?: number | undefined;
}

/** Parameters of `webhooks.list`. */
export interface WebhooksListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `webhooks.deliveries.list`. */
export interface WebhooksDeliveriesListParams {
  /** Status. */
  status?: ("FAILED" | "PENDING" | "SUCCEEDED" | (string & {}))[] | undefined;
  /** Event. */
  event?: string[] | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `assets.create`. */
export interface AssetsCreateParams {
  /** A name to recognise the image by, such as its file name. */
  name?: string | undefined;
}

/** Parameters of `assets.list`. */
export interface AssetsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `templates.list`. */
export interface TemplatesListParams {
  /** Part of name or subject, in any letter case. */
  q?: string | undefined;
  /** `summary`: without html, text and builderJson. */
  view?: "full" | "summary" | (string & {}) | undefined;
  /** Only records that were created at this time or later. */
  from?: string | undefined;
  /** Only records that were created before this time. */
  to?: string | undefined;
  /** Order; `-` is descending. `name` ignores the letter case. */
  sort?: "-createdAt" | "-name" | "-updatedAt" | "createdAt" | "name" | "updatedAt" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /** `total`: the header `Total-Count`, the number of matching records, counted up to 10,000. */
  include?: ("total" | (string & {}))[] | undefined;
}

/** Parameters of `contacts.imports.create`. */
export interface ContactsImportsCreateParams {
  /** Mode. */
  mode?: "skip" | "upsert" | (string & {}) | undefined;
  /**
   * Character encoding of the file, such as `windows-1252`. A byte order mark takes precedence; this parameter
   * overrides the `charset` of `Content-Type`. UTF-8, UTF-16 with a byte order mark and Windows-1252 are detected.
   */
  charset?: string | undefined;
  /**
   * Mapping of columns as a JSON object, keyed by column name. Values: `email`, `unsubscribed`, `subscribed` (the
   * opposite), `attributes` (a JSON object), `attributes.<name>`, or null to exclude it. Columns that are not listed
   * are mapped automatically.
   */
  columns?: string | undefined;
  /** Attribute types to declare before the import, as a JSON object: `{"zip": "string"}`. */
  attributeTypes?: string | undefined;
}

/** Parameters of `contacts.imports.preview`. */
export interface ContactsImportsPreviewParams {
  /**
   * Character encoding of the file, such as `windows-1252`. A byte order mark takes precedence; this parameter
   * overrides the `charset` of `Content-Type`. UTF-8, UTF-16 with a byte order mark and Windows-1252 are detected.
   */
  charset?: string | undefined;
  /**
   * Mapping of columns as a JSON object, keyed by column name. Values: `email`, `unsubscribed`, `subscribed` (the
   * opposite), `attributes` (a JSON object), `attributes.<name>`, or null to exclude it. Columns that are not listed
   * are mapped automatically.
   */
  columns?: string | undefined;
  /** Attribute types to declare before the import, as a JSON object: `{"zip": "string"}`. */
  attributeTypes?: string | undefined;
}

/** Parameters of `contacts.imports.list`. */
export interface ContactsImportsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `contacts.list`. */
export interface ContactsListParams {
  /** Part of the address. */
  q?: string | undefined;
  /** Unsubscribed. */
  unsubscribed?: boolean | undefined;
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /** Count no more than this many records: a `total` of this number means that many or more. */
  countLimit?: number | undefined;
}

/** Parameters of `contacts.attributes.list`. */
export interface ContactsAttributesListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `audiences.list`. */
export interface AudiencesListParams {
  /** Part of the name, in any letter case. */
  q?: string | undefined;
  /** Type. */
  type?: "DYNAMIC" | "STATIC" | (string & {}) | undefined;
  /** Only records that were created at this time or later. */
  from?: string | undefined;
  /** Only records that were created before this time. */
  to?: string | undefined;
  /** Order; `-` is descending. `name` ignores the letter case. */
  sort?: "-createdAt" | "-name" | "-updatedAt" | "createdAt" | "name" | "updatedAt" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /**
   * `counts`: each record with its counts, such as the number of members; `limit` is then at most 100. `total`: the
   * header `Total-Count`, the number of matching records, counted up to 10,000.
   */
  include?: ("counts" | "total" | (string & {}))[] | undefined;
}

/** Parameters of `audiences.contacts.list`. */
export interface AudiencesContactsListParams {
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /** Count no more than this many records: a `total` of this number means that many or more. */
  countLimit?: number | undefined;
}

/** Parameters of `emails.list`. */
export interface EmailsListParams {
  /** One or several statuses, separated by commas. */
  status?: ("BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {}))[] | undefined;
  /** Part of a recipient (to, cc or bcc), the subject or the message id. */
  q?: string | undefined;
  /** Only sends that were created at this time or later. */
  from?: string | undefined;
  /** Only sends that were created before this time. */
  to?: string | undefined;
  /** Only sends with this tag. */
  tag?: string | undefined;
  /** Only the sends of this campaign. */
  campaignId?: string | undefined;
  /** Only sends from this sending domain, by its id. */
  domainId?: string | undefined;
  /** Only sends to exactly this address in to, cc or bcc. */
  recipient?: string | undefined;
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /** Count no more than this many records: a `total` of this number means that many or more. */
  countLimit?: number | undefined;
}

/** Parameters of `emails.export`. */
export interface EmailsExportParams {
  /** One or several statuses, separated by commas. */
  status?: ("BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {}))[] | undefined;
  /** Part of a recipient (to, cc or bcc), the subject or the message id. */
  q?: string | undefined;
  /** Only sends that were created at this time or later. */
  from?: string | undefined;
  /** Only sends that were created before this time. */
  to?: string | undefined;
  /** Only sends with this tag. */
  tag?: string | undefined;
  /** Only the sends of this campaign. */
  campaignId?: string | undefined;
  /** Only sends from this sending domain, by its id. */
  domainId?: string | undefined;
  /** Only sends to exactly this address in to, cc or bcc. */
  recipient?: string | undefined;
}

/** Parameters of `suppressions.list`. */
export interface SuppressionsListParams {
  /** Reason. */
  reason?: "BOUNCE" | "COMPLAINT" | "MANUAL" | "UNSUBSCRIBE" | (string & {}) | undefined;
  /** Q. */
  q?: string | undefined;
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `suppressions.export`. */
export interface SuppressionsExportParams {
  /** Reason. */
  reason?: "BOUNCE" | "COMPLAINT" | "MANUAL" | "UNSUBSCRIBE" | (string & {}) | undefined;
  /** Q. */
  q?: string | undefined;
}

/** Parameters of `deliverySites.list`. */
export interface DeliverySitesListParams {
  /** Part of the name of the site, the provider or a mail server. */
  q?: string | undefined;
  /** State. */
  state?: "OPEN" | "SLOWED" | "SUSPENDED" | (string & {}) | undefined;
  /** Transport. */
  transport?: "direct" | "relay" | "ses" | (string & {}) | undefined;
  /** Only records that were created at this time or later. */
  from?: string | undefined;
  /** Only records that were created before this time. */
  to?: string | undefined;
  /** Order; `-` is descending. `name` ignores the letter case. */
  sort?: "-createdAt" | "-name" | "-updatedAt" | "createdAt" | "name" | "updatedAt" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /** `total`: the header `Total-Count`, the number of matching records, counted up to 10,000. */
  include?: ("total" | (string & {}))[] | undefined;
}

/** Parameters of `domains.getReputation`. */
export interface DomainsGetReputationParams {
  /** The number of past days in `days`, in UTC, including today. */
  days?: number | undefined;
}

/** Parameters of `customers.list`. */
export interface CustomersListParams {
  /** Q. */
  q?: string | undefined;
  /** Status. */
  status?: "active" | "banned" | "locked" | "mfa" | "unverified" | "verified" | (string & {}) | undefined;
  /** Provider. */
  provider?: string | undefined;
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `customers.export`. */
export interface CustomersExportParams {
  /** Q. */
  q?: string | undefined;
  /** Status. */
  status?: "active" | "banned" | "locked" | "mfa" | "unverified" | "verified" | (string & {}) | undefined;
  /** Provider. */
  provider?: string | undefined;
}

/** Parameters of `customers.delete`. */
export interface CustomersDeleteParams {
  /** Transfer ownership to. */
  transferOwnershipTo?: string | undefined;
}

/** Parameters of `customers.listTimeline`. */
export interface CustomersListTimelineParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `customers.listEvents`. */
export interface CustomersListEventsParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `customers.listAuditLog`. */
export interface CustomersListAuditLogParams {
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `apps.customers.list`. */
export interface AppsCustomersListParams {
  /** Q. */
  q?: string | undefined;
  /** Status. */
  status?: "active" | "banned" | "locked" | "mfa" | "unverified" | "verified" | (string & {}) | undefined;
  /** Provider. */
  provider?: string | undefined;
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `apps.customers.export`. */
export interface AppsCustomersExportParams {
  /** Q. */
  q?: string | undefined;
  /** Status. */
  status?: "active" | "banned" | "locked" | "mfa" | "unverified" | "verified" | (string & {}) | undefined;
  /** Provider. */
  provider?: string | undefined;
}

/** Parameters of `apps.customers.delete`. */
export interface AppsCustomersDeleteParams {
  /** Transfer ownership to. */
  transferOwnershipTo?: string | undefined;
}

/** Parameters of `apps.customers.listAuditLog`. */
export interface AppsCustomersListAuditLogParams {
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `pages.impersonationLink`. */
export interface PagesImpersonationLinkParams {
  /** Token. */
  token?: string | undefined;
}

/** Parameters of `pages.submitImpersonationLink`. */
export interface PagesSubmitImpersonationLinkParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.deniedSignIn`. */
export interface PagesDeniedSignInParams {
  /** Token. */
  token?: string | undefined;
}

/** Parameters of `pages.denySignIn`. */
export interface PagesDenySignInParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `auth.startProviderSignIn`. */
export interface AuthStartProviderSignInParams {
  /** Redirect url. */
  redirectUrl: string;
  /** An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url. */
  codeChallenge: string;
  /** State. */
  state?: string | undefined;
  /** Link. */
  link?: string | undefined;
  /** Hosted. */
  hosted?: boolean | undefined;
  /** Factor. */
  factor?: string | undefined;
}

/** Parameters of `pages.providerCallback`. */
export interface PagesProviderCallbackParams {
  /** State. */
  state: string;
  /** Code. */
  code?: string | undefined;
  /** Error. */
  error?: string | undefined;
  /** Iss. */
  iss?: string | undefined;
  /** User name. */
  userName?: string | undefined;
}

/** Parameters of `pages.submitProviderCallback`. */
export interface PagesSubmitProviderCallbackParams {
  /** State of the sign-in, as it was sent. */
  state?: string | undefined;
  /** Authorization code. */
  code?: string | undefined;
  /** Error code of the provider (RFC 6749 §4.1.2.1). */
  error?: string | undefined;
  /** Issuer (RFC 9207). */
  iss?: string | undefined;
  /** Name and address as JSON, which Apple sends at the first sign-in only. */
  user?: string | undefined;
}

/** Parameters of `customers.identityRequests.list`. */
export interface CustomersIdentityRequestsListParams {
  /** Status. */
  status?: string | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `pages.submitSignIn`. */
export interface PagesSubmitSignInParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.submitSignUp`. */
export interface PagesSubmitSignUpParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.resendSignUpCode`. */
export interface PagesResendSignUpCodeParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.verifySignUp`. */
export interface PagesVerifySignUpParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.requestCode`. */
export interface PagesRequestCodeParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.startSso`. */
export interface PagesStartSsoParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.submitCode`. */
export interface PagesSubmitCodeParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.submitSecondFactor`. */
export interface PagesSubmitSecondFactorParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.enrollSecondFactor`. */
export interface PagesEnrollSecondFactorParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.confirmRecoveryCodes`. */
export interface PagesConfirmRecoveryCodesParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.submitTerms`. */
export interface PagesSubmitTermsParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.passkeyOptions`. */
export interface PagesPasskeyOptionsParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.submitPasskey`. */
export interface PagesSubmitPasskeyParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.addPasskey`. */
export interface PagesAddPasskeyParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.skipPasskey`. */
export interface PagesSkipPasskeyParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.submitForgotPassword`. */
export interface PagesSubmitForgotPasswordParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pages.resetPassword`. */
export interface PagesResetPasswordParams {
  /** Token. */
  token?: string | undefined;
}

/** Parameters of `pages.submitResetPassword`. */
export interface PagesSubmitResetPasswordParams {
  /** E-mail address. */
  email?: string | undefined;
  /** Password. */
  password?: string | undefined;
  /** Name of the person who signs up. */
  name?: string | undefined;
  /** One-time code from the mail or the authenticator app. */
  code?: string | undefined;
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** Id of the challenge, from the previous page. */
  challengeId?: string | undefined;
  /** Token for the second factor, from the previous page. */
  mfaToken?: string | undefined;
  /** Token of the sign-in that waits for the terms, from the previous page. */
  termsToken?: string | undefined;
  /** Version of the terms that the person has accepted. */
  acceptedTerms?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** Token of this page, from its hidden form field; it can complete the page once. */
  pageToken?: string | undefined;
  /** Where the browser goes after sign-in; one of the project's `redirectUrls`. */
  redirectUrl?: string | undefined;
  /** S256 code challenge (RFC 7636). */
  codeChallenge?: string | undefined;
  /** Value of the app, returned to `redirectUrl` unchanged. */
  state?: string | undefined;
  /** `passkey` to offer adding a passkey after sign-in. */
  then?: string | undefined;
  /** `ask` to ask for the second factor on a remembered device, too. */
  factor?: string | undefined;
  /** Whether the second factor shall not be asked for on this device again for some days. */
  remember?: string | undefined;
  /** If this is sent, the page is shown again, in the language `lang` of the query. */
  switch?: string | undefined;
}

/** Parameters of `pageTexts.list`. */
export interface PageTextsListParams {
  /** Changed. */
  changed?: boolean | undefined;
  /** Q. */
  q?: string | undefined;
}

/** Parameters of `sso.listAll`. */
export interface SsoListAllParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `sso.list`. */
export interface SsoListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `sso.listTraces`. */
export interface SsoListTracesParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `apps.sso.list`. */
export interface AppsSsoListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `apps.sso.listTraces`. */
export interface AppsSsoListTracesParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `campaigns.list`. */
export interface CampaignsListParams {
  /** Part of name or subject, in any letter case. */
  q?: string | undefined;
  /** One or several statuses, separated by commas. */
  status?: ("CANCELLED" | "DRAFT" | "FAILED" | "PAUSED" | "SCHEDULED" | "SENDING" | "SENT" | "TESTING" | (string & {}))[] | undefined;
  /** Only records that were created at this time or later. */
  from?: string | undefined;
  /** Only records that were created before this time. */
  to?: string | undefined;
  /** Order; `-` is descending. `name` ignores the letter case. */
  sort?: "-createdAt" | "-name" | "-updatedAt" | "createdAt" | "name" | "updatedAt" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /**
   * `counts`: each record with its counts, such as the number of members; `limit` is then at most 100. `total`: the
   * header `Total-Count`, the number of matching records, counted up to 10,000.
   */
  include?: ("counts" | "total" | (string & {}))[] | undefined;
}

/** Parameters of `campaigns.listSends`. */
export interface CampaignsListSendsParams {
  /** Status. */
  status?: ("BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {}))[] | undefined;
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `campaigns.exportSends`. */
export interface CampaignsExportSendsParams {
  /** Status. */
  status?: ("BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {}))[] | undefined;
}

/** Parameters of `analytics.get`. */
export interface AnalyticsGetParams {
  /** Only this number of past days; all time if absent. */
  days?: number | undefined;
}

/** Parameters of `analytics.getTimeSeries`. */
export interface AnalyticsGetTimeSeriesParams {
  /** A calendar date, YYYY-MM-DD. */
  from?: string | undefined;
  /** A calendar date, YYYY-MM-DD. */
  to?: string | undefined;
  /** An IANA time zone, such as Europe/Berlin. */
  timezone?: string | undefined;
  /** Only the sends of this campaign. */
  campaignId?: string | undefined;
}

/** Parameters of `analytics.getByDomain`. */
export interface AnalyticsGetByDomainParams {
  /** A calendar date, YYYY-MM-DD. */
  from?: string | undefined;
  /** A calendar date, YYYY-MM-DD. */
  to?: string | undefined;
  /** An IANA time zone, such as Europe/Berlin. */
  timezone?: string | undefined;
  /** Only the sends of this campaign. */
  campaignId?: string | undefined;
}

/** Parameters of `analytics.export`. */
export interface AnalyticsExportParams {
  /** A calendar date, YYYY-MM-DD. */
  from?: string | undefined;
  /** A calendar date, YYYY-MM-DD. */
  to?: string | undefined;
  /** An IANA time zone, such as Europe/Berlin. */
  timezone?: string | undefined;
  /** Only the sends of this campaign. */
  campaignId?: string | undefined;
}

/** Parameters of `tracking.click`. */
export interface TrackingClickParams {
  /** The target URL of the link. */
  u?: string | undefined;
  /** The link's signature. */
  s?: string | undefined;
}

/** Parameters of `tracking.showUnsubscribe`. */
export interface TrackingShowUnsubscribeParams {
  /** The link's signature. */
  s?: string | undefined;
}

/** Parameters of `tracking.unsubscribe`. */
export interface TrackingUnsubscribeParams {
  /** The link's signature. */
  s?: string | undefined;
}

/** Parameters of `inbound.listUnrecognized`. */
export interface InboundListUnrecognizedParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `inbound.routes.list`. */
export interface InboundRoutesListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `inbound.list`. */
export interface InboundListParams {
  /** Only messages that were received at this time or later. */
  from?: string | undefined;
  /** Only messages that were received before this time. */
  to?: string | undefined;
  /** Only messages to exactly this address in the envelope, in any letter case. */
  recipient?: string | undefined;
  /** Only messages with this address in From, in any letter case. */
  sender?: string | undefined;
  /** Only messages to this route. */
  routeId?: string | undefined;
  /** Only replies to this e-mail. */
  emailId?: string | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `inbound.add`. */
export interface InboundAddParams {
  /** The recipients in the envelope, separated by commas. By default, those in the header. */
  recipients?: string[] | undefined;
  /** The envelope sender, for SPF; empty for the null reverse-path. */
  sender?: string | undefined;
  /** The IP address of the client, for SPF; without it, SPF has no result. */
  clientIp?: string | undefined;
  /** The name that the client gave in EHLO, for SPF. */
  clientName?: string | undefined;
}

/** Parameters of `inbox.list`. */
export interface InboxListParams {
  /** Q. */
  q?: string | undefined;
  /** Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further. */
  page?: number | undefined;
  /** Records per page. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `automations.list`. */
export interface AutomationsListParams {
  /** Part of the name, in any letter case. */
  q?: string | undefined;
  /** Active. */
  active?: boolean | undefined;
  /** Only records that were created at this time or later. */
  from?: string | undefined;
  /** Only records that were created before this time. */
  to?: string | undefined;
  /** Order; `-` is descending. `name` ignores the letter case. */
  sort?: "-createdAt" | "-name" | "-updatedAt" | "createdAt" | "name" | "updatedAt" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /**
   * `counts`: each record with its counts, such as the number of members; `limit` is then at most 100. `total`: the
   * header `Total-Count`, the number of matching records, counted up to 10,000.
   */
  include?: ("counts" | "total" | (string & {}))[] | undefined;
}

/** Parameters of `automations.runs.list`. */
export interface AutomationsRunsListParams {
  /** Status. */
  status?: ("CANCELLED" | "COMPLETED" | "EXITED" | "FAILED" | "RUNNING" | "WAITING" | (string & {}))[] | undefined;
  /** Contact id. */
  contactId?: string | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `organizations.list`. */
export interface OrganizationsListParams {
  /** External id. */
  externalId?: string | undefined;
  /** Part of name, slug or external id, in any letter case. */
  q?: string | undefined;
  /** Status. */
  status?: "ACTIVE" | "SUSPENDED" | (string & {}) | undefined;
  /** Only records that were created at this time or later. */
  from?: string | undefined;
  /** Only records that were created before this time. */
  to?: string | undefined;
  /** Order; `-` is descending. `name` ignores the letter case. */
  sort?: "-createdAt" | "-name" | "-updatedAt" | "createdAt" | "name" | "updatedAt" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /** `total`: the header `Total-Count`, the number of matching records, counted up to 10,000. */
  include?: ("total" | (string & {}))[] | undefined;
}

/** Parameters of `organizations.members.list`. */
export interface OrganizationsMembersListParams {
  /** Part of the name or address, in any letter case. */
  q?: string | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `auth.organizations.list`. */
export interface AuthOrganizationsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `customers.listOrganizations`. */
export interface CustomersListOrganizationsParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `organizations.invitations.list`. */
export interface OrganizationsInvitationsListParams {
  /** Status. */
  status?: "ACCEPTED" | "EXPIRED" | "PENDING" | "REVOKED" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `pages.invitation`. */
export interface PagesInvitationParams {
  /** Token. */
  token?: string | undefined;
}

/** Parameters of `pages.submitInvitation`. */
export interface PagesSubmitInvitationParams {
  /** Token from the link in the mail. */
  token?: string | undefined;
  /** `decline` to decline the invitation; otherwise it is accepted. */
  answer?: string | undefined;
}

/** Parameters of `organizations.domains.list`. */
export interface OrganizationsDomainsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `apps.organizations.list`. */
export interface AppsOrganizationsListParams {
  /** External id. */
  externalId?: string | undefined;
  /** Part of name, slug or external id, in any letter case. */
  q?: string | undefined;
  /** Status. */
  status?: "ACTIVE" | "SUSPENDED" | (string & {}) | undefined;
  /** Only records that were created at this time or later. */
  from?: string | undefined;
  /** Only records that were created before this time. */
  to?: string | undefined;
  /** Order; `-` is descending. `name` ignores the letter case. */
  sort?: "-createdAt" | "-name" | "-updatedAt" | "createdAt" | "name" | "updatedAt" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
  /** `total`: the header `Total-Count`, the number of matching records, counted up to 10,000. */
  include?: ("total" | (string & {}))[] | undefined;
}

/** Parameters of `apps.organizations.members.list`. */
export interface AppsOrganizationsMembersListParams {
  /** Part of the name or address, in any letter case. */
  q?: string | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `apps.organizations.invitations.list`. */
export interface AppsOrganizationsInvitationsListParams {
  /** Status. */
  status?: "ACCEPTED" | "EXPIRED" | "PENDING" | "REVOKED" | (string & {}) | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `features.list`. */
export interface FeaturesListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `plans.list`. */
export interface PlansListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `auth.findSsoConnection`. */
export interface AuthFindSsoConnectionParams {
  /** Email. */
  email: string;
}

/** Parameters of `saml.begin`. */
export interface SamlBeginParams {
  /** Redirect url. */
  redirectUrl?: string | undefined;
  /** An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url. */
  codeChallenge?: string | undefined;
  /** State. */
  state?: string | undefined;
  /** Test. */
  test?: string | undefined;
}

/** Parameters of `saml.receiveResponse`. */
export interface SamlReceiveResponseParams {
  /** The SAML response in base64. */
  SAMLResponse?: string | undefined;
  /** The RelayState of the authentication request. */
  RelayState?: string | undefined;
}

/** Parameters of `saml.submitLogout`. */
export interface SamlSubmitLogoutParams {
  /** A SAML logout request, base64-encoded. */
  SAMLRequest?: string | undefined;
  /** The response to a logout request, base64-encoded. */
  SAMLResponse?: string | undefined;
  /** The RelayState of the logout request. */
  RelayState?: string | undefined;
}

/** Parameters of `oidc.begin`. */
export interface OidcBeginParams {
  /** Redirect url. */
  redirectUrl?: string | undefined;
  /** An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url. */
  codeChallenge?: string | undefined;
  /** State. */
  state?: string | undefined;
  /** Test. */
  test?: string | undefined;
}

/** Parameters of `oidc.receiveResponse`. */
export interface OidcReceiveResponseParams {
  /** State. */
  state?: string | undefined;
  /** Code. */
  code?: string | undefined;
  /** Error. */
  error?: string | undefined;
  /** Error description. */
  errorDescription?: string | undefined;
  /** Iss. */
  iss?: string | undefined;
}

/** Parameters of `oidc.receiveLogout`. */
export interface OidcReceiveLogoutParams {
  /** State. */
  state?: string | undefined;
}

/** Parameters of `oidc.receiveBackchannelLogout`. */
export interface OidcReceiveBackchannelLogoutParams {
  /** A logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). */
  logout_token?: string | undefined;
}

/** Parameters of `directories.list`. */
export interface DirectoriesListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `directories.listUsers`. */
export interface DirectoriesListUsersParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `directories.listGroups`. */
export interface DirectoriesListGroupsParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `organizations.setupLinks.list`. */
export interface OrganizationsSetupLinksListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `oauthClients.list`. */
export interface OauthClientsListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `oauthResources.list`. */
export interface OauthResourcesListParams {
  /** Maximum number of records. */
  limit?: number | undefined;
  /** The cursor from the previous response, with the same filters. */
  cursor?: string | undefined;
}

/** Parameters of `oauth.submitAuthorization`. */
export interface OauthSubmitAuthorizationParams {
  /** Id of the client. */
  client_id?: string | undefined;
  /** Where the response goes; one of the client's `redirectUris`. */
  redirect_uri?: string | undefined;
  /** `code`. */
  response_type?: string | undefined;
  /** `query` (default) or `form_post`. */
  response_mode?: string | undefined;
  /** Scopes, separated by spaces. */
  scope?: string | undefined;
  /** Identifier of the API for which the access token is (RFC 8707). */
  resource?: string | undefined;
  /** Value of the client, returned unchanged. */
  state?: string | undefined;
  /** Value of the client, returned in the ID token. */
  nonce?: string | undefined;
  /** S256 code challenge (RFC 7636); required. */
  code_challenge?: string | undefined;
  /** `S256`. */
  code_challenge_method?: string | undefined;
  /** Thumbprint of the key to which the code is bound (RFC 9449 §10). */
  dpop_jkt?: string | undefined;
  /** That of a pushed authorization request (RFC 9126), instead of all parameters except `client_id`. */
  request_uri?: string | undefined;
  /** `none`, or `login`, `consent`, `select_account` or `create`. */
  prompt?: string | undefined;
  /** Levels of authentication, the preferred one first, separated by spaces; see `acr_values_supported`. */
  acr_values?: string | undefined;
  /** JSON object of claims; it can make `acr` of the ID token essential. */
  claims?: string | undefined;
  /** Maximum age of the sign-in, in seconds. */
  max_age?: string | undefined;
  /** E-mail address to enter into the sign-in page. */
  login_hint?: string | undefined;
  /** ID token of the customer who should be signed in. */
  id_token_hint?: string | undefined;
  /** Preferred languages of the pages, separated by spaces, such as `de en`. */
  ui_locales?: string | undefined;
}

/** Parameters of `oauth.continueAuthorization`. */
export interface OauthContinueAuthorizationParams {
  /** State. */
  state?: string | undefined;
  /** Code. */
  code?: string | undefined;
  /** Error. */
  error?: string | undefined;
}

/** Parameters of `oauth.resumeAuthorization`. */
export interface OauthResumeAuthorizationParams {
  /** Token. */
  token?: string | undefined;
}

/** Parameters of `oauth.submitConsent`. */
export interface OauthSubmitConsentParams {
  /** Token of the authorization request, from the consent page. */
  token?: string | undefined;
  /** Id of the session that the consent page was shown to. */
  session?: string | undefined;
  /** `allow`; anything else denies. */
  decision?: string | undefined;
}

/** Parameters of `oauth.submitStepUp`. */
export interface OauthSubmitStepUpParams {
  /** Token of the authorization request, from the page. */
  token?: string | undefined;
  /** Id of the session that the page was shown to. */
  session?: string | undefined;
  /** Code of the authenticator app, or a recovery code. */
  code?: string | undefined;
  /** Id of the challenge for the passkey. */
  challengeId?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** `cancel` to return to the client without. */
  decision?: string | undefined;
}

/** Parameters of `oauth.passkeyOptionsForStepUp`. */
export interface OauthPasskeyOptionsForStepUpParams {
  /** Token of the authorization request, from the page. */
  token?: string | undefined;
  /** Id of the session that the page was shown to. */
  session?: string | undefined;
  /** Code of the authenticator app, or a recovery code. */
  code?: string | undefined;
  /** Id of the challenge for the passkey. */
  challengeId?: string | undefined;
  /** Credential from the browser's `navigator.credentials`, as JSON. */
  credential?: string | undefined;
  /** `cancel` to return to the client without. */
  decision?: string | undefined;
}

/** Parameters of `oauth.createTokens`. */
export interface OauthCreateTokensParams {
  /** `authorization_code`, `refresh_token`, `client_credentials` or `urn:ietf:params:oauth:grant-type:device_code`. */
  grant_type?: string | undefined;
  /** Authorization code. */
  code?: string | undefined;
  /** Device code (RFC 8628). */
  device_code?: string | undefined;
  /** The same `redirect_uri` as in the authorization request. */
  redirect_uri?: string | undefined;
  /** Code verifier (RFC 7636). */
  code_verifier?: string | undefined;
  /** Refresh token. */
  refresh_token?: string | undefined;
  /** Scopes, separated by spaces; fewer than were granted with `refresh_token`. */
  scope?: string | undefined;
  /**
   * Identifier of the API for which the token is (RFC 8707); with a code or a refresh token, that of the authorization
   * request, or left out.
   */
  resource?: string | undefined;
  /** Id of the client, unless the `Authorization` header or the assertion has it. */
  client_id?: string | undefined;
  /** Secret of the client, unless the `Authorization` header has it. */
  client_secret?: string | undefined;
  /** `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client authenticates with a key. */
  client_assertion_type?: string | undefined;
  /** JWT that the client has signed with its key (RFC 7523). */
  client_assertion?: string | undefined;
}

/** Parameters of `oauth.pushAuthorization`. */
export interface OauthPushAuthorizationParams {
  /** Id of the client, unless the `Authorization` header or the assertion has it. */
  client_id?: string | undefined;
  /** Where the response goes; one of the client's `redirectUris`. */
  redirect_uri?: string | undefined;
  /** `code`. */
  response_type?: string | undefined;
  /** `query` (default) or `form_post`. */
  response_mode?: string | undefined;
  /** Scopes, separated by spaces. */
  scope?: string | undefined;
  /** Identifier of the API for which the access token is (RFC 8707). */
  resource?: string | undefined;
  /** Value of the client, returned unchanged. */
  state?: string | undefined;
  /** Value of the client, returned in the ID token. */
  nonce?: string | undefined;
  /** S256 code challenge (RFC 7636); required. */
  code_challenge?: string | undefined;
  /** `S256`. */
  code_challenge_method?: string | undefined;
  /** Thumbprint of the key to which the code is bound (RFC 9449 §10). */
  dpop_jkt?: string | undefined;
  /** That of a pushed authorization request (RFC 9126), instead of all parameters except `client_id`. */
  request_uri?: string | undefined;
  /** `none`, or `login`, `consent`, `select_account` or `create`. */
  prompt?: string | undefined;
  /** Levels of authentication, the preferred one first, separated by spaces; see `acr_values_supported`. */
  acr_values?: string | undefined;
  /** JSON object of claims; it can make `acr` of the ID token essential. */
  claims?: string | undefined;
  /** Maximum age of the sign-in, in seconds. */
  max_age?: string | undefined;
  /** E-mail address to enter into the sign-in page. */
  login_hint?: string | undefined;
  /** ID token of the customer who should be signed in. */
  id_token_hint?: string | undefined;
  /** Preferred languages of the pages, separated by spaces, such as `de en`. */
  ui_locales?: string | undefined;
  /** Secret of the client, unless the `Authorization` header has it. */
  client_secret?: string | undefined;
  /** `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client authenticates with a key. */
  client_assertion_type?: string | undefined;
  /** JWT that the client has signed with its key (RFC 7523). */
  client_assertion?: string | undefined;
}

/** Parameters of `oauth.revokeToken`. */
export interface OauthRevokeTokenParams {
  /** The token. */
  token?: string | undefined;
  /** `access_token` or `refresh_token`; not needed. */
  token_type_hint?: string | undefined;
  /** Id of the client, unless the `Authorization` header or the assertion has it. */
  client_id?: string | undefined;
  /** Secret of the client, unless the `Authorization` header has it. */
  client_secret?: string | undefined;
  /** `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client authenticates with a key. */
  client_assertion_type?: string | undefined;
  /** JWT that the client has signed with its key (RFC 7523). */
  client_assertion?: string | undefined;
}

/** Parameters of `oauth.introspectToken`. */
export interface OauthIntrospectTokenParams {
  /** The token. */
  token?: string | undefined;
  /** `access_token` or `refresh_token`; not needed. */
  token_type_hint?: string | undefined;
  /** Id of the client, unless the `Authorization` header or the assertion has it. */
  client_id?: string | undefined;
  /** Secret of the client, unless the `Authorization` header has it. */
  client_secret?: string | undefined;
  /** `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client authenticates with a key. */
  client_assertion_type?: string | undefined;
  /** JWT that the client has signed with its key (RFC 7523). */
  client_assertion?: string | undefined;
}

/** Parameters of `oauth.submitUserinfo`. */
export interface OauthSubmitUserinfoParams {
  /** The access token, unless the `Authorization` header has it. */
  access_token?: string | undefined;
}

/** Parameters of `oauth.authorizeDevice`. */
export interface OauthAuthorizeDeviceParams {
  /** Scopes, separated by spaces. */
  scope?: string | undefined;
  /** Identifier of the API for which the access token is (RFC 8707). */
  resource?: string | undefined;
  /** Id of the client, unless the `Authorization` header or the assertion has it. */
  client_id?: string | undefined;
  /** Secret of the client, unless the `Authorization` header has it. */
  client_secret?: string | undefined;
  /** `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, if the client authenticates with a key. */
  client_assertion_type?: string | undefined;
  /** JWT that the client has signed with its key (RFC 7523). */
  client_assertion?: string | undefined;
}

/** Parameters of `oauth.submitDeviceCode`. */
export interface OauthSubmitDeviceCodeParams {
  /** The code that the device shows. */
  user_code?: string | undefined;
}

/** Parameters of `oauth.submitSignOut`. */
export interface OauthSubmitSignOutParams {
  /** An ID token of the session to end. */
  id_token_hint?: string | undefined;
  /** Id of the client, if `id_token_hint` is not sent. */
  client_id?: string | undefined;
  /** Where the browser goes afterwards; one of the client's `postLogoutRedirectUris`. */
  post_logout_redirect_uri?: string | undefined;
  /** Value of the client, returned unchanged. */
  state?: string | undefined;
}

/** Parameters of `oauth.confirmSignOut`. */
export interface OauthConfirmSignOutParams {
  /** An ID token of the session to end. */
  id_token_hint?: string | undefined;
  /** Id of the client, if `id_token_hint` is not sent. */
  client_id?: string | undefined;
  /** Where the browser goes afterwards; one of the client's `postLogoutRedirectUris`. */
  post_logout_redirect_uri?: string | undefined;
  /** Value of the client, returned unchanged. */
  state?: string | undefined;
  /** Id of the session that the page was shown to. */
  session?: string | undefined;
}

/** Every operation of the API, in groups. */
export interface Operations {
  readonly developers: DevelopersApi;
  readonly account: AccountApi;
  readonly projects: ProjectsApi;
  readonly apiKeys: ApiKeysApi;
  readonly events: EventsApi;
  readonly access: AccessApi;
  readonly domains: DomainsApi;
  readonly senders: SendersApi;
  readonly webhooks: WebhooksApi;
  readonly assets: AssetsApi;
  readonly templates: TemplatesApi;
  readonly contacts: ContactsApi;
  readonly audiences: AudiencesApi;
  readonly emails: EmailsApi;
  readonly suppressions: SuppressionsApi;
  readonly deliverySites: DeliverySitesApi;
  readonly customers: CustomersApi;
  readonly apps: AppsApi;
  readonly signingKeys: SigningKeysApi;
  readonly auth: AuthApi;
  readonly signInHooks: SignInHooksApi;
  readonly pages: PagesApi;
  readonly providers: ProvidersApi;
  readonly customerMails: CustomerMailsApi;
  readonly pageTexts: PageTextsApi;
  readonly sso: SsoApi;
  readonly campaigns: CampaignsApi;
  readonly analytics: AnalyticsApi;
  readonly tracking: TrackingApi;
  readonly inbound: InboundApi;
  readonly inbox: InboxApi;
  readonly automations: AutomationsApi;
  readonly organizations: OrganizationsApi;
  readonly billing: BillingApi;
  readonly features: FeaturesApi;
  readonly plans: PlansApi;
  readonly entitlements: EntitlementsApi;
  readonly saml: SamlApi;
  readonly oidc: OidcApi;
  readonly directories: DirectoriesApi;
  readonly oauthClients: OauthClientsApi;
  readonly oauthResources: OauthResourcesApi;
  readonly oauth: OauthApi;
}

/** The methods of `client.developers`. */
export interface DevelopersApi {
  /**
   * Create a developer account with its owner and a first project, and sign in
   *
   * A mail asks to verify the address. Until then the session can only read, and send mail, which is captured;
   * everything else returns 403 `email_unverified`. Verification ends the session: sign in with the password. An
   * address that has an account gets the same response, and a mail about the attempt. A sign-up whose address is not
   * verified is deleted after 7 days.
   *
   * With `invitationToken` the developer becomes a member of the inviting account instead. Then the address needs no
   * verification, because the invitation was sent to it. Common passwords, and passwords that are just the address with
   * digits, are refused.
   *
   * Problems: `password_common`, `password_breached`, `link_invalid`, `sign_up_closed`, `email_taken`,
   * `too_many_requests`, `database_away`.
   */
  signUp(params: DeveloperSignUp, options?: RequestOptions): Promise<DeveloperSignInResult>;
  /**
   * Sign in with email address and password
   *
   * The access token is valid for 30 minutes, the refresh token for 30 days. The response and its time are the same for
   * unknown addresses and wrong passwords. If a second factor is on, a right password without `code` returns 401
   * `mfa_required`; `code` is a six-digit code of the app or a recovery code, and each works once. Ten failed attempts
   * lock the address for the client's network for 15 minutes, ten more for 30 minutes, then for an hour.
   *
   * Problems: `sign_in_failed`, `mfa_required`, `locked_out`, `too_many_requests`, `database_away`.
   */
  signIn(params: DeveloperSignIn, options?: RequestOptions): Promise<DeveloperSignInResult>;
  /**
   * Exchange a refresh token for new tokens
   *
   * A refresh token works once. If it is sent again within 30 seconds, because a response was lost or two tabs
   * refreshed at once, it returns the same tokens. Later, it counts as stolen, and the session ends.
   *
   * Problems: `refresh_token_invalid`, `too_many_requests`, `database_away`.
   */
  refresh(params: DeveloperTokenRefresh, options?: RequestOptions): Promise<DeveloperSignInResult>;
  /**
   * End this session
   *
   * Its tokens are refused from the next request on.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  signOut(options?: RequestOptions): Promise<void>;
  /**
   * Verify an address with the token that was sent to it
   *
   * A changed address applies from now on.
   *
   * The first verification of a new account deletes what was created before: sessions, second factors, keys, members
   * and invitations.
   *
   * Problems: `link_invalid`, `email_taken`, `locked_out`, `database_away`.
   */
  verifyEmail(params: VerifyEmail, options?: RequestOptions): Promise<VerifiedEmail>;
  /**
   * Send the mail that asks to verify your address again
   *
   * The link of the earlier mail becomes invalid.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  resendVerification(options?: RequestOptions): Promise<void>;
  /**
   * Send a link to choose a new password, which works once, for 30 minutes
   *
   * The response and its time do not reveal whether there is an account with this address.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  requestPasswordReset(params: ForgotPassword, options?: RequestOptions): Promise<void>;
  /**
   * Choose a new password with the token from the mail
   *
   * All sessions end, and an unconfirmed change of address is cancelled; the second factor stays on. If the address was
   * not verified yet, this verifies it, and deletes what was created before, including the second factor.
   *
   * Problems: `link_invalid`, `password_common`, `password_breached`, `locked_out`, `database_away`.
   */
  resetPassword(params: ResetPassword, options?: RequestOptions): Promise<void>;
  readonly sessions: DevelopersSessionsApi;
  readonly totp: DevelopersTotpApi;
  /**
   * Replace the recovery codes by ten new ones
   *
   * Credentials: developer.
   *
   * Problems: `password_wrong`, `code_wrong`, `mfa_not_enrolled`, `locked_out`, `too_many_requests`, `database_away`.
   */
  renewRecoveryCodes(params: PasswordAndCode, options?: RequestOptions): Promise<DeveloperRecoveryCodes>;
  readonly passkeys: DevelopersPasskeysApi;
  /**
   * Change your password
   *
   * Your other sessions end.
   *
   * Links that were mailed before become invalid, including one that confirms a new address.
   *
   * Credentials: developer.
   *
   * Problems: `password_common`, `password_breached`, `password_wrong`, `locked_out`, `too_many_requests`,
   * `database_away`.
   */
  changePassword(params: DeveloperPasswordChange, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.developers.sessions`. */
export interface DevelopersSessionsApi {
  /**
   * List your sessions, newest first
   *
   * `current` marks the session of this request.
   *
   * `methods` tells how you signed in: `pwd` (password), in addition `totp` or `recovery` (second factor), or `link` (a
   * sign-in link that the operator of this server created).
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<OwnSession[]>;
  /**
   * End all your sessions except this one
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  revokeOthers(options?: RequestOptions): Promise<void>;
  /**
   * End one of your sessions
   *
   * Its tokens are refused from the next request on.
   *
   * Credentials: developer.
   *
   * Problems: `session_missing`, `too_many_requests`, `database_away`.
   */
  revoke(sessionId: string, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.developers.totp`. */
export interface DevelopersTotpApi {
  /**
   * Start to set up an authenticator app
   *
   * The second factor is on once `/auth/mfa/totp/confirm` gets a first code.
   *
   * Credentials: developer.
   *
   * Problems: `password_wrong`, `mfa_already_enabled`, `locked_out`, `too_many_requests`, `database_away`.
   */
  enroll(params: PasswordAgain, options?: RequestOptions): Promise<DeveloperTotpEnrolment>;
  /**
   * Turn the second factor on with a first code of the authenticator app
   *
   * Your other sessions end.
   *
   * Credentials: developer.
   *
   * Problems: `code_wrong`, `mfa_already_enabled`, `mfa_not_enrolled`, `locked_out`, `too_many_requests`,
   * `database_away`.
   */
  confirm(params: TotpConfirmation, options?: RequestOptions): Promise<DeveloperRecoveryCodes>;
  /**
   * Turn the second factor off, and delete its recovery codes
   *
   * Credentials: developer.
   *
   * Problems: `password_wrong`, `code_wrong`, `mfa_not_enrolled`, `locked_out`, `too_many_requests`, `database_away`.
   */
  disable(params: PasswordAndCode, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.developers.passkeys`. */
export interface DevelopersPasskeysApi {
  /**
   * Start to add a passkey: pass `options` to `navigator.credentials.create`, and send the result to `register`
   *
   * Requires your password and, if a second factor is on, a `code`, because a passkey signs in without them. The
   * options are valid for 5 minutes.
   *
   * Credentials: developer.
   *
   * Problems: `mfa_required`, `password_wrong`, `code_wrong`, `mfa_not_enrolled`, `too_many_passkeys`, `locked_out`,
   * `too_many_requests`, `database_away`.
   */
  beginRegistration(params: PasswordAndAnyCode, options?: RequestOptions): Promise<PasskeyOptions>;
  /**
   * Add the passkey that the browser created
   *
   * A mail informs you.
   *
   * Credentials: developer.
   *
   * Problems: `code_invalid`, `too_many_passkeys`, `too_many_requests`, `database_away`.
   */
  register(params: NewPasskey, options?: RequestOptions): Promise<Passkey>;
  /**
   * List your passkeys, newest first; at most 20
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<Passkey[]>;
  /**
   * Remove a passkey
   *
   * You can still sign in with your password. A mail informs you.
   *
   * Credentials: developer.
   *
   * Problems: `passkey_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /**
   * Start to sign in with a passkey: pass `options` to `navigator.credentials.get`
   *
   * No email address is needed.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  beginSignIn(options?: RequestOptions): Promise<PasskeyOptions>;
  /**
   * Sign in with a passkey
   *
   * No second factor is required, because the authenticator verifies its user (PIN, face).
   *
   * Problems: `sign_in_failed`, `code_invalid`, `too_many_requests`, `database_away`.
   */
  signIn(params: PasskeySignIn, options?: RequestOptions): Promise<DeveloperSignInResult>;
}

/** The methods of `client.account`. */
export interface AccountApi {
  /**
   * Get your profile, your account and its projects
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  get(options?: RequestOptions): Promise<AccountProfile>;
  /**
   * Change your name or address, or the account's name (`account:write`)
   *
   * A new address requires your `password`, and applies when you follow the link in the mail to it; until then it is
   * returned as `pendingEmail`. A mail informs the old address. If another developer has the new address, that
   * developer gets a mail about the attempt, without a link. Honours `If-Match`.
   *
   * Credentials: developer.
   *
   * Problems: `password_wrong`, `locked_out`, `too_many_requests`, `database_away`.
   */
  update(params: AccountProfileChange, options?: RequestOptions): Promise<AccountProfile>;
  /**
   * Delete the account with its members, projects and all data
   *
   * Requires the owner's password; cannot be undone.
   *
   * All tokens and keys are refused from the next request on, and the members' addresses can sign up again at once. The
   * rows are deleted in the background.
   *
   * Permission: `account:own`.
   *
   * Credentials: developer.
   *
   * Problems: `password_wrong`, `locked_out`, `too_many_requests`, `database_away`.
   */
  delete(params: AccountDeletion, options?: RequestOptions): Promise<Deleted>;
  readonly members: AccountMembersApi;
  readonly invitations: AccountInvitationsApi;
  /**
   * Leave the account
   *
   * Your developer account is deleted. The owner must transfer ownership first.
   *
   * Credentials: developer.
   *
   * Problems: `owner_stays`, `too_many_requests`, `database_away`.
   */
  leave(options?: RequestOptions): Promise<void>;
  readonly auditLog: AccountAuditLogApi;
  /**
   * Export all data of your account as one JSON document, which is streamed
   *
   * It contains `account`, `members`, `invitations`, `sessions` of members, `billing`, `auditLog`, and for each of
   * `projects` its settings and all rows by kind of record. It does not contain secrets: hashes of passwords and keys,
   * private keys, tokens and relay passwords. The rows are read in chunks, not as a snapshot: changes during the export
   * may or may not be included.
   *
   * Permission: `account:export`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  export(options?: RequestOptions): Promise<{ [key: string]: unknown }>;
}

/** The methods of `client.account.members`. */
export interface AccountMembersApi {
  /**
   * List the members of your account, newest first
   *
   * Permission: `account:read`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AccountMembersListParams, options?: RequestOptions): PagePromise<AccountMember>;
  /**
   * Change the role of a member
   *
   * It applies from the member's next request on.
   *
   * If the member may no longer invite, their open invitations are revoked.
   *
   * Permission: `account:write`.
   *
   * Credentials: developer.
   *
   * Problems: `member_missing`, `owner_stays`, `too_many_requests`, `database_away`.
   */
  updateRole(userId: string, params: AccountMemberRoleChange, options?: RequestOptions): Promise<AccountMember>;
  /**
   * Remove a member
   *
   * Their developer account is deleted, and their next request is refused.
   *
   * Their open invitations are revoked.
   *
   * Permission: `account:write`.
   *
   * Credentials: developer.
   *
   * Problems: `member_missing`, `owner_stays`, `too_many_requests`, `database_away`.
   */
  remove(userId: string, options?: RequestOptions): Promise<void>;
  /**
   * Make another member the owner; you become an ADMIN
   *
   * Requires your password.
   *
   * Permission: `account:own`.
   *
   * Credentials: developer.
   *
   * Problems: `password_wrong`, `member_missing`, `already_owner`, `locked_out`, `too_many_requests`, `database_away`.
   */
  transferOwnership(userId: string, params: OwnershipTransfer, options?: RequestOptions): Promise<AccountMember>;
}

/** The methods of `client.account.invitations`. */
export interface AccountInvitationsApi {
  /**
   * List the open invitations to your account, newest first, including expired ones
   *
   * Permission: `account:read`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AccountInvitationsListParams, options?: RequestOptions): PagePromise<AccountInvitation>;
  /**
   * Invite a developer by mail
   *
   * The invitation is valid for 7 days.
   *
   * Inviting an address again replaces its invitation; the link of the earlier one becomes invalid.
   *
   * Permission: `account:write`.
   *
   * Credentials: developer.
   *
   * Problems: `already_member`, `too_many_members`, `too_many_requests`, `database_away`.
   */
  create(params: NewAccountInvitation, options?: RequestOptions): Promise<AccountInvitation>;
  /**
   * Revoke an invitation; its link becomes invalid
   *
   * Permission: `account:write`.
   *
   * Credentials: developer.
   *
   * Problems: `invitation_missing`, `too_many_requests`, `database_away`.
   */
  revoke(id: string, options?: RequestOptions): Promise<void>;
  /**
   * Become a member of the inviting account
   *
   * You leave your current account.
   *
   * A developer belongs to one account. If you own one, transfer its ownership first, or, if you are its only member,
   * delete it with `deleteMyAccount` and `password`. Without a developer account, sign up with `invitationToken`
   * instead.
   *
   * Credentials: developer.
   *
   * Problems: `link_invalid`, `password_wrong`, `owns_an_account`, `already_member`, `locked_out`, `too_many_requests`,
   * `database_away`.
   */
  accept(params: AccountInvitationAcceptance, options?: RequestOptions): Promise<AccountMember>;
}

/** The methods of `client.account.auditLog`. */
export interface AccountAuditLogApi {
  /**
   * List the changes in your account and its projects, newest first
   *
   * Filter by `action` (a name, or `noun.*`) and by time: `from` is inclusive, `to` exclusive.
   *
   * Permission: `account:read`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AccountAuditLogListParams, options?: RequestOptions): PagePromise<AccountAuditEntry>;
}

/** The methods of `client.projects`. */
export interface ProjectsApi {
  /**
   * Delete a project with all its data
   *
   * This cannot be undone.
   *
   * From the next request on it returns 404 and its keys are refused; its rows are deleted in the background. The
   * account's audit log keeps its entries.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Get a project with its settings
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  get(options?: RequestOptions): Promise<Project>;
  /**
   * Change the name or settings of a project
   *
   * Omitted settings keep their values; lists are replaced.
   *
   * `extra` is merged with the stored names, and null removes a name. A relay's `password` of `********` keeps the
   * stored password of the relay with the same `host` and `username`; without such a relay, the password is removed.
   * Likewise, `ses.secretAccessKey` of `********` keeps the stored secret of the same `accessKeyId`. With `If-Match`,
   * the change applies only if the project has not been changed since.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer.
   *
   * Problems: `sso_not_ready`, `too_many_requests`, `database_away`.
   */
  update(params: ProjectChange, options?: RequestOptions): Promise<Project>;
  /**
   * List the projects of your account, newest first
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: ProjectsListParams, options?: RequestOptions): PagePromise<Project>;
  /**
   * Create a project
   *
   * All other records belong to a project; projects are isolated from each other.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  create(params: NewProject, options?: RequestOptions): Promise<Project>;
  /**
   * Check whether the project's host name for hosted pages, `settings.signIn.pagesDomain`, can be used
   *
   * The response has the DNS record to publish, and whether it is published: it is looked up for each request, so a
   * project can make 30 in a minute. If the name has other addresses, such as those of a CDN, the server requests the
   * metadata of the OpenID provider at the name, and the record is VERIFIED if they are those of the project. It also
   * has the state of the sending domain above the name, and of the TLS certificate. A record that could not be looked
   * up has the status UNKNOWN.
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `pages_domain_missing`, `too_many_requests`, `database_away`.
   */
  getPagesDomain(options?: RequestOptions): Promise<PagesDomainStatus>;
}

/** The methods of `client.apiKeys`. */
export interface ApiKeysApi {
  /**
   * List the project's API keys, newest first
   *
   * `key` has only the prefix and the last four characters.
   *
   * Permission: `keys:read`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: ApiKeysListParams, options?: RequestOptions): PagePromise<ApiKey>;
  /**
   * Create an API key
   *
   * Only this response contains the whole `key`.
   *
   * `permissions` limits the key; null gives it all permissions of the project except `projects:write` and
   * `customers:impersonate`, which must be listed by name, and none of the account. The creator of a key with
   * `customers:impersonate` must have this permission. `ipAllowList` takes IP addresses or CIDR ranges, and `expiresAt`
   * sets the expiry. E-mails sent with a TEST key are only stored in the inbox, never delivered.
   *
   * Permission: `keys:write`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_keys`, `too_many_requests`, `database_away`.
   */
  create(params: NewApiKey, options?: RequestOptions): Promise<ApiKey>;
  /**
   * Delete an API key
   *
   * Later requests with it are rejected.
   *
   * Permission: `keys:write`.
   *
   * Credentials: developer.
   *
   * Problems: `api_key_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<ApiKey>;
}

/** The methods of `client.events`. */
export interface EventsApi {
  /**
   * List the events of the project, newest first
   *
   * Filter by `type`: one or several names or groups (`email.*`), comma-separated; and by `subjectId`, the id of the
   * record that the events are about.
   *
   * `contact` is the contact that an event concerns: the id, and the address unless the contact has been deleted.
   *
   * To follow new events, give `after`, the id of an event: the events after it are listed, oldest first. `after`
   * cannot be combined with `subjectId`. An event can appear a few seconds late, with an id before those that you have
   * read: read the last seconds again each time, and ignore the events that you have read already.
   *
   * Permission: `events:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: EventsListParams, options?: RequestOptions): PagePromise<Event>;
  /**
   * Record a custom event: something that happened in your own product
   *
   * It starts automations with an `EVENT` trigger, ends the wait of `WAIT_FOR_EVENT` steps, and is delivered to
   * webhooks that subscribe to `custom.<name>` or `custom.*`. `email` identifies the contact, which is created if there
   * is none. `data` can have up to 16 KiB. With an `Idempotency-Key` (or `idempotencyKey`), repeating the request
   * within 24 hours records nothing and returns the same response; with different contents it returns 422.
   *
   * Permission: `events:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `event_key_reused`, `too_many_requests`, `database_away`.
   */
  record(params: CustomEvent, options?: RequestOptions): Promise<CustomEventResult>;
  /**
   * Record up to 500 custom events at once: all or none
   *
   * The results are in the order of the request.
   *
   * An `Idempotency-Key` applies to each event without an `idempotencyKey`, together with the event's index. Events
   * whose key was used within 24 hours are not recorded again.
   *
   * Permission: `events:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `event_key_reused`, `too_many_requests`, `database_away`.
   */
  recordBatch(params: CustomEventBatch, options?: RequestOptions): Promise<CustomEventBatchResult>;
}

/** The methods of `client.access`. */
export interface AccessApi {
  readonly permissions: AccessPermissionsApi;
  readonly roles: AccessRolesApi;
  /**
   * Check whether a customer has a permission: in an organization with `organizationId`, otherwise in the project
   *
   * A customer's token implies the customer. A denial is a normal response with status 200, also for a permission that
   * is not declared. `reason` is the reason of the decision. `explanation` lists every step in a fixed order, including
   * the steps after the one that decided.
   *
   * Permission: `access:read`.
   *
   * Credentials: customer, developer, secret key.
   *
   * Problems: `not_yourself`, `subject_missing`, `place_missing`, `too_many_requests`, `database_away`.
   */
  check(params: AccessCheck, options?: RequestOptions): Promise<AccessDecision>;
  /**
   * Perform up to 100 checks at one point in time
   *
   * The results are in the order of the request.
   *
   * Permission: `access:read`.
   *
   * Credentials: customer, developer, secret key.
   *
   * Problems: `not_yourself`, `subject_missing`, `place_missing`, `too_many_requests`, `database_away`.
   */
  checkBatch(params: AccessCheckBatch, options?: RequestOptions): Promise<AccessDecisions>;
}

/** The methods of `client.access.permissions`. */
export interface AccessPermissionsApi {
  /**
   * List the permissions that the project has declared, newest first
   *
   * Permission: `access:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AccessPermissionsListParams, options?: RequestOptions): PagePromise<Permission>;
  /**
   * Declare a permission: two to four words of `a-z0-9_` joined by colons
   *
   * Roles include it by its key or by a prefix (`posts:*`). Checks of permissions that are not declared are denied.
   *
   * Permission: `access:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `permission_exists`, `too_many_permissions`, `too_many_requests`, `database_away`.
   */
  create(params: NewPermission, options?: RequestOptions): Promise<Permission>;
  /**
   * Delete a permission, also from roles that include it by its key
   *
   * Wildcards such as `posts:*` in roles stay.
   *
   * Permission: `access:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `permission_unknown`, `too_many_requests`, `database_away`.
   */
  delete(key: string, options?: RequestOptions): Promise<Deleted>;
}

/** The methods of `client.access.roles`. */
export interface AccessRolesApi {
  /**
   * List the roles of the project, newest first, followed by the system roles
   *
   * Filter by `scope`.
   *
   * Permission: `access:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AccessRolesListParams, options?: RequestOptions): PagePromise<Role>;
  /**
   * Create a role
   *
   * Permissions of a role with the scope PROJECT apply in the project, to customers who have the role. Those of a role
   * with the scope ORGANIZATION apply in the organization whose member has it. With `appliesToAllOrganizations`, a
   * customer who has the role in the project has it in every organization.
   *
   * Permission: `access:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `role_exists`, `too_many_roles`, `permission_undeclared`, `too_many_requests`, `database_away`.
   */
  create(params: NewRole, options?: RequestOptions): Promise<Role>;
  /**
   * Get a role by its key
   *
   * `scope` matters only for system roles, which exist in both scopes.
   *
   * Permission: `access:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `role_missing`, `too_many_requests`, `database_away`.
   */
  get(key: string, params?: AccessRolesGetParams, options?: RequestOptions): Promise<Role>;
  /**
   * Change a role
   *
   * The change applies from the next check on; `permissions` replaces the whole list.
   *
   * Honours `If-Match`.
   *
   * Permission: `access:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `role_missing`, `system_role_fixed`, `permission_undeclared`, `too_many_requests`, `database_away`.
   */
  update(key: string, params: RoleChange, options?: RequestOptions): Promise<Role>;
  /**
   * Delete a role
   *
   * Returns 409 while a customer or member has the role or is invited with it. Honours `If-Match`.
   *
   * Permission: `access:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `role_missing`, `system_role_fixed`, `role_in_use`, `too_many_requests`, `database_away`.
   */
  delete(key: string, options?: RequestOptions): Promise<Deleted>;
}

/** The methods of `client.domains`. */
export interface DomainsApi {
  /**
   * List the project's sending domains, newest first, with their DNS records and the results of the last check
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: DomainsListParams, options?: RequestOptions): PagePromise<Domain>;
  /**
   * Add a domain to send from
   *
   * Publish the `records` of the response in the DNS of the domain. They are checked every minute for ten minutes,
   * every ten minutes for three hours, then hourly for 30 days; `verify` checks them at once. The domain becomes
   * VERIFIED when its required record, the DKIM key, is published.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_exists`, `too_many_domains`, `too_many_requests`, `database_away`.
   */
  create(params: NewDomain, options?: RequestOptions): Promise<Domain>;
  /**
   * Get a sending domain with its DNS records and the results of the last check
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Domain>;
  /**
   * Delete a sending domain and its keys
   *
   * Mail can no longer be sent from it, even if its records stay published.
   *
   * If scheduled campaigns, or automations that are active or have unfinished runs, use the domain, the response is 409
   * and lists them.
   *
   * If messages wait to be sent from the domain (scheduled, queued or delayed), the response is 409 with their number.
   * `force=true` deletes the domain anyway; those messages then fail when they are due. Honours `If-Match`.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_has_waiting_sends`, `domain_in_use`, `too_many_requests`, `database_away`.
   */
  delete(id: string, params?: DomainsDeleteParams, options?: RequestOptions): Promise<Deleted>;
  /**
   * Check the DNS records of a domain now instead of waiting for the periodic check
   *
   * A missing record is not an error: the response has the status of each record. Records that could not be looked up
   * have the status UNKNOWN and change nothing. For a FAILED domain, the periodic checks start again.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  verify(id: string, options?: RequestOptions): Promise<Domain>;
  /**
   * Sign with the next DKIM key from now on
   *
   * The next key must be published in the DNS (409 if not). Keep the previous key published for mail in transit; after
   * seven days a new next key is generated for its selector. If the records are CNAMEs into the service's zone, keys
   * rotate automatically every 180 days.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `next_key_unpublished`, `too_many_requests`, `database_away`.
   */
  rotateKeys(id: string, options?: RequestOptions): Promise<Domain>;
  /**
   * Get the status of the domain, and of the IP addresses that send its mail, on each blocklist
   *
   * They are checked every six hours. The status is UNKNOWN if a blocklist refuses the query, fails its health check
   * (RFC 5782) or does not respond; `listed` then keeps its previous value. `lastCheckedAt` is null until the first
   * check.
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getBlocklistStatus(id: string, options?: RequestOptions): Promise<BlocklistEntry[]>;
  /**
   * Add a DMARC aggregate report (RFC 9990, RFC 7489): the body is the report as XML, gzip or zip file, or the e-mail
   * (RFC 5322) to which it is attached
   *
   * Only records of this domain and its subdomains are counted. A report is not counted again if the domain already has
   * one with the same organization and id, so requests can be repeated. The data is kept for 400 days.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_missing`, `dmarc_report_too_large`, `dmarc_report_invalid`, `dmarc_report_of_other_domain`,
   * `dmarc_report_out_of_period`, `too_many_dmarc_rows`, `too_many_requests`, `database_away`.
   */
  addDmarcReport(id: string, body: RawBody, options?: RequestOptions): Promise<DmarcReportResult>;
  /**
   * Get what receivers reported about the mail of a domain, by day, by host and by receiver
   *
   * The numbers come from the reports that were added, and from those that arrived by e-mail from authenticated
   * senders. Receivers send them once a day, and not all receivers do.
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_missing`, `too_many_requests`, `database_away`.
   */
  getDmarcSummary(id: string, params?: DomainsGetDmarcSummaryParams, options?: RequestOptions): Promise<DmarcSummary>;
  /**
   * Get the rates of hard bounces and complaints of a domain, its state, and the numbers of each day
   *
   * The rates are those of the last seven days, or since the last release. From 2 % bounces or 0.1 % complaints on, the
   * state is WARNING. From 5 % or 0.3 % on it is HELD: marketing mail of the domain waits until both rates are below
   * the lower thresholds, or until it is released. Transactional mail is still sent. The operator can set other
   * thresholds.
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_missing`, `too_many_requests`, `database_away`.
   */
  getReputation(domainId: string, params?: DomainsGetReputationParams, options?: RequestOptions): Promise<Reputation>;
  /**
   * Release the held marketing mail of a domain
   *
   * From now on, only mail that is sent after the release counts.
   *
   * The waiting messages are sent soon. Remove the cause first: if the rates of the new mail are above the thresholds,
   * marketing mail is held again. The reason is stored in the audit log.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_missing`, `nothing_held`, `too_many_requests`, `database_away`.
   */
  releaseReputation(domainId: string, params: ReputationRelease, options?: RequestOptions): Promise<Reputation>;
  /**
   * Set the warm-up plan of a domain: how many messages it may send on each day, in UTC
   *
   * Replaces an existing plan.
   *
   * With `targetPerDay`, the ceilings are 50, 100, 200 … up to the target, or grow by the same factor on each of `days`
   * days; `steps` sets each ceiling. Marketing mail above the ceiling waits for the next day. Transactional mail counts
   * but never waits. The step of a day on which nothing was sent, or after which the domain's rates are above a
   * threshold, is repeated.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_missing`, `too_many_requests`, `database_away`.
   */
  setWarmUp(domainId: string, params: WarmUpPlan, options?: RequestOptions): Promise<WarmUp>;
  /**
   * Get the warm-up plan of a domain and its progress
   *
   * A completed plan is kept until it is replaced or deleted.
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_missing`, `warm_up_missing`, `too_many_requests`, `database_away`.
   */
  getWarmUp(domainId: string, options?: RequestOptions): Promise<WarmUp>;
  /**
   * End the warm-up plan of a domain
   *
   * The messages that wait for it are sent soon, without a ceiling.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_missing`, `warm_up_missing`, `too_many_requests`, `database_away`.
   */
  deleteWarmUp(domainId: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * List the TLS certificates of the names below the domain: `links.<domain>` once its CNAME record is verified, the
   * project's `trackingDomain` if it is this domain or below it, and its `pagesDomain`
   *
   * Empty if the domain has no such name, or if this server does not obtain certificates itself.
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `domain_missing`, `too_many_requests`, `database_away`.
   */
  listCertificates(id: string, options?: RequestOptions): Promise<DomainCertificate[]>;
}

/** The methods of `client.senders`. */
export interface SendersApi {
  /**
   * List the project's single senders, newest first: addresses to use in `from` without a verified domain
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<Sender[]>;
  /**
   * Add a single sender, to test sending before a domain is verified
   *
   * This sends a confirmation mail to the address. When its owner opens the link in the mail within 24 hours and
   * confirms, exactly this address (case-insensitive) can be used as `from` of single e-mails and batches. Campaigns
   * and automations need a verified domain. Mail from a single sender is not signed with DKIM, so some receivers treat
   * it as spam: see `warnings`.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `sender_exists`, `sender_not_needed`, `too_many_senders`, `too_many_requests`,
   * `database_away`.
   */
  create(params: NewSender, options?: RequestOptions): Promise<Sender>;
  /**
   * Get a single sender
   *
   * Permission: `domains:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `sender_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Sender>;
  /**
   * Delete a single sender
   *
   * Messages that wait to be sent from it fail when they are due.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `sender_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Send the confirmation mail again, with a new link that works for 24 hours
   *
   * The previous link stops working.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `sender_missing`, `sender_verified`, `too_many_requests`, `database_away`.
   */
  resendVerification(id: string, options?: RequestOptions): Promise<Sender>;
  /**
   * Confirm a sender with the token from its confirmation mail instead of on the page
   *
   * Calls can be repeated.
   *
   * Permission: `domains:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `sender_link_invalid`, `sender_missing`, `too_many_requests`, `database_away`.
   */
  verify(id: string, params: SenderToken, options?: RequestOptions): Promise<Sender>;
}

/** The methods of `client.webhooks`. */
export interface WebhooksApi {
  /**
   * List the project's webhook subscriptions, newest first, without secrets
   *
   * Permission: `webhooks:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: WebhooksListParams, options?: RequestOptions): PagePromise<Webhook>;
  /**
   * Subscribe a URL to events
   *
   * Each event is sent as a POST request, signed according to Standard Webhooks (`webhook-id`, `webhook-timestamp`,
   * `webhook-signature`) with the `secret`, which is returned only here and by a rotation. A 2xx response within 15
   * seconds is a success; otherwise up to ten attempts are made over three days. Redirects are not followed, and
   * addresses that are not on the public Internet are not called. `send.delivered` is a former name of
   * `email.delivered`; subscribe to custom events as `custom.<name>`.
   *
   * Permission: `webhooks:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_webhooks`, `too_many_requests`, `database_away`.
   */
  create(params: NewWebhook, options?: RequestOptions): Promise<WebhookWithSecret>;
  /**
   * Get a webhook subscription with its status, without the secret
   *
   * Permission: `webhooks:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `webhook_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Webhook>;
  /**
   * Change the URL or events of a subscription, or activate or deactivate it
   *
   * Activation resets the failures. Deliveries that become due while the subscription is inactive fail, and can be
   * replayed. Honours `If-Match`.
   *
   * Permission: `webhooks:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `webhook_missing`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: WebhookChange, options?: RequestOptions): Promise<Webhook>;
  /**
   * Delete a subscription and its deliveries
   *
   * Pending deliveries are not sent. Honours `If-Match`.
   *
   * Permission: `webhooks:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `webhook_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Webhook>;
  /**
   * Rotate the secret of a subscription
   *
   * The new secret is returned only here.
   *
   * The old secret signs in addition to the new one for `gracePeriodSeconds` (default 24 hours, at most 7 days, 0 to
   * end it now), so that you can change over without rejecting deliveries. If an even older secret still signs, it
   * becomes invalid immediately.
   *
   * Permission: `webhooks:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `webhook_missing`, `too_many_requests`, `database_away`.
   */
  rotateSecret(id: string, params?: WebhookSecretRotation, options?: RequestOptions): Promise<WebhookWithSecret>;
  readonly deliveries: WebhooksDeliveriesApi;
  /**
   * Send a signed `webhook.test` event to the subscription's URL now, and return the result
   *
   * `status` is null if there was no response; `reason` tells why, or why the response is a failure. The request is
   * made once, even if the subscription is inactive, and no delivery is recorded.
   *
   * Permission: `webhooks:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `webhook_missing`, `too_many_requests`, `database_away`.
   */
  sendTest(id: string, options?: RequestOptions): Promise<WebhookTestResult>;
}

/** The methods of `client.webhooks.deliveries`. */
export interface WebhooksDeliveriesApi {
  /**
   * List the deliveries of a subscription in the last 30 days, newest first
   *
   * Filter by `status` (`PENDING`, `SUCCEEDED`, `FAILED`) and `event`, each one or several, comma-separated.
   *
   * Permission: `webhooks:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `webhook_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: WebhooksDeliveriesListParams, options?: RequestOptions): PagePromise<WebhookDelivery>;
  /**
   * Get a delivery with the first 4 KiB of the response to the last attempt
   *
   * Permission: `webhooks:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `delivery_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, deliveryId: string, options?: RequestOptions): Promise<WebhookDeliveryDetail>;
  /**
   * Send a delivery again, whatever its status: same `webhook-id`, new timestamp, and a new series of attempts
   *
   * Permission: `webhooks:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `delivery_missing`, `webhook_inactive`, `too_many_requests`, `database_away`.
   */
  replay(id: string, deliveryId: string, options?: RequestOptions): Promise<void>;
  /**
   * Send all deliveries of a period and status again, oldest first, for example after an outage
   *
   * At most 10,000 per request; `more` tells whether there are further ones. Deliveries that are due already are not
   * affected; with the status PENDING, those that wait for a retry are sent at once.
   *
   * Permission: `webhooks:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `webhook_missing`, `webhook_inactive`, `too_many_requests`, `database_away`.
   */
  replayAll(id: string, params: WebhookReplay, options?: RequestOptions): Promise<WebhookReplayResult>;
}

/** The methods of `client.assets`. */
export interface AssetsApi {
  /**
   * Upload an image for e-mails: the body is the file, a PNG, JPEG, GIF or WebP of at most 2 MB and 4,096 × 4,096
   * pixels
   *
   * The format is recognised by the content. Metadata such as the position of a photograph is removed; the pixels stay
   * as they are. `url` is public, hard to guess, and always has the same content: use it in `src` of an image. It is on
   * the project's tracking domain, if there is one. Uploading the same image again returns the existing one. A project
   * can have at most 2,000 images, and at most 200 MB in total.
   *
   * Permission: `templates:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `image_invalid`, `image_too_large`, `svg_not_accepted`, `too_many_assets`, `too_many_requests`,
   * `database_away`.
   */
  create(body: RawBody, params?: AssetsCreateParams, options?: RequestOptions): Promise<Asset>;
  /**
   * List the project's images, newest first, without their content
   *
   * Permission: `templates:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AssetsListParams, options?: RequestOptions): PagePromise<Asset>;
  /**
   * Get an image without its content, which is at `url`
   *
   * Permission: `templates:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `asset_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Asset>;
  /**
   * Delete an image
   *
   * Its `url` returns 404 from then on, also in e-mails that were sent already, except from caches.
   *
   * Permission: `templates:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `asset_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Asset>;
}

/** The methods of `client.templates`. */
export interface TemplatesApi {
  /**
   * The project's templates, newest first
   *
   * All given filters must match.
   *
   * A page has at most 8 MB; the `Link` header has the URL of the next page. With `view=summary` html, text and
   * builderJson are null, and a page has as many templates as `limit` allows.
   *
   * Permission: `templates:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: TemplatesListParams, options?: RequestOptions): PagePromise<Template>;
  /**
   * Create a template
   *
   * `builderJson` is MJML (`{"mjml": "…"}`) or a block document (`{"blocks": […]}`) and is rendered to html. If `html`
   * is given too, it is sent instead; both are stored. The template language is MiniJinja: `{{name}}`, `{% if … %}`. A
   * syntax error is a 400 with line and column. `variables` in the response are the names that the template uses. With
   * `"engine": "none"` nothing is rendered: subject, html and text are sent as they are.
   *
   * Permission: `templates:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_templates`, `template_too_expensive`, `template_crashed`, `rendering_busy`,
   * `too_many_requests`, `rendering_away`, `database_away`.
   */
  create(params: NewTemplate, options?: RequestOptions): Promise<Template>;
  /**
   * A template
   *
   * `html` is what is sent: the template's own html, or the rendered `builderJson`.
   *
   * Permission: `templates:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `template_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Template>;
  /**
   * Change a template
   *
   * Omitted fields keep their values; `html: null` renders the html from `builderJson` again.
   *
   * Sends and campaigns that have started keep their content. Honours `If-Match`.
   *
   * Permission: `templates:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `template_missing`, `template_busy`, `template_too_expensive`, `template_crashed`, `rendering_busy`,
   * `too_many_requests`, `rendering_away`, `database_away`.
   */
  update(id: string, params: TemplateChange, options?: RequestOptions): Promise<Template>;
  /**
   * Delete a template and its versions
   *
   * The response is 409 if scheduled campaigns, active automations, automations with current runs, or variants of draft
   * campaigns use the template; `errors` lists them. Honours `If-Match`.
   *
   * Permission: `templates:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `template_missing`, `template_in_use`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Copy a template
   *
   * The copy is named `… (copy)`; versions are not copied.
   *
   * Permission: `templates:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `template_missing`, `too_many_templates`, `too_many_requests`, `database_away`.
   */
  duplicate(id: string, options?: RequestOptions): Promise<Template>;
  /**
   * Render subject, html and text as a recipient with these variables would get them
   *
   * Nothing is sent or tracked.
   *
   * Permission: `templates:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `template_missing`, `render_failed`, `template_too_expensive`, `template_crashed`, `rendering_busy`,
   * `too_many_requests`, `rendering_away`, `database_away`.
   */
  preview(id: string, params: PreviewVariables, options?: RequestOptions): Promise<TemplatePreview>;
  /**
   * Render content that is not stored, as a recipient with these variables would get it
   *
   * Nothing is stored, sent or tracked.
   *
   * Content as for a new template; `contact` and `variables` are the values. Errors in the content are in `problems`,
   * with the path, and the line and column if they are known; a part with an error is null, and the others are
   * rendered.
   *
   * Permission: `templates:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `template_crashed`, `rendering_busy`, `too_many_requests`, `rendering_away`, `database_away`.
   */
  render(params: TemplateDraft, options?: RequestOptions): Promise<RenderedDraft>;
  /**
   * The last 50 versions of a template, newest first, including the current one
   *
   * Permission: `templates:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `template_missing`, `too_many_requests`, `database_away`.
   */
  listVersions(id: string, options?: RequestOptions): Promise<TemplateVersion[]>;
}

/** The methods of `client.contacts`. */
export interface ContactsApi {
  readonly imports: ContactsImportsApi;
  /**
   * Export all contacts as CSV, oldest first, with a column for each attribute
   *
   * Importing it gives the same values.
   *
   * The type of an attribute decides how an import reads its column. The column `attributes` holds, as JSON, values
   * that a cell of the type cannot hold: values of another type, objects, empty strings, and attributes beyond the 500
   * most frequent. To import into another project, declare the same types there (`attributeTypes`).
   *
   * Permission: `contacts:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  export(options?: RequestOptions): Promise<string>;
  /**
   * List the project's contacts, newest first
   *
   * `q` filters by part of the address, `unsubscribed` by the field.
   *
   * Permission: `contacts:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: ContactsListParams, options?: RequestOptions): PagePromise<Contact>;
  /**
   * Create a contact
   *
   * Its address is unique in the project, regardless of case; an existing one returns 409.
   *
   * `attributes` takes any JSON values: at most 100, together at most 16 KiB. The first value of an attribute sets its
   * type (see `contact-attributes`), by which CSV files are read and written; later values may have any type. If the
   * address unsubscribed before its contact was deleted, the new contact is unsubscribed too; `PATCH {"unsubscribed":
   * false}` subscribes it.
   *
   * Permission: `contacts:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_exists`, `too_many_requests`, `database_away`.
   */
  create(params: NewContact, options?: RequestOptions): Promise<Contact>;
  /**
   * Get a contact
   *
   * Permission: `contacts:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Contact>;
  /**
   * Change a contact: attributes are merged at the top level, and null removes one
   *
   * The contact joins and leaves dynamic audiences in the same transaction. `unsubscribed: false` subscribes it again
   * and removes the address from the suppression list if it was added there by an unsubscribe; suppressions for bounces
   * and complaints stay. Honours `If-Match`.
   *
   * Permission: `contacts:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_missing`, `contact_exists`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: ContactChange, options?: RequestOptions): Promise<Contact>;
  /**
   * Delete a contact and its audience memberships
   *
   * E-mails sent to it are kept.
   *
   * Its automation runs end. If it had unsubscribed, a contact created with the same address later, by any operation,
   * is unsubscribed too until `PATCH {"unsubscribed": false}`. Honours `If-Match`.
   *
   * Permission: `contacts:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * List the ids of the audiences that a contact belongs to, oldest first
   *
   * Permission: `audiences:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_missing`, `too_many_requests`, `database_away`.
   */
  listAudiences(id: string, options?: RequestOptions): Promise<string[]>;
  readonly attributes: ContactsAttributesApi;
}

/** The methods of `client.contacts.imports`. */
export interface ContactsImportsApi {
  /**
   * Import contacts from a CSV file: the body is the file, `Content-Type: text/csv`, at most 1 GiB
   *
   * The first line is the header; a line `sep=;` may precede it. A column `email` is required, `unsubscribed` (true or
   * false) is optional; synonyms of both are recognised in 14 languages. A column `attributes` may hold a JSON object;
   * every other column becomes an attribute with its name. The type of the attribute decides how its cells are parsed
   * (see `contact-attributes`). An attribute without a type gets the type that all cells of its column match in the
   * first 10,000 rows, otherwise `string`. A cell that does not match a declared type fails its row; one that does not
   * match an inferred type is stored as a string. `attributeTypes` declares types before the import. Empty cells change
   * nothing. The delimiter is a comma, semicolon, tab or `|`. `POST …/contacts/import/preview` shows how a file would
   * be read.
   *
   * `mode=upsert` (the default) merges into existing contacts, `skip` does not change them. An import can unsubscribe
   * contacts, but never subscribes them again. The response is sent after the upload; the rows are imported in the
   * background, and `GET …/contacts/imports/{id}` reports the progress.
   *
   * Permission: `contacts:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `import_file_invalid`, `upload_broken`, `contact_attribute_declared`, `too_many_contact_attributes`,
   * `too_many_imports`, `too_many_requests`, `header_too_large`, `database_away`.
   */
  create(body: RawBody, params?: ContactsImportsCreateParams, options?: RequestOptions): Promise<ContactImport>;
  /**
   * Show how an import would read a CSV file: its encoding, what each column fills, and the first 20 rows
   *
   * The body is the file, or its beginning. The parameters are those of `POST …/contacts/import`. Nothing is stored.
   * `problems` lists what prevents an import (`blocking`) and what to check first, each with what to do next. If only
   * the beginning of a file is sent, the encoding detected for the whole file may differ.
   *
   * Permission: `contacts:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `import_file_invalid`, `upload_broken`, `contact_attribute_declared`, `too_many_contact_attributes`,
   * `too_many_previews`, `too_many_requests`, `header_too_large`, `database_away`.
   */
  preview(body: RawBody, params?: ContactsImportsPreviewParams, options?: RequestOptions): Promise<ContactImportPreview>;
  /**
   * List the project's imports, newest first
   *
   * Permission: `contacts:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: ContactsImportsListParams, options?: RequestOptions): PagePromise<ContactImport>;
  /**
   * Get the progress of an import: `status` goes from PENDING through RUNNING to COMPLETED or FAILED
   *
   * `rows` is the sum of `created`, `updated`, `skipped` and `failed`; `position` of `bytes` bytes have been processed.
   * `errors` lists the first 200 lines that failed, with the reason.
   *
   * Permission: `contacts:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `import_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<ContactImport>;
}

/** The methods of `client.contacts.attributes`. */
export interface ContactsAttributesApi {
  /**
   * List the attributes of the project's contacts with their types, newest first
   *
   * The first value of an attribute sets its type (`inferred`): number, boolean, list, date (an ISO 8601 string) or
   * string. Objects, null and empty strings set no type. A project has at most 1,000 attributes with a type; values of
   * further attributes are stored without one.
   *
   * Permission: `contacts:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: ContactsAttributesListParams, options?: RequestOptions): PagePromise<ContactAttribute>;
  /**
   * Declare the type of an attribute before contacts have it
   *
   * An import rejects rows with a cell that does not match a declared type. Values in JSON requests are not converted
   * and may have another type.
   *
   * Permission: `contacts:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_attribute_exists`, `too_many_contact_attributes`, `too_many_requests`, `database_away`.
   */
  create(params: NewContactAttribute, options?: RequestOptions): Promise<ContactAttribute>;
  /**
   * Get an attribute with its type
   *
   * Permission: `contacts:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_attribute_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<ContactAttribute>;
  /**
   * Change the type or the description of an attribute
   *
   * Stored values do not change. Later imports parse cells by the new type and reject rows with a cell that does not
   * match it; an export puts values of another type into its column `attributes`. A `type` in the request counts as
   * declared, even if it equals the inferred one. Honours `If-Match`.
   *
   * Permission: `contacts:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_attribute_missing`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: ContactAttributeChange, options?: RequestOptions): Promise<ContactAttribute>;
  /**
   * Delete the type of an attribute
   *
   * Contacts keep their values; the next value written sets the type again.
   *
   * Honours `If-Match`.
   *
   * Permission: `contacts:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `contact_attribute_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
}

/** The methods of `client.audiences`. */
export interface AudiencesApi {
  /**
   * List the project's audiences, newest first
   *
   * All given filters must match.
   *
   * With `include=counts` each audience has its `memberCount`, counted up to 100,000.
   *
   * Permission: `audiences:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AudiencesListParams, options?: RequestOptions): PagePromise<ListedAudience>;
  /**
   * Create an audience
   *
   * With `rules` it is DYNAMIC: they choose its contacts. Without, it is STATIC: you add them.
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_audiences`, `too_many_requests`, `database_away`.
   */
  create(params: NewAudience, options?: RequestOptions): Promise<Audience>;
  /**
   * Get an audience with its rules
   *
   * Permission: `audiences:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Audience>;
  /**
   * Change the name of an audience
   *
   * `type: "STATIC"` removes the rules and keeps the current members.
   *
   * Honours `If-Match`.
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: AudienceChange, options?: RequestOptions): Promise<Audience>;
  /**
   * Delete an audience; its contacts stay
   *
   * If the audience is in use, returns 409 and names what uses it.
   *
   * It can be in use by audiences whose rules refer to it, by automations that are active or have unfinished runs, and
   * by campaigns that are scheduled or being sent. Honours `If-Match`.
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `audience_in_use`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Set the rules of an audience, which makes it DYNAMIC
   *
   * Returns how many contacts joined and left.
   *
   * A condition names a `field` (`email`, `createdAt`, `unsubscribed`, `lastOpenedAt`, `lastClickedAt`, `audience`,
   * `events.<name>` for when a custom event last happened, `attributes.<name>` or the bare name of an attribute), an
   * `operator` (`eq`, `neq`, `gt`, `gte`, `lt`, `lte`, `contains`, `notContains`, `startsWith`, `endsWith`, `in`,
   * `notIn`, `exists`, `notExists`, `before`, `after`, `withinDays`, `notWithinDays`) and a `value`; or it is a group
   * `{match, conditions}` itself, at most 4 deep and 50 conditions in all. `match` is `all` or `any`. Values of
   * different types never match; absent values match only the negative operators. Without conditions, `all` matches
   * every contact and `any` none. Honours `If-Match`.
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `too_many_audiences`, `too_many_requests`, `database_away`.
   */
  setRules(id: string, params: Rules, options?: RequestOptions): Promise<AudienceChangeResult>;
  /**
   * Recompute the members of a DYNAMIC audience; a STATIC one does not change
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `too_many_requests`, `database_away`.
   */
  recompute(id: string, options?: RequestOptions): Promise<AudienceChangeResult>;
  readonly contacts: AudiencesContactsApi;
  /**
   * Count the contacts that rules choose, with up to 10 of them, without storing an audience
   *
   * The rules are those of `PATCH …/audiences/{id}/rules`. Counting may take at most 5 seconds.
   *
   * Permission: `audiences:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `preview_too_slow`, `too_many_requests`, `database_away`.
   */
  preview(params: AudiencePreviewRequest, options?: RequestOptions): Promise<AudiencePreview>;
}

/** The methods of `client.audiences.contacts`. */
export interface AudiencesContactsApi {
  /**
   * List the contacts of an audience, newest contact first
   *
   * Permission: `audiences:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: AudiencesContactsListParams, options?: RequestOptions): PagePromise<Contact>;
  /**
   * Add a contact to a STATIC audience
   *
   * Does nothing if it is a member already.
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `contact_missing`, `audience_dynamic`, `too_many_requests`, `database_away`.
   */
  add(id: string, params: NewAudienceMember, options?: RequestOptions): Promise<AudienceMembership>;
  /**
   * Add the contact with an address to a STATIC audience
   *
   * Creates the contact if there is none.
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `audience_dynamic`, `too_many_requests`, `database_away`.
   */
  addEmail(id: string, params: NewMemberByEmail, options?: RequestOptions): Promise<AudienceMembership>;
  /**
   * Add up to 10,000 addresses to a STATIC audience
   *
   * Creates contacts for unknown addresses.
   *
   * `skipped` counts invalid and duplicate addresses and those of existing members.
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `audience_dynamic`, `too_many_requests`, `database_away`.
   */
  addEmails(id: string, params: BulkMembers, options?: RequestOptions): Promise<AudienceBulkResult>;
  /**
   * Remove a contact from a STATIC audience
   *
   * The contact itself stays. Returns 404 if it is not a member.
   *
   * Permission: `audiences:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `audience_missing`, `contact_missing`, `audience_dynamic`, `too_many_requests`, `database_away`.
   */
  remove(id: string, contactId: string, options?: RequestOptions): Promise<AudienceMembership>;
}

/** The methods of `client.emails`. */
export interface EmailsApi {
  /**
   * Send an e-mail
   *
   * The response 201 means that the e-mail is stored and will be sent. It is transmitted at once, and the response
   * waits up to two seconds for that (`Prefer: wait=N` changes this): `status` is `SENT` if the next server has
   * accepted the message, otherwise `QUEUED`. With `wait=0` the workers transmit it, which gives the highest
   * throughput. An `unsubscribable` e-mail with several recipients becomes a separate message for each, listed in
   * `messages`; `id` and `status` are those of the first. A request that is repeated with its `Idempotency-Key` within
   * 24 hours gets the first response again and sends nothing.
   *
   * Permission: `emails:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_invalid`, `domain_not_verified`, `idempotency_key_in_progress`, `message_too_large`,
   * `idempotency_key_reused`, `template_too_expensive`, `template_crashed`, `rendering_busy`, `too_many_requests`,
   * `no_smart_host`, `direct_not_offered`, `rendering_away`, `database_away`.
   */
  send(params: Email, options?: RequestOptions): Promise<SendResult>;
  /**
   * Send up to 500 e-mails in one request
   *
   * The e-mails are independent, and the results are in the order of the request. An e-mail that is not accepted has an
   * `error` and the status `FAILED`; the others are sent. Accepted e-mails are `QUEUED`, and the workers transmit them.
   *
   * Permission: `emails:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_invalid`, `domain_not_verified`, `idempotency_key_in_progress`, `message_too_large`,
   * `idempotency_key_reused`, `template_too_expensive`, `template_crashed`, `rendering_busy`, `too_many_requests`,
   * `no_smart_host`, `direct_not_offered`, `rendering_away`, `database_away`.
   */
  sendBatch(params: EmailBatch, options?: RequestOptions): Promise<EmailBatchResult>;
  /**
   * A send with its events
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_missing`, `too_many_requests`, `database_away`.
   */
  get(sendId: string, options?: RequestOptions): Promise<EmailLogEntryDetail>;
  /**
   * The message as it was transmitted, as an `.eml` file
   *
   * It equals the transmitted message byte for byte, including its DKIM signatures. After several attempts, it is the
   * message of the last accepted one. A message that was not transmitted yet has no signatures and the date of its
   * creation. One-time codes and links (sign-in codes, password resets, invitations) are replaced by `[removed]`, and
   * such messages have no signatures.
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_missing`, `message_gone`, `too_many_requests`, `content_store_unavailable`, `database_away`.
   */
  getRaw(sendId: string, options?: RequestOptions): Promise<Uint8Array>;
  /**
   * The delivery attempts of a send, each with the server's replies and the SMTP dialogue
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_missing`, `too_many_requests`, `database_away`.
   */
  listAttempts(sendId: string, options?: RequestOptions): Promise<SendAttempt[]>;
  /**
   * The reports about a send that arrived after its attempts, oldest first: bounces, complaints, delays, deliveries
   *
   * The same report that arrives again is counted in `times` and changes nothing.
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_missing`, `too_many_requests`, `database_away`.
   */
  listReports(sendId: string, options?: RequestOptions): Promise<SendReport[]>;
  /**
   * Reschedule a SCHEDULED send to a time at most 30 days in the future; a time in the past means now
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `email_missing`, `not_scheduled`, `too_many_requests`, `database_away`.
   */
  reschedule(sendId: string, params: EmailReschedule, options?: RequestOptions): Promise<EmailLogEntry>;
  /**
   * Cancel a waiting send
   *
   * The response is 409 if the message is being transmitted right now.
   *
   * One-time codes and links in the stored content are erased.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_missing`, `not_cancellable`, `too_many_requests`, `database_away`.
   */
  cancel(sendId: string, options?: RequestOptions): Promise<EmailLogEntry>;
  /**
   * Retry a send
   *
   * A send that failed, bounced or expired is queued as if it had just been accepted. A send that was deferred is
   * retried now, and its retry period does not begin again.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `email_missing`, `not_retriable`, `too_many_requests`, `content_store_unavailable`,
   * `database_away`.
   */
  retry(sendId: string, options?: RequestOptions): Promise<EmailLogEntry>;
  /**
   * Check an e-mail for what large mailbox providers object to, without sending it
   *
   * The body is that of an e-mail to send. The message is composed as it would be sent. An error that would make
   * sending fail, such as one in a template, becomes a finding with the code of the problem. The checks cover the
   * authentication of the sender's domain (SPF, DKIM, DMARC), one-click unsubscribing, size, text and images, links,
   * attachments, addresses, and features that mail clients do not support. Links are only opened with `checkLinks`.
   *
   * Permission: `emails:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `template_too_expensive`, `template_crashed`, `too_many_requests`, `rendering_busy`, `rendering_away`,
   * `database_away`.
   */
  preflight(params: PreflightEmail, options?: RequestOptions): Promise<Preflight>;
  /**
   * The log of sends, newest first
   *
   * All given filters must match. `status` takes one or several statuses, separated by commas; `q` searches recipients,
   * subject and message id. To read more than 10,000 rows, follow `nextCursor` or export the log.
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: EmailsListParams, options?: RequestOptions): PagePromise<EmailLogEntry>;
  /**
   * The log of sends as CSV, newest first, with the filters of the list
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  export(params?: EmailsExportParams, options?: RequestOptions): Promise<string>;
  /**
   * The opens and clicks of a send, newest first, each with its classification and the reason for it
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_missing`, `too_many_requests`, `database_away`.
   */
  listHits(sendId: string, options?: RequestOptions): Promise<TrackingHit[]>;
  /**
   * Create a URL at which a frame of the dashboard shows the HTML of a send, for 5 minutes
   *
   * The HTML runs no scripts, submits no forms and loads nothing from other servers, unless `images` is true. One-time
   * codes and links are replaced by `[removed]`. A preview does not count as an open. The URL stops working when the
   * session that has created it ends.
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer.
   *
   * Problems: `email_missing`, `message_gone`, `too_many_requests`, `content_store_unavailable`, `database_away`.
   */
  preview(sendId: string, params: PreviewOptions, options?: RequestOptions): Promise<MailPreview>;
}

/** The methods of `client.suppressions`. */
export interface SuppressionsApi {
  /**
   * The suppressed addresses with their reasons, newest first
   *
   * `q` filters by part of the address.
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: SuppressionsListParams, options?: RequestOptions): PagePromise<Suppression>;
  /**
   * Suppress an address, so that it gets no more mail
   *
   * A stronger reason replaces a weaker one, which stays in `history`. From weakest to strongest the reasons are
   * UNSUBSCRIBE, MANUAL, BOUNCE and COMPLAINT. A weaker or equal reason is a 409.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `already_suppressed`, `too_many_requests`, `database_away`.
   */
  add(params: NewSuppression, options?: RequestOptions): Promise<Suppression>;
  /**
   * The suppressed addresses as CSV, newest first, with the filters of the list
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  export(params?: SuppressionsExportParams, options?: RequestOptions): Promise<string>;
  /**
   * Suppress up to 1,000 addresses
   *
   * Addresses that are invalid, repeated, or already suppressed for this or a stronger reason are skipped. `upgraded`
   * counts the added addresses that were suppressed for a weaker reason before.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  addBatch(params: NewSuppressions, options?: RequestOptions): Promise<SuppressionBulkResult>;
  /**
   * The suppression of an address, with its reason
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `suppression_missing`, `too_many_requests`, `database_away`.
   */
  get(address: string, options?: RequestOptions): Promise<Suppression>;
  /**
   * Remove an address from the suppression list
   *
   * Returns the removed suppression.
   *
   * The count of soft bounces of the address begins again at zero.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `suppression_missing`, `too_many_requests`, `database_away`.
   */
  remove(address: string, options?: RequestOptions): Promise<Suppression>;
}

/** The methods of `client.deliverySites`. */
export interface DeliverySitesApi {
  /**
   * The sites to which the project sends mail, with the number of waiting messages
   *
   * Sites that were not used for a month are left out.
   *
   * A site is a group of mail servers that are limited together: those of a provider such as Google, or of one domain.
   * A relay and Amazon SES are sites, too.
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: DeliverySitesListParams, options?: RequestOptions): PagePromise<DeliverySite>;
  /**
   * A site to which the project sends mail
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `site_missing`, `too_many_requests`, `database_away`.
   */
  get(site: string, options?: RequestOptions): Promise<DeliverySite>;
  /**
   * Send no mail of this project to a site, until it is resumed or until a time
   *
   * Messages to the site wait, and fail only if their `expiresAt` passes. The time of the suspension does not count in
   * their retry period. At most two seconds later, no process begins to send further messages to the site.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `site_missing`, `site_suspended_by_operator`, `too_many_requests`, `database_away`.
   */
  suspend(site: string, params: NewSiteSuspension, options?: RequestOptions): Promise<DeliverySite>;
  /**
   * End this project's suspension of a site
   *
   * Its waiting messages are sent as the limits of the site allow.
   *
   * A suspension by the operator of the server stays.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `site_missing`, `site_not_suspended`, `site_suspended_by_operator`, `too_many_requests`, `database_away`.
   */
  resume(site: string, options?: RequestOptions): Promise<DeliverySite>;
  /**
   * Give up the messages of this project that wait for a site
   *
   * They become FAILED with the reason, in the background; `bounce` shows the progress.
   *
   * Messages that were accepted after this request are not given up, nor are those that were not tried yet. No address
   * is suppressed, and the messages do not count as bounces. Each can be retried.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `site_missing`, `too_many_requests`, `database_away`.
   */
  bounce(site: string, params: NewSiteBounce, options?: RequestOptions): Promise<DeliverySite>;
}

/** The methods of `client.customers`. */
export interface CustomersApi {
  /**
   * The project's customers, newest first
   *
   * `q` matches part of an address, name, phone number or external identifier, or a complete id; with one or two
   * characters it matches the beginning of an address. `status` is `active`, `banned`, `verified`, `unverified`, `mfa`
   * or `locked`; `provider` is a sign-in method such as `PASSWORD` or `GOOGLE`.
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: CustomersListParams, options?: RequestOptions): PagePromise<Customer>;
  /**
   * Create a customer
   *
   * `passwordHash` is a hash from another system: bcrypt, scrypt, PBKDF2, argon2, SHA-crypt, phpass, or a salted MD5 or
   * SHA digest; the guide lists the forms. It is replaced by an argon2id hash when the customer first signs in.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `password_common`, `password_breached`, `hash_refused`, `metadata_too_large`, `plan_limit_reached`,
   * `email_taken`, `external_id_taken`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  create(params: NewCustomer, options?: RequestOptions): Promise<Customer>;
  /**
   * Import up to 1,000 customers
   *
   * Customers whose address or `externalUserId` is taken are skipped. `faults` has the index of each customer that
   * could not be imported, and the reason.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `role_unknown`, `too_many_requests`, `database_away`.
   */
  importBatch(params: CustomerImport, options?: RequestOptions): Promise<CustomerImportResult>;
  /**
   * Numbers of customers: all, verified, banned, and with a second factor
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getStats(options?: RequestOptions): Promise<CustomerStats>;
  /**
   * All customers as CSV, newest first
   *
   * Takes the filters of the list.
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  export(params?: CustomersExportParams, options?: RequestOptions): Promise<string>;
  /**
   * A customer with its identities and live sessions
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Customer>;
  /**
   * Erase a customer
   *
   * Returns the customer as it was before.
   *
   * The last OWNER of an organization cannot be erased (409; `errors` names the organizations), unless
   * `transferOwnershipTo` names another customer, who becomes OWNER of them in the same transaction.
   *
   * The customer and all personal data are deleted: identities, sessions, passkeys, e-mails to the address, and the
   * contact with that address. Events keep their type and time; `erasedAt` is set and their data is emptied. The audit
   * log keeps who did what, without details, and its hash chain still verifies. Honours `If-Match`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `customer_owns_organizations`, `too_many_requests`, `database_away`.
   */
  delete(id: string, params?: CustomersDeleteParams, options?: RequestOptions): Promise<Customer>;
  /**
   * Change a customer's address, name, language or phone number
   *
   * Omitted fields keep their values.
   *
   * When the address changes, the old one gets a notice, and codes and links that were mailed stop working; sessions
   * continue. If another customer has the new address, the response is 409. Honours `If-Match`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `email_taken`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: CustomerChange, options?: RequestOptions): Promise<Customer>;
  /**
   * The timeline of a customer, newest first: events, e-mails, sessions and changes by developers
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  listTimeline(id: string, params?: CustomersListTimelineParams, options?: RequestOptions): PagePromise<TimelineEntry>;
  /**
   * Events of a customer, newest first
   *
   * Events of an erased customer have only their type and time.
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  listEvents(id: string, params?: CustomersListEventsParams, options?: RequestOptions): PagePromise<CustomerEvent>;
  /**
   * Changes of a customer by developers and API keys, newest first
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  listAuditLog(id: string, params?: CustomersListAuditLogParams, options?: RequestOptions): PagePromise<AuditEntry>;
  /**
   * Ban a customer: all sessions end, and sign-ins are refused until `expiresAt` or until the customer is unbanned
   *
   * If the customer is banned already, the reason and the end change.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  ban(id: string, params?: CustomerBan, options?: RequestOptions): Promise<Customer>;
  /**
   * Lift a ban, and any lockout after failed attempts
   *
   * Sessions that the ban ended stay ended.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  unban(id: string, options?: RequestOptions): Promise<Customer>;
  /**
   * Clear the failed sign-in attempts of a customer, from all IP addresses, and end a lockout
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  unlock(id: string, options?: RequestOptions): Promise<Customer>;
  readonly sessions: CustomersSessionsApi;
  /**
   * Remove the second factor and its recovery codes, for a customer who lost both
   *
   * If a second factor is required, the customer sets up a new one at the next sign-in. Sign-ins that wait for the
   * second factor end. If a second factor was on, the customer is notified by mail.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  resetMfa(id: string, options?: RequestOptions): Promise<void>;
  /**
   * Merge keys into a customer's metadata at the top level; null removes a key
   *
   * The result has at most 16 KiB.
   *
   * Honours `If-Match`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `metadata_too_large`, `customer_missing`, `too_many_requests`, `database_away`.
   */
  updateMetadata(id: string, params: MetadataChange, options?: RequestOptions): Promise<Customer>;
  /**
   * Add roles with the scope PROJECT to a customer, who keeps the present ones
   *
   * Honours `If-Match`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_roles`, `customer_missing`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  addRoles(id: string, params: RolesChange, options?: RequestOptions): Promise<Customer>;
  /**
   * Replace the roles with the scope PROJECT of a customer
   *
   * Honours `If-Match`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_roles`, `customer_missing`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  replaceRoles(id: string, params: RolesChange, options?: RequestOptions): Promise<Customer>;
  /**
   * Give a customer the identifier it has in your own system
   *
   * If another customer has that identifier, that customer is merged into this one in the same transaction and deleted;
   * `mergedCustomerId` is its id. Link two customers only if you know that they are one person: afterwards the
   * addresses of both can be used to sign in to the account that remains.
   *
   * The identities, passkeys, memberships, events and e-mail addresses of the merged customer move to this one, and the
   * sessions of the merged customer end. This customer gets the roles of both, its own first, at most 100. It gets the
   * metadata of both, and keeps its own value for a key that both have. A verified address is preferred as the primary
   * one. If this customer has no name, phone number, password or second factor (with its recovery codes), it gets that
   * of the merged customer. If it gets a second factor, its sessions end, because they began without one.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `customer_banned`, `external_id_taken`, `too_many_requests`, `database_away`.
   */
  link(params: CustomerLink, options?: RequestOptions): Promise<CustomerLinkResult>;
  /**
   * The versions of the terms that a customer has accepted, the latest first; at most 100
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  listAcceptedTerms(id: string, options?: RequestOptions): Promise<TermsAcceptance[]>;
  /**
   * Begin a session as a customer, for at most an hour
   *
   * The tokens have the claim `act` with who acts, so that your app can show a banner and refuse what it likes. In
   * Postern, such a session can read the account and change name and language; whatever concerns passwords, second
   * factors, passkeys, addresses, linked accounts, sessions, memberships or deletion is 403
   * `impersonation_not_allowed`. The customer sees the session, with the reason, in the list of sessions, can end it,
   * and gets the notice `IMPERSONATED` by mail unless the project has switched it off. Start and end are in the audit
   * log and in the events.
   *
   * Permission: `customers:impersonate`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `hook_refused`, `customer_missing`, `customer_banned`, `too_many_requests`, `hook_failed`,
   * `database_away`.
   */
  impersonate(id: string, params: NewImpersonation, options?: RequestOptions): Promise<CustomerSignInResult>;
  /**
   * Create a link that opens your app as a customer, once, within five minutes
   *
   * The page of the link says who acts as whom and why. Its button begins the session, which lasts `minutes` from then
   * on, and the browser goes to `redirectUrl` with `code`, `state` and `impersonation=true`; exchange the code at
   * `auth/token` within two minutes. The session is that of `POST …/impersonate`. The customer is told when it begins.
   * The link does not work any more if whoever created it has lost the permission or has signed out. A customer has at
   * most 10 open links.
   *
   * Permission: `customers:impersonate`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `customer_banned`, `too_many_impersonation_links`, `too_many_requests`,
   * `database_away`.
   */
  createImpersonationLink(id: string, params: NewImpersonationLink, options?: RequestOptions): Promise<CreatedImpersonationLink>;
  readonly identityRequests: CustomersIdentityRequestsApi;
  /**
   * List the organizations of a customer with the customer's roles, most recently joined first
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  listOrganizations(id: string, params?: CustomersListOrganizationsParams, options?: RequestOptions): PagePromise<OrganizationMembership>;
  /**
   * Import up to 200 customers from another system: password hashes, second factors, passkeys, accounts at providers,
   * addresses, organizations
   *
   * The guide lists the fields of a row.
   *
   * Each row is imported completely or not at all, and a row that fails does not stop the others; the report says why.
   * A customer with the same `externalUserId` is left as it is, so a batch can be sent again. With `dryRun`, nothing is
   * stored. Rows with `organizations` need the permission `organizations:write`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  importRows(params: CustomerRows, options?: RequestOptions): Promise<CustomerRowsResult>;
  /**
   * List the clients that a customer has allowed something
   *
   * Empty for an unknown customer.
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  listConsents(id: string, options?: RequestOptions): Promise<OAuthConsent[]>;
  /**
   * Withdraw the consent of a customer to a client, whose refresh tokens for this customer end
   *
   * The customer is asked again at the next sign-in.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_consent_missing`, `too_many_requests`, `database_away`.
   */
  revokeConsent(id: string, clientId: string, options?: RequestOptions): Promise<Removed>;
}

/** The methods of `client.customers.sessions`. */
export interface CustomersSessionsApi {
  /**
   * End a session of a customer
   *
   * Its tokens are rejected from the next request on.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `session_missing`, `too_many_requests`, `database_away`.
   */
  revoke(id: string, sessionId: string, options?: RequestOptions): Promise<void>;
  /**
   * End all sessions of a customer, including sign-ins that wait for a second factor
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  revokeAll(id: string, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.apps`. */
export interface AppsApi {
  readonly customers: AppsCustomersApi;
  readonly sso: AppsSsoApi;
  readonly organizations: AppsOrganizationsApi;
}

/** The methods of `client.apps.customers`. */
export interface AppsCustomersApi {
  /**
   * The project's customers, newest first
   *
   * `q` matches part of an address, name, phone number or external identifier, or a complete id; with one or two
   * characters it matches the beginning of an address. `status` is `active`, `banned`, `verified`, `unverified`, `mfa`
   * or `locked`; `provider` is a sign-in method such as `PASSWORD` or `GOOGLE`.
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AppsCustomersListParams, options?: RequestOptions): PagePromise<EndUser>;
  /**
   * Numbers of customers: all, verified, banned, and with a second factor
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getStats(options?: RequestOptions): Promise<CustomerStats>;
  /**
   * All customers as CSV, newest first
   *
   * Takes the filters of the list.
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  export(params?: AppsCustomersExportParams, options?: RequestOptions): Promise<string>;
  /**
   * A customer with its identities and live sessions
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<EndUser>;
  /**
   * Erase a customer
   *
   * Returns the customer as it was before.
   *
   * The last OWNER of an organization cannot be erased (409; `errors` names the organizations), unless
   * `transferOwnershipTo` names another customer, who becomes OWNER of them in the same transaction.
   *
   * The customer and all personal data are deleted: identities, sessions, passkeys, e-mails to the address, and the
   * contact with that address. Events keep their type and time; `erasedAt` is set and their data is emptied. The audit
   * log keeps who did what, without details, and its hash chain still verifies. Honours `If-Match`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `customer_owns_organizations`, `too_many_requests`, `database_away`.
   */
  delete(id: string, params?: AppsCustomersDeleteParams, options?: RequestOptions): Promise<EndUser>;
  /**
   * Changes of a customer by developers and API keys, newest first
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  listAuditLog(id: string, params?: AppsCustomersListAuditLogParams, options?: RequestOptions): PagePromise<AuditEntry>;
  /**
   * Ban a customer: all sessions end, and sign-ins are refused until `expiresAt` or until the customer is unbanned
   *
   * If the customer is banned already, the reason and the end change.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  ban(id: string, params?: CustomerBan, options?: RequestOptions): Promise<EndUser>;
  /**
   * Lift a ban, and any lockout after failed attempts
   *
   * Sessions that the ban ended stay ended.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  unban(id: string, options?: RequestOptions): Promise<EndUser>;
  /**
   * Clear the failed sign-in attempts of a customer, from all IP addresses, and end a lockout
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  unlock(id: string, options?: RequestOptions): Promise<EndUser>;
  readonly sessions: AppsCustomersSessionsApi;
  /**
   * Remove the second factor and its recovery codes, for a customer who lost both
   *
   * If a second factor is required, the customer sets up a new one at the next sign-in. Sign-ins that wait for the
   * second factor end. If a second factor was on, the customer is notified by mail.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  resetMfa(id: string, options?: RequestOptions): Promise<void>;
  /**
   * Merge keys into a customer's metadata at the top level; null removes a key
   *
   * The result has at most 16 KiB.
   *
   * Honours `If-Match`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `metadata_too_large`, `customer_missing`, `too_many_requests`, `database_away`.
   */
  updateMetadata(id: string, params: MetadataChange, options?: RequestOptions): Promise<EndUser>;
  /**
   * Add roles with the scope PROJECT to a customer, who keeps the present ones
   *
   * Honours `If-Match`.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_roles`, `customer_missing`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  addRoles(id: string, params: RolesChange, options?: RequestOptions): Promise<EndUser>;
}

/** The methods of `client.apps.customers.sessions`. */
export interface AppsCustomersSessionsApi {
  /**
   * End a session of a customer
   *
   * Its tokens are rejected from the next request on.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `session_missing`, `too_many_requests`, `database_away`.
   */
  revoke(id: string, sessionId: string, options?: RequestOptions): Promise<void>;
  /**
   * End all sessions of a customer, including sign-ins that wait for a second factor
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_requests`, `database_away`.
   */
  revokeAll(id: string, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.signingKeys`. */
export interface SigningKeysApi {
  /**
   * The public keys that verify customers' access tokens (ES256), and those for ID tokens with RS256 (RFC 7517)
   *
   * Cache them for at most five minutes.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * Create a new key for customers' access tokens, and for ID tokens with RS256 if the project has such a key
   *
   * New keys are published at once and sign after ten minutes; earlier ones are removed from the JWKS an hour after
   * that.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  rotate(options?: RequestOptions): Promise<void>;
}

/** The methods of `client.auth`. */
export interface AuthApi {
  /**
   * Exchange a refresh token for new tokens
   *
   * A refresh token works once. If it is sent again within 30 seconds, the response has the same new tokens, so that a
   * lost response does no harm. A token that is used again later must have been copied, so the session ends. The
   * session also ends if its sign-in does not meet the current requirements of the project and of the customer's
   * organizations (`requireSso`, `requireMfa`, `allowedMethods`), or has lasted for longer than an organization allows
   * (`sessionLifetimeMinutes`).
   *
   * `organizationId` switches the active organization, which the access token describes; null switches to none. If the
   * customer is not a member of the organization, or the organization is suspended, the response is 403 and nothing
   * changes: the refresh token still works.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `refresh_token_invalid`, `not_a_member`, `hook_refused`, `too_many_requests`, `hook_failed`,
   * `database_away`.
   */
  refresh(params: CustomerTokenRefresh, options?: RequestOptions): Promise<CustomerTokens>;
  /**
   * End this session
   *
   * Its tokens are rejected from the next request on.
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  signOut(options?: RequestOptions): Promise<void>;
  /**
   * The customer that the access token belongs to
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  me(options?: RequestOptions): Promise<CurrentCustomer>;
  /**
   * Change your name or language
   *
   * Omitted fields keep their values; null removes one. Honours `If-Match`.
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  updateMe(params: CurrentCustomerChange, options?: RequestOptions): Promise<CurrentCustomer>;
  /**
   * Delete your account, with all personal data, as `DELETE …/customers/{id}` does
   *
   * It cannot be undone.
   *
   * Needs a sign-in in the last hour. The last OWNER of an organization cannot delete the account (409). The project
   * can forbid it with `accountDeletion`.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `account_deletion_off`, `customer_owns_organizations`, `too_many_requests`, `database_away`.
   */
  deleteMe(options?: RequestOptions): Promise<void>;
  /**
   * All your permissions: in the project, and in the active organization of the access token
   *
   * The claim `permissions_url` of an access token has the URL of this operation if a list of permissions is too large
   * for the token. `organization` is null without an active organization, if you are no longer a member of it, and
   * while it is suspended.
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getPermissions(options?: RequestOptions): Promise<MyPermissions>;
  readonly sessions: AuthSessionsApi;
  /**
   * Send a code to the address; `sign-up/verify` creates the account
   *
   * If the address has an account, the response is the same, and the mail says that there is an account. With the
   * project's setting `verifyEmail: LATER`, the account is created at once: the response has the tokens of a session,
   * and is a 409 if the address has an account.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `password_common`, `password_breached`, `sign_up_closed`, `sso_required`, `sign_in_method_not_allowed`,
   * `method_off`, `hook_refused`, `plan_limit_reached`, `email_taken`, `terms_not_accepted`, `too_many_requests`,
   * `hook_failed`, `database_away`.
   */
  signUp(params: CustomerSignUp, options?: RequestOptions): Promise<CustomerSignUpResult>;
  /**
   * Send another code for a sign-up of the last ten minutes
   *
   * Earlier codes stay valid.
   *
   * Send the new code with the new `challengeId`. The limits on mails are those of `sign-up`.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `sign_up_closed`, `sso_required`, `too_many_requests`, `database_away`.
   */
  resendSignUpCode(params: CodeResend, options?: RequestOptions): Promise<ChallengeSent>;
  /**
   * Create the account with the code from the mail, and sign in
   *
   * The code works once.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `sign_up_closed`, `sso_required`, `sign_in_method_not_allowed`, `plan_limit_reached`,
   * `hook_refused`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  verifySignUp(params: CodeVerification, options?: RequestOptions): Promise<CustomerSignInResult>;
  /**
   * Sign in with an e-mail address and a password
   *
   * Ten failures lock the address for this network for 15 minutes, further ones for up to an hour. If a second factor
   * is on, the response has `mfaRequired` and no tokens. If the address has no password here, the hook MIGRATION is
   * asked.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `sign_in_failed`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `method_off`,
   * `plan_limit_reached`, `hook_refused`, `sign_in_locked`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  signIn(params: PasswordSignIn, options?: RequestOptions): Promise<CustomerSignInResult>;
  /**
   * Send a six-digit code by mail
   *
   * It is valid for 10 minutes and 5 tries. Unknown addresses get the same response.
   *
   * Earlier codes stay valid. If sign-up is open, a code for an unknown address creates an account.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `sso_required`, `method_off`, `too_many_requests`, `database_away`.
   */
  requestSignInCode(params: EmailOnly, options?: RequestOptions): Promise<ChallengeSent>;
  /**
   * Sign in with the code from the mail
   *
   * It works once. Creates the account if sign-up is open.
   *
   * Marks the address as verified. If it is the first verified address of the account, the password, second factor,
   * passkeys and linked accounts are removed, because another person may have added them.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `method_off`,
   * `plan_limit_reached`, `hook_refused`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  signInWithCode(params: SignInCodeVerification, options?: RequestOptions): Promise<CustomerSignInResult>;
  /**
   * Send a link by mail that signs in once, within 15 minutes
   *
   * Unknown addresses get the same response.
   *
   * Earlier links stay valid. If sign-up is open, a link for an unknown address creates an account.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `sso_required`, `method_off`, `too_many_requests`, `database_away`.
   */
  requestSignInLink(params: SignInLinkRequest, options?: RequestOptions): Promise<void>;
  /**
   * Sign in with the token of a link
   *
   * It works once. Creates the account if sign-up is open.
   *
   * Opening the link does not use up the token, because mail scanners open links. The effects on the account are those
   * of `sign-in/code/verify`.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `method_off`,
   * `plan_limit_reached`, `hook_refused`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  signInWithLink(params: LinkVerification, options?: RequestOptions): Promise<CustomerSignInResult>;
  /**
   * Accept the terms that a sign-in requires (`termsRequired`), and continue the sign-in
   *
   * The token works once, within ten minutes. If the version has changed since, the response is 422 and names the
   * current one, and the token stays valid. If the project has stopped requiring its terms since, the sign-in continues
   * without an acceptance.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `hook_refused`,
   * `terms_not_accepted`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  acceptTerms(params: TermsProof, options?: RequestOptions): Promise<CustomerSignInResult>;
  /**
   * Send a link by mail with which a new password can be set within 30 minutes
   *
   * Unknown addresses get the same response.
   *
   * Without `redirectUrl` the link leads to a hosted page.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `sso_required`, `method_off`, `too_many_requests`, `database_away`.
   */
  requestPasswordReset(params: SignInLinkRequest, options?: RequestOptions): Promise<void>;
  /**
   * Set a new password with the token from the mail, and mark the address as verified
   *
   * All sessions end, and so does a lockout after wrong passwords. If this is the first verified address of the
   * account, the second factor, passkeys and linked accounts are removed too, because another person may have added
   * them. The customer is notified by mail.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `password_common`, `password_breached`, `code_invalid`, `method_off`, `too_many_requests`,
   * `database_away`.
   */
  resetPassword(params: PasswordReset, options?: RequestOptions): Promise<void>;
  /**
   * Change your password
   *
   * All other sessions end, and you are notified by mail.
   *
   * To set a first password, you need a sign-in in the last hour instead of `currentPassword`.
   *
   * Credentials: customer.
   *
   * Problems: `password_common`, `password_breached`, `sign_in_failed`, `sign_in_locked`, `too_many_requests`,
   * `database_away`.
   */
  changePassword(params: CustomerPasswordChange, options?: RequestOptions): Promise<void>;
  /**
   * Send a code to your e-mail address
   *
   * `verify-email` takes the code and marks the address as verified.
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  requestEmailVerification(options?: RequestOptions): Promise<ChallengeSent>;
  /**
   * Send a code to a new e-mail address
   *
   * The account keeps the old address until `verify-email` gets the code.
   *
   * Needs a sign-in in the last hour.
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  requestEmailChange(params: EmailOnly, options?: RequestOptions): Promise<ChallengeSent>;
  /**
   * Verify an address with the code that was sent to it
   *
   * The address becomes the primary one of your account, or a further one if `emails` has sent the code.
   *
   * If the primary address changes, the old one gets a notice. Only the customer who requested the code can use it.
   *
   * Credentials: customer.
   *
   * Problems: `code_invalid`, `email_taken`, `primary_address_unverified`, `too_many_addresses`, `too_many_requests`,
   * `database_away`.
   */
  verifyEmail(params: CodeVerification, options?: RequestOptions): Promise<CurrentCustomer>;
  readonly totp: AuthTotpApi;
  /**
   * Begin to set up the second factor that a sign-in requires (`mfaEnrollmentRequired`): show `uri` as a QR code
   *
   * The token is valid for ten minutes; repeated requests with it return the same secret.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `too_many_requests`, `database_away`.
   */
  beginRequiredTotp(params: EnrollmentToken, options?: RequestOptions): Promise<TotpEnrolment>;
  /**
   * Turn the second factor on with a first code, and complete the sign-in
   *
   * Also returns ten recovery codes.
   *
   * All other sessions and pending sign-ins end. The token works once.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `hook_refused`,
   * `mfa_already_on`, `sign_in_locked`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  confirmRequiredTotp(params: EnrollmentProof, options?: RequestOptions): Promise<EnrolledSignIn>;
  /**
   * Create ten new recovery codes
   *
   * Earlier ones are no longer valid. The customer is notified by mail.
   *
   * Credentials: customer.
   *
   * Problems: `code_invalid`, `mfa_off`, `sign_in_locked`, `too_many_requests`, `database_away`.
   */
  renewRecoveryCodes(params: TotpCode, options?: RequestOptions): Promise<CustomerRecoveryCodes>;
  /**
   * Complete a sign-in with the second factor, in at most five tries
   *
   * A code of the authenticator app works once, even within its 30 seconds. If a recovery code is used, the customer is
   * notified by mail.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `hook_refused`,
   * `sign_in_locked`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  verifySecondFactor(params: SecondFactorSignIn, options?: RequestOptions): Promise<CustomerSignInResult>;
  readonly passkeys: AuthPasskeysApi;
  /**
   * How you can authenticate again in this session, without signing in
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getStepUpOptions(options?: RequestOptions): Promise<StepUpOptions>;
  /**
   * Authenticate again in this session, for what needs a recent or a stronger authentication
   *
   * Returns an access token with the new `auth_time`, `acr` and `amr`; the refresh token stays valid. The limits on
   * failures are those of a sign-in. A customer with a second factor, or a session that was begun with one, needs that:
   * a password is not enough. With a code of the authenticator app, a session whose sign-in did not ask for it becomes
   * `urn:postern:multi-factor`; with a passkey that verifies its user, any session becomes `phr`.
   *
   * Credentials: customer.
   *
   * Problems: `sign_in_failed`, `code_invalid`, `refresh_token_invalid`, `step_up_method_not_allowed`, `hook_refused`,
   * `sign_in_locked`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  stepUp(params: StepUp, options?: RequestOptions): Promise<SteppedUpSession>;
  /**
   * Mail a code to your address, with which this session can authenticate again
   *
   * It is valid for 10 minutes and 5 tries.
   *
   * Credentials: customer.
   *
   * Problems: `step_up_method_not_allowed`, `too_many_requests`, `database_away`.
   */
  requestStepUpCode(options?: RequestOptions): Promise<ChallengeSent>;
  readonly rememberedDevices: AuthRememberedDevicesApi;
  /**
   * Redirect a browser to a provider, and set a cookie that binds the sign-in to this browser
   *
   * The browser returns to `redirectUrl` (one of the project's) with `code` and `state`, or with `error`. Make the S256
   * `codeChallenge` (RFC 7636) from a verifier that you keep. `link` is part of the URLs that `identities/{key}/link`
   * returns. With `hosted`, a hosted page asks for the second factor, if there is one, before the app gets its `code`;
   * with `factor=ask` on a remembered device, too.
   *
   * Problems: `sso_required`, `provider_missing`, `too_many_requests`, `provider_trouble`, `database_away`.
   */
  startProviderSignIn(key: string, params: AuthStartProviderSignInParams, options?: RequestOptions): Promise<string>;
  /**
   * Exchange the code from a provider or a hosted page for the tokens of a session
   *
   * The code works once.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `hook_refused`,
   * `too_many_requests`, `hook_failed`, `database_away`.
   */
  exchangeCode(params: AuthorizationCodeGrant, options?: RequestOptions): Promise<CustomerSignInResult>;
  readonly identities: AuthIdentitiesApi;
  readonly emails: AuthEmailsApi;
  /**
   * A copy of everything that is kept about your account: profile, addresses, ways to sign in, remembered devices,
   * sessions, organizations, connected apps, accepted terms, and the newest 1,000 events
   *
   * No passwords, keys or codes.
   *
   * Needs a sign-in in the last hour.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `too_many_requests`, `database_away`.
   */
  export(options?: RequestOptions): Promise<AccountExport>;
  readonly organizations: AuthOrganizationsApi;
  readonly invitations: AuthInvitationsApi;
  /**
   * Find the single sign-on connection that serves the domain of an e-mail address
   *
   * Redirect the browser to `loginUrl` with `redirectUrl`, `codeChallenge` and `state`. If `choices` is not null, let
   * the person choose one of them first. All other fields are null if there is no connection, if the domain is no
   * longer verified, or if the organization is suspended.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  findSsoConnection(params: AuthFindSsoConnectionParams, options?: RequestOptions): Promise<SsoLookup>;
  /**
   * End the customer's session, and return the URL to sign out at the identity provider too
   *
   * `url` is null if the session was not started by single sign-on, or the provider does not support logout by
   * redirect. After the logout the browser returns to `redirectUrl`.
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  signOutWithSso(params?: SsoSignOutRequest, options?: RequestOptions): Promise<SsoSignOut>;
  /**
   * The clients that you have allowed something
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  listConsents(options?: RequestOptions): Promise<OAuthConsent[]>;
  /**
   * Withdraw your consent to a client
   *
   * Its refresh tokens end, and you are asked again at the next sign-in.
   *
   * Credentials: customer.
   *
   * Problems: `oauth_consent_missing`, `too_many_requests`, `database_away`.
   */
  revokeConsent(clientId: string, options?: RequestOptions): Promise<Removed>;
}

/** The methods of `client.auth.sessions`. */
export interface AuthSessionsApi {
  /**
   * Your sessions, newest first
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<OwnSession[]>;
  /**
   * End one of your sessions
   *
   * Credentials: customer.
   *
   * Problems: `session_missing`, `too_many_requests`, `database_away`.
   */
  revoke(sessionId: string, options?: RequestOptions): Promise<void>;
  /**
   * End all your sessions except this one
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  revokeOthers(options?: RequestOptions): Promise<void>;
}

/** The methods of `client.auth.totp`. */
export interface AuthTotpApi {
  /**
   * Begin to set up a second factor: show `uri` as a QR code
   *
   * `mfa/totp/confirm` turns it on with a first code.
   *
   * Needs a sign-in in the last hour.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `mfa_already_on`, `too_many_requests`, `database_away`.
   */
  enroll(options?: RequestOptions): Promise<TotpEnrolment>;
  /**
   * Turn the second factor on with a first code
   *
   * Returns ten recovery codes. All other sessions end.
   *
   * Needs a sign-in in the last hour. The customer is notified by mail.
   *
   * Credentials: customer.
   *
   * Problems: `code_invalid`, `not_fresh`, `mfa_already_on`, `mfa_off`, `sign_in_locked`, `too_many_requests`,
   * `database_away`.
   */
  confirm(params: TotpCode, options?: RequestOptions): Promise<CustomerRecoveryCodes>;
  /**
   * Turn the second factor off with a code of the authenticator app or a recovery code
   *
   * The response is 409 if the project or an organization requires a second factor. The customer is notified by mail.
   *
   * Credentials: customer.
   *
   * Problems: `code_invalid`, `mfa_off`, `mfa_still_required`, `sign_in_locked`, `too_many_requests`, `database_away`.
   */
  disable(params: SecondFactorProof, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.auth.passkeys`. */
export interface AuthPasskeysApi {
  /**
   * Begin to add a passkey: pass `options` to `navigator.credentials.create`
   *
   * Needs a sign-in in the last hour.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `method_off`, `too_many_passkeys`, `too_many_requests`, `database_away`.
   */
  beginRegistration(options?: RequestOptions): Promise<PasskeyOptions>;
  /**
   * Add the passkey that the browser created
   *
   * Needs a sign-in in the last hour. The customer is notified by mail.
   *
   * Credentials: customer.
   *
   * Problems: `code_invalid`, `not_fresh`, `too_many_passkeys`, `too_many_requests`, `database_away`.
   */
  register(params: NewPasskey, options?: RequestOptions): Promise<Passkey>;
  /**
   * The customer's passkeys, newest first
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<Passkey[]>;
  /**
   * Change the name of a passkey
   *
   * Credentials: customer.
   *
   * Problems: `passkey_missing`, `too_many_requests`, `database_away`.
   */
  rename(id: string, params: PasskeyChange, options?: RequestOptions): Promise<Passkey>;
  /**
   * Remove a passkey
   *
   * Needs a sign-in in the last hour, and another sign-in method.
   *
   * The last passkey cannot be removed (409) if a second factor is required and the customer has no other second
   * factor. The customer is notified by mail.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `passkey_missing`, `last_sign_in_method`, `mfa_still_required`, `too_many_requests`,
   * `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /**
   * Begin to sign in with a passkey: pass `options` to `navigator.credentials.get`
   *
   * No e-mail address is needed.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `sso_required`, `method_off`, `too_many_requests`, `database_away`.
   */
  beginSignIn(options?: RequestOptions): Promise<PasskeyOptions>;
  /**
   * Sign in with a passkey
   *
   * User verification (PIN, fingerprint, face) counts as the second factor.
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `sign_in_failed`, `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`,
   * `method_off`, `hook_refused`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  signIn(params: PasskeySignIn, options?: RequestOptions): Promise<CustomerSignInResult>;
  /**
   * Begin to authenticate again with one of your passkeys: pass `options` to `navigator.credentials.get`
   *
   * Credentials: customer.
   *
   * Problems: `step_up_method_not_allowed`, `too_many_requests`, `database_away`.
   */
  beginStepUp(options?: RequestOptions): Promise<PasskeyOptions>;
}

/** The methods of `client.auth.rememberedDevices`. */
export interface AuthRememberedDevicesApi {
  /**
   * The devices on which you are not asked for the second factor, newest first
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<MyRememberedDevice[]>;
  /**
   * Ask for the second factor on this device again
   *
   * Its sessions continue.
   *
   * Credentials: customer.
   *
   * Problems: `remembered_device_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.signInHooks`. */
export interface SignInHooksApi {
  /**
   * List the project's sign-in hooks with their last failures, without secrets
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<SignInHook[]>;
  /**
   * Let a URL of your server take part in sign-ups and sign-ins
   *
   * A project has at most one hook of each kind.
   *
   * `BEFORE_SIGN_UP` is called before a person creates an account, `BEFORE_TOKEN` before an access token is issued,
   * `MIGRATION` when a person signs in with a password and has none here. Requests are signed according to Standard
   * Webhooks with the `secret`, which is returned only here and by a rotation. The answer must arrive within
   * `timeoutMs`; otherwise `onFailure` applies.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `hook_exists`, `too_many_requests`, `database_away`.
   */
  create(params: NewSignInHook, options?: RequestOptions): Promise<SignInHookWithSecret>;
  /**
   * Get a sign-in hook with its last failures, without the secret
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `hook_missing`, `too_many_requests`, `database_away`.
   */
  get(kind: "BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {}), options?: RequestOptions): Promise<SignInHook>;
  /**
   * Change a sign-in hook
   *
   * If it was paused after failures, it is called again. Honours `If-Match`.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `hook_missing`, `too_many_requests`, `database_away`.
   */
  update(kind: "BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {}), params: SignInHookChange, options?: RequestOptions): Promise<SignInHook>;
  /**
   * Delete a sign-in hook
   *
   * Honours `If-Match`.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `hook_missing`, `too_many_requests`, `database_away`.
   */
  delete(kind: "BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {}), options?: RequestOptions): Promise<SignInHook>;
  /**
   * Rotate the secret of a hook
   *
   * The new secret is returned only here.
   *
   * The old secret signs in addition to the new one for `gracePeriodSeconds` (default 24 hours). If an even older
   * secret still signs, it becomes invalid immediately.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `hook_missing`, `too_many_requests`, `database_away`.
   */
  rotateSecret(kind: "BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {}), params?: HookSecretRotation, options?: RequestOptions): Promise<SignInHookWithSecret>;
  /**
   * Call a hook now with example data (`data.test` is true), and return whether its answer is valid
   *
   * The call is made once, even if the hook is inactive or paused. Nothing is recorded.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `hook_missing`, `too_many_requests`, `database_away`.
   */
  test(kind: "BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {}), options?: RequestOptions): Promise<SignInHookTest>;
}

/** The methods of `client.pages`. */
export interface PagesApi {
  /**
   * The page of a link that opens the app as a customer
   *
   * Opening it does not use up the link.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  impersonationLink(params?: PagesImpersonationLinkParams, options?: RequestOptions): Promise<string>;
  /**
   * Use a link: begin the session as the customer, and redirect the browser to the app with a code
   *
   * Use a link: begin the session as the customer, and redirect the browser to the app with a code
   *
   * Problems: `code_invalid`, `too_many_requests`, `database_away`.
   */
  submitImpersonationLink(params?: PagesSubmitImpersonationLinkParams, options?: RequestOptions): Promise<string>;
  /**
   * The page of the link “This was not me” in the notice about a new device
   *
   * Opening it changes nothing.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  deniedSignIn(params?: PagesDeniedSignInParams, options?: RequestOptions): Promise<string>;
  /**
   * End all sessions of a customer who did not sign in, and remove the password and what was added since: passkeys, a
   * second factor, accounts at providers, new addresses
   *
   * Shows the form for a new password, if the customer had one.
   *
   * Problems: `code_invalid`, `too_many_requests`, `database_away`.
   */
  denySignIn(params?: PagesDenySignInParams, options?: RequestOptions): Promise<string>;
  /**
   * The redirect URI of providers
   *
   * Redirects the browser to the app's `redirectUrl` with `code`, or with `error`.
   *
   * Problems: `flow_invalid`, `too_many_requests`, `database_away`.
   */
  providerCallback(params: PagesProviderCallbackParams, options?: RequestOptions): Promise<string>;
  /**
   * The redirect URI of providers that post a form
   *
   * Redirects to the GET operation with the same parameters.
   *
   * Browsers send the cookie of the sign-in, which is SameSite=Lax, with this GET, but not with the form.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  submitProviderCallback(params?: PagesSubmitProviderCallbackParams, options?: RequestOptions): Promise<string>;
  /**
   * The stylesheet of the hosted pages, with the project's theme
   *
   * The stylesheet of the hosted pages, with the project's theme
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  style(options?: RequestOptions): Promise<string>;
  /**
   * The sign-in page
   *
   * Takes `redirectUrl` (one of the project's), `codeChallenge` (S256) and `state`.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  signIn(options?: RequestOptions): Promise<string>;
  /**
   * Sign in with e-mail address and password
   *
   * With the address alone, the next page asks for what the address can sign in with: single sign-on if its domain has
   * it, otherwise what the project and the organization of the domain allow. It does not tell whether there is an
   * account.
   *
   * Problems: `sign_in_failed`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `method_off`,
   * `plan_limit_reached`, `hook_refused`, `sign_in_locked`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  submitSignIn(params?: PagesSubmitSignInParams, options?: RequestOptions): Promise<string>;
  /**
   * The sign-up page
   *
   * The sign-up page
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  signUp(options?: RequestOptions): Promise<string>;
  /**
   * Sign up
   *
   * The next page asks for the code that was mailed; if no code is needed, the sign-in continues at once.
   *
   * Problems: `password_common`, `password_breached`, `sign_up_closed`, `sso_required`, `sign_in_method_not_allowed`,
   * `method_off`, `hook_refused`, `plan_limit_reached`, `email_taken`, `terms_not_accepted`, `too_many_requests`,
   * `hook_failed`, `database_away`.
   */
  submitSignUp(params?: PagesSubmitSignUpParams, options?: RequestOptions): Promise<string>;
  /**
   * Mail another code for a pending sign-up
   *
   * Mail another code for a pending sign-up
   *
   * Problems: `code_invalid`, `sign_up_closed`, `sso_required`, `too_many_requests`, `database_away`.
   */
  resendSignUpCode(params?: PagesResendSignUpCodeParams, options?: RequestOptions): Promise<string>;
  /**
   * Finish a sign-up with the code that was mailed
   *
   * Finish a sign-up with the code that was mailed
   *
   * Problems: `code_invalid`, `sign_up_closed`, `sso_required`, `sign_in_method_not_allowed`, `plan_limit_reached`,
   * `hook_refused`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  verifySignUp(params?: PagesVerifySignUpParams, options?: RequestOptions): Promise<string>;
  /**
   * Mail a sign-in code; the next page asks for it
   *
   * Mail a sign-in code; the next page asks for it
   *
   * Problems: `sso_required`, `method_off`, `too_many_requests`, `database_away`.
   */
  requestCode(params?: PagesRequestCodeParams, options?: RequestOptions): Promise<string>;
  /**
   * Sign in with single sign-on: forward the browser to the identity provider of the organization that has the domain
   * of the address
   *
   * Sign in with single sign-on: forward the browser to the identity provider of the organization that has the domain
   * of the address
   *
   * Problems: `no_sign_on_here`, `too_many_requests`, `database_away`.
   */
  startSso(params?: PagesStartSsoParams, options?: RequestOptions): Promise<string>;
  /**
   * Sign in with the code that was mailed
   *
   * Sign in with the code that was mailed
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `method_off`,
   * `plan_limit_reached`, `hook_refused`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  submitCode(params?: PagesSubmitCodeParams, options?: RequestOptions): Promise<string>;
  /**
   * Finish a sign-in with a code of the authenticator app or a recovery code
   *
   * Finish a sign-in with a code of the authenticator app or a recovery code
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `hook_refused`,
   * `sign_in_locked`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  submitSecondFactor(params?: PagesSubmitSecondFactorParams, options?: RequestOptions): Promise<string>;
  /**
   * The page that asks for a second factor, with the `mfaToken` of a sign-in that returned `mfaRequired`
   *
   * Also takes the parameters of `pages/sign-in`, with a new `codeChallenge`. After a sign-in that returned
   * `mfaEnrollmentRequired`, the page sets up a second factor.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  secondFactor(options?: RequestOptions): Promise<string>;
  /**
   * Turn on a required second factor with its first code; the next page shows the recovery codes
   *
   * Turn on a required second factor with its first code; the next page shows the recovery codes
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `hook_refused`,
   * `mfa_already_on`, `sign_in_locked`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  enrollSecondFactor(params?: PagesEnrollSecondFactorParams, options?: RequestOptions): Promise<string>;
  /**
   * Leave the page with the recovery codes: continue to the app, or first to the page that adds a passkey
   *
   * Leave the page with the recovery codes: continue to the app, or first to the page that adds a passkey
   *
   * Problems: `code_invalid`, `too_many_requests`, `database_away`.
   */
  confirmRecoveryCodes(params?: PagesConfirmRecoveryCodesParams, options?: RequestOptions): Promise<string>;
  /**
   * The page that asks to accept the terms, with the `termsToken` of a sign-in that returned `termsRequired`
   *
   * Also takes the parameters of `pages/sign-in`, with a new `codeChallenge`.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  terms(options?: RequestOptions): Promise<string>;
  /**
   * Accept the terms, and continue the sign-in
   *
   * Accept the terms, and continue the sign-in
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`, `hook_refused`,
   * `terms_not_accepted`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  submitTerms(params?: PagesSubmitTermsParams, options?: RequestOptions): Promise<string>;
  /**
   * Continue a sign-in that began on a hosted page, after the customer has signed in at a provider
   *
   * Shows the page for the second factor if one is needed, otherwise redirects to the app.
   *
   * Problems: `code_invalid`, `sign_in_blocked`, `too_many_requests`, `database_away`.
   */
  showContinue(options?: RequestOptions): Promise<string>;
  /**
   * WebAuthn options for the script of the pages: to sign in or, with `pageToken`, to add a passkey
   *
   * WebAuthn options for the script of the pages: to sign in or, with `pageToken`, to add a passkey
   *
   * Problems: `not_fresh`, `code_invalid`, `method_off`, `too_many_passkeys`, `too_many_requests`, `database_away`.
   */
  passkeyOptions(params?: PagesPasskeyOptionsParams, options?: RequestOptions): Promise<PasskeyOptions>;
  /**
   * Sign in with a passkey
   *
   * Sign in with a passkey
   *
   * Problems: `sign_in_failed`, `code_invalid`, `sign_in_blocked`, `sso_required`, `sign_in_method_not_allowed`,
   * `method_off`, `hook_refused`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  submitPasskey(params?: PagesSubmitPasskeyParams, options?: RequestOptions): Promise<string>;
  /**
   * Add a passkey to the customer who signed in on the previous page, and continue to the app
   *
   * Add a passkey to the customer who signed in on the previous page, and continue to the app
   *
   * Problems: `code_invalid`, `not_fresh`, `too_many_passkeys`, `too_many_requests`, `database_away`.
   */
  addPasskey(params?: PagesAddPasskeyParams, options?: RequestOptions): Promise<string>;
  /**
   * Continue to the app without adding a passkey
   *
   * Continue to the app without adding a passkey
   *
   * Problems: `code_invalid`, `too_many_requests`, `database_away`.
   */
  skipPasskey(params?: PagesSkipPasskeyParams, options?: RequestOptions): Promise<string>;
  /**
   * The page to request a password reset
   *
   * With the parameters of `pages/sign-in`, it links back to that page.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  forgotPassword(options?: RequestOptions): Promise<string>;
  /**
   * Request a password reset: if there is an account with this address, mail a link to set a new password
   *
   * The response is the same if there is none.
   *
   * Problems: `sso_required`, `method_off`, `too_many_requests`, `database_away`.
   */
  submitForgotPassword(params?: PagesSubmitForgotPasswordParams, options?: RequestOptions): Promise<string>;
  /**
   * The page of a reset link
   *
   * Opening it does not use up the link; a used or expired link shows a message.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  resetPassword(params?: PagesResetPasswordParams, options?: RequestOptions): Promise<string>;
  /**
   * Set a new password with the token of a reset link, and show a notice
   *
   * All sessions of the customer end; for the other effects see `POST …/auth/password/reset`.
   *
   * Problems: `password_common`, `password_breached`, `code_invalid`, `method_off`, `too_many_requests`,
   * `database_away`.
   */
  submitResetPassword(params?: PagesSubmitResetPasswordParams, options?: RequestOptions): Promise<string>;
  /**
   * Show the hosted page of an invitation: who invites, to which organization, as what and until when, and buttons to
   * accept and to decline
   *
   * Show the hosted page of an invitation: who invites, to which organization, as what and until when, and buttons to
   * accept and to decline
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  invitation(params?: PagesInvitationParams, options?: RequestOptions): Promise<string>;
  /**
   * Accept an invitation from the page: the customer with the invited address becomes a member
   *
   * If there is no such customer, one is created. With the answer `decline`, the invitation is revoked instead.
   *
   * Problems: `invitation_missing`, `invitation_closed`, `organization_suspended`, `customer_banned`,
   * `too_many_requests`, `database_away`.
   */
  submitInvitation(params?: PagesSubmitInvitationParams, options?: RequestOptions): Promise<string>;
  /**
   * Find a connection like the GET operation, with the address in the body, so that it is not logged in URLs
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  findSsoConnection(params: EmailOnly, options?: RequestOptions): Promise<SsoLookup>;
}

/** The methods of `client.providers`. */
export interface ProvidersApi {
  /**
   * The project's sign-in providers
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<SignInProvider[]>;
  /**
   * Add or change a provider
   *
   * `key` identifies it: `GOOGLE`, or a key of your own such as `ACME_DIRECTORY`.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  set(key: string, params: ProviderSettings, options?: RequestOptions): Promise<SignInProvider>;
  /**
   * Delete a provider
   *
   * Its customers stay, and need another method to sign in.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `provider_missing`, `too_many_requests`, `database_away`.
   */
  delete(key: string, options?: RequestOptions): Promise<Deleted>;
}

/** The methods of `client.auth.identities`. */
export interface AuthIdentitiesApi {
  /**
   * Begin to link an account at the sign-in provider with this `key`
   *
   * Needs a sign-in in the last hour.
   *
   * Send the browser to `url`. It returns to `redirectUrl` with a `code`, to be sent to POST …/auth/identities, or with
   * `error`.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `provider_missing`, `too_many_requests`, `database_away`.
   */
  beginLink(key: string, params: IdentityLinkRequest, options?: RequestOptions): Promise<IdentityLinkStart>;
  /**
   * Link the account that the customer has signed in to at the provider
   *
   * The customer is notified by mail.
   *
   * The code works once, and only for the session that began to link the account. That session must have signed in
   * within the last hour; the sign-in at the provider does not count.
   *
   * Credentials: customer.
   *
   * Problems: `code_invalid`, `not_fresh`, `identity_taken`, `identity_linked`, `too_many_requests`, `database_away`.
   */
  finishLink(params: IdentityLinkCompletion, options?: RequestOptions): Promise<CurrentCustomer>;
  /**
   * Unlink the account at the provider with this `key`
   *
   * Needs a sign-in in the last hour, and another sign-in method.
   *
   * The customer is notified by mail.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `identity_missing`, `last_sign_in_method`, `too_many_requests`, `database_away`.
   */
  unlink(key: string, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.customers.identityRequests`. */
export interface CustomersIdentityRequestsApi {
  /**
   * Requests to link an account, newest first; `status` filters by PENDING, APPROVED or REJECTED
   *
   * Permission: `customers:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: CustomersIdentityRequestsListParams, options?: RequestOptions): PagePromise<IdentityRequest>;
  /**
   * Link the account to the customer, and unlink the account of the same provider that was linked before
   *
   * The customer is notified by mail, unless the project has switched this notice off.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `identity_request_missing`, `identity_request_decided`, `identity_taken`, `too_many_requests`,
   * `database_away`.
   */
  approve(id: string, options?: RequestOptions): Promise<IdentityRequest>;
  /**
   * Reject the request
   *
   * Later sign-ins with the account are refused and add no new request.
   *
   * Permission: `customers:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `identity_request_missing`, `identity_request_decided`, `too_many_requests`, `database_away`.
   */
  reject(id: string, options?: RequestOptions): Promise<IdentityRequest>;
}

/** The methods of `client.customerMails`. */
export interface CustomerMailsApi {
  /**
   * The mails to customers whose texts can be edited: their variables, and the languages that have an own text
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<CustomerMail[]>;
  /**
   * The text of a mail in a language: that of the project, or the built-in one
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_mail_missing`, `too_many_requests`, `database_away`.
   */
  get(mail: string, language: string, options?: RequestOptions): Promise<MailText>;
  /**
   * Change the text of a mail in a language
   *
   * Subject, preheader, blocks and footer are MiniJinja templates with the variables of the mail. A mail with a code or
   * link must have the block `code` or `button` once. The text is rendered with sample values before it is stored; an
   * error is a 400 with the path. If it fails later, customers get the built-in text, and `customer.mail_text_failed`
   * is recorded. Honours `If-Match`.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_mail_missing`, `template_too_expensive`, `template_crashed`, `rendering_busy`,
   * `too_many_requests`, `rendering_away`, `database_away`.
   */
  set(mail: string, language: string, params: MailTextContent, options?: RequestOptions): Promise<MailText>;
  /**
   * Use the built-in text of a mail again
   *
   * The versions are kept, so that one of them can be restored. Honours `If-Match`.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_mail_missing`, `too_many_requests`, `database_away`.
   */
  reset(mail: string, language: string, options?: RequestOptions): Promise<MailText>;
  /**
   * The last 50 versions of a mail in a language, newest first
   *
   * Empty if the text was never edited.
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_mail_missing`, `too_many_requests`, `database_away`.
   */
  listVersions(mail: string, language: string, options?: RequestOptions): Promise<MailTextVersion[]>;
  /**
   * Use the text of an earlier version again, as a new version
   *
   * It is checked like a new text. Honours `If-Match`.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_mail_missing`, `mail_version_missing`, `template_too_expensive`, `template_crashed`,
   * `rendering_busy`, `too_many_requests`, `rendering_away`, `database_away`.
   */
  restore(mail: string, language: string, params: MailRestore, options?: RequestOptions): Promise<MailText>;
  /**
   * A mail with sample values, as a customer would get it
   *
   * `content` is checked as when it is stored; null is the text in use. Nothing is stored or sent.
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_mail_missing`, `template_too_expensive`, `template_crashed`, `rendering_busy`,
   * `too_many_requests`, `rendering_away`, `database_away`.
   */
  preview(mail: string, language: string, params: MailDraft, options?: RequestOptions): Promise<CustomerMailPreview>;
  /**
   * Send a mail with sample values to any address, from the sender of the project's mails to customers
   *
   * Its code or link does nothing. `content` is checked as when it is stored; null is the text in use.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_invalid`, `domain_not_verified`, `customer_mail_missing`, `idempotency_key_in_progress`,
   * `message_too_large`, `idempotency_key_reused`, `template_too_expensive`, `template_crashed`, `rendering_busy`,
   * `too_many_requests`, `no_smart_host`, `direct_not_offered`, `rendering_away`, `database_away`.
   */
  test(mail: string, language: string, params: MailTest, options?: RequestOptions): Promise<MailTestSent>;
}

/** The methods of `client.pageTexts`. */
export interface PageTextsApi {
  /**
   * All texts of the hosted pages in a language, in the order of the English texts
   *
   * `changed=true` has only those that the project has replaced, and `q` only those in which all of these words are: in
   * the text, the built-in text or the English one. A text that an update of Postern has removed or written anew is
   * listed last, without `pages`: it has no effect any more.
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `page_text_missing`, `too_many_requests`, `database_away`.
   */
  list(language: string, params?: PageTextsListParams, options?: RequestOptions): Promise<PageText[]>;
  /**
   * Replace a text of the hosted pages in a language, wherever the pages show it
   *
   * It is plain text, and can have the values of the built-in text, such as `{app}`; one with another value is a 400.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `page_text_missing`, `too_many_requests`, `database_away`.
   */
  set(language: string, textId: string, params: PageTextChange, options?: RequestOptions): Promise<PageText>;
  /**
   * Show the built-in text again
   *
   * A text that is not replaced stays as it is.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `page_text_missing`, `too_many_requests`, `database_away`.
   */
  reset(language: string, textId: string, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.sso`. */
export interface SsoApi {
  /**
   * List the connections of all organizations of the project, newest first, each with its organization
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  listAll(params?: SsoListAllParams, options?: RequestOptions): PagePromise<SsoConnectionWithOrganization>;
  /**
   * List the connections of an organization, newest first
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: SsoListParams, options?: RequestOptions): PagePromise<SsoConnection>;
  /**
   * Create a connection as DRAFT, by SAML, or with `kind: OIDC` by OpenID Connect
   *
   * SAML: set the identity provider's metadata now or later: as XML, by URL, or field by field. Enter `spEntityId` and
   * `spAcsUrl`, or `spMetadataUrl`, at the identity provider. The service provider keys are generated.
   *
   * OpenID Connect: set `oidcIssuer`, `oidcClientId` and `oidcClientSecret`, and enter `oidcRedirectUrl` at the
   * provider.
   *
   * Try the connection with `test`; then `activate` it.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `metadata_refused`, `metadata_unreachable`, `organization_missing`, `metadata_too_large`,
   * `too_many_sso_connections`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  create(id: string, params: NewSsoConnection, options?: RequestOptions): Promise<SsoConnection>;
  /**
   * Get a connection, with the values to enter at the identity provider and its pinned certificates
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, connId: string, options?: RequestOptions): Promise<SsoConnection>;
  /**
   * Change a connection
   *
   * Omitted fields keep their values. Honours `If-Match`.
   *
   * `idpMetadataXml` or `idpMetadataUrl` sets every field whose name begins with `idp` from the metadata; `idp` fields
   * in the same request take precedence. `testedAt` becomes null if the change invalidates the test.
   *
   * A change that would make an ACTIVE connection incomplete returns 409; deactivate it first. If this connection is
   * ACTIVE and another organization, which has lost the domain, still has an active connection for it, the connection
   * of the other organization is deactivated.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `metadata_refused`, `metadata_unreachable`, `organization_missing`, `sso_connection_missing`,
   * `sso_connection_incomplete`, `sso_domain_served`, `metadata_too_large`, `role_unknown`, `too_many_requests`,
   * `database_away`.
   */
  update(id: string, connId: string, params: SsoConnectionChange, options?: RequestOptions): Promise<SsoConnection>;
  /**
   * Delete a connection with its keys
   *
   * Customers who used it stay and can use other sign-in methods.
   *
   * Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `sso_still_required`, `too_many_requests`,
   * `database_away`.
   */
  delete(id: string, connId: string, options?: RequestOptions): Promise<Removed>;
  /**
   * Get the service provider metadata: URLs, and the certificates of the CURRENT and the NEXT key
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `saml_only`, `too_many_requests`, `database_away`.
   */
  getMetadata(id: string, connId: string, options?: RequestOptions): Promise<string>;
  /**
   * Activate a connection
   *
   * The connection needs the identity provider's entity id, an https sign-on URL and a certificate that has not
   * expired, or for OpenID Connect an issuer and a client id; and a VERIFIED domain of the organization equal to
   * `domain`. Otherwise the response is 409 with the missing parts in `errors`. Only one active connection can serve a
   * domain. If another organization, which has lost the domain, still has an active connection for it, the connection
   * of the other organization is deactivated. Honours `If-Match`.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `sso_connection_incomplete`, `sso_domain_served`,
   * `too_many_requests`, `database_away`.
   */
  activate(id: string, connId: string, options?: RequestOptions): Promise<SsoConnection>;
  /**
   * Deactivate a connection
   *
   * Existing sessions continue.
   *
   * Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `sso_connection_draft`, `sso_still_required`,
   * `too_many_requests`, `database_away`.
   */
  deactivate(id: string, connId: string, options?: RequestOptions): Promise<SsoConnection>;
  /**
   * Rotate the keys: NEXT becomes CURRENT and signs from now on, and a new NEXT is published
   *
   * Do this after the identity provider has imported the NEXT certificate from the metadata. Messages encrypted for the
   * previous key can be decrypted until the next rotation. Honours `If-Match`.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `saml_only`, `too_many_requests`, `database_away`.
   */
  rotateCertificate(id: string, connId: string, options?: RequestOptions): Promise<SsoConnection>;
  /**
   * Create a link to test the connection, even if it is not active: open the link in a browser and sign on
   *
   * The final page and the operation `…/traces` show every check and the resulting profile. No customer is created or
   * signed in. The link is valid for an hour.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `sso_connection_incomplete`, `too_many_requests`,
   * `database_away`.
   */
  createTestLink(id: string, connId: string, options?: RequestOptions): Promise<SsoTest>;
  /**
   * List the checks of the latest sign-ons, tests and logouts, newest first
   *
   * They are kept for seven days.
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `too_many_requests`, `database_away`.
   */
  listTraces(id: string, connId: string, params?: SsoListTracesParams, options?: RequestOptions): PagePromise<SsoTrace>;
}

/** The methods of `client.apps.sso`. */
export interface AppsSsoApi {
  /**
   * List the connections of an organization, newest first
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: AppsSsoListParams, options?: RequestOptions): PagePromise<AppSsoConnection>;
  /**
   * Create a connection as DRAFT, by SAML, or with `kind: OIDC` by OpenID Connect
   *
   * SAML: set the identity provider's metadata now or later: as XML, by URL, or field by field. Enter `spEntityId` and
   * `spAcsUrl`, or `spMetadataUrl`, at the identity provider. The service provider keys are generated.
   *
   * OpenID Connect: set `oidcIssuer`, `oidcClientId` and `oidcClientSecret`, and enter `oidcRedirectUrl` at the
   * provider.
   *
   * Try the connection with `test`; then `activate` it.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `metadata_refused`, `metadata_unreachable`, `organization_missing`, `metadata_too_large`,
   * `too_many_sso_connections`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  create(id: string, params: NewSsoConnection, options?: RequestOptions): Promise<AppSsoConnection>;
  /**
   * Get a connection, with the values to enter at the identity provider and its pinned certificates
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, connId: string, options?: RequestOptions): Promise<AppSsoConnection>;
  /**
   * Change a connection
   *
   * Omitted fields keep their values. Honours `If-Match`.
   *
   * `idpMetadataXml` or `idpMetadataUrl` sets every field whose name begins with `idp` from the metadata; `idp` fields
   * in the same request take precedence. `testedAt` becomes null if the change invalidates the test.
   *
   * A change that would make an ACTIVE connection incomplete returns 409; deactivate it first. If this connection is
   * ACTIVE and another organization, which has lost the domain, still has an active connection for it, the connection
   * of the other organization is deactivated.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `metadata_refused`, `metadata_unreachable`, `organization_missing`, `sso_connection_missing`,
   * `sso_connection_incomplete`, `sso_domain_served`, `metadata_too_large`, `role_unknown`, `too_many_requests`,
   * `database_away`.
   */
  update(id: string, connId: string, params: SsoConnectionChange, options?: RequestOptions): Promise<AppSsoConnection>;
  /**
   * Delete a connection with its keys
   *
   * Customers who used it stay and can use other sign-in methods.
   *
   * Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `sso_still_required`, `too_many_requests`,
   * `database_away`.
   */
  delete(id: string, connId: string, options?: RequestOptions): Promise<Removed>;
  /**
   * Get the service provider metadata: URLs, and the certificates of the CURRENT and the NEXT key
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `saml_only`, `too_many_requests`, `database_away`.
   */
  getMetadata(id: string, connId: string, options?: RequestOptions): Promise<string>;
  /**
   * Activate a connection
   *
   * The connection needs the identity provider's entity id, an https sign-on URL and a certificate that has not
   * expired, or for OpenID Connect an issuer and a client id; and a VERIFIED domain of the organization equal to
   * `domain`. Otherwise the response is 409 with the missing parts in `errors`. Only one active connection can serve a
   * domain. If another organization, which has lost the domain, still has an active connection for it, the connection
   * of the other organization is deactivated. Honours `If-Match`.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `sso_connection_incomplete`, `sso_domain_served`,
   * `too_many_requests`, `database_away`.
   */
  activate(id: string, connId: string, options?: RequestOptions): Promise<AppSsoConnection>;
  /**
   * Deactivate a connection
   *
   * Existing sessions continue.
   *
   * Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `sso_connection_draft`, `sso_still_required`,
   * `too_many_requests`, `database_away`.
   */
  deactivate(id: string, connId: string, options?: RequestOptions): Promise<AppSsoConnection>;
  /**
   * Rotate the keys: NEXT becomes CURRENT and signs from now on, and a new NEXT is published
   *
   * Do this after the identity provider has imported the NEXT certificate from the metadata. Messages encrypted for the
   * previous key can be decrypted until the next rotation. Honours `If-Match`.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `saml_only`, `too_many_requests`, `database_away`.
   */
  rotateCertificate(id: string, connId: string, options?: RequestOptions): Promise<AppSsoConnection>;
  /**
   * Create a link to test the connection, even if it is not active: open the link in a browser and sign on
   *
   * The final page and the operation `…/traces` show every check and the resulting profile. No customer is created or
   * signed in. The link is valid for an hour.
   *
   * Permission: `sso:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `sso_connection_incomplete`, `too_many_requests`,
   * `database_away`.
   */
  createTestLink(id: string, connId: string, options?: RequestOptions): Promise<SsoTest>;
  /**
   * List the checks of the latest sign-ons, tests and logouts, newest first
   *
   * They are kept for seven days.
   *
   * Permission: `sso:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_connection_missing`, `too_many_requests`, `database_away`.
   */
  listTraces(id: string, connId: string, params?: AppsSsoListTracesParams, options?: RequestOptions): PagePromise<SsoTrace>;
}

/** The methods of `client.auth.emails`. */
export interface AuthEmailsApi {
  /**
   * The addresses of your account: the primary one first, then the others, oldest first
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(options?: RequestOptions): Promise<OwnAddress[]>;
  /**
   * Send a code to a further address
   *
   * `verify-email` takes the code and adds the address to your account.
   *
   * Needs a sign-in in the last hour, and a primary address that is verified: otherwise the person whose address it is
   * would take over this account with the added one when they verify theirs. An account has at most ten further
   * addresses.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `primary_address_unverified`, `too_many_addresses`, `too_many_requests`, `database_away`.
   */
  add(params: EmailOnly, options?: RequestOptions): Promise<ChallengeSent>;
  /**
   * Make one of your verified addresses the primary one
   *
   * The former primary address stays with your account, and gets a notice. Needs a sign-in in the last hour.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `address_missing`, `too_many_requests`, `database_away`.
   */
  makePrimary(params: EmailOnly, options?: RequestOptions): Promise<CurrentCustomer>;
  /**
   * Remove an address from your account, but not the primary one
   *
   * Codes and links that were mailed to it stop working. Needs a sign-in in the last hour.
   *
   * Credentials: customer.
   *
   * Problems: `not_fresh`, `address_missing`, `too_many_requests`, `database_away`.
   */
  remove(params: EmailOnly, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.campaigns`. */
export interface CampaignsApi {
  /**
   * List the project's campaigns, newest first
   *
   * All given filters must match.
   *
   * With `include=counts` each campaign has its `stats`.
   *
   * Permission: `campaigns:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: CampaignsListParams, options?: RequestOptions): PagePromise<ListedCampaign>;
  /**
   * Create a campaign as a DRAFT
   *
   * Only the name is required; everything else can be set before it is sent.
   *
   * For an A/B test, set `abTestEnabled` and give 2 to 8 `variants` whose weights sum to 100. A variant uses the
   * campaign's subject or template where it has none of its own.
   *
   * Permission: `campaigns:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  create(params: NewCampaign, options?: RequestOptions): Promise<Campaign>;
  /**
   * Get a campaign with its variants, statistics and live progress
   *
   * Permission: `campaigns:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `campaign_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<CampaignDetail>;
  /**
   * Change a campaign that is DRAFT or SCHEDULED
   *
   * Omitted fields keep their values; `variants` replaces all variants.
   *
   * A SCHEDULED campaign must stay complete: a 409 response lists what would be missing. `scheduledAt: null` makes it a
   * DRAFT again. Honours `If-Match`.
   *
   * Permission: `campaigns:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `campaign_missing`, `campaign_state_conflict`, `campaign_incomplete`,
   * `too_many_requests`, `database_away`.
   */
  update(id: string, params: CampaignChange, options?: RequestOptions): Promise<Campaign>;
  /**
   * Delete a campaign that has not started
   *
   * Honours `If-Match`.
   *
   * Permission: `campaigns:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `campaign_missing`, `campaign_state_conflict`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Send a campaign: now, or at `scheduledAt` if that is in the future
   *
   * The audience and the content are fixed when the campaign starts. An audience with rules that depend on the current
   * time is evaluated again at the start. Contacts that have unsubscribed or are suppressed are skipped and counted. A
   * 409 response lists everything that is missing. No contact gets the same campaign twice, even if it is sent twice.
   * If a TEST key sends the campaign, its messages are only captured in the inbox. The response is 403 if the account's
   * plan does not allow an e-mail to every contact of the audience.
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `plan_limit_reached`, `campaign_missing`, `campaign_state_conflict`,
   * `campaign_incomplete`, `too_many_requests`, `database_away`.
   */
  send(id: string, options?: RequestOptions): Promise<CampaignSendResult>;
  /**
   * Stop a campaign for good
   *
   * Messages that no server has accepted yet are not sent.
   *
   * This takes effect at once, whatever the size of the campaign: after the response, only messages that were being
   * transmitted at that moment still arrive. The waiting sends become CANCELLED within seconds. Cancelling a SENT
   * campaign stops the retries of its deferred messages; the campaign stays SENT.
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `campaign_missing`, `campaign_state_conflict`, `too_many_requests`, `database_away`.
   */
  cancel(id: string, options?: RequestOptions): Promise<Campaign>;
  /**
   * Pause a campaign: no message is sent until it is resumed
   *
   * No contact is skipped or gets the message twice.
   *
   * This takes effect at once, whatever the size of the campaign: after the response, only messages that were being
   * transmitted at that moment still arrive.
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `campaign_missing`, `campaign_state_conflict`, `too_many_requests`, `database_away`.
   */
  pause(id: string, options?: RequestOptions): Promise<Campaign>;
  /**
   * Resume a paused campaign where it stopped
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `campaign_missing`, `campaign_state_conflict`, `too_many_requests`, `database_away`.
   */
  resume(id: string, options?: RequestOptions): Promise<Campaign>;
  /**
   * End an A/B test without comparing its results: the first variant wins, and the rest of the audience gets it
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `campaign_missing`, `campaign_state_conflict`, `too_many_requests`, `database_away`.
   */
  cancelAbTest(id: string, options?: RequestOptions): Promise<Campaign>;
  /**
   * End an A/B test with the given winner: the rest of the audience gets this variant
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `campaign_missing`, `variant_missing`, `campaign_state_conflict`,
   * `too_many_requests`, `database_away`.
   */
  selectAbTestWinner(id: string, params: WinnerChoice, options?: RequestOptions): Promise<Campaign>;
  /**
   * Send one rendered copy with `[Test]` before its subject
   *
   * It does not count in the campaign's statistics.
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_invalid`, `domain_not_verified`, `campaign_missing`, `campaign_incomplete`,
   * `idempotency_key_in_progress`, `message_too_large`, `idempotency_key_reused`, `template_too_expensive`,
   * `template_crashed`, `rendering_busy`, `too_many_requests`, `no_smart_host`, `direct_not_offered`, `rendering_away`,
   * `database_away`.
   */
  sendTest(id: string, params: CampaignTest, options?: RequestOptions): Promise<CampaignTestResult>;
  /**
   * Say what large providers would object to in a campaign's message, without sending it
   *
   * The message is composed as it would be sent to a contact; see `POST /projects/{projectId}/emails/preflight`.
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `campaign_missing`, `variant_missing`, `campaign_incomplete`, `template_too_expensive`,
   * `template_crashed`, `too_many_requests`, `rendering_busy`, `rendering_away`, `database_away`.
   */
  preflight(id: string, params: CampaignPreflight, options?: RequestOptions): Promise<Preflight>;
  /**
   * Send a test copy to every address of the project's seed list
   *
   * Permission: `campaigns:send`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `email_invalid`, `domain_not_verified`, `campaign_missing`, `campaign_incomplete`, `seed_list_empty`,
   * `idempotency_key_in_progress`, `message_too_large`, `idempotency_key_reused`, `template_too_expensive`,
   * `template_crashed`, `rendering_busy`, `too_many_requests`, `no_smart_host`, `direct_not_offered`, `rendering_away`,
   * `database_away`.
   */
  sendTestToSeedList(id: string, options?: RequestOptions): Promise<CampaignTestResult>;
  /**
   * Create a new DRAFT with the same content, audience and variants
   *
   * Permission: `campaigns:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `campaign_missing`, `too_many_requests`, `database_away`.
   */
  duplicate(id: string, options?: RequestOptions): Promise<Campaign>;
  /**
   * List the sends of a campaign, one for each contact
   *
   * Filter by `status` (one or several, comma-separated).
   *
   * Permission: `campaigns:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `campaign_missing`, `too_many_requests`, `database_away`.
   */
  listSends(id: string, params?: CampaignsListSendsParams, options?: RequestOptions): PagePromise<EmailLogEntry>;
  /**
   * Export the sends of a campaign as CSV
   *
   * Filter by `status` (one or several, comma-separated).
   *
   * Permission: `campaigns:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `campaign_missing`, `too_many_requests`, `database_away`.
   */
  exportSends(id: string, params?: CampaignsExportSendsParams, options?: RequestOptions): Promise<string>;
}

/** The methods of `client.analytics`. */
export interface AnalyticsApi {
  /**
   * Get a summary of the project's contacts, sends, campaigns and automations
   *
   * `days` restricts the sends to this number of past days. Rates are from 0 to 1. Open, click and complaint rates are
   * shares of `sent`, the messages that a mail server accepted. The bounce rate is `bounced` / (`sent` + `bounced`).
   * Opens and clicks by machines are counted separately.
   *
   * Permission: `analytics:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  get(params?: AnalyticsGetParams, options?: RequestOptions): Promise<ProjectSummary>;
  /**
   * List the statistics of each day, oldest first; days without activity are included
   *
   * `from` and `to` are dates in `timezone`, by default the last 30 days. `campaignId` restricts the statistics to one
   * campaign.
   *
   * Permission: `analytics:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getTimeSeries(params?: AnalyticsGetTimeSeriesParams, options?: RequestOptions): Promise<TimeSeriesItem[]>;
  /**
   * List the statistics of each sending domain, newest domain first
   *
   * The parameters are those of the time series.
   *
   * Permission: `analytics:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getByDomain(params?: AnalyticsGetByDomainParams, options?: RequestOptions): Promise<ByDomainItem[]>;
  /**
   * Export the time series as CSV
   *
   * Permission: `analytics:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  export(params?: AnalyticsExportParams, options?: RequestOptions): Promise<string>;
}

/** The methods of `client.tracking`. */
export interface TrackingApi {
  /**
   * The tracking pixel of a message
   *
   * The response is always the 43-byte GIF, even for an unknown send.
   *
   * A HEAD request is not recorded.
   *
   * Problems: `database_away`.
   */
  open(sendId: string, options?: RequestOptions): Promise<Uint8Array>;
  /**
   * A tracked link of a message: records the click and redirects to `u` with a 302
   *
   * `s` is a signature of purpose, send and target. Without a valid signature the response is a 404 page, never a
   * redirect.
   *
   * Problems: `database_away`.
   */
  click(sendId: string, params?: TrackingClickParams, options?: RequestOptions): Promise<string>;
  /**
   * The page of an unsubscribe link
   *
   * Opening it changes nothing; its button unsubscribes.
   *
   * Problems: `database_away`.
   */
  showUnsubscribe(sendId: string, params?: TrackingShowUnsubscribeParams, options?: RequestOptions): Promise<string>;
  /**
   * Unsubscribe the recipient of a send: by the button of the page, or by one click in a mail client (RFC 8058)
   *
   * The contact is unsubscribed, and the address is suppressed with the reason UNSUBSCRIBE. The link of a test copy
   * changes nothing. `s` can be in the query or in the body (form, multipart or JSON). Idempotent; needs no cookie.
   *
   * Problems: `database_away`.
   */
  unsubscribe(sendId: string, params?: TrackingUnsubscribeParams, options?: RequestOptions): Promise<string>;
}

/** The methods of `client.inbound`. */
export interface InboundApi {
  /**
   * Process a bounce or a complaint that another mail server received: the body is the message (RFC 5322)
   *
   * The e-mail is found by its return path, which is in the addresses of the message or in the original message, or
   * else by its `Message-ID`. A message that is not understood, or names no e-mail of the project, is kept for 30 days.
   * Repeating the same report changes nothing.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `send_in_transmission`, `too_many_requests`, `database_away`.
   */
  receiveReport(body: RawBody, options?: RequestOptions): Promise<ReportReceipt>;
  /**
   * List the messages about e-mail that were not understood, newest first: at most 100, of the last 30 days
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  listUnrecognized(params?: InboundListUnrecognizedParams, options?: RequestOptions): PagePromise<UnrecognizedMessage>;
  /**
   * Download a message that was not understood as an `.eml` file: its first 262,144 octets
   *
   * Permission: `emails:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `report_missing`, `too_many_requests`, `database_away`.
   */
  getUnrecognized(id: string, options?: RequestOptions): Promise<Uint8Array>;
  readonly routes: InboundRoutesApi;
  /**
   * List the received messages, newest first, without their content
   *
   * All given filters must match.
   *
   * Messages are deleted after the project's setting `inboundRetentionDays`, by default 30 days.
   *
   * Permission: `inbound:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: InboundListParams, options?: RequestOptions): PagePromise<InboundSummary>;
  /**
   * Add a message that another mail server received: the body is the message (RFC 5322)
   *
   * It is stored as if it had arrived here, for the recipients that have a route of the project. Adding the same
   * message for the same recipients again changes nothing. For bounces and complaints, use `…/inbound/reports`.
   *
   * Permission: `inbound:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `no_inbound_route`, `inbound_mailbox_full`, `inbound_message_loops`, `too_many_requests`,
   * `database_away`.
   */
  add(body: RawBody, params?: InboundAddParams, options?: RequestOptions): Promise<InboundReceipt>;
  /**
   * Get a received message: header, addresses, texts, attachments, and how it was authenticated
   *
   * Malformed parts are shown as far as they can be read; `notices` lists what could not be read. `html` is as it
   * arrived: sanitize it before you show it.
   *
   * Permission: `inbound:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_message_missing`, `message_gone`, `too_many_requests`, `content_store_unavailable`,
   * `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<InboundMessage>;
  /**
   * Delete a received message, and its data in the event `inbound.received`
   *
   * Permission: `inbound:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_message_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Download a received message, octet for octet, as an `.eml` file
   *
   * Permission: `inbound:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_message_missing`, `message_gone`, `too_many_requests`, `content_store_unavailable`,
   * `database_away`.
   */
  getRaw(id: string, options?: RequestOptions): Promise<Uint8Array>;
  /**
   * Download an attachment by its `id`
   *
   * The sender chose the content: check it before you use it.
   *
   * Permission: `inbound:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_message_missing`, `message_gone`, `inbound_attachment_missing`, `too_many_requests`,
   * `content_store_unavailable`, `database_away`.
   */
  getAttachment(id: string, number: string, options?: RequestOptions): Promise<Uint8Array>;
}

/** The methods of `client.inbound.routes`. */
export interface InboundRoutesApi {
  /**
   * List the routes of received mail, newest first
   *
   * Permission: `inbound:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: InboundRoutesListParams, options?: RequestOptions): PagePromise<InboundRoute>;
  /**
   * Receive mail for an address, or for every address of a domain with `*@` and its name
   *
   * The domain must be a verified sending domain of the project, or below one. Publish the MX record in `record`, so
   * that mail reaches this server. An address has precedence over its whole domain, and case does not matter. Mail to
   * an address with a tag, such as `support+42@…`, goes to the route of the address without it, unless there is one
   * with the tag. A project can have at most 1,000 routes.
   *
   * Permission: `inbound:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_route_exists`, `inbound_domain_not_verified`, `too_many_inbound_routes`, `too_many_requests`,
   * `database_away`.
   */
  create(params: NewInboundRoute, options?: RequestOptions): Promise<InboundRoute>;
  /**
   * Get a route with its MX record
   *
   * Permission: `inbound:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_route_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<InboundRoute>;
  /**
   * Change the name of a route, or stop and start receiving mail
   *
   * Honours `If-Match`.
   *
   * Permission: `inbound:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_route_missing`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: InboundRouteChange, options?: RequestOptions): Promise<InboundRoute>;
  /**
   * Delete a route
   *
   * Mail for it is refused from then on; messages that were received stay. Honours `If-Match`.
   *
   * Permission: `inbound:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_route_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Look up the MX record of a route now
   *
   * Mail that arrives is received whatever the result is.
   *
   * Permission: `inbound:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `inbound_route_missing`, `too_many_requests`, `database_away`.
   */
  verify(id: string, options?: RequestOptions): Promise<InboundRoute>;
}

/** The methods of `client.inbox`. */
export interface InboxApi {
  /**
   * Captured messages, newest first
   *
   * `q` searches subject and recipients.
   *
   * Permission: `inbox:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: InboxListParams, options?: RequestOptions): PagePromise<CapturedMessage>;
  /**
   * A captured message with its headers, html, text and attachments
   *
   * One-time codes and links (sign-in codes, password resets, invitations) are replaced by `[removed]`, and `redacted`
   * is true, unless the caller has the permission `customers:impersonate`. Owners and admins have it, and API keys to
   * which it was granted.
   *
   * Permission: `inbox:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `captured_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<InboxMessage>;
  /**
   * Delete a captured message
   *
   * The e-mail stays in the e-mail log.
   *
   * Permission: `emails:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `captured_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * A captured message as an `.eml` file
   *
   * One-time codes and links are removed unless the caller has the permission `customers:impersonate`.
   *
   * Permission: `inbox:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `captured_missing`, `too_many_requests`, `database_away`.
   */
  getRaw(id: string, options?: RequestOptions): Promise<Uint8Array>;
  /**
   * An attachment by its number, as a download
   *
   * Permission: `inbox:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `captured_missing`, `too_many_requests`, `database_away`.
   */
  getAttachment(id: string, number: string, options?: RequestOptions): Promise<Uint8Array>;
  /**
   * Create a URL at which a frame of the dashboard shows the HTML of a captured message, for 5 minutes
   *
   * The HTML runs no scripts, submits no forms and loads nothing from other servers, unless `images` is true. One-time
   * codes and links are replaced by `[removed]`, unless the caller has the permission `customers:impersonate`. A
   * preview does not count as an open. The URL stops working when the session that has created it ends.
   *
   * Permission: `inbox:read`.
   *
   * Credentials: developer.
   *
   * Problems: `captured_missing`, `too_many_requests`, `database_away`.
   */
  preview(id: string, params: PreviewOptions, options?: RequestOptions): Promise<MailPreview>;
}

/** The methods of `client.automations`. */
export interface AutomationsApi {
  /**
   * List the project's automations, newest first
   *
   * All given filters must match.
   *
   * With `include=counts` each automation has the `totals` of its runs, the number of `unfinished` ones, and
   * `lastRunAt`.
   *
   * Permission: `automations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AutomationsListParams, options?: RequestOptions): PagePromise<ListedAutomation>;
  /**
   * Create an automation
   *
   * It is inactive unless `active` is true.
   *
   * `trigger`: `AUDIENCE_JOINED` or `AUDIENCE_LEFT` with `audienceId`, `CONTACT_CREATED`, or `EVENT` with `event`, the
   * name of an event or custom event, and `where`, rules that its data must match. With `once` (default) a contact can
   * start it only once. Subjects and templates can use the event as `{{ event }}`.
   *
   * `steps`, at most 150 including those in branches: `SEND_EMAIL {templateId, domainId, fromEmail, subject}`, `DELAY
   * {minutes, hours, days | until}`, `CONDITION {rules, then, else}` (rules as for audiences), `WAIT_FOR_EVENT {event,
   * timeout, then, else}`, `UPDATE_CONTACT {attributes}`, `ADD_TO_AUDIENCE {audienceId}`, `REMOVE_FROM_AUDIENCE
   * {audienceId}`, `WEBHOOK {url}`, `EXIT`. Each step is executed once per run.
   *
   * With `once: false` a contact can start at most `maxRunsPerHour` runs (1 to 1,000, default 1) within an hour;
   * further runs do not start and are counted as `limited`. If active automations would start each other in an endless
   * loop, the response is 409 with the steps of the loop, unless `allowLoops` is true.
   *
   * Permission: `automations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `automation_incomplete`, `automation_loop`, `too_many_automations`,
   * `too_many_requests`, `database_away`.
   */
  create(params: NewAutomation, options?: RequestOptions): Promise<Automation>;
  /**
   * Get an automation
   *
   * Permission: `automations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `automation_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Automation>;
  /**
   * Change an automation
   *
   * Changed steps apply to new runs; unfinished runs keep their version. Honours `If-Match`.
   *
   * Permission: `automations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `automation_missing`, `automation_incomplete`, `automation_loop`,
   * `too_many_requests`, `database_away`.
   */
  update(id: string, params: AutomationChange, options?: RequestOptions): Promise<Automation>;
  /**
   * Delete an automation with all its runs, including unfinished ones
   *
   * E-mails that were sent are kept.
   *
   * Honours `If-Match`.
   *
   * Permission: `automations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `automation_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Activate or deactivate an automation with `{active}`; without a body, toggle it
   *
   * A deactivated automation starts no new runs; unfinished runs continue. Activation requires that its audiences,
   * templates, sending domains and senders exist; otherwise the response is 409 and lists what is missing. If active
   * automations would start each other in an endless loop, the response is 409 with the steps of the loop, unless
   * `allowLoops` is true. Honours `If-Match`.
   *
   * Permission: `automations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `automation_missing`, `automation_incomplete`, `automation_loop`,
   * `too_many_requests`, `database_away`.
   */
  setActive(id: string, params?: AutomationActivation, options?: RequestOptions): Promise<Automation>;
  readonly runs: AutomationsRunsApi;
  /**
   * Get how many runs an automation has started, and how many completed or failed
   *
   * Permission: `automations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `automation_missing`, `too_many_requests`, `database_away`.
   */
  getTotals(id: string, options?: RequestOptions): Promise<AutomationRunTotals>;
  /**
   * Count the unfinished runs of an automation by version of its steps and by current step
   *
   * A run keeps the version with which it started, so `version` can be lower than that of the automation.
   *
   * Permission: `automations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `automation_missing`, `too_many_requests`, `database_away`.
   */
  listPositions(id: string, options?: RequestOptions): Promise<AutomationRunPosition[]>;
  /**
   * Get the secret that signs the requests of the automation's WEBHOOK steps
   *
   * They are signed as webhooks are.
   *
   * Permission: `automations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `automation_missing`, `too_many_requests`, `database_away`.
   */
  getWebhookSecret(id: string, options?: RequestOptions): Promise<AutomationWebhookSecret>;
  /**
   * Get what an automation would do with a contact: each step with its time, outcome and mail
   *
   * Nothing is sent.
   *
   * The steps are evaluated as in a run that starts now, even if the automation is inactive or would not start a run;
   * `reasons` says why it would not. Nothing is stored, and WEBHOOK steps make no calls. A delay passes at once;
   * conditions after it are evaluated for the later time, with the data of now. `trigger` and `steps` replace those of
   * the automation. This also needs the permissions `contacts:read` and `templates:read`.
   *
   * Permission: `automations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `automation_missing`, `dry_run_too_slow`, `template_too_expensive`, `template_crashed`, `rendering_busy`,
   * `too_many_requests`, `rendering_away`, `database_away`.
   */
  dryRun(id: string, params: DryRunRequest, options?: RequestOptions): Promise<DryRun>;
}

/** The methods of `client.automations.runs`. */
export interface AutomationsRunsApi {
  /**
   * List the runs of an automation, newest first
   *
   * Filter by `status` (comma-separated) and `contactId`.
   *
   * Permission: `automations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `automation_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: AutomationsRunsListParams, options?: RequestOptions): PagePromise<AutomationRun>;
  /**
   * Get a run with its history: each executed step with its times and outcome
   *
   * Permission: `automations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `run_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, runId: string, options?: RequestOptions): Promise<AutomationRunDetail>;
  /**
   * Cancel a run at its current step
   *
   * Steps that were executed are not undone.
   *
   * Permission: `automations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `run_missing`, `run_finished`, `too_many_requests`, `database_away`.
   */
  cancel(id: string, runId: string, options?: RequestOptions): Promise<AutomationRun>;
  /**
   * Resume a FAILED run from the step that failed, with the steps that the automation had when the run started
   *
   * Earlier steps are not repeated. Returns 409 if the run has not failed, or if its contact has another unfinished run
   * of the automation. Runs that a TEST key started and other runs are independent of each other.
   *
   * Permission: `automations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `run_missing`, `run_not_failed`, `too_many_requests`, `database_away`.
   */
  retry(id: string, runId: string, options?: RequestOptions): Promise<AutomationRun>;
  /**
   * Resume the failed runs of an automation from the steps that failed, up to 1,000 per request
   *
   * `more` is true if 1,000 runs were resumed, so that others may remain: repeat the request. Of several failed runs of
   * one contact only the latest is resumed.
   *
   * Permission: `automations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `live_key_required`, `automation_missing`, `too_many_requests`, `database_away`.
   */
  retryAll(id: string, options?: RequestOptions): Promise<RunsRetried>;
}

/** The methods of `client.organizations`. */
export interface OrganizationsApi {
  /**
   * List the project's organizations, newest first
   *
   * All given filters must match.
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: OrganizationsListParams, options?: RequestOptions): PagePromise<Organization>;
  /**
   * Create an organization
   *
   * It has no members yet.
   *
   * Without `slug`, one is derived from the name, with a number if another organization has it. A `slug` or
   * `externalId` that another organization has returns 409.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `slug_taken`, `organization_external_id_taken`, `too_many_requests`, `database_away`.
   */
  create(params: NewOrganization, options?: RequestOptions): Promise<Organization>;
  /**
   * Get an organization with its number of members and of pending invitations
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<Organization>;
  /**
   * Change an organization
   *
   * Omitted fields keep their values; `metadata` is merged (null removes a key).
   *
   * With `status: SUSPENDED` the organization accepts no invitations or members, and grants no permissions. Its data is
   * kept; set `ACTIVE` to end the suspension.
   *
   * With `requireSso` its members, and customers with an address at one of its verified domains, can sign in only by
   * its single sign-on (403 `sso_required`). `requireSso` requires a working connection (409). Sessions that were not
   * started by single sign-on end when their access token expires.
   *
   * With `requireMfa` its members must sign in with a second factor. Members without one must set up an authenticator
   * app first (`mfaEnrollmentRequired`), and sessions without one end when their access token expires. Neither
   * requirement applies while the organization is suspended. Honours `If-Match`.
   *
   * With `allowedMethods` its members can sign in only by these methods (403 `sign_in_method_not_allowed`), and with
   * `sessionLifetimeMinutes` and `sessionIdleMinutes` their sessions end earlier. If an OWNER exists and none could
   * sign in, the response is 409, unless `allowLockOut` is set.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `slug_taken`, `organization_external_id_taken`, `sso_not_ready`,
   * `sso_still_required`, `owners_locked_out`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: OrganizationChange, options?: RequestOptions): Promise<Organization>;
  /**
   * Delete an organization with its members, invitations, domains, connections and entitlements
   *
   * Returns the deleted record. The organization is gone at once, and its slug, external id and domains can be reused;
   * the rows of a large one are deleted in the background. The customers stay. Honours `If-Match`.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_still_required`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Organization>;
  readonly members: OrganizationsMembersApi;
  readonly invitations: OrganizationsInvitationsApi;
  readonly domains: OrganizationsDomainsApi;
  /**
   * Add a customer to the organization that has verified the domain of the customer's verified address
   *
   * `reason` is one of JOINED, ALREADY_MEMBER, EMAIL_NOT_VERIFIED, NO_MATCHING_DOMAIN, AUTO_JOIN_DISABLED,
   * PUBLIC_DOMAIN, ORGANIZATION_SUSPENDED, MEMBER_REMOVED (until the customer is invited or added again) or
   * CUSTOMER_BANNED. Subdomains of a verified domain do not match.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `customer_missing`, `too_many_members`, `too_many_requests`, `database_away`.
   */
  joinByDomain(params: DomainJoinRequest, options?: RequestOptions): Promise<DomainJoin>;
  /**
   * Get the plan of an organization; `planKey` and `plan` are null if it has none
   *
   * Permission: `entitlements:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  getPlan(organizationId: string, options?: RequestOptions): Promise<OrganizationPlan>;
  /**
   * Set the plan of an organization; null removes it
   *
   * The change applies from the next check on.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `plan_missing`, `too_many_requests`, `database_away`.
   */
  setPlan(organizationId: string, params: PlanChoice, options?: RequestOptions): Promise<void>;
  readonly setupLinks: OrganizationsSetupLinksApi;
}

/** The methods of `client.organizations.members`. */
export interface OrganizationsMembersApi {
  /**
   * List the members of an organization, most recently joined first
   *
   * `q` is a part of the name or the address.
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: OrganizationsMembersListParams, options?: RequestOptions): PagePromise<OrganizationMember>;
  /**
   * Add a customer to an organization, with roles of the scope ORGANIZATION (default MEMBER)
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `already_member`, `organization_suspended`, `too_many_members`, `role_unknown`,
   * `too_many_requests`, `database_away`.
   */
  add(id: string, params: NewOrganizationMember, options?: RequestOptions): Promise<OrganizationMember>;
  /**
   * Get a member of an organization by the customer's id
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `member_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, customerId: string, options?: RequestOptions): Promise<OrganizationMember>;
  /**
   * Replace the roles of a member
   *
   * Returns 409 if it would remove the last OWNER. Honours `If-Match`.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `member_missing`, `last_owner`, `role_unknown`, `too_many_requests`,
   * `database_away`.
   */
  update(id: string, customerId: string, params: OrganizationMemberChange, options?: RequestOptions): Promise<OrganizationMember>;
  /**
   * Remove a customer from an organization
   *
   * The last OWNER cannot be removed (409).
   *
   * The customer does not join again by domain or single sign-on until invited or added again.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `member_missing`, `last_owner`, `too_many_requests`, `database_away`.
   */
  remove(id: string, customerId: string, options?: RequestOptions): Promise<Removed>;
}

/** The methods of `client.auth.organizations`. */
export interface AuthOrganizationsApi {
  /**
   * List the organizations of the signed-in customer, most recently joined first
   *
   * Credentials: customer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AuthOrganizationsListParams, options?: RequestOptions): PagePromise<OrganizationMembership>;
  /**
   * Leave an organization as the signed-in customer
   *
   * The last OWNER cannot leave (409).
   *
   * The customer does not join again by domain or single sign-on until invited or added again.
   *
   * Credentials: customer.
   *
   * Problems: `member_missing`, `last_owner`, `too_many_requests`, `database_away`.
   */
  leave(id: string, options?: RequestOptions): Promise<Removed>;
}

/** The methods of `client.organizations.invitations`. */
export interface OrganizationsInvitationsApi {
  /**
   * List the invitations to an organization, newest first
   *
   * Filter by `status`: PENDING, ACCEPTED, REVOKED or EXPIRED.
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: OrganizationsInvitationsListParams, options?: RequestOptions): PagePromise<OrganizationInvitation>;
  /**
   * Invite an address to an organization, as MEMBER or another role of the scope ORGANIZATION
   *
   * Sends an e-mail with a link to `acceptUrl`, or to a hosted page with a button to accept. An invited address can
   * sign up even if sign-up is closed. The invitation expires after `expiresInDays` (1 to 30, default 7). An address
   * can have one pending invitation per organization.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `organization_suspended`, `already_invited`, `already_member`,
   * `too_many_invitations`, `inviter_unknown`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  create(id: string, params: NewOrganizationInvitation, options?: RequestOptions): Promise<OrganizationInvitation>;
  /**
   * Send an invitation again, with a new token and expiry
   *
   * The previous token becomes invalid.
   *
   * At most once a minute (429). An expired invitation can be resent, unless the address has another pending one (409).
   * An accepted or revoked invitation cannot be resent (409).
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `invitation_missing`, `invitation_closed`, `organization_suspended`, `already_invited`,
   * `resent_too_soon`, `too_many_requests`, `database_away`.
   */
  resend(id: string, invitationId: string, options?: RequestOptions): Promise<OrganizationInvitation>;
  /**
   * Revoke an invitation; its token becomes invalid
   *
   * Returns 409 if it was accepted or revoked already.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `invitation_missing`, `invitation_closed`, `too_many_requests`, `database_away`.
   */
  revoke(id: string, invitationId: string, options?: RequestOptions): Promise<OrganizationInvitation>;
}

/** The methods of `client.auth.invitations`. */
export interface AuthInvitationsApi {
  /**
   * Get the organization and address of an invitation, for a page that asks the visitor to sign up or sign in before
   * accepting
   *
   * Credentials: anonymous, publishable key, secret key.
   *
   * Problems: `invitation_missing`, `too_many_requests`, `database_away`.
   */
  preview(params: InvitationToken, options?: RequestOptions): Promise<InvitationPreview>;
  /**
   * Accept an invitation as the signed-in customer
   *
   * The invited address must be a verified address of the customer.
   *
   * An existing member gets the invitation's role in addition to other roles. Accepting an invitation again is not an
   * error.
   *
   * Credentials: customer.
   *
   * Problems: `invited_somebody_else`, `address_not_verified`, `invitation_missing`, `invitation_closed`,
   * `organization_suspended`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  accept(params: InvitationToken, options?: RequestOptions): Promise<AcceptedInvitation>;
}

/** The methods of `client.organizations.domains`. */
export interface OrganizationsDomainsApi {
  /**
   * List the domains of an organization, newest first, each with its TXT record and the result of the last check
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(organizationId: string, params?: OrganizationsDomainsListParams, options?: RequestOptions): PagePromise<OrganizationDomain>;
  /**
   * Add a domain that the organization owns
   *
   * Publish `record` as a TXT record at `recordName`. The record is checked every minute for ten minutes, every ten
   * minutes for three hours, then hourly for 30 days; `verify` checks it immediately. Public suffixes and public
   * mailbox providers return 400; a domain that another organization of the project has verified returns 409.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `domain_listed`, `domain_taken`, `too_many_organization_domains`,
   * `too_many_requests`, `database_away`.
   */
  add(organizationId: string, params: NewOrganizationDomain, options?: RequestOptions): Promise<OrganizationDomain>;
  /**
   * Check the TXT record of a domain now, instead of waiting for the periodic check
   *
   * A missing record is not an error: `status` and `reason` give the result. For a FAILED domain the periodic checks
   * start again. Returns 409 if the record exists, but another organization has verified the domain.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_domain_missing`, `domain_taken`, `too_many_requests`, `database_away`.
   */
  verify(organizationId: string, domainId: string, options?: RequestOptions): Promise<OrganizationDomain>;
  /**
   * Set whether customers with a verified address at exactly this domain join when they sign in
   *
   * Enabling it requires a VERIFIED domain (409). Disabling it does not remove members. Honours `If-Match`.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_domain_missing`, `domain_not_proved`, `too_many_requests`, `database_away`.
   */
  update(organizationId: string, domainId: string, params: OrganizationDomainChange, options?: RequestOptions): Promise<OrganizationDomain>;
  /**
   * Remove a domain from an organization
   *
   * Members stay, but the domain no longer allows joining or single sign-on.
   *
   * Returns 409 if single sign-on is required and the only working connection uses the domain. Honours `If-Match`.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_domain_missing`, `sso_still_required`, `too_many_requests`, `database_away`.
   */
  remove(organizationId: string, domainId: string, options?: RequestOptions): Promise<Removed>;
}

/** The methods of `client.apps.organizations`. */
export interface AppsOrganizationsApi {
  /**
   * List the project's organizations, newest first
   *
   * All given filters must match.
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: AppsOrganizationsListParams, options?: RequestOptions): PagePromise<AppOrganization>;
  /**
   * Create an organization
   *
   * It has no members yet.
   *
   * Without `slug`, one is derived from the name, with a number if another organization has it. A `slug` or
   * `externalId` that another organization has returns 409.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `slug_taken`, `organization_external_id_taken`, `too_many_requests`, `database_away`.
   */
  create(params: NewOrganization, options?: RequestOptions): Promise<AppOrganization>;
  /**
   * Get an organization with its number of members and of pending invitations
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<AppOrganization>;
  /**
   * Change an organization
   *
   * Omitted fields keep their values; `metadata` is merged (null removes a key).
   *
   * With `status: SUSPENDED` the organization accepts no invitations or members, and grants no permissions. Its data is
   * kept; set `ACTIVE` to end the suspension.
   *
   * With `requireSso` its members, and customers with an address at one of its verified domains, can sign in only by
   * its single sign-on (403 `sso_required`). `requireSso` requires a working connection (409). Sessions that were not
   * started by single sign-on end when their access token expires.
   *
   * With `requireMfa` its members must sign in with a second factor. Members without one must set up an authenticator
   * app first (`mfaEnrollmentRequired`), and sessions without one end when their access token expires. Neither
   * requirement applies while the organization is suspended. Honours `If-Match`.
   *
   * With `allowedMethods` its members can sign in only by these methods (403 `sign_in_method_not_allowed`), and with
   * `sessionLifetimeMinutes` and `sessionIdleMinutes` their sessions end earlier. If an OWNER exists and none could
   * sign in, the response is 409, unless `allowLockOut` is set.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `slug_taken`, `organization_external_id_taken`, `sso_not_ready`,
   * `sso_still_required`, `owners_locked_out`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: OrganizationChange, options?: RequestOptions): Promise<AppOrganization>;
  /**
   * Delete an organization with its members, invitations, domains, connections and entitlements
   *
   * Returns the deleted record. The organization is gone at once, and its slug, external id and domains can be reused;
   * the rows of a large one are deleted in the background. The customers stay. Honours `If-Match`.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `sso_still_required`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<AppOrganization>;
  readonly members: AppsOrganizationsMembersApi;
  readonly invitations: AppsOrganizationsInvitationsApi;
}

/** The methods of `client.apps.organizations.members`. */
export interface AppsOrganizationsMembersApi {
  /**
   * List the members of an organization, most recently joined first
   *
   * `q` is a part of the name or the address.
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: AppsOrganizationsMembersListParams, options?: RequestOptions): PagePromise<OrganizationMember>;
  /**
   * Add a customer to an organization, with roles of the scope ORGANIZATION (default MEMBER)
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `already_member`, `organization_suspended`, `too_many_members`, `role_unknown`,
   * `too_many_requests`, `database_away`.
   */
  add(id: string, params: NewOrganizationMember, options?: RequestOptions): Promise<OrganizationMember>;
  /**
   * Get a member of an organization by the customer's id
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `member_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, customerId: string, options?: RequestOptions): Promise<OrganizationMember>;
  /**
   * Replace the roles of a member
   *
   * Returns 409 if it would remove the last OWNER. Honours `If-Match`.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `member_missing`, `last_owner`, `role_unknown`, `too_many_requests`,
   * `database_away`.
   */
  update(id: string, customerId: string, params: OrganizationMemberChange, options?: RequestOptions): Promise<OrganizationMember>;
  /**
   * Remove a customer from an organization
   *
   * The last OWNER cannot be removed (409).
   *
   * The customer does not join again by domain or single sign-on until invited or added again.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `member_missing`, `last_owner`, `too_many_requests`, `database_away`.
   */
  remove(id: string, customerId: string, options?: RequestOptions): Promise<Removed>;
}

/** The methods of `client.apps.organizations.invitations`. */
export interface AppsOrganizationsInvitationsApi {
  /**
   * List the invitations to an organization, newest first
   *
   * Filter by `status`: PENDING, ACCEPTED, REVOKED or EXPIRED.
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: AppsOrganizationsInvitationsListParams, options?: RequestOptions): PagePromise<OrganizationInvitation>;
  /**
   * Invite an address to an organization, as MEMBER or another role of the scope ORGANIZATION
   *
   * Sends an e-mail with a link to `acceptUrl`, or to a hosted page with a button to accept. An invited address can
   * sign up even if sign-up is closed. The invitation expires after `expiresInDays` (1 to 30, default 7). An address
   * can have one pending invitation per organization.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `organization_suspended`, `already_invited`, `already_member`,
   * `too_many_invitations`, `inviter_unknown`, `role_unknown`, `too_many_requests`, `database_away`.
   */
  create(id: string, params: NewOrganizationInvitation, options?: RequestOptions): Promise<OrganizationInvitation>;
  /**
   * Send an invitation again, with a new token and expiry
   *
   * The previous token becomes invalid.
   *
   * At most once a minute (429). An expired invitation can be resent, unless the address has another pending one (409).
   * An accepted or revoked invitation cannot be resent (409).
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `invitation_missing`, `invitation_closed`, `organization_suspended`, `already_invited`,
   * `resent_too_soon`, `too_many_requests`, `database_away`.
   */
  resend(id: string, invitationId: string, options?: RequestOptions): Promise<OrganizationInvitation>;
  /**
   * Revoke an invitation; its token becomes invalid
   *
   * Returns 409 if it was accepted or revoked already.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `invitation_missing`, `invitation_closed`, `too_many_requests`, `database_away`.
   */
  revoke(id: string, invitationId: string, options?: RequestOptions): Promise<OrganizationInvitation>;
}

/** The methods of `client.billing`. */
export interface BillingApi {
  /**
   * Get the plan of your account, its usage and its limits
   *
   * `usage.customers` is the current number of end users in all projects; `usage.emails` the number of e-mails that all
   * projects accepted with live credentials in this calendar month (UTC). A limit of null means no limit.
   *
   * Permission: `billing:read`.
   *
   * Credentials: developer.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  get(options?: RequestOptions): Promise<Billing>;
  /**
   * Start the checkout of the `pro` plan
   *
   * Open the returned URL in a browser to confirm it.
   *
   * Permission: `billing:write`.
   *
   * Credentials: developer.
   *
   * Problems: `already_booked`, `not_for_sale`, `too_many_requests`, `billing_unavailable`, `database_away`.
   */
  beginCheckout(params: CheckoutRequest, options?: RequestOptions): Promise<BillingPageUrl>;
  /**
   * Start the checkout of the B2B add-on
   *
   * Open the returned URL in a browser to confirm it.
   *
   * Permission: `billing:write`.
   *
   * Credentials: developer.
   *
   * Problems: `already_booked`, `not_for_sale`, `too_many_requests`, `billing_unavailable`, `database_away`.
   */
  beginB2bCheckout(params: CheckoutRequest, options?: RequestOptions): Promise<BillingPageUrl>;
  /**
   * Get the URL of the billing portal, where the subscription is changed or cancelled in a browser
   *
   * Permission: `billing:write`.
   *
   * Credentials: developer.
   *
   * Problems: `nothing_booked`, `too_many_requests`, `billing_unavailable`, `database_away`.
   */
  openPortal(options?: RequestOptions): Promise<BillingPageUrl>;
}

/** The methods of `client.features`. */
export interface FeaturesApi {
  /**
   * List the features that the project has declared, newest first
   *
   * Permission: `entitlements:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: FeaturesListParams, options?: RequestOptions): PagePromise<Feature>;
  /**
   * Declare a feature: BOOLEAN is on or off, LIMIT is on up to a limit (null is unlimited)
   *
   * The defaults apply to organizations whose plan and overrides do not set the feature.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `feature_exists`, `limit_not_taken`, `too_many_features`, `too_many_requests`, `database_away`.
   */
  create(params: NewFeature, options?: RequestOptions): Promise<Feature>;
  /**
   * Get a feature by its key
   *
   * Permission: `entitlements:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `feature_missing`, `too_many_requests`, `database_away`.
   */
  get(key: string, options?: RequestOptions): Promise<Feature>;
  /**
   * Change the name or the defaults of a feature
   *
   * The change applies from the next check on. Honours `If-Match`.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `feature_missing`, `limit_not_taken`, `too_many_requests`, `database_away`.
   */
  update(key: string, params: FeatureChange, options?: RequestOptions): Promise<Feature>;
  /**
   * Delete a feature and its entries in plans and overrides
   *
   * Later checks of the feature are denied.
   *
   * Honours `If-Match`.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `feature_missing`, `too_many_requests`, `database_away`.
   */
  delete(key: string, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.plans`. */
export interface PlansApi {
  /**
   * List the plans of the project, newest first, with the features and the number of organizations of each
   *
   * Permission: `entitlements:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: PlansListParams, options?: RequestOptions): PagePromise<Plan>;
  /**
   * Create a plan
   *
   * Its settings take precedence over the defaults of its features; a limit of null is unlimited.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `plan_exists`, `feature_undeclared`, `limit_not_taken`, `too_many_plans`, `too_many_requests`,
   * `database_away`.
   */
  create(params: NewPlan, options?: RequestOptions): Promise<Plan>;
  /**
   * Get a plan by its key
   *
   * Permission: `entitlements:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `plan_missing`, `too_many_requests`, `database_away`.
   */
  get(key: string, options?: RequestOptions): Promise<Plan>;
  /**
   * Change a plan
   *
   * The change applies from the next check on; `features` replaces the whole list.
   *
   * Honours `If-Match`.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `plan_missing`, `feature_undeclared`, `limit_not_taken`, `too_many_requests`, `database_away`.
   */
  update(key: string, params: PlanChange, options?: RequestOptions): Promise<Plan>;
  /**
   * Delete a plan
   *
   * Returns 409 while organizations have it. Honours `If-Match`.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `plan_missing`, `plan_in_use`, `too_many_requests`, `database_away`.
   */
  delete(key: string, options?: RequestOptions): Promise<Deleted>;
}

/** The methods of `client.entitlements`. */
export interface EntitlementsApi {
  /**
   * Check whether an organization can use a feature, up to which limit (null is unlimited), and why
   *
   * An OVERRIDE takes precedence over the PLAN, and the PLAN over the DEFAULT. A feature that is not declared is denied
   * with the source NONE. The token of a customer who belongs to one organization implies the organization. Without an
   * organization the defaults apply.
   *
   * Permission: `entitlements:read`.
   *
   * Credentials: customer, developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  check(params: EntitlementCheck, options?: RequestOptions): Promise<Entitlement>;
  /**
   * List the entitlements of an organization to all declared features, ordered by key
   *
   * Permission: `entitlements:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(organizationId: string, options?: RequestOptions): Promise<Entitlement[]>;
  /**
   * Set an override for one organization and feature
   *
   * Replaces an existing override.
   *
   * An override takes precedence over plan and default until `expiresAt`, or until it is deleted if `expiresAt` is
   * null.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `feature_missing`, `limit_not_taken`, `too_many_requests`, `database_away`.
   */
  setOverride(organizationId: string, featureKey: string, params: EntitlementOverride, options?: RequestOptions): Promise<Entitlement>;
  /**
   * Delete an override; returns the entitlement that now applies
   *
   * Changes nothing if there is no override.
   *
   * Permission: `entitlements:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `feature_missing`, `too_many_requests`, `database_away`.
   */
  deleteOverride(organizationId: string, featureKey: string, options?: RequestOptions): Promise<Entitlement>;
}

/** The methods of `client.saml`. */
export interface SamlApi {
  /**
   * Get the service provider metadata, at a URL that the identity provider can fetch
   *
   * Get the service provider metadata, at a URL that the identity provider can fetch
   *
   * Problems: `sso_connection_missing`, `database_away`.
   */
  getMetadata(connId: string, options?: RequestOptions): Promise<string>;
  /**
   * Start single sign-on: redirect the browser to the identity provider
   *
   * The browser returns to `redirectUrl`, which must be among the project's `redirectUrls`, with `code` and `state`, or
   * with `error`. Exchange the code at `auth/token`: with the verifier if you sent a `codeChallenge` (S256, RFC 7636),
   * otherwise with a secret key. A `test` link shows the result as a page instead, and needs no `redirectUrl`.
   *
   * Problems: `sso_test_invalid`, `sso_connection_missing`, `sso_unavailable`, `database_away`.
   */
  begin(connId: string, params?: SamlBeginParams, options?: RequestOptions): Promise<string>;
  /**
   * Receive the identity provider's response (SAML HTTP-POST binding): the assertion consumer service
   *
   * Redirects the browser to the app with a code, or with `error`. An invalid response, or one for another browser,
   * returns a page with the reason; the operation `…/traces` lists every check.
   *
   * Problems: `sso_connection_missing`, `database_away`.
   */
  receiveResponse(connId: string, params?: SamlReceiveResponseParams, options?: RequestOptions): Promise<string>;
  /**
   * Receive logout messages of the identity provider (SAML HTTP-Redirect binding)
   *
   * A request ends the matching sessions and redirects back to the provider with a response. A response redirects to
   * the app.
   *
   * Problems: `sso_connection_missing`, `database_away`.
   */
  receiveLogout(connId: string, options?: RequestOptions): Promise<string>;
  /**
   * Receive logout messages of the identity provider (SAML HTTP-POST binding)
   *
   * Receive logout messages of the identity provider (SAML HTTP-POST binding)
   *
   * Problems: `sso_connection_missing`, `database_away`.
   */
  submitLogout(connId: string, params?: SamlSubmitLogoutParams, options?: RequestOptions): Promise<string>;
}

/** The methods of `client.oidc`. */
export interface OidcApi {
  /**
   * Start single sign-on by OpenID Connect: redirect the browser to the OpenID provider
   *
   * The parameters and the return to the app are those of connections by SAML (`/sso/saml/{connId}/login`).
   *
   * Problems: `sso_test_invalid`, `sso_connection_missing`, `sso_unavailable`, `database_away`.
   */
  begin(connId: string, params?: OidcBeginParams, options?: RequestOptions): Promise<string>;
  /**
   * Receive the OpenID provider's response: the redirect URI of the connection
   *
   * Redirects the browser to the app with a code, or with `error`. A response for another browser returns a page with
   * the reason; the operation `…/traces` lists every check.
   *
   * Problems: `sso_connection_missing`, `database_away`.
   */
  receiveResponse(connId: string, params?: OidcReceiveResponseParams, options?: RequestOptions): Promise<string>;
  /**
   * The post-logout redirect URI: redirects the browser to the app after a logout that the app started
   *
   * The post-logout redirect URI: redirects the browser to the app after a logout that the app started
   *
   * Problems: `sso_connection_missing`, `database_away`.
   */
  receiveLogout(connId: string, params?: OidcReceiveLogoutParams, options?: RequestOptions): Promise<string>;
  /**
   * Receive a logout token of the OpenID provider, and end the sessions that it names
   *
   * A token that was received before has no effect.
   *
   * Problems: `logout_token_refused`, `sso_connection_missing`, `database_away`.
   */
  receiveBackchannelLogout(connId: string, params?: OidcReceiveBackchannelLogoutParams, options?: RequestOptions): Promise<void>;
}

/** The methods of `client.directories`. */
export interface DirectoriesApi {
  /**
   * List the directory connections of an organization, newest first
   *
   * Permission: `scim:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: DirectoriesListParams, options?: RequestOptions): PagePromise<DirectoryConnection>;
  /**
   * Create a connection for a directory that supports SCIM 2.0, such as Entra ID or Okta
   *
   * Enter `baseUrl` and `token` in the directory. The token is not shown again; `rotate-token` creates another one.
   *
   * Active users of the directory are members of the organization with `defaultRoles`, and have the roles of their
   * groups in `groupRoles`: by name, `externalId` or id of the group. Roles besides MEMBER need the permission
   * `organizations:write`, because the connection assigns them. Users must have addresses at domains that the
   * organization has verified, unless `allowOtherDomains` is set.
   *
   * Permission: `scim:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_directory_connections`, `role_unknown`, `too_many_requests`,
   * `database_away`.
   */
  create(id: string, params: NewDirectoryConnection, options?: RequestOptions): Promise<DirectoryConnectionWithToken>;
  /**
   * Get a connection with the numbers of its users and groups, its tokens, and the last refused requests
   *
   * Permission: `scim:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `directory_connection_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, connId: string, options?: RequestOptions): Promise<DirectoryConnection>;
  /**
   * Change a connection
   *
   * Omitted fields keep their values.
   *
   * If roles change, the roles of all members are updated in the background. With `status: DISABLED`, the requests of
   * the directory get 403, and its users stay as they are. If the connection gives roles besides MEMBER, changing its
   * roles, enabling it and allowing other domains need the permission `organizations:write`. Honours `If-Match`.
   *
   * Permission: `scim:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `directory_connection_missing`, `role_unknown`, `too_many_requests`,
   * `database_away`.
   */
  update(id: string, connId: string, params: DirectoryConnectionChange, options?: RequestOptions): Promise<DirectoryConnection>;
  /**
   * Delete a connection
   *
   * The directory has no access from the next request on.
   *
   * Customers, members and their roles stay. The users and groups of the directory are deleted in the background.
   * Honours `If-Match`.
   *
   * Permission: `scim:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `directory_connection_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, connId: string, options?: RequestOptions): Promise<Removed>;
  /**
   * Create another token
   *
   * The present one stays valid for `overlapHours`, so that the directory can be changed meanwhile; 0 ends it at once.
   * Honours `If-Match`.
   *
   * If the connection gives roles besides MEMBER, this needs the permission `organizations:write`, too: whoever has the
   * token decides who gets the roles.
   *
   * Permission: `scim:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `directory_connection_missing`, `too_many_requests`, `database_away`.
   */
  rotateToken(id: string, connId: string, params?: TokenRotation, options?: RequestOptions): Promise<DirectoryConnectionWithToken>;
  /**
   * List the users of a directory, newest first, with the roles that come from the directory and their groups
   *
   * Permission: `scim:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `directory_connection_missing`, `too_many_requests`, `database_away`.
   */
  listUsers(id: string, connId: string, params?: DirectoriesListUsersParams, options?: RequestOptions): PagePromise<DirectoryUser>;
  /**
   * List the groups of a directory, newest first, with the roles that they give
   *
   * Permission: `scim:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `directory_connection_missing`, `too_many_requests`, `database_away`.
   */
  listGroups(id: string, connId: string, params?: DirectoriesListGroupsParams, options?: RequestOptions): PagePromise<DirectoryGroup>;
}

/** The methods of `client.organizations.setupLinks`. */
export interface OrganizationsSetupLinksApi {
  /**
   * List the setup links of an organization, newest first
   *
   * Links are kept for 90 days after their expiry.
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `too_many_requests`, `database_away`.
   */
  list(id: string, params?: OrganizationsSetupLinksListParams, options?: RequestOptions): PagePromise<SetupLink>;
  /**
   * Create a link with which an administrator of the organization sets it up on a hosted page, without an account
   *
   * The page leads through the permitted `steps`: add and verify domains, create, test and activate a single sign-on
   * connection, connect a directory (SCIM). `url` is not returned again; with `email`, it is also mailed. The first
   * browser that opens the link can use it until `expiresAt` (1 to 30 days), all others are refused.
   *
   * The steps SSO and SCIM also need the permissions `sso:write` and `scim:write`, because the link grants them for
   * this organization. Every change is in the audit log, with the actor type `SETUP_LINK`.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `organization_suspended`, `too_many_setup_links`, `role_unknown`,
   * `too_many_requests`, `database_away`.
   */
  create(id: string, params: NewSetupLink, options?: RequestOptions): Promise<SetupLinkWithUrl>;
  /**
   * Get a setup link: whether it was opened and completed, and the connections that it has created
   *
   * Permission: `organizations:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `setup_link_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, linkId: string, options?: RequestOptions): Promise<SetupLink>;
  /**
   * Revoke a setup link
   *
   * It stops working with the next request; what it has set up stays.
   *
   * Returns 409 if it is completed, revoked or expired.
   *
   * Permission: `organizations:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `organization_missing`, `setup_link_missing`, `setup_link_closed`, `too_many_requests`, `database_away`.
   */
  revoke(id: string, linkId: string, options?: RequestOptions): Promise<SetupLink>;
}

/** The methods of `client.oauthClients`. */
export interface OauthClientsApi {
  /**
   * List the clients of the project's OpenID provider, newest first
   *
   * A TEST key gets only TEST clients.
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: OauthClientsListParams, options?: RequestOptions): PagePromise<OAuthClient>;
  /**
   * Register a client of the project's OpenID provider
   *
   * The response has its `clientSecret`, which is returned only here and by a rotation; a PUBLIC client has none, and
   * neither has one with `jwks` or `jwksUri`. Customers are asked whether they allow the client its scopes, unless it
   * is `firstParty`. For a PUBLIC client with a redirect URI that another app could take, they are asked each time. A
   * TEST key can register only TEST clients.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_oauth_clients`, `too_many_requests`, `database_away`.
   */
  create(params: NewOAuthClient, options?: RequestOptions): Promise<OAuthClientWithSecret>;
  /**
   * Get a client, without its secret
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_client_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<OAuthClient>;
  /**
   * Change a client
   *
   * Fields that are left out keep their values. Honours `If-Match`.
   *
   * A removed redirect URI is refused from the next request on. Type and environment cannot be changed.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_client_missing`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: OAuthClientChange, options?: RequestOptions): Promise<OAuthClient>;
  /**
   * Delete a client with its consents
   *
   * Its codes and refresh tokens stop working at once, access tokens that its APIs check offline within ten minutes.
   * Honours `If-Match`.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_client_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
  /**
   * Create a new secret for a CONFIDENTIAL client
   *
   * It is returned only here.
   *
   * The old secret works in addition for `gracePeriodSeconds` (default 24 hours, at most 7 days, 0 to end it now). If
   * an even older one still works, it ends at once.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_client_missing`, `public_client_has_no_secret`, `oauth_client_has_keys`, `too_many_requests`,
   * `database_away`.
   */
  rotateSecret(id: string, params?: OAuthSecretRotation, options?: RequestOptions): Promise<OAuthClientWithSecret>;
  /**
   * Create an initial access token, with which clients can register themselves if `signIn.clientRegistration` is
   * `TOKEN`
   *
   * It is valid for 7 days and at most 100 registrations, and cannot be revoked, except by changing the setting.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `client_registration_without_tokens`, `too_many_requests`, `database_away`.
   */
  createRegistrationToken(options?: RequestOptions): Promise<OAuthRegistrationToken>;
}

/** The methods of `client.oauthResources`. */
export interface OauthResourcesApi {
  /**
   * List the APIs for which clients can ask for access tokens, newest first
   *
   * A TEST key gets only TEST ones.
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  list(params?: OauthResourcesListParams, options?: RequestOptions): PagePromise<OAuthResource>;
  /**
   * Declare an API for which clients can ask for access tokens, with the parameter `resource` (RFC 8707)
   *
   * The audience of such a token is the API's `identifier`. A token has only those of its scopes that are among the
   * API's `scopes`, and is not accepted by the userinfo endpoint. Only clients of the same environment can ask for it.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_resource_exists`, `too_many_oauth_resources`, `too_many_requests`, `database_away`.
   */
  create(params: NewOAuthResource, options?: RequestOptions): Promise<OAuthResource>;
  /**
   * Get an API for which clients can ask for access tokens
   *
   * Permission: `projects:read`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_resource_missing`, `too_many_requests`, `database_away`.
   */
  get(id: string, options?: RequestOptions): Promise<OAuthResource>;
  /**
   * Change an API
   *
   * Fields that are left out keep their values. Honours `If-Match`.
   *
   * Tokens have removed scopes until they expire, ten minutes later. The identifier cannot be changed.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_resource_missing`, `too_many_requests`, `database_away`.
   */
  update(id: string, params: OAuthResourceChange, options?: RequestOptions): Promise<OAuthResource>;
  /**
   * Delete an API
   *
   * No tokens are issued for it any more; APIs that check tokens offline accept them for at most ten minutes. Honours
   * `If-Match`.
   *
   * Permission: `projects:write`.
   *
   * Credentials: developer, secret key.
   *
   * Problems: `oauth_resource_missing`, `too_many_requests`, `database_away`.
   */
  delete(id: string, options?: RequestOptions): Promise<Deleted>;
}

/** The methods of `client.oauth`. */
export interface OauthApi {
  /**
   * Register a client by itself (RFC 7591), if the project's `signIn.clientRegistration` allows it
   *
   * Takes a JSON object with `redirect_uris`, and optionally `client_name`, `token_endpoint_auth_method` (`none`,
   * `client_secret_basic`, `client_secret_post` or `private_key_jwt`, with `jwks` or `jwks_uri`), `grant_types`,
   * `response_types`, `scope`, `client_uri`, `policy_uri`, `tos_uri`, `dpop_bound_access_tokens` and
   * `id_token_signed_response_alg` (`RS256`, which is the default, or `ES256`); other members are ignored. With
   * `TOKEN`, an initial access token in the `Authorization` header is required. The response has what was registered.
   * The client uses the authorization code flow with PKCE, customers are asked for their consent, and it is deleted if
   * it is not used for 45 days, or on the first day.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  registerClient(options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * The metadata of the project's OpenID provider (OpenID Connect Discovery 1.0 §4)
   *
   * The metadata of the project's OpenID provider (OpenID Connect Discovery 1.0 §4)
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getConfiguration(options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * The metadata of the project's authorization server at the path of RFC 8414 §3.1: the same as those of OpenID
   * Connect
   *
   * The metadata of the project's authorization server at the path of RFC 8414 §3.1: the same as those of OpenID
   * Connect
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getServerMetadata(options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * The authorization endpoint of the project's OpenID provider (RFC 6749 §3.1, OpenID Connect Core §3.1.2)
   *
   * Takes the parameters of the form of the same path in the query. Signs the customer in on the hosted pages if
   * needed, asks for consent if needed, and redirects to the client's `redirect_uri` with `code`, `state` and `iss`, or
   * with `error`. PKCE with S256 is required. A wrong `client_id` or `redirect_uri` is shown and not redirected.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  authorize(options?: RequestOptions): Promise<string>;
  /**
   * The authorization endpoint for clients that post their parameters
   *
   * Redirects to the GET operation, because browsers send the cookies of this server, which are SameSite=Lax, only with
   * that one.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  submitAuthorization(params?: OauthSubmitAuthorizationParams, options?: RequestOptions): Promise<string>;
  /**
   * Where the hosted sign-in pages return to
   *
   * Remembers the session in a cookie, ends the one that the browser had before, and continues the authorization
   * request whose token is `state`.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  continueAuthorization(params?: OauthContinueAuthorizationParams, options?: RequestOptions): Promise<string>;
  /**
   * Continue a stored authorization request after the sign-in: ask for consent, or return to the client
   *
   * Continue a stored authorization request after the sign-in: ask for consent, or return to the client
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  resumeAuthorization(params?: OauthResumeAuthorizationParams, options?: RequestOptions): Promise<string>;
  /**
   * The form of the consent page: allow the client its scopes, and return to it with a code; or with the error
   * `access_denied`
   *
   * The form of the consent page: allow the client its scopes, and return to it with a code; or with the error
   * `access_denied`
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  submitConsent(params?: OauthSubmitConsentParams, options?: RequestOptions): Promise<string>;
  /**
   * The form of the page that asks for a second factor or a passkey: authenticate again in the session of the browser,
   * and go on with the authorization request
   *
   * The session stays the same.
   *
   * Problems: `sign_in_failed`, `code_invalid`, `refresh_token_invalid`, `step_up_method_not_allowed`, `hook_refused`,
   * `sign_in_locked`, `too_many_requests`, `hook_failed`, `database_away`.
   */
  submitStepUp(params?: OauthSubmitStepUpParams, options?: RequestOptions): Promise<string>;
  /**
   * WebAuthn options for the script of the page: for a passkey of the customer who is signed in
   *
   * WebAuthn options for the script of the page: for a passkey of the customer who is signed in
   *
   * Problems: `code_invalid`, `step_up_method_not_allowed`, `too_many_requests`, `database_away`.
   */
  passkeyOptionsForStepUp(params?: OauthPasskeyOptionsForStepUpParams, options?: RequestOptions): Promise<PasskeyOptions>;
  /**
   * The token endpoint (RFC 6749 §3.2)
   *
   * A CONFIDENTIAL client authenticates with its secret, in the `Authorization` header (`client_secret_basic`) or the
   * form (`client_secret_post`), or with its key (`private_key_jwt`); a PUBLIC client sends only `client_id`. A code
   * works once, within 60 seconds, with the code verifier; if it is used again, the tokens that were issued for it are
   * revoked. A refresh token works once: within 30 seconds it returns the same next one again, later its use revokes
   * all tokens of the sign-in. With a proof in the header `DPoP` (RFC 9449), the access token is bound to the client's
   * key, and so is the refresh token of a PUBLIC client. The proof needs the nonce of the header `DPoP-Nonce`, which
   * each response to a proof has; without one, the error is `use_dpop_nonce`. Errors are those of RFC 6749 §5.2.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  createTokens(params?: OauthCreateTokensParams, options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * Push the parameters of an authorization request from the client's server (RFC 9126)
   *
   * Send the browser to the authorization endpoint with only `client_id` and the `request_uri` that is returned, within
   * 90 seconds; it works once. So nobody can change the parameters in the browser.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  pushAuthorization(params?: OauthPushAuthorizationParams, options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * Revoke a refresh token or an access token (RFC 7009), and with it all tokens of the same sign-in
   *
   * The response is 200 also for tokens that are unknown, expired or those of another client. Access tokens of
   * `client_credentials` cannot be revoked (`unsupported_token_type`): they are valid for ten minutes.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  revokeToken(params?: OauthRevokeTokenParams, options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * Whether a token is valid now, and its claims (RFC 7662)
   *
   * Only for CONFIDENTIAL clients.
   *
   * A `firstParty` client gets the state of the access tokens of all clients of its environment, because it may be an
   * API of the project; others get that of their own tokens. Tokens that are for an API (`resource`) have a state only
   * for the API's `introspectionClientId` and for their own client. The session, the customer's ban and the client are
   * read at every request. An API may ask as often as with an API key: the limit is that of the project.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  introspectToken(params?: OauthIntrospectTokenParams, options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * The claims about the customer that the scopes of an access token allow (OpenID Connect Core §5.3)
   *
   * Send the access token as `Authorization: Bearer …`; one that is bound to a key as `Authorization: DPoP …`, with a
   * proof in the header `DPoP` (RFC 9449 §7.1). It needs the scope `openid`.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  getUserinfo(options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * Like the GET operation; the access token may also be in the form (RFC 6750 §2.2)
   *
   * Like the GET operation; the access token may also be in the form (RFC 6750 §2.2)
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  submitUserinfo(params?: OauthSubmitUserinfoParams, options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * Begin the sign-in of a device (RFC 8628 §3.1)
   *
   * Show `user_code` and `verification_uri`, or a QR code of `verification_uri_complete`, and ask the token endpoint
   * for the tokens every `interval` seconds with `grant_type=urn:ietf:params:oauth:grant-type:device_code` and
   * `device_code`, until they arrive or the code expires after ten minutes.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  authorizeDevice(params?: OauthAuthorizeDeviceParams, options?: RequestOptions): Promise<{ [key: string]: unknown }>;
  /**
   * The page on which a customer enters the code that a device shows
   *
   * The query may have it as `user_code`.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  showDevicePage(options?: RequestOptions): Promise<string>;
  /**
   * The form of that page: go on to the sign-in and the consent page
   *
   * The form of that page: go on to the sign-in and the consent page
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  submitDeviceCode(params?: OauthSubmitDeviceCodeParams, options?: RequestOptions): Promise<string>;
  /**
   * The end-session endpoint
   *
   * Takes the parameters of the form of the same path in the query.
   *
   * With an `id_token_hint` of the present session, it ends at once; otherwise a page asks the customer, and the
   * session of the hint ends too. Then the browser goes to `post_logout_redirect_uri` with `state`, or sees a notice. A
   * URI that is not registered is refused.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  signOut(options?: RequestOptions): Promise<string>;
  /**
   * The end-session endpoint for clients that post their parameters
   *
   * Redirects to the GET operation, with which browsers send the cookie of the session.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  submitSignOut(params?: OauthSubmitSignOutParams, options?: RequestOptions): Promise<string>;
  /**
   * The form of the page that asks whether to sign out: end the session of the browser, and that of the `id_token_hint`
   *
   * If the browser has another session than the page was shown to, the customer is asked again.
   *
   * Problems: `too_many_requests`, `database_away`.
   */
  confirmSignOut(params?: OauthConfirmSignOutParams, options?: RequestOptions): Promise<string>;
}
