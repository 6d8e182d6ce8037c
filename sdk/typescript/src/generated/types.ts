// Written by script/client from the API. Do not edit.

/** The result of accepting an invitation. */
export interface AcceptedInvitation {
  /** The invitation. */
  invitation: OrganizationInvitation;
  /** The organization. */
  organization: OrganizationRef;
  /** Keys of the roles. */
  roles: string[];
}

/** A check whether a customer has a permission in the project or in one of its organizations. */
export interface AccessCheck {
  /** Permission to check. */
  permission: string;
  /** Required, except with a customer's token, which implies the customer. */
  customerId?: string | null | undefined;
  /** Id of the organization. */
  organizationId?: string | null | undefined;
}

/** Several checks at once. */
export interface AccessCheckBatch {
  /** Access checks, in the order of the request. */
  checks: AccessCheck[];
}

/** Whether a customer has a permission, and why. */
export interface AccessDecision {
  /** Whether access is allowed. */
  allowed: boolean;
  /** Reason, as text. */
  reason: "ALL_ORGANIZATIONS_ROLE" | "CUSTOMER_BANNED" | "NOT_A_MEMBER" | "NO_ROLE_GRANTS_PERMISSION" | "ORGANIZATION_ROLE" | "ORGANIZATION_SUSPENDED" | "PROJECT_ROLE" | "UNKNOWN_PERMISSION" | (string & {});
  /** Permission to check. */
  permission: string;
  /** Whether it applies to the whole project or to one organization. */
  scope: "ORGANIZATION" | "PROJECT" | (string & {});
  /**
   * The customer's roles in the scope. In an organization, also the roles for all organizations that grant the
   * permission.
   */
  roles: string[];
  /** The steps that led to the decision. */
  explanation: AccessExplanation[];
  /** Id of the customer. */
  customerId: string | null;
  /** Id of the organization. */
  organizationId: string | null;
}

/** The results of several checks, in the order of the request. */
export interface AccessDecisions {
  /** One result for each item, in the order of the request. */
  results: AccessDecision[];
}

/** One step of a check. All checks in the same scope have the same steps, in the same order. */
export interface AccessExplanation {
  /** Description or index of the step. */
  step: "ALL_ORGANIZATIONS_ROLE" | "CUSTOMER_GIVEN" | "CUSTOMER_NOT_BANNED" | "MEMBER" | "ORGANIZATION_ACTIVE" | "ORGANIZATION_ROLE" | "PERMISSION_DECLARED" | "PROJECT_ROLE" | (string & {});
  /** Whether it succeeded. */
  ok: boolean;
  /** The roles that grant the permission, if the step concerns roles. */
  roles: string[];
}

/** A change in an account, with its actor and IP address; `projectId` is null for changes of the account itself. */
export interface AccountAuditEntry {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address of the actor; null if the actor is not a person. */
  actorEmail: string | null;
  /** The action, as `noun.verb`. */
  action: string;
  /** Type of the record that was acted on. */
  targetType: string;
  /** Id of the record that was acted on. */
  targetId: string | null;
  /** Details of the action. */
  metadata: { [key: string]: unknown };
  /** E-mail address of the staff member who impersonated the actor; null if nobody did. */
  impersonatedByStaffEmail: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** Id of the project. */
  projectId: string | null;
  /** Kind of actor: `DEVELOPER`, `API_KEY`, `TEST_KEY`, `CUSTOMER` or `SYSTEM`. */
  actorType: string;
  /** Id of the actor; null for the service itself. */
  actorId: string | null;
  /** IP address of the client. */
  ipAddress: string | null;
}

/** A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page. */
export interface AccountAuditEntryPage {
  /** The records of this page. */
  data: AccountAuditEntry[];
  /** Total number of records. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** Number of pages. */
  pages: number;
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** The owner's password. */
export interface AccountDeletion {
  /** Password. A new password must have at least 8 characters. */
  password: string;
}

/** Everything that is kept about an account. */
export interface AccountExport {
  /** When this copy was made. */
  exportedAt: string;
  /** The account. */
  account: CurrentCustomer;
  /** When the phone number was verified (UTC); null if it is not verified. */
  phoneVerifiedAt: string | null;
  /** When the last sign-in was (UTC); null if there was none. */
  lastSignInAt: string | null;
  /** The e-mails, or their number or maximum number; a null maximum means unlimited. */
  emails: OwnAddress[];
  /** The ways to sign in that the account has used. */
  identities: OwnIdentity[];
  /** Passkeys that were created for the domain of this project. */
  passkeys: Passkey[];
  /** The devices on which the second factor is not asked for. */
  rememberedDevices: MyRememberedDevice[];
  /** Open sessions. */
  sessions: OwnSession[];
  /** The 50 receivers that reported the most messages. */
  organizations: OrganizationMembership[];
  /** The apps that may use the account, and what they may do. */
  connectedApps: OAuthConsent[];
  /** The version of the terms that the person has accepted; for an account, all of them. */
  acceptedTerms: TermsAcceptance[];
  /** Names of events, or the events. */
  events: ExportedEvent[];
}

/** An open invitation to an account. It is deleted when accepted or revoked. */
export interface AccountInvitation {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  email: string;
  /** Role of the person. */
  role: "ADMIN" | "DEVELOPER" | "VIEWER" | (string & {});
  /** E-mail address of the person who sent the invitation. */
  invitedBy: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** The token from the mail of the invitation. */
export interface AccountInvitationAcceptance {
  /** Token from the link in the mail. */
  token: string;
  /** Delete the account that you own, with all its data. Possible only if you are its only member. Default: `false`. */
  deleteMyAccount?: boolean | undefined;
  /** Required with `deleteMyAccount`. */
  password?: string | null | undefined;
}

/** A member of an account, as other members see it. */
export interface AccountMember {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  email: string;
  /** Display name. */
  name: string;
  /** Role of the person. */
  role: "ADMIN" | "DEVELOPER" | "OWNER" | "VIEWER" | (string & {});
  /** When the second factor was set up (UTC); null if there is none. */
  mfaEnabledAt: string | null;
  /** When the person became a member (UTC). */
  joinedAt: string;
  /** When the last sign-in was (UTC); null if there was none. */
  lastSignInAt: string | null;
}

/** The new role of a member. */
export interface AccountMemberRoleChange {
  /** Role of the person. */
  role: "ADMIN" | "DEVELOPER" | "VIEWER" | (string & {});
}

/** The signed-in developer, with the account and its projects. */
export interface AccountProfile {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  email: string;
  /** Display name. */
  name: string;
  /** Role of the person. */
  role: "ADMIN" | "DEVELOPER" | "OWNER" | "VIEWER" | (string & {});
  /** When the e-mail address was verified (UTC); null if it is not verified. */
  emailVerifiedAt: string | null;
  /** A new address that has not been confirmed yet. */
  pendingEmail: string | null;
  /** When the second factor was set up (UTC); null if there is none. */
  mfaEnabledAt: string | null;
  /** Number of unused recovery codes. */
  recoveryCodesLeft: number;
  /** When the person became a member (UTC). */
  joinedAt: string;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The account. */
  account: AccountSummary;
  /** Projects of the account, or their number or maximum number; a null maximum means unlimited. */
  projects: Project[];
}

/** Fields to change; omitted fields keep their values. */
export interface AccountProfileChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** E-mail address. */
  email?: string | undefined;
  /** Required to change `email`. */
  password?: string | null | undefined;
  /** A display name: one line of text, not only blanks. */
  accountName?: string | undefined;
}

/** The account that a developer belongs to. */
export interface AccountSummary {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
}

/** Add the contact to a STATIC audience. */
export interface AddToAudience {
  /** Type of the record. */
  type: "ADD_TO_AUDIENCE";
  /** Id of the audience. */
  audienceId: string;
}

/** An API key of a project. Only the response to its creation contains the whole `key`. */
export interface ApiKey {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /** Type of the record. */
  type: "PUBLISHABLE" | "SECRET" | (string & {});
  /** `LIVE` or `TEST`. Mail that is sent with a TEST key is captured and not delivered. */
  environment: "LIVE" | "TEST" | (string & {});
  /** Null: all permissions of the project except `projects:write` and `customers:impersonate`, none of the account. */
  permissions: string[] | null;
  /** IP addresses and networks that can use the key; null allows all. */
  ipAllowList: string[] | null;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string | null;
  /** Key that identifies it in requests, or the API key. */
  key: string;
  /** When it was last used (UTC), to the minute; null if it was never used. */
  lastUsedAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** An organization as the operations under `/apps` return it. */
export interface AppOrganization {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Display name. */
  name: string;
  /** Name for URLs, unique in the project. */
  slug: string;
  /** Custom data, up to 16 KiB of JSON. */
  metadata: { [key: string]: unknown };
  /** Whether its members and customers at its domains can sign in only by its single sign-on. */
  requireSso: boolean;
  /** Whether its members must sign in with a second factor. */
  requireMfa: boolean;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** Number of members. */
  memberCount: number;
  /** Number of pending invitations. */
  pendingInvitationCount: number;
}

/** A connection of an organization to its identity provider, as the operations under `/apps` return it. */
export interface AppSsoConnection {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the organization. */
  organizationId: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Display name. */
  name: string;
  /** Domain name. */
  domain: string;
  /** Status of the record. */
  status: "ACTIVE" | "DRAFT" | "INACTIVE" | (string & {});
  /** Why the connection is on hold; null if it is not. */
  held: string | null;
  /** Entity id of the identity provider. */
  idpEntityId: string | null;
  /** Single sign-on URL of the identity provider. */
  idpSsoUrl: string | null;
  /** Signing certificates of the identity provider, in PEM. */
  idpCertificate: string[];
  /** Certificate with which this service signs requests and decrypts assertions, in PEM. */
  spCertificate: string;
  /** Entity id of this service. */
  spEntityId: string;
  /** Assertion consumer service URL of this service. */
  spAcsUrl: string;
  /** Single logout URL of this service. */
  spSloUrl: string;
  /** URL of this service's metadata. */
  spMetadataUrl: string;
  /** URL that starts the sign-in; null if there is none. */
  loginUrl: string;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** An image. */
export interface Asset {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /** The name that was given at the upload; it has no meaning for Postern. */
  name: string;
  /** The public address of the image. Its content never changes. */
  url: string;
  /** Media type of the file. */
  contentType: "image/gif" | "image/jpeg" | "image/png" | "image/webp" | (string & {});
  /**
   * Size of the stored file in bytes. Metadata in the file, such as a position, is removed at the upload and not
   * counted.
   */
  size: number;
  /** In pixels. */
  width: number;
  /** In pixels. */
  height: number;
  /** When the record was created (UTC). */
  createdAt: string;
}

/**
 * For each profile field, the `Name` or `FriendlyName` of its SAML attribute, or the name of its claim. Omitted
 *     fields use common names.
 */
export interface AttributeMapping {
  /** Persistent identifier of a user; defaults to the NameID, or the claim `sub`. */
  subject?: string | null | undefined;
  /** SAML attribute with the e-mail address. */
  email?: string | null | undefined;
  /** SAML attribute with the full name. */
  name?: string | null | undefined;
  /** SAML attribute or claim with the first name. */
  firstName?: string | null | undefined;
  /** SAML attribute or claim with the last name. */
  lastName?: string | null | undefined;
  /** SAML attribute or claim with the groups. */
  groups?: string | null | undefined;
}

/** A list of contacts: STATIC (added by callers) or DYNAMIC (chosen by rules). */
export interface Audience {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Display name. */
  name: string;
  /** Type of the record. */
  type: "DYNAMIC" | "STATIC" | (string & {});
  /** The rules that choose the members; null for a STATIC audience. */
  rules: { [key: string]: unknown } | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Result of a bulk addition. `skipped` counts invalid and duplicate addresses and existing members. */
export interface AudienceBulkResult {
  /** Number of records that were added. */
  added: number;
  /** Number of records that were skipped. */
  skipped: number;
}

/** Fields to change. `type: STATIC` removes the rules and keeps the current members. */
export interface AudienceChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Type of the record. */
  type?: "STATIC" | (string & {}) | undefined;
}

/** Number of contacts that joined and left. */
export interface AudienceChangeResult {
  /** Number of records that were added. */
  added: number;
  /** Whether a record was removed. */
  removed: number;
}

/** Data of events about an audience. `id` is the id of the audience. */
export interface AudienceEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the audience. */
  name: string;
}

/** Data of `audience.joined` and `audience.left`. */
export interface AudienceMemberData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the audience. */
  audienceId: string;
  /** Id of the contact. */
  contactId: string;
}

/** One contact in one audience. */
export interface AudienceMembership {
  /** Id of the audience. */
  audienceId: string;
  /** Id of the contact; null if there is none. */
  contactId: string;
}

/** The contacts that rules choose now. */
export interface AudiencePreview {
  /** The number of all contacts that match. */
  count: number;
  /** The newest contacts that match, at most 10. */
  contacts: Contact[];
}

/** The rules to preview. */
export interface AudiencePreviewRequest {
  /** Rules that choose the members; null for a STATIC audience. */
  rules: Rules;
}

/** Data of `audience.refilled`. */
export interface AudienceRefilledData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the audience. */
  name: string;
  /** Number of contacts that joined. */
  added: number;
  /** Number of contacts that left. */
  removed: number;
}

/** One change by a developer or a key. */
export interface AuditEntry {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address of the actor; null if the actor is not a person. */
  actorEmail: string | null;
  /** The action, as `noun.verb`. */
  action: string;
  /** Type of the record that was acted on. */
  targetType: string;
  /** Id of the record that was acted on. */
  targetId: string | null;
  /** Details of the action. */
  metadata: { [key: string]: unknown };
  /** E-mail address of the staff member who impersonated the actor; null if nobody did. */
  impersonatedByStaffEmail: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page. */
export interface AuditEntryPage {
  /** The records of this page. */
  data: AuditEntry[];
  /** Total number of records. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** Number of pages. */
  pages: number;
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** The code that the app received, and the code verifier that it kept. */
export interface AuthorizationCodeGrant {
  /** Authorization code from the redirect. */
  code: string;
  /**
   * Required, except for a single sign-on that the app did not begin: the project's server exchanges such a code with
   * its secret key.
   */
  codeVerifier?: string | null | undefined;
  /** The `rememberedDeviceToken` that `mfa/verify` has returned on this device. */
  rememberedDeviceToken?: string | null | undefined;
}

/** A trigger and the steps that it starts. */
export interface Automation {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Display name. */
  name: string;
  /** Trigger that starts runs. */
  trigger: { [key: string]: unknown };
  /** The steps, in order. */
  steps: ({ [key: string]: unknown })[];
  /** Whether the record is active. */
  active: boolean;
  /** Incremented by each change of the steps; a run keeps the version with which it started. */
  version: number;
  /** Maximum runs that one contact can start within an hour. Further ones are counted as `limited`. */
  maxRunsPerHour: number;
  /** Whether the automation may be active even if it is part of a loop. */
  allowLoops: boolean;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Whether the automation is to be active. */
export interface AutomationActivation {
  /** Whether the record is active. */
  active: boolean;
}

/** Fields to change; omitted fields keep their values. */
export interface AutomationChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Trigger that starts runs. */
  trigger?: Trigger | undefined;
  /** The steps, in order. */
  steps?: (SendEmail | Delay | Condition | WaitForEvent | UpdateContact | AddToAudience | RemoveFromAudience | CallWebhook | Exit)[] | undefined;
  /** Whether the record is active. */
  active?: boolean | undefined;
  /** Maximum runs that one contact can start within an hour. Further ones are counted as `limited`. */
  maxRunsPerHour?: number | undefined;
  /** Whether the automation may be active even if it is part of a loop. */
  allowLoops?: boolean | undefined;
}

/** Data of `automation.completed` and `automation.failed`. */
export interface AutomationEndedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the automation. */
  automationId: string;
  /** Id of the contact for whom the automation runs. */
  contactId: string | null;
  /** How the run ended, such as `COMPLETED`, `CANCELLED` or `FAILED`. */
  status: string;
  /** Why the run failed or was cancelled; null if it completed. */
  error: string | null;
}

/** The run of one contact through an automation. */
export interface AutomationRun {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the automation. */
  automationId: string;
  /** Id of the contact; null if there is none. */
  contactId: string;
  /** Version number, from 1. Each change increments it. */
  version: number;
  /**
   * Index of the step when all steps are numbered from 0: a branching step, then the steps in its `then`, then those in
   * its `else`, then the step after it.
   */
  currentStep: number;
  /** Status of the record. */
  status: "CANCELLED" | "COMPLETED" | "EXITED" | "FAILED" | "RUNNING" | "WAITING" | (string & {});
  /** Why it failed; null if it did not fail. */
  error: string | null;
  /** When the run continues by itself: at the end of a delay, or when the timeout of a wait for an event passes. */
  nextAt: string | null;
  /** Name of the event that the run waits for, if any. */
  waitingFor: string | null;
  /** When it started (UTC). */
  startedAt: string;
  /** When it finished (UTC); null while it is running. */
  finishedAt: string | null;
}

/** A run with its history. */
export interface AutomationRunDetail {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the automation. */
  automationId: string;
  /** Id of the contact; null if there is none. */
  contactId: string;
  /** Version number, from 1. Each change increments it. */
  version: number;
  /**
   * Index of the step when all steps are numbered from 0: a branching step, then the steps in its `then`, then those in
   * its `else`, then the step after it.
   */
  currentStep: number;
  /** Status of the record. */
  status: "CANCELLED" | "COMPLETED" | "EXITED" | "FAILED" | "RUNNING" | "WAITING" | (string & {});
  /** Why it failed; null if it did not fail. */
  error: string | null;
  /** When the run continues by itself: at the end of a delay, or when the timeout of a wait for an event passes. */
  nextAt: string | null;
  /** Name of the event that the run waits for, if any. */
  waitingFor: string | null;
  /** When it started (UTC). */
  startedAt: string;
  /** When it finished (UTC); null while it is running. */
  finishedAt: string | null;
  /** The steps, in order. */
  steps: AutomationRunStep[];
}

/** The number of unfinished runs at one step of one version of an automation. */
export interface AutomationRunPosition {
  /** Version number, from 1. Each change increments it. */
  version: number;
  /** Index of the step in this version, numbered as in `AutomationRun.current_step`. */
  step: number;
  /** Number of the unfinished runs at this step. */
  runs: number;
}

/** The outcome of an executed step. */
export interface AutomationRunStep {
  /** Description or index of the step. */
  step: number;
  /** Type of the record. */
  type: string;
  /** Outcome of the attempt. */
  outcome: "DONE" | "FAILED" | "FALSE" | "HAPPENED" | "SKIPPED" | "TIMED_OUT" | "TRUE" | (string & {});
  /** Further details, as text. */
  detail: { [key: string]: unknown };
  /** When it started (UTC). */
  startedAt: string;
  /** When it finished (UTC); null while it is running. */
  finishedAt: string;
}

/** Numbers of runs, and of runs and messages that a limit prevented. */
export interface AutomationRunTotals {
  /** Number of runs. */
  totalRuns: number;
  /** Runs that reached the end or an EXIT step. */
  completed: number;
  /** Number of failures. */
  failed: number;
  /** Runs that did not start because the contact had already started `maxRunsPerHour` runs within the last hour. */
  limited: number;
  /** Messages that were not sent because of the project's frequency cap. */
  capped: number;
}

/** Data of events about a run of an automation. `id` is the id of the run. */
export interface AutomationStartedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the automation. */
  automationId: string;
  /** Id of the contact for whom the automation runs. */
  contactId: string | null;
}

/** Numbers of runs of the project's automations. */
export interface AutomationTotals {
  /** Number of runs. */
  totalRuns: number;
  /** Number of completed runs. */
  completed: number;
  /** Number of failures. */
  failed: number;
  /** Share of finished runs that completed, from 0 to 1. */
  successRate: number;
}

/** The secret that signs the calls of an automation's WEBHOOK steps. */
export interface AutomationWebhookSecret {
  /** Shared secret. Shown only once. */
  secret: string;
}

/** The plan, usage and limits of an account. */
export interface Billing {
  /** Plan of the account. */
  plan: "free" | "pro" | (string & {});
  /** Billing cycle of the plan: `monthly` or `yearly`, in lower case. */
  billingCycle: "monthly" | "yearly" | (string & {}) | null;
  /** Status of the subscription at the payment provider. */
  status: "active" | "cancelled" | "none" | "past_due" | (string & {});
  /** End of the paid period (UTC); null without a paid plan. */
  currentPeriodEnd: string | null;
  /** Whether the account has the B2B add-on. */
  b2bEnhanced: boolean;
  /** Usage that counts towards the limits. */
  usage: Usage;
  /** Limits of the plan. */
  limits: PlanLimits;
  /** Key of the sign-in provider, such as `GOOGLE`, or name of the payment provider. */
  provider: string;
}

/** The URL of a page to open in a browser. */
export interface BillingPageUrl {
  /** The URL. */
  url: string;
}

/** The status of the domain, or of an IP address that sends its mail, on one blocklist. */
export interface BlocklistEntry {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Name of the blocklist. */
  listName: string;
  /** Whether the last check with a result, LISTED or CLEAR, found it listed. */
  listed: boolean;
  /**
   * The result of the last check. UNKNOWN: the blocklist refused the query, failed its health check or did not respond.
   */
  status: "CLEAR" | "LISTED" | "UNKNOWN" | (string & {});
  /** Response codes of the blocklist. */
  codes: string[];
  /** Reason, as text. */
  reason: string;
  /** When the listing was first detected (UTC); null if it is not listed. */
  firstListedAt: string | null;
  /** When it was last checked (UTC); null before the first check. */
  lastCheckedAt: string | null;
  /** IP address or domain that was checked. */
  subjectValue: string;
}

/** One contact of a bulk addition; the attributes are merged into a contact that exists. */
export interface BulkContact {
  /** E-mail address. */
  email: string;
  /** Custom data about the contact, for templates and audience rules. */
  attributes?: { [key: string]: unknown } | undefined;
}

/** Addresses to add: `emails`, or `contacts` with attributes, or both; at most 10,000. */
export interface BulkMembers {
  /** Addresses of contacts to add. */
  emails?: string[] | undefined;
  /** Contacts to add, with attributes. */
  contacts?: BulkContact[] | undefined;
}

/** The statistics of one sending domain. */
export interface ByDomainItem {
  /** Domain name. */
  domain: string;
  /** Id of the sending domain. */
  domainId: string;
  /** Status of the record. */
  status: string;
  /** Total number of records. */
  total: number;
  /** Number of messages that were delivered. */
  delivered: number;
  /** Number of messages that bounced. */
  bounced: number;
  /** Number of messages that were reported as spam. */
  complained: number;
  /** Number of messages that people opened. */
  opened: number;
  /** Number of messages in which people clicked a link. */
  clicked: number;
  /** Share of messages that bounced, from 0 to 1. */
  bounceRate: number;
  /** Share of messages that were reported as spam, from 0 to 1. */
  complaintRate: number;
  /** Share of messages that were opened, from 0 to 1. */
  openRate: number;
}

/** POST the contact to a URL, signed like webhooks. After five failed attempts the run continues. */
export interface CallWebhook {
  /** Type of the record. */
  type: "WEBHOOK";
  /** The URL. */
  url: string;
}

/** A campaign. */
export interface Campaign {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /** Subject line. */
  subject: string | null;
  /** Display name of the sender. */
  fromName: string | null;
  /** E-mail address of the sender. */
  fromEmail: string | null;
  /** Preview text that mail clients show after the subject. */
  previewText: string | null;
  /** Status of the record. */
  status: "CANCELLED" | "DRAFT" | "FAILED" | "PAUSED" | "SCHEDULED" | "SENDING" | "SENT" | "TESTING" | (string & {});
  /** When to send it (UTC); null for immediately. */
  scheduledAt: string | null;
  /** When it was sent (UTC); null if it was not sent. */
  sentAt: string | null;
  /** Id of the template that provides subject, html and text. */
  templateId: string | null;
  /** Id of the sending domain. */
  domainId: string | null;
  /** Id of the audience. */
  audienceId: string | null;
  /** Whether the campaign has an A/B test. */
  abTestEnabled: boolean;
  /** Share of the audience in the A/B test, in percent (5 to 100). */
  abTestSamplePercent: number | null;
  /** Rate that decides the A/B test. */
  abTestMetric: "CLICK_RATE" | "OPEN_RATE" | (string & {}) | null;
  /** Duration of the A/B test in minutes (15 to 10,080). */
  abTestDurationMinutes: number | null;
  /** When the A/B test started (UTC); null if it has not started. */
  abTestStartedAt: string | null;
  /**
   * Contacts in the test, chosen when it begins: `abTestSamplePercent` of the audience, but at least one contact for
   * each variant.
   */
  abTestSampleSize: number | null;
  /** Why the campaign failed; null unless its status is FAILED. */
  reason: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
}

/** The fields to change; omitted fields keep their values. */
export interface CampaignChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Subject line. */
  subject?: string | null | undefined;
  /** Display name of the sender. */
  fromName?: string | null | undefined;
  /** E-mail address of the sender. */
  fromEmail?: string | null | undefined;
  /** Preview text that mail clients show after the subject. */
  previewText?: string | null | undefined;
  /** Id of the template that provides subject, html and text. */
  templateId?: string | null | undefined;
  /** Id of the sending domain. */
  domainId?: string | null | undefined;
  /** Id of the audience. */
  audienceId?: string | null | undefined;
  /** When to send it (UTC); null for immediately. */
  scheduledAt?: string | null | undefined;
  /** Whether the campaign has an A/B test. */
  abTestEnabled?: boolean | undefined;
  /** Share of the audience in the A/B test, in percent (5 to 100). */
  abTestSamplePercent?: number | null | undefined;
  /** Rate that decides the A/B test. */
  abTestMetric?: "CLICK_RATE" | "OPEN_RATE" | (string & {}) | null | undefined;
  /** Duration of the A/B test in minutes (15 to 10,080). */
  abTestDurationMinutes?: number | null | undefined;
  /** Variants of the A/B test, 2 to 8. */
  variants?: NewVariant[] | null | undefined;
}

/** A campaign with its variants, statistics and progress. */
export interface CampaignDetail {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /** Subject line. */
  subject: string | null;
  /** Display name of the sender. */
  fromName: string | null;
  /** E-mail address of the sender. */
  fromEmail: string | null;
  /** Preview text that mail clients show after the subject. */
  previewText: string | null;
  /** Status of the record. */
  status: "CANCELLED" | "DRAFT" | "FAILED" | "PAUSED" | "SCHEDULED" | "SENDING" | "SENT" | "TESTING" | (string & {});
  /** When to send it (UTC); null for immediately. */
  scheduledAt: string | null;
  /** When it was sent (UTC); null if it was not sent. */
  sentAt: string | null;
  /** Id of the template that provides subject, html and text. */
  templateId: string | null;
  /** Id of the sending domain. */
  domainId: string | null;
  /** Id of the audience. */
  audienceId: string | null;
  /** Whether the campaign has an A/B test. */
  abTestEnabled: boolean;
  /** Share of the audience in the A/B test, in percent (5 to 100). */
  abTestSamplePercent: number | null;
  /** Rate that decides the A/B test. */
  abTestMetric: "CLICK_RATE" | "OPEN_RATE" | (string & {}) | null;
  /** Duration of the A/B test in minutes (15 to 10,080). */
  abTestDurationMinutes: number | null;
  /** When the A/B test started (UTC); null if it has not started. */
  abTestStartedAt: string | null;
  /**
   * Contacts in the test, chosen when it begins: `abTestSamplePercent` of the audience, but at least one contact for
   * each variant.
   */
  abTestSampleSize: number | null;
  /** Why the campaign failed; null unless its status is FAILED. */
  reason: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Variants of the A/B test, 2 to 8. */
  variants: CampaignVariant[];
  /** Statistics so far. */
  stats: CampaignStats;
  /** Progress of the campaign. */
  progress: CampaignProgress;
  /**
   * How the winner of the A/B test was chosen: `decidedBy`, `reason` and, unless the test was cancelled or left out,
   * the counts and probabilities of the variants. Null before that.
   */
  evidence: { [key: string]: unknown } | null;
  /** When the A/B test ends. Null without a test and while the campaign is paused, which extends the test. */
  abTestEndsAt: string | null;
  /** Settings that do not prevent sending but are probably a mistake, such as a sample that is too small. */
  warnings: ProblemError[];
}

/** Data of events about a campaign. `id` is the id of the campaign. */
export interface CampaignEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the campaign. */
  name: string;
}

/** Data of `campaign.failed`. */
export interface CampaignFailedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the campaign. */
  name: string;
  /** Why the campaign failed. */
  reason: string;
  /** Number of e-mails of the campaign. Absent if it failed before it started. */
  total?: number | null | undefined;
}

/** What to check in a campaign's message. */
export interface CampaignPreflight {
  /** A contact whose attributes fill in the content. Null: a contact without attributes. */
  email?: string | null | undefined;
  /** The variant to check. Null: the campaign's own subject and template. */
  variantId?: string | null | undefined;
  /** Open the links of the message, at most 20, with GET requests. Default: `false`. */
  checkLinks?: boolean | undefined;
}

/** The progress of a campaign. */
export interface CampaignProgress {
  /** Contacts in the audience when the campaign started; 0 before the start. */
  expected: number;
  /** Contacts of the audience that have been processed so far: those with a send and those that were skipped. */
  audience: number;
  /** Sends that no server has accepted or rejected yet, those that are retried included. */
  waiting: number;
  /** The waiting sends that were deferred and are retried. A campaign can be SENT while some are retried. */
  retrying: number;
  /**
   * Sends that a mail server has accepted or permanently rejected. Sends that failed, expired or were suppressed do not
   * count.
   */
  handedOver: number;
  /** Numbers of contacts that get no message, by reason. */
  skipped: CampaignSkipped;
  /** Messages per second since the start. */
  perSecond: number;
  /**
   * Why messages wait because of their sending domain, its rates of bounces or complaints or its warm-up plan, or
   * because of the warm-up of an address of the server; null if none does.
   */
  waitingReason: string | null;
  /** The time until which one of these messages waits; it may be sent earlier. Null if none waits. */
  waitingUntil: string | null;
}

/** Data of `campaign.scheduled`. */
export interface CampaignScheduledData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the campaign. */
  name: string;
  /** When it will be sent (UTC). */
  scheduledAt: string;
}

/** The campaign was started or scheduled. */
export interface CampaignSendResult {
  /** Always true. Default: `true`. */
  success: boolean;
}

/** Data of `campaign.sent`. */
export interface CampaignSentData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the campaign. */
  name: string;
  /** Number of e-mails of the campaign. */
  total: number;
  /** Number of these e-mails that are still being retried. */
  retrying: number;
}

/** Contacts of the audience that get no message, by reason. */
export interface CampaignSkipped {
  /** Number of unsubscribed contacts. */
  unsubscribed: number;
  /** Number of suppressed addresses. */
  suppressed: number;
  /** Contacts that were deleted after the start and before their message was sent. */
  deleted: number;
  /**
   * Contacts that got as many marketing messages within 24 hours as the project's `frequencyCap` allows. Each has a
   * send with the status SUPPRESSED and that reason.
   */
  frequencyCap: number;
}

/** Data of `campaign.started`. */
export interface CampaignStartedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the campaign. */
  name: string;
  /** Whether the campaign starts with an A/B test. */
  testing: boolean;
}

/** The statistics of a campaign's sends. Opens and clicks by machines are not counted. */
export interface CampaignStats {
  /** All sends, whatever their status. */
  total: number;
  /** Sends that a mail server accepted, without those that bounced later. */
  sent: number;
  /** Number of messages that were delivered. */
  delivered: number;
  /** Number of messages that people opened. */
  opened: number;
  /** Number of messages in which people clicked a link. */
  clicked: number;
  /** Number of messages that bounced. */
  bounced: number;
  /** Number of messages that were reported as spam. */
  complained: number;
  /** Sends that failed, expired or were suppressed, without those that the frequency cap suppressed. */
  failed: number;
}

/** The recipient of a test copy. */
export interface CampaignTest {
  /** Recipients. */
  to: string;
}

/** The number of test copies that were queued. */
export interface CampaignTestResult {
  /** Always true. */
  success: boolean;
  /** Number of messages that were sent. */
  sent: number;
}

/** Data of `campaign.tested`. */
export interface CampaignTestedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the campaign. */
  name: string;
  /** Id of the variant that is sent to the rest of the audience. */
  winnerId: string;
  /**
   * How the variant was chosen: `rule` (by the metric of the test), `hand` (by a person), `cancelled` (the test was
   * cancelled) or `too_small` (no test took place).
   */
  decidedBy: string;
  /** Why the test ended without a comparison. Absent otherwise. */
  reason?: string | null | undefined;
}

/** How many campaigns the project has (`total`), and how many of them are SENT (`sent`). */
export interface CampaignTotals {
  /** Total number of records. */
  total: number;
  /** Number of campaigns that were sent. */
  sent: number;
}

/** A variant of the message in an A/B test. */
export interface CampaignVariant {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the campaign; null if there is none. */
  campaignId: string;
  /** Display name. */
  name: string;
  /** Subject line. */
  subject: string | null;
  /** Id of the template that provides subject, html and text. */
  templateId: string | null;
  /** Share of the A/B test in percent; the weights of all variants sum to 100. */
  weight: number;
  /** Whether this variant won the A/B test. */
  isWinner: boolean;
  /** When the record was created (UTC). */
  createdAt: string;
  /** Statistics so far. */
  stats: VariantStats;
}

/** A captured message without its content. */
export interface CapturedMessage {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the send; null if there is none. */
  sendId: string;
  /** The envelope sender, to which bounces go. */
  mailFrom: string;
  /** The envelope recipients, including those in bcc. */
  recipients: string[];
  /** The sender in the header field `From`. */
  sender: string;
  /** Subject line. */
  subject: string;
  /** The size of the message in octets. */
  size: number;
  /** When the message was captured (UTC). */
  capturedAt: string;
}

/** A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page. */
export interface CapturedMessagePage {
  /** The records of this page. */
  data: CapturedMessage[];
  /** Total number of records. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** Number of pages. */
  pages: number;
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** Data of events about customers, organizations, invitations and setup links. */
export interface CausedEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
}

/** A code was sent, if the address may receive one. Send the code back together with `challengeId`. */
export interface ChallengeSent {
  /** Id of the challenge. Send it back with the code. */
  challengeId: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
}

/** How often to pay: `monthly` or `yearly`. */
export interface CheckoutRequest {
  /** Billing cycle of the plan: `monthly` or `yearly`, in lower case. Default: `"monthly"`. */
  billingCycle?: "monthly" | "yearly" | (string & {}) | undefined;
}

/** The challenge whose code did not arrive. */
export interface CodeResend {
  /** Id of the challenge. Send it back with the code. */
  challengeId: string;
}

/** The code from the mail, and the id of the challenge that was returned when the code was requested. */
export interface CodeVerification {
  /** Id of the challenge. Send it back with the code. */
  challengeId: string;
  /** Six digits, such as `123456`. */
  code: string;
}

/** Continue with `then` if the contact matches the rules (as for audiences), otherwise with `else`. */
export interface Condition {
  /** Type of the record. */
  type: "CONDITION";
  /** Rules that choose the members; null for a STATIC audience. */
  rules: Rules;
  /** Steps to execute if the condition holds or the event occurs. */
  then?: (SendEmail | Delay | Condition | WaitForEvent | UpdateContact | AddToAudience | RemoveFromAudience | CallWebhook | Exit)[] | undefined;
  /** Steps to execute if the condition does not hold or the timeout elapses. */
  else?: (SendEmail | Delay | Condition | WaitForEvent | UpdateContact | AddToAudience | RemoveFromAudience | CallWebhook | Exit)[] | undefined;
}

