// Written by script/client from the API. Do not edit.
import {
  APIError,
  BadRequestError,
  ConflictError,
  ForbiddenError,
  NotFoundError,
  PayloadTooLargeError,
  RateLimitError,
  ServerError,
  UnauthorizedError,
  UnprocessableEntityError,
  UnsupportedMediaTypeError,
} from "../errors.js";

/**
 * 403 `account_deletion_off`: Customers of this project cannot delete their accounts themselves (`accountDeletion`).
 */
export class AccountDeletionOff extends ForbiddenError {}

/** 404 `address_missing`: Your account has no such address, or it is the primary one or unverified. */
export class AddressMissing extends NotFoundError {}

/** 403 `address_not_verified`: Verify your e-mail address before you accept an invitation sent to it. */
export class AddressNotVerified extends ForbiddenError {}

/** 409 `already_booked`: The account has this plan or add-on already. Change or cancel it in the billing portal. */
export class AlreadyBooked extends ConflictError {}

/**
 * 409 `already_invited`: This address has a pending invitation to the organization already; resend or revoke that
 * invitation.
 */
export class AlreadyInvited extends ConflictError {}

/** 409 `already_member`: This customer is a member of the organization already. */
export class AlreadyMember extends ConflictError {}

/** 409 `already_owner`: This member is the owner of the account already. */
export class AlreadyOwner extends ConflictError {}

/** 409 `already_suppressed`: This address is already suppressed for this or a stronger reason. */
export class AlreadySuppressed extends ConflictError {}

/** 404 `api_key_missing`: There is no such API key. */
export class ApiKeyMissing extends NotFoundError {}

/** 404 `asset_missing`: There is no such image. */
export class AssetMissing extends NotFoundError {}

/**
 * 409 `audience_dynamic`: This audience is DYNAMIC: its rules choose the members, so contacts cannot be added or
 * removed.
 */
export class AudienceDynamic extends ConflictError {}

/**
 * 409 `audience_in_use`: Another audience, a campaign or an automation uses this audience. Change or stop those first.
 */
export class AudienceInUse extends ConflictError {}

/** 404 `audience_missing`: There is no such audience. */
export class AudienceMissing extends NotFoundError {}

/**
 * 409 `automation_incomplete`: The automation refers to something that is missing, so it cannot be active; `errors`
 * lists what.
 */
export class AutomationIncomplete extends ConflictError {}

/**
 * 409 `automation_loop`: Active automations would start each other in an endless loop; `errors` lists the steps of the
 * loop.
 */
export class AutomationLoop extends ConflictError {}

/** 404 `automation_missing`: There is no such automation. */
export class AutomationMissing extends NotFoundError {}

/** 503 `billing_unavailable`: The payment provider is unavailable. Nothing was changed; try again in a few seconds. */
export class BillingUnavailable extends ServerError {}

/** 400 `body_invalid`: The body is not valid JSON. */
export class BodyInvalid extends BadRequestError {}

/** 413 `body_too_large`: The body is larger than this operation accepts. */
export class BodyTooLarge extends PayloadTooLargeError {}

/** 409 `campaign_incomplete`: The campaign cannot be sent yet; `errors` lists what is missing. */
export class CampaignIncomplete extends ConflictError {}

/** 404 `campaign_missing`: There is no such campaign. */
export class CampaignMissing extends NotFoundError {}

/** 409 `campaign_state_conflict`: The campaign's current status does not allow this action. */
export class CampaignStateConflict extends ConflictError {}

/** 404 `captured_missing`: There is no such captured message. */
export class CapturedMissing extends NotFoundError {}

/**
 * 409 `client_registration_without_tokens`: The project's setting `signIn.clientRegistration` is not `TOKEN`, so nobody
 * needs a token to register clients.
 */
export class ClientRegistrationWithoutTokens extends ConflictError {}

/** 401 `code_invalid`: This code or link is invalid, was used already, or has expired. Request a new one. */
export class CodeInvalid extends UnauthorizedError {}

/** 403 `code_wrong`: The code is wrong, has expired, or was used before. */
export class CodeWrong extends ForbiddenError {}

/** 409 `contact_attribute_declared`: The attribute is declared with another type; change its declared type first. */
export class ContactAttributeDeclared extends ConflictError {}

/**
 * 409 `contact_attribute_exists`: An attribute with this name has a type already; change it with a PATCH of the
 * attribute.
 */
export class ContactAttributeExists extends ConflictError {}

/** 404 `contact_attribute_missing`: There is no such attribute. */
export class ContactAttributeMissing extends NotFoundError {}

/** 409 `contact_exists`: A contact with this e-mail address exists already. */
export class ContactExists extends ConflictError {}

/** 404 `contact_missing`: There is no such contact. */
export class ContactMissing extends NotFoundError {}

/**
 * 503 `content_store_unavailable`: The content of this message is in a store that does not respond at the moment.
 * Nothing was changed; try again shortly.
 */
export class ContentStoreUnavailable extends ServerError {}

/** 401 `credential_invalid`: This credential is unknown, expired or revoked. */
export class CredentialInvalid extends UnauthorizedError {}

/** 401 `credential_missing`: This request needs a credential: send `Authorization: Bearer …`. */
export class CredentialMissing extends UnauthorizedError {}

/** 403 `credential_not_accepted`: This operation does not accept this kind of credential. */
export class CredentialNotAccepted extends ForbiddenError {}

/** 409 `customer_banned`: A banned customer cannot be linked or merged; unban first. */
export class CustomerBanned extends ConflictError {}

/**
 * 404 `customer_mail_missing`: There is no such mail to customers, or it has no such language. `GET …/customer-mails`
 * lists them.
 */
