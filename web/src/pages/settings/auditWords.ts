import { m } from "../../messages/messages.js";
import type { Field } from "./project";

/** The kinds of records that changes are about, by the noun of their actions. */
export const NOUNS: Record<string, () => string> = {
  account: m.settings_noun_account,
  member: m.settings_noun_member,
  billing: m.settings_noun_billing,
  project: m.settings_noun_project,
  api_key: m.settings_noun_api_key,
  domain: m.settings_noun_domain,
  sender: m.settings_noun_sender,
  webhook: m.settings_noun_webhook,
  template: m.settings_noun_template,
  campaign: m.settings_noun_campaign,
  automation: m.settings_noun_automation,
  audience: m.settings_noun_audience,
  contact_attribute: m.settings_noun_contact_attribute,
  suppression: m.settings_noun_suppression,
  asset: m.settings_noun_asset,
  inbox_message: m.settings_noun_inbox_message,
  customer: m.settings_noun_customer,
  customers: m.settings_noun_customers,
  organization: m.settings_noun_organization,
  organization_domain: m.settings_noun_organization_domain,
  invitation: m.settings_noun_invitation,
  provider: m.settings_noun_provider,
  sso_connection: m.settings_noun_sso_connection,
  role: m.settings_noun_role,
  permission: m.settings_noun_permission,
  plan: m.settings_noun_plan,
  feature: m.settings_noun_feature,
  entitlement: m.settings_noun_entitlement,
  signing_key: m.settings_noun_signing_key,
};

const VERBS: Record<string, () => string> = {
  created: m.settings_verb_created,
  updated: m.settings_verb_updated,
  deleted: m.settings_verb_deleted,
  added: m.settings_verb_added,
  removed: m.settings_verb_removed,
  renamed: m.settings_verb_renamed,
  exported: m.settings_verb_exported,
  ownership_transferred: m.settings_verb_ownership_transferred,
  invited: m.settings_verb_invited,
  joined: m.settings_verb_joined,
  left: m.settings_verb_left,
  role_changed: m.settings_verb_role_changed,
  roles_updated: m.settings_verb_roles_updated,
  invitation_revoked: m.settings_verb_invitation_revoked,
  email_changed: m.settings_verb_email_changed,
  email_verified: m.settings_verb_email_verified,
  mfa_enabled: m.settings_verb_mfa_enabled,
  mfa_disabled: m.settings_verb_mfa_disabled,
  mfa_reset: m.settings_verb_mfa_reset,
  passkey_added: m.settings_verb_passkey_added,
  passkey_removed: m.settings_verb_passkey_removed,
  password_changed: m.settings_verb_password_changed,
  password_reset: m.settings_verb_password_reset,
  recovery_codes_renewed: m.settings_verb_recovery_codes_renewed,
  session_revoked: m.settings_verb_session_revoked,
  sessions_revoked: m.settings_verb_sessions_revoked,
  changed: m.settings_verb_updated,
  plan_changed: m.settings_verb_plan_changed,
  metadata_updated: m.settings_verb_metadata_updated,
  verified: m.settings_verb_verified,
  checked: m.settings_verb_checked,
  keys_rotated: m.settings_verb_keys_rotated,
  rotated: m.settings_verb_rotated,
  secret_rotated: m.settings_verb_secret_rotated,
  certificate_rotated: m.settings_verb_certificate_rotated,
  replayed: m.settings_verb_replayed,
  mail_resent: m.settings_verb_resent,
  resent: m.settings_verb_resent,
  revoked: m.settings_verb_revoked,
  duplicated: m.settings_verb_duplicated,
  sent: m.settings_verb_sent,
  paused: m.settings_verb_paused,
  resumed: m.settings_verb_resumed,
  cancelled: m.settings_verb_cancelled,
  ab_test_cancelled: m.settings_verb_ab_test_cancelled,
  winner_selected: m.settings_verb_winner_selected,
  rules_set: m.settings_verb_rules_set,
  run_cancelled: m.settings_verb_run_cancelled,
  run_retried: m.settings_verb_run_retried,
  runs_retried: m.settings_verb_run_retried,
  activated: m.settings_verb_activated,
  deactivated: m.settings_verb_deactivated,
  banned: m.settings_verb_banned,
  unbanned: m.settings_verb_unbanned,
  unlocked: m.settings_verb_unlocked,
  linked: m.settings_verb_linked,
  identity_approved: m.settings_verb_identity_approved,
  identity_rejected: m.settings_verb_identity_rejected,
  imported: m.settings_verb_imported,
  bulk_created: m.settings_verb_created,
  overridden: m.settings_verb_overridden,
  restored: m.settings_verb_restored,
  test_started: m.settings_verb_test_started,
};

/** An action in words: `Domain verified`. One that has none is shown as the API names it. */
export function actionWords(action: string): string {
  const [noun = "", verb = ""] = action.split(".");
  const [of, did] = [NOUNS[noun], VERBS[verb]];
  return of && did ? `${of()} ${did()}` : action;
}

const SETTINGS: Record<Field, () => string> = {
  name: m.settings_name,
  transport: m.settings_transport,
  relays: m.settings_relays,
  onAmbiguous: m.settings_ambiguous,
  trackOpens: m.settings_track_opens,
  trackClicks: m.settings_track_clicks,
  trackingDomain: m.settings_tracking_domain,
  retentionDays: m.settings_retention,
  frequencyCap: m.settings_cap,
  rateLimit: m.settings_rate,
  seedList: m.settings_seed,
  extra: m.settings_extra,
};

/** A setting of a project in words. */
export function settingWord(name: string): string {
  if (name === "signIn") return m.settings_sign_in_settings();
  return SETTINGS[name as Field]?.() ?? name;
}