/** A recipient of a project. The address is unique in the project, regardless of case. */
export interface Contact {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** E-mail address. */
  email: string;
  /** Custom data about the contact, for templates and audience rules. */
  attributes: { [key: string]: unknown };
  /** Whether the contact has unsubscribed from marketing mail. */
  unsubscribed: boolean;
  /** When the contact unsubscribed (UTC); null if it has not. */
  unsubscribedAt: string | null;
  /** When the contact last opened a message (UTC); null if it never did. */
  lastOpenedAt: string | null;
  /** When the contact last clicked a link (UTC); null if it never did. */
  lastClickedAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** An attribute of the project's contacts, and its type, by which CSV cells are read and written. */
export interface ContactAttribute {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Name of the attribute: its key in a contact's `attributes`. */
  name: string;
  /** Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or `list`. */
  type: "boolean" | "date" | "list" | "number" | "string" | (string & {});
  /** Whether the type was inferred from the first values; false if it was declared. */
  inferred: boolean;
  /** Description for people. */
  description: string;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** What to change about an attribute. */
export interface ContactAttributeChange {
  /** Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or `list`. */
  type?: "boolean" | "date" | "list" | "number" | "string" | (string & {}) | undefined;
  /** Description for people. */
  description?: string | undefined;
}

/** Fields to change. Attributes are merged at the top level; null removes one. */
export interface ContactChange {
  /** E-mail address. */
  email?: string | undefined;
  /** Custom data about the contact, for templates and audience rules. */
  attributes?: { [key: string]: unknown } | undefined;
  /** Whether the contact has unsubscribed from marketing mail. */
  unsubscribed?: boolean | undefined;
}

/** Data of events about a contact. `id` is the id of the contact. */
export interface ContactChangedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Address of the contact. */
  email: string;
  /** Names of the fields that were changed. */
  changed?: string[] | null | undefined;
  /** Whether the contact is unsubscribed now. Absent if that was not changed. */
  unsubscribed?: boolean | null | undefined;
  /** Id of the e-mail from which the contact unsubscribed. Absent if the contact used none to unsubscribe. */
  emailId?: string | null | undefined;
  /** The former name of `emailId`. */
  sendId?: string | null | undefined;
}

/**
 * An import of a file of contacts.
 *
 *     `rows` counts the rows read so far. `bytes` is the size of the file, 0 until it is uploaded.
 */
export interface ContactImport {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Status of the record. */
  status: "COMPLETED" | "FAILED" | "PENDING" | "RUNNING" | "UPLOADING" | (string & {});
  /** `upsert` creates and updates, `skip` leaves existing contacts unchanged. */
  mode: "skip" | "upsert" | (string & {});
  /** Size of the file in bytes. */
  bytes: number;
  /** Bytes of the file processed so far. */
  position: number;
  /** Number of rows that were processed so far. */
  rows: number;
  /** Number of records that were created. */
  created: number;
  /** Number of records that were updated. */
  updated: number;
  /** Number of records that were skipped. */
  skipped: number;
  /** Number of failures. */
  failed: number;
  /** The first 200 errors, by line. */
  errors: ContactImportError[];
  /** Character encoding by which the file is read; null while it is being uploaded. */
  charset: string | null;
  /** How the encoding was determined: by a byte order mark, by the caller, or by detection. */
  charsetFrom: "BOM" | "DECLARED" | "DETECTED" | (string & {}) | null;
  /** Character between the cells; null while the file is being uploaded. */
  delimiter: string | null;
  /** The file's columns and their targets, from the left; empty while it is being uploaded. */
  columns: ContactImportColumn[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** When it finished (UTC); null while it is running. */
  finishedAt: string | null;
}

/** A column of an imported file and what it is mapped to. */
export interface ContactImportColumn {
  /** Position of the column, counted from 1 from the left. */
  number: number;
  /** The name in the file's header. */
  name: string;
  /**
   * Target of the column: `email`, `unsubscribed`, `subscribed` (the opposite), `attributes` (a JSON object) or
   * `attributes.<name>`; null for a column that is not imported.
   */
  target: string | null;
  /**
   * How the target was chosen: the column has the field's name (`EXACT`) or a synonym of it (`SYNONYM`), the caller
   * mapped it (`DECLARED`), or it has any other name (`ATTRIBUTE`). `IGNORED` columns have no name, or are export
   * columns that an import does not use, such as `createdAt`.
   */
  decidedBy: "ATTRIBUTE" | "DECLARED" | "EXACT" | "IGNORED" | "SYNONYM" | (string & {});
}

/** What is wrong with a line of an imported file. */
export interface ContactImportError {
  /** Line number in the file, counted from 1; the header is line 1. */
  line: number;
  /** Description of the error. */
  message: string;
}

/** An error in a file's header that prevents an import, or a warning. */
export interface ContactImportNotice {
  /**
   * Machine-readable code: `email_column_missing`, `column_repeated`, `column_invalid`, `too_many_columns`,
   * `column_not_used`, `subscribed_not_used`, `type_not_used`, `charset_guessed` or `charset_doubtful`.
   */
  code: string;
  /** Description of the error. */
  message: string;
  /** Number of the column concerned; null if the notice concerns the whole file. */
  column: number | null;
  /** Whether the notice prevents an import of the file. */
  blocking: boolean;
  /** What to do next; null if the message says it. */
  next: string | null;
}

/** How an import would read a file. Nothing is stored. */
export interface ContactImportPreview {
  /** Character encoding by which the file is read, as the WHATWG Encoding Standard names it. */
  charset: string;
  /** How the encoding was determined: by a byte order mark, by the caller, or by detection. */
  charsetFrom: "BOM" | "DECLARED" | "DETECTED" | (string & {});
  /** Character between the cells. */
  delimiter: string;
  /** How the delimiter was determined: by a line `sep=;`, or by detection in the header. */
  delimiterFrom: "DECLARED" | "DETECTED" | (string & {});
  /** Number of the header line: 2 after a line `sep=;`, otherwise 1. */
  headerLine: number;
  /** The columns and their targets, from the left. */
  columns: ContactImportPreviewColumn[];
  /** The first 20 rows as they would be read; empty if the header is invalid. */
  rows: ContactImportPreviewRow[];
  /** Errors that prevent an import of the file, and warnings. */
  problems: ContactImportNotice[];
  /** Whether the file can be imported; single rows may still fail. */
  importable: boolean;
}

/** A column in the preview of an import, with sample cells. */
export interface ContactImportPreviewColumn {
  /** Position of the column, counted from 1 from the left. */
  number: number;
  /** The name in the file's header. */
  name: string;
  /**
   * Target of the column: `email`, `unsubscribed`, `subscribed` (the opposite), `attributes` (a JSON object) or
   * `attributes.<name>`; null for a column that is not imported.
   */
  target: string | null;
  /**
   * How the target was chosen: the column has the field's name (`EXACT`) or a synonym of it (`SYNONYM`), the caller
   * mapped it (`DECLARED`), or it has any other name (`ATTRIBUTE`). `IGNORED` columns have no name, or are export
   * columns that an import does not use, such as `createdAt`.
   */
  decidedBy: "ATTRIBUTE" | "DECLARED" | "EXACT" | "IGNORED" | "SYNONYM" | (string & {});
  /** Type by which cells are parsed; null if the column is not mapped to an attribute or the attribute has no type. */
  type: "boolean" | "date" | "list" | "number" | "string" | (string & {}) | null;
  /** The first cells of the column that are not empty, at most 3. */
  samples: string[];
}

/** A row of a file as an import would read it, or why it is invalid. */
export interface ContactImportPreviewRow {
  /** Line of the file on which the row begins, counted from 1. */
  line: number;
  /** The address; null if the row is invalid. */
  email: string | null;
  /** Whether the row unsubscribes the contact; null if the row is invalid. */
  unsubscribed: boolean | null;
  /** The attributes in the row; null if the row is invalid. */
  attributes: { [key: string]: unknown } | null;
  /** Why the row is invalid; null if it is valid. */
  error: string | null;
}

/** A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page. */
export interface ContactPage {
  /** The records of this page. */
  data: Contact[];
  /** Total number of records. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** Number of pages. */
  pages: number;
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** The first recipient of a send; `id` is null if there is no contact with this address. */
export interface ContactRef {
  /** Unique identifier. Treat it as an opaque string. */
  id: string | null;
  /** E-mail address. */
  email: string;
}

/** Numbers of the project's contacts. */
export interface ContactTotals {
  /** Total number of records. */
  total: number;
  /** Number of unsubscribed contacts. */
  unsubscribed: number;
  /** Share of contacts that unsubscribed, from 0 to 1. */
  unsubscribeRate: number;
  /** Number of new records in the last 30 days. */
  newLast30Days: number;
}

/** A link that opens the app as the customer, once. */
export interface CreatedImpersonationLink {
  /** Open it in a browser. Whoever has it can use it; it is not returned again. */
  url: string;
  /** Five minutes after its creation. */
  expiresAt: string;
}

/** A customer's own account, as the customer sees it. */
export interface CurrentCustomer {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  email: string | null;
  /** When the e-mail address was verified (UTC); null if it is not verified. */
  emailVerifiedAt: string | null;
  /** Display name. */
  name: string | null;
  /** The language that the customer reads, as a language tag (BCP 47); null if it is not known. */
  language: string | null;
  /** Phone number in E.164 form. */
  phone: string | null;
  /** Keys of the roles. */
  roles: string[];
  /** Custom data, up to 16 KiB of JSON. */
  metadata: { [key: string]: unknown };
  /** The customer's sign-in identities, such as a password or an identity provider. */
  identities: string[];
  /** The active organization of the access token; null without one. */
  organizationId: string | null;
  /** When the second factor was set up (UTC); null if there is none. */
  mfaEnabledAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /**
   * Who acts as the customer in this session: a member of the app's team; null if it is the customer. Apps should show
   * it in a banner.
   */
  impersonatedBy: string | null;
}

/** Changes to a customer's own account. Omitted fields keep their values; null removes them. */
export interface CurrentCustomerChange {
  /** Display name. */
  name?: string | null | undefined;
  /** The language that you read. Mails and the account page are in it, if they exist in it. */
  language?: string | null | undefined;
}

/** Something that happened in your product. */
export interface CustomEvent {
  /** Words separated by dots (`order.placed`). Names that begin with `email.`, `contact.` … are reserved. */
  name: string;
  /** Id of the contact; null if there is none. */
  contactId?: string | null | undefined;
  /** Address of the contact concerned; a contact with this address is created if there is none. */
  email?: string | null | undefined;
  /** Custom data, for automations and webhooks. */
  data?: { [key: string]: unknown } | undefined;
  /** An event whose key was used within the last 24 hours is not recorded again. */
  idempotencyKey?: string | null | undefined;
}

/** Several events. */
export interface CustomEventBatch {
  /** The events to record. */
  events: CustomEvent[];
}

/** Events that were recorded, in the order of the request. */
export interface CustomEventBatchResult {
  /** The events, in the order of the request. */
  data: CustomEventResult[];
}

/** An event that was recorded. */
export interface CustomEventResult {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /** Id of the contact; null if there is none. */
  contactId: string | null;
}

/** A user of the project's app. */
export interface Customer {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  email: string | null;
  /** When the e-mail address was verified (UTC); null if it is not verified. */
  emailVerifiedAt: string | null;
  /** Custom data, up to 16 KiB of JSON. */
  metadata: { [key: string]: unknown };
  /** Keys of the roles. */
  roles: string[];
  /** When the last sign-in was (UTC); null if there was none. */
  lastSignInAt: string | null;
  /** When the customer was banned (UTC); null if not banned. */
  bannedAt: string | null;
  /** When the second factor was set up (UTC); null if there is none. */
  mfaEnabledAt: string | null;
  /** Number of failed sign-ins since the last successful one. */
  failedSignInAttempts: number;
  /** Until when sign-in is locked after failed attempts (UTC); null if it is not locked. */
  signInLockedUntil: string | null;
  /** The customer's sign-in identities, such as a password or an identity provider. */
  identities: CustomerIdentity[];
  /** Open sessions. */
  sessions: CustomerSession[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** Id of the project. */
  projectId: string;
  /** The customer's identifier in your own system. */
  externalUserId: string | null;
  /** Further e-mail addresses with which the customer can sign in. */
  otherEmails: OtherEmail[];
  /** Phone number in E.164 form. */
  phone: string | null;
  /** When the phone number was verified (UTC); null if it is not verified. */
  phoneVerifiedAt: string | null;
  /** Display name. */
  name: string | null;
  /**
   * The language that the customer reads, as a language tag (BCP 47) such as `de` or `pt-BR`; null if it is not known.
   */
  language: string | null;
  /** Why the customer was banned. */
  banReason: string | null;
  /** When the ban ends (UTC); null for a permanent ban. */
  banExpiresAt: string | null;
}

/** Data of `customer.sign_in_failed` and `customer.locked`. `id` is the id of the customer. */
export interface CustomerAttemptData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** The authentication method. */
  method: string;
  /** IP address of the client. */
  ipAddress: string | null;
}

/** The reason for a ban, and when the ban ends. */
export interface CustomerBan {
  /** Reason, as text. */
  reason?: string | null | undefined;
  /** If null, the ban lasts until the customer is unbanned. */
  expiresAt?: string | null | undefined;
}

/** Data of `customer.banned`. `id` is the id of the customer. */
export interface CustomerBannedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** The reason that was given. */
  reason: string | null;
}

/** Changes of a customer. Omitted fields keep their values; null removes a name, a language or a phone number. */
export interface CustomerChange {
  /** The new primary address. It counts as unverified unless `emailVerified` says otherwise. */
  email?: string | undefined;
  /** Whether you have verified the address. */
  emailVerified?: boolean | undefined;
  /** Display name. */
  name?: string | null | undefined;
  /** The language that the customer reads. */
  language?: string | null | undefined;
  /** The new number in E.164. It counts as unverified unless `phoneVerified` says otherwise. */
  phone?: string | null | undefined;
  /** Whether you have verified the number. */
  phoneVerified?: boolean | undefined;
}

/** Data of `customer.email_verified`. `id` is the id of the customer. */
export interface CustomerEmailVerifiedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** True if this is a new address of the customer; false if the existing address was verified. */
  changed: boolean;
  /** The identity provider that verified the address. Absent if Postern verified it. */
  provider?: string | null | undefined;
}

/** An event of a customer. */
export interface CustomerEvent {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Type of the record. */
  type: string;
  /** Kind of actor: `DEVELOPER`, `API_KEY`, `TEST_KEY`, `CUSTOMER` or `SYSTEM`. */
  actorType: string;
  /** Id of the actor; null for the service itself. */
  actorId: string | null;
  /** Display name of the actor. */
  actorLabel: string | null;
  /** Id of the customer that the event is about. */
  subjectCustomerId: string;
  /** Details of the event. */
  metadata: { [key: string]: unknown };
  /** When it happened (UTC). */
  occurredAt: string;
  /** When the event's metadata and the label of its actor were erased, or null. */
  erasedAt: string | null;
}

/** A part of a feed; `nextCursor` is null at the end. */
export interface CustomerEventFeed {
  /** The records of this page. */
  data: CustomerEvent[];
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** Data of events about a second factor. `id` is the id of the customer. */
export interface CustomerFactorData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** The second factor. */
  method: string;
}

/**
 * A sign-in method of a customer: PASSWORD, EMAIL_CODE, PASSKEY, or a linked account: SAML or SSO_OIDC (single
 *     sign-on) or the key of a sign-in provider.
 */
export interface CustomerIdentity {
  /** Key of the sign-in provider, such as `GOOGLE`, or name of the payment provider. */
  provider: string;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** Data of `customer.impersonated`. `id` is the id of the customer. */
export interface CustomerImpersonatedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the session. */
  sessionId: string;
  /** Who acts as the customer: an e-mail address, or the name of an API key. */
  actor: string | null;
  /** Why. */
  reason: string;
  /** When the session ends at the latest. */
  expiresAt: string;
}

/** Data of `customer.impersonation_ended`. `id` is the id of the customer. */
export interface CustomerImpersonationEndedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the session. */
  sessionId: string;
  /** Who acted as the customer: an e-mail address, or the name of an API key. */
  actor: string | null;
  /** Why. */
  reason: string;
  /** `SIGNED_OUT` by the person who acted, `REVOKED` by your team, the customer or a rule of sign-in, or `EXPIRED`. */
  cause: string;
}

/** Customers to import. Customers whose address or external identifier is taken are skipped. */
export interface CustomerImport {
  /** The customers, or their number or maximum number; a null maximum means unlimited. */
  customers: NewCustomer[];
}

/** A customer that could not be imported: its index in the list, and why. */
export interface CustomerImportError {
  /** Index in the request, from 0. */
  index: number;
  /** Machine-readable code of the error. */
  code: string;
  /** Description of the error. */
  message: string;
}

/**
 * How many customers were created, how many were skipped because their address or external identifier is taken, and
 *     how many failed. `faults` has the reason for each of the failed ones.
 */
export interface CustomerImportResult {
  /** Number of records that were created. */
  created: number;
  /** Number of records that were skipped. */
  skipped: number;
  /** Number of failures. */
  failed: number;
  /** The rows or items that could not be imported, with the reason. */
  faults: CustomerImportError[];
}

/** A customer from another system, with the organizations of which it is a member. */
export interface CustomerImportRow {
  /** Id of the person in your own system. */
  externalUserId: string;
  /** E-mail address. */
  email?: string | null | undefined;
  /** Whether the e-mail address is verified. Default: `false`. */
  emailVerified?: boolean | undefined;
  /** Further e-mail addresses with which the customer can sign in. */
  otherEmails?: ImportedEmail[] | undefined;
  /** Display name. */
  name?: string | null | undefined;
  /** The language that the customer reads. */
  language?: string | null | undefined;
  /** Phone number in E.164 form. */
  phone?: string | null | undefined;
  /** Whether you have verified the number. Default: `false`. */
  phoneVerified?: boolean | undefined;
  /** Hash from another system: bcrypt, scrypt, PBKDF2 or argon2. */
  passwordHash?: string | null | undefined;
  /** Custom data, up to 16 KiB of JSON. */
  metadata?: { [key: string]: unknown } | undefined;
  /** Keys of the roles. */
  roles?: string[] | undefined;
  /** When the account was created in the other system. Default: now. */
  createdAt?: string | null | undefined;
  /** The customer is banned from signing in. */
  ban?: CustomerBan | null | undefined;
  /** The secret of an authenticator app in base32, for codes of six digits by SHA-1 every 30 seconds. */
  totpSecret?: string | null | undefined;
  /** Passkeys that were created for the domain of this project. */
  passkeys?: ImportedPasskey[] | undefined;
  /** The customer's sign-in identities, such as a password or an identity provider. */
  identities?: ImportedIdentity[] | undefined;
  /** The 50 receivers that reported the most messages. */
  organizations?: ImportedMembership[] | undefined;
}

/** The customer, and its new external identifier: the customer's identifier in your own system. */
export interface CustomerLink {
  /** Id of the customer. */
  customerId: string;
  /** Id of the person in your own system. */
  externalUserId: string;
}

/**
 * The customer with its new external identifier. `mergedCustomerId` is the id of the customer that had this
 *     identifier and was merged into it, or null.
 */
export interface CustomerLinkResult {
  /** The customer. */
  customer: Customer;
  /** Id of the customer that was merged into this one; null if none was merged. */
  mergedCustomerId: string | null;
}

/** Data of `customer.linked`. `id` is the id of the customer. */
export interface CustomerLinkedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the customer that was merged into this one; null if none was merged. */
  mergedCustomerId: string | null;
  /** The identity provider whose account was linked. Absent if none was linked. */
  provider?: string | null | undefined;
}

/** A mail to customers whose texts can be edited. */
export interface CustomerMail {
  /** The mail that a SEND_EMAIL step would send; null if the step would send none, and for other steps. */
  mail: "CODE" | "EMAIL_CHANGED" | "IDENTITY_CHANGED" | "IMPERSONATED" | "INVITATION" | "LINK" | "MFA_CHANGED" | "NEW_DEVICE" | "PASSWORD_CHANGED" | "RESET" | "SETUP_LINK" | "SIGN_UP" | "SIGN_UP_KNOWN" | "VERIFY" | (string & {});
  /** When customers get this mail. */
  purpose: string;
  /** The block that the mail must have, because it shows the link or the one-time code; other mails have neither. */
  requiredBlock: "button" | "code" | (string & {}) | null;
  /** Values of template variables such as `{{name}}`; of a template, the names of its variables. */
  variables: MailVariable[];
  /** The languages in which the project has its own text; in the others, customers get the built-in one. */
  editedLanguages: ("de" | "en" | "es" | "fr" | "ja" | "pt" | (string & {}))[];
}

/** Data of `customer.mail_failed`. `id` is the id of the customer. */
export interface CustomerMailFailedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** What the e-mail is for, such as `CODE`. */
  kind: string;
  /** Code of the problem, as in error responses. */
  code: string;
  /** Why the e-mail could not be sent. */
  reason: string;
}

/** A mail with sample values. */
export interface CustomerMailPreview {
  /** Subject line. */
  subject: string;
  /** HTML body. */
  html: string;
  /** Plain text body. */
  text: string;
}

/** Data of `customer.mail_text_failed`. `id` is the id of the customer. */
export interface CustomerMailTextFailedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** What the e-mail is for, such as `CODE`. */
  kind: string;
  /** The language of the text, such as `de`. */
  language: string;
  /** Code of the problem, as in error responses. */
  code: string;
  /** Why the text could not be used. */
  reason: string;
}

/** Data of `customer.metadata_updated`. `id` is the id of the customer. */
export interface CustomerMetadataUpdatedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Keys that were set or removed. */
  keys: string[];
}

/** A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page. */
export interface CustomerPage {
  /** The records of this page. */
  data: Customer[];
  /** Total number of records. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** Number of pages. */
  pages: number;
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** Data of `customer.passkey_added`. `id` is the id of the customer. */
export interface CustomerPasskeyAddedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the passkey. */
  passkeyId: string;
  /** Name of the passkey. */
  name: string;
}

/** Data of `customer.passkey_removed`. `id` is the id of the customer. */
export interface CustomerPasskeyRemovedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the passkey. */
  passkeyId: string;
}

/** The current password, if there is one, and the new one. */
export interface CustomerPasswordChange {
  /** The current password. */
  currentPassword?: string | null | undefined;
  /** The new password. */
  newPassword: string;
}

/** Data of `customer.unlinked` and `customer.identity_held`. `id` is the id of the customer. */
export interface CustomerProviderData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** The identity provider of the account. */
  provider: string;
}

/** Recovery codes. Each can be used once instead of a code of the authenticator app. They are shown only once. */
export interface CustomerRecoveryCodes {
  /** Recovery codes. Shown only once. */
  codes: string[];
}

/** Data of `customer.roles_updated`. `id` is the id of the customer. */
export interface CustomerRolesUpdatedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** The roles that the customer has now. */
  roles: string[];
}

/** Rows to import. */
export interface CustomerRows {
  /** Each row is checked on its own, so an invalid one does not affect the others. */
  rows: CustomerImportRow[];
  /** Only report what an import would do. Default: `false`. */
  dryRun?: boolean | undefined;
}

/** The numbers of rows by outcome, and the report on each row. */
export interface CustomerRowsResult {
  /** Number of records that were created. */
  created: number;
  /** How many rows have the `externalUserId` of an existing customer. */
  unchanged: number;
  /** Number of failures. */
  failed: number;
  /** Number of rows that were processed so far. */
  rows: ImportedRow[];
}

/** A session of a customer. */
export interface CustomerSession {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** `User-Agent` header of the request. */
  userAgent: string;
  /** IP address of the client. */
  ipAddress: string;
  /** The authentication methods of the sign-in, as in the claim `amr` (RFC 8176). */
  methods: string[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When it was last used (UTC), to the minute; null if it was never used. */
  lastUsedAt: string;
  /** When the session ends if its tokens are not refreshed before. */
  expiresAt: string;
  /** Why a member of the app's team acts as the customer in this session; null if it is a session of the customer. */
  impersonationReason: string | null;
  /** Who acts as the customer in this session: an e-mail address, or the name of an API key; null if nobody does. */
  impersonatedBy: string | null;
}

/** Data of events about a session. `id` is the id of the customer. */
export interface CustomerSessionData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the session. */
  sessionId: string;
  /**
   * Why Postern ended the session, such as `REFRESH_TOKEN_REUSED`, or `DEPROVISIONED` by a directory. Absent if the
   * customer or your application ended it.
   */
  reason?: string | null | undefined;
}

/**
 * The result of a sign-in: tokens, or the step that is still required.
 *
 *     With `mfaRequired` the tokens are null: send `mfaToken` and a code to `mfa/verify`. With `mfaEnrollmentRequired`
 *     too, the customer must first set up a second factor: send `mfaToken` to `mfa/enroll`, then a first code to
 *     `mfa/enroll/confirm`. With `termsRequired` the tokens are null, too: show the customer `terms`, then send
 *     `termsToken` and the version to `terms/accept`.
 */
export interface CustomerSignInResult {
  /** Id of the session; null if no session was started. */
  sessionId: string | null;
  /** Short-lived bearer token for requests. */
  accessToken: string | null;
  /** When the access token expires (UTC). */
  accessTokenExpiresAt: string | null;
  /** Single-use token to get the next access token. */
  refreshToken: string | null;
  /** When the refresh token expires (UTC). */
  refreshTokenExpiresAt: string | null;
  /** The active organization, which the access token describes; null without one. */
  organizationId: string | null;
  /** The customer. */
  customer: CurrentCustomer | null;
  /** Whether a second factor is required to finish the sign-in. Default: `false`. */
  mfaRequired: boolean;
  /** Whether the customer must set up a second factor first; see `mfa/enroll`. Default: `false`. */
  mfaEnrollmentRequired: boolean;
  /** Token that proves the first factor. Send it with the second factor. */
  mfaToken: string | null;
  /** Second factors that can be used or set up: `TOTP`, `RECOVERY_CODE`. */
  mfaMethods: string[] | null;
  /**
   * With `rememberDevice` at `mfa/verify`: store it on the device and send it with later sign-ins, which then need no
   * second factor. Null if devices are not remembered here.
   */
  rememberedDeviceToken: string | null;
  /** When the second factor is asked for on this device again at the latest. */
  rememberedDeviceExpiresAt: string | null;
  /** Whether the customer must accept the terms to finish the sign-in. Default: `false`. */
  termsRequired: boolean;
  /** Token of the sign-in that waits for the terms. Send it with the version that was accepted. */
  termsToken: string | null;
  /** The terms that the customer must accept before the sign-in is complete; null if there are none. */
  terms: RequiredTerms | null;
}

/** A new account. `password` may be omitted if the project offers codes, links or passkeys. */
export interface CustomerSignUp {
  /** E-mail address. */
  email: string;
  /** Password. A new password must have at least 8 characters. */
  password?: string | null | undefined;
  /** Display name. */
  name?: string | null | undefined;
  /** The language that the person reads. Default: that of the request. */
  language?: string | null | undefined;
  /** The version of the terms that the person has accepted. Required if the project's setting `requireTerms` is on. */
  acceptedTerms?: string | null | undefined;
}

/** The challenge to verify the address with, or (with `verifyEmail: LATER`) the tokens of a session. */
export interface CustomerSignUpResult {
  /** Id of the session; null if no session was started. */
  sessionId: string | null;
  /** Short-lived bearer token for requests. */
  accessToken: string | null;
  /** When the access token expires (UTC). */
  accessTokenExpiresAt: string | null;
  /** Single-use token to get the next access token. */
  refreshToken: string | null;
  /** When the refresh token expires (UTC). */
  refreshTokenExpiresAt: string | null;
  /** The active organization, which the access token describes; null without one. */
  organizationId: string | null;
  /** The customer. */
  customer: CurrentCustomer | null;
  /** Whether a second factor is required to finish the sign-in. Default: `false`. */
  mfaRequired: boolean;
  /** Whether the customer must set up a second factor first; see `mfa/enroll`. Default: `false`. */
  mfaEnrollmentRequired: boolean;
  /** Token that proves the first factor. Send it with the second factor. */
  mfaToken: string | null;
  /** Second factors that can be used or set up: `TOTP`, `RECOVERY_CODE`. */
  mfaMethods: string[] | null;
  /**
   * With `rememberDevice` at `mfa/verify`: store it on the device and send it with later sign-ins, which then need no
   * second factor. Null if devices are not remembered here.
   */
  rememberedDeviceToken: string | null;
  /** When the second factor is asked for on this device again at the latest. */
  rememberedDeviceExpiresAt: string | null;
  /** Whether the customer must accept the terms to finish the sign-in. Default: `false`. */
  termsRequired: boolean;
  /** Token of the sign-in that waits for the terms. Send it with the version that was accepted. */
  termsToken: string | null;
  /** The terms that the customer must accept before the sign-in is complete; null if there are none. */
  terms: RequiredTerms | null;
  /** Id of the challenge. Send it back with the code. */
  challengeId: string | null;
  /** When the code or link expires (UTC); null if none was sent. */
  challengeExpiresAt: string | null;
}

/** Data of `customer.signed_in`. `id` is the id of the customer. */
export interface CustomerSignedInData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the session. */
  sessionId: string;
  /** Authentication methods (`amr`, RFC 8176). */
  methods: string[];
  /** IP address of the customer. */
  ipAddress: string | null;
  /** User agent of the customer. */
  userAgent: string | null;
  /** The single sign-on connection with which the customer signed in. Absent for other methods. */
  via?: string | null | undefined;
}

/** Data of `customer.signed_up`. `id` is the id of the customer. */
export interface CustomerSignedUpData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /**
   * How the customer signed up: a sign-in method or an identity provider; `API` if your application created the
   * customer, `IMPORT` if the customer came from another system.
   */
  method: string;
}

/** Numbers of customers in a project. */
export interface CustomerStats {
  /** Total number of records. */
  total: number;
  /** Number of customers with a verified e-mail address. */
  verified: number;
  /** Number of banned customers. */
  banned: number;
  /** Number of customers with a second factor. */
  mfaEnabled: number;
}

/** Data of `customer.stepped_up`. `id` is the id of the customer. */
export interface CustomerSteppedUpData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the session. */
  sessionId: string;
  /** The authentication methods that were used now (`amr`, RFC 8176). */
  methods: string[];
  /** How strong the authentication of the session is since then: the claim `acr`. */
  acr: string;
  /** IP address of the customer. */
  ipAddress: string | null;
}

/** Data of `customer.terms_accepted`. `id` is the id of the customer. */
export interface CustomerTermsAcceptedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** The version of the terms. */
  version: string;
  /** IP address of the customer. */
  ipAddress: string | null;
  /** User agent of the customer. */
  userAgent: string | null;
}

/**
 * The refresh token that the last sign-in or refresh of this session returned, and the organization to switch
 *     to.
 */
export interface CustomerTokenRefresh {
  /** Single-use token to get the next access token. */
  refreshToken: string;
  /** The organization to make active; null for none. If it is omitted, the active organization stays. */
  organizationId?: string | null | undefined;
}

/** New tokens of a session. The refresh token that was sent is no longer valid. */
export interface CustomerTokens {
  /** Id of the session; null if no session was started. */
  sessionId: string;
  /** Short-lived bearer token for requests. */
  accessToken: string;
  /** When the access token expires (UTC). */
  accessTokenExpiresAt: string;
  /** Single-use token to get the next access token. */
  refreshToken: string;
  /** When the refresh token expires (UTC). */
  refreshTokenExpiresAt: string;
  /** The active organization, which the access token describes; null without one. */
  organizationId: string | null;
}

/** Data of `customer.updated`. `id` is the id of the customer. */
export interface CustomerUpdatedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Names of the fields that were changed. */
  changed: string[];
}

/** Wait for the sum of `minutes`, `hours` and `days`, or `until` a time. */
export interface Delay {
  /** Type of the record. */
  type: "DELAY";
  /** Minutes. */
  minutes?: number | null | undefined;
  /** Hours. */
  hours?: number | null | undefined;
  /** Days. */
  days?: number | null | undefined;
  /** End of the period, or time to wait for (UTC). */
  until?: string | null | undefined;
}

/** The response of an operation that deletes a record and does not return it. */
export interface Deleted {
  /** Always true: the record is deleted. Default: `true`. */
  deleted: boolean;
}

/**
 * A group of mail servers that are limited together: those of a provider such as Google, or of one domain. A relay
 *     and Amazon SES are sites, too.
 *
 *     State and limits are those of all projects; the numbers are those of this project.
 */