export class CustomerMailMissing extends NotFoundError {}

/** 404 `customer_missing`: There is no such customer. */
export class CustomerMissing extends NotFoundError {}

/**
 * 409 `customer_owns_organizations`: This customer is the only OWNER of at least one organization. Send
 * `transferOwnershipTo` with the id of another customer, or delete these organizations first.
 */
export class CustomerOwnsOrganizations extends ConflictError {}

/** 503 `database_away`: The database does not respond; nothing was changed. Try again shortly. */
export class DatabaseAway extends ServerError {}

/** 404 `delivery_missing`: There is no such webhook delivery. */
export class DeliveryMissing extends NotFoundError {}

/**
 * 503 `direct_not_offered`: This project sends to the recipients' mail servers, which this server does not offer: set
 * POSTERN_SOURCES, or change `transport` in the settings of the project.
 */
export class DirectNotOffered extends ServerError {}

/** 404 `directory_connection_missing`: There is no such directory connection. */
export class DirectoryConnectionMissing extends NotFoundError {}

/**
 * 422 `dmarc_report_invalid`: This is not a DMARC aggregate report. Send its XML, a gzip or zip file with the XML, or
 * an e-mail with one of these attached.
 */
export class DmarcReportInvalid extends UnprocessableEntityError {}

/** 422 `dmarc_report_of_other_domain`: This report is about another domain. */
export class DmarcReportOfOtherDomain extends UnprocessableEntityError {}

/**
 * 422 `dmarc_report_out_of_period`: The period of this report is in the future, or more than 400 days ago. Reports are
 * kept for 400 days.
 */
export class DmarcReportOutOfPeriod extends UnprocessableEntityError {}

/** 413 `dmarc_report_too_large`: A report can have at most 10 MB, 20 MB after decompression, and 20,000 records. */
export class DmarcReportTooLarge extends PayloadTooLargeError {}

/** 409 `domain_exists`: This project already has this sending domain. */
export class DomainExists extends ConflictError {}

/**
 * 409 `domain_has_waiting_sends`: Messages wait to be sent from this domain and would fail without it. Use `force=true`
 * to delete it anyway.
 */
export class DomainHasWaitingSends extends ConflictError {}

/**
 * 409 `domain_in_use`: A campaign or an automation sends from this domain; `errors` lists them. Change or stop those
 * first.
 */
export class DomainInUse extends ConflictError {}

/** 409 `domain_listed`: The organization has this domain already. */
export class DomainListed extends ConflictError {}

/** 404 `domain_missing`: There is no such sending domain. */
export class DomainMissing extends NotFoundError {}

/** 409 `domain_not_proved`: Automatic joining requires a VERIFIED domain; verify it first. */
export class DomainNotProved extends ConflictError {}

/**
 * 403 `domain_not_verified`: The `from` address neither belongs to a verified sending domain nor is a verified sender
 * of this project.
 */
export class DomainNotVerified extends ForbiddenError {}

/** 409 `domain_taken`: Another organization of this project has verified this domain. */
export class DomainTaken extends ConflictError {}

/**
 * 422 `dry_run_too_slow`: The steps take longer than 5 seconds. Use fewer steps, fewer conditions, or conditions that
 * fewer contacts match.
 */
export class DryRunTooSlow extends UnprocessableEntityError {}

/** 400 `email_invalid`: This e-mail cannot be sent as described; `errors` says why. */
export class EmailInvalid extends BadRequestError {}

/** 404 `email_missing`: There is no such send. */
export class EmailMissing extends NotFoundError {}

/** 409 `email_taken`: Another customer has this address. */
export class EmailTaken extends ConflictError {}

/**
 * 422 `event_key_reused`: This idempotency key was used with a different event within the last 24 hours; use a new key.
 */
export class EventKeyReused extends UnprocessableEntityError {}

/**
 * 409 `external_id_taken`: Another customer has this external identifier. To merge the two customers, use POST
 * …/customers/link.
 */
export class ExternalIdTaken extends ConflictError {}

/** 409 `feature_exists`: This project already has a feature with that key. */
export class FeatureExists extends ConflictError {}

/** 404 `feature_missing`: There is no such feature. */
export class FeatureMissing extends NotFoundError {}

/**
 * 422 `feature_undeclared`: A plan can include only features that the project has declared; declare the feature first.
 */
export class FeatureUndeclared extends UnprocessableEntityError {}

/** 400 `flow_invalid`: This sign-in was begun in another browser, has expired, or is already finished; begin again. */
export class FlowInvalid extends BadRequestError {}

/** 400 `hash_refused`: This password hash has an unsupported scheme, or its cost parameters are too high. */
export class HashRefused extends BadRequestError {}

/** 431 `header_too_large`: The head of this request is larger than the server accepts. */
export class HeaderTooLarge extends APIError {}

/** 409 `hook_exists`: This project has a hook of this kind already; change it instead. */
export class HookExists extends ConflictError {}

/**
 * 503 `hook_failed`: A server of this app, on which the sign-in depends, does not respond as it should. Try again
 * later.
 */
export class HookFailed extends ServerError {}

/** 404 `hook_missing`: This project has no such hook. */
export class HookMissing extends NotFoundError {}

/** 403 `hook_refused`: This app does not allow this account. Contact its support. */
export class HookRefused extends ForbiddenError {}

/**
 * 409 `idempotency_key_in_progress`: An earlier request with this idempotency key is still being processed. Repeat the
 * request shortly.
 */
export class IdempotencyKeyInProgress extends ConflictError {}

/**
 * 422 `idempotency_key_reused`: This idempotency key was used with a different body within the last 24 hours. Use a new
 * key.
 */
