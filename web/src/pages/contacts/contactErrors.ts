import { APIError } from "@postern/sdk";
import { m } from "../../messages/messages.js";
import { messageOf } from "../../session/server";
import { type Draft, errorsOf } from "./AttributeFields";

/** Why a contact was refused, at the fields of its form. */
export interface ContactErrors {
  email?: string;
  /** By the key of the draft. */
  attributes: Record<string, string>;
  /** What belongs to no field. */
  all?: string;
}

/** The error of a request that stores a contact, at the fields that it is about. */
export function contactErrors(error: unknown, drafts: Draft[]): ContactErrors {
  const message = messageOf(error);
  if (!(error instanceof APIError)) return { all: message, attributes: {} };
  if (error.code === "contact_exists") return { email: m.contacts_exists(), attributes: {} };
  const attributes = errorsOf(error.errors, drafts);
  if (Object.keys(attributes).length) return { attributes };
  return error.errors.some((each) => each.path === "/email")
    ? { email: message, attributes: {} }
    : { all: message, attributes: {} };
}