export interface DeliverySite {
  /** Name of the provider, name of the first mail server, or `host:port` of the relay or of Amazon SES. */
  name: string;
  /** The transport that sends to the site. */
  transport: "direct" | "relay" | "ses" | (string & {});
  /** The provider whose limits apply; null for other sites. */
  provider: string | null;
  /** The mail servers that were last used, the preferred ones first. */
  hosts: string[];
  /** SLOWED: it gets less mail than `defaultLimits` allow, because it asked for less. */
  state: "OPEN" | "SLOWED" | "SUSPENDED" | (string & {});
  /** Null if it is not suspended. */
  suspension: DeliverySiteSuspension | null;
  /** The limits at present. */
  limits: DeliverySiteLimits;
  /** The limits without a slow-down. */
  defaultLimits: DeliverySiteLimits;
  /** Until when no mail is sent to it, because it asked for less. */
  throttledUntil: string | null;
  /** Its last reply to this project that was not positive. */
  lastReply: string | null;
  /** When that reply came. */
  lastReplyAt: string | null;
  /** Messages that wait for the site after an attempt or a postponement, counted up to 10,000. */
  waiting: number;
  /** When the oldest waiting message was created. */
  oldestWaitingAt: string | null;
  /** Recipients for whom it accepted a message in the last 24 hours. */
  delivered: number;
  /** Temporary failures in the last 24 hours. */
  deferred: number;
  /** Permanent failures in the last 24 hours. */
  bounced: number;
  /** The last time that its waiting messages were given up; null if that never happened. */
  bounce: DeliverySiteBounce | null;
  /** When the project first used it. */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** The last time that the messages that waited for a site were given up. */
export interface DeliverySiteBounce {
  /** Reason, as text. */
  reason: string;
  /** How many messages have failed so far. */
  failed: number;
  /** When it started (UTC). */
  startedAt: string;
  /** Null while it goes on. */
  endedAt: string | null;
}

/** The limits of a site, for all projects and processes together; null for no limit. */
export interface DeliverySiteLimits {
  /** Connections at the same time. */
  connections: number | null;
  /** Messages after which a connection is closed. */
  messagesPerConnection: number | null;
  /** Messages per minute. */
  messagesPerMinute: number | null;
}

/** A suspension of a site: no mail is sent to it. */
export interface DeliverySiteSuspension {
  /** Who suspended it: this project, or the operator of the server for all projects. */
  by: "OPERATOR" | "PROJECT" | (string & {});
  /** Reason, as text. */
  reason: string;
  /** Start of the period (UTC); null for no start. */
  since: string;
  /** End of the period, or time to wait for (UTC). */
  until: string | null;
}

/** A developer, as sign-in returns it. */
export interface Developer {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  email: string;
  /**
   * Null until the address is verified; until then the developer can only read, and send mail that is captured and
   * never delivered.
   */
  emailVerifiedAt: string | null;
  /** Display name. */
  name: string;
  /** Role of the person. */
  role: "ADMIN" | "DEVELOPER" | "OWNER" | "VIEWER" | (string & {});
  /** Id of the account. */
  accountId: string;
}

/** The current password and the new one. */
export interface DeveloperPasswordChange {
  /** The current password. */
  currentPassword: string;
  /** The new password. */
  newPassword: string;
}

/** Ten codes, each of which replaces the app's code once. Only this response contains them. */
export interface DeveloperRecoveryCodes {
  /** One-time codes to use if the second factor is lost. Shown only once. */
  recoveryCodes: string[];
}

/** Email address and password; `code` if a second factor is on. */
export interface DeveloperSignIn {
  /** E-mail address. */
  email: string;
  /** Password. A new password must have at least 8 characters. */
  password: string;
  /** One-time code from the authenticator app or from the mail. */
  code?: string | null | undefined;
}

/** The tokens of a session. Send `accessToken` as `Authorization: Bearer …`. */
export interface DeveloperSignInResult {
  /** Short-lived bearer token for requests. */
  accessToken: string;
  /** When the access token expires (UTC). */
  accessTokenExpiresAt: string;
  /** Single-use token to get the next access token. */
  refreshToken: string;
  /** When the refresh token expires (UTC). */
  refreshTokenExpiresAt: string;
  /** The developer who is signed in. */
  developer: Developer;
  /** Projects of the account, or their number or maximum number; a null maximum means unlimited. */
  projects: Project[];
}

/** A developer who signs up: the owner of a new account, or with an invitation a member of the inviting one. */
export interface DeveloperSignUp {
  /** E-mail address. */
  email: string;
  /** Password. A new password must have at least 8 characters. */
  password: string;
  /** The name of a person: one line of text. */
  name?: string | undefined;
  /** Token from the invitation's mail; `email` must be the invited address. */
  invitationToken?: string | null | undefined;
}

/** The refresh token of a session. */
export interface DeveloperTokenRefresh {
  /** Single-use token to get the next access token. */
  refreshToken: string;
}

/** The key to enter in an authenticator app, and the `otpauth://` URI to show as a QR code. */
export interface DeveloperTotpEnrolment {
  /** Shared secret. Shown only once. */
  secret: string;
  /** `otpauth://` URI to show as a QR code. */
  uri: string;
}

/** The connection of an organization to its directory, such as Entra ID or Okta. */
export interface DirectoryConnection {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /** Id of the organization. */
  organizationId: string;
  /** Display name. */
  name: string;
  /** Status of the record. */
  status: "ACTIVE" | "DISABLED" | (string & {});
  /** The URL to enter in the directory, together with a token. */
  baseUrl: string;
  /** The roles of all active users of the directory. */
  defaultRoles: string[];
  /** Further roles of the members of groups, by the name, the `externalId` or the id of the group. */
  groupRoles: { [key: string]: string[] };
  /** Whether users may have addresses at domains that the organization has not verified. */
  allowOtherDomains: boolean;
  /** The valid tokens, newest first: more than one after a rotation. */
  tokens: DirectoryTokenInfo[];
  /** Number of users, active or not. */
  userCount: number;
  /** Number of users who are members. */
  activeUserCount: number;
  /** Number of groups. */
  groupCount: number;
  /** The time of the last change by the directory, to within a minute; null if there was none. */
  lastSyncedAt: string | null;
  /** The last refused requests, newest first. */
  recentErrors: DirectoryError[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Changes of a connection. Omitted fields keep their values. */
export interface DirectoryConnectionChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Status of the record. */
  status?: "ACTIVE" | "DISABLED" | (string & {}) | undefined;
  /** Roles that new members get. */
  defaultRoles?: string[] | undefined;
  /** Replaces the map as a whole. */
  groupRoles?: { [key: string]: string[] } | undefined;
  /** Whether e-mail addresses outside the connection's domains are accepted. */
  allowOtherDomains?: boolean | undefined;
}

/** A connection with a new token, which is not shown again. */
export interface DirectoryConnectionWithToken {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /** Id of the organization. */
  organizationId: string;
  /** Display name. */
  name: string;
  /** Status of the record. */
  status: "ACTIVE" | "DISABLED" | (string & {});
  /** The URL to enter in the directory, together with a token. */
  baseUrl: string;
  /** The roles of all active users of the directory. */
  defaultRoles: string[];
  /** Further roles of the members of groups, by the name, the `externalId` or the id of the group. */
  groupRoles: { [key: string]: string[] };
  /** Whether users may have addresses at domains that the organization has not verified. */
  allowOtherDomains: boolean;
  /** The valid tokens, newest first: more than one after a rotation. */
  tokens: DirectoryTokenInfo[];
  /** Number of users, active or not. */
  userCount: number;
  /** Number of users who are members. */
  activeUserCount: number;
  /** Number of groups. */
  groupCount: number;
  /** The time of the last change by the directory, to within a minute; null if there was none. */
  lastSyncedAt: string | null;
  /** The last refused requests, newest first. */
  recentErrors: DirectoryError[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** Token from the link in the mail. */
  token: string;
}

/** A request of the directory that was refused. */
export interface DirectoryError {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The second factor. */
  method: string;
  /** The path below the base URL, without the query. */
  path: string;
  /** Status of the record. */
  status: number;
  /** The kind of the error (RFC 7644 §3.12), such as `uniqueness`; null if SCIM has none for it. */
  scimType: string | null;
  /** Further details, as text. */
  detail: string;
  /** When it happened (UTC). */
  occurredAt: string;
}

/** A group of a directory. */
export interface DirectoryGroup {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The id of the group in the directory. */
  externalId: string | null;
  /** The name of the group. */
  displayName: string;
  /** Number of members. */
  memberCount: number;
  /** The roles that the connection gives to the members of the group. */
  roles: string[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** A token of a connection. The token itself is only in the response that created it. */
export interface DirectoryTokenInfo {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the token ends, because another one has replaced it; null for the newest one. */
  expiresAt: string | null;
  /** The time of the last request with this token, to within a minute; null if there was none. */
  lastUsedAt: string | null;
}

/** A user of a directory. */
export interface DirectoryUser {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the customer. */
  customerId: string;
  /** The id of the user in the directory. */
  externalId: string | null;
  /** The name with which the user signs in at the directory. */
  userName: string;
  /** The name that the directory shows. */
  displayName: string | null;
  /** Whether the record is active. */
  active: boolean;
  /**
   * The roles that come from the directory. They are taken away when the user leaves the group. The member can have
   * others, which were assigned otherwise and stay.
   */
  roles: DirectoryUserRole[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** A role that the directory has added to a member, and the groups that it comes from. */
export interface DirectoryUserRole {
  /** Role of the person. */
  role: string;
  /** The names of the groups with this role; empty if it is one of `defaultRoles`. */
  groups: string[];
}

/** The result of one signature. */
export interface DkimResult {
  /** The result for this signature. */
  verdict: "fail" | "pass" | "permerror" | "temperror" | (string & {});
  /** Reason, as text. */
  reason: string;
  /** The signing domain `d=` in lower case; empty if the signature cannot be parsed. */
  domain: string;
  /** The selector `s=`, which names the key. */
  selector: string;
  /** The algorithm `a=`, such as `rsa-sha256`. */
  algorithm: string;
  /** The first eight characters of `b=`, which identify the signature (RFC 6008). */
  signature: string;
}

/** Messages by their results, as receivers reported them. */
export interface DmarcCounts {
  /** All messages. */
  messages: number;
  /** Messages that passed DMARC: DKIM or SPF passed for an aligned domain. */
  aligned: number;
  /** Messages for which DKIM passed for an aligned domain. */
  dkimAligned: number;
  /** Messages for which SPF passed for an aligned domain. */
  spfAligned: number;
  /** Messages that receivers put into the spam folder because of the policy. */
  quarantined: number;
  /** Messages that receivers rejected because of the policy. */
  rejected: number;
}

/** The messages of one day. */
export interface DmarcDay {
  /** All messages. */
  messages: number;
  /** Messages that passed DMARC: DKIM or SPF passed for an aligned domain. */
  aligned: number;
  /** Messages for which DKIM passed for an aligned domain. */
  dkimAligned: number;
  /** Messages for which SPF passed for an aligned domain. */
  spfAligned: number;
  /** Messages that receivers put into the spam folder because of the policy. */
  quarantined: number;
  /** Messages that receivers rejected because of the policy. */
  rejected: number;
  /** The day in UTC on which the period of the report began. */
  day: string;
}

/** The messages that one receiver reported. */
export interface DmarcOrganization {
  /** All messages. */
  messages: number;
  /** Messages that passed DMARC: DKIM or SPF passed for an aligned domain. */
  aligned: number;
  /** Messages for which DKIM passed for an aligned domain. */
  dkimAligned: number;
  /** Messages for which SPF passed for an aligned domain. */
  spfAligned: number;
  /** Messages that receivers put into the spam folder because of the policy. */
  quarantined: number;
  /** Messages that receivers rejected because of the policy. */
  rejected: number;
  /** The name of the receiver, as in its reports. */
  organization: string;
  /**
   * The domain for which its e-mails were authenticated: anyone can write any other name into a report. Null for
   * reports that the project added itself.
   */
  reporter: string | null;
  /** The last day with messages. */
  lastDay: string;
}

/** A report that was read. */
export interface DmarcReportResult {
  /** The receiver that made the report. */
  organization: string;
  /** The id that the receiver gave the report. */
  reportId: string;
  /** The beginning of the period of the report (UTC). */
  begins: string;
  /** The end of the period of the report (UTC). */
  ends: string;
  /** Messages of the domain in the report. */
  messages: number;
  /** Records that were not counted: those of other domains, and invalid ones. */
  skipped: number;
  /** Whether nothing was added, because the domain already has this report. */
  duplicate: boolean;
}

/** The DMARC result of a message. */
export interface DmarcResult {
  /** The DMARC result. */
  verdict: "fail" | "none" | "pass" | "permerror" | "temperror" | (string & {});
  /** Reason, as text. */
  reason: string;
  /** The domain of the author's address in From; empty if there is not exactly one author domain. */
  domain: string;
  /** What the domain's owner asks receivers to do with messages that fail; None without a record. */
  policy: "none" | "quarantine" | "reject" | (string & {}) | null;
}

/** The messages of one host. */
export interface DmarcSource {
  /** All messages. */
  messages: number;
  /** Messages that passed DMARC: DKIM or SPF passed for an aligned domain. */
  aligned: number;
  /** Messages for which DKIM passed for an aligned domain. */
  dkimAligned: number;
  /** Messages for which SPF passed for an aligned domain. */
  spfAligned: number;
  /** Messages that receivers put into the spam folder because of the policy. */
  quarantined: number;
  /** Messages that receivers rejected because of the policy. */
  rejected: number;
  /** The IP address of the host. */
  sourceIp: string;
  /** The last day with messages. */
  lastDay: string;
}

/** What receivers reported about the mail of a domain. */
export interface DmarcSummary {
  /** Domain name. */
  domain: string;
  /** The sums over all days, hosts and receivers. */
  totals: DmarcCounts;
  /** Oldest first; days without messages are included. */
  days: DmarcDay[];
  /** The 100 hosts with the most messages. */
  sources: DmarcSource[];
  /** The 50 receivers that reported the most messages. */
  organizations: DmarcOrganization[];
  /** Reports that arrived by e-mail from senders that could not be authenticated. They are not counted. */
  unauthenticated: number;
}

/** A DNS record to publish, with the result of the last check. */
export interface DnsRecord {
  /** Type of the DNS record. */
  type: "CNAME" | "TXT" | (string & {});
  /** Name of the DNS record. */
  name: string;
  /** Value to publish. */
  value: string;
  /** Purpose of the DNS record. */
  purpose: "DKIM" | "DKIM_ED25519" | "DKIM_NEXT" | "DMARC" | "PAGES" | "RETURN_PATH" | "SPF" | "TRACKING" | (string & {});
  /** Whether the domain cannot be verified, or its name not be used, without this record. */
  required: boolean;
  /** PENDING: not published; WRONG: published with another value; UNKNOWN: the lookup failed. Default: `"PENDING"`. */
  status: "PENDING" | "UNKNOWN" | "VERIFIED" | "WRONG" | (string & {});
  /** The values that are published at this name. */
  found: string[];
  /** Why the record is not VERIFIED. */
  reason: string | null;
}

/** A sending domain with the DNS records to publish. */
export interface Domain {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Domain name. */
  domain: string;
  /**
   * PENDING: the DKIM record was not found yet. VERIFIED: it is published, and mail can be sent. DEGRADED: it has been
   * missing for three days, so that no mail can be sent. FAILED: it has been missing for 30 days, and the periodic
   * checks have ended.
   */
  status: "DEGRADED" | "FAILED" | "PENDING" | "VERIFIED" | (string & {});
  /** Whether the SPF record is published correctly. */
  spfVerified: boolean;
  /** Whether the DKIM key is published correctly. */
  dkimVerified: boolean;
  /** Whether a DMARC policy is published. */
  dmarcVerified: boolean;
  /** When it was verified (UTC); null if it is not. */
  verifiedAt: string | null;
  /** Since when the DKIM record has been missing; null if it is published, and while the domain is PENDING. */
  failingSince: string | null;
  /** When it was last checked (UTC); null before the first check. */
  lastCheckedAt: string | null;
  /** The mistakes in the domain's DNS records that the last check found, and advice. */
  findings: Finding[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The selectors of the current and of the next DKIM key. Publish `<token>._domainkey.<domain>` for both. */
  dkimTokens: string[];
  /** DNS records to publish. */
  records: DnsRecord[];
  /** When it is checked next (UTC); null if no check is scheduled. */
  nextCheckAt: string | null;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
}

/** The TLS certificate of a host name of a sending domain, which this server obtains by ACME. */
export interface DomainCertificate {
  /** The host name. */
  name: string;
  /**
   * PENDING: there is none yet; ISSUED; RENEWING: the next one has been ordered; FAILED: the last attempt failed. A
   * certificate is served until `expiresAt`, also while renewals fail.
   */
  status: "FAILED" | "ISSUED" | "PENDING" | "RENEWING" | (string & {});
  /** Why the last attempt failed or was postponed; otherwise null. */
  problem: string | null;
  /** When the certificate that is served was issued (UTC); null if there is none. */
  issuedAt: string | null;
  /** When the certificate that is served expires (UTC); null if there is none. */
  expiresAt: string | null;
  /** When the next attempt or check is made (UTC). */
  nextAttemptAt: string | null;
}

/** Data of `domain.certificate_issued` and `domain.certificate_failed`. */
export interface DomainCertificateData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the domain. */
  domain: string;
  /** The host name of the certificate. */
  name: string;
  /** When the certificate that the server uses at present expires (UTC); null if it has none. */
  expiresAt: string | null;
}

/** Data of `domain.certificate_failed`. */
export interface DomainCertificateFailedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the domain. */
  domain: string;
  /** The host name of the certificate. */
  name: string;
  /** When the certificate that the server uses at present expires (UTC); null if it has none. */
  expiresAt: string | null;
  /** Why the last attempt to obtain a certificate failed. */
  problem: string;
}

/** Data of events about a sending domain. `id` is the id of the domain. */
export interface DomainEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the domain. */
  domain: string;
}

/**
 * Whether a customer joined the organization that has verified the domain of the customer's address, and why or why
 *     not.
 */
export interface DomainJoin {
  /** Whether the customer is a member of the organization now. */
  joined: boolean;
  /** Id of the organization. */
  organizationId: string | null;
  /** Domain name. */
  domain: string | null;
  /** Why the customer did not join; null if joined. */
  reason: "ALREADY_MEMBER" | "AUTO_JOIN_DISABLED" | "CUSTOMER_BANNED" | "EMAIL_NOT_VERIFIED" | "JOINED" | "MEMBER_REMOVED" | "NO_MATCHING_DOMAIN" | "ORGANIZATION_SUSPENDED" | "PUBLIC_DOMAIN" | (string & {});
}

/** The customer to add to the organization that has verified the domain of the customer's address. */
export interface DomainJoinRequest {
  /** Id of the customer. */
  customerId: string;
}

/** Data of `domain.blocklisted` and `domain.delisted`. */
export interface DomainListedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the domain. */
  domain: string;
  /** Name of the blocklist. */
  listName: string;
  /** The domain or IP address that is or was on the blocklist. */
  subjectValue: string;
  /** The addresses with which the blocklist replied, such as `127.0.0.2`. */
  codes: string[];
}

/** Data of events about the bounce rate and complaint rate of a sending domain. */
export interface DomainReputationData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the domain. */
  domain: string;
  /** A sentence that names the rate that is or was above a threshold, with its numbers. */
  reason: string | null;
  /** Number of messages from which the rates are calculated. */
  messages: number;
  /** How many of these messages had a hard bounce. */
  bounced: number;
  /** How many of these messages a recipient reported as spam. */
  complained: number;
  /** Share of the messages with a hard bounce, from 0 to 1. */
  bounceRate: number;
  /** Share of the messages that were reported as spam, from 0 to 1. */
  complaintRate: number;
  /** The bounce rate from which marketing mail is held, from 0 to 1. */
  bounceLimit: number;
  /** The complaint rate from which marketing mail is held, from 0 to 1. */
  complaintLimit: number;
}

/** Data of `domain.warm_up_started` and `domain.warm_up_ended`. */
export interface DomainWarmUpData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Name of the domain. */
  domain: string;
  /** ACTIVE, COMPLETED, or CANCELLED if the plan was deleted. */
  status: string;
  /** Maximum number of messages on the current day. */
  ceiling: number;
  /** Maximum number of messages on the last day of the plan. */
  lastCeiling: number;
}

/** What an automation would do with a contact. */
export interface DryRun {
  /** Why no run would start now; empty if one would. `steps` shows what a run would do if it started nevertheless. */
  reasons: DryRunReason[];
  /** Each condition of the trigger's `where` rules. */
  conditions: DryRunCondition[];
  /** The status in which the run would end. */
  status: "CANCELLED" | "COMPLETED" | "EXITED" | "FAILED" | "RUNNING" | "WAITING" | (string & {});
  /** Why it failed; null if it did not fail. */
  error: string | null;
  /** The steps, in order. */
  steps: DryRunStep[];
}

/** A condition of the rules of a step or trigger, and whether it holds. */
export interface DryRunCondition {
  /** JSON pointer to the condition below the rules: `/conditions/0`. */
  path: string;
  /** Whether the condition is true for the contact. */
  holds: boolean;
  /**
   * The value of the contact or of the event's data that is compared. Null if there is none, and for conditions on
   * audiences and events.
   */
  value: unknown;
}

/** The mail that a step would send, rendered. */
export interface DryRunMail {
  /** `From` header. */
  sender: string;
  /** Recipients. */
  to: string;
  /** Address for replies (`Reply-To` header). */
  replyTo: string | null;
  /** Subject line. */
  subject: string | null;
  /** HTML body. */
  html: string | null;
  /** Plain text body. */
  text: string | null;
  /** Why the mail is shown without subject and content; null if it was rendered. */
  problem: string | null;
}

/** Why the event would not start a run. */
export interface DryRunReason {
  /** Machine-readable code of the reason. */
  code: "already_run" | "run_limited" | "unfinished_run" | "where_not_matched" | (string & {});
  /** Description of the error. */
  message: string;
}

/** The contact to try an automation with, and what to assume. */
export interface DryRunRequest {
  /** Id of the contact; null if there is none. */
  contactId: string;
  /** Data of the event that would start the run. */
  eventData?: { [key: string]: unknown } | undefined;
  /**
   * Indices of the WAIT_FOR_EVENT steps whose event is assumed to occur at once; the others time out. Steps are
   * numbered as in `currentStep` of a run.
   */
  happened?: number[] | undefined;
  /** A trigger to try instead of that of the automation. */
  trigger?: Trigger | null | undefined;
  /** Steps to try instead of those of the automation. */
  steps?: (SendEmail | Delay | Condition | WaitForEvent | UpdateContact | AddToAudience | RemoveFromAudience | CallWebhook | Exit)[] | null | undefined;
}

/** A step that would be executed. */
export interface DryRunStep {
  /** Index of the step, numbered as in `currentStep` of a run. */
  step: number;
  /** JSON pointer to the step: `/steps/1/then/0`. */
  path: string;
  /** Type of the record. */
  type: string;
  /** Outcome of the attempt. */
  outcome: "DONE" | "FAILED" | "FALSE" | "HAPPENED" | "SKIPPED" | "TIMED_OUT" | "TRUE" | (string & {});
  /** Further details, as text. */
  detail: { [key: string]: unknown };
  /** When the step would begin. */
  startsAt: string;
  /** When the run would continue with the next step; the same as `startsAt` for steps that do not wait. */
  endsAt: string;
  /** For CONDITION steps: each condition of the rules. Empty beyond 200 conditions in one dry run. */
  conditions: DryRunCondition[];
  /** The mail that a SEND_EMAIL step would send; null if the step would send none, and for other steps. */
  mail: DryRunMail | null;
}

/** A duration: the sum of its fields. */
export interface Duration {
  /** Minutes. */
  minutes?: number | null | undefined;
  /** Hours. */
  hours?: number | null | undefined;
  /** Days. */
  days?: number | null | undefined;
}

/** An e-mail to send. */
export interface Email {
  /** Recipients. */
  to: string[];
  /** Sender: `ada@example.com` or `Ada <ada@example.com>`. */
  from: string;
  /** Subject line. */
  subject?: string | null | undefined;
  /** HTML body. */
  html?: string | null | undefined;
  /** Plain text body. */
  text?: string | null | undefined;
  /** Id of the template that provides subject, html and text. */
  templateId?: string | null | undefined;
  /**
   * `minijinja` renders tags such as `{{name}}`. `none` sends subject, html and text unchanged, including `{{`, `{%`
   * and `{#`, and ignores `variables`. Null: the template's engine, or `minijinja` without a template.
   */
  engine?: "minijinja" | "none" | (string & {}) | null | undefined;
  /** Values of template variables such as `{{name}}`; of a template, the names of its variables. */
  variables?: { [key: string]: unknown } | undefined;
  /** Recipients of a copy (Cc). */
  cc?: string[] | null | undefined;
  /** Recipients of a blind copy (Bcc). */
  bcc?: string[] | null | undefined;
  /** Address for replies (`Reply-To` header). */
  replyTo?: string | string[] | null | undefined;
  /** Message headers, by name. */
  headers?: { [key: string]: string } | null | undefined;
  /** Attached files, at most 20. */
  attachments?: EmailAttachment[] | null | undefined;
  /** Tags by which messages can be filtered, at most 75. */
  tags?: string[] | null | undefined;
  /** At most 30 days in the future; a time in the past means now. */
  scheduledAt?: string | null | undefined;
  /** Whether opens are tracked; null uses the project's setting. */
  trackOpens?: boolean | null | undefined;
  /** Whether clicks are tracked; null uses the project's setting. */
  trackClicks?: boolean | null | undefined;
  /** The message is not sent after this time; useful for one-time codes. */
  expiresAt?: string | null | undefined;
  /**
   * Adds `List-Unsubscribe` with one-click unsubscribing (RFC 8058). Several recipients each get a separate message
   * with their own unsubscribe link. Default: `false`.
   */
  unsubscribable?: boolean | undefined;
  /**
   * Whether the message is sent only over TLS, and only to servers with a valid certificate that offer REQUIRETLS (RFC
   * 8689). To any other server it bounces: with 5.7.10 if TLS or a valid certificate is missing, with 5.7.30 if
   * REQUIRETLS is not offered. Null: the setting of the project.
   */
  requireTls?: boolean | null | undefined;
}

/** An attached file. */
export interface EmailAttachment {
  /** File name. */
  filename: string;
  /** The file in base64; line breaks are allowed. */
  content: string;
  /** Defaults to the media type of the file name's extension, or `application/octet-stream`. */
  contentType?: string | null | undefined;
  /** Makes the file inline, so that html can refer to it as `cid:…`. */
  contentId?: string | null | undefined;
}

/** Several independent e-mails. */
export interface EmailBatch {
  /** The e-mails. Each is validated separately, so an invalid one does not affect the others. */
  emails: Email[];
}

/** The result of one e-mail of a batch. `error` is the reason if it was not accepted. */
export interface EmailBatchItem {
  /** Unique identifier. Treat it as an opaque string. */
  id: string | null;
  /** `Message-ID` header of the message, the same for all attempts. */
  messageId: string | null;
  /** Status of the record. */
  status: "BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {});
  /** Why it failed; null if it did not fail. */
  error: string | null;
  /** The message to each recipient if an `unsubscribable` e-mail has several. */
  messages: RecipientMessage[];
}

/** The results, in the order of the request. */
export interface EmailBatchResult {
  /** The results, in the order of the request. */
  data: EmailBatchItem[];
}

/** Data of `email.bounced`. */
export interface EmailBouncedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /**
   * Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of a
   * mail service such as `ses`. Absent if the result is the reply of a mail server.
   */
  source?: string | null | undefined;
  /** The address that refused the e-mail. */
  recipient: string;
  /**
   * Cause of the refusal: `hard` (the recipient can never be reached), `soft` (not at present), `block` (bad reputation
   * of the sender) or `policy` (the message violates a rule of the server).
   */
  type: string;
  /** SMTP reply code (RFC 5321); null if unknown. */
  code: number | null;
  /** Enhanced status code (RFC 3463), such as `5.1.1`; null if unknown. */
  enhancedCode: string | null;
  /** Text of the receiving server's reply. */
  text: string;
}

/** Data of `email.clicked`. */
export interface EmailClickedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /** `human`, `machine`, or `proxy`: the image proxy of a mail provider, when a person opened the e-mail. */
  verdict: string;
  /** Why the verdict is `machine` or `proxy`, such as `too_soon`; null for `human`. */
  reason: string | null;
  /** Whether this is the first open (or click) of the e-mail. */
  first: boolean;
  /** Whether this is the first open (or click) of the e-mail by a person: `human` or `proxy`. */
  firstByPerson: boolean;
  /** IP address of the client. */
  ipAddress: string;
  /** User agent of the client. */
  userAgent: string;
  /** URL of the link. */
  link: string;
}

/** Data of `email.complained`. */
export interface EmailComplainedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /**
   * Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of a
   * mail service such as `ses`. Absent if the result is the reply of a mail server.
   */
  source?: string | null | undefined;
  /**
   * The recipient who complained; null if the report does not name one. Absent for the test address
   * `complained@postern.test`.
   */
  recipient?: string | null | undefined;
  /** The type of the complaint (RFC 5965), such as `abuse`. */
  feedbackType?: string | null | undefined;
}

/** Data of `email.delayed`. */
export interface EmailDelayedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /**
   * Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of a
   * mail service such as `ses`. Absent if the result is the reply of a mail server.
   */
  source?: string | null | undefined;
  /** Why the last attempt did not succeed. */
  reason: string;
  /** When Postern makes the next attempt (UTC); null if a mail server that has accepted the e-mail keeps trying. */
  nextAttemptAt: string | null;
}

/** Data of events about an e-mail. `id` is the id of the e-mail. */
export interface EmailEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
}

/** Data of `email.opened` and `email.clicked`. */
export interface EmailHitData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /** `human`, `machine`, or `proxy`: the image proxy of a mail provider, when a person opened the e-mail. */
  verdict: string;
  /** Why the verdict is `machine` or `proxy`, such as `too_soon`; null for `human`. */
  reason: string | null;
  /** Whether this is the first open (or click) of the e-mail. */
  first: boolean;
  /** Whether this is the first open (or click) of the e-mail by a person: `human` or `proxy`. */
  firstByPerson: boolean;
  /** IP address of the client. */
  ipAddress: string;
  /** User agent of the client. */
  userAgent: string;
}

/** A send in the e-mail log. */
export interface EmailLogEntry {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Status of the record. */
  status: "BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {});
  /** `Message-ID` header of the message, the same for all attempts. */
  messageId: string;
  /** Subject line. */
  subject: string;
  /** Sender: `ada@example.com` or `Ada <ada@example.com>`. */
  from: string;
  /** Recipients. */
  to: string[];
  /** Recipients of a copy (Cc). */
  cc: string[];
  /** Recipients of a blind copy (Bcc). */
  bcc: string[];
  /** The contact of the first recipient. */
  contact: ContactRef;
  /** The status for each recipient in `to`, `cc` and `bcc`, each address once. */
  recipients: RecipientOutcome[];
  /** Id of the campaign; null if there is none. */
  campaignId: string | null;
  /** Tags by which messages can be filtered, at most 75. */
  tags: string[];
  /** Why it failed, bounced, was deferred or was suppressed. */
  reason: string | null;
  /** Attempts that ended before the server's reply, so that it is unknown whether the message arrived (RFC 1047). */
  ambiguousAttempts: number;
  /** Whether a TEST key sent it; then it is not delivered, but captured for the inbox view. */
  test: boolean;
  /** When to send it (UTC); null for immediately. */
  scheduledAt: string | null;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string | null;
  /** When it was sent (UTC); null if it was not sent. */
  sentAt: string | null;
  /** When it was delivered (UTC); null if it was not delivered. */
  deliveredAt: string | null;
  /** When it was first opened, by a person or a machine (UTC); null if it was not opened. */
  openedAt: string | null;
  /** When a link was first clicked, by a person or a machine (UTC); null if none was clicked. */
  clickedAt: string | null;
  /** When it bounced (UTC); null if it did not bounce. */
  bouncedAt: string | null;
  /** When the recipient reported it as spam (UTC); null if it was not reported. */
  complainedAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** A send with its events. */
export interface EmailLogEntryDetail {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Status of the record. */
  status: "BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {});
  /** `Message-ID` header of the message, the same for all attempts. */
  messageId: string;
  /** Subject line. */
  subject: string;
  /** Sender: `ada@example.com` or `Ada <ada@example.com>`. */
  from: string;
  /** Recipients. */
  to: string[];
  /** Recipients of a copy (Cc). */
  cc: string[];
  /** Recipients of a blind copy (Bcc). */
  bcc: string[];
  /** The contact of the first recipient. */
  contact: ContactRef;
  /** The status for each recipient in `to`, `cc` and `bcc`, each address once. */
  recipients: RecipientOutcome[];
  /** Id of the campaign; null if there is none. */
  campaignId: string | null;
  /** Tags by which messages can be filtered, at most 75. */
  tags: string[];
  /** Why it failed, bounced, was deferred or was suppressed. */
  reason: string | null;
  /** Attempts that ended before the server's reply, so that it is unknown whether the message arrived (RFC 1047). */
  ambiguousAttempts: number;
  /** Whether a TEST key sent it; then it is not delivered, but captured for the inbox view. */
  test: boolean;
  /** When to send it (UTC); null for immediately. */
  scheduledAt: string | null;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string | null;
  /** When it was sent (UTC); null if it was not sent. */
  sentAt: string | null;
  /** When it was delivered (UTC); null if it was not delivered. */
  deliveredAt: string | null;
  /** When it was first opened, by a person or a machine (UTC); null if it was not opened. */
  openedAt: string | null;
  /** When a link was first clicked, by a person or a machine (UTC); null if none was clicked. */
  clickedAt: string | null;
  /** When it bounced (UTC); null if it did not bounce. */
  bouncedAt: string | null;
  /** When the recipient reported it as spam (UTC); null if it was not reported. */
  complainedAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** The events of the send, oldest first. */
  webhookEvents: SendEvent[];
  /** The template engine of its subject, html and text; null if they are no longer stored. */
  engine: "minijinja" | "none" | (string & {}) | null;
  /** What it waits for, and until when; null if it does not wait. */
  waiting: EmailWaiting | null;
  /**
   * Whether it is sent only over TLS (`requireTls` of the e-mail or of the project); null if its content is no longer
   * stored.
   */
  requireTls: boolean | null;
}

/** A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page. */
export interface EmailLogEntryPage {
  /** The records of this page. */
  data: EmailLogEntry[];
  /** Total number of records. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** Number of pages. */
  pages: number;
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** An address. */
export interface EmailOnly {
  /** E-mail address. */
  email: string;
}

/** Data of `email.queued`. */
export interface EmailQueuedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /** True if a failed e-mail was queued again. Absent otherwise. Default: `false`. */
  retry?: boolean | undefined;
}

/** Data of `email.failed`, `email.suppressed`, `email.expired` and `email.cancelled`. */
export interface EmailReasonData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /** Why the e-mail was not sent. */
  reason?: string | null | undefined;
  /** The recipient to whom it was not sent. Absent if the event is not about a single recipient. */
  recipient?: string | null | undefined;
}

/**
 * Data of events that record the result of a delivery. The result is the reply of a mail server during an attempt,
 *     or comes later in a report.
 */
export interface EmailReportData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /**
   * Kind of the report: `dsn` (RFC 3464), `bounce` (a bounce in another format), `arf` (RFC 5965), or the name of a
   * mail service such as `ses`. Absent if the result is the reply of a mail server.
   */
  source?: string | null | undefined;
}

/** The new time of a scheduled send. */
export interface EmailReschedule {
  /** When to send it (UTC); null for immediately. */
  scheduledAt: string;
}

/** Data of `email.scheduled`. */
export interface EmailScheduledData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /** The new time (UTC). Absent unless the e-mail was rescheduled. */
  scheduledAt?: string | null | undefined;
}

/** Data of `email.unsubscribed`. */
export interface EmailUnsubscribedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The contact that the event is about; null if it is about no contact. */
  contact: EventContact | null;
  /** Id of the e-mail. */
  emailId: string;
  /** The `Message-ID` header (RFC 5322). */
  messageId: string;
  /** The sender, as in the message. */
  from: string;
  /** The recipients in `To`. */
  to: string[];
  /** The subject; null if it is the e-mail of a campaign and was never composed. */
  subject: string | null;
  /** Tags of the e-mail. */
  tags: string[];
  /** Id of the contact to whom the e-mail is sent; null if the recipient is no contact. */
  contactId: string | null;
  /** Id of the campaign; null if the e-mail belongs to none. */
  campaignId: string | null;
  /** Id of the variant of the A/B test; null if the e-mail belongs to none. */
  variantId: string | null;
  /** Id of the sending domain; null if the sender's address is not at a sending domain of the project. */
  domainId: string | null;
  /** Whether the e-mail was sent with a TEST key. Such an e-mail is captured and not delivered. */
  test: boolean;
  /** The address that was unsubscribed. */
  recipient: string;
}

/** What an e-mail waits for. */
export interface EmailWaiting {
  /**
   * SCHEDULE: its scheduled time has not come. QUEUE: a worker will take it, or is sending it. CAMPAIGN_PAUSED: its
   * campaign is paused. WARM_UP: its domain, or the IP addresses of the server, may send no more marketing mail today.
   * REPUTATION: the bounce or complaint rate of its domain is too high. SITE_SUSPENDED: its site (the group of mail
   * servers to which it goes, see the list of delivery sites) is suspended. SITE_SLOWED: its site has asked for less
   * mail. SITE_UNREACHABLE: its site could not be reached several times in a row. CAPACITY: earlier messages are sent
   * first. TLS: encryption that the recipient's domain or the relay's settings require has failed. DEFERRED: a mail
   * server asked to try again later, or could not be reached. SETUP: Postern has no transport for it, or is overloaded.
   */
  cause: "CAMPAIGN_PAUSED" | "CAPACITY" | "DEFERRED" | "QUEUE" | "REPUTATION" | "SCHEDULE" | "SETUP" | "SITE_SLOWED" | "SITE_SUSPENDED" | "SITE_UNREACHABLE" | "TLS" | "WARM_UP" | (string & {});
  /** When it will be tried; null if that is not known, for example if a suspension has no end. */
  until: string | null;
  /** The name of the site for which it waits, as in the list of delivery sites; null if it waits for none. */
  site: string | null;
}

/**
 * A customer as the operations under `/apps/{appId}/end-users` return it. These are additional paths of operations
 *     on customers, in which a project is called an app.
 */
export interface EndUser {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  email: string | null;
  /** When the e-mail address was verified (UTC); null if it is not verified. */
  emailVerifiedAt: string | null;
  /** Custom data, up to 16 KiB of JSON. */
  metadata: { [key: string]: unknown };
  /** Keys of the roles. */
  roles: string[];
  /** When the last sign-in was (UTC); null if there was none. */
  lastSignInAt: string | null;
  /** When the customer was banned (UTC); null if not banned. */
  bannedAt: string | null;
  /** When the second factor was set up (UTC); null if there is none. */
  mfaEnabledAt: string | null;
  /** Number of failed sign-ins since the last successful one. */
  failedSignInAttempts: number;
  /** Until when sign-in is locked after failed attempts (UTC); null if it is not locked. */
  signInLockedUntil: string | null;
  /** The customer's sign-in identities, such as a password or an identity provider. */
  identities: CustomerIdentity[];
  /** Open sessions. */
  sessions: CustomerSession[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
}

/** A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page. */
export interface EndUserPage {
  /** The records of this page. */
  data: EndUser[];
  /** Total number of records. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** Number of pages. */
  pages: number;
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** The tokens of the session, and the recovery codes, which are shown only once. */
export interface EnrolledSignIn {
  /** Id of the session; null if no session was started. */
  sessionId: string | null;
  /** Short-lived bearer token for requests. */
  accessToken: string | null;
  /** When the access token expires (UTC). */
  accessTokenExpiresAt: string | null;
  /** Single-use token to get the next access token. */
  refreshToken: string | null;
  /** When the refresh token expires (UTC). */
  refreshTokenExpiresAt: string | null;
  /** The active organization, which the access token describes; null without one. */
  organizationId: string | null;
  /** The customer. */
  customer: CurrentCustomer | null;
  /** Whether a second factor is required to finish the sign-in. Default: `false`. */
  mfaRequired: boolean;
  /** Whether the customer must set up a second factor first; see `mfa/enroll`. Default: `false`. */
  mfaEnrollmentRequired: boolean;
  /** Token that proves the first factor. Send it with the second factor. */
  mfaToken: string | null;
  /** Second factors that can be used or set up: `TOTP`, `RECOVERY_CODE`. */
  mfaMethods: string[] | null;
  /**
   * With `rememberDevice` at `mfa/verify`: store it on the device and send it with later sign-ins, which then need no
   * second factor. Null if devices are not remembered here.
   */
  rememberedDeviceToken: string | null;
  /** When the second factor is asked for on this device again at the latest. */
  rememberedDeviceExpiresAt: string | null;
  /** Whether the customer must accept the terms to finish the sign-in. Default: `false`. */
  termsRequired: boolean;
  /** Token of the sign-in that waits for the terms. Send it with the version that was accepted. */
  termsToken: string | null;
  /** The terms that the customer must accept before the sign-in is complete; null if there are none. */
  terms: RequiredTerms | null;
  /** Each can be used once instead of a code of the authenticator app. */
  recoveryCodes: string[];
}

/** The `mfaToken` that the sign-in returned, and the code that the app shows. */
export interface EnrollmentProof {
  /** Token that proves the first factor. Send it with the second factor. */
  mfaToken: string;
  /** Six digits, such as `123456`. */
  code: string;
}

/** The `mfaToken` that the sign-in returned. */
export interface EnrollmentToken {
  /** Token that proves the first factor. Send it with the second factor. */
  mfaToken: string;
}

/** Whether and up to which limit an organization can use a feature, and why. */
export interface Entitlement {
  /** Key of the feature. */
  featureKey: string;
  /** Null for a feature that is not declared. */
  type: "BOOLEAN" | "LIMIT" | (string & {}) | null;
  /** Whether it is enabled. */
  enabled: boolean;
  /** Null is unlimited. Always null for a BOOLEAN feature. */
  limit: number | null;
  /**
   * What decided: an override of the organization, its plan, the default of the feature, or NONE if the project has not
   * declared the feature.
   */
  source: "DEFAULT" | "NONE" | "OVERRIDE" | "PLAN" | (string & {});
  /** Key of the plan, if the source is PLAN. */
  planKey: string | null;
  /** The reason of the override, or that the organization is suspended; otherwise null. */
  reason: string | null;
  /** When the override ends, if the source is OVERRIDE. */
  expiresAt: string | null;
  /** Id of the organization. */
  organizationId: string | null;
}

/** Data of `entitlement.changed`. `id` is the id of the organization, the plan or the feature that was changed. */
export interface EntitlementChangedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Key of the feature, if a feature or an organization's entitlement to it was changed. */
  featureKey?: string | null | undefined;
  /** Key of the plan, if a plan was changed or assigned to an organization. */
  planKey?: string | null | undefined;
  /** Whether the organization has the feature now. Absent if a plan or a feature was changed. */
  enabled?: boolean | null | undefined;
  /** The organization's limit for the feature now; null means unlimited. */
  limit?: number | null | undefined;
  /** Where the entitlement comes from now: `OVERRIDE`, `PLAN`, `DEFAULT` or `NONE`. */
  source?: string | null | undefined;
}

/** A check whether an organization can use a feature. */
export interface EntitlementCheck {
  /** Key of the feature. */
  featureKey: string;
  /**
   * May be omitted: with the token of a customer who belongs to one organization, it is that organization; otherwise
   * the default of the feature applies. Required with the token of a customer who belongs to several organizations.
   */
  organizationId?: string | null | undefined;
}

/** Data of `entitlement.expired`. `id` is the id of the organization. */
export interface EntitlementExpiredData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Key of the feature whose override expired. */
  featureKey: string;
}