export class IdempotencyKeyReused extends UnprocessableEntityError {}

/** 409 `identity_linked`: Another account of this provider is already linked; unlink it first. */
export class IdentityLinked extends ConflictError {}

/** 404 `identity_missing`: This customer has no linked account at this provider. */
export class IdentityMissing extends NotFoundError {}

/** 409 `identity_request_decided`: This request was already approved or rejected. */
export class IdentityRequestDecided extends ConflictError {}

/** 404 `identity_request_missing`: There is no such request to link an account. */
export class IdentityRequestMissing extends NotFoundError {}

/** 409 `identity_taken`: This account is linked to another customer. */
export class IdentityTaken extends ConflictError {}

/** 422 `image_invalid`: This is not a complete PNG, JPEG, GIF or WebP image. */
export class ImageInvalid extends UnprocessableEntityError {}

/** 422 `image_too_large`: An image can be at most 4,096 pixels wide and 4,096 pixels high. */
export class ImageTooLarge extends UnprocessableEntityError {}

/** 400 `import_file_invalid`: The file is not a CSV file whose header has an `email` column. */
export class ImportFileInvalid extends BadRequestError {}

/** 404 `import_missing`: There is no such import. */
export class ImportMissing extends NotFoundError {}

/** 404 `inbound_attachment_missing`: The message has no such attachment. */
export class InboundAttachmentMissing extends NotFoundError {}

/**
 * 422 `inbound_domain_not_verified`: The domain of the address is neither a verified sending domain of this project nor
 * below one. Verify it first.
 */
export class InboundDomainNotVerified extends UnprocessableEntityError {}

/** 422 `inbound_mailbox_full`: A project can store at most 5 GB of received messages. Delete some first. */
export class InboundMailboxFull extends UnprocessableEntityError {}

/** 422 `inbound_message_loops`: The message has more than 100 Received fields, so it is in a loop. */
export class InboundMessageLoops extends UnprocessableEntityError {}

/**
 * 404 `inbound_message_missing`: There is no such received message, or it was deleted because its retention period has
 * ended.
 */
export class InboundMessageMissing extends NotFoundError {}

/** 409 `inbound_route_exists`: This project already has a route for this address. */
export class InboundRouteExists extends ConflictError {}

/** 404 `inbound_route_missing`: There is no such route. */
export class InboundRouteMissing extends NotFoundError {}

/** 400 `invalid`: Some of the values sent are not valid; `errors` says which. */
export class Invalid extends BadRequestError {}

/** 409 `invitation_closed`: This invitation was accepted or revoked, or has expired. Send a new one. */
export class InvitationClosed extends ConflictError {}

/** 404 `invitation_missing`: There is no such invitation. */
export class InvitationMissing extends NotFoundError {}

/**
 * 403 `invited_somebody_else`: This invitation was sent to an address that is not yours; sign in with the invited
 * address.
 */
export class InvitedSomebodyElse extends ForbiddenError {}

/** 422 `inviter_unknown`: The inviter must be a member of the organization. */
export class InviterUnknown extends UnprocessableEntityError {}

/** 409 `last_owner`: This is the last OWNER of the organization; make another member OWNER first. */
export class LastOwner extends ConflictError {}

/**
 * 409 `last_sign_in_method`: This is the only sign-in method of the account: set a password or add another method
 * first.
 */
export class LastSignInMethod extends ConflictError {}

/** 422 `limit_not_taken`: A BOOLEAN feature is on or off; only a LIMIT feature can have a limit. */
export class LimitNotTaken extends UnprocessableEntityError {}

/** 400 `link_invalid`: This link is invalid, was used before, or has expired. Request a new one. */
export class LinkInvalid extends BadRequestError {}

/** 403 `live_key_required`: A TEST key cannot do this, because real mail would be sent. Use a LIVE key. */
export class LiveKeyRequired extends ForbiddenError {}

/**
 * 429 `locked_out`: Too many failed attempts. Try again after the time in `Retry-After`. After wrong passwords, you can
 * also reset the password by mail.
 */
export class LockedOut extends RateLimitError {}

/** 400 `logout_token_refused`: The logout token is not valid. The connection's traces have the reason. */
export class LogoutTokenRefused extends BadRequestError {}

/** 404 `mail_version_missing`: There is no such version of this mail, or it was deleted: the last 50 are kept. */
export class MailVersionMissing extends NotFoundError {}

/** 404 `member_missing`: This customer is not a member of the organization. */
export class MemberMissing extends NotFoundError {}

/** 404 `message_gone`: The content of this message is no longer stored. */
export class MessageGone extends NotFoundError {}

/** 413 `message_too_large`: The message is larger than 25 MB after encoding. */
export class MessageTooLarge extends PayloadTooLargeError {}

/** 400 `metadata_refused`: The document is not usable metadata of one SAML 2.0 identity provider. */
export class MetadataRefused extends BadRequestError {}

/** 413 `metadata_too_large`: The identity provider's metadata is larger than 100 KB. */
export class MetadataTooLarge extends PayloadTooLargeError {}

/** 400 `metadata_unreachable`: The metadata could not be fetched; check the URL, or upload the metadata. */
export class MetadataUnreachable extends BadRequestError {}

/** 403 `method_off`: This sign-in method is switched off in this project. */
export class MethodOff extends ForbiddenError {}

/** 409 `mfa_already_enabled`: A second factor is on already. Turn it off first. */
export class MfaAlreadyEnabled extends ConflictError {}

/** 409 `mfa_already_on`: A second factor is already on; disable it first. */
export class MfaAlreadyOn extends ConflictError {}

/** 409 `mfa_not_enrolled`: There is no second factor. Set one up with `POST /auth/mfa/totp`. */
export class MfaNotEnrolled extends ConflictError {}

