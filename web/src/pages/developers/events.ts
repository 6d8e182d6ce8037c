import { m } from "../../messages/messages.js";

/** Every event that Postern records, by its name in the API, in words. */
export const EVENT_WORDS: Record<string, () => string> = {
  "email.scheduled": m.developers_ev_email_scheduled,
  "email.queued": m.developers_ev_email_queued,
  "email.sent": m.developers_ev_email_sent,
  "email.delivered": m.developers_ev_email_delivered,
  "email.delayed": m.developers_ev_email_delayed,
  "email.bounced": m.developers_ev_email_bounced,
  "email.complained": m.developers_ev_email_complained,
  "email.opened": m.developers_ev_email_opened,
  "email.clicked": m.developers_ev_email_clicked,
  "email.failed": m.developers_ev_email_failed,
  "email.suppressed": m.developers_ev_email_suppressed,
  "email.expired": m.developers_ev_email_expired,
  "email.cancelled": m.developers_ev_email_cancelled,
  "email.unsubscribed": m.developers_ev_email_unsubscribed,
  "contact.created": m.developers_ev_contact_created,
  "contact.updated": m.developers_ev_contact_updated,
  "contact.deleted": m.developers_ev_contact_deleted,
  "contact.unsubscribed": m.developers_ev_contact_unsubscribed,
  "audience.created": m.developers_ev_audience_created,
  "audience.updated": m.developers_ev_audience_updated,
  "audience.deleted": m.developers_ev_audience_deleted,
  "audience.refilled": m.developers_ev_audience_refilled,
  "audience.joined": m.developers_ev_audience_joined,
  "audience.left": m.developers_ev_audience_left,
  "campaign.scheduled": m.developers_ev_campaign_scheduled,
  "campaign.started": m.developers_ev_campaign_started,
  "campaign.tested": m.developers_ev_campaign_tested,
  "campaign.sent": m.developers_ev_campaign_sent,
  "campaign.cancelled": m.developers_ev_campaign_cancelled,
  "campaign.failed": m.developers_ev_campaign_failed,
  "campaign.paused": m.developers_ev_campaign_paused,
  "campaign.resumed": m.developers_ev_campaign_resumed,
  "automation.started": m.developers_ev_automation_started,
  "automation.completed": m.developers_ev_automation_completed,
  "automation.failed": m.developers_ev_automation_failed,
  "inbound.received": m.developers_ev_inbound_received,
  "domain.created": m.developers_ev_domain_created,
  "domain.verified": m.developers_ev_domain_verified,
  "domain.degraded": m.developers_ev_domain_degraded,
  "domain.deleted": m.developers_ev_domain_deleted,
  "domain.blocklisted": m.developers_ev_domain_blocklisted,
  "domain.delisted": m.developers_ev_domain_delisted,
  "domain.sender_verified": m.developers_ev_domain_sender_verified,
  "domain.sender_removed": m.developers_ev_domain_sender_removed,
  "domain.reputation_warning": m.developers_ev_domain_reputation_warning,
  "domain.reputation_held": m.developers_ev_domain_reputation_held,
  "domain.reputation_recovered": m.developers_ev_domain_reputation_recovered,
  "domain.reputation_released": m.developers_ev_domain_reputation_released,
  "domain.warm_up_started": m.developers_ev_domain_warm_up_started,
  "domain.warm_up_ended": m.developers_ev_domain_warm_up_ended,
  "domain.certificate_issued": m.developers_ev_domain_certificate_issued,
  "domain.certificate_failed": m.developers_ev_domain_certificate_failed,
  "customer.signed_up": m.developers_ev_customer_signed_up,
  "customer.signed_in": m.developers_ev_customer_signed_in,
  "customer.sign_in_failed": m.developers_ev_customer_sign_in_failed,
  "customer.signed_out": m.developers_ev_customer_signed_out,
  "customer.stepped_up": m.developers_ev_customer_stepped_up,
  "customer.locked": m.developers_ev_customer_locked,
  "customer.unlocked": m.developers_ev_customer_unlocked,
  "customer.email_verified": m.developers_ev_customer_email_verified,
  "customer.password_changed": m.developers_ev_customer_password_changed,
  "customer.mfa_enabled": m.developers_ev_customer_mfa_enabled,
  "customer.mfa_disabled": m.developers_ev_customer_mfa_disabled,
  "customer.mfa_reset": m.developers_ev_customer_mfa_reset,
  "customer.passkey_added": m.developers_ev_customer_passkey_added,
  "customer.passkey_removed": m.developers_ev_customer_passkey_removed,
  "customer.session_revoked": m.developers_ev_customer_session_revoked,
  "customer.sign_in_denied": m.developers_ev_customer_sign_in_denied,
  "customer.impersonated": m.developers_ev_customer_impersonated,
  "customer.impersonation_ended": m.developers_ev_customer_impersonation_ended,
  "customer.terms_accepted": m.developers_ev_customer_terms_accepted,
  "customer.banned": m.developers_ev_customer_banned,
  "customer.unbanned": m.developers_ev_customer_unbanned,
  "customer.updated": m.developers_ev_customer_updated,
  "customer.metadata_updated": m.developers_ev_customer_metadata_updated,
  "customer.roles_updated": m.developers_ev_customer_roles_updated,
  "customer.linked": m.developers_ev_customer_linked,
  "customer.unlinked": m.developers_ev_customer_unlinked,
  "customer.identity_held": m.developers_ev_customer_identity_held,
  "customer.mail_failed": m.developers_ev_customer_mail_failed,
  "customer.mail_text_failed": m.developers_ev_customer_mail_text_failed,
  "customer.deleted": m.developers_ev_customer_deleted,
  "organization.created": m.developers_ev_organization_created,
  "organization.updated": m.developers_ev_organization_updated,
  "organization.deleted": m.developers_ev_organization_deleted,
  "organization.member_added": m.developers_ev_organization_member_added,
  "organization.member_removed": m.developers_ev_organization_member_removed,
  "organization.domain_verified": m.developers_ev_organization_domain_verified,
  "organization.domain_lapsed": m.developers_ev_organization_domain_lapsed,
  "invitation.created": m.developers_ev_invitation_created,
  "invitation.resent": m.developers_ev_invitation_resent,
  "invitation.accepted": m.developers_ev_invitation_accepted,
  "invitation.revoked": m.developers_ev_invitation_revoked,
  "invitation.expired": m.developers_ev_invitation_expired,
  "setup_link.created": m.developers_ev_setup_link_created,
  "setup_link.opened": m.developers_ev_setup_link_opened,
  "setup_link.completed": m.developers_ev_setup_link_completed,
  "setup_link.revoked": m.developers_ev_setup_link_revoked,
  "sso.activated": m.developers_ev_sso_activated,
  "sso.deactivated": m.developers_ev_sso_deactivated,
  "sso.signed_in": m.developers_ev_sso_signed_in,
  "sso.certificate_expiring": m.developers_ev_sso_certificate_expiring,
  "sso.metadata_changed": m.developers_ev_sso_metadata_changed,
  "sso.metadata_failing": m.developers_ev_sso_metadata_failing,
  "entitlement.changed": m.developers_ev_entitlement_changed,
  "entitlement.expired": m.developers_ev_entitlement_expired,
  "hook.failed": m.developers_ev_hook_failed,
  "hook.recovered": m.developers_ev_hook_recovered,
  "webhook.disabled": m.developers_ev_webhook_disabled,
};