/** An exception for one organization and feature, which takes precedence over the plan. */
export interface EntitlementOverride {
  /** Whether it is enabled. Default: `true`. */
  enabled?: boolean | undefined;
  /** Null is unlimited. */
  limit?: number | null | undefined;
  /** Reason, as text. */
  reason?: string | null | undefined;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt?: string | null | undefined;
}

/** Something that happened in a project. */
export interface Event {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** A name in `EVENT_NAMES`, or the name of a custom event. */
  type: string;
  /** Id of the record that the event is about: a send, a contact, a customer, a campaign …; null if there is none. */
  subjectId: string | null;
  /** Kind of actor: `DEVELOPER`, `API_KEY`, `TEST_KEY`, `CUSTOMER` or `SYSTEM`. */
  actorType: string;
  /** Id of the actor; null for the service itself. */
  actorId: string | null;
  /** Display name of the actor. */
  actorLabel: string | null;
  /** Data of the event. */
  data: { [key: string]: unknown };
  /** When it happened (UTC). */
  occurredAt: string;
  /** Id of the project. */
  projectId: string;
  /** The contact that the event concerns, or null. */
  contact: EventContact | null;
}

/** The contact that an event concerns. */
export interface EventContact {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The address of the contact; null if the contact has been deleted. */
  email: string | null;
}

/** A part of a feed; `nextCursor` is null at the end. */
export interface EventFeed {
  /** The records of this page. */
  data: Event[];
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** End the run here. */
export interface Exit {
  /** Type of the record. */
  type: "EXIT";
}

/** Something that happened to the account. */
export interface ExportedEvent {
  /** Type of the record. */
  type: string;
  /** When it happened (UTC). */
  occurredAt: string;
  /** Details, if the customer did it. */
  data: { [key: string]: unknown };
}

/** A feature that organizations can use: on or off, or up to a limit. */
export interface Feature {
  /** Key that identifies it in requests, or the API key. */
  key: string;
  /** Display name. */
  name: string;
  /** Type of the record. */
  type: "BOOLEAN" | "LIMIT" | (string & {});
  /** Whether organizations without a plan have the feature. */
  defaultEnabled: boolean;
  /** The limit where neither a plan nor an override sets the feature; null is unlimited. */
  defaultLimit: number | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Fields to change; key and type cannot change. */
export interface FeatureChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Whether organizations without a plan have the feature. */
  defaultEnabled?: boolean | undefined;
  /** Limit for organizations without a plan; null for unlimited. */
  defaultLimit?: number | null | undefined;
}

/** One rule that a message or a DNS record does not follow, with what to do about it. */
export interface Finding {
  /** The stable name of the rule; see the guide. */
  code: string;
  /** ERROR, WARNING or ADVICE; see the guide. */
  severity: "ADVICE" | "ERROR" | "WARNING" | (string & {});
  /** What it concerns: a JSON pointer into the request, or the name of a DNS record. */
  path: string;
  /** What is wrong, and why it matters. */
  message: string;
  /** What to do. */
  fix: string;
  /** How often the rule is not followed. Default: `1`. */
  count: number;
  /** The first such places or values, shortened. */
  snippets: string[];
}

/** The address of the developer account. */
export interface ForgotPassword {
  /** E-mail address. */
  email: string;
}

/** A weaker reason for which an address was suppressed before. */
export interface FormerReason {
  /** Reason, as text. */
  reason: "BOUNCE" | "COMPLAINT" | "MANUAL" | "UNSUBSCRIBE" | (string & {});
  /** Source of the record. */
  source: string;
  /** Further details, as text. */
  detail: string | null;
  /** Id of the send; null if there is none. */
  sendId: string | null;
  /** Since when the address was suppressed for this reason (UTC). */
  since: string;
}

/** A decoded header field. */
export interface HeaderField {
  /** Name of the header. */
  name: string;
  /** Value of the header. */
  value: string;
}

/** Data of `hook.failed`. `id` is the id of the sign-in hook. */
export interface HookFailedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The kind of the hook: `BEFORE_SIGN_UP`, `BEFORE_TOKEN` or `MIGRATION`. */
  kind: string;
  /** Why the last call failed. */
  reason: string;
}

/** A call of a hook without a valid answer. */
export interface HookFailure {
  /** Reason, as text. */
  reason: string;
  /** The HTTP status; null if there was no response. */
  status: number | null;
  /** In milliseconds; null if no request was made. */
  responseTime: number | null;
  /** When the message got this status for this recipient; null before the first attempt. */
  at: string;
}

/** Data of `hook.recovered`. `id` is the id of the sign-in hook. */
export interface HookRecoveredData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The kind of the hook: `BEFORE_SIGN_UP`, `BEFORE_TOKEN` or `MIGRATION`. */
  kind: string;
}

/** How to rotate a secret. */
export interface HookSecretRotation {
  /** How long the old secret signs in addition to the new one, in seconds; 0 to 604,800 (7 days). Default: `86400`. */
  gracePeriodSeconds?: number | undefined;
}

/** The code that the app received, and the code verifier that it kept. */
export interface IdentityLinkCompletion {
  /** Authorization code from the redirect. */
  code: string;
  /** A code verifier (RFC 7636 §4.1): 43 to 128 letters, digits, `-`, `.`, `_` and `~`. */
  codeVerifier: string;
}

/** Where the browser returns to. `codeChallenge` is the S256 code challenge of a verifier that the app keeps. */
export interface IdentityLinkRequest {
  /** URL to which the browser is redirected afterwards; one of the project's `redirectUrls`. */
  redirectUrl: string;
  /** An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url. */
  codeChallenge: string;
  /** Value that is returned unchanged with the response. */
  state?: string | undefined;
}

/** Where to send the customer's browser. */
export interface IdentityLinkStart {
  /** The URL. */
  url: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
}

/** A request to link an account at a provider to a customer, which an administrator approves or rejects. */
export interface IdentityRequest {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the customer. */
  customerId: string;
  /** Key of the sign-in provider, such as `GOOGLE`, or name of the payment provider. */
  provider: string;
  /** The single sign-on connection of the account; null for a sign-in provider of the project. */
  connectionId: string | null;
  /** Issuer of an OpenID Connect provider. */
  issuer: string;
  /** The identity provider's id of the account. */
  subject: string;
  /** E-mail address. */
  email: string | null;
  /** Display name. */
  name: string | null;
  /** Status of the record. */
  status: "APPROVED" | "PENDING" | "REJECTED" | (string & {});
  /** When the record was created (UTC). */
  createdAt: string;
  /** When it was approved or rejected (UTC); null while it is pending. */
  decidedAt: string | null;
}

/** Details of a pinned certificate of the identity provider. */
export interface IdpCertificate {
  /** Subject of the certificate. */
  subject: string;
  /** SHA-256, lower-case hexadecimal. */
  fingerprint: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
  /** Whether it has expired. */
  expired: boolean;
}

/** A secondary address, which can be used to sign in. */
export interface ImportedEmail {
  /** E-mail address. */
  email: string;
  /** Number of customers with a verified e-mail address. Default: `false`. */
  verified?: boolean | undefined;
}

/** An account at a sign-in provider. */
export interface ImportedIdentity {
  /** The key of the provider, such as `GOOGLE`. */
  provider: string;
  /** The id of the account at the provider: the claim `sub` of its ID tokens; at GitHub the numeric id. */
  subject: string;
  /** Default: the issuer of the provider. Microsoft needs that of the account's tenant. */
  issuer?: string | null | undefined;
}

/** A membership of an organization, which is created if there is none with this external id. */
export interface ImportedMembership {
  /** The id of the organization in the other system. */
  externalId: string;
  /** The name of a new organization. Default: the external id. */
  name?: string | null | undefined;
  /** Keys of roles with the scope ORGANIZATION. */
  roles?: string[] | undefined;
}

/**
 * A passkey that was registered with another system for the same relying party id. Binary values are in base64url
 *     or base64.
 */
export interface ImportedPasskey {
  /** The relying party id with which the passkey was created. A passkey only works with this one. */
  rpId: string;
  /** The id that the authenticator gave to the credential. */
  credentialId: string;
  /** The public key as COSE_Key (RFC 9052 §7), as an authenticator sends it. */
  publicKey: string;
  /** The signature counter at the last use; 0 if the authenticator does not count. Default: `0`. */
  signCount?: number | undefined;
  /** The user handle that the other system gave to the authenticator; null accepts any. */
  userHandle?: string | null | undefined;
  /** Whether the passkey is synchronised to other devices. Default: `false`. */
  backedUp?: boolean | undefined;
  /** Display name. Default: `"Passkey"`. */
  name?: string | undefined;
}

/** What happened to one row. `UNCHANGED`: there is a customer with this `externalUserId` already. */
export interface ImportedRow {
  /** Index in the request, from 0. */
  index: number;
  /** Id of the person in your own system. */
  externalUserId: string | null;
  /** Outcome of the attempt. */
  outcome: "CREATED" | "FAILED" | "UNCHANGED" | (string & {});
  /** Null if the row failed, or would be created after a dry run. */
  customerId: string | null;
  /** Why the row failed; `path` is a JSON pointer into the row. */
  faults: ProblemError[];
}

/** How a message arrived. */
export interface InboundEnvelope {
  /** The envelope sender (RFC 5321); empty for reports and automatic replies. */
  sender: string;
  /** The IP address of the client; null if it is not known. */
  clientIp: string | null;
  /** The name that the client gave in EHLO; null if it is not known. */
  clientName: string | null;
}

/** A received message. */
export interface InboundMessage {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** `smtp`, or `api` if it was added through the API. */
  source: "api" | "smtp" | (string & {});
  /** The recipients in the envelope that have a route of the project. */
  recipients: InboundRecipient[];
  /** Subject line. */
  subject: string;
  /** The `Message-ID` of the message; null if it has none. */
  messageId: string | null;
  /** Id of the project's e-mail to which the message is a reply; null if it is not a reply to one. */
  emailId: string | null;
  /** Size of the whole message in octets. */
  size: number;
  /**
   * Whether a program and not a person sent the message, for example as a vacation notice. Do not reply to it
   * automatically.
   */
  automatic: boolean;
  /** Facts that are common in unwanted mail. No message is refused because of them. */
  hints: SpamHint[];
  /** When it was received (UTC). */
  receivedAt: string;
  /** The first address in From; null if there is none. */
  from: MailContact | null;
  /** The addresses in To. */
  to: MailContact[];
  /** Number of attachments. `GET …/inbound/{id}` lists them. */
  attachmentCount: number;
  /** The SPF result (RFC 7208), for the domain of the envelope sender. */
  spf: "fail" | "neutral" | "none" | "pass" | "permerror" | "softfail" | "temperror" | (string & {});
  /** `pass` if a DKIM signature is valid, whatever its domain; `none` if there is no signature. */
  dkim: "fail" | "none" | "pass" | "temperror" | (string & {});
  /** The DMARC result: whether the domain in From is authenticated. */
  dmarc: "fail" | "none" | "pass" | "permerror" | "temperror" | (string & {});
  /** When the message will be deleted (UTC), by the present value of the project's setting `inboundRetentionDays`. */
  expiresAt: string;
  /** The header fields in their order. */
  headers: MessageField[];
  /** The addresses in Cc. */
  cc: MailContact[];
  /** The addresses in Reply-To. */
  replyTo: MailContact[];
  /** The time in Date, which the sender chooses (UTC); null if there is none. */
  date: string | null;
  /** The `Message-ID` in In-Reply-To; null if there is none. */
  inReplyTo: string | null;
  /** The message ids in References and In-Reply-To, the latest last; at most 50. */
  references: string[];
  /** The plain text; null if there is none. */
  text: string | null;
  /**
   * The HTML body as it arrived. It can be hostile: never show it in a page of your own origin without sanitizing it.
   */
  html: string | null;
  /** The plain text without the quoted message and the signature, as far as they are recognized. */
  replyText: string;
  /** Attached files. */
  attachments: ReceivedAttachment[];
  /** The results of SPF, DKIM and DMARC in detail. */
  authentication: MessageAuthentication;
  /** The same as the value of a field Authentication-Results (RFC 8601), for programs that read it. */
  authenticationResults: string;
  /** How the message arrived. */
  envelope: InboundEnvelope;
  /** Which parts of the message could not be read, and why. The raw message is complete. */
  notices: string[];
}

/** The result of adding a message. */
export interface InboundReceipt {
  /** Id of the received message. */
  id: string;
  /** Whether nothing was added, because the same message for the same recipients was stored before. */
  duplicate: boolean;
}

/** Data of `inbound.received`. `id` is the id of the received message. */
export interface InboundReceivedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** The `Message-ID` of the message; null if it has none. */
  messageId: string | null;
  /** Id of the project's e-mail to which the message is a reply; null if it is not a reply to one. */
  emailId: string | null;
  /** The first address in `From`; empty if there is none. */
  from: string;
  /** The display name of this address; empty if it has none. */
  fromName: string;
  /** The first 20 addresses in `To`. */
  to: string[];
  /** The envelope recipients (RCPT TO) that match a route of the project, in lower case. */
  recipients: string[];
  /** Ids of the routes that the recipients match. */
  routeIds: string[];
  /**
   * The part between `+` and `@` of the first recipient that has one: `a1` in `help+a1@example.com`. Null if none has
   * one.
   */
  tag: string | null;
  /** The subject. */
  subject: string;
  /** Size of the whole message in octets. */
  size: number;
  /** Number of attachments. `GET …/inbound/{id}` lists them. */
  attachmentCount: number;
  /** Whether a program and not a person sent the message. Do not reply to it automatically. */
  automatic: boolean;
  /** The SPF result. */
  spf: string;
  /** The DKIM result: `pass` if at least one signature is valid, whatever its domain. */
  dkim: string;
  /** The DMARC result: whether the domain in `From` is authenticated. */
  dmarc: string;
  /** Codes of properties of the message that are typical of unwanted mail. */
  hints: string[];
  /** The plain text without the quoted message and the signature; null if the bodies are too large for an event. */
  replyText: string | null;
  /** The plain-text body; null if there is none, or if the bodies are too large for an event. */
  text: string | null;
  /** The HTML body as it arrived; null if there is none, or if the bodies are too large for an event. */
  html: string | null;
}

/** A recipient of a received message. */
export interface InboundRecipient {
  /** The address in the envelope (RFC 5321). */
  address: string;
  /** Id of the route of the address. */
  routeId: string;
  /** The part of the local part after `+`; null if there is none. */
  tag: string | null;
}

/** An address, or all addresses of a domain, for which the project receives mail. */
export interface InboundRoute {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /**
   * The address, or `*@` and the domain for every address of it that has no route of its own. Mail to an address with a
   * tag, such as `support+42@…`, goes to the route of the address without the tag, unless there is one with the tag.
   */
  address: string;
  /**
   * Whether mail is received. Mail to the address of an inactive route is refused, even if the domain has an active
   * route.
   */
  active: boolean;
  /** Id of the verified sending domain to which the address belongs. */
  domainId: string;
  /** MX record to publish for the domain of the address. */
  record: MxRecord;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Fields to change; omitted fields keep their values. */
export interface InboundRouteChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Whether the record is active. */
  active?: boolean | undefined;
}

/** A received message without its content. */
export interface InboundSummary {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** `smtp`, or `api` if it was added through the API. */
  source: "api" | "smtp" | (string & {});
  /** The recipients in the envelope that have a route of the project. */
  recipients: InboundRecipient[];
  /** Subject line. */
  subject: string;
  /** The `Message-ID` of the message; null if it has none. */
  messageId: string | null;
  /** Id of the project's e-mail to which the message is a reply; null if it is not a reply to one. */
  emailId: string | null;
  /** Size of the whole message in octets. */
  size: number;
  /**
   * Whether a program and not a person sent the message, for example as a vacation notice. Do not reply to it
   * automatically.
   */
  automatic: boolean;
  /** Facts that are common in unwanted mail. No message is refused because of them. */
  hints: SpamHint[];
  /** When it was received (UTC). */
  receivedAt: string;
  /** The first address in From; null if there is none. */
  from: MailContact | null;
  /** The addresses in To. */
  to: MailContact[];
  /** Number of attachments. `GET …/inbound/{id}` lists them. */
  attachmentCount: number;
  /** The SPF result (RFC 7208), for the domain of the envelope sender. */
  spf: "fail" | "neutral" | "none" | "pass" | "permerror" | "softfail" | "temperror" | (string & {});
  /** `pass` if a DKIM signature is valid, whatever its domain; `none` if there is no signature. */
  dkim: "fail" | "none" | "pass" | "temperror" | (string & {});
  /** The DMARC result: whether the domain in From is authenticated. */
  dmarc: "fail" | "none" | "pass" | "permerror" | "temperror" | (string & {});
  /** When the message will be deleted (UTC), by the present value of the project's setting `inboundRetentionDays`. */
  expiresAt: string;
}

/** An attachment; `number` is its number in the URL, from 0. */
export interface InboxAttachment {
  /** Number of the attachment in its URL. */
  number: number;
  /** File name. */
  filename: string;
  /** Media type of the file. */
  contentType: string;
  /** Content-ID by which the HTML refers to the file as `cid:…`; null for a plain attachment. */
  contentId: string | null;
  /** The size of the decoded file in octets. */
  size: number;
}

/** A captured message with its headers, html, text and attachments. */
export interface InboxMessage {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the send; null if there is none. */
  sendId: string;
  /** The envelope sender, to which bounces go. */
  mailFrom: string;
  /** The envelope recipients, including those in bcc. */
  recipients: string[];
  /** The sender in the header field `From`. */
  sender: string;
  /** Subject line. */
  subject: string;
  /** The size of the message in octets. */
  size: number;
  /** When the message was captured (UTC). */
  capturedAt: string;
  /** Message headers. */
  headers: HeaderField[];
  /** HTML body. */
  html: string | null;
  /** Plain text body. */
  text: string | null;
  /** Attached files. */
  attachments: InboxAttachment[];
  /**
   * Whether one-time codes and links are replaced by `[removed]`, because the caller does not have the permission
   * `customers:impersonate`.
   */
  redacted: boolean;
}

/** Data of `invitation.accepted`. `id` is the id of the invitation. */
export interface InvitationAcceptedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the organization. */
  organizationId: string;
  /** Id of the customer who accepted it. */
  customerId: string;
}

/** Data of events about an invitation. `id` is the id of the invitation. */
export interface InvitationEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the organization. */
  organizationId: string;
  /** Role that the invitation gives. */
  role?: string | null | undefined;
}

/** What a visitor with the token of an invitation can see without signing in. */
export interface InvitationPreview {
  /** The organization. */
  organization: OrganizationRef;
  /** E-mail address. */
  email: string;
  /** Role of the person. */
  role: string;
  /** Status of the record. */
  status: "ACCEPTED" | "EXPIRED" | "PENDING" | "REVOKED" | (string & {});
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
}

/** The token from an invitation e-mail. */
export interface InvitationToken {
  /** Token from the link in the mail. */
  token: string;
}

/** A set of public keys (RFC 7517 §5). */
export interface JsonWebKeys {
  /** The keys: EC with P-256, OKP with Ed25519, or RSA with at least 2048 bits. Each of several needs a `kid`. */
  keys: ({ [key: string]: string | boolean | string[] })[];
}

/** The token of the link. */
export interface LinkVerification {
  /** Token from the link in the mail. */
  token: string;
  /** The `rememberedDeviceToken` that `mfa/verify` has returned on this device. */
  rememberedDeviceToken?: string | null | undefined;
}

/** An audience in a list. */
export interface ListedAudience {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Display name. */
  name: string;
  /** Type of the record. */
  type: "DYNAMIC" | "STATIC" | (string & {});
  /** The rules that choose the members; null for a STATIC audience. */
  rules: { [key: string]: unknown } | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The number of contacts in it, counted up to 100,000; null unless `include=counts` is requested. */
  memberCount: number | null;
}

/** An automation in a list. */
export interface ListedAutomation {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Display name. */
  name: string;
  /** Trigger that starts runs. */
  trigger: { [key: string]: unknown };
  /** The steps, in order. */
  steps: ({ [key: string]: unknown })[];
  /** Whether the record is active. */
  active: boolean;
  /** Incremented by each change of the steps; a run keeps the version with which it started. */
  version: number;
  /** Maximum runs that one contact can start within an hour. Further ones are counted as `limited`. */
  maxRunsPerHour: number;
  /** Whether the automation may be active even if it is part of a loop. */
  allowLoops: boolean;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The numbers of its runs; null unless `include=counts` is requested. */
  totals: AutomationRunTotals | null;
  /** Number of its unfinished runs; null unless `include=counts` is requested. */
  unfinished: number | null;
  /** When its latest run started; null without a run, and unless `include=counts` is requested. */
  lastRunAt: string | null;
}

/** A campaign in a list. */
export interface ListedCampaign {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /** Subject line. */
  subject: string | null;
  /** Display name of the sender. */
  fromName: string | null;
  /** E-mail address of the sender. */
  fromEmail: string | null;
  /** Preview text that mail clients show after the subject. */
  previewText: string | null;
  /** Status of the record. */
  status: "CANCELLED" | "DRAFT" | "FAILED" | "PAUSED" | "SCHEDULED" | "SENDING" | "SENT" | "TESTING" | (string & {});
  /** When to send it (UTC); null for immediately. */
  scheduledAt: string | null;
  /** When it was sent (UTC); null if it was not sent. */
  sentAt: string | null;
  /** Id of the template that provides subject, html and text. */
  templateId: string | null;
  /** Id of the sending domain. */
  domainId: string | null;
  /** Id of the audience. */
  audienceId: string | null;
  /** Whether the campaign has an A/B test. */
  abTestEnabled: boolean;
  /** Share of the audience in the A/B test, in percent (5 to 100). */
  abTestSamplePercent: number | null;
  /** Rate that decides the A/B test. */
  abTestMetric: "CLICK_RATE" | "OPEN_RATE" | (string & {}) | null;
  /** Duration of the A/B test in minutes (15 to 10,080). */
  abTestDurationMinutes: number | null;
  /** When the A/B test started (UTC); null if it has not started. */
  abTestStartedAt: string | null;
  /**
   * Contacts in the test, chosen when it begins: `abTestSamplePercent` of the audience, but at least one contact for
   * each variant.
   */
  abTestSampleSize: number | null;
  /** Why the campaign failed; null unless its status is FAILED. */
  reason: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** The statistics of its sends; null unless `include=counts` is requested. */
  stats: CampaignStats | null;
}

/**
 * A part of a mail. `text` is a template: `{{ app }}` is replaced by a value.
 *
 *     The button leads to the link of the mail, and the code shows its one-time code; `text` is the label of the
 * button,
 *     or what stands above the code.
 */
export interface MailBlock {
  /** Type of the record. */
  type: "button" | "code" | "text" | (string & {});
  /** Plain text body. */
  text: string;
}

/** An address in a header field. */
export interface MailContact {
  /** The display name; empty if there is none. */
  name: string;
  /** The address as it is written in the message, which can be invalid. */
  email: string;
}

/** Content that is not stored; null for the text in use. */
export interface MailDraft {
  /** Null: the text was reset to the built-in one. */
  content?: MailTextContent | null | undefined;
}

/** Where the message is shown. `path` is the path on this server to load in an `iframe`. */
export interface MailPreview {
  /** Path on this server to load in an `iframe`. */
  path: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
}

/** The version of a mail to use again. */
export interface MailRestore {
  /** Version number, from 1. Each change increments it. */
  version: number;
}

/** Where to send a test, and its content; null for the text in use. */
export interface MailTest {
  /** Null: the text was reset to the built-in one. */
  content?: MailTextContent | null | undefined;
  /** Recipients. */
  to: string;
}

/** The e-mail of a test. */
export interface MailTestSent {
  /** The id of the e-mail, for `GET …/emails/{id}`. */
  id: string;
}

/** The text of a mail in one language, as customers get it. */
export interface MailText {
  /** The mail that a SEND_EMAIL step would send; null if the step would send none, and for other steps. */
  mail: "CODE" | "EMAIL_CHANGED" | "IDENTITY_CHANGED" | "IMPERSONATED" | "INVITATION" | "LINK" | "MFA_CHANGED" | "NEW_DEVICE" | "PASSWORD_CHANGED" | "RESET" | "SETUP_LINK" | "SIGN_UP" | "SIGN_UP_KNOWN" | "VERIFY" | (string & {});
  /** The language that the customer reads. */
  language: "de" | "en" | "es" | "fr" | "ja" | "pt" | (string & {});
  /** Null: the text was reset to the built-in one. */
  content: MailTextContent;
  /** Whether this is the text that every project has. */
  isBuiltIn: boolean;
  /** The number of the newest version; 0 if the text was never edited. */
  version: number;
  /** Who changed the text last: the e-mail address of a developer or the name of an API key. */
  updatedBy: string | null;
  /** When the text was changed last; if never, when the project was created. */
  updatedAt: string;
}

/** What a mail says, as templates: `{{ app }}` is replaced by a value, `{% if … %}` is possible, too. */
export interface MailTextContent {
  /** Subject line. */
  subject: string;
  /** What lists of mails show beside the subject; "" for the beginning of the mail. */
  preheader?: string | undefined;
  /** Paragraphs, and the button or code of the mail, in their order. */
  blocks: MailBlock[];
  /** What stands below the mail, such as the postal address; "" for nothing. */
  footer?: string | undefined;
}