/** 409 `mfa_off`: No second factor is on or being set up. */
export class MfaOff extends ConflictError {}

/**
 * 401 `mfa_required`: This account has a second factor: send `code` too, from the authenticator app, or a recovery
 * code.
 */
export class MfaRequired extends UnauthorizedError {}

/** 409 `mfa_still_required`: A second factor is required, so the last one cannot be removed. */
export class MfaStillRequired extends ConflictError {}

/**
 * 409 `next_key_unpublished`: The next DKIM key is not published in the DNS, so signatures with it would not verify.
 * Publish it first.
 */
export class NextKeyUnpublished extends ConflictError {}

/** 422 `no_inbound_route`: No recipient of the message has an active route in this project. */
export class NoInboundRoute extends UnprocessableEntityError {}

/** 404 `no_sign_on_here`: No organization uses single sign-on for this e-mail domain. Sign in another way. */
export class NoSignOnHere extends NotFoundError {}

/**
 * 503 `no_smart_host`: This project uses the server's relay, but the server has none. Set POSTERN_RELAY, or `relays` in
 * the settings of the project.
 */
export class NoSmartHost extends ServerError {}

/**
 * 403 `not_a_member`: The customer is not a member of an organization with this id, or the organization is suspended.
 * The session's active organization did not change.
 */
export class NotAMember extends ForbiddenError {}

/** 409 `not_cancellable`: This send is no longer waiting, or is being transmitted right now. */
export class NotCancellable extends ConflictError {}

/** 409 `not_for_sale`: The operator of this server has not set a price for this plan or add-on and billing cycle. */
export class NotForSale extends ConflictError {}

/** 404 `not_found`: There is no operation at this path. */
export class NotFound extends NotFoundError {}

/**
 * 401 `not_fresh`: This requires that you have authenticated within the last hour, with the second factor if you have
 * one: use `POST …/auth/step-up` or sign in again, then repeat the request.
 */
export class NotFresh extends UnauthorizedError {}

/** 409 `not_retriable`: Only a send that was deferred, failed, bounced or expired can be retried. */
export class NotRetriable extends ConflictError {}

/** 409 `not_scheduled`: Only a SCHEDULED send can be rescheduled. */
export class NotScheduled extends ConflictError {}

/** 403 `not_yourself`: A customer's token can check only the access of that customer. */
export class NotYourself extends ForbiddenError {}

/**
 * 409 `nothing_booked`: The account has no subscription to manage. Start one with POST /account/auth-billing/checkout.
 */
export class NothingBooked extends ConflictError {}

/** 409 `nothing_held`: Marketing mail of this domain is not held, so there is nothing to release. */
export class NothingHeld extends ConflictError {}

/**
 * 409 `oauth_client_has_keys`: A client that authenticates with a key has no secret. Remove `jwks` and `jwksUri` first.
 */
export class OauthClientHasKeys extends ConflictError {}

/** 404 `oauth_client_missing`: There is no such OAuth client. */
export class OauthClientMissing extends NotFoundError {}

/** 404 `oauth_consent_missing`: The customer has allowed this client nothing. */
export class OauthConsentMissing extends NotFoundError {}

/** 409 `oauth_resource_exists`: The project has declared an API with this identifier already. */
export class OauthResourceExists extends ConflictError {}

/** 404 `oauth_resource_missing`: There is no such API for which clients can ask for access tokens. */
export class OauthResourceMissing extends NotFoundError {}

/** 404 `organization_domain_missing`: There is no such organization domain. */
export class OrganizationDomainMissing extends NotFoundError {}

/** 409 `organization_external_id_taken`: Another organization of the project has this external identifier. */
export class OrganizationExternalIdTaken extends ConflictError {}

/** 404 `organization_missing`: There is no such organization. */
export class OrganizationMissing extends NotFoundError {}

/**
 * 409 `organization_suspended`: This organization is suspended, so it cannot get invitations or members; activate it
 * first.
 */
export class OrganizationSuspended extends ConflictError {}

/** 409 `owner_stays`: The owner cannot leave, be removed or get another role. Transfer ownership first. */
export class OwnerStays extends ConflictError {}

/** 409 `owners_locked_out`: No OWNER of the organization could sign in by one of these methods. */
export class OwnersLockedOut extends ConflictError {}

/**
 * 409 `owns_an_account`: You own an account. Transfer its ownership first, or send `deleteMyAccount: true` if you are
 * its only member.
 */
export class OwnsAnAccount extends ConflictError {}

/**
 * 404 `page_text_missing`: There is no such text of the pages, or no such language. `GET …/page-texts/{language}` lists
 * them.
 */
export class PageTextMissing extends NotFoundError {}

/**
 * 404 `pages_domain_missing`: This project has no host name for its hosted pages. Set `settings.signIn.pagesDomain`
 * first.
 */
export class PagesDomainMissing extends NotFoundError {}

/** 404 `passkey_missing`: There is no such passkey. */
export class PasskeyMissing extends NotFoundError {}

/** 400 `password_breached`: This password has appeared in a data breach. Choose another one. */
export class PasswordBreached extends BadRequestError {}

/** 400 `password_common`: This password is among the most common ones. Choose another one. */
export class PasswordCommon extends BadRequestError {}

/** 403 `password_wrong`: The password is wrong. */
export class PasswordWrong extends ForbiddenError {}

/** 409 `permission_exists`: This project already has that permission. */
export class PermissionExists extends ConflictError {}

/** 403 `permission_missing`: This credential lacks the permission that the operation needs. */
export class PermissionMissing extends ForbiddenError {}