/** What events are about, by the first word of their names. */
export const AREA_WORDS: Record<string, () => string> = {
  email: m.developers_area_email,
  contact: m.developers_area_contact,
  audience: m.developers_area_audience,
  campaign: m.developers_area_campaign,
  automation: m.developers_area_automation,
  inbound: m.developers_area_inbound,
  domain: m.developers_area_domain,
  customer: m.developers_area_customer,
  organization: m.developers_area_organization,
  invitation: m.developers_area_invitation,
  setup_link: m.developers_area_setup_link,
  sso: m.developers_area_sso,
  entitlement: m.developers_area_entitlement,
  hook: m.developers_area_hook,
  webhook: m.developers_area_webhook,
  custom: m.developers_area_custom,
};

export const EVENT_NAMES = Object.keys(EVENT_WORDS);

/** What the events of an area are about: `email` of `email.sent`. Names that Postern does not know are the project's. */
export function areaOf(name: string): string {
  const area = name.split(".", 1)[0] ?? "";
  return Object.hasOwn(AREA_WORDS, area) ? area : "custom";
}

/** An event in words; the name itself of an event that Postern does not know. */
export function eventWords(name: string): string {
  if (name === "webhook.test") return m.developers_ev_test();
  // A project's own event may be called "constructor".
  return Object.hasOwn(EVENT_WORDS, name) ? (EVENT_WORDS[name]?.() ?? name) : name;
}

/** An entry of a subscription in words: an event, all events of an area, or all events. */
export function entryWords(entry: string): string {
  if (entry === "*") return m.developers_all_events();
  const [area = "", verb] = entry.split(".", 2);
  if (verb === "*" && Object.hasOwn(AREA_WORDS, area))
    return m.developers_all_of({ area: AREA_WORDS[area]?.() ?? area });
  return entry.startsWith("custom.") ? entry.slice("custom.".length) : eventWords(entry);
}
