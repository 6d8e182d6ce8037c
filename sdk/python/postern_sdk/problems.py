"""One exception for each problem code of the API, with the name of the code.

Generated from the API by script/client: do not edit.
"""

from postern_sdk.errors import (
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
)


class AccountDeletionOff(ForbiddenError):
    """`account_deletion_off` (403): Customers of this project cannot delete their accounts themselves
    (`accountDeletion`).
    """


class AddressMissing(NotFoundError):
    """`address_missing` (404): Your account has no such address, or it is the primary one or unverified."""


class AddressNotVerified(ForbiddenError):
    """`address_not_verified` (403): Verify your e-mail address before you accept an invitation sent to it."""


class AlreadyBooked(ConflictError):
    """`already_booked` (409): The account has this plan or add-on already. Change or cancel it in the billing
    portal.
    """


class AlreadyInvited(ConflictError):
    """`already_invited` (409): This address has a pending invitation to the organization already; resend or revoke
    that invitation.
    """


class AlreadyMember(ConflictError):
    """`already_member` (409): This customer is a member of the organization already."""


class AlreadyOwner(ConflictError):
    """`already_owner` (409): This member is the owner of the account already."""


class AlreadySuppressed(ConflictError):
    """`already_suppressed` (409): This address is already suppressed for this or a stronger reason."""


class ApiKeyMissing(NotFoundError):
    """`api_key_missing` (404): There is no such API key."""


class AssetMissing(NotFoundError):
    """`asset_missing` (404): There is no such image."""


class AudienceDynamic(ConflictError):
    """`audience_dynamic` (409): This audience is DYNAMIC: its rules choose the members, so contacts cannot be added
    or removed.
    """


class AudienceInUse(ConflictError):
    """`audience_in_use` (409): Another audience, a campaign or an automation uses this audience. Change or stop
    those first.
    """


class AudienceMissing(NotFoundError):
    """`audience_missing` (404): There is no such audience."""


class AutomationIncomplete(ConflictError):
    """`automation_incomplete` (409): The automation refers to something that is missing, so it cannot be active;
    `errors` lists what.
    """


class AutomationLoop(ConflictError):
    """`automation_loop` (409): Active automations would start each other in an endless loop; `errors` lists the
    steps of the loop.
    """


class AutomationMissing(NotFoundError):
    """`automation_missing` (404): There is no such automation."""


class BillingUnavailable(ServerError):
    """`billing_unavailable` (503): The payment provider is unavailable. Nothing was changed; try again in a few
    seconds.
    """


class BodyInvalid(BadRequestError):
    """`body_invalid` (400): The body is not valid JSON."""


class BodyTooLarge(PayloadTooLargeError):
    """`body_too_large` (413): The body is larger than this operation accepts."""


class CampaignIncomplete(ConflictError):
    """`campaign_incomplete` (409): The campaign cannot be sent yet; `errors` lists what is missing."""


class CampaignMissing(NotFoundError):
    """`campaign_missing` (404): There is no such campaign."""


class CampaignStateConflict(ConflictError):
    """`campaign_state_conflict` (409): The campaign's current status does not allow this action."""


class CapturedMissing(NotFoundError):
    """`captured_missing` (404): There is no such captured message."""


class ClientRegistrationWithoutTokens(ConflictError):
    """`client_registration_without_tokens` (409): The project's setting `signIn.clientRegistration` is not `TOKEN`,
    so nobody needs a token to register clients.
    """


class CodeInvalid(UnauthorizedError):
    """`code_invalid` (401): This code or link is invalid, was used already, or has expired. Request a new one."""


class CodeWrong(ForbiddenError):
    """`code_wrong` (403): The code is wrong, has expired, or was used before."""


class ContactAttributeDeclared(ConflictError):
    """`contact_attribute_declared` (409): The attribute is declared with another type; change its declared type
    first.
    """


class ContactAttributeExists(ConflictError):
    """`contact_attribute_exists` (409): An attribute with this name has a type already; change it with a PATCH of
    the attribute.
    """


class ContactAttributeMissing(NotFoundError):
    """`contact_attribute_missing` (404): There is no such attribute."""


class ContactExists(ConflictError):
    """`contact_exists` (409): A contact with this e-mail address exists already."""


class ContactMissing(NotFoundError):
    """`contact_missing` (404): There is no such contact."""


class ContentStoreUnavailable(ServerError):
    """`content_store_unavailable` (503): The content of this message is in a store that does not respond at the
    moment. Nothing was changed; try again shortly.
    """


class CredentialInvalid(UnauthorizedError):
    """`credential_invalid` (401): This credential is unknown, expired or revoked."""


class CredentialMissing(UnauthorizedError):
    """`credential_missing` (401): This request needs a credential: send `Authorization: Bearer …`."""


class CredentialNotAccepted(ForbiddenError):
    """`credential_not_accepted` (403): This operation does not accept this kind of credential."""


class CustomerBanned(ConflictError):
    """`customer_banned` (409): A banned customer cannot be linked or merged; unban first."""


class CustomerMailMissing(NotFoundError):
    """`customer_mail_missing` (404): There is no such mail to customers, or it has no such language. `GET
    …/customer-mails` lists them.
    """


class CustomerMissing(NotFoundError):
    """`customer_missing` (404): There is no such customer."""


class CustomerOwnsOrganizations(ConflictError):
    """`customer_owns_organizations` (409): This customer is the only OWNER of at least one organization. Send
    `transferOwnershipTo` with the id of another customer, or delete these organizations first.
    """


class DatabaseAway(ServerError):
    """`database_away` (503): The database does not respond; nothing was changed. Try again shortly."""


class DeliveryMissing(NotFoundError):
    """`delivery_missing` (404): There is no such webhook delivery."""


class DirectNotOffered(ServerError):
    """`direct_not_offered` (503): This project sends to the recipients' mail servers, which this server does not
    offer: set POSTERN_SOURCES, or change `transport` in the settings of the project.
    """