/**
 * 422 `permission_undeclared`: A role can include only permissions that the project has declared; declare the
 * permission first.
 */
export class PermissionUndeclared extends UnprocessableEntityError {}

/** 404 `permission_unknown`: There is no such permission. */
export class PermissionUnknown extends NotFoundError {}

/** 404 `place_missing`: There is no such organization. */
export class PlaceMissing extends NotFoundError {}

/** 409 `plan_exists`: This project already has a plan with that key. */
export class PlanExists extends ConflictError {}

/** 409 `plan_in_use`: Organizations are on this plan; move them to another one first. */
export class PlanInUse extends ConflictError {}

/** 403 `plan_limit_reached`: The limit of this account's plan is reached. Choose a larger plan. */
export class PlanLimitReached extends ForbiddenError {}

/** 404 `plan_missing`: There is no such plan. */
export class PlanMissing extends NotFoundError {}

/**
 * 422 `preview_too_slow`: Counting the contacts of these rules takes longer than 5 seconds. Use fewer conditions, or
 * conditions that fewer contacts match, or create the audience: its members are determined without this limit.
 */
export class PreviewTooSlow extends UnprocessableEntityError {}

/** 409 `primary_address_unverified`: Verify the primary address of your account first. */
export class PrimaryAddressUnverified extends ConflictError {}

/** 404 `project_missing`: There is no such project. */
export class ProjectMissing extends NotFoundError {}

/** 404 `provider_missing`: There is no such sign-in provider. */
export class ProviderMissing extends NotFoundError {}

/** 503 `provider_trouble`: The sign-in provider cannot be reached or sent an unexpected response; try again later. */
export class ProviderTrouble extends ServerError {}

/**
 * 409 `public_client_has_no_secret`: A PUBLIC client has no secret, because apps on devices and in browsers cannot keep
 * one.
 */
export class PublicClientHasNoSecret extends ConflictError {}

/** 401 `refresh_token_invalid`: This refresh token is unknown, has expired or was already used; sign in again. */
export class RefreshTokenInvalid extends UnauthorizedError {}

/** 404 `remembered_device_missing`: There is no such remembered device. */
export class RememberedDeviceMissing extends NotFoundError {}

/** 422 `render_failed`: The template could not be rendered with these values. */
export class RenderFailed extends UnprocessableEntityError {}

/** 503 `rendering_away`: Templates cannot be rendered at the moment. Retry shortly. */
export class RenderingAway extends ServerError {}

/**
 * 429 `rendering_busy`: This project's templates take so much time that they are rendered one by one, and too many are
 * waiting. Retry later, or simplify the templates.
 */
export class RenderingBusy extends RateLimitError {}

/**
 * 404 `report_missing`: There is no such report; reports that were not understood are kept for 30 days, the newest 100
 * of a project.
 */
export class ReportMissing extends NotFoundError {}

/** 429 `resent_too_soon`: An invitation can be resent at most once a minute; retry later. */
export class ResentTooSoon extends RateLimitError {}

/** 409 `role_exists`: This project already has a role with that key; keys are unique across both scopes. */
export class RoleExists extends ConflictError {}

/** 409 `role_in_use`: A customer or member has this role, or is invited with it; remove it from them first. */
export class RoleInUse extends ConflictError {}

/** 404 `role_missing`: There is no such role. */
export class RoleMissing extends NotFoundError {}

/** 422 `role_unknown`: There is no such role in that scope. */
export class RoleUnknown extends UnprocessableEntityError {}

/** 409 `run_finished`: This run has finished already. */
export class RunFinished extends ConflictError {}

/** 404 `run_missing`: There is no such run. */
export class RunMissing extends NotFoundError {}

/**
 * 409 `run_not_failed`: Only a run that FAILED can be retried, and only while its contact is in no other run of the
 * automation.
 */
export class RunNotFailed extends ConflictError {}

/** 409 `saml_only`: This connection is by OpenID Connect: it has neither SAML metadata nor certificates. */
export class SamlOnly extends ConflictError {}

/** 409 `seed_list_empty`: The project has no seed list; add addresses to `seedList` in the project's settings. */
export class SeedListEmpty extends ConflictError {}

/** 409 `send_in_transmission`: The message is being transmitted right now. Repeat the report shortly. */
export class SendInTransmission extends ConflictError {}

/**
 * 409 `sender_exists`: This project already has this single sender. If it is not confirmed yet, resend its confirmation
 * mail.
 */
export class SenderExists extends ConflictError {}

/**
 * 400 `sender_link_invalid`: This link or token is unknown, expired, or replaced by a newer one. Request a new
 * confirmation mail.
 */
export class SenderLinkInvalid extends BadRequestError {}

/** 404 `sender_missing`: There is no such single sender. */
export class SenderMissing extends NotFoundError {}

/**
 * 409 `sender_not_needed`: The domain of this address is verified in this project, so every address at it can be used
 * without a sender.
 */
export class SenderNotNeeded extends ConflictError {}

/** 409 `sender_verified`: This single sender is already confirmed. */
export class SenderVerified extends ConflictError {}

/** 404 `session_missing`: There is no such session. */
export class SessionMissing extends NotFoundError {}

/** 409 `setup_link_closed`: This setup link is completed, revoked or expired; create another one. */
export class SetupLinkClosed extends ConflictError {}

/** 404 `setup_link_missing`: There is no such setup link. */
export class SetupLinkMissing extends NotFoundError {}

/** 403 `sign_in_blocked`: This account is not allowed to sign in. */
export class SignInBlocked extends ForbiddenError {}

/** 401 `sign_in_failed`: Wrong e-mail address or password, or unknown passkey. */
export class SignInFailed extends UnauthorizedError {}

