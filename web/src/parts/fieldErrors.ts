import { APIError } from "@postern/sdk";
import { messageOf } from "../session/server";

/** What the API refused, by the field of the body that it is about; under `form` what is about none of them. */
export function fieldErrors<T extends string>(
  error: unknown,
  fields: readonly T[],
): Partial<Record<T | "form", string>> {
  const found: Record<string, string> = {};
  for (const { path, message } of error instanceof APIError ? error.errors : []) {
    const name = path.split("/")[1];
    const field = fields.find((each) => each === name) ?? "form";
    found[field] = found[field] ? `${found[field]} ${message}` : message;
  }
  if (Object.keys(found).length === 0) found.form = messageOf(error);
  return found as Partial<Record<T | "form", string>>;
}