class DirectoryConnectionMissing(NotFoundError):
    """`directory_connection_missing` (404): There is no such directory connection."""


class DmarcReportInvalid(UnprocessableEntityError):
    """`dmarc_report_invalid` (422): This is not a DMARC aggregate report. Send its XML, a gzip or zip file with the
    XML, or an e-mail with one of these attached.
    """


class DmarcReportOfOtherDomain(UnprocessableEntityError):
    """`dmarc_report_of_other_domain` (422): This report is about another domain."""


class DmarcReportOutOfPeriod(UnprocessableEntityError):
    """`dmarc_report_out_of_period` (422): The period of this report is in the future, or more than 400 days ago.
    Reports are kept for 400 days.
    """


class DmarcReportTooLarge(PayloadTooLargeError):
    """`dmarc_report_too_large` (413): A report can have at most 10 MB, 20 MB after decompression, and 20,000
    records.
    """


class DomainExists(ConflictError):
    """`domain_exists` (409): This project already has this sending domain."""


class DomainHasWaitingSends(ConflictError):
    """`domain_has_waiting_sends` (409): Messages wait to be sent from this domain and would fail without it. Use
    `force=true` to delete it anyway.
    """


class DomainInUse(ConflictError):
    """`domain_in_use` (409): A campaign or an automation sends from this domain; `errors` lists them. Change or
    stop those first.
    """


class DomainListed(ConflictError):
    """`domain_listed` (409): The organization has this domain already."""


class DomainMissing(NotFoundError):
    """`domain_missing` (404): There is no such sending domain."""


class DomainNotProved(ConflictError):
    """`domain_not_proved` (409): Automatic joining requires a VERIFIED domain; verify it first."""


class DomainNotVerified(ForbiddenError):
    """`domain_not_verified` (403): The `from` address neither belongs to a verified sending domain nor is a
    verified sender of this project.
    """


class DomainTaken(ConflictError):
    """`domain_taken` (409): Another organization of this project has verified this domain."""


class DryRunTooSlow(UnprocessableEntityError):
    """`dry_run_too_slow` (422): The steps take longer than 5 seconds. Use fewer steps, fewer conditions, or
    conditions that fewer contacts match.
    """


class EmailInvalid(BadRequestError):
    """`email_invalid` (400): This e-mail cannot be sent as described; `errors` says why."""


class EmailMissing(NotFoundError):
    """`email_missing` (404): There is no such send."""


class EmailTaken(ConflictError):
    """`email_taken` (409): Another customer has this address."""


class EventKeyReused(UnprocessableEntityError):
    """`event_key_reused` (422): This idempotency key was used with a different event within the last 24 hours; use
    a new key.
    """


class ExternalIdTaken(ConflictError):
    """`external_id_taken` (409): Another customer has this external identifier. To merge the two customers, use
    POST …/customers/link.
    """


class FeatureExists(ConflictError):
    """`feature_exists` (409): This project already has a feature with that key."""


class FeatureMissing(NotFoundError):
    """`feature_missing` (404): There is no such feature."""


class FeatureUndeclared(UnprocessableEntityError):
    """`feature_undeclared` (422): A plan can include only features that the project has declared; declare the
    feature first.
    """


class FlowInvalid(BadRequestError):
    """`flow_invalid` (400): This sign-in was begun in another browser, has expired, or is already finished; begin
    again.
    """


class HashRefused(BadRequestError):
    """`hash_refused` (400): This password hash has an unsupported scheme, or its cost parameters are too high."""


class HeaderTooLarge(APIError):
    """`header_too_large` (431): The head of this request is larger than the server accepts."""


class HookExists(ConflictError):
    """`hook_exists` (409): This project has a hook of this kind already; change it instead."""


class HookFailed(ServerError):
    """`hook_failed` (503): A server of this app, on which the sign-in depends, does not respond as it should. Try
    again later.
    """


class HookMissing(NotFoundError):
    """`hook_missing` (404): This project has no such hook."""


class HookRefused(ForbiddenError):
    """`hook_refused` (403): This app does not allow this account. Contact its support."""


class IdempotencyKeyInProgress(ConflictError):
    """`idempotency_key_in_progress` (409): An earlier request with this idempotency key is still being processed.
    Repeat the request shortly.
    """


class IdempotencyKeyReused(UnprocessableEntityError):
    """`idempotency_key_reused` (422): This idempotency key was used with a different body within the last 24 hours.
    Use a new key.
    """


class IdentityLinked(ConflictError):
    """`identity_linked` (409): Another account of this provider is already linked; unlink it first."""


class IdentityMissing(NotFoundError):
    """`identity_missing` (404): This customer has no linked account at this provider."""


class IdentityRequestDecided(ConflictError):
    """`identity_request_decided` (409): This request was already approved or rejected."""


class IdentityRequestMissing(NotFoundError):
    """`identity_request_missing` (404): There is no such request to link an account."""


class IdentityTaken(ConflictError):
    """`identity_taken` (409): This account is linked to another customer."""


class ImageInvalid(UnprocessableEntityError):
    """`image_invalid` (422): This is not a complete PNG, JPEG, GIF or WebP image."""


class ImageTooLarge(UnprocessableEntityError):
    """`image_too_large` (422): An image can be at most 4,096 pixels wide and 4,096 pixels high."""


class ImportFileInvalid(BadRequestError):
    """`import_file_invalid` (400): The file is not a CSV file whose header has an `email` column."""


class ImportMissing(NotFoundError):
    """`import_missing` (404): There is no such import."""


class InboundAttachmentMissing(NotFoundError):
    """`inbound_attachment_missing` (404): The message has no such attachment."""


class InboundDomainNotVerified(UnprocessableEntityError):
    """`inbound_domain_not_verified` (422): The domain of the address is neither a verified sending domain of this
    project nor below one. Verify it first.
    """


class InboundMailboxFull(UnprocessableEntityError):
    """`inbound_mailbox_full` (422): A project can store at most 5 GB of received messages. Delete some first."""