/** 429 `sign_in_locked`: Too many failed attempts; try again after the time in `Retry-After`. */
export class SignInLocked extends RateLimitError {}

/**
 * 403 `sign_in_method_not_allowed`: An organization that you belong to does not allow this sign-in method. `next` has
 * those that are allowed.
 */
export class SignInMethodNotAllowed extends ForbiddenError {}

/** 403 `sign_up_closed`: Sign-up is closed in this project; only invited addresses can sign up. */
export class SignUpClosed extends ForbiddenError {}

/** 404 `site_missing`: This project has sent no mail to this site. */
export class SiteMissing extends NotFoundError {}

/** 409 `site_not_suspended`: This project has not suspended this site. */
export class SiteNotSuspended extends ConflictError {}

/**
 * 409 `site_suspended_by_operator`: The operator of the server has suspended this site for the project, and only the
 * operator can change that.
 */
export class SiteSuspendedByOperator extends ConflictError {}

/** 409 `slug_taken`: Another organization of the project has this slug. */
export class SlugTaken extends ConflictError {}

/** 409 `sso_connection_draft`: This connection has never been active. Activate it first. */
export class SsoConnectionDraft extends ConflictError {}

/**
 * 409 `sso_connection_incomplete`: This connection is incomplete, so it cannot be active. `errors` lists what is
 * missing.
 */
export class SsoConnectionIncomplete extends ConflictError {}

/** 404 `sso_connection_missing`: There is no such single sign-on connection. */
export class SsoConnectionMissing extends NotFoundError {}

/** 409 `sso_domain_served`: Another active connection serves this domain; deactivate that one first. */
export class SsoDomainServed extends ConflictError {}

/**
 * 409 `sso_not_ready`: Single sign-on cannot be required: there is no active connection with which members can sign in.
 */
export class SsoNotReady extends ConflictError {}

/** 403 `sso_required`: People with this address can sign in only through the single sign-on of their organization. */
export class SsoRequired extends ForbiddenError {}

/**
 * 409 `sso_still_required`: Single sign-on is required, and this change would leave no connection with which members
 * can sign in.
 */
export class SsoStillRequired extends ConflictError {}

/** 403 `sso_test_invalid`: This test link is invalid or has expired; create a new one. */
export class SsoTestInvalid extends ForbiddenError {}

/**
 * 409 `sso_unavailable`: Single sign-on by this connection is unavailable: the connection is inactive, its domain is
 * not verified, or the organization is suspended.
 */
export class SsoUnavailable extends ConflictError {}

/**
 * 403 `step_up_method_not_allowed`: This is not enough for this session. Use one of `methods` of `GET …/auth/step-up`;
 * if it is empty, sign in again.
 */
export class StepUpMethodNotAllowed extends ForbiddenError {}

/** 404 `subject_missing`: There is no such customer. */
export class SubjectMissing extends NotFoundError {}

/** 404 `suppression_missing`: This address is not suppressed. */
export class SuppressionMissing extends NotFoundError {}

/**
 * 422 `svg_not_accepted`: SVG images are not accepted: most mail programs do not show them, and they can contain
 * scripts. Convert the image to PNG.
 */
export class SvgNotAccepted extends UnprocessableEntityError {}

/** 409 `system_role_fixed`: System roles (OWNER, ADMIN, MEMBER) cannot be changed or deleted. */
export class SystemRoleFixed extends ConflictError {}

/** 409 `template_busy`: Other requests changed this template at the same time. Fetch it and try again. */
export class TemplateBusy extends ConflictError {}

/**
 * 422 `template_crashed`: Rendering crashed the rendering process; change the template or its variables
 * (template_crashed).
 */
export class TemplateCrashed extends UnprocessableEntityError {}

/**
 * 409 `template_in_use`: Campaigns or automations use this template; `errors` lists them. Change or stop those first.
 */
export class TemplateInUse extends ConflictError {}

/** 404 `template_missing`: There is no such template. */
export class TemplateMissing extends NotFoundError {}

/**
 * 422 `template_too_expensive`: Rendering takes too much time or memory; simplify the template or its variables
 * (template_too_expensive).
 */
export class TemplateTooExpensive extends UnprocessableEntityError {}

/**
 * 422 `terms_not_accepted`: The current version of the terms was not accepted. Show the person the terms, and send the
 * version that they have accepted as `acceptedTerms`; `next` has the current one.
 */
export class TermsNotAccepted extends UnprocessableEntityError {}

/** 422 `too_many_addresses`: Your account has ten further addresses already; remove one first. */
export class TooManyAddresses extends UnprocessableEntityError {}

/** 422 `too_many_assets`: A project can have at most 2,000 images, and at most 200 MB in total. Delete some first. */
export class TooManyAssets extends UnprocessableEntityError {}

/** 409 `too_many_audiences`: The project has the maximum number of audiences; delete some first. */
export class TooManyAudiences extends ConflictError {}

/** 422 `too_many_automations`: A project has at most 500 automations; delete some first. */
export class TooManyAutomations extends UnprocessableEntityError {}

/**
 * 409 `too_many_contact_attributes`: The project has the maximum number of attributes with a type; delete some first.
 */
export class TooManyContactAttributes extends ConflictError {}

/** 409 `too_many_directory_connections`: An organization can have at most 10 directory connections. */
export class TooManyDirectoryConnections extends ConflictError {}

/**
 * 422 `too_many_dmarc_rows`: A domain can have at most 200,000 rows of DMARC data from the last 400 days, half of them
 * from one reporter.
 */
export class TooManyDmarcRows extends UnprocessableEntityError {}