/** A version of a mail in one language. */
export interface MailTextVersion {
  /** Version number, from 1. Each change increments it. */
  version: number;
  /** Null: the text was reset to the built-in one. */
  content: MailTextContent | null;
  /** Who created the version: the e-mail address of a developer or the name of an API key. */
  createdBy: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** A variable that the texts of a mail can use. */
export interface MailVariable {
  /** Display name. */
  name: string;
  /** Description for people. */
  description: string;
  /** The value in previews and tests. */
  sample: string;
}

/** The results of SPF, DKIM and DMARC of a received message. */
export interface MessageAuthentication {
  /** The SPF result (RFC 7208), for the domain of the envelope sender. */
  spf: SpfResult;
  /** The domain that SPF was checked for: of MAIL FROM, or of EHLO if MAIL FROM is empty. */
  spfDomain: string;
  /** One per signature, from the top of the message. */
  dkim: DkimResult[];
  /** The DMARC result: whether the domain in From is authenticated. */
  dmarc: DmarcResult;
}

/** A header field. */
export interface MessageField {
  /** The name as it is written in the message. */
  name: string;
  /** The value, unfolded, with its encoded words (RFC 2047) decoded. At most 8,192 characters. */
  value: string;
}

/** Metadata keys to set; null removes a key. */
export interface MetadataChange {
  /** Custom data, up to 16 KiB of JSON. */
  metadata: { [key: string]: unknown };
}

/** The MX record to publish so that mail for a domain reaches this server, with the result of the last check. */
export interface MxRecord {
  /** Type of the record. */
  type: "MX" | (string & {});
  /** The domain. */
  name: string;
  /** The name of this server. */
  value: string;
  /** The preference (RFC 5321 §5.1); other numbers work, too. */
  priority: number;
  /** PENDING: there is no MX record; WRONG: there are only others; UNKNOWN: the lookup failed. */
  status: "PENDING" | "UNKNOWN" | "VERIFIED" | "WRONG" | (string & {});
  /** The mail servers that are published for the domain. */
  found: string[];
  /** Why the record is not VERIFIED. */
  reason: string | null;
  /** When it was last checked (UTC). */
  checkedAt: string;
}

/** The roles and permissions of the signed-in customer in the active organization. */
export interface MyOrganizationPermissions {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Keys of the roles. */
  roles: string[];
  /**
   * Keys of all permissions in this organization, sorted: from its roles, and from project roles that apply to all
   * organizations.
   */
  permissions: string[];
}

/** All permissions of the signed-in customer. */
export interface MyPermissions {
  /** Keys of the permissions that the project roles grant, sorted. */
  permissions: string[];
  /** The active organization of the access token; null without one. */
  organization: MyOrganizationPermissions | null;
}

/** A device on which you are not asked for the second factor. */
export interface MyRememberedDevice {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** `User-Agent` header of the request. */
  userAgent: string;
  /** IP address of the client. */
  ipAddress: string;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the second factor is asked for again at the latest. */
  expiresAt: string;
}

/** The address to invite, and the role of the new member. */
export interface NewAccountInvitation {
  /** E-mail address. */
  email: string;
  /** Role of the person. Default: `"DEVELOPER"`. */
  role?: "ADMIN" | "DEVELOPER" | "VIEWER" | (string & {}) | undefined;
}

/** A key to create. */
export interface NewApiKey {
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** Type of the record. Default: `"SECRET"`. */
  type?: "PUBLISHABLE" | "SECRET" | (string & {}) | undefined;
  /** `LIVE` or `TEST`. Mail that is sent with a TEST key is captured and not delivered. Default: `"LIVE"`. */
  environment?: "LIVE" | "TEST" | (string & {}) | undefined;
  /** Permissions, such as `emails:send`. */
  permissions?: string[] | null | undefined;
  /** IP addresses and networks that can use the key; null allows all. */
  ipAllowList?: string[] | null | undefined;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt?: string | null | undefined;
}

/** An audience to create: DYNAMIC with `rules`, otherwise STATIC. */
export interface NewAudience {
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** Rules that choose the members; null for a STATIC audience. */
  rules?: Rules | null | undefined;
}

/** A contact to add. */
export interface NewAudienceMember {
  /** Id of the contact; null if there is none. */
  contactId: string;
}

/** An automation to create. */
export interface NewAutomation {
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** Trigger that starts runs. */
  trigger: Trigger;
  /** The steps, in order. */
  steps: (SendEmail | Delay | Condition | WaitForEvent | UpdateContact | AddToAudience | RemoveFromAudience | CallWebhook | Exit)[];
  /** Whether the record is active. Default: `false`. */
  active?: boolean | undefined;
  /** With `once: false`: maximum runs that one contact can start within an hour. Default: `1`. */
  maxRunsPerHour?: number | undefined;
  /** Whether the automation may be active even if it is part of a loop. Default: `false`. */
  allowLoops?: boolean | undefined;
}

/** A campaign to create. */
export interface NewCampaign {
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** Subject line. */
  subject?: string | null | undefined;
  /** Display name of the sender. */
  fromName?: string | null | undefined;
  /** E-mail address of the sender. */
  fromEmail?: string | null | undefined;
  /** Preview text that mail clients show after the subject. */
  previewText?: string | null | undefined;
  /** Id of the template that provides subject, html and text. */
  templateId?: string | null | undefined;
  /** Id of the sending domain. */
  domainId?: string | null | undefined;
  /** Id of the audience. */
  audienceId?: string | null | undefined;
  /** When to send it (UTC); null for immediately. */
  scheduledAt?: string | null | undefined;
  /** Whether the campaign has an A/B test. Default: `false`. */
  abTestEnabled?: boolean | undefined;
  /** Share of the audience in the A/B test, in percent (5 to 100). */
  abTestSamplePercent?: number | null | undefined;
  /** Rate that decides the A/B test. */
  abTestMetric?: "CLICK_RATE" | "OPEN_RATE" | (string & {}) | null | undefined;
  /** Duration of the A/B test in minutes (15 to 10,080). */
  abTestDurationMinutes?: number | null | undefined;
  /** Variants of the A/B test, 2 to 8. */
  variants?: NewVariant[] | null | undefined;
}

/** A contact to create. */
export interface NewContact {
  /** E-mail address. */
  email: string;
  /** Custom data about the contact, for templates and audience rules. */
  attributes?: { [key: string]: unknown } | undefined;
  /** Whether the contact has unsubscribed from marketing mail. Default: `false`. */
  unsubscribed?: boolean | undefined;
}

/** An attribute to declare. */
export interface NewContactAttribute {
  /** Display name. */
  name: string;
  /** Type by which imports read cells of this attribute: `string`, `number`, `boolean`, `date` or `list`. */
  type: "boolean" | "date" | "list" | "number" | "string" | (string & {});
  /** Description for people. */
  description?: string | undefined;
}

/** A customer to create or import: with a password, with a password hash of another system, or with neither. */
export interface NewCustomer {
  /** E-mail address. */
  email?: string | null | undefined;
  /** Whether the e-mail address is verified. Default: `false`. */
  emailVerified?: boolean | undefined;
  /** Display name. */
  name?: string | null | undefined;
  /** The language that the customer reads. Mails and the account page are in it, if they exist in it. */
  language?: string | null | undefined;
  /** Phone number in E.164 form. */
  phone?: string | null | undefined;
  /** Whether you have verified the number. Default: `false`. */
  phoneVerified?: boolean | undefined;
  /** Id of the person in your own system. */
  externalUserId?: string | null | undefined;
  /** Password. A new password must have at least 8 characters. */
  password?: string | null | undefined;
  /** Hash from another system: bcrypt, scrypt, PBKDF2 or argon2. */
  passwordHash?: string | null | undefined;
  /** Custom data, up to 16 KiB of JSON. */
  metadata?: { [key: string]: unknown } | undefined;
  /** Keys of the roles. */
  roles?: string[] | undefined;
}

/** The name of the directory, and the roles of its users. */
export interface NewDirectoryConnection {
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** Roles that new members get. */
  defaultRoles?: string[] | undefined;
  /** Roles by group of the identity provider. */
  groupRoles?: { [key: string]: string[] } | undefined;
  /** Whether e-mail addresses outside the connection's domains are accepted. Default: `false`. */
  allowOtherDomains?: boolean | undefined;
}

/** A domain to send from. */
export interface NewDomain {
  /** Domain name. */
  domain: string;
}

/** A feature to declare. */
export interface NewFeature {
  /** A key for programs: letters, digits, `_`, `.`, `:` and `-`, beginning with a letter: `sso`. */
  key: string;
  /** Defaults to the key. */
  name?: string | null | undefined;
  /** Type of the record. Default: `"BOOLEAN"`. */
  type?: "BOOLEAN" | "LIMIT" | (string & {}) | undefined;
  /** Whether organizations without a plan have the feature. Default: `false`. */
  defaultEnabled?: boolean | undefined;
  /** Limit for organizations without a plan; null for unlimited. */
  defaultLimit?: number | null | undefined;
}

/** Why you act as the customer, and for how long. */
export interface NewImpersonation {
  /** The customer can read it in the list of sessions. */
  reason: string;
  /** Minutes. Default: `30`. */
  minutes?: number | undefined;
  /**
   * The person who acts, such as an e-mail address. Only for requests with an API key; the actor of a developer's
   * request is the developer. Default: the name of the key.
   */
  actor?: string | null | undefined;
}

/** Why you act as the customer, for how long, and where the browser goes. */
export interface NewImpersonationLink {
  /** The customer can read it in the list of sessions. */
  reason: string;
  /** Minutes. Default: `30`. */
  minutes?: number | undefined;
  /**
   * The person who acts, such as an e-mail address. Only for requests with an API key; the actor of a developer's
   * request is the developer. Default: the name of the key.
   */
  actor?: string | null | undefined;
  /** Where the browser goes with `code`: one of the project's `redirectUrls`. */
  redirectUrl: string;
  /**
   * The S256 code challenge (RFC 7636) of a verifier that your app keeps. Without one, only a secret key of the project
   * can exchange the code.
   */
  codeChallenge?: string | null | undefined;
  /** Returned to `redirectUrl` unchanged. */
  state?: string | undefined;
}

/** A route to create. */
export interface NewInboundRoute {
  /** An address, such as `support@reply.example.com`, or `*@reply.example.com` for every address of a domain. */
  address: string;
  /** A name to recognise the route by; defaults to the address. */
  name?: string | null | undefined;
  /** Whether the record is active. Default: `true`. */
  active?: boolean | undefined;
}

/** An address to add. */
export interface NewMemberByEmail {
  /** E-mail address. */
  email: string;
}

/** A client to register. */
export interface NewOAuthClient {
  /** Name of the client, shown to customers. */
  name: string;
  /**
   * CONFIDENTIAL for an app on a server, which gets a secret; PUBLIC for one in a browser or on a device. Default:
   * `"CONFIDENTIAL"`.
   */
  type?: "CONFIDENTIAL" | "PUBLIC" | (string & {}) | undefined;
  /** Default: that of the API key, or LIVE. */
  environment?: "LIVE" | "TEST" | (string & {}) | null | undefined;
  /** Whether the client belongs to the project: then customers are not asked for their consent. Default: `false`. */
  firstParty?: boolean | undefined;
  /** Required for `authorization_code`. */
  redirectUris?: string[] | undefined;
  /** Where the browser may go after it has signed out; compared exactly. */
  postLogoutRedirectUris?: string[] | undefined;
  /** How the client may get tokens. */
  grantTypes?: ("authorization_code" | "client_credentials" | "refresh_token" | "urn:ietf:params:oauth:grant-type:device_code" | (string & {}))[] | undefined;
  /** The scopes that the client may get: standard ones, and permissions that the project has declared. */
  scopes?: string[] | undefined;
  /** The website of the client, shown to customers. */
  websiteUrl?: string | null | undefined;
  /** The privacy policy of the client, shown to customers. */
  privacyUrl?: string | null | undefined;
  /** The terms of service of the client, shown to customers. */
  termsUrl?: string | null | undefined;
  /** Where the client is told that a session has ended (OpenID Connect Back-Channel Logout). */
  backchannelLogoutUri?: string | null | undefined;
  /** Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449). Default: `false`. */
  requireDpop?: boolean | undefined;
  /** The public keys with which a CONFIDENTIAL client authenticates (`private_key_jwt`), instead of a secret. */
  jwks?: JsonWebKeys | null | undefined;
  /** Where the client publishes these keys instead, so that it can replace them. */
  jwksUri?: string | null | undefined;
  /**
   * FAPI2 refuses what the FAPI 2.0 Security Profile does not allow: the client needs a key and `requireDpop`, and
   * pushes its requests. Default: `"STANDARD"`.
   */
  securityProfile?: "FAPI2" | "STANDARD" | (string & {}) | undefined;
  /**
   * How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing else.
   * Default: `"ES256"`.
   */
  idTokenSigningAlg?: "ES256" | "RS256" | (string & {}) | undefined;
}

/** An API to declare. */
export interface NewOAuthResource {
  /** The URL of the API: the value of `resource` in requests, and the audience of the tokens. */
  identifier: string;
  /** Name of the API, shown to customers on the consent page. */
  name: string;
  /** Default: that of the API key, or LIVE. */
  environment?: "LIVE" | "TEST" | (string & {}) | null | undefined;
  /** The permissions that tokens for the API can have in `scope`. */
  scopes?: string[] | undefined;
  /** The CONFIDENTIAL client with which the API asks the introspection endpoint for the state of tokens. */
  introspectionClientId?: string | null | undefined;
}

/** An organization to create. */
export interface NewOrganization {
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** If null, a slug is derived from the name. */
  slug?: string | null | undefined;
  /** Id of the organization in your own system. */
  externalId?: string | null | undefined;
  /** Custom data, up to 16 KiB of JSON. */
  metadata?: { [key: string]: unknown } | undefined;
}

/** A domain to add to an organization. */
export interface NewOrganizationDomain {
  /** Domain name. */
  domain: string;
}

/** The address to invite, with role and expiry. */
export interface NewOrganizationInvitation {
  /** E-mail address. */
  email: string;
  /** Role of the person. Default: `"MEMBER"`. */
  role?: string | undefined;
  /** Number of days until the invitation expires. Default: `7`. */
  expiresInDays?: number | undefined;
  /** URL of your page that accepts the invitation; `token` is added to its query. Default: a hosted page. */
  acceptUrl?: string | null | undefined;
  /** The id of the member who invites. */
  invitedByEndUserId?: string | null | undefined;
}

/** A customer to add to an organization. */
export interface NewOrganizationMember {
  /** Id of the customer. */
  customerId: string;
  /** Keys of the roles. */
  roles?: string[] | undefined;
}

/** The credential that the browser created, and a name for the passkey. */
export interface NewPasskey {
  /** Id of the challenge. Send it back with the code. */
  challengeId: string;
  /** Result of the browser's `navigator.credentials`, as JSON. */
  credential: { [key: string]: unknown };
  /** Display name. Default: `"Passkey"`. */
  name?: string | undefined;
}

/** A permission to declare. */
export interface NewPermission {
  /** Two to four lower-case words (letters, digits, `_`) joined by colons, such as `posts:write`. */
  key: string;
  /** Description for people. */
  description?: string | null | undefined;
}

/** A plan to create. */
export interface NewPlan {
  /** A key for programs: letters, digits, `_`, `.`, `:` and `-`, beginning with a letter: `sso`. */
  key: string;
  /** Defaults to the key. */
  name?: string | null | undefined;
  /** Features of the plan. */
  features?: PlanFeature[] | undefined;
}

/** A project to create. */
export interface NewProject {
  /** A display name: one line of text, not only blanks. */
  name: string;
}

/** A role to create. Its permissions must be declared; wildcards such as `posts:*` need not match a declared one. */
export interface NewRole {
  /** A key for programs: letters, digits, `_`, `.` and `-`, beginning with a letter: `editor`. */
  key: string;
  /** Defaults to the key. */
  name?: string | null | undefined;
  /** Whether it applies to the whole project or to one organization. Default: `"PROJECT"`. */
  scope?: "ORGANIZATION" | "PROJECT" | (string & {}) | undefined;
  /** Description for people. */
  description?: string | null | undefined;
  /** Permissions, such as `emails:send`. */
  permissions?: string[] | undefined;
  /** Whether a project role grants its permissions in every organization. Default: `false`. */
  appliesToAllOrganizations?: boolean | undefined;
}

/** An address to send from. */
export interface NewSender {
  /** E-mail address. */
  email: string;
}

/** A setup link to create. */
export interface NewSetupLink {
  /** What the administrator may set up. */
  steps?: ("DOMAIN" | "SCIM" | "SSO" | (string & {}))[] | undefined;
  /** Number of days until the invitation expires. Default: `7`. */
  expiresInDays?: number | undefined;
  /** Address of the administrator. If it is set, the link is mailed there. */
  email?: string | null | undefined;
  /** Roles besides MEMBER that the administrator may give to groups of the directory. */
  assignableRoles?: string[] | undefined;
}

/** A hook to create. */
export interface NewSignInHook {
  /** Kind of the entry. */
  kind: "BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {});
  /** An https URL. */
  url: string;
  /** Whether the record is active. Default: `true`. */
  active?: boolean | undefined;
  /**
   * What happens without a valid answer in time. `CONTINUE`: as if there was no hook. `REFUSE`: 503 `hook_failed`.
   * Default: `"REFUSE"`.
   */
  onFailure?: "CONTINUE" | "REFUSE" | (string & {}) | undefined;
  /** How long a call may take, in milliseconds. Default: `2000`. */
  timeoutMs?: number | undefined;
}

/** Why the messages that wait for a site are given up. */
export interface NewSiteBounce {
  /** Reason, as text. */
  reason: string;
}

/** Why a site gets no mail, and until when. */
export interface NewSiteSuspension {
  /** Reason, as text. */
  reason: string;
  /** Null: until it is resumed. */
  until?: string | null | undefined;
}

/** A connection to create. */
export interface NewSsoConnection {
  /** The identity provider's metadata: sets all fields whose names begin with `idp`. */
  idpMetadataXml?: string | undefined;
  /**
   * URL of the metadata. It is fetched now and used like `idpMetadataXml`, and fetched again every day, so that new
   * certificates are taken over. While it is set, the fetched metadata overrides fields set one by one.
   */
  idpMetadataUrl?: string | null | undefined;
  /** Entity id of the identity provider. */
  idpEntityId?: string | null | undefined;
  /** Single sign-on URL of the identity provider. */
  idpSsoUrl?: string | null | undefined;
  /** SAML binding of authentication requests. */
  idpSsoBinding?: "POST" | "REDIRECT" | (string & {}) | undefined;
  /** Single logout URL of the identity provider; null for no single logout. */
  idpSloUrl?: string | null | undefined;
  /** SAML binding of logout requests. */
  idpSloBinding?: "POST" | "REDIRECT" | (string & {}) | undefined;
  /** URL for responses to logout requests; null uses `idpSloUrl`. */
  idpSloResponseUrl?: string | null | undefined;
  /** Issuer of the OpenID provider, exactly as its discovery document has it. */
  oidcIssuer?: string | null | undefined;
  /** Client id at the OpenID provider; null for SAML. */
  oidcClientId?: string | null | undefined;
  /** Client secret; null for a public client. Send it again if you change the issuer. */
  oidcClientSecret?: string | null | undefined;
  /** Scopes to request; must contain `openid`. Default: `openid email profile`. */
  oidcScopes?: string | null | undefined;
  /**
   * Signing certificates, PEM or bare base64; replaces the list. Add the provider's next certificate before the
   * provider signs with it.
   */
  idpCertificate?: string[] | undefined;
  /** Accept IdP-initiated sign-on; the browser is redirected to `defaultRedirectUrl`. */
  allowIdpInitiated?: boolean | undefined;
  /** Whether assertions must be encrypted. */
  requireEncryption?: boolean | undefined;
  /** Whether the outdated AES-CBC encryption is accepted. */
  allowAesCbc?: boolean | undefined;
  /** Whether expired certificates of the identity provider are accepted. */
  acceptExpiredCertificates?: boolean | undefined;
  /** Whether the identity provider must authenticate the person again (`ForceAuthn`). */
  forceAuthn?: boolean | undefined;
  /** Format of the name identifier to request; null for any. */
  nameIdFormat?: string | null | undefined;
  /** Tolerated clock difference in seconds. */
  clockSkewSeconds?: number | undefined;
  /** Names of the SAML attributes or claims with the person's data. */
  attributeMapping?: AttributeMapping | undefined;
  /** Roles in the organization for users who sign on for the first time. */
  defaultRoles?: string[] | undefined;
  /** Roles for each group. Roles listed here are updated at every sign-on; others stay. */
  groupRoles?: { [key: string]: string[] } | undefined;
  /** Whether the sign-on of an unknown user creates a customer. */
  createCustomers?: boolean | undefined;
  /** Whether to accept addresses outside the organization's verified domains (guests). They count as unverified. */
  allowOtherDomains?: boolean | undefined;
  /**
   * Whether every sign-on counts as multi-factor: set this if the identity provider always requires a second factor. If
   * false, only a sign-on counts whose assertion says so (`AuthnContextClassRef`, or Microsoft's
   * `authnmethodsreferences`).
   */
  trustMfa?: boolean | undefined;
  /**
   * What to do if a user of the identity provider has the address of a customer who is linked to another user of the
   * provider: REFUSE the sign-on, or HOLD it as an `identity-request` until an administrator approves it.
   */
  onNewSubject?: "HOLD" | "REFUSE" | (string & {}) | undefined;
  /** Redirect URL for IdP-initiated sign-on: one of the project's `redirectUrls`. */
  defaultRedirectUrl?: string | null | undefined;
  /** The protocol; it cannot be changed. Default: `"SAML"`. */
  kind?: "OIDC" | "SAML" | (string & {}) | undefined;
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** Domain name. */
  domain: string;
}

/** An address to suppress. */
export interface NewSuppression {
  /** E-mail address. */
  address: string;
  /** Reason, as text. Default: `"MANUAL"`. */
  reason?: "BOUNCE" | "COMPLAINT" | "MANUAL" | "UNSUBSCRIBE" | (string & {}) | undefined;
  /** Further details, as text. */
  detail?: string | null | undefined;
}

/** Several addresses to suppress. */
export interface NewSuppressions {
  /** E-mail addresses, at most 1,000. */
  addresses: string[];
  /** Reason, as text. Default: `"MANUAL"`. */
  reason?: "BOUNCE" | "COMPLAINT" | "MANUAL" | "UNSUBSCRIBE" | (string & {}) | undefined;
}

/**
 * A template to create. With both `html` and `builderJson`, `html` is sent, and both are stored.
 *
 *     With `"engine": "none"` nothing is rendered: `{{`, `{%` and `{#` are sent as they are.
 */
export interface NewTemplate {
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** `{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`. */
  builderJson?: { [key: string]: unknown } | null | undefined;
  /** HTML body. */
  html?: string | null | undefined;
  /** Subject line. */
  subject?: string | null | undefined;
  /** Plain text body. */
  text?: string | null | undefined;
  /**
   * `minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged. Default: `"minijinja"`.
   */
  engine?: "minijinja" | "none" | (string & {}) | undefined;
}

/** A variant of the message for an A/B test. */
export interface NewVariant {
  /** A display name: one line of text, not only blanks. */
  name: string;
  /** Null: the campaign's subject. */
  subject?: string | null | undefined;
  /** Null: the campaign's template. */
  templateId?: string | null | undefined;
  /** The share of the test sample that gets this variant, in percent; all weights sum to 100. */
  weight: number;
}

/** A subscription to create. */
export interface NewWebhook {
  /** Where to send; https or http. */
  url: string;
  /** Event names, `email.*`, `*`. */
  events: string[];
  /** Description for people. */
  description?: string | undefined;
  /** Whether the record is active. Default: `true`. */
  active?: boolean | undefined;
}

/** An app that signs customers in through the project's OpenID provider. */
export interface OAuthClient {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** A TEST client signs customers in with TEST sessions, and its access tokens have an audience of their own. */
  environment: "LIVE" | "TEST" | (string & {});
  /** Display name. */
  name: string;
  /** CONFIDENTIAL: runs on a server and has a secret or a key. PUBLIC: runs in a browser or on a device. */
  type: "CONFIDENTIAL" | "PUBLIC" | (string & {});
  /** Whether the client belongs to the project: then customers are not asked for their consent. */
  firstParty: boolean;
  /** Whether the client has registered itself (RFC 7591): nobody of the project has checked who it is. */
  selfRegistered: boolean;
  /** The last four characters of the secret; null without one. */
  secretLastFour: string | null;
  /** Where authorization responses may be sent; compared exactly. */
  redirectUris: string[];
  /** Where the browser may go after it has signed out; compared exactly. */
  postLogoutRedirectUris: string[];
  /**
   * How the client may get tokens: `authorization_code`, `refresh_token`, `client_credentials`,
   * `urn:ietf:params:oauth:grant-type:device_code`.
   */
  grantTypes: string[];
  /** The scopes that the client may get: standard ones, and permissions that the project has declared. */
  scopes: string[];
  /** The website of the client, shown to customers. */
  websiteUrl: string | null;
  /** The privacy policy of the client, shown to customers. */
  privacyUrl: string | null;
  /** The terms of service of the client, shown to customers. */
  termsUrl: string | null;
  /** Where the client is told that a session has ended; null if it is not told. */
  backchannelLogoutUri: string | null;
  /** Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449). */
  requireDpop: boolean;
  /** The public keys with which the client authenticates (`private_key_jwt`); null without one. */
  jwks: { [key: string]: unknown } | null;
  /** Where the client publishes these keys instead; null if it does not. */
  jwksUri: string | null;
  /** STANDARD; or FAPI2: the client is held to the FAPI 2.0 Security Profile. */
  securityProfile: "FAPI2" | "STANDARD" | (string & {});
  /** How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing else. */
  idTokenSigningAlg: "ES256" | "RS256" | (string & {});
  /** The URL of the document with the client's metadata, which is its `clientId`; null for other clients. */
  metadataUrl: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The `client_id` of OAuth: the same as `id`, or the `metadataUrl`. */
  clientId: string;
  /** The issuer of the project: append `/.well-known/openid-configuration` for its configuration. */
  issuer: string;
}

/** Changes to a client. Fields that are left out keep their values. */
export interface OAuthClientChange {
  /** Name of the client, shown to customers. */
  name?: string | undefined;
  /** Whether the client belongs to the project: then customers are not asked for their consent. */
  firstParty?: boolean | undefined;
  /** Where authorization responses may be sent; compared exactly. */
  redirectUris?: string[] | undefined;
  /** Where the browser may go after it has signed out; compared exactly. */
  postLogoutRedirectUris?: string[] | undefined;
  /** How the client may get tokens. */
  grantTypes?: ("authorization_code" | "client_credentials" | "refresh_token" | "urn:ietf:params:oauth:grant-type:device_code" | (string & {}))[] | undefined;
  /** The scopes that the client may get: standard ones, and permissions that the project has declared. */
  scopes?: string[] | undefined;
  /** The website of the client, shown to customers. */
  websiteUrl?: string | null | undefined;
  /** The privacy policy of the client, shown to customers. */
  privacyUrl?: string | null | undefined;
  /** The terms of service of the client, shown to customers. */
  termsUrl?: string | null | undefined;
  /** Where the client is told that a session has ended (OpenID Connect Back-Channel Logout). */
  backchannelLogoutUri?: string | null | undefined;
  /** Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449). */
  requireDpop?: boolean | undefined;
  /** The public keys with which the client authenticates. A secret ends when the client gets keys. */
  jwks?: JsonWebKeys | null | undefined;
  /** Where the client publishes these keys instead, so that it can replace them. */
  jwksUri?: string | null | undefined;
  /** STANDARD; or FAPI2: the client is held to the FAPI 2.0 Security Profile. */
  securityProfile?: "FAPI2" | "STANDARD" | (string & {}) | undefined;
  /** How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing else. */
  idTokenSigningAlg?: "ES256" | "RS256" | (string & {}) | undefined;
}

/** A client with its secret, which is returned only once. */
export interface OAuthClientWithSecret {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** A TEST client signs customers in with TEST sessions, and its access tokens have an audience of their own. */
  environment: "LIVE" | "TEST" | (string & {});
  /** Display name. */
  name: string;
  /** CONFIDENTIAL: runs on a server and has a secret or a key. PUBLIC: runs in a browser or on a device. */
  type: "CONFIDENTIAL" | "PUBLIC" | (string & {});
  /** Whether the client belongs to the project: then customers are not asked for their consent. */
  firstParty: boolean;
  /** Whether the client has registered itself (RFC 7591): nobody of the project has checked who it is. */
  selfRegistered: boolean;
  /** The last four characters of the secret; null without one. */
  secretLastFour: string | null;
  /** Where authorization responses may be sent; compared exactly. */
  redirectUris: string[];
  /** Where the browser may go after it has signed out; compared exactly. */
  postLogoutRedirectUris: string[];
  /**
   * How the client may get tokens: `authorization_code`, `refresh_token`, `client_credentials`,
   * `urn:ietf:params:oauth:grant-type:device_code`.
   */
  grantTypes: string[];
  /** The scopes that the client may get: standard ones, and permissions that the project has declared. */
  scopes: string[];
  /** The website of the client, shown to customers. */
  websiteUrl: string | null;
  /** The privacy policy of the client, shown to customers. */
  privacyUrl: string | null;
  /** The terms of service of the client, shown to customers. */
  termsUrl: string | null;
  /** Where the client is told that a session has ended; null if it is not told. */
  backchannelLogoutUri: string | null;
  /** Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449). */
  requireDpop: boolean;
  /** The public keys with which the client authenticates (`private_key_jwt`); null without one. */
  jwks: { [key: string]: unknown } | null;
  /** Where the client publishes these keys instead; null if it does not. */
  jwksUri: string | null;
  /** STANDARD; or FAPI2: the client is held to the FAPI 2.0 Security Profile. */
  securityProfile: "FAPI2" | "STANDARD" | (string & {});
  /** How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing else. */
  idTokenSigningAlg: "ES256" | "RS256" | (string & {});
  /** The URL of the document with the client's metadata, which is its `clientId`; null for other clients. */
  metadataUrl: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The `client_id` of OAuth: the same as `id`, or the `metadataUrl`. */
  clientId: string;
  /** The issuer of the project: append `/.well-known/openid-configuration` for its configuration. */
  issuer: string;
  /** The secret; null for a PUBLIC client, and for one that authenticates with a key. */
  clientSecret: string | null;
}

/** What a customer has allowed a client. */
export interface OAuthConsent {
  /** Id of the client. */
  clientId: string;
  /** Name of the client. */
  clientName: string;
  /** Whether the client belongs to the project. */
  firstParty: boolean;
  /** The scopes that the customer has allowed, sorted. */
  scopes: string[];
  /** The scopes that the customer has allowed at an API, by the API's identifier. */
  resourceScopes: { [key: string]: string[] };
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** The JSON of an error (RFC 6749 §5.2). */
export interface OAuthErrorDocument {
  /** The code of the error, such as `invalid_grant`. */
  error: string;
  /** For developers. */
  error_description: string;
}

/** An initial access token (RFC 7591 §3). */
export interface OAuthRegistrationToken {
  /** Clients send it to the registration endpoint, in the header `Authorization` with `Bearer`. */
  token: string;
  /** Until when it works, for at most 100 registrations. */
  expiresAt: string;
}

/** An API for which clients can ask for access tokens (RFC 8707). */
export interface OAuthResource {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Only clients of the same environment can ask for tokens. */
  environment: "LIVE" | "TEST" | (string & {});
  /** The URL of the API: the value of `resource` in requests, and the audience of the tokens. */
  identifier: string;
  /** Name of the API, shown to customers on the consent page. */
  name: string;
  /** The permissions that tokens for the API can have in `scope`. */
  scopes: string[];
  /** The CONFIDENTIAL client with which the API asks the introspection endpoint for the state of tokens. */
  introspectionClientId: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Changes to an API. Fields that are left out keep their values. */
export interface OAuthResourceChange {
  /** Name of the API, shown to customers on the consent page. */
  name?: string | undefined;
  /** The permissions that tokens for the API can have in `scope`. */
  scopes?: string[] | undefined;
  /** The CONFIDENTIAL client with which the API asks the introspection endpoint for the state of tokens. */
  introspectionClientId?: string | null | undefined;
}

/** How to rotate the secret of a client. */
export interface OAuthSecretRotation {
  /** How long the old secret works in addition to the new one, in seconds; 0 to 604,800 (7 days). Default: `86400`. */
  gracePeriodSeconds?: number | undefined;
}

/** An organization as the operations under `/projects` return it. */
export interface Organization {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /** Display name. */
  name: string;
  /** Name for URLs, unique in the project. */
  slug: string;
  /** Custom data, up to 16 KiB of JSON. */
  metadata: { [key: string]: unknown };
  /** Id of the organization in your own system. */
  externalId: string | null;
  /** Status of the record. */
  status: "ACTIVE" | "SUSPENDED" | (string & {});
  /**
   * Whether its members, and customers with an address at its verified domains, can sign in only by its single sign-on.
   */
  requireSso: boolean;
  /** Whether its members must sign in with a second factor; members without one must set it up first. */
  requireMfa: boolean;
  /** The methods by which its members can sign in; null for all. */
  allowedMethods: ("EMAIL_CODE" | "EMAIL_LINK" | "PASSKEY" | "PASSWORD" | "SOCIAL" | "SSO" | (string & {}))[] | null;
  /** How long after the sign-in sessions of its members end, even if they are used; null for 30 days. */
  sessionLifetimeMinutes: number | null;
  /** How long without a refresh sessions of its members end; null for 7 days. */
  sessionIdleMinutes: number | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** Number of members. */
  memberCount: number;
  /** Number of pending invitations. */
  pendingInvitationCount: number;
}

/** Fields to change; `metadata` is merged at the top level, null removes a key. */
export interface OrganizationChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Lower-case letters and digits in words joined by single hyphens, such as `acme-inc`. */
  slug?: string | undefined;
  /** Id of the organization in your own system. */
  externalId?: string | null | undefined;
  /** Custom data, up to 16 KiB of JSON. */
  metadata?: { [key: string]: unknown } | undefined;
  /** Status of the record. */
  status?: "ACTIVE" | "SUSPENDED" | (string & {}) | undefined;
  /**
   * Whether members, and customers with an address at a verified domain, must use the organization's single sign-on.
   * Requires a working connection.
   */
  requireSso?: boolean | undefined;
  /** Whether members must sign in with a second factor; members without one must set it up first. */
  requireMfa?: boolean | undefined;
  /** The methods by which members can sign in; null for all. */
  allowedMethods?: ("EMAIL_CODE" | "EMAIL_LINK" | "PASSKEY" | "PASSWORD" | "SOCIAL" | "SSO" | (string & {}))[] | null | undefined;
  /** How long after the sign-in sessions of members end, even if they are used; null for 30 days. */
  sessionLifetimeMinutes?: number | null | undefined;
  /** How long without a refresh sessions of members end; null for 7 days. */
  sessionIdleMinutes?: number | null | undefined;
  /** Whether to set `allowedMethods` even if no OWNER could sign in then. Default: `false`. */
  allowLockOut?: boolean | undefined;
}

/** A domain of an organization, verified or not. */
export interface OrganizationDomain {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the organization. */
  organizationId: string;
  /** Id of the project. */
  projectId: string;
  /** Domain name. */
  domain: string;
  /** Status of the record. */
  status: "FAILED" | "LAPSED" | "PENDING" | "VERIFIED" | (string & {});
  /** Why the last check failed, or null. */
  reason: "DNS_UNAVAILABLE" | "RECORD_NOT_FOUND" | "VERIFIED_BY_ANOTHER_ORGANIZATION" | (string & {}) | null;
  /** When it was verified (UTC); null if it is not. */
  verifiedAt: string | null;
  /** When it was last checked (UTC); null before the first check. */
  lastCheckedAt: string | null;
  /** When a check of the verified domain first did not find its TXT record; null while the record exists. */
  missingSince: string | null;
  /** Whether customers with a verified e-mail address at the domain join automatically. */
  autoJoinEnabled: boolean;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** Name of the TXT record to publish. */
  recordName: string;
  /** The value of the TXT record. */
  record: string;
  /** When it is checked next (UTC); null if no check is scheduled. */
  nextCheckAt: string | null;
}

/** Whether customers with an address at the domain join automatically. */
export interface OrganizationDomainChange {
  /** Whether customers with a verified e-mail address at the domain join automatically. */
  autoJoinEnabled: boolean;
}

/** Data of `organization.domain_verified` and `organization.domain_lapsed`. `id` is the id of the organization. */
export interface OrganizationDomainData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Name of the domain. */
  domain: string;
  /** Id of the domain. */
  domainId: string;
}

/** Data of `organization.created` and `organization.deleted`. `id` is the id of the organization. */
export interface OrganizationEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Name of the organization. */
  name: string;
  /** Id of the organization in your own system. */
  externalId: string | null;
}

/** An invitation to join an organization. */
export interface OrganizationInvitation {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the organization. */
  organizationId: string;
  /** E-mail address. */
  email: string;
  /** Role of the person. */
  role: string;
  /** Status of the record. */
  status: "ACCEPTED" | "EXPIRED" | "PENDING" | "REVOKED" | (string & {});
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
  /** When it was accepted (UTC); null if it was not accepted. */
  acceptedAt: string | null;
  /** When it was revoked (UTC); null if it was not revoked. */
  revokedAt: string | null;
  /** When the latest e-mail was requested. */
  sentAt: string;
  /** When the latest e-mail was accepted for delivery; null until then. */
  mailedAt: string | null;
  /** Why the latest e-mail could not be sent, or null. */
  mailProblem: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** Id of the inviting customer; null if a developer or an API key invites. */
  invitedByEndUserId: string | null;
}

/** A customer in an organization. */
export interface OrganizationMember {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the organization. */
  organizationId: string;
  /** Id of the customer. */
  customerId: string;
  /** E-mail address. */
  email: string | null;
  /** Display name. */
  name: string | null;
  /** Keys of the roles. */
  roles: string[];
  /** How the member joined. */
  source: "API" | "DOMAIN" | "INVITATION" | "SCIM" | "SSO" | (string & {});
  /** When the person became a member (UTC). */
  joinedAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Data of `organization.member_added`. `id` is the id of the organization. */
export interface OrganizationMemberAddedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the customer. */
  customerId: string;
  /** Roles of the member. */
  roles: string[];
  /** How the customer became a member: `API`, `INVITATION`, `DOMAIN`, `SSO` or `SCIM`. */
  source: string;
}

/** The new roles of a member. */
export interface OrganizationMemberChange {
  /** Keys of the roles. */
  roles: string[];
}

/** Data of `organization.member_removed`. `id` is the id of the organization. */
export interface OrganizationMemberRemovedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the customer. */
  customerId: string;
}

/** An organization that a customer belongs to, with the roles of the customer in it. */
export interface OrganizationMembership {
  /** The organization. */
  organization: OrganizationRef;
  /** Status of the record. */
  status: "ACTIVE" | "SUSPENDED" | (string & {});
  /** Keys of the roles. */
  roles: string[];
  /** When the person became a member (UTC). */
  joinedAt: string;
}

/** The plan of an organization. */
export interface OrganizationPlan {
  /** Id of the organization. */
  organizationId: string;
  /** Key of the plan; null for no plan. */
  planKey: string | null;
  /** The plan of the organization; null for no plan. */
  plan: Plan | null;
}

/** A reference to an organization. */
export interface OrganizationRef {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /** Name for URLs, unique in the project. */
  slug: string;
}

/**
 * Data of `organization.updated`. If a member's roles were changed, it has `customerId` and `roles`; otherwise the
 *     fields of the organization. `id` is the id of the organization.
 */
export interface OrganizationUpdatedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Name of the organization. */
  name?: string | null | undefined;
  /** Status of the organization. */
  status?: string | null | undefined;
  /** Whether members must use single sign-on. */
  requireSso?: boolean | null | undefined;
  /** Whether members need a second factor. */
  requireMfa?: boolean | null | undefined;
  /** Methods by which members can sign in; null for all. */
  allowedMethods?: string[] | null | undefined;
  /** How long sessions of members last; null for the default. */
  sessionLifetimeMinutes?: number | null | undefined;
  /** How long sessions of members last without use; null for the default. */
  sessionIdleMinutes?: number | null | undefined;
  /** Id of the member whose roles were changed. */
  customerId?: string | null | undefined;
  /** The roles that the member has now. */
  roles?: string[] | null | undefined;
}

/** A secondary address, which a customer got when another customer was merged into it. It can be used to sign in. */
export interface OtherEmail {
  /** E-mail address. */
  email: string;
  /** When it was verified (UTC); null if it is not. */
  verifiedAt: string | null;
}

/** An address of the customer's own account. */
export interface OwnAddress {
  /** E-mail address. */
  email: string | null;
  /** When it was verified (UTC); null if it is not. */
  verifiedAt: string | null;
  /** Whether codes and security mail go to this address. */
  primary: boolean;
}

/** A sign-in method of the customer who asks. */
export interface OwnIdentity {
  /** Key of the sign-in provider, such as `GOOGLE`, or name of the payment provider. */
  provider: string;
  /** When the record was created (UTC). */
  createdAt: string;
  /** The address or name of a linked account, if it is known. */
  accountName: string | null;
}