class InboundMessageLoops(UnprocessableEntityError):
    """`inbound_message_loops` (422): The message has more than 100 Received fields, so it is in a loop."""


class InboundMessageMissing(NotFoundError):
    """`inbound_message_missing` (404): There is no such received message, or it was deleted because its retention
    period has ended.
    """


class InboundRouteExists(ConflictError):
    """`inbound_route_exists` (409): This project already has a route for this address."""


class InboundRouteMissing(NotFoundError):
    """`inbound_route_missing` (404): There is no such route."""


class Invalid(BadRequestError):
    """`invalid` (400): Some of the values sent are not valid; `errors` says which."""


class InvitationClosed(ConflictError):
    """`invitation_closed` (409): This invitation was accepted or revoked, or has expired. Send a new one."""


class InvitationMissing(NotFoundError):
    """`invitation_missing` (404): There is no such invitation."""


class InvitedSomebodyElse(ForbiddenError):
    """`invited_somebody_else` (403): This invitation was sent to an address that is not yours; sign in with the
    invited address.
    """


class InviterUnknown(UnprocessableEntityError):
    """`inviter_unknown` (422): The inviter must be a member of the organization."""


class LastOwner(ConflictError):
    """`last_owner` (409): This is the last OWNER of the organization; make another member OWNER first."""


class LastSignInMethod(ConflictError):
    """`last_sign_in_method` (409): This is the only sign-in method of the account: set a password or add another
    method first.
    """


class LimitNotTaken(UnprocessableEntityError):
    """`limit_not_taken` (422): A BOOLEAN feature is on or off; only a LIMIT feature can have a limit."""


class LinkInvalid(BadRequestError):
    """`link_invalid` (400): This link is invalid, was used before, or has expired. Request a new one."""


class LiveKeyRequired(ForbiddenError):
    """`live_key_required` (403): A TEST key cannot do this, because real mail would be sent. Use a LIVE key."""


class LockedOut(RateLimitError):
    """`locked_out` (429): Too many failed attempts. Try again after the time in `Retry-After`. After wrong
    passwords, you can also reset the password by mail.
    """


class LogoutTokenRefused(BadRequestError):
    """`logout_token_refused` (400): The logout token is not valid. The connection's traces have the reason."""


class MailVersionMissing(NotFoundError):
    """`mail_version_missing` (404): There is no such version of this mail, or it was deleted: the last 50 are kept."""


class MemberMissing(NotFoundError):
    """`member_missing` (404): This customer is not a member of the organization."""


class MessageGone(NotFoundError):
    """`message_gone` (404): The content of this message is no longer stored."""


class MessageTooLarge(PayloadTooLargeError):
    """`message_too_large` (413): The message is larger than 25 MB after encoding."""


class MetadataRefused(BadRequestError):
    """`metadata_refused` (400): The document is not usable metadata of one SAML 2.0 identity provider."""


class MetadataTooLarge(PayloadTooLargeError):
    """`metadata_too_large` (413): The identity provider's metadata is larger than 100 KB."""


class MetadataUnreachable(BadRequestError):
    """`metadata_unreachable` (400): The metadata could not be fetched; check the URL, or upload the metadata."""


class MethodOff(ForbiddenError):
    """`method_off` (403): This sign-in method is switched off in this project."""


class MfaAlreadyEnabled(ConflictError):
    """`mfa_already_enabled` (409): A second factor is on already. Turn it off first."""


class MfaAlreadyOn(ConflictError):
    """`mfa_already_on` (409): A second factor is already on; disable it first."""


class MfaNotEnrolled(ConflictError):
    """`mfa_not_enrolled` (409): There is no second factor. Set one up with `POST /auth/mfa/totp`."""


class MfaOff(ConflictError):
    """`mfa_off` (409): No second factor is on or being set up."""


class MfaRequired(UnauthorizedError):
    """`mfa_required` (401): This account has a second factor: send `code` too, from the authenticator app, or a
    recovery code.
    """


class MfaStillRequired(ConflictError):
    """`mfa_still_required` (409): A second factor is required, so the last one cannot be removed."""


class NextKeyUnpublished(ConflictError):
    """`next_key_unpublished` (409): The next DKIM key is not published in the DNS, so signatures with it would not
    verify. Publish it first.
    """


class NoInboundRoute(UnprocessableEntityError):
    """`no_inbound_route` (422): No recipient of the message has an active route in this project."""


class NoSignOnHere(NotFoundError):
    """`no_sign_on_here` (404): No organization uses single sign-on for this e-mail domain. Sign in another way."""


class NoSmartHost(ServerError):
    """`no_smart_host` (503): This project uses the server's relay, but the server has none. Set POSTERN_RELAY, or
    `relays` in the settings of the project.
    """


class NotAMember(ForbiddenError):
    """`not_a_member` (403): The customer is not a member of an organization with this id, or the organization is
    suspended. The session's active organization did not change.
    """


class NotCancellable(ConflictError):
    """`not_cancellable` (409): This send is no longer waiting, or is being transmitted right now."""


class NotForSale(ConflictError):
    """`not_for_sale` (409): The operator of this server has not set a price for this plan or add-on and billing
    cycle.
    """


class NotFound(NotFoundError):
    """`not_found` (404): There is no operation at this path."""


class NotFresh(UnauthorizedError):
    """`not_fresh` (401): This requires that you have authenticated within the last hour, with the second factor if
    you have one: use `POST …/auth/step-up` or sign in again, then repeat the request.
    """


class NotRetriable(ConflictError):
    """`not_retriable` (409): Only a send that was deferred, failed, bounced or expired can be retried."""


class NotScheduled(ConflictError):
    """`not_scheduled` (409): Only a SCHEDULED send can be rescheduled."""


class NotYourself(ForbiddenError):
    """`not_yourself` (403): A customer's token can check only the access of that customer."""