/** 422 `too_many_domains`: A project can have at most 1,000 sending domains. Delete one first. */
export class TooManyDomains extends UnprocessableEntityError {}

/** 422 `too_many_features`: A project has at most 1,000 features; delete some first. */
export class TooManyFeatures extends UnprocessableEntityError {}

/**
 * 422 `too_many_impersonation_links`: There are 10 open impersonation links for this customer already; use one, or wait
 * five minutes.
 */
export class TooManyImpersonationLinks extends UnprocessableEntityError {}

/** 409 `too_many_imports`: The project has five imports pending or running; retry when one of them has finished. */
export class TooManyImports extends ConflictError {}

/** 422 `too_many_inbound_routes`: A project can have at most 1,000 routes. Delete one first. */
export class TooManyInboundRoutes extends UnprocessableEntityError {}

/** 422 `too_many_invitations`: An organization has at most 10,000 pending invitations; revoke some first. */
export class TooManyInvitations extends UnprocessableEntityError {}

/** 422 `too_many_keys`: A project has at most 1,000 API keys; delete some first. */
export class TooManyKeys extends UnprocessableEntityError {}

/** 422 `too_many_members`: An organization has at most 100,000 members. */
export class TooManyMembers extends UnprocessableEntityError {}

/** 422 `too_many_oauth_clients`: A project has at most 1,000 OAuth clients; delete some first. */
export class TooManyOauthClients extends UnprocessableEntityError {}

/** 422 `too_many_oauth_resources`: A project declares at most 100 APIs for access tokens; delete some first. */
export class TooManyOauthResources extends UnprocessableEntityError {}

/** 422 `too_many_organization_domains`: An organization has at most 100 domains; remove some first. */
export class TooManyOrganizationDomains extends UnprocessableEntityError {}

/** 422 `too_many_passkeys`: There are 20 passkeys already. Remove one first. */
export class TooManyPasskeys extends UnprocessableEntityError {}

/** 422 `too_many_permissions`: A project has at most 10,000 permissions; delete some first. */
export class TooManyPermissions extends UnprocessableEntityError {}

/** 422 `too_many_plans`: A project has at most 1,000 plans; delete some first. */
export class TooManyPlans extends UnprocessableEntityError {}

/**
 * 429 `too_many_previews`: The project has too many concurrent import previews; retry when one of them has finished.
 */
export class TooManyPreviews extends RateLimitError {}

/** 429 `too_many_requests`: Too many requests in a short time; slow down. */
export class TooManyRequests extends RateLimitError {}

/** 400 `too_many_roles`: A customer can have at most 100 roles. */
export class TooManyRoles extends BadRequestError {}

/** 422 `too_many_senders`: A project can have at most 20 single senders. Delete one, or verify a domain. */
export class TooManySenders extends UnprocessableEntityError {}

/** 422 `too_many_setup_links`: An organization has at most 10 open setup links; revoke some first. */
export class TooManySetupLinks extends UnprocessableEntityError {}

/** 422 `too_many_sso_connections`: An organization has at most 50 connections; remove some first. */
export class TooManySsoConnections extends UnprocessableEntityError {}

/**
 * 429 `too_many_streams`: There are too many open event streams of this project or credential; close those that are not
 * needed.
 */
export class TooManyStreams extends RateLimitError {}

/** 422 `too_many_templates`: A project can have at most 10,000 templates. Delete one first. */
export class TooManyTemplates extends UnprocessableEntityError {}

/** 422 `too_many_webhooks`: A project has at most 100 webhook subscriptions; delete some first. */
export class TooManyWebhooks extends UnprocessableEntityError {}

/** 415 `unsupported_media_type`: Send the body as `Content-Type: application/json`. */
export class UnsupportedMediaType extends UnsupportedMediaTypeError {}

/**
 * 400 `upload_broken`: The connection closed before the upload was complete; nothing was imported. Upload the file
 * again.
 */
export class UploadBroken extends BadRequestError {}

/** 404 `variant_missing`: This campaign has no such variant. */
export class VariantMissing extends NotFoundError {}

/** 404 `warm_up_missing`: This domain has no warm-up plan. */
export class WarmUpMissing extends NotFoundError {}

/** 409 `webhook_inactive`: This webhook subscription is inactive; activate it first. */
export class WebhookInactive extends ConflictError {}

/** 404 `webhook_missing`: There is no such webhook subscription. */
export class WebhookMissing extends NotFoundError {}

