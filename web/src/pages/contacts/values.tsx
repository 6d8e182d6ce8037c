import type { Contact } from "@postern/sdk";
import { m } from "../../messages/messages.js";
import { count, shortDay } from "../../parts/format";
import { Status } from "../../parts/parts";

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The value of an attribute in words, for a cell. */
export function inWords(value: unknown, type?: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? m.contacts_yes() : m.contacts_no();
  if (typeof value === "number") return Number.isInteger(value) && type === "number" ? count(value) : String(value);
  if (typeof value === "string") {
    const day = type === "date" ? DAY.exec(value) : null;
    if (!day) return value;
    const date = new Date(Number(day[1]), Number(day[2]) - 1, Number(day[3]));
    return `${shortDay(date)} ${day[1]}`;
  }
  if (Array.isArray(value) && value.every((each) => typeof each !== "object")) return value.join(", ");
  return JSON.stringify(value);
}

/** The names of types for people. */
export function typeName(type: string): string {
  const names: Record<string, () => string> = {
    string: m.contacts_type_string,
    number: m.contacts_type_number,
    boolean: m.contacts_type_boolean,
    date: m.contacts_type_date,
    list: m.contacts_type_list,
    json: m.contacts_type_json,
  };
  return names[type]?.() ?? type;
}

/** Whether a contact gets marketing mail. */
export function SubscriptionStatus({ contact }: { contact: Contact }) {
  return contact.unsubscribed ? (
    <Status shape="no">{m.contacts_unsubscribed()}</Status>
  ) : (
    <Status shape="yes">{m.contacts_subscribed()}</Status>
  );
}