class NothingBooked(ConflictError):
    """`nothing_booked` (409): The account has no subscription to manage. Start one with POST /account/auth-
    billing/checkout.
    """


class NothingHeld(ConflictError):
    """`nothing_held` (409): Marketing mail of this domain is not held, so there is nothing to release."""


class OauthClientHasKeys(ConflictError):
    """`oauth_client_has_keys` (409): A client that authenticates with a key has no secret. Remove `jwks` and
    `jwksUri` first.
    """


class OauthClientMissing(NotFoundError):
    """`oauth_client_missing` (404): There is no such OAuth client."""


class OauthConsentMissing(NotFoundError):
    """`oauth_consent_missing` (404): The customer has allowed this client nothing."""


class OauthResourceExists(ConflictError):
    """`oauth_resource_exists` (409): The project has declared an API with this identifier already."""


class OauthResourceMissing(NotFoundError):
    """`oauth_resource_missing` (404): There is no such API for which clients can ask for access tokens."""


class OrganizationDomainMissing(NotFoundError):
    """`organization_domain_missing` (404): There is no such organization domain."""


class OrganizationExternalIdTaken(ConflictError):
    """`organization_external_id_taken` (409): Another organization of the project has this external identifier."""


class OrganizationMissing(NotFoundError):
    """`organization_missing` (404): There is no such organization."""


class OrganizationSuspended(ConflictError):
    """`organization_suspended` (409): This organization is suspended, so it cannot get invitations or members;
    activate it first.
    """


class OwnerStays(ConflictError):
    """`owner_stays` (409): The owner cannot leave, be removed or get another role. Transfer ownership first."""


class OwnersLockedOut(ConflictError):
    """`owners_locked_out` (409): No OWNER of the organization could sign in by one of these methods."""


class OwnsAnAccount(ConflictError):
    """`owns_an_account` (409): You own an account. Transfer its ownership first, or send `deleteMyAccount: true` if
    you are its only member.
    """


class PageTextMissing(NotFoundError):
    """`page_text_missing` (404): There is no such text of the pages, or no such language. `GET …/page-
    texts/{language}` lists them.
    """


class PagesDomainMissing(NotFoundError):
    """`pages_domain_missing` (404): This project has no host name for its hosted pages. Set
    `settings.signIn.pagesDomain` first.
    """


class PasskeyMissing(NotFoundError):
    """`passkey_missing` (404): There is no such passkey."""


class PasswordBreached(BadRequestError):
    """`password_breached` (400): This password has appeared in a data breach. Choose another one."""


class PasswordCommon(BadRequestError):
    """`password_common` (400): This password is among the most common ones. Choose another one."""


class PasswordWrong(ForbiddenError):
    """`password_wrong` (403): The password is wrong."""


class PermissionExists(ConflictError):
    """`permission_exists` (409): This project already has that permission."""


class PermissionMissing(ForbiddenError):
    """`permission_missing` (403): This credential lacks the permission that the operation needs."""


class PermissionUndeclared(UnprocessableEntityError):
    """`permission_undeclared` (422): A role can include only permissions that the project has declared; declare the
    permission first.
    """


class PermissionUnknown(NotFoundError):
    """`permission_unknown` (404): There is no such permission."""


class PlaceMissing(NotFoundError):
    """`place_missing` (404): There is no such organization."""


class PlanExists(ConflictError):
    """`plan_exists` (409): This project already has a plan with that key."""


class PlanInUse(ConflictError):
    """`plan_in_use` (409): Organizations are on this plan; move them to another one first."""


class PlanLimitReached(ForbiddenError):
    """`plan_limit_reached` (403): The limit of this account's plan is reached. Choose a larger plan."""


class PlanMissing(NotFoundError):
    """`plan_missing` (404): There is no such plan."""


class PreviewTooSlow(UnprocessableEntityError):
    """`preview_too_slow` (422): Counting the contacts of these rules takes longer than 5 seconds. Use fewer
    conditions, or conditions that fewer contacts match, or create the audience: its members are determined
    without this limit.
    """


class PrimaryAddressUnverified(ConflictError):
    """`primary_address_unverified` (409): Verify the primary address of your account first."""


class ProjectMissing(NotFoundError):
    """`project_missing` (404): There is no such project."""


class ProviderMissing(NotFoundError):
    """`provider_missing` (404): There is no such sign-in provider."""


class ProviderTrouble(ServerError):
    """`provider_trouble` (503): The sign-in provider cannot be reached or sent an unexpected response; try again
    later.
    """


class PublicClientHasNoSecret(ConflictError):
    """`public_client_has_no_secret` (409): A PUBLIC client has no secret, because apps on devices and in browsers
    cannot keep one.
    """


class RefreshTokenInvalid(UnauthorizedError):
    """`refresh_token_invalid` (401): This refresh token is unknown, has expired or was already used; sign in again."""


class RememberedDeviceMissing(NotFoundError):
    """`remembered_device_missing` (404): There is no such remembered device."""


class RenderFailed(UnprocessableEntityError):
    """`render_failed` (422): The template could not be rendered with these values."""


class RenderingAway(ServerError):
    """`rendering_away` (503): Templates cannot be rendered at the moment. Retry shortly."""


class RenderingBusy(RateLimitError):
    """`rendering_busy` (429): This project's templates take so much time that they are rendered one by one, and too
    many are waiting. Retry later, or simplify the templates.
    """


class ReportMissing(NotFoundError):
    """`report_missing` (404): There is no such report; reports that were not understood are kept for 30 days, the
    newest 100 of a project.
    """


class ResentTooSoon(RateLimitError):
    """`resent_too_soon` (429): An invitation can be resent at most once a minute; retry later."""


class RoleExists(ConflictError):
    """`role_exists` (409): This project already has a role with that key; keys are unique across both scopes."""


class RoleInUse(ConflictError):
    """`role_in_use` (409): A customer or member has this role, or is invited with it; remove it from them first."""


class RoleMissing(NotFoundError):
    """`role_missing` (404): There is no such role."""