/** The class of each problem code, which is the class's name in snake_case. */
export const PROBLEMS = {
  AccountDeletionOff,
  AddressMissing,
  AddressNotVerified,
  AlreadyBooked,
  AlreadyInvited,
  AlreadyMember,
  AlreadyOwner,
  AlreadySuppressed,
  ApiKeyMissing,
  AssetMissing,
  AudienceDynamic,
  AudienceInUse,
  AudienceMissing,
  AutomationIncomplete,
  AutomationLoop,
  AutomationMissing,
  BillingUnavailable,
  BodyInvalid,
  BodyTooLarge,
  CampaignIncomplete,
  CampaignMissing,
  CampaignStateConflict,
  CapturedMissing,
  ClientRegistrationWithoutTokens,
  CodeInvalid,
  CodeWrong,
  ContactAttributeDeclared,
  ContactAttributeExists,
  ContactAttributeMissing,
  ContactExists,
  ContactMissing,
  ContentStoreUnavailable,
  CredentialInvalid,
  CredentialMissing,
  CredentialNotAccepted,
  CustomerBanned,
  CustomerMailMissing,
  CustomerMissing,
  CustomerOwnsOrganizations,
  DatabaseAway,
  DeliveryMissing,
  DirectNotOffered,
  DirectoryConnectionMissing,
  DmarcReportInvalid,
  DmarcReportOfOtherDomain,
  DmarcReportOutOfPeriod,
  DmarcReportTooLarge,
  DomainExists,
  DomainHasWaitingSends,
  DomainInUse,
  DomainListed,
  DomainMissing,
  DomainNotProved,
  DomainNotVerified,
  DomainTaken,
  DryRunTooSlow,
  EmailInvalid,
  EmailMissing,
  EmailTaken,
  EventKeyReused,
  ExternalIdTaken,
  FeatureExists,
  FeatureMissing,
  FeatureUndeclared,
  FlowInvalid,
  HashRefused,
  HeaderTooLarge,
  HookExists,
  HookFailed,
  HookMissing,
  HookRefused,
  IdempotencyKeyInProgress,
  IdempotencyKeyReused,
  IdentityLinked,
  IdentityMissing,
  IdentityRequestDecided,
  IdentityRequestMissing,
  IdentityTaken,
  ImageInvalid,
  ImageTooLarge,
  ImportFileInvalid,
  ImportMissing,
  InboundAttachmentMissing,
  InboundDomainNotVerified,
  InboundMailboxFull,
  InboundMessageLoops,
  InboundMessageMissing,
  InboundRouteExists,
  InboundRouteMissing,
  Invalid,
  InvitationClosed,
  InvitationMissing,
  InvitedSomebodyElse,
  InviterUnknown,
  LastOwner,
  LastSignInMethod,
  LimitNotTaken,
  LinkInvalid,
  LiveKeyRequired,
  LockedOut,
  LogoutTokenRefused,
  MailVersionMissing,
  MemberMissing,
  MessageGone,
  MessageTooLarge,
  MetadataRefused,
  MetadataTooLarge,
  MetadataUnreachable,
  MethodOff,
  MfaAlreadyEnabled,
  MfaAlreadyOn,
  MfaNotEnrolled,
  MfaOff,
  MfaRequired,
  MfaStillRequired,
  NextKeyUnpublished,
  NoInboundRoute,
  NoSignOnHere,
  NoSmartHost,
  NotAMember,
  NotCancellable,
  NotForSale,
  NotFound,
  NotFresh,
  NotRetriable,
  NotScheduled,
  NotYourself,
  NothingBooked,
  NothingHeld,
  OauthClientHasKeys,
  OauthClientMissing,
  OauthConsentMissing,
  OauthResourceExists,
  OauthResourceMissing,
  OrganizationDomainMissing,
  OrganizationExternalIdTaken,
  OrganizationMissing,
  OrganizationSuspended,
  OwnerStays,
  OwnersLockedOut,
  OwnsAnAccount,
  PageTextMissing,
  PagesDomainMissing,
  PasskeyMissing,
  PasswordBreached,
  PasswordCommon,
  PasswordWrong,
  PermissionExists,
  PermissionMissing,
  PermissionUndeclared,
  PermissionUnknown,
  PlaceMissing,
  PlanExists,
  PlanInUse,
  PlanLimitReached,
  PlanMissing,
  PreviewTooSlow,
  PrimaryAddressUnverified,
  ProjectMissing,
  ProviderMissing,
  ProviderTrouble,
  PublicClientHasNoSecret,
  RefreshTokenInvalid,
  RememberedDeviceMissing,
  RenderFailed,
  RenderingAway,
  RenderingBusy,
  ReportMissing,
  ResentTooSoon,
  RoleExists,
  RoleInUse,
  RoleMissing,
  RoleUnknown,
  RunFinished,
  RunMissing,
  RunNotFailed,
  SamlOnly,
  SeedListEmpty,
  SendInTransmission,
  SenderExists,
  SenderLinkInvalid,
  SenderMissing,
  SenderNotNeeded,
  SenderVerified,
  SessionMissing,
  SetupLinkClosed,
  SetupLinkMissing,
  SignInBlocked,
  SignInFailed,
  SignInLocked,
  SignInMethodNotAllowed,
  SignUpClosed,
  SiteMissing,
  SiteNotSuspended,
  SiteSuspendedByOperator,
  SlugTaken,
  SsoConnectionDraft,
  SsoConnectionIncomplete,
  SsoConnectionMissing,
  SsoDomainServed,
  SsoNotReady,
  SsoRequired,
  SsoStillRequired,
  SsoTestInvalid,
  SsoUnavailable,
  StepUpMethodNotAllowed,
  SubjectMissing,
  SuppressionMissing,
  SvgNotAccepted,
  SystemRoleFixed,
  TemplateBusy,
  TemplateCrashed,
  TemplateInUse,
  TemplateMissing,
  TemplateTooExpensive,
  TermsNotAccepted,
  TooManyAddresses,
  TooManyAssets,
  TooManyAudiences,
  TooManyAutomations,
  TooManyContactAttributes,
  TooManyDirectoryConnections,
  TooManyDmarcRows,
  TooManyDomains,
  TooManyFeatures,
  TooManyImpersonationLinks,
  TooManyImports,
  TooManyInboundRoutes,
  TooManyInvitations,
  TooManyKeys,
  TooManyMembers,
  TooManyOauthClients,
  TooManyOauthResources,
  TooManyOrganizationDomains,
  TooManyPasskeys,
  TooManyPermissions,
  TooManyPlans,
  TooManyPreviews,
  TooManyRequests,
  TooManyRoles,
  TooManySenders,
  TooManySetupLinks,
  TooManySsoConnections,
  TooManyStreams,
  TooManyTemplates,
  TooManyWebhooks,
  UnsupportedMediaType,
  UploadBroken,
  VariantMissing,
  WarmUpMissing,
  WebhookInactive,
  WebhookMissing,
};