/** One of the caller's own sessions; `current` marks the session of the request. */
export interface OwnSession {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** `User-Agent` header of the request. */
  userAgent: string;
  /** IP address of the client. */
  ipAddress: string;
  /** The authentication methods of the sign-in, as in the claim `amr` (RFC 8176). */
  methods: string[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When it was last used (UTC), to the minute; null if it was never used. */
  lastUsedAt: string;
  /** When the session ends if its tokens are not refreshed before. */
  expiresAt: string;
  /** Why a member of the app's team acts as the customer in this session; null if it is a session of the customer. */
  impersonationReason: string | null;
  /** Whether this is the session of the request. */
  current: boolean;
}

/** The owner's password. */
export interface OwnershipTransfer {
  /** Password. A new password must have at least 8 characters. */
  password: string;
}

/** A text of the hosted pages in one language. */
export interface PageText {
  /** 12 hexadecimal digits, the same in all languages and projects. They change only if the English text changes. */
  id: string;
  /** The pages that show the text; empty if this version of Postern has no such text any more. */
  pages: ("ACCOUNT" | "ALL" | "APPS" | "INVITATION" | "ORGANIZATION" | "PASSKEY" | "PASSWORD" | "PROBLEMS" | "SECOND_FACTOR" | "SETUP" | "SIGN_IN" | "SIGN_UP" | "SINGLE_SIGN_ON" | "SUPPORT" | "TERMS" | (string & {}))[];
  /** The built-in text in English. */
  english: string;
  /** The built-in text in this language; "" if this version of Postern has no such text any more. */
  builtIn: string;
  /** What the pages of this project say instead; null for the built-in text. */
  text: string | null;
  /** The values that the text can have, as `{name}`. */
  placeholders: string[];
}

/** What pages say in place of a text. */
export interface PageTextChange {
  /** Values are in braces, as in the built-in text: `{app}`. They can be left out, but no other ones are possible. */
  text: string;
}

/** The texts of hosted pages, by language; null if a language has none. */
export interface PageTextSettings {
  /** Texts in English; null for the built-in ones. */
  en: PageTexts | null;
  /** Texts in German; null for the built-in ones. */
  de: PageTexts | null;
  /** Texts in Spanish; null for the built-in ones. */
  es: PageTexts | null;
  /** Texts in French; null for the built-in ones. */
  fr: PageTexts | null;
  /** Texts in Portuguese; null for the built-in ones. */
  pt: PageTexts | null;
  /** Texts in Japanese; null for the built-in ones. */
  ja: PageTexts | null;
}

/**
 * Texts of hosted pages to change, by language; omitted languages keep theirs, and null removes those of a
 *     language.
 */
export interface PageTextSettingsChange {
  /** Texts in English; null for the built-in ones. */
  en?: PageTextsChange | null | undefined;
  /** Texts in German; null for the built-in ones. */
  de?: PageTextsChange | null | undefined;
  /** Texts in Spanish; null for the built-in ones. */
  es?: PageTextsChange | null | undefined;
  /** Texts in French; null for the built-in ones. */
  fr?: PageTextsChange | null | undefined;
  /** Texts in Portuguese; null for the built-in ones. */
  pt?: PageTextsChange | null | undefined;
  /** Texts in Japanese; null for the built-in ones. */
  ja?: PageTextsChange | null | undefined;
}

/** The texts of hosted pages in one language; null for the built-in text. */
export interface PageTexts {
  /** Title of the sign-in page; null for the built-in one. */
  signInTitle: string | null;
  /** A sentence below the title of the sign-in page. */
  signInLead: string | null;
  /** The button of the first page, below the e-mail address. */
  signInButton: string | null;
  /** Title of the sign-up page; null for the built-in one. */
  signUpTitle: string | null;
  /** A sentence below the title of the sign-up page. */
  signUpLead: string | null;
  /** Button of the sign-up page; null for the built-in one. */
  signUpButton: string | null;
  /** A line in the foot of all pages, such as the name of the company. */
  footer: string | null;
}

/**
 * Texts of hosted pages in one language to change; omitted fields keep their values, and null means the built-in
 *     text.
 */
export interface PageTextsChange {
  /** Title of the sign-in page; null for the built-in one. */
  signInTitle?: string | null | undefined;
  /** A sentence below the title of the sign-in page. */
  signInLead?: string | null | undefined;
  /** The button of the first page, below the e-mail address. */
  signInButton?: string | null | undefined;
  /** Title of the sign-up page; null for the built-in one. */
  signUpTitle?: string | null | undefined;
  /** A sentence below the title of the sign-up page. */
  signUpLead?: string | null | undefined;
  /** Button of the sign-up page; null for the built-in one. */
  signUpButton?: string | null | undefined;
  /** A line in the foot of all pages, such as the name of the company. */
  footer?: string | null | undefined;
}

/** Whether customers can open the hosted pages at the project's own host name. */
export interface PagesDomainStatus {
  /** The host name: `settings.signIn.pagesDomain`. */
  name: string;
  /**
   * The DNS record to publish, with what was found now. VERIFIED also if the name has address records of the server's
   * addresses instead, or of a proxy such as a CDN through which the server answers at the name. Null if the server's
   * own host is not a domain name, as on a developer's machine.
   */
  record: DnsRecord | null;
  /** Whether a sending domain of the project above the name is VERIFIED. Otherwise the name is not served. */
  domainVerified: boolean;
  /**
   * The TLS certificate of the name. Null if this server does not obtain certificates, and while `domainVerified` is
   * false.
   */
  certificate: DomainCertificate | null;
  /** Whether links, redirects and callback URLs have the name now. A change takes up to five seconds. */
  inUse: boolean;
}

/** A passkey. */
export interface Passkey {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /** Whether the passkey is synchronised to other devices. */
  backedUp: boolean;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When it was last used (UTC), to the minute; null if it was never used. */
  lastUsedAt: string | null;
}

/** The new name of a passkey. */
export interface PasskeyChange {
  /** Display name. */
  name: string;
}

/** The options to pass to `navigator.credentials` as `publicKey`, with binary values in base64url. */
export interface PasskeyOptions {
  /** Id of the challenge. Send it back with the code. */
  challengeId: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
  /** Options for the browser's `navigator.credentials`, as defined by WebAuthn. */
  options: { [key: string]: unknown };
}

/** The assertion that the browser returned. */
export interface PasskeySignIn {
  /** Id of the challenge. Send it back with the code. */
  challengeId: string;
  /** Result of the browser's `navigator.credentials`, as JSON. */
  credential: { [key: string]: unknown };
}

/** The caller's password. */
export interface PasswordAgain {
  /** Password. A new password must have at least 8 characters. */
  password: string;
}

/**
 * The caller's password and, if a second factor is on, a code of the authenticator app or a recovery
 *     code.
 */
export interface PasswordAndAnyCode {
  /** Password. A new password must have at least 8 characters. */
  password: string;
  /** Required if a second factor is on. */
  code?: string | null | undefined;
}

/** The caller's password, and a code of the authenticator app or a recovery code. */
export interface PasswordAndCode {
  /** Password. A new password must have at least 8 characters. */
  password: string;
  /** One-time code from the authenticator app or from the mail. */
  code: string;
}

/** The token from the mail and the new password. */
export interface PasswordReset {
  /** Token from the link in the mail. */
  token: string;
  /** Password. A new password must have at least 8 characters. */
  password: string;
}

/** An e-mail address and its password. */
export interface PasswordSignIn {
  /** E-mail address. */
  email: string;
  /** Password. A new password must have at least 8 characters. */
  password: string;
  /** The `rememberedDeviceToken` that `mfa/verify` has returned on this device. */
  rememberedDeviceToken?: string | null | undefined;
}

/** A permission that roles can grant. */
export interface Permission {
  /** Key that identifies it in requests, or the API key. */
  key: string;
  /** Description for people. */
  description: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** A set of features that can be assigned to organizations. */
export interface Plan {
  /** Key that identifies it in requests, or the API key. */
  key: string;
  /** Display name. */
  name: string;
  /** Features of the plan. */
  features: PlanFeature[];
  /** Number of organizations that have it. */
  organizationCount: number;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Fields to change; `features` replaces the whole list. */
export interface PlanChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Features of the plan. */
  features?: PlanFeature[] | undefined;
}

/** The plan of an organization; null for no plan. */
export interface PlanChoice {
  /** Key of the plan; null for no plan. */
  planKey: string | null;
}

/** A feature of a plan. */
export interface PlanFeature {
  /** A key for programs: letters, digits, `_`, `.`, `:` and `-`, beginning with a letter: `sso`. */
  featureKey: string;
  /** Whether it is enabled. Default: `true`. */
  enabled?: boolean | undefined;
  /** Null is unlimited. */
  limit?: number | null | undefined;
}

/** The limits of a plan; null means no limit. */
export interface PlanLimits {
  /** Projects of the account, or their number or maximum number; a null maximum means unlimited. */
  projects: number | null;
  /** The customers, or their number or maximum number; a null maximum means unlimited. */
  customers: number | null;
  /** Per calendar month (UTC). */
  emails: number | null;
}

/** What large mailbox providers would object to in a message. */
export interface Preflight {
  /** Whether there is no finding with the severity ERROR. */
  ok: boolean;
  /** The most severe first. */
  findings: Finding[];
  /** The size of the message without DKIM signatures; null if it cannot be composed. */
  messageOctets: number | null;
  /** The size of the html with tracked links; null if the message cannot be composed. */
  htmlOctets: number | null;
  /** How many links were opened. */
  linksOpened: number;
}

/** An e-mail to check. The fields are those of an e-mail to send. */
export interface PreflightEmail {
  /** Recipients. */
  to: string[];
  /** Sender: `ada@example.com` or `Ada <ada@example.com>`. */
  from: string;
  /** Subject line. */
  subject?: string | null | undefined;
  /** HTML body. */
  html?: string | null | undefined;
  /** Plain text body. */
  text?: string | null | undefined;
  /** Id of the template that provides subject, html and text. */
  templateId?: string | null | undefined;
  /**
   * `minijinja` renders tags such as `{{name}}`. `none` sends subject, html and text unchanged, including `{{`, `{%`
   * and `{#`, and ignores `variables`. Null: the template's engine, or `minijinja` without a template.
   */
  engine?: "minijinja" | "none" | (string & {}) | null | undefined;
  /** Values of template variables such as `{{name}}`; of a template, the names of its variables. */
  variables?: { [key: string]: unknown } | undefined;
  /** Recipients of a copy (Cc). */
  cc?: string[] | null | undefined;
  /** Recipients of a blind copy (Bcc). */
  bcc?: string[] | null | undefined;
  /** Address for replies (`Reply-To` header). */
  replyTo?: string | string[] | null | undefined;
  /** Message headers, by name. */
  headers?: { [key: string]: string } | null | undefined;
  /** Attached files, at most 20. */
  attachments?: EmailAttachment[] | null | undefined;
  /** Tags by which messages can be filtered, at most 75. */
  tags?: string[] | null | undefined;
  /** At most 30 days in the future; a time in the past means now. */
  scheduledAt?: string | null | undefined;
  /** Whether opens are tracked; null uses the project's setting. */
  trackOpens?: boolean | null | undefined;
  /** Whether clicks are tracked; null uses the project's setting. */
  trackClicks?: boolean | null | undefined;
  /** The message is not sent after this time; useful for one-time codes. */
  expiresAt?: string | null | undefined;
  /**
   * Adds `List-Unsubscribe` with one-click unsubscribing (RFC 8058). Several recipients each get a separate message
   * with their own unsubscribe link. Default: `false`.
   */
  unsubscribable?: boolean | undefined;
  /**
   * Whether the message is sent only over TLS, and only to servers with a valid certificate that offer REQUIRETLS (RFC
   * 8689). To any other server it bounces: with 5.7.10 if TLS or a valid certificate is missing, with 5.7.30 if
   * REQUIRETLS is not offered. Null: the setting of the project.
   */
  requireTls?: boolean | null | undefined;
  /** Whether it is marketing mail, which needs one-click unsubscribing. Null: not known, so that is only advised. */
  marketing?: boolean | null | undefined;
  /** Open the links of the message, at most 20, with GET requests. Default: `false`. */
  checkLinks?: boolean | undefined;
}

/** How to show the message. */
export interface PreviewOptions {
  /**
   * Whether to load images of other servers. These servers then learn that, when and where the message was read.
   * Default: `false`.
   */
  images?: boolean | undefined;
}

/** The variables to render a template with. */
export interface PreviewVariables {
  /** Values of template variables such as `{{name}}`; of a template, the names of its variables. */
  variables?: { [key: string]: unknown } | undefined;
}

/** An error (RFC 9457). */
export interface ProblemDocument {
  /** URI of the problem type (RFC 9457). */
  type: string;
  /** Title of the problem type, for people. */
  title: string;
  /** HTTP status. */
  status: number;
  /** Description of this occurrence of the problem. */
  detail: string;
  /** Machine-readable code of the problem type. */
  code: string;
  /** Id of the request, as in the header `X-Request-Id`. */
  requestId: string;
  /** The errors, with their location. */
  errors: ProblemError[];
}

/** One error in a request, with its location. */
export interface ProblemError {
  /** JSON pointer (RFC 6901) into the body, or `query/name`, `header/Name`; for a file `column/3` or `byte/17`. */
  path: string;
  /** Machine-readable code of the error. */
  code: string;
  /** Description of the error. */
  message: string;
}

/** A project: the tenant that everything else belongs to. */
export interface Project {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the account. */
  accountId: string;
  /** Display name. */
  name: string;
  /** Settings of the project. */
  settings: ProjectSettings;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Fields to change. */
export interface ProjectChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Settings of the project. */
  settings?: SettingsChange | undefined;
}

/** A smart host (SMTP relay) for the project's mail. */
export interface ProjectRelay {
  /** A host name or IP address, such as `mail.example.com`. */
  host: string;
  /** TCP port. Default: `587`. */
  port?: number | undefined;
  /**
   * `starttls` uses TLS if offered, `starttls-required` requires it, `implicit` uses TLS from the start. Default:
   * `"starttls-required"`.
   */
  tls?: "implicit" | "none" | "starttls" | "starttls-required" | (string & {}) | undefined;
  /** User name for SMTP authentication; null for none. */
  username?: string | null | undefined;
  /** At most 1,000 characters. Returned as `********`; sending that value keeps the password. */
  password?: string | null | undefined;
  /** Share of the messages that this relay gets, relative to the weights of the other relays. Default: `1`. */
  weight?: number | undefined;
  /** Maximum messages per second; null for no limit. */
  messagesPerSecond?: number | null | undefined;
}

/** An account of Amazon SES for the project's mail, in one AWS region. */
export interface ProjectSes {
  /** The name of an AWS region, such as `eu-central-1`. */
  region: string;
  /** The id of the access key. */
  accessKeyId: string;
  /** At most 128 characters. Returned as `********`; sending that value keeps the secret of the same access key. */
  secretAccessKey: string;
  /** SES configuration set, which determines where SES publishes events; null for none. */
  configurationSet?: string | null | undefined;
  /** The SNS topics whose notifications about this project's mail are accepted. */
  topics?: string[] | undefined;
  /**
   * Whether SES also mails bounces and complaints to the return path, whose domain must be verified in SES. Default:
   * `false`.
   */
  forwardFeedback?: boolean | undefined;
}

/** Settings of a project. Null means the default of the instance. */
export interface ProjectSettings {
  /**
   * `relay` sends messages through the relays, `direct` to the recipients' mail servers, `ses` through Amazon SES;
   * `capture` only stores them in the inbox.
   */
  transport: "capture" | "direct" | "relay" | "ses" | (string & {}) | null;
  /**
   * The transports to use, in this order, if `transport` cannot be reached; null means none, or the server's if
   * `transport` is null, too.
   */
  fallbackTransports: ("direct" | "relay" | "ses" | (string & {}))[] | null;
  /** SMTP relays to send through; null uses the server's relays. */
  relays: ProjectRelay[] | null;
  /** Account of Amazon SES to send through; null uses the server's account. */
  ses: ProjectSes | null;
  /** Host name of tracking links; null uses the server's host name. */
  trackingDomain: string | null;
  /** Whether opens are tracked. Default: `true`. */
  trackOpens: boolean;
  /** Whether clicks are tracked. Default: `true`. */
  trackClicks: boolean;
  /**
   * Whether messages are passed on only over TLS, to authenticated servers that promise the same (REQUIRETLS, RFC
   * 8689), unless `requireTls` of an e-mail is false. Few servers support it; messages to all others bounce. Default:
   * `false`.
   */
  requireTls: boolean;
  /** The addresses that get a test copy of a campaign on request; at most 50. */
  seedList: string[] | null;
  /** Days for which the bodies of sent messages are kept; null means the default of the instance (30 days). */
  retentionDays: number | null;
  /** Days for which received messages are kept; null means 30. */
  inboundRetentionDays: number | null;
  /** Days for which the e-mail log, opens and clicks are kept; null means that they are not deleted. */
  logRetentionDays: number | null;
  /** Days for which events are kept; null means that they are not deleted. */
  eventRetentionDays: number | null;
  /**
   * Whether records whose days have ended are written to the server's archive before they are deleted. Default:
   * `false`.
   */
  archiveExpired: boolean;
  /**
   * Action if a connection ends before the server replies to the complete message: `retry` or `hold`. Default:
   * `"retry"`.
   */
  onAmbiguous: "hold" | "retry" | (string & {});
  /**
   * Maximum number of messages from campaigns and automations that one contact gets within 24 hours; null means 10.
   * Further messages are not sent; the e-mail log lists them as SUPPRESSED, with the frequency cap as the reason.
   */
  frequencyCap: number | null;
  /** Requests per second; null means the default of the instance. */
  rateLimit: number | null;
  /** Sign-in settings for customers. */
  signIn: SignInSettings;
  /** Further settings, keyed by name. The feature that reads a setting defines its structure. */
  extra: { [key: string]: unknown };
}

/** The statistics of a project. */
export interface ProjectSummary {
  /** Id of the project. */
  projectId: string;
  /** Name of the project. */
  projectName: string;
  /** Statistics of contacts. */
  contacts: ContactTotals;
  /** Statistics of sends. */
  sends: SendTotals;
  /** Statistics of campaigns. */
  campaigns: CampaignTotals;
  /** Statistics of automations. */
  automations: AutomationTotals;
}

/** Settings of a provider. Only the kind `OIDC` needs an `issuer`. Apple's `clientSecret` is a private key (PEM). */
export interface ProviderSettings {
  /** Kind of the provider. Default: `"OIDC"`. */
  kind?: "APPLE" | "DISCORD" | "FACEBOOK" | "GITHUB" | "GITLAB" | "GOOGLE" | "LINKEDIN" | "MICROSOFT" | "OIDC" | "SLACK" | "X" | (string & {}) | undefined;
  /** Client id from the provider. */
  clientId: string;
  /** If left out, the stored secret is kept. */
  clientSecret?: string | null | undefined;
  /** Display name. */
  name?: string | null | undefined;
  /** Issuer of an OpenID Connect provider. */
  issuer?: string | null | undefined;
  /** Scopes to request, separated by spaces. */
  scopes?: string | null | undefined;
  /**
   * Domains whose addresses count as verified when this provider reports them: for your own directory that does not
   * send `email_verified`.
   */
  trustedEmailDomains?: string[] | undefined;
  /** Only for Apple: the id of your team in Apple's developer program. */
  teamId?: string | null | undefined;
  /** Only for Apple: the id of the private key. */
  keyId?: string | null | undefined;
  /** Accepted authentication contexts: the ID token's `acr` must be one of these. */
  acrValues?: string[] | undefined;
  /** Maximum age of the authentication at the provider, in seconds; `0` requires a new one at each sign-in. */
  maxAgeSeconds?: number | null | undefined;
  /**
   * How to treat an account with the address of a customer who is linked to another account of this provider: REFUSE
   * it, or HOLD it in `identity-requests` until an administrator approves it. Default: `"REFUSE"`.
   */
  onNewSubject?: "HOLD" | "REFUSE" | (string & {}) | undefined;
  /** Whether it is enabled. Default: `true`. */
  enabled?: boolean | undefined;
}

/** The thresholds of a rate, from 0 to 1. */
export interface RateThresholds {
  /** From this rate on, the state is WARNING. */
  warning: number;
  /** From this rate on, marketing mail is held. */
  hold: number;
  /** With fewer messages in the window, the rate changes nothing. */
  minMessages: number;
}

/** A part of a message that is not its text. */
export interface ReceivedAttachment {
  /** The number of the attachment in the message, from 1. */
  id: string;
  /** The name that the sender gave it; `attachment-1` and so on without one. Do not use it as a path. */
  filename: string;
  /** The media type that the sender declares, without parameters. */
  contentType: string;
  /** The size of the decoded file in octets. */
  size: number;
  /** The id by which the html refers to it (`cid:`), without angle brackets; null if there is none. */
  contentId: string | null;
  /** Whether it is meant to be shown within the message and not as a file. */
  inline: boolean;
}

/** The message to one recipient of an `unsubscribable` e-mail. */
export interface RecipientMessage {
  /** Recipients. */
  to: string;
  /** The id of this recipient's own send. */
  id: string;
  /** `Message-ID` header of the message, the same for all attempts. */
  messageId: string;
  /** Status of the record. */
  status: "BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {});
}

/** The status of a message for one of its recipients. */
export interface RecipientOutcome {
  /** E-mail address. */
  email: string;
  /** The field of the message with the recipient: `to`, `cc` or `bcc`. */
  field: "bcc" | "cc" | "to" | (string & {});
  /** Status of the record. */
  status: "BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {});
  /** Why it failed, bounced, was deferred or was suppressed for this recipient. */
  reason: string | null;
  /** When the message got this status for this recipient; null before the first attempt. */
  at: string | null;
}

/** Remove the contact from a STATIC audience. */
export interface RemoveFromAudience {
  /** Type of the record. */
  type: "REMOVE_FROM_AUDIENCE";
  /** Id of the audience. */
  audienceId: string;
}

/** The response of an operation that removes a member from a group, such as a contact from an audience. */
export interface Removed {
  /** Whether a record was removed. Default: `true`. */
  removed: boolean;
}

/** Rendered content. A part with an error is null. */
export interface RenderedDraft {
  /** Subject line. */
  subject: string | null;
  /** HTML body. */
  html: string | null;
  /** Plain text body. */
  text: string | null;
  /** The names of the variables that the content uses. */
  variables: string[];
  /** The errors; empty if the content can be sent. */
  problems: TemplateFault[];
}

/** The result of processing a message about e-mail. */
export interface ReportReceipt {
  /** A delivery report, a complaint, an automatic reply such as a vacation notice, or something else. */
  type: "automatic_reply" | "complaint" | "delivery" | "unrecognized" | (string & {});
  /** Id of the e-mail that the message is about; null if it names no e-mail of the project. */
  emailId: string | null;
  /** The effects of a report, one for each recipient that it names. */
  results: ReportedResult[];
  /** Id of the message if it was not understood and therefore kept; otherwise null. */
  reportId: string | null;
  /** Why the message was not understood; otherwise null. */
  reason: string | null;
}

/** The effect of a report for one recipient of an e-mail. */
export interface ReportedResult {
  /** Kind of the entry. */
  kind: "BOUNCED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | (string & {});
  /** The address that the report names; null if it names none. */
  recipient: string | null;
  /**
   * `unchanged`: the same was reported before, or something newer, or the address is no recipient of the e-mail.
   * `unknown_send`: there is no such e-mail.
   */
  result: "applied" | "unchanged" | "unknown_send" | (string & {});
}

/** The bounce and complaint rates of a domain, and its state. */
export interface Reputation {
  /** Id of the sending domain. */
  domainId: string;
  /** Domain name. */
  domain: string;
  /** HEALTHY, WARNING, or HELD: marketing mail of this domain waits. */
  state: "HEALTHY" | "HELD" | "WARNING" | (string & {});
  /** When the state began; null if it has never changed. */
  since: string | null;
  /** The rate that is above a threshold, with its numbers; null if HEALTHY. */
  reason: string | null;
  /**
   * The time until which waiting messages are held, unless the domain is released earlier. It is moved forward as long
   * as the state is HELD; null in other states.
   */
  heldUntil: string | null;
  /** The time since which messages count for the rates: seven days ago, or the last release if it is later. */
  countedFrom: string;
  /** The messages since `countedFrom`. */
  counts: ReputationCounts;
  /** The share of messages with a hard bounce, from 0 to 1. */
  bounceRate: number;
  /** The share of messages with a complaint, from 0 to 1. */
  complaintRate: number;
  /** The rates at which the state changes. */
  thresholds: ReputationThresholds;
  /** The counts of each day, oldest first; days without messages are included. */
  days: ReputationDay[];
}

/** How many messages a domain sent, and how many of them bounced or were reported as spam. */
export interface ReputationCounts {
  /** Messages that a mail server accepted, or rejected because of the recipient. */
  messages: number;
  /** Messages with a hard bounce: the recipient does not exist. Rejections for other reasons do not count. */
  bounced: number;
  /** Messages that a recipient reported as spam. */
  complained: number;
}

/** How many messages a domain sent on one day, and how many of them bounced or were reported as spam. */
export interface ReputationDay {
  /** Messages that a mail server accepted, or rejected because of the recipient. */
  messages: number;
  /** Messages with a hard bounce: the recipient does not exist. Rejections for other reasons do not count. */
  bounced: number;
  /** Messages that a recipient reported as spam. */
  complained: number;
  /** The day in UTC on which the messages were transmitted. */
  day: string;
}

/** Why held mail is released. */
export interface ReputationRelease {
  /** What was done about the cause. Stored in the audit log. */
  reason: string;
}

/** The thresholds of both rates. */
export interface ReputationThresholds {
  /** The thresholds of the rate of hard bounces. */
  bounces: RateThresholds;
  /** The thresholds of the rate of complaints. */
  complaints: RateThresholds;
}

/** The terms that a project's customers must accept. */
export interface RequiredTerms {
  /** What to send as `acceptedTerms`. */
  version: string;
  /** URL of your terms of service, in the foot of pages. */
  termsUrl: string | null;
  /** URL of your privacy policy, in the foot of pages. */
  privacyUrl: string | null;
}

/** The token from the mail, and the new password. */
export interface ResetPassword {
  /** Token from the link in the mail. */
  token: string;
  /** The new password. */
  newPassword: string;
}

/** A named set of permissions. */
export interface Role {
  /** Key that identifies it in requests, or the API key. */
  key: string;
  /** Display name. */
  name: string;
  /** Description for people. */
  description: string | null;
  /** Where the permissions of the role apply: in the project, or in the organization whose member has the role. */
  scope: "ORGANIZATION" | "PROJECT" | (string & {});
  /** Whether a customer who has the role in the project has it in every organization too. */
  appliesToAllOrganizations: boolean;
  /** Whether the role is built in and cannot be changed. */
  system: boolean;
  /** Permissions, such as `emails:send`. */
  permissions: string[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Fields to change; `permissions` replaces the whole list. */
export interface RoleChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Description for people. */
  description?: string | null | undefined;
  /** Permissions, such as `emails:send`. */
  permissions?: string[] | undefined;
  /** Whether a project role grants its permissions in every organization. */
  appliesToAllOrganizations?: boolean | undefined;
}

/** Keys of roles with the scope PROJECT. */
export interface RolesChange {
  /** Keys of the roles. */
  roles: string[];
}

/** A condition (`field`, `operator`, `value`) or a group of them (`match`, `conditions`). */
export interface RuleCondition {
  /** Field to compare: `email`, `createdAt`, `attributes.<name>` … */
  field?: string | null | undefined;
  /** Comparison operator: `eq`, `contains`, `withinDays` … */
  operator?: string | null | undefined;
  /** Value to compare the field with. */
  value?: unknown | undefined;
  /** For conditions on how often an event happened: count only events within this number of days before now. */
  withinDays?: number | null | undefined;
  /** Whether `all` conditions must hold, or `any` of them. */
  match?: "all" | "any" | (string & {}) | null | undefined;
  /** Conditions (a field with an operator) or nested groups of conditions. */
  conditions?: RuleCondition[] | null | undefined;
}

/** Contacts match if all conditions hold, or any of them, depending on `match`. */
export interface Rules {
  /** Whether `all` conditions must hold, or `any` of them. Default: `"all"`. */
  match?: "all" | "any" | (string & {}) | undefined;
  /** Conditions (a field with an operator) or nested groups of conditions. */
  conditions: RuleCondition[];
}

/** Number of failed runs that were resumed. */
export interface RunsRetried {
  /** Number of records that were queued again. */
  retried: number;
  /** Whether there may be more failed runs; if so, repeat the request. */
  more: boolean;
}

/** A contact that need not exist. */
export interface SampleContact {
  /** E-mail address. */
  email: string;
  /** Custom data about the contact, for templates and audience rules. */
  attributes?: { [key: string]: unknown } | undefined;
}

/** A code of the authenticator app, or a recovery code. */
export interface SecondFactorProof {
  /** One-time code from the authenticator app or from the mail. */
  code?: string | null | undefined;
  /** A recovery code, instead of `code`. */
  recoveryCode?: string | null | undefined;
}

/** The `mfaToken` that the sign-in returned, and either a code of the authenticator app or a recovery code. */
export interface SecondFactorSignIn {
  /** Token that proves the first factor. Send it with the second factor. */
  mfaToken: string;
  /** One-time code from the authenticator app or from the mail. */
  code?: string | null | undefined;
  /** A recovery code, instead of `code`. */
  recoveryCode?: string | null | undefined;
  /**
   * Whether not to ask for the second factor on this device again for the days that the project allows
   * (`rememberedDeviceDays`). Default: `false`.
   */
  rememberDevice?: boolean | undefined;
}

/** One delivery attempt with the server's replies and the SMTP dialogue. */
export interface SendAttempt {
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Outcome of the attempt. */
  outcome: "ACCEPTED" | "AMBIGUOUS" | "DEFERRED" | "FAILED" | "REJECTED" | (string & {});
  /** `direct`, `relay`, `ses` or `capture`; null if no transport was used, or if that is not known. */
  transport: string | null;
  /** Host name of the server. */
  host: string;
  /** The result for each recipient. */
  results: ({ [key: string]: unknown })[];
  /** SMTP dialogue, line by line: `C:` is this server, `S:` the remote server, `TLS:` the encryption. */
  dialogue: string[];
  /** Duration in milliseconds. */
  durationMs: number;
  /** When it finished (UTC); null while it is running. */
  finishedAt: string;
}

/** Send a template to the contact; skipped for unsubscribed contacts. */
export interface SendEmail {
  /** Type of the record. */
  type: "SEND_EMAIL";
  /** Id of the template that provides subject, html and text. */
  templateId: string;
  /** The sending domain; `fromEmail` must belong to it. */
  domainId?: string | null | undefined;
  /** E-mail address of the sender. */
  fromEmail: string;
  /** Display name of the sender. */
  fromName?: string | null | undefined;
  /** Defaults to the template's subject. */
  subject?: string | null | undefined;
  /** Address for replies (`Reply-To` header). */
  replyTo?: string | null | undefined;
}

/** An event of a send. */
export interface SendEvent {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Type of the record. */
  type: "Bounce" | "Click" | "Complaint" | "Delivery" | "DeliveryDelay" | "Open" | "Reject" | "Send" | (string & {});
  /** When the record was created (UTC). */
  createdAt: string;
}

/** A report about a send that arrived after its attempts: a bounce, a complaint, a delay or a delivery. */
export interface SendReport {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Kind of the entry. */
  kind: "BOUNCED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | (string & {});
  /** The address that the report is about; empty if it does not say. */
  recipient: string;
  /**
   * How it arrived: `dsn` (RFC 3464), `bounce` (a bounce in another form), `arf` (RFC 5965), or the name of a provider
   * such as `ses`.
   */
  source: string;
  /**
   * The kind of bounce: `hard` (the recipient can never be reached), `soft` (not at present), `block` (bad reputation
   * of the sender) or `policy` (the message violates a rule of the server); null for other reports.
   */
  type: string | null;
  /** SMTP reply code (RFC 5321); 0 if the report has none. */
  code: number;
  /** Enhanced status code (RFC 3463); empty if the report has none. */
  enhancedCode: string;
  /** The text of the server that refused or delayed the message, or of the report. */
  text: string;
  /** The server that made the report; empty if it does not say. */
  host: string;
  /** The type of a complaint (RFC 5965 §3.5), such as `abuse`; null for other reports. */
  feedbackType: string | null;
  /** Whether the report changed the send; false if, for example, the send had already bounced. */
  changed: boolean;
  /** How many times this report arrived. */
  times: number;
  /** When it happened (UTC). */
  occurredAt: string;
  /** When the latest of these reports arrived. */
  receivedAt: string;
}

/** An accepted send. `status` is its status at the time of the response. */
export interface SendResult {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** `Message-ID` header of the message, the same for all attempts. */
  messageId: string;
  /** Status of the record. */
  status: "BOUNCED" | "CANCELLED" | "COMPLAINED" | "DELAYED" | "DELIVERED" | "EXPIRED" | "FAILED" | "QUEUED" | "SCHEDULED" | "SENT" | "SUPPRESSED" | (string & {});
  /**
   * The message to each recipient if an `unsubscribable` e-mail has several; `id`, `messageId` and `status` are those
   * of the first.
   */
  messages: RecipientMessage[];
}

/** Numbers and rates of the project's sends. Opens and clicks by machines are counted separately. */
export interface SendTotals {
  /** Sends that were created, whether they were sent or not. */
  total: number;
  /** Sends that a mail server accepted, without those that bounced later. */
  sent: number;
  /** Number of messages that were delivered. */
  delivered: number;
  /** Number of messages that people opened. */
  opened: number;
  /** Number of messages in which people clicked a link. */
  clicked: number;
  /** Number of messages that bounced. */
  bounced: number;
  /** Number of messages that were reported as spam. */
  complained: number;
  /** Number of failures. */
  failed: number;
  /** Sends that were opened by machines only. */
  machineOpened: number;
  /** Sends in which only machines clicked. */
  machineClicked: number;
  /** Sends that were created in the last 30 days, whatever `days` is. */
  last30Days: number;
  /** Share of messages that were opened, from 0 to 1. */
  openRate: number;
  /** Share of messages in which a link was clicked, from 0 to 1. */
  clickRate: number;
  /** Share of messages that bounced, from 0 to 1. */
  bounceRate: number;
  /** Share of messages that were reported as spam, from 0 to 1. */
  complaintRate: number;
}

/** A single sender: one address that can be used as `from` without a verified domain. */
export interface Sender {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  email: string;
  /** Status of the record. */
  status: "PENDING" | "VERIFIED" | (string & {});
  /**
   * The DMARC policy of the address's domain: `none`, `quarantine` or `reject`; null if it has none or the lookup
   * failed.
   */
  dmarcPolicy: string | null;
  /** How receivers may treat mail from this sender. */
  warnings: string[];
  /** When the link in the last confirmation mail expires (UTC); null once the sender is confirmed. */
  linkExpiresAt: string | null;
  /** When it was verified (UTC); null if it is not. */
  verifiedAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Data of events about a single sender. `id` is the id of the sender. */
export interface SenderEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Address of the sender. */
  email: string;
}

/** The token from the link in the confirmation mail. */
export interface SenderToken {
  /** Token from the link in the mail. */
  token: string;
}

/**
 * Settings to change; omitted fields keep their values. Null resets a setting to its default, where null is
 *     allowed.
 */
export interface SettingsChange {
  /**
   * How mail is sent: `relay` through an SMTP relay, `ses` through Amazon SES, `direct` to the recipients' mail servers
   * if the server offers it; `capture` only stores it in the inbox. Null uses the server's default.
   */
  transport?: "capture" | "direct" | "relay" | "ses" | (string & {}) | null | undefined;
  /**
   * Transports to use, in this order, if `transport` cannot be reached. Null: none, or those of the server if
   * `transport` is null.
   */
  fallbackTransports?: ("direct" | "relay" | "ses" | (string & {}))[] | null | undefined;
  /** SMTP relays to send through; null uses the server's relays. */
  relays?: ProjectRelay[] | null | undefined;
  /** Account of Amazon SES to send through; null uses the server's account. */
  ses?: ProjectSes | null | undefined;
  /** Host name of tracking links; null uses the server's host name. */
  trackingDomain?: string | null | undefined;
  /** Whether opens are tracked. */
  trackOpens?: boolean | undefined;
  /** Whether clicks are tracked. */
  trackClicks?: boolean | undefined;
  /**
   * Whether the message is sent only over TLS, and only to servers with a valid certificate that offer REQUIRETLS (RFC
   * 8689). To any other server it bounces: with 5.7.10 if TLS or a valid certificate is missing, with 5.7.30 if
   * REQUIRETLS is not offered. Null: the setting of the project.
   */
  requireTls?: boolean | undefined;
  /** E-mail addresses that get a test copy of a campaign on request (`test-seed-list`). */
  seedList?: string[] | null | undefined;
  /** Number of days for which message bodies are kept; null uses the server's default. */
  retentionDays?: number | null | undefined;
  /** Number of days for which received messages are kept; null means 30. */
  inboundRetentionDays?: number | null | undefined;
  /** Number of days for which e-mail log, opens and clicks are kept; null keeps them. */
  logRetentionDays?: number | null | undefined;
  /** Number of days for which events are kept; null keeps them. */
  eventRetentionDays?: number | null | undefined;
  /** Whether log and events are written to the server's archive before they are deleted. */
  archiveExpired?: boolean | undefined;
  /** Action if a connection ends before the server replies to the complete message: `retry` or `hold`. */
  onAmbiguous?: "hold" | "retry" | (string & {}) | undefined;
  /** Maximum messages of campaigns and automations to one contact within 24 hours; null uses the default of 10. */
  frequencyCap?: number | null | undefined;
  /** Maximum requests per second of this project; null uses the server's default. */
  rateLimit?: number | null | undefined;
  /** Sign-in settings for customers. */
  signIn?: SignInChange | undefined;
  /** Further settings, merged with the stored ones by name; null removes a name. At most 64 KiB in all, as JSON. */
  extra?: { [key: string]: unknown } | undefined;
}

/** A link with which an administrator of an organization sets it up. */
export interface SetupLink {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /** Id of the organization. */
  organizationId: string;
  /** The steps, in order. */
  steps: ("DOMAIN" | "SCIM" | "SSO" | (string & {}))[];
  /** Roles besides MEMBER that the administrator may give to groups of the directory. */
  assignableRoles: string[];
  /** E-mail address. */
  email: string | null;
  /** PENDING until it is opened, then OPENED until it is COMPLETED by the administrator, REVOKED or EXPIRED. */
  status: "COMPLETED" | "EXPIRED" | "OPENED" | "PENDING" | "REVOKED" | (string & {});
  /** The provider that the administrator has chosen. */
  provider: "ENTRA" | "GOOGLE" | "JUMPCLOUD" | "OIDC" | "OKTA" | "SAML" | (string & {}) | null;
  /** The connection that the link has created; that of an earlier link of the organization is taken over. */
  ssoConnectionId: string | null;
  /** The directory connection that the link has created or taken over. */
  directoryConnectionId: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
  /** When the link was opened, and bound to the browser that opened it. */
  openedAt: string | null;
  /** The time of the last request with the link, to within a minute. */
  lastUsedAt: string | null;
  /** When the administrator has finished the setup. */
  completedAt: string | null;
  /** When it was revoked (UTC); null if it was not revoked. */
  revokedAt: string | null;
}

/** Data of events about a setup link. `id` is the id of the link. */
export interface SetupLinkEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /**
   * True if a TEST key, or a session that was started with one, caused the event. Mail that follows from the event is
   * then captured instead of sent. Absent otherwise, and if the key itself is the actor: the list of events then shows
   * `actorType` `TEST_KEY`. Default: `false`.
   */
  test?: boolean | undefined;
  /** Id of the organization. */
  organizationId: string;
  /** What the link permits, in `setup_link.created`: DOMAIN, SSO, SCIM. */
  steps?: string[] | null | undefined;
}

/** A new setup link with its URL, which is not shown again. */
export interface SetupLinkWithUrl {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /** Id of the organization. */
  organizationId: string;
  /** The steps, in order. */
  steps: ("DOMAIN" | "SCIM" | "SSO" | (string & {}))[];
  /** Roles besides MEMBER that the administrator may give to groups of the directory. */
  assignableRoles: string[];
  /** E-mail address. */
  email: string | null;
  /** PENDING until it is opened, then OPENED until it is COMPLETED by the administrator, REVOKED or EXPIRED. */
  status: "COMPLETED" | "EXPIRED" | "OPENED" | "PENDING" | "REVOKED" | (string & {});
  /** The provider that the administrator has chosen. */
  provider: "ENTRA" | "GOOGLE" | "JUMPCLOUD" | "OIDC" | "OKTA" | "SAML" | (string & {}) | null;
  /** The connection that the link has created; that of an earlier link of the organization is taken over. */
  ssoConnectionId: string | null;
  /** The directory connection that the link has created or taken over. */
  directoryConnectionId: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
  /** When the link was opened, and bound to the browser that opened it. */
  openedAt: string | null;
  /** The time of the last request with the link, to within a minute. */
  lastUsedAt: string | null;
  /** When the administrator has finished the setup. */
  completedAt: string | null;
  /** When it was revoked (UTC); null if it was not revoked. */
  revokedAt: string | null;
  /** The URL. */
  url: string;
}

/**
 * Sign-in settings to change; omitted fields keep their values. Null resets a setting to its default, where null is
 *     allowed.
 */
export interface SignInChange {
  /** Authentication methods that were used or are allowed. */
  methods?: ("EMAIL_CODE" | "EMAIL_LINK" | "PASSKEY" | "PASSWORD" | (string & {}))[] | null | undefined;
  /** Whether anyone can sign up. */
  signUp?: boolean | undefined;
  /** Whether an address must be verified before the first sign-in (`REQUIRED`) or not (`LATER`). */
  verifyEmail?: "LATER" | "REQUIRED" | (string & {}) | undefined;
  /** Web origins that can call the sign-in operations from a browser (CORS). */
  allowedOrigins?: string[] | null | undefined;
  /** URLs to which a sign-in can redirect. */
  redirectUrls?: string[] | null | undefined;
  /** Sender of sign-in mail; null uses the server's sender. Of a captured message: the envelope sender. */
  mailFrom?: string | null | undefined;
  /** Notices about a customer's security that are sent by mail. */
  securityMails?: ("EMAIL_CHANGED" | "IDENTITY_CHANGED" | "IMPERSONATED" | "MFA_CHANGED" | "NEW_DEVICE" | "PASSWORD_CHANGED" | (string & {}))[] | null | undefined;
  /**
   * Whether a customer is linked to the contact with the same address: `NONE`, `LINK` if there is one, `CREATE` also
   * creates a missing one.
   */
  contacts?: "CREATE" | "LINK" | "NONE" | (string & {}) | undefined;
  /** Domain that passkeys belong to (WebAuthn relying party id). */
  passkeyDomain?: string | null | undefined;
  /**
   * Host name of hosted pages, such as `login.example.com`; null for that of this server. It must be below a verified
   * sending domain of the project, and no other project can have it.
   */
  pagesDomain?: string | null | undefined;
  /** Name of your product on pages and in mail. */
  appName?: string | null | undefined;
  /** URL of the image on pages and in mail. */
  logoUrl?: string | null | undefined;
  /** Color of buttons on pages and in mail, as `#rrggbb`. */
  accentColor?: string | null | undefined;
  /**
   * The language of hosted pages and e-mails if neither the request nor the browser asks for one of the others; null
   * means English.
   */
  defaultLanguage?: "de" | "en" | "es" | "fr" | "ja" | "pt" | (string & {}) | null | undefined;
  /** Colors, corners and fonts of hosted pages and e-mails. */
  theme?: ThemeChange | null | undefined;
  /** Texts of hosted pages that replace the built-in ones, by language. */
  pageTexts?: PageTextSettingsChange | null | undefined;
  /** URL of your privacy policy, in the foot of pages. */
  privacyUrl?: string | null | undefined;
  /** URL of your terms of service, in the foot of pages. */
  termsUrl?: string | null | undefined;
  /** Links in the foot of hosted pages. */
  helpUrl?: string | null | undefined;
  /** The current version of the terms at `termsUrl` and of the privacy policy. */
  termsVersion?: string | null | undefined;
  /**
   * Whether customers must accept the current version of the terms: when they sign up, and at the next sign-in after
   * the version has changed. Requires `termsUrl` and `termsVersion`.
   */
  requireTerms?: boolean | undefined;
  /** Whether all customers must use single sign-on. Requires a working connection. */
  requireSso?: boolean | undefined;
  /** Whether all customers must sign in with a second factor; customers without one must set it up first. */
  requireMfa?: boolean | undefined;
  /**
   * For how many days customers may choose not to be asked for the second factor on a device again; null, the default,
   * for never. Has no effect where the project or an organization requires a second factor.
   */
  rememberedDeviceDays?: number | null | undefined;
  /** The keys of metadata that access tokens contain. Customers can read their tokens. */
  tokenClaims?: TokenClaimsChange | null | undefined;
  /** Whether customers can delete their accounts themselves; true by default. */
  accountDeletion?: boolean | undefined;
  /**
   * Whether OWNERs of organizations can set up domains, single sign-on and directories themselves, on the page of their
   * organization; false by default.
   */
  organizationSetup?: boolean | undefined;
  /** Whether clients of the OpenID provider can register themselves: no, with an initial access token, or without. */
  clientRegistration?: "OFF" | "OPEN" | "TOKEN" | (string & {}) | undefined;
  /**
   * Whether the id of a client of the OpenID provider can be the URL of a document with its metadata, so that clients
   * need not be registered.
   */
  clientMetadataDocuments?: boolean | undefined;
}

/** The code from the mail, the id of its challenge, and the token of a remembered device. */
export interface SignInCodeVerification {
  /** Id of the challenge. Send it back with the code. */
  challengeId: string;
  /** Six digits, such as `123456`. */
  code: string;
  /** The `rememberedDeviceToken` that `mfa/verify` has returned on this device. */
  rememberedDeviceToken?: string | null | undefined;
}

/** A URL of your server that is called in a sign-up or sign-in. */
export interface SignInHook {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Kind of the entry. */
  kind: "BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {});
  /** The URL. */
  url: string;
  /** Whether the record is active. */
  active: boolean;
  /** What happens without a valid answer in time. `CONTINUE`: as if there was no hook. `REFUSE`: 503 `hook_failed`. */
  onFailure: "CONTINUE" | "REFUSE" | (string & {});
  /** How long a call may take, in milliseconds. */
  timeoutMs: number;
  /** Until when the previous secret also signs deliveries (UTC); null if there is none. */
  previousSecretExpiresAt: string | null;
  /** Number of successive failures; 0 if the last call succeeded. */
  failures: number;
  /** Since when the check fails (UTC); null if it succeeds. */
  failingSince: string | null;
  /** Until when the hook is not called after repeated failures, and `onFailure` applies at once; or null. */
  pausedUntil: string | null;
  /** The last 20 failures, newest first. */
  recentFailures: HookFailure[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Fields to change; omitted fields keep their values. */
export interface SignInHookChange {
  /** An https URL. */
  url?: string | undefined;
  /** Whether the record is active. */
  active?: boolean | undefined;
  /** What happens without a valid answer in time. `CONTINUE`: as if there was no hook. `REFUSE`: 503 `hook_failed`. */
  onFailure?: "CONTINUE" | "REFUSE" | (string & {}) | undefined;
  /** How long a call may take, in milliseconds. */
  timeoutMs?: number | undefined;
}

/** The result of a test call. */
export interface SignInHookTest {
  /** Whether the answer is valid. */
  ok: boolean;
  /** The HTTP status; null if there was no response. */
  status: number | null;
  /** In milliseconds. */
  responseTime: number;
  /** Why the call failed; null if it succeeded. */
  reason: string | null;
  /** The answer of the hook, if it is valid. */
  answer: { [key: string]: unknown } | null;
}

/** A hook with its secret, which only the responses to creation and rotation contain. */
export interface SignInHookWithSecret {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Kind of the entry. */
  kind: "BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {});
  /** The URL. */
  url: string;
  /** Whether the record is active. */
  active: boolean;
  /** What happens without a valid answer in time. `CONTINUE`: as if there was no hook. `REFUSE`: 503 `hook_failed`. */
  onFailure: "CONTINUE" | "REFUSE" | (string & {});
  /** How long a call may take, in milliseconds. */
  timeoutMs: number;
  /** Until when the previous secret also signs deliveries (UTC); null if there is none. */
  previousSecretExpiresAt: string | null;
  /** Number of successive failures; 0 if the last call succeeded. */
  failures: number;
  /** Since when the check fails (UTC); null if it succeeds. */
  failingSince: string | null;
  /** Until when the hook is not called after repeated failures, and `onFailure` applies at once; or null. */
  pausedUntil: string | null;
  /** The last 20 failures, newest first. */
  recentFailures: HookFailure[];
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** Shared secret. Shown only once. */
  secret: string;
}

/** An address, and where the link leads: one of the project's `redirectUrls` (default: the first). */
export interface SignInLinkRequest {
  /** E-mail address. */
  email: string;
  /** URL to which the browser is redirected afterwards; one of the project's `redirectUrls`. */
  redirectUrl?: string | null | undefined;
}

/** A sign-in provider of the project, without its client secret. */
export interface SignInProvider {
  /** Key that identifies it in requests, or the API key. */
  key: string;
  /** Kind of the provider. */
  kind: "APPLE" | "DISCORD" | "FACEBOOK" | "GITHUB" | "GITLAB" | "GOOGLE" | "LINKEDIN" | "MICROSOFT" | "OIDC" | "SLACK" | "X" | (string & {});
  /** Display name. */
  name: string;
  /** Issuer of an OpenID Connect provider. */
  issuer: string;
  /** Client id from the provider. */
  clientId: string;
  /** Whether a client secret is stored. */
  hasSecret: boolean;
  /** Scopes to request, separated by spaces. */
  scopes: string;
  /** Domains whose e-mail addresses count as verified if this provider asserts them. */
  trustedEmailDomains: string[];
  /** Apple team id; null for other providers. */
  teamId: string | null;
  /** Apple key id; null for other providers. */
  keyId: string | null;
  /** Authentication context classes to request (`acr_values`). */
  acrValues: string[];
  /** Maximum age of the provider's session in seconds (`max_age`); null for any age. */
  maxAgeSeconds: number | null;
  /**
   * How to treat an account with the address of a customer who is linked to another account there: `REFUSE` it, or
   * `HOLD` it for approval.
   */
  onNewSubject: "HOLD" | "REFUSE" | (string & {});
  /** Whether it is enabled. */
  enabled: boolean;
  /** The redirect URI to register at the provider. */
  callbackUrl: string;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Settings for sign-in of the project's customers. */
export interface SignInSettings {
  /** Authentication methods that were used or are allowed. */
  methods: ("EMAIL_CODE" | "EMAIL_LINK" | "PASSKEY" | "PASSWORD" | (string & {}))[];
  /** Whether new customers can sign up; the API can always create customers. Default: `true`. */
  signUp: boolean;
  /**
   * REQUIRED: the customer is created when the address is verified; responses do not reveal existing addresses. LATER:
   * sign-up signs the customer in at once; the response reveals whether the address is taken. Default: `"REQUIRED"`.
   */
  verifyEmail: "LATER" | "REQUIRED" | (string & {});
  /** Web origins that can call the sign-in operations (CORS). */
  allowedOrigins: string[];
  /** Allowed redirect URLs of hosted pages, links and providers; compared exactly. */
  redirectUrls: string[];
  /** Sender of sign-in e-mails; must belong to a verified sending domain. */
  mailFrom: string | null;
  /** Notices about a customer's security that are sent by mail. */
  securityMails: ("EMAIL_CHANGED" | "IDENTITY_CHANGED" | "IMPERSONATED" | "MFA_CHANGED" | "NEW_DEVICE" | "PASSWORD_CHANGED" | (string & {}))[];
  /**
   * NONE: customers are not linked to contacts. LINK: a customer is linked to the contact with the same address, if
   * there is one. CREATE: like LINK, and a missing contact is created. Default: `"NONE"`.
   */
  contacts: "CREATE" | "LINK" | "NONE" | (string & {});
  /** Relying party id of passkeys, a domain; null for that of this server. */
  passkeyDomain: string | null;
  /**
   * Host name of hosted pages, such as `login.example.com`; null for that of this server. It is below a verified
   * sending domain of the project, and used only while this domain is VERIFIED.
   */
  pagesDomain: string | null;
  /** Name of your product on pages and in mail. */
  appName: string | null;
  /** URL of the image on pages and in mail. */
  logoUrl: string | null;
  /** Color of buttons on pages and in mail, as `#rrggbb`. */
  accentColor: string | null;
  /**
   * The language of hosted pages and e-mails if neither the request nor the browser asks for one of the others; null
   * means English.
   */
  defaultLanguage: "de" | "en" | "es" | "fr" | "ja" | "pt" | (string & {}) | null;
  /**
   * Colors, corners and fonts of hosted pages and e-mails. Default:
   * `{"light":{"accent":null,"page":null,"card":null,"ink":null,"muted":null,"line":null},"dark":{"accent":null,"page":null,"card":null,"ink":null,"muted":null,"line":null},"corners":"MEDIUM","font":"SYSTEM","headingFont":"SYSTEM","pictureUrl":null}`.
   */
  theme: ThemeSettings;
  /**
   * Texts of hosted pages that replace the built-in ones, by language. Default:
   * `{"en":null,"de":null,"es":null,"fr":null,"pt":null,"ja":null}`.
   */
  pageTexts: PageTextSettings;
  /** URL of your privacy policy, in the foot of pages. */
  privacyUrl: string | null;
  /** URL of your terms of service, in the foot of pages. */
  termsUrl: string | null;
  /** Links in the foot of hosted pages. */
  helpUrl: string | null;
  /** The current version of the terms at `terms_url` and of the privacy policy. */
  termsVersion: string | null;
  /**
   * Whether customers must accept the current version of the terms: when they sign up, and at the next sign-in after
   * the version has changed. Default: `false`.
   */
  requireTerms: boolean;
  /** Whether all customers can sign in only by the single sign-on of an organization. Default: `false`. */
  requireSso: boolean;
  /**
   * Whether all customers must sign in with a second factor; customers without one must set it up first. Default:
   * `false`.
   */
  requireMfa: boolean;
  /**
   * For how many days customers may choose not to be asked for the second factor on a device again; null for never. Has
   * no effect for customers of whom the project or an organization requires a second factor.
   */
  rememberedDeviceDays: number | null;
  /** The keys of metadata that access tokens contain. Customers can read their tokens. */
  tokenClaims: TokenClaimSettings;
  /** Whether customers can delete their accounts themselves. Default: `true`. */
  accountDeletion: boolean;
  /**
   * Whether OWNERs of organizations can set up domains, single sign-on and directories themselves, on the page of their
   * organization. Default: `false`.
   */
  organizationSetup: boolean;
  /**
   * Whether clients of the OpenID provider can register themselves (RFC 7591). OFF: no. TOKEN: with an initial access
   * token. OPEN: whoever can reach this server can register clients. Default: `"OFF"`.
   */
  clientRegistration: "OFF" | "OPEN" | "TOKEN" | (string & {});
  /**
   * Whether the id of a client of the OpenID provider can be the URL of a document with its metadata, so that clients
   * need not be registered. Default: `false`.
   */
  clientMetadataDocuments: boolean;
  /** The kinds of active sign-in hooks. The operations on these hooks set it. */
  hooks: ("BEFORE_SIGN_UP" | "BEFORE_TOKEN" | "MIGRATION" | (string & {}))[];
}

/** A service provider certificate of the connection. */
export interface SpCertificate {
  /** CURRENT signs; NEXT will sign after the next rotation; PREVIOUS is only used to decrypt. */
  place: "CURRENT" | "NEXT" | "PREVIOUS" | (string & {});
  /** The certificate in PEM. */
  certificate: string;
  /** SHA-256 fingerprint of the certificate. */
  fingerprint: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
}

/** A fact about a message that is common in unwanted mail. */
export interface SpamHint {
  /** Machine-readable code of the hint. */
  code: "client_name_invalid" | "date_far_off" | "dmarc_fail" | "name_has_other_address" | "no_date" | "no_message_id" | "not_authenticated" | "program_attached" | "reply_to_other_domain" | "several_authors" | "spf_fail" | (string & {});
  /** The fact in words. */
  message: string;
}

/** The SPF result for a host, and the reason. */
export interface SpfResult {
  /** The SPF result. */
  verdict: "fail" | "neutral" | "none" | "pass" | "permerror" | "softfail" | "temperror" | (string & {});
  /** Reason, as text. */
  reason: string;
  /** The SPF record of the checked domain, if it has exactly one. */
  record: string | null;
  /** How many of the ten allowed lookups (MAX_LOOKUPS) the evaluation used. Default: `0`. */
  lookups: number;
}

/** Data of `sso.certificate_expiring`. `id` is the id of the connection. */
export interface SsoCertificateExpiringData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Id of the organization. */
  organizationId: string;
  /** Domain of the connection. */
  domain: string;
  /** Why Postern deactivated the connection itself, such as `DOMAIN_LOST`. Absent if a caller deactivated it. */
  reason?: string | null | undefined;
  /** Whose certificate expires: the identity provider's (`IDP`) or this server's (`SP`). */
  owner: "IDP" | "SP" | (string & {});
  /** When it expires (UTC). */
  expiresAt: string;
  /** Number of days until it expires. */
  daysLeft: number;
}

/** A connection of an organization to its identity provider, as the operations under `/projects` return it. */
export interface SsoConnection {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the organization. */
  organizationId: string;
  /** Id of the project. */
  projectId: string;
  /** SAML, or OIDC (OpenID Connect). Fields of the other protocol are null, empty or their default. */
  kind: "OIDC" | "SAML" | (string & {});
  /** Display name. */
  name: string;
  /** Domain name. */
  domain: string;
  /** Status of the record. */
  status: "ACTIVE" | "DRAFT" | "INACTIVE" | (string & {});
  /** Why an active connection does not work: DOMAIN_NOT_VERIFIED or ORGANIZATION_SUSPENDED; otherwise null. */
  held: string | null;
  /** Entity id of the identity provider. */
  idpEntityId: string | null;
  /** Single sign-on URL of the identity provider. */
  idpSsoUrl: string | null;
  /** SAML binding of authentication requests. */
  idpSsoBinding: "POST" | "REDIRECT" | (string & {});
  /** Single logout URL of the identity provider; null for no single logout. */
  idpSloUrl: string | null;
  /** SAML binding of logout requests. */
  idpSloBinding: "POST" | "REDIRECT" | (string & {});
  /** URL for responses to logout requests; null uses `idpSloUrl`. */
  idpSloResponseUrl: string | null;
  /** The pinned signing certificates, PEM; any of them may sign. */
  idpCertificate: string[];
  /** Details of the identity provider's signing certificates. */
  idpCertificates: IdpCertificate[];
  /** URL of the identity provider's metadata, which is read daily; null for manual settings. */
  idpMetadataUrl: string | null;
  /** When the metadata was last read from that URL; it is refreshed every day. */
  idpMetadataReadAt: string | null;
  /** Why the last refresh failed, or null; the metadata read before stays in use. */
  idpMetadataProblem: string | null;
  /** The certificate of the key that signs requests, PEM. */
  spCertificate: string;
  /** Certificates of this service: current, next and previous. */
  spCertificates: SpCertificate[];
  /** Entity id of this service. */
  spEntityId: string;
  /** Assertion consumer service URL of this service. */
  spAcsUrl: string;
  /** Single logout URL of this service. */
  spSloUrl: string;
  /** URL of this service's metadata. */
  spMetadataUrl: string;
  /** Issuer of the OpenID provider; null for SAML. */
  oidcIssuer: string | null;
  /** Client id at the OpenID provider; null for SAML. */
  oidcClientId: string | null;
  /** Whether a client secret is stored. It is never returned. */
  oidcHasSecret: boolean;
  /** Scopes to request, separated by spaces; null for SAML. */
  oidcScopes: string | null;
  /** The redirect URI to enter at the OpenID provider. */
  oidcRedirectUrl: string | null;
  /** The post-logout redirect URI to enter at the OpenID provider. */
  oidcPostLogoutRedirectUrl: string | null;
  /** The back-channel logout URI to enter at the OpenID provider. */
  oidcBackchannelLogoutUrl: string | null;
  /** Where your app sends browsers, with `redirectUrl`, `codeChallenge` and `state`. */
  loginUrl: string;
  /** Whether a sign-in can be initiated by the identity provider. */
  allowIdpInitiated: boolean;
  /** Whether assertions must be encrypted. */
  requireEncryption: boolean;
  /** Whether the outdated AES-CBC encryption is accepted. */
  allowAesCbc: boolean;
  /** Whether expired certificates of the identity provider are accepted. */
  acceptExpiredCertificates: boolean;
  /** Whether the identity provider must authenticate the person again (`ForceAuthn`). */
  forceAuthn: boolean;
  /** Format of the name identifier to request; null for any. */
  nameIdFormat: string | null;
  /** Tolerated clock difference in seconds. */
  clockSkewSeconds: number;
  /** Names of the SAML attributes or claims with the person's data. */
  attributeMapping: AttributeMapping;
  /** Roles that new members get. */
  defaultRoles: string[];
  /** Roles by group of the identity provider. */
  groupRoles: { [key: string]: string[] };
  /** Whether customers are created for unknown people. */
  createCustomers: boolean;
  /** Whether e-mail addresses outside the connection's domains are accepted. */
  allowOtherDomains: boolean;
  /** Whether every sign-on counts as multi-factor. If false, only a sign-on counts whose assertion says so. */
  trustMfa: boolean;
  /**
   * How to treat an account with the address of a customer who is linked to another account there: `REFUSE` it, or
   * `HOLD` it for approval.
   */
  onNewSubject: "HOLD" | "REFUSE" | (string & {});
  /** URL after a sign-in that the identity provider initiated; null uses the first redirect URL. */
  defaultRedirectUrl: string | null;
  /** When a test last succeeded with exactly these settings. */
  testedAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Fields to change; omitted fields keep their values. */
export interface SsoConnectionChange {
  /** The identity provider's metadata: sets all fields whose names begin with `idp`. */
  idpMetadataXml?: string | undefined;
  /**
   * URL of the metadata. It is fetched now and used like `idpMetadataXml`, and fetched again every day, so that new
   * certificates are taken over. While it is set, the fetched metadata overrides fields set one by one.
   */
  idpMetadataUrl?: string | null | undefined;
  /** Entity id of the identity provider. */
  idpEntityId?: string | null | undefined;
  /** Single sign-on URL of the identity provider. */
  idpSsoUrl?: string | null | undefined;
  /** SAML binding of authentication requests. */
  idpSsoBinding?: "POST" | "REDIRECT" | (string & {}) | undefined;
  /** Single logout URL of the identity provider; null for no single logout. */
  idpSloUrl?: string | null | undefined;
  /** SAML binding of logout requests. */
  idpSloBinding?: "POST" | "REDIRECT" | (string & {}) | undefined;
  /** URL for responses to logout requests; null uses `idpSloUrl`. */
  idpSloResponseUrl?: string | null | undefined;
  /** Issuer of the OpenID provider, exactly as its discovery document has it. */
  oidcIssuer?: string | null | undefined;
  /** Client id at the OpenID provider; null for SAML. */
  oidcClientId?: string | null | undefined;
  /** Client secret; null for a public client. Send it again if you change the issuer. */
  oidcClientSecret?: string | null | undefined;
  /** Scopes to request; must contain `openid`. Default: `openid email profile`. */
  oidcScopes?: string | null | undefined;
  /**
   * Signing certificates, PEM or bare base64; replaces the list. Add the provider's next certificate before the
   * provider signs with it.
   */
  idpCertificate?: string[] | undefined;
  /** Accept IdP-initiated sign-on; the browser is redirected to `defaultRedirectUrl`. */
  allowIdpInitiated?: boolean | undefined;
  /** Whether assertions must be encrypted. */
  requireEncryption?: boolean | undefined;
  /** Whether the outdated AES-CBC encryption is accepted. */
  allowAesCbc?: boolean | undefined;
  /** Whether expired certificates of the identity provider are accepted. */
  acceptExpiredCertificates?: boolean | undefined;
  /** Whether the identity provider must authenticate the person again (`ForceAuthn`). */
  forceAuthn?: boolean | undefined;
  /** Format of the name identifier to request; null for any. */
  nameIdFormat?: string | null | undefined;
  /** Tolerated clock difference in seconds. */
  clockSkewSeconds?: number | undefined;
  /** Names of the SAML attributes or claims with the person's data. */
  attributeMapping?: AttributeMapping | undefined;
  /** Roles in the organization for users who sign on for the first time. */
  defaultRoles?: string[] | undefined;
  /** Roles for each group. Roles listed here are updated at every sign-on; others stay. */
  groupRoles?: { [key: string]: string[] } | undefined;
  /** Whether the sign-on of an unknown user creates a customer. */
  createCustomers?: boolean | undefined;
  /** Whether to accept addresses outside the organization's verified domains (guests). They count as unverified. */
  allowOtherDomains?: boolean | undefined;
  /**
   * Whether every sign-on counts as multi-factor: set this if the identity provider always requires a second factor. If
   * false, only a sign-on counts whose assertion says so (`AuthnContextClassRef`, or Microsoft's
   * `authnmethodsreferences`).
   */
  trustMfa?: boolean | undefined;
  /**
   * What to do if a user of the identity provider has the address of a customer who is linked to another user of the
   * provider: REFUSE the sign-on, or HOLD it as an `identity-request` until an administrator approves it.
   */
  onNewSubject?: "HOLD" | "REFUSE" | (string & {}) | undefined;
  /** Redirect URL for IdP-initiated sign-on: one of the project's `redirectUrls`. */
  defaultRedirectUrl?: string | null | undefined;
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Domain name. */
  domain?: string | undefined;
}

/** A connection with the organization that has it. */
export interface SsoConnectionWithOrganization {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the organization. */
  organizationId: string;
  /** Id of the project. */
  projectId: string;
  /** SAML, or OIDC (OpenID Connect). Fields of the other protocol are null, empty or their default. */
  kind: "OIDC" | "SAML" | (string & {});
  /** Display name. */
  name: string;
  /** Domain name. */
  domain: string;
  /** Status of the record. */
  status: "ACTIVE" | "DRAFT" | "INACTIVE" | (string & {});
  /** Why an active connection does not work: DOMAIN_NOT_VERIFIED or ORGANIZATION_SUSPENDED; otherwise null. */
  held: string | null;
  /** Entity id of the identity provider. */
  idpEntityId: string | null;
  /** Single sign-on URL of the identity provider. */
  idpSsoUrl: string | null;
  /** SAML binding of authentication requests. */
  idpSsoBinding: "POST" | "REDIRECT" | (string & {});
  /** Single logout URL of the identity provider; null for no single logout. */
  idpSloUrl: string | null;
  /** SAML binding of logout requests. */
  idpSloBinding: "POST" | "REDIRECT" | (string & {});
  /** URL for responses to logout requests; null uses `idpSloUrl`. */
  idpSloResponseUrl: string | null;
  /** The pinned signing certificates, PEM; any of them may sign. */
  idpCertificate: string[];
  /** Details of the identity provider's signing certificates. */
  idpCertificates: IdpCertificate[];
  /** URL of the identity provider's metadata, which is read daily; null for manual settings. */
  idpMetadataUrl: string | null;
  /** When the metadata was last read from that URL; it is refreshed every day. */
  idpMetadataReadAt: string | null;
  /** Why the last refresh failed, or null; the metadata read before stays in use. */
  idpMetadataProblem: string | null;
  /** The certificate of the key that signs requests, PEM. */
  spCertificate: string;
  /** Certificates of this service: current, next and previous. */
  spCertificates: SpCertificate[];
  /** Entity id of this service. */
  spEntityId: string;
  /** Assertion consumer service URL of this service. */
  spAcsUrl: string;
  /** Single logout URL of this service. */
  spSloUrl: string;
  /** URL of this service's metadata. */
  spMetadataUrl: string;
  /** Issuer of the OpenID provider; null for SAML. */
  oidcIssuer: string | null;
  /** Client id at the OpenID provider; null for SAML. */
  oidcClientId: string | null;
  /** Whether a client secret is stored. It is never returned. */
  oidcHasSecret: boolean;
  /** Scopes to request, separated by spaces; null for SAML. */
  oidcScopes: string | null;
  /** The redirect URI to enter at the OpenID provider. */
  oidcRedirectUrl: string | null;
  /** The post-logout redirect URI to enter at the OpenID provider. */
  oidcPostLogoutRedirectUrl: string | null;
  /** The back-channel logout URI to enter at the OpenID provider. */
  oidcBackchannelLogoutUrl: string | null;
  /** Where your app sends browsers, with `redirectUrl`, `codeChallenge` and `state`. */
  loginUrl: string;
  /** Whether a sign-in can be initiated by the identity provider. */
  allowIdpInitiated: boolean;
  /** Whether assertions must be encrypted. */
  requireEncryption: boolean;
  /** Whether the outdated AES-CBC encryption is accepted. */
  allowAesCbc: boolean;
  /** Whether expired certificates of the identity provider are accepted. */
  acceptExpiredCertificates: boolean;
  /** Whether the identity provider must authenticate the person again (`ForceAuthn`). */
  forceAuthn: boolean;
  /** Format of the name identifier to request; null for any. */
  nameIdFormat: string | null;
  /** Tolerated clock difference in seconds. */
  clockSkewSeconds: number;
  /** Names of the SAML attributes or claims with the person's data. */
  attributeMapping: AttributeMapping;
  /** Roles that new members get. */
  defaultRoles: string[];
  /** Roles by group of the identity provider. */
  groupRoles: { [key: string]: string[] };
  /** Whether customers are created for unknown people. */
  createCustomers: boolean;
  /** Whether e-mail addresses outside the connection's domains are accepted. */
  allowOtherDomains: boolean;
  /** Whether every sign-on counts as multi-factor. If false, only a sign-on counts whose assertion says so. */
  trustMfa: boolean;
  /**
   * How to treat an account with the address of a customer who is linked to another account there: `REFUSE` it, or
   * `HOLD` it for approval.
   */
  onNewSubject: "HOLD" | "REFUSE" | (string & {});
  /** URL after a sign-in that the identity provider initiated; null uses the first redirect URL. */
  defaultRedirectUrl: string | null;
  /** When a test last succeeded with exactly these settings. */
  testedAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The organization. */
  organization: OrganizationRef;
}

/** Data of events about a single sign-on connection. `id` is the id of the connection. */
export interface SsoEventData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Id of the organization. */
  organizationId: string;
  /** Domain of the connection. */
  domain: string;
  /** Why Postern deactivated the connection itself, such as `DOMAIN_LOST`. Absent if a caller deactivated it. */
  reason?: string | null | undefined;
}

/** The connection for a domain; all fields are null if there is none. */
export interface SsoLookup {
  /** Id of the SSO connection. */
  connectionId: string | null;
  /** Id of the organization. */
  organizationId: string | null;
  /** Display name. */
  name: string | null;
  /** URL that starts the sign-in; null if there is none. */
  loginUrl: string | null;
  /**
   * If the organization has several active connections and none of them is for this domain: all of them, so that the
   * person can choose. Otherwise null.
   */
  choices: SsoLookupChoice[] | null;
}

/** One of several connections by which people with an address at a domain can sign in. */
export interface SsoLookupChoice {
  /** Id of the SSO connection. */
  connectionId: string;
  /** Display name. */
  name: string;
  /** URL that starts the sign-in; null if there is none. */
  loginUrl: string;
}

/** Data of `sso.metadata_changed`. `id` is the id of the connection. */
export interface SsoMetadataChangedData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Id of the organization. */
  organizationId: string;
  /** Domain of the connection. */
  domain: string;
  /** Why Postern deactivated the connection itself, such as `DOMAIN_LOST`. Absent if a caller deactivated it. */
  reason?: string | null | undefined;
  /** Names of the fields of the connection that were changed. */
  changed: string[];
}

/** Data of `sso.metadata_failing`. `id` is the id of the connection. */
export interface SsoMetadataFailingData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Why the metadata cannot be used. */
  problem: string;
  /** When usable metadata was read for the last time (UTC). */
  lastReadAt: string | null;
}

/**
 * URL to sign out at the identity provider too. Null if the session was not started by single sign-on, or if the
 *     provider does not support logout by redirect (SAML single logout, or RP-initiated logout of OpenID Connect).
 */
export interface SsoSignOut {
  /** The URL. */
  url: string | null;
}

/** Where the browser returns after the logout: one of the project's `redirectUrls`. */
export interface SsoSignOutRequest {
  /** URL to which the browser is redirected afterwards; one of the project's `redirectUrls`. */
  redirectUrl?: string | null | undefined;
}

/** Data of `sso.signed_in`. `id` is the id of the connection. */
export interface SsoSignedInData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** Id of the organization. */
  organizationId: string;
  /** Id of the customer. */
  customerId: string;
  /** Roles of the customer in the organization. */
  roles: string[];
}

/** A link that starts a test: open it in a browser and sign on at the identity provider. */
export interface SsoTest {
  /** The URL. */
  url: string;
  /** When it expires (UTC); null if it does not expire. */
  expiresAt: string;
}

/** The checks of a sign-on, test or logout, in order. */
export interface SsoTrace {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the SSO connection. */
  connectionId: string;
  /** Kind of the entry. */
  kind: "LOGOUT" | "SIGN_ON" | "TEST" | (string & {});
  /** Outcome of the attempt. */
  outcome: "ACCEPTED" | "REFUSED" | (string & {});
  /** Reason of the first failed check. */
  reason: string | null;
  /** Further details, as text. */
  detail: string | null;
  /** The steps, in order. */
  steps: SsoTraceStep[];
  /** The user: subject, e-mail address, name, groups, resulting roles, and all attributes as sent. */
  profile: { [key: string]: unknown } | null;
  /** Id of the customer. */
  customerId: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** One check: its name, whether it passed, and as `detail` what was found, or why the check failed. */
export interface SsoTraceStep {
  /** Description or index of the step. */
  step: string;
  /** Whether it succeeded. */
  ok: boolean;
  /** Further details, as text. */
  detail: string;
}

/** One proof: exactly one of these fields. */
export interface StepUp {
  /** Password. A new password must have at least 8 characters. */
  password?: string | null | undefined;
  /** The code that `step-up/email-code` has mailed. */
  emailCode?: CodeVerification | null | undefined;
  /** The code that the authenticator app shows. */
  code?: string | null | undefined;
  /** A recovery code, instead of `code`. */
  recoveryCode?: string | null | undefined;
  /** The assertion for the options of `step-up/passkey-options`. */
  passkey?: PasskeySignIn | null | undefined;
}

/** How a session can authenticate again. */
export interface StepUpOptions {
  /**
   * How strong the authentication of the session is: `urn:postern:single-factor`, `urn:postern:multi-factor` or `phr`.
   */
  acr: string;
  /** When the customer has last authenticated in this session: the claim `auth_time`. */
  authenticatedAt: string;
  /** What the session accepts; empty if the customer must sign in again instead. */
  methods: ("EMAIL_CODE" | "PASSKEY" | "PASSWORD" | "RECOVERY_CODE" | "TOTP" | (string & {}))[];
  /** The levels that the session can get to with these methods, the weakest first. */
  acrValues: string[];
}

/** A session after it has authenticated again. Its refresh token stays valid. */
export interface SteppedUpSession {
  /** Id of the session; null if no session was started. */
  sessionId: string;
  /** A new access token, with the new `auth_time`, `acr` and `amr`. */
  accessToken: string;
  /** When the access token expires (UTC). */
  accessTokenExpiresAt: string;
  /**
   * How strong the authentication of the session is: `urn:postern:single-factor`, `urn:postern:multi-factor` or `phr`.
   */
  acr: string;
  /** All authentication methods of the session, as in the claim `amr` (RFC 8176). */
  methods: string[];
  /** Now: the claim `auth_time`. */
  authenticatedAt: string;
}

/**
 * An address that gets no mail from this project. With the reason UNSUBSCRIBE, it gets no marketing mail and no
 *     `unsubscribable` e-mails, but all other mail.
 */
export interface Suppression {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** E-mail address. */
  address: string;
  /** Reason, as text. */
  reason: "BOUNCE" | "COMPLAINT" | "MANUAL" | "UNSUBSCRIBE" | (string & {});
  /** Source of the record. */
  source: string;
  /** Further details, as text. */
  detail: string | null;
  /** Id of the send; null if there is none. */
  sendId: string | null;
  /** Earlier, weaker reasons, oldest first. */
  history: FormerReason[];
  /** Since when the address is suppressed. */
  createdAt: string;
  /** Since when it is suppressed for this reason. */
  updatedAt: string;
}

/** The result of a bulk addition. */
export interface SuppressionBulkResult {
  /** Number of records that were added. */
  added: number;
  /** Addresses that are invalid, repeated, or already suppressed for this or a stronger reason. */
  skipped: number;
  /** How many of `added` were suppressed for a weaker reason before. */
  upgraded: number;
}

/** A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page. */
export interface SuppressionPage {
  /** The records of this page. */
  data: Suppression[];
  /** Total number of records. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** Number of pages. */
  pages: number;
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** An e-mail template. */
export interface Template {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Display name. */
  name: string;
  /** Subject line. */
  subject: string | null;
  /** Source from which the HTML is rendered: `{mjml}` or `{blocks}`. */
  builderJson: { [key: string]: unknown } | null;
  /** HTML body. */
  html: string | null;
  /** Plain text body. */
  text: string | null;
  /** `minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged. */
  engine: "minijinja" | "none" | (string & {});
  /** The names of the variables that subject, html and text use. */
  variables: string[];
  /** Version number, from 1. Each change increments it. */
  version: number;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** The id of the project; its older name in the API. */
  appId: string;
}

/**
 * The fields to change; omitted fields keep their values, null removes a value.
 *
 *     With `html: null` the html is rendered from `builderJson` again.
 */
export interface TemplateChange {
  /** A display name: one line of text, not only blanks. */
  name?: string | undefined;
  /** Source from which the HTML is rendered: `{mjml}` or `{blocks}`. */
  builderJson?: { [key: string]: unknown } | null | undefined;
  /** HTML body. */
  html?: string | null | undefined;
  /** Subject line. */
  subject?: string | null | undefined;
  /** Plain text body. */
  text?: string | null | undefined;
  /** `minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged. */
  engine?: "minijinja" | "none" | (string & {}) | undefined;
}

/** Content to render without storing it, as in `NewTemplate`, and the values to render it with. */
export interface TemplateDraft {
  /** Subject line. */
  subject?: string | null | undefined;
  /** HTML body. */
  html?: string | null | undefined;
  /** Plain text body. */
  text?: string | null | undefined;
  /** `{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`. */
  builderJson?: { [key: string]: unknown } | null | undefined;
  /**
   * `minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged. Default: `"minijinja"`.
   */
  engine?: "minijinja" | "none" | (string & {}) | undefined;
  /** Values of template variables such as `{{name}}`; of a template, the names of its variables. */
  variables?: { [key: string]: unknown } | undefined;
  /** A sample contact, whose address and attributes are variables as in a campaign; `variables` override them. */
  contact?: SampleContact | null | undefined;
}

/** An error in the content of a template. */
export interface TemplateFault {
  /** JSON pointer to the part of the request: `/html`, `/builderJson/blocks/2/url`; empty for all of it. */
  path: string;
  /** Machine-readable code of the error. */
  code: string;
  /** Description of the error. */
  message: string;
  /** The line in the part, from 1; null if it is not known. */
  line: number | null;
  /** The column in the line, from 1; null if it is not known. */
  column: number | null;
}

/** A rendered template; `text` is derived from the html if the template has no text. */
export interface TemplatePreview {
  /** Subject line. */
  subject: string | null;
  /** HTML body. */
  html: string | null;
  /** Plain text body. */
  text: string | null;
}

/** A version of a template. */
export interface TemplateVersion {
  /** Version number, from 1. Each change increments it. */
  version: number;
  /** Display name. */
  name: string;
  /** Subject line. */
  subject: string | null;
  /** Source from which the HTML is rendered: `{mjml}` or `{blocks}`. */
  builderJson: { [key: string]: unknown } | null;
  /** HTML body. */
  html: string | null;
  /** Plain text body. */
  text: string | null;
  /** `minijinja` renders tags such as `{{name}}`; `none` sends subject, html and text unchanged. */
  engine: "minijinja" | "none" | (string & {});
  /** Who created the version: the e-mail address of a developer or the name of an API key. */
  createdBy: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
}

/** A version of the project's terms that a customer has accepted. */
export interface TermsAcceptance {
  /** The version of the terms, as the project's settings had it. */
  version: string;
  /** When it was accepted (UTC); null if it was not accepted. */
  acceptedAt: string;
  /** IP address of the client. */
  ipAddress: string;
  /** `User-Agent` header of the request. */
  userAgent: string;
}

/** The `termsToken` that the sign-in returned, and the version of the terms that the customer has accepted. */
export interface TermsProof {
  /** Token of the sign-in that waits for the terms. Send it with the version that was accepted. */
  termsToken: string;
  /** Required, unless the project has stopped requiring its terms since. */
  acceptedTerms?: string | null | undefined;
}

/** Parts of the theme to change; omitted fields keep their values, and null resets one to its default. */
export interface ThemeChange {
  /** Colors on devices in light mode. */
  light?: ThemeColorsChange | null | undefined;
  /** Colors on devices in dark mode. */
  dark?: ThemeColorsChange | null | undefined;
  /** Corners of buttons, fields and boxes. */
  corners?: "LARGE" | "MEDIUM" | "SMALL" | "SQUARE" | (string & {}) | null | undefined;
  /** Font of the text. */
  font?: "GEOMETRIC" | "HUMANIST" | "MONOSPACE" | "ROUNDED" | "SERIF" | "SYSTEM" | (string & {}) | null | undefined;
  /** Font of titles. */
  headingFont?: "GEOMETRIC" | "HUMANIST" | "MONOSPACE" | "ROUNDED" | "SERIF" | "SYSTEM" | (string & {}) | null | undefined;
  /** An https URL of a picture beside the form, on screens of 900 px and more. */
  pictureUrl?: string | null | undefined;
}

/** The colors of the light or of the dark theme, as `#rrggbb`; null for the default. */
export interface ThemeColors {
  /**
   * Buttons. Null in the light theme means `accentColor`; null in the dark theme means the light accent, lightened if
   * the contrast needs it.
   */
  accent: string | null;
  /** The background. */
  page: string | null;
  /** Fields and boxes; null means `page`. */
  card: string | null;
  /** Text. */
  ink: string | null;
  /** Text that is less important. */
  muted: string | null;
  /** Lines between parts. */
  line: string | null;
}

/** Colors to change; omitted fields keep their values, and null resets one to its default. */
export interface ThemeColorsChange {
  /**
   * Buttons. Null in the light theme means `accentColor`; null in the dark theme means the light accent, lightened if
   * the contrast needs it.
   */
  accent?: string | null | undefined;
  /** The background. */
  page?: string | null | undefined;
  /** Fields and boxes; null means `page`. */
  card?: string | null | undefined;
  /** Text. */
  ink?: string | null | undefined;
  /** Text that is less important. */
  muted?: string | null | undefined;
  /** Lines between parts. */
  line?: string | null | undefined;
}

/** How hosted pages and e-mails look. */
export interface ThemeSettings {
  /**
   * Colors on devices in light mode. Default:
   * `{"accent":null,"page":null,"card":null,"ink":null,"muted":null,"line":null}`.
   */
  light: ThemeColors;
  /**
   * Colors on devices in dark mode. Default:
   * `{"accent":null,"page":null,"card":null,"ink":null,"muted":null,"line":null}`.
   */
  dark: ThemeColors;
  /** Corners of buttons, fields and boxes. Default: `"MEDIUM"`. */
  corners: "LARGE" | "MEDIUM" | "SMALL" | "SQUARE" | (string & {});
  /** Font of the text. Default: `"SYSTEM"`. */
  font: "GEOMETRIC" | "HUMANIST" | "MONOSPACE" | "ROUNDED" | "SERIF" | "SYSTEM" | (string & {});
  /** Font of titles. Default: `"SYSTEM"`. */
  headingFont: "GEOMETRIC" | "HUMANIST" | "MONOSPACE" | "ROUNDED" | "SERIF" | "SYSTEM" | (string & {});
  /** An https URL of a picture beside the form, on screens of 900 px and more. */
  pictureUrl: string | null;
}

/** The statistics of one day. */
export interface TimeSeriesItem {
  /** The day, YYYY-MM-DD. */
  date: string;
  /** Number of messages that were sent. */
  sent: number;
  /** Number of messages that were delivered. */
  delivered: number;
  /** Number of messages that people opened. */
  opened: number;
  /** Number of messages in which people clicked a link. */
  clicked: number;
  /** Number of messages that bounced. */
  bounced: number;
  /** Number of messages that were reported as spam. */
  complained: number;
  /** Number of failures. */
  failed: number;
}

/** Who caused an entry of the timeline. */
export interface TimelineActor {
  /** Type of the record. */
  type: string;
  /** Unique identifier. Treat it as an opaque string. */
  id: string | null;
  /** Display name. */
  label: string | null;
}

/** An entry of a customer's timeline: an event, an e-mail, a change by a developer, or a session. */
export interface TimelineEntry {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Kind of the entry. */
  kind: "AUDIT" | "EMAIL" | "EVENT" | "SESSION" | (string & {});
  /** Type of the record. */
  type: string;
  /** Short text for people. */
  title: string;
  /** When it happened (UTC). */
  occurredAt: string;
  /** The actor. */
  actor: TimelineActor;
  /** Further details. */
  data: { [key: string]: unknown };
}

/** A part of a feed; `nextCursor` is null at the end. */
export interface TimelineEntryFeed {
  /** The records of this page. */
  data: TimelineEntry[];
  /** Value of `cursor` for the next page; null on the last page. */
  nextCursor: string | null;
}

/** The keys of metadata that access tokens of customers contain. */
export interface TokenClaimSettings {
  /** Keys of the customer's metadata, in the claim `metadata`. */
  customer: string[];
  /** Keys of the active organization's metadata, in the claim `org.metadata`. */
  organization: string[];
}

/** The keys of metadata that access tokens contain; omitted fields keep their values, and null removes all keys. */
export interface TokenClaimsChange {
  /** Keys of the customer's metadata, in the claim `metadata`. */
  customer?: string[] | null | undefined;
  /** Keys of the active organization's metadata, in the claim `org.metadata`. */
  organization?: string[] | null | undefined;
}

/** How long the present token stays valid. */
export interface TokenRotation {
  /** Hours during which the present token is still accepted; 0 ends it at once. Default: `24`. */
  overlapHours?: number | undefined;
}

/** The code that the app shows. */
export interface TotpCode {
  /** Six digits, such as `123456`. */
  code: string;
}

/** The current code of the authenticator app. */
export interface TotpConfirmation {
  /** One-time code from the authenticator app or from the mail. */
  code: string;
}

/** The secret for an authenticator app; `uri` is the content of the QR code. */
export interface TotpEnrolment {
  /** Shared secret. Shown only once. */
  secret: string;
  /** `otpauth://` URI to show as a QR code. */
  uri: string;
}

/** A recorded request for the tracking pixel (OPEN) or a tracked link (CLICK) of a send. */
export interface TrackingHit {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Kind of the entry. */
  kind: "CLICK" | "OPEN" | "UNSUBSCRIBE" | (string & {});
  /** The target of the link; null for OPEN, and if it was erased. */
  url: string | null;
  /** What caused the hit: a person, a machine such as a security scanner, or an image proxy. */
  verdict: "human" | "machine" | "proxy" | (string & {});
  /**
   * The criterion that decided `verdict`: `no_user_agent`, `apple_mail_privacy_protection`, `image_proxy`, `user_agent`
   * (of a program), `too_soon` (within 5 seconds of delivery), or `all_links_at_once` (three or more different links of
   * the message were followed within a second); null for `human`.
   */
  reason: string | null;
  /** IP address of the client. */
  ipAddress: string;
  /** `User-Agent` header of the request. */
  userAgent: string;
  /** When it happened (UTC). */
  occurredAt: string;
}

/** What starts a run: a contact joins or leaves an audience or is created, or an event concerning it occurs. */
export interface Trigger {
  /** Type of the trigger. */
  type: "AUDIENCE_JOINED" | "AUDIENCE_LEFT" | "CONTACT_CREATED" | "EVENT" | (string & {});
  /** Id of the audience. */
  audienceId?: string | null | undefined;
  /** For an EVENT trigger: the name of a Postern event or of a custom event. */
  event?: string | null | undefined;
  /**
   * For an EVENT trigger: only events whose data matches these rules start a run. The syntax is that of audience rules;
   * a field is a key of the event's data (`total`), with dots for nested keys (`customer.plan`).
   */
  where?: Rules | null | undefined;
  /**
   * Whether a contact can start only one run, ever. Otherwise it can start runs repeatedly, but not while it has an
   * unfinished run, and at most `maxRunsPerHour` within an hour. Runs that TEST keys start are counted separately.
   * Default: `true`.
   */
  once?: boolean | undefined;
}

/** A message about e-mail that was not understood, without its content. */
export interface UnrecognizedMessage {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the e-mail to whose return path the message was sent; null if it is not known. */
  emailId: string | null;
  /** Source of the record. */
  source: "api" | "smtp" | (string & {});
  /** Why the message was not understood. */
  reason: string;
  /** Sender: `ada@example.com` or `Ada <ada@example.com>`. */
  from: string;
  /** Subject line. */
  subject: string;
  /** Size of the message in octets. Only the first 262,144 of them are kept. */
  size: number;
  /** When it was received (UTC). */
  receivedAt: string;
}

/** Merge attributes into the contact; null removes one. */
export interface UpdateContact {
  /** Type of the record. */
  type: "UPDATE_CONTACT";
  /** Custom data about the contact, for templates and audience rules. */
  attributes: { [key: string]: unknown };
}

/** Usage of all projects of an account: customers now, and live emails accepted in this calendar month (UTC). */
export interface Usage {
  /** The customers, or their number or maximum number; a null maximum means unlimited. */
  customers: number;
  /** The e-mails, or their number or maximum number; a null maximum means unlimited. */
  emails: number;
}

/** The statistics of a variant. Opens and clicks by machines are not counted. */
export interface VariantStats {
  /** Sends that a mail server accepted, without those that bounced later. */
  sent: number;
  /** Number of messages that people opened. */
  opened: number;
  /** Number of messages in which people clicked a link. */
  clicked: number;
  /** Share of messages that were opened, from 0 to 1. */
  openRate: number;
  /** Share of messages in which a link was clicked, from 0 to 1. */
  clickRate: number;
}

/** The address that was verified. */
export interface VerifiedEmail {
  /** E-mail address. */
  email: string;
}

/** The token from the mail. */
export interface VerifyEmail {
  /** Token from the link in the mail. */
  token: string;
}

/** Wait for an event of the contact, then continue with `then`; after the timeout with `else`. */
export interface WaitForEvent {
  /** Type of the record. */
  type: "WAIT_FOR_EVENT";
  /** Name of the event. */
  event: string;
  /** Defaults to 30 days. */
  timeout?: Duration | null | undefined;
  /** Steps to execute if the condition holds or the event occurs. */
  then?: (SendEmail | Delay | Condition | WaitForEvent | UpdateContact | AddToAudience | RemoveFromAudience | CallWebhook | Exit)[] | undefined;
  /** Steps to execute if the condition does not hold or the timeout elapses. */
  else?: (SendEmail | Delay | Condition | WaitForEvent | UpdateContact | AddToAudience | RemoveFromAudience | CallWebhook | Exit)[] | undefined;
}

/** The warm-up plan of a domain, and its progress. */
export interface WarmUp {
  /** Id of the sending domain. */
  domainId: string;
  /** Domain name. */
  domain: string;
  /** SCHEDULED before the first day, ACTIVE, or COMPLETED. */
  status: "ACTIVE" | "CANCELLED" | "COMPLETED" | "SCHEDULED" | (string & {});
  /** The first day, in UTC. */
  startsOn: string;
  /** The ceiling of each step. A step takes one day, or several if it is repeated. */
  steps: number[];
  /** The number of today's step, from 1. */
  step: number;
  /** How many messages the domain may send today; null unless ACTIVE. */
  ceiling: number | null;
  /**
   * Messages that count for today's ceiling: marketing messages that may be sent today, and transactional messages that
   * were sent.
   */
  used: number;
  /** Days after which the step was repeated: nothing was sent, or a rate of the domain was above a threshold. */
  repeatedDays: number;
  /** When the next day begins; null unless ACTIVE or SCHEDULED. */
  nextDayAt: string | null;
  /** The day of the last step, if no day is repeated; null unless ACTIVE or SCHEDULED. */
  lastDay: string | null;
  /** When the last step was completed; null before that. */
  endedAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** A warm-up plan: `steps`, or `targetPerDay` from which the steps follow. */
export interface WarmUpPlan {
  /** The first day, in UTC; default: today. */
  start?: string | null | undefined;
  /** The ceiling of each day: no step is lower than the one before. */
  steps?: number[] | null | undefined;
  /** The ceiling of the last day. The first day has a ceiling of 50; it doubles each day, unless `days` is set. */
  targetPerDay?: number | null | undefined;
  /** With `targetPerDay`: the number of days. The ceiling then grows by the same factor each day. */
  days?: number | null | undefined;
}

/** A subscription of a URL to events. */
export interface Webhook {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** The URL. */
  url: string;
  /** Event names, `email.*`, `*`, or `custom.<name>` and `custom.*` for custom events. */
  events: string[];
  /** The form of the payloads: `postern`, or `resend` if the subscription was created at `/compat/resend`. */
  format: "postern" | "resend" | (string & {});
  /** Description for people. */
  description: string;
  /** Whether the record is active. */
  active: boolean;
  /** When the current series of failed attempts began; null if the last attempt succeeded. */
  failingSince: string | null;
  /** When deliveries were disabled (UTC); null if they are enabled. */
  disabledAt: string | null;
  /** Why Postern deactivated it; null if it is active or was deactivated by an API call. */
  disabledReason: string | null;
  /** Until when the previous secret also signs deliveries (UTC); null if there is none. */
  previousSecretExpiresAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
}

/** Fields to change; omitted fields keep their values. */
export interface WebhookChange {
  /** Where to send; https or http. */
  url?: string | undefined;
  /** Event names, `email.*`, `*`. */
  events?: string[] | undefined;
  /** Description for people. */
  description?: string | undefined;
  /** Whether the record is active. */
  active?: boolean | undefined;
}

/** The delivery of an event to a subscription, with the result of its last attempt. */
export interface WebhookDelivery {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the webhook. */
  subscriptionId: string;
  /** Sent as `webhook-id`: the same on every attempt and replay. */
  eventId: string;
  /** Name of the event. */
  event: string;
  /** Status of the record. */
  status: "FAILED" | "PENDING" | "SUCCEEDED" | (string & {});
  /** Number of attempts so far. */
  attempts: number;
  /** HTTP status of the response; null without a response. */
  responseStatus: number | null;
  /** Why the attempt failed; null if it succeeded. */
  errorMessage: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the last attempt was made (UTC); null before the first attempt. */
  attemptedAt: string | null;
  /** When the next attempt is made (UTC); null if there is none. */
  nextAttemptAt: string | null;
  /** When it was delivered (UTC); null if it was not delivered. */
  deliveredAt: string | null;
  /** JSON body of the delivery. */
  payload: { [key: string]: unknown };
  /** Duration of the last attempt, in milliseconds. */
  responseTime: number | null;
}

/** A delivery with the first 4 KiB of the response to the last attempt. */
export interface WebhookDeliveryDetail {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** Id of the webhook. */
  subscriptionId: string;
  /** Sent as `webhook-id`: the same on every attempt and replay. */
  eventId: string;
  /** Name of the event. */
  event: string;
  /** Status of the record. */
  status: "FAILED" | "PENDING" | "SUCCEEDED" | (string & {});
  /** Number of attempts so far. */
  attempts: number;
  /** HTTP status of the response; null without a response. */
  responseStatus: number | null;
  /** Why the attempt failed; null if it succeeded. */
  errorMessage: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the last attempt was made (UTC); null before the first attempt. */
  attemptedAt: string | null;
  /** When the next attempt is made (UTC); null if there is none. */
  nextAttemptAt: string | null;
  /** When it was delivered (UTC); null if it was not delivered. */
  deliveredAt: string | null;
  /** JSON body of the delivery. */
  payload: { [key: string]: unknown };
  /** Duration of the last attempt, in milliseconds. */
  responseTime: number | null;
  /** Beginning of the response body; null without a response. */
  responseBody: string | null;
}

/** Data of `webhook.disabled`. `id` is the id of the webhook. */
export interface WebhookDisabledData {
  /** Id of the record that the event is about. */
  id: string;
  /** Id of the project. */
  projectId: string;
  /**
   * True if the other data was left out because the event would be larger than 20 kB. Absent otherwise. Default:
   * `false`.
   */
  truncated?: boolean | undefined;
  /** URL of the webhook. */
  url: string;
  /** Why it was disabled. */
  reason: string;
}

/** Filter of the deliveries to send again. */
export interface WebhookReplay {
  /** Created at or after this time; defaults to 30 days ago. */
  since?: string | null | undefined;
  /** Created before this time; defaults to now. */
  until?: string | null | undefined;
  /** Status of the record. Default: `"FAILED"`. */
  status?: "FAILED" | "PENDING" | "SUCCEEDED" | (string & {}) | undefined;
}

/** Number of deliveries that are sent again. */
export interface WebhookReplayResult {
  /** Number of deliveries that were queued again. */
  replayed: number;
  /** Whether there are more; if so, repeat the request. */
  more: boolean;
}

/** How to rotate a secret. */
export interface WebhookSecretRotation {
  /** How long the old secret signs in addition to the new one, in seconds; 0 to 604,800 (7 days). Default: `86400`. */
  gracePeriodSeconds?: number | undefined;
}

/** The result of a test request. */
export interface WebhookTestResult {
  /** The HTTP status; null if there was no response. */
  status: number | null;
  /** Whether it succeeded. */
  ok: boolean;
  /** In milliseconds. */
  responseTime: number;
  /** Why there was no response, or why the response is a failure; null if the test succeeded. */
  reason: string | null;
}

/** A subscription with its secret, which only the responses to creation and rotation contain. */
export interface WebhookWithSecret {
  /** Unique identifier. Treat it as an opaque string. */
  id: string;
  /** The project's id. The older path family calls a project an app. */
  appId: string;
  /** The URL. */
  url: string;
  /** Event names, `email.*`, `*`, or `custom.<name>` and `custom.*` for custom events. */
  events: string[];
  /** The form of the payloads: `postern`, or `resend` if the subscription was created at `/compat/resend`. */
  format: "postern" | "resend" | (string & {});
  /** Description for people. */
  description: string;
  /** Whether the record is active. */
  active: boolean;
  /** When the current series of failed attempts began; null if the last attempt succeeded. */
  failingSince: string | null;
  /** When deliveries were disabled (UTC); null if they are enabled. */
  disabledAt: string | null;
  /** Why Postern deactivated it; null if it is active or was deactivated by an API call. */
  disabledReason: string | null;
  /** Until when the previous secret also signs deliveries (UTC); null if there is none. */
  previousSecretExpiresAt: string | null;
  /** When the record was created (UTC). */
  createdAt: string;
  /** When the record was last changed (UTC). */
  updatedAt: string;
  /** Shared secret. Shown only once. */
  secret: string;
}

/** The variant to declare the winner of an A/B test. */
export interface WinnerChoice {
  /** Id of the variant. */
  variantId: string;
}

/** What every event of a webhook has. */
export interface WebhookEventBase {
  /** Name of the event. */
  type: string;
  /** When it happened. */
  timestamp: string;
}

/** An event that your application recorded; its data is in `data.data`. */
export interface CustomWebhookEvent extends WebhookEventBase {
  type: `custom.${string}`;
  data: { id: string; projectId: string; data: { [key: string]: unknown } };
}

/** An e-mail will be sent later. */
export interface EmailScheduledEvent extends WebhookEventBase {
  type: "email.scheduled";
  data: EmailScheduledData;
}

/** An e-mail was accepted and will be sent. */
export interface EmailQueuedEvent extends WebhookEventBase {
  type: "email.queued";
  data: EmailQueuedData;
}

/** The next mail server accepted the e-mail. */
export interface EmailSentEvent extends WebhookEventBase {
  type: "email.sent";
  data: EmailEventData;
}

/** The recipient's mail server accepted the e-mail. */
export interface EmailDeliveredEvent extends WebhookEventBase {
  type: "email.delivered";
  data: EmailReportData;
}

/** An attempt to deliver the e-mail failed; it will be tried again. */
export interface EmailDelayedEvent extends WebhookEventBase {
  type: "email.delayed";
  data: EmailDelayedData;
}

/** The recipient's mail server refused the e-mail permanently. */
export interface EmailBouncedEvent extends WebhookEventBase {
  type: "email.bounced";
  data: EmailBouncedData;
}

/** The recipient marked the e-mail as spam. */
export interface EmailComplainedEvent extends WebhookEventBase {
  type: "email.complained";
  data: EmailComplainedData;
}

/** The e-mail was opened, by a person or a machine (`verdict`). */
export interface EmailOpenedEvent extends WebhookEventBase {
  type: "email.opened";
  data: EmailHitData;
}

/** A link was clicked, by a person or a machine (`verdict`). */
export interface EmailClickedEvent extends WebhookEventBase {
  type: "email.clicked";
  data: EmailClickedData;
}

/** The e-mail could not be sent. */
export interface EmailFailedEvent extends WebhookEventBase {
  type: "email.failed";
  data: EmailReasonData;
}

/** The e-mail was not sent because the recipient is suppressed. */
export interface EmailSuppressedEvent extends WebhookEventBase {
  type: "email.suppressed";
  data: EmailReasonData;
}

/** The e-mail could not be sent before it expired. */
export interface EmailExpiredEvent extends WebhookEventBase {
  type: "email.expired";
  data: EmailReasonData;
}

/** The e-mail was cancelled. */
export interface EmailCancelledEvent extends WebhookEventBase {
  type: "email.cancelled";
  data: EmailReasonData;
}

/** The recipient unsubscribed. */
export interface EmailUnsubscribedEvent extends WebhookEventBase {
  type: "email.unsubscribed";
  data: EmailUnsubscribedData;
}

/** A contact was created. */
export interface ContactCreatedEvent extends WebhookEventBase {
  type: "contact.created";
  data: ContactChangedData;
}

/** A contact was changed. */
export interface ContactUpdatedEvent extends WebhookEventBase {
  type: "contact.updated";
  data: ContactChangedData;
}

/** A contact was deleted. */
export interface ContactDeletedEvent extends WebhookEventBase {
  type: "contact.deleted";
  data: ContactChangedData;
}

/** A contact was unsubscribed. */
export interface ContactUnsubscribedEvent extends WebhookEventBase {
  type: "contact.unsubscribed";
  data: ContactChangedData;
}

/** An audience was created. */
export interface AudienceCreatedEvent extends WebhookEventBase {
  type: "audience.created";
  data: AudienceEventData;
}

/** An audience was changed. */
export interface AudienceUpdatedEvent extends WebhookEventBase {
  type: "audience.updated";
  data: AudienceEventData;
}

/** An audience was deleted. */
export interface AudienceDeletedEvent extends WebhookEventBase {
  type: "audience.deleted";
  data: AudienceEventData;
}

/** The members of an audience were recomputed from its rules. */
export interface AudienceRefilledEvent extends WebhookEventBase {
  type: "audience.refilled";
  data: AudienceRefilledData;
}

/** A contact joined an audience. */
export interface AudienceJoinedEvent extends WebhookEventBase {
  type: "audience.joined";
  data: AudienceMemberData;
}

/** A contact left an audience. */
export interface AudienceLeftEvent extends WebhookEventBase {
  type: "audience.left";
  data: AudienceMemberData;
}

/** A campaign will be sent later. */
export interface CampaignScheduledEvent extends WebhookEventBase {
  type: "campaign.scheduled";
  data: CampaignScheduledData;
}

/** A campaign started. */
export interface CampaignStartedEvent extends WebhookEventBase {
  type: "campaign.started";
  data: CampaignStartedData;
}

/** An A/B test ended. */
export interface CampaignTestedEvent extends WebhookEventBase {
  type: "campaign.tested";
  data: CampaignTestedData;
}

/** All e-mails of a campaign were handed over or failed. */
export interface CampaignSentEvent extends WebhookEventBase {
  type: "campaign.sent";
  data: CampaignSentData;
}

/** A campaign was cancelled. */
export interface CampaignCancelledEvent extends WebhookEventBase {
  type: "campaign.cancelled";
  data: CampaignEventData;
}

/** A campaign could not be sent. */
export interface CampaignFailedEvent extends WebhookEventBase {
  type: "campaign.failed";
  data: CampaignFailedData;
}

/** A campaign was paused. */
export interface CampaignPausedEvent extends WebhookEventBase {
  type: "campaign.paused";
  data: CampaignEventData;
}

/** A paused campaign was resumed. */
export interface CampaignResumedEvent extends WebhookEventBase {
  type: "campaign.resumed";
  data: CampaignEventData;
}

/** A run of an automation started. */
export interface AutomationStartedEvent extends WebhookEventBase {
  type: "automation.started";
  data: AutomationStartedData;
}

/** A run of an automation ended without failing. */
export interface AutomationCompletedEvent extends WebhookEventBase {
  type: "automation.completed";
  data: AutomationEndedData;
}

/** A run of an automation failed. */
export interface AutomationFailedEvent extends WebhookEventBase {
  type: "automation.failed";
  data: AutomationEndedData;
}

/** A message to the address of a route was received. */
export interface InboundReceivedEvent extends WebhookEventBase {
  type: "inbound.received";
  data: InboundReceivedData;
}

/** A sending domain was added. */
export interface DomainCreatedEvent extends WebhookEventBase {
  type: "domain.created";
  data: DomainEventData;
}

/** A sending domain was verified. */
export interface DomainVerifiedEvent extends WebhookEventBase {
  type: "domain.verified";
  data: DomainEventData;
}

/** A verified sending domain no longer has its DNS records. */
export interface DomainDegradedEvent extends WebhookEventBase {
  type: "domain.degraded";
  data: DomainEventData;
}

/** A sending domain was deleted. */
export interface DomainDeletedEvent extends WebhookEventBase {
  type: "domain.deleted";
  data: DomainEventData;
}

/** A sending domain or IP address is on a blocklist. */
export interface DomainBlocklistedEvent extends WebhookEventBase {
  type: "domain.blocklisted";
  data: DomainListedData;
}

/** A sending domain or IP address is no longer on a blocklist. */
export interface DomainDelistedEvent extends WebhookEventBase {
  type: "domain.delisted";
  data: DomainListedData;
}

/** A rate of a sending domain is above a threshold. */
export interface DomainReputationWarningEvent extends WebhookEventBase {
  type: "domain.reputation_warning";
  data: DomainReputationData;
}

/** Marketing mail of a sending domain is held. */
export interface DomainReputationHeldEvent extends WebhookEventBase {
  type: "domain.reputation_held";
  data: DomainReputationData;
}

/** The rates of a sending domain are below the thresholds again. */
export interface DomainReputationRecoveredEvent extends WebhookEventBase {
  type: "domain.reputation_recovered";
  data: DomainReputationData;
}

/** Held marketing mail of a sending domain was released. */
export interface DomainReputationReleasedEvent extends WebhookEventBase {
  type: "domain.reputation_released";
  data: DomainReputationData;
}

/** The warm-up plan of a sending domain began. */
export interface DomainWarmUpStartedEvent extends WebhookEventBase {
  type: "domain.warm_up_started";
  data: DomainWarmUpData;
}

/** The warm-up plan of a sending domain ended. */
export interface DomainWarmUpEndedEvent extends WebhookEventBase {
  type: "domain.warm_up_ended";
  data: DomainWarmUpData;
}

/** A new certificate was issued for a host name of a sending domain. */
export interface DomainCertificateIssuedEvent extends WebhookEventBase {
  type: "domain.certificate_issued";
  data: DomainCertificateData;
}

/** A host name of a sending domain got no new certificate for a day, or its certificate expires soon. */
export interface DomainCertificateFailedEvent extends WebhookEventBase {
  type: "domain.certificate_failed";
  data: DomainCertificateFailedData;
}

/** A single sender was verified. */
export interface DomainSenderVerifiedEvent extends WebhookEventBase {
  type: "domain.sender_verified";
  data: SenderEventData;
}

/** A single sender was removed. */
export interface DomainSenderRemovedEvent extends WebhookEventBase {
  type: "domain.sender_removed";
  data: SenderEventData;
}

/** A customer signed up or was created. */
export interface CustomerSignedUpEvent extends WebhookEventBase {
  type: "customer.signed_up";
  data: CustomerSignedUpData;
}

/** A customer signed in. */
export interface CustomerSignedInEvent extends WebhookEventBase {
  type: "customer.signed_in";
  data: CustomerSignedInData;
}

/** An attempt to sign in failed. */
export interface CustomerSignInFailedEvent extends WebhookEventBase {
  type: "customer.sign_in_failed";
  data: CustomerAttemptData;
}

/** A customer signed out. */
export interface CustomerSignedOutEvent extends WebhookEventBase {
  type: "customer.signed_out";
  data: CustomerSessionData;
}

/** A customer authenticated again in a session. */
export interface CustomerSteppedUpEvent extends WebhookEventBase {
  type: "customer.stepped_up";
  data: CustomerSteppedUpData;
}

/** Sign-in was locked after too many failed attempts. */
export interface CustomerLockedEvent extends WebhookEventBase {
  type: "customer.locked";
  data: CustomerAttemptData;
}

/** A lock of a customer's sign-in was removed. */
export interface CustomerUnlockedEvent extends WebhookEventBase {
  type: "customer.unlocked";
  data: CausedEventData;
}

/** A customer's e-mail address was verified. */
export interface CustomerEmailVerifiedEvent extends WebhookEventBase {
  type: "customer.email_verified";
  data: CustomerEmailVerifiedData;
}

/** A customer's password was changed. */
export interface CustomerPasswordChangedEvent extends WebhookEventBase {
  type: "customer.password_changed";
  data: CausedEventData;
}

/** A customer set up a second factor. */
export interface CustomerMfaEnabledEvent extends WebhookEventBase {
  type: "customer.mfa_enabled";
  data: CustomerFactorData;
}

/** A customer removed the second factor. */
export interface CustomerMfaDisabledEvent extends WebhookEventBase {
  type: "customer.mfa_disabled";
  data: CustomerFactorData;
}

/** A customer's second factors were removed by your application or team. */
export interface CustomerMfaResetEvent extends WebhookEventBase {
  type: "customer.mfa_reset";
  data: CausedEventData;
}

/** A customer added a passkey. */
export interface CustomerPasskeyAddedEvent extends WebhookEventBase {
  type: "customer.passkey_added";
  data: CustomerPasskeyAddedData;
}

/** A customer removed a passkey. */
export interface CustomerPasskeyRemovedEvent extends WebhookEventBase {
  type: "customer.passkey_removed";
  data: CustomerPasskeyRemovedData;
}

/** A session of a customer was ended. */
export interface CustomerSessionRevokedEvent extends WebhookEventBase {
  type: "customer.session_revoked";
  data: CustomerSessionData;
}

/** A customer said that a sign-in was not theirs. */
export interface CustomerSignInDeniedEvent extends WebhookEventBase {
  type: "customer.sign_in_denied";
  data: CustomerSessionData;
}

/** A member of your team began a session as a customer. */
export interface CustomerImpersonatedEvent extends WebhookEventBase {
  type: "customer.impersonated";
  data: CustomerImpersonatedData;
}

/** A session in which a member of your team acted as a customer has ended. */
export interface CustomerImpersonationEndedEvent extends WebhookEventBase {
  type: "customer.impersonation_ended";
  data: CustomerImpersonationEndedData;
}

/** A customer accepted a version of your terms. */
export interface CustomerTermsAcceptedEvent extends WebhookEventBase {
  type: "customer.terms_accepted";
  data: CustomerTermsAcceptedData;
}

/** A customer was banned. */
export interface CustomerBannedEvent extends WebhookEventBase {
  type: "customer.banned";
  data: CustomerBannedData;
}

/** A ban was removed. */
export interface CustomerUnbannedEvent extends WebhookEventBase {
  type: "customer.unbanned";
  data: CausedEventData;
}

/** A customer's profile was changed. */
export interface CustomerUpdatedEvent extends WebhookEventBase {
  type: "customer.updated";
  data: CustomerUpdatedData;
}

/** A customer's metadata was changed. */
export interface CustomerMetadataUpdatedEvent extends WebhookEventBase {
  type: "customer.metadata_updated";
  data: CustomerMetadataUpdatedData;
}

/** A customer's roles were changed. */
export interface CustomerRolesUpdatedEvent extends WebhookEventBase {
  type: "customer.roles_updated";
  data: CustomerRolesUpdatedData;
}

/** A customer was linked to an identity provider, an external id or another customer. */
export interface CustomerLinkedEvent extends WebhookEventBase {
  type: "customer.linked";
  data: CustomerLinkedData;
}

/** An account at an identity provider was unlinked from a customer. */
export interface CustomerUnlinkedEvent extends WebhookEventBase {
  type: "customer.unlinked";
  data: CustomerProviderData;
}

/** An account at an identity provider waits for approval to be linked to a customer. */
export interface CustomerIdentityHeldEvent extends WebhookEventBase {
  type: "customer.identity_held";
  data: CustomerProviderData;
}

/** An e-mail to a customer could not be sent. */
export interface CustomerMailFailedEvent extends WebhookEventBase {
  type: "customer.mail_failed";
  data: CustomerMailFailedData;
}

/** The project's text of an e-mail could not be rendered; the customer got the built-in one. */
export interface CustomerMailTextFailedEvent extends WebhookEventBase {
  type: "customer.mail_text_failed";
  data: CustomerMailTextFailedData;
}

/** A customer was deleted and the personal data erased. */
export interface CustomerDeletedEvent extends WebhookEventBase {
  type: "customer.deleted";
  data: CausedEventData;
}

/** An organization was created. */
export interface OrganizationCreatedEvent extends WebhookEventBase {
  type: "organization.created";
  data: OrganizationEventData;
}

/** An organization or a member's roles were changed. */
export interface OrganizationUpdatedEvent extends WebhookEventBase {
  type: "organization.updated";
  data: OrganizationUpdatedData;
}

/** An organization was deleted. */
export interface OrganizationDeletedEvent extends WebhookEventBase {
  type: "organization.deleted";
  data: OrganizationEventData;
}

/** A customer became a member of an organization. */
export interface OrganizationMemberAddedEvent extends WebhookEventBase {
  type: "organization.member_added";
  data: OrganizationMemberAddedData;
}

/** A member was removed or left. */
export interface OrganizationMemberRemovedEvent extends WebhookEventBase {
  type: "organization.member_removed";
  data: OrganizationMemberRemovedData;
}

/** A domain of an organization was verified. */
export interface OrganizationDomainVerifiedEvent extends WebhookEventBase {
  type: "organization.domain_verified";
  data: OrganizationDomainData;
}

/** A verified domain no longer has its DNS record. */
export interface OrganizationDomainLapsedEvent extends WebhookEventBase {
  type: "organization.domain_lapsed";
  data: OrganizationDomainData;
}

/** An invitation was created and will be mailed. */
export interface InvitationCreatedEvent extends WebhookEventBase {
  type: "invitation.created";
  data: InvitationEventData;
}

/** An invitation will be mailed again with a new link. */
export interface InvitationResentEvent extends WebhookEventBase {
  type: "invitation.resent";
  data: InvitationEventData;
}

/** An invitation was accepted. */
export interface InvitationAcceptedEvent extends WebhookEventBase {
  type: "invitation.accepted";
  data: InvitationAcceptedData;
}

/** An invitation was revoked. */
export interface InvitationRevokedEvent extends WebhookEventBase {
  type: "invitation.revoked";
  data: InvitationEventData;
}

/** An invitation expired. */
export interface InvitationExpiredEvent extends WebhookEventBase {
  type: "invitation.expired";
  data: InvitationEventData;
}

/** A setup link was created for the administrator of an organization. */
export interface SetupLinkCreatedEvent extends WebhookEventBase {
  type: "setup_link.created";
  data: SetupLinkEventData;
}

/** A setup link was opened, and bound to the browser that opened it. */
export interface SetupLinkOpenedEvent extends WebhookEventBase {
  type: "setup_link.opened";
  data: SetupLinkEventData;
}

/** The administrator has completed the setup. */
export interface SetupLinkCompletedEvent extends WebhookEventBase {
  type: "setup_link.completed";
  data: SetupLinkEventData;
}

/** A setup link was revoked. */
export interface SetupLinkRevokedEvent extends WebhookEventBase {
  type: "setup_link.revoked";
  data: SetupLinkEventData;
}

/** A single sign-on connection was activated. */
export interface SsoActivatedEvent extends WebhookEventBase {
  type: "sso.activated";
  data: SsoEventData;
}

/** A single sign-on connection was deactivated. */
export interface SsoDeactivatedEvent extends WebhookEventBase {
  type: "sso.deactivated";
  data: SsoEventData;
}

/** A customer signed in with single sign-on. */
export interface SsoSignedInEvent extends WebhookEventBase {
  type: "sso.signed_in";
  data: SsoSignedInData;
}

/** A certificate of a connection expires soon. */
export interface SsoCertificateExpiringEvent extends WebhookEventBase {
  type: "sso.certificate_expiring";
  data: SsoCertificateExpiringData;
}

/** The identity provider's metadata changed. */
export interface SsoMetadataChangedEvent extends WebhookEventBase {
  type: "sso.metadata_changed";
  data: SsoMetadataChangedData;
}

/** The identity provider's metadata cannot be used. */
export interface SsoMetadataFailingEvent extends WebhookEventBase {
  type: "sso.metadata_failing";
  data: SsoMetadataFailingData;
}

/** A feature, a plan or an organization's entitlement was changed. */
export interface EntitlementChangedEvent extends WebhookEventBase {
  type: "entitlement.changed";
  data: EntitlementChangedData;
}

/** An override of an organization's entitlement expired. */
export interface EntitlementExpiredEvent extends WebhookEventBase {
  type: "entitlement.expired";
  data: EntitlementExpiredData;
}

/** A sign-in hook failed five times in succession and is paused. */
export interface HookFailedEvent extends WebhookEventBase {
  type: "hook.failed";
  data: HookFailedData;
}

/** A sign-in hook that was paused responds again. */
export interface HookRecoveredEvent extends WebhookEventBase {
  type: "hook.recovered";
  data: HookRecoveredData;
}

/** A webhook was disabled because its deliveries failed. */
export interface WebhookDisabledEvent extends WebhookEventBase {
  type: "webhook.disabled";
  data: WebhookDisabledData;
}

/** An event of a webhook; `type` says which. A newer server may send other types. */
export type WebhookEvent =
  | CustomWebhookEvent
  | EmailScheduledEvent
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
  | WebhookDisabledEvent;