class RoleUnknown(UnprocessableEntityError):
    """`role_unknown` (422): There is no such role in that scope."""


class RunFinished(ConflictError):
    """`run_finished` (409): This run has finished already."""


class RunMissing(NotFoundError):
    """`run_missing` (404): There is no such run."""


class RunNotFailed(ConflictError):
    """`run_not_failed` (409): Only a run that FAILED can be retried, and only while its contact is in no other run
    of the automation.
    """


class SamlOnly(ConflictError):
    """`saml_only` (409): This connection is by OpenID Connect: it has neither SAML metadata nor certificates."""


class SeedListEmpty(ConflictError):
    """`seed_list_empty` (409): The project has no seed list; add addresses to `seedList` in the project's settings."""


class SendInTransmission(ConflictError):
    """`send_in_transmission` (409): The message is being transmitted right now. Repeat the report shortly."""


class SenderExists(ConflictError):
    """`sender_exists` (409): This project already has this single sender. If it is not confirmed yet, resend its
    confirmation mail.
    """


class SenderLinkInvalid(BadRequestError):
    """`sender_link_invalid` (400): This link or token is unknown, expired, or replaced by a newer one. Request a
    new confirmation mail.
    """


class SenderMissing(NotFoundError):
    """`sender_missing` (404): There is no such single sender."""


class SenderNotNeeded(ConflictError):
    """`sender_not_needed` (409): The domain of this address is verified in this project, so every address at it can
    be used without a sender.
    """


class SenderVerified(ConflictError):
    """`sender_verified` (409): This single sender is already confirmed."""


class SessionMissing(NotFoundError):
    """`session_missing` (404): There is no such session."""


class SetupLinkClosed(ConflictError):
    """`setup_link_closed` (409): This setup link is completed, revoked or expired; create another one."""


class SetupLinkMissing(NotFoundError):
    """`setup_link_missing` (404): There is no such setup link."""


class SignInBlocked(ForbiddenError):
    """`sign_in_blocked` (403): This account is not allowed to sign in."""


class SignInFailed(UnauthorizedError):
    """`sign_in_failed` (401): Wrong e-mail address or password, or unknown passkey."""


class SignInLocked(RateLimitError):
    """`sign_in_locked` (429): Too many failed attempts; try again after the time in `Retry-After`."""


class SignInMethodNotAllowed(ForbiddenError):
    """`sign_in_method_not_allowed` (403): An organization that you belong to does not allow this sign-in method.
    `next` has those that are allowed.
    """


class SignUpClosed(ForbiddenError):
    """`sign_up_closed` (403): Sign-up is closed in this project; only invited addresses can sign up."""


class SiteMissing(NotFoundError):
    """`site_missing` (404): This project has sent no mail to this site."""


class SiteNotSuspended(ConflictError):
    """`site_not_suspended` (409): This project has not suspended this site."""


class SiteSuspendedByOperator(ConflictError):
    """`site_suspended_by_operator` (409): The operator of the server has suspended this site for the project, and
    only the operator can change that.
    """


class SlugTaken(ConflictError):
    """`slug_taken` (409): Another organization of the project has this slug."""


class SsoConnectionDraft(ConflictError):
    """`sso_connection_draft` (409): This connection has never been active. Activate it first."""


class SsoConnectionIncomplete(ConflictError):
    """`sso_connection_incomplete` (409): This connection is incomplete, so it cannot be active. `errors` lists what
    is missing.
    """


class SsoConnectionMissing(NotFoundError):
    """`sso_connection_missing` (404): There is no such single sign-on connection."""


class SsoDomainServed(ConflictError):
    """`sso_domain_served` (409): Another active connection serves this domain; deactivate that one first."""


class SsoNotReady(ConflictError):
    """`sso_not_ready` (409): Single sign-on cannot be required: there is no active connection with which members
    can sign in.
    """


class SsoRequired(ForbiddenError):
    """`sso_required` (403): People with this address can sign in only through the single sign-on of their
    organization.
    """


class SsoStillRequired(ConflictError):
    """`sso_still_required` (409): Single sign-on is required, and this change would leave no connection with which
    members can sign in.
    """


class SsoTestInvalid(ForbiddenError):
    """`sso_test_invalid` (403): This test link is invalid or has expired; create a new one."""


class SsoUnavailable(ConflictError):
    """`sso_unavailable` (409): Single sign-on by this connection is unavailable: the connection is inactive, its
    domain is not verified, or the organization is suspended.
    """


class StepUpMethodNotAllowed(ForbiddenError):
    """`step_up_method_not_allowed` (403): This is not enough for this session. Use one of `methods` of `GET
    …/auth/step-up`; if it is empty, sign in again.
    """


class SubjectMissing(NotFoundError):
    """`subject_missing` (404): There is no such customer."""


class SuppressionMissing(NotFoundError):
    """`suppression_missing` (404): This address is not suppressed."""


class SvgNotAccepted(UnprocessableEntityError):
    """`svg_not_accepted` (422): SVG images are not accepted: most mail programs do not show them, and they can
    contain scripts. Convert the image to PNG.
    """


class SystemRoleFixed(ConflictError):
    """`system_role_fixed` (409): System roles (OWNER, ADMIN, MEMBER) cannot be changed or deleted."""


class TemplateBusy(ConflictError):
    """`template_busy` (409): Other requests changed this template at the same time. Fetch it and try again."""


class TemplateCrashed(UnprocessableEntityError):
    """`template_crashed` (422): Rendering crashed the rendering process; change the template or its variables
    (template_crashed).
    """


class TemplateInUse(ConflictError):
    """`template_in_use` (409): Campaigns or automations use this template; `errors` lists them. Change or stop
    those first.
    """


class TemplateMissing(NotFoundError):
    """`template_missing` (404): There is no such template."""


class TemplateTooExpensive(UnprocessableEntityError):
    """`template_too_expensive` (422): Rendering takes too much time or memory; simplify the template or its
    variables (template_too_expensive).
    """


