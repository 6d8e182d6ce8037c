import type { AccountAuditEntry } from "@postern/sdk";
import { m } from "../../messages/messages.js";
import { settingWord } from "./auditWords";
import { ROLE_WORDS } from "./roles";

/** Who did it, in words. */
export function actorOf({ actorType, actorEmail }: AccountAuditEntry): string {
  if (actorEmail) return actorEmail;
  if (actorType === "SYSTEM") return m.settings_actor_system();
  if (actorType === "CUSTOMER") return m.settings_actor_customer();
  if (actorType === "SCIM") return m.settings_actor_directory();
  if (actorType === "SETUP_LINK") return m.settings_actor_setup_link();
  return actorType === "DEVELOPER" ? m.settings_actor_erased() : m.settings_actor_key();
}

/** Names under which entries have what tells their record apart. */
const NAMES = ["name", "email", "address", "domain", "url", "key", "slug", "subject"];

/** What the change is about, as far as the entry says it: a name or an address. */
export function aboutOf({ metadata }: AccountAuditEntry): string {
  for (const name of NAMES) if (typeof metadata[name] === "string") return metadata[name];
  return "";
}

/** A fact of an entry: its name, its value, and the value before if the entry has it. */
export interface Detail {
  name: string;
  value: string;
  before?: string;
}

const DETAIL_WORDS: Record<string, () => string> = {
  name: m.settings_detail_name,
  email: m.settings_detail_email,
  role: m.settings_role,
  roles: m.settings_detail_roles,
  settings: m.settings_detail_settings,
  plan: m.settings_detail_plan,
  reason: m.settings_detail_reason,
  url: m.settings_detail_url,
  address: m.settings_detail_email,
  environment: m.settings_detail_environment,
  type: m.settings_detail_type,
};

/** What changed: the facts of an entry in words. */
export function detailsOf({ metadata }: AccountAuditEntry): Detail[] {
  const { before, ...after } = metadata;
  const names = Object.keys(after).filter((name) => after[name] !== null);
  // The value before belongs to the one value that is beside it, such as the role.
  const changed =
    before === undefined ? undefined : names.includes("role") ? "role" : names.length === 1 ? names[0] : "";
  const details = names.map(
    (name): Detail => ({
      name: DETAIL_WORDS[name]?.() ?? name,
      value: wordOf(name, after[name]),
      ...(name === changed && { before: wordOf(name, before) }),
    }),
  );
  if (before !== undefined && !changed) details.push({ name: m.settings_detail_before(), value: wordOf("", before) });
  return details;
}

function wordOf(name: string, value: unknown): string {
  if (name === "role" && typeof value === "string") return ROLE_WORDS[value]?.() ?? value;
  if (name === "settings" && Array.isArray(value)) return value.map((each) => settingWord(String(each))).join(", ");
  if (Array.isArray(value) && value.every((each) => typeof each !== "object")) return value.join(", ");
  if (typeof value === "boolean") return value ? m.settings_yes() : m.settings_no();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