class TermsNotAccepted(UnprocessableEntityError):
    """`terms_not_accepted` (422): The current version of the terms was not accepted. Show the person the terms, and
    send the version that they have accepted as `acceptedTerms`; `next` has the current one.
    """


class TooManyAddresses(UnprocessableEntityError):
    """`too_many_addresses` (422): Your account has ten further addresses already; remove one first."""


class TooManyAssets(UnprocessableEntityError):
    """`too_many_assets` (422): A project can have at most 2,000 images, and at most 200 MB in total. Delete some
    first.
    """


class TooManyAudiences(ConflictError):
    """`too_many_audiences` (409): The project has the maximum number of audiences; delete some first."""


class TooManyAutomations(UnprocessableEntityError):
    """`too_many_automations` (422): A project has at most 500 automations; delete some first."""


class TooManyContactAttributes(ConflictError):
    """`too_many_contact_attributes` (409): The project has the maximum number of attributes with a type; delete
    some first.
    """


class TooManyDirectoryConnections(ConflictError):
    """`too_many_directory_connections` (409): An organization can have at most 10 directory connections."""


class TooManyDmarcRows(UnprocessableEntityError):
    """`too_many_dmarc_rows` (422): A domain can have at most 200,000 rows of DMARC data from the last 400 days,
    half of them from one reporter.
    """


class TooManyDomains(UnprocessableEntityError):
    """`too_many_domains` (422): A project can have at most 1,000 sending domains. Delete one first."""


class TooManyFeatures(UnprocessableEntityError):
    """`too_many_features` (422): A project has at most 1,000 features; delete some first."""


class TooManyImpersonationLinks(UnprocessableEntityError):
    """`too_many_impersonation_links` (422): There are 10 open impersonation links for this customer already; use
    one, or wait five minutes.
    """


class TooManyImports(ConflictError):
    """`too_many_imports` (409): The project has five imports pending or running; retry when one of them has
    finished.
    """


class TooManyInboundRoutes(UnprocessableEntityError):
    """`too_many_inbound_routes` (422): A project can have at most 1,000 routes. Delete one first."""


class TooManyInvitations(UnprocessableEntityError):
    """`too_many_invitations` (422): An organization has at most 10,000 pending invitations; revoke some first."""


class TooManyKeys(UnprocessableEntityError):
    """`too_many_keys` (422): A project has at most 1,000 API keys; delete some first."""


class TooManyMembers(UnprocessableEntityError):
    """`too_many_members` (422): An organization has at most 100,000 members."""


class TooManyOauthClients(UnprocessableEntityError):
    """`too_many_oauth_clients` (422): A project has at most 1,000 OAuth clients; delete some first."""


class TooManyOauthResources(UnprocessableEntityError):
    """`too_many_oauth_resources` (422): A project declares at most 100 APIs for access tokens; delete some first."""


class TooManyOrganizationDomains(UnprocessableEntityError):
    """`too_many_organization_domains` (422): An organization has at most 100 domains; remove some first."""


class TooManyPasskeys(UnprocessableEntityError):
    """`too_many_passkeys` (422): There are 20 passkeys already. Remove one first."""


class TooManyPermissions(UnprocessableEntityError):
    """`too_many_permissions` (422): A project has at most 10,000 permissions; delete some first."""


class TooManyPlans(UnprocessableEntityError):
    """`too_many_plans` (422): A project has at most 1,000 plans; delete some first."""


class TooManyPreviews(RateLimitError):
    """`too_many_previews` (429): The project has too many concurrent import previews; retry when one of them has
    finished.
    """


class TooManyRequests(RateLimitError):
    """`too_many_requests` (429): Too many requests in a short time; slow down."""


class TooManyRoles(BadRequestError):
    """`too_many_roles` (400): A customer can have at most 100 roles."""


class TooManySenders(UnprocessableEntityError):
    """`too_many_senders` (422): A project can have at most 20 single senders. Delete one, or verify a domain."""


class TooManySetupLinks(UnprocessableEntityError):
    """`too_many_setup_links` (422): An organization has at most 10 open setup links; revoke some first."""


class TooManySsoConnections(UnprocessableEntityError):
    """`too_many_sso_connections` (422): An organization has at most 50 connections; remove some first."""


class TooManyStreams(RateLimitError):
    """`too_many_streams` (429): There are too many open event streams of this project or credential; close those
    that are not needed.
    """


class TooManyTemplates(UnprocessableEntityError):
    """`too_many_templates` (422): A project can have at most 10,000 templates. Delete one first."""


class TooManyWebhooks(UnprocessableEntityError):
    """`too_many_webhooks` (422): A project has at most 100 webhook subscriptions; delete some first."""


class UnsupportedMediaType(UnsupportedMediaTypeError):
    """`unsupported_media_type` (415): Send the body as `Content-Type: application/json`."""


class UploadBroken(BadRequestError):
    """`upload_broken` (400): The connection closed before the upload was complete; nothing was imported. Upload the
    file again.
    """


class VariantMissing(NotFoundError):
    """`variant_missing` (404): This campaign has no such variant."""


class WarmUpMissing(NotFoundError):
    """`warm_up_missing` (404): This domain has no warm-up plan."""


class WebhookInactive(ConflictError):
    """`webhook_inactive` (409): This webhook subscription is inactive; activate it first."""


class WebhookMissing(NotFoundError):
    """`webhook_missing` (404): There is no such webhook subscription."""


BY_CODE: dict[str, type[APIError]] = {
    "account_deletion_off": AccountDeletionOff,
    "address_missing": AddressMissing,
    "address_not_verified": AddressNotVerified,
    "already_booked": AlreadyBooked,
    "already_invited": AlreadyInvited,
    "already_member": AlreadyMember,
    "already_owner": AlreadyOwner,
    "already_suppressed": AlreadySuppressed,
    "api_key_missing": ApiKeyMissing,
    "asset_missing": AssetMissing,
    "audience_dynamic": AudienceDynamic,
    "audience_in_use": AudienceInUse,
    "audience_missing": AudienceMissing,
    "automation_incomplete": AutomationIncomplete,
    "automation_loop": AutomationLoop,
    "automation_missing": AutomationMissing,
    "billing_unavailable": BillingUnavailable,
    "body_invalid": BodyInvalid,
    "body_too_large": BodyTooLarge,
    "campaign_incomplete": CampaignIncomplete,
    "campaign_missing": CampaignMissing,
    "campaign_state_conflict": CampaignStateConflict,
    "captured_missing": CapturedMissing,
    "client_registration_without_tokens": ClientRegistrationWithoutTokens,
    "code_invalid": CodeInvalid,
    "code_wrong": CodeWrong,
    "contact_attribute_declared": ContactAttributeDeclared,
    "contact_attribute_exists": ContactAttributeExists,
    "contact_attribute_missing": ContactAttributeMissing,
    "contact_exists": ContactExists,
    "contact_missing": ContactMissing,
    "content_store_unavailable": ContentStoreUnavailable,
    "credential_invalid": CredentialInvalid,
    "credential_missing": CredentialMissing,
    "credential_not_accepted": CredentialNotAccepted,
    "customer_banned": CustomerBanned,
    "customer_mail_missing": CustomerMailMissing,
    "customer_missing": CustomerMissing,
    "customer_owns_organizations": CustomerOwnsOrganizations,
    "database_away": DatabaseAway,
    "delivery_missing": DeliveryMissing,
    "direct_not_offered": DirectNotOffered,
    "directory_connection_missing": DirectoryConnectionMissing,
    "dmarc_report_invalid": DmarcReportInvalid,
    "dmarc_report_of_other_domain": DmarcReportOfOtherDomain,
    "dmarc_report_out_of_period": DmarcReportOutOfPeriod,
    "dmarc_report_too_large": DmarcReportTooLarge,
    "domain_exists": DomainExists,
    "domain_has_waiting_sends": DomainHasWaitingSends,
    "domain_in_use": DomainInUse,
    "domain_listed": DomainListed,
    "domain_missing": DomainMissing,
    "domain_not_proved": DomainNotProved,
    "domain_not_verified": DomainNotVerified,
    "domain_taken": DomainTaken,
    "dry_run_too_slow": DryRunTooSlow,
    "email_invalid": EmailInvalid,
    "email_missing": EmailMissing,
    "email_taken": EmailTaken,
    "event_key_reused": EventKeyReused,
    "external_id_taken": ExternalIdTaken,
    "feature_exists": FeatureExists,
    "feature_missing": FeatureMissing,
    "feature_undeclared": FeatureUndeclared,
    "flow_invalid": FlowInvalid,
    "hash_refused": HashRefused,
    "header_too_large": HeaderTooLarge,
    "hook_exists": HookExists,
    "hook_failed": HookFailed,
    "hook_missing": HookMissing,
    "hook_refused": HookRefused,
    "idempotency_key_in_progress": IdempotencyKeyInProgress,
    "idempotency_key_reused": IdempotencyKeyReused,
    "identity_linked": IdentityLinked,
    "identity_missing": IdentityMissing,
    "identity_request_decided": IdentityRequestDecided,
    "identity_request_missing": IdentityRequestMissing,
    "identity_taken": IdentityTaken,
    "image_invalid": ImageInvalid,
    "image_too_large": ImageTooLarge,
    "import_file_invalid": ImportFileInvalid,
    "import_missing": ImportMissing,
    "inbound_attachment_missing": InboundAttachmentMissing,
    "inbound_domain_not_verified": InboundDomainNotVerified,
    "inbound_mailbox_full": InboundMailboxFull,
    "inbound_message_loops": InboundMessageLoops,
    "inbound_message_missing": InboundMessageMissing,
    "inbound_route_exists": InboundRouteExists,
    "inbound_route_missing": InboundRouteMissing,
    "invalid": Invalid,
    "invitation_closed": InvitationClosed,
    "invitation_missing": InvitationMissing,
    "invited_somebody_else": InvitedSomebodyElse,
    "inviter_unknown": InviterUnknown,
    "last_owner": LastOwner,
    "last_sign_in_method": LastSignInMethod,
    "limit_not_taken": LimitNotTaken,
    "link_invalid": LinkInvalid,
    "live_key_required": LiveKeyRequired,
    "locked_out": LockedOut,
    "logout_token_refused": LogoutTokenRefused,
    "mail_version_missing": MailVersionMissing,
    "member_missing": MemberMissing,
    "message_gone": MessageGone,
    "message_too_large": MessageTooLarge,
    "metadata_refused": MetadataRefused,
    "metadata_too_large": MetadataTooLarge,
    "metadata_unreachable": MetadataUnreachable,
    "method_off": MethodOff,
    "mfa_already_enabled": MfaAlreadyEnabled,
    "mfa_already_on": MfaAlreadyOn,
    "mfa_not_enrolled": MfaNotEnrolled,
    "mfa_off": MfaOff,
    "mfa_required": MfaRequired,
    "mfa_still_required": MfaStillRequired,
    "next_key_unpublished": NextKeyUnpublished,
    "no_inbound_route": NoInboundRoute,
    "no_sign_on_here": NoSignOnHere,
    "no_smart_host": NoSmartHost,
    "not_a_member": NotAMember,
    "not_cancellable": NotCancellable,
    "not_for_sale": NotForSale,
    "not_found": NotFound,
    "not_fresh": NotFresh,
    "not_retriable": NotRetriable,
    "not_scheduled": NotScheduled,
    "not_yourself": NotYourself,
    "nothing_booked": NothingBooked,
    "nothing_held": NothingHeld,
    "oauth_client_has_keys": OauthClientHasKeys,
    "oauth_client_missing": OauthClientMissing,
    "oauth_consent_missing": OauthConsentMissing,
    "oauth_resource_exists": OauthResourceExists,
    "oauth_resource_missing": OauthResourceMissing,
    "organization_domain_missing": OrganizationDomainMissing,
    "organization_external_id_taken": OrganizationExternalIdTaken,
    "organization_missing": OrganizationMissing,
    "organization_suspended": OrganizationSuspended,
    "owner_stays": OwnerStays,
    "owners_locked_out": OwnersLockedOut,
    "owns_an_account": OwnsAnAccount,
    "page_text_missing": PageTextMissing,
    "pages_domain_missing": PagesDomainMissing,
    "passkey_missing": PasskeyMissing,
    "password_breached": PasswordBreached,
    "password_common": PasswordCommon,
    "password_wrong": PasswordWrong,
    "permission_exists": PermissionExists,
    "permission_missing": PermissionMissing,
    "permission_undeclared": PermissionUndeclared,
    "permission_unknown": PermissionUnknown,
    "place_missing": PlaceMissing,
    "plan_exists": PlanExists,
    "plan_in_use": PlanInUse,
    "plan_limit_reached": PlanLimitReached,
    "plan_missing": PlanMissing,
    "preview_too_slow": PreviewTooSlow,
    "primary_address_unverified": PrimaryAddressUnverified,
    "project_missing": ProjectMissing,
    "provider_missing": ProviderMissing,
    "provider_trouble": ProviderTrouble,
    "public_client_has_no_secret": PublicClientHasNoSecret,
    "refresh_token_invalid": RefreshTokenInvalid,
    "remembered_device_missing": RememberedDeviceMissing,
    "render_failed": RenderFailed,
    "rendering_away": RenderingAway,
    "rendering_busy": RenderingBusy,
    "report_missing": ReportMissing,
    "resent_too_soon": ResentTooSoon,
    "role_exists": RoleExists,
    "role_in_use": RoleInUse,
    "role_missing": RoleMissing,
    "role_unknown": RoleUnknown,
    "run_finished": RunFinished,
    "run_missing": RunMissing,
    "run_not_failed": RunNotFailed,
    "saml_only": SamlOnly,
    "seed_list_empty": SeedListEmpty,
    "send_in_transmission": SendInTransmission,
    "sender_exists": SenderExists,
    "sender_link_invalid": SenderLinkInvalid,
    "sender_missing": SenderMissing,
    "sender_not_needed": SenderNotNeeded,
    "sender_verified": SenderVerified,
    "session_missing": SessionMissing,
    "setup_link_closed": SetupLinkClosed,
    "setup_link_missing": SetupLinkMissing,
    "sign_in_blocked": SignInBlocked,
    "sign_in_failed": SignInFailed,
    "sign_in_locked": SignInLocked,
    "sign_in_method_not_allowed": SignInMethodNotAllowed,
    "sign_up_closed": SignUpClosed,
    "site_missing": SiteMissing,
    "site_not_suspended": SiteNotSuspended,
    "site_suspended_by_operator": SiteSuspendedByOperator,
    "slug_taken": SlugTaken,
    "sso_connection_draft": SsoConnectionDraft,
    "sso_connection_incomplete": SsoConnectionIncomplete,
    "sso_connection_missing": SsoConnectionMissing,
    "sso_domain_served": SsoDomainServed,
    "sso_not_ready": SsoNotReady,
    "sso_required": SsoRequired,
    "sso_still_required": SsoStillRequired,
    "sso_test_invalid": SsoTestInvalid,
    "sso_unavailable": SsoUnavailable,
    "step_up_method_not_allowed": StepUpMethodNotAllowed,
    "subject_missing": SubjectMissing,
    "suppression_missing": SuppressionMissing,
    "svg_not_accepted": SvgNotAccepted,
    "system_role_fixed": SystemRoleFixed,
    "template_busy": TemplateBusy,
    "template_crashed": TemplateCrashed,
    "template_in_use": TemplateInUse,
    "template_missing": TemplateMissing,
    "template_too_expensive": TemplateTooExpensive,
    "terms_not_accepted": TermsNotAccepted,
    "too_many_addresses": TooManyAddresses,
    "too_many_assets": TooManyAssets,
    "too_many_audiences": TooManyAudiences,
    "too_many_automations": TooManyAutomations,
    "too_many_contact_attributes": TooManyContactAttributes,
    "too_many_directory_connections": TooManyDirectoryConnections,
    "too_many_dmarc_rows": TooManyDmarcRows,
    "too_many_domains": TooManyDomains,
    "too_many_features": TooManyFeatures,
    "too_many_impersonation_links": TooManyImpersonationLinks,
    "too_many_imports": TooManyImports,
    "too_many_inbound_routes": TooManyInboundRoutes,
    "too_many_invitations": TooManyInvitations,
    "too_many_keys": TooManyKeys,
    "too_many_members": TooManyMembers,
    "too_many_oauth_clients": TooManyOauthClients,
    "too_many_oauth_resources": TooManyOauthResources,
    "too_many_organization_domains": TooManyOrganizationDomains,
    "too_many_passkeys": TooManyPasskeys,
    "too_many_permissions": TooManyPermissions,
    "too_many_plans": TooManyPlans,
    "too_many_previews": TooManyPreviews,
    "too_many_requests": TooManyRequests,
    "too_many_roles": TooManyRoles,
    "too_many_senders": TooManySenders,
    "too_many_setup_links": TooManySetupLinks,
    "too_many_sso_connections": TooManySsoConnections,
    "too_many_streams": TooManyStreams,
    "too_many_templates": TooManyTemplates,
    "too_many_webhooks": TooManyWebhooks,
    "unsupported_media_type": UnsupportedMediaType,
    "upload_broken": UploadBroken,
    "variant_missing": VariantMissing,
    "warm_up_missing": WarmUpMissing,
    "webhook_inactive": WebhookInactive,
    "webhook_missing": WebhookMissing,
}
"""The exception of each problem code."""
