import type { Customer } from "@postern/sdk";
import { api } from "../../session/server";

const FOUND = 20;

/** The customer who has an address or an identifier already, if there is one. The API searches parts of both. */
export async function holderOf(
  projectId: string,
  { email, externalUserId }: { email?: string | null | undefined; externalUserId?: string | null | undefined },
): Promise<Customer | undefined> {
  const wanted = email?.toLowerCase();
  const q = email || externalUserId;
  if (!q) return undefined;
  const { data } = await api(projectId).customers.list({ q, limit: FOUND });
  return data.find(
    (each) =>
      (wanted !== undefined &&
        [each.email, ...each.otherEmails.map((other) => other.email)].some((has) => has?.toLowerCase() === wanted)) ||
      (wanted === undefined && each.externalUserId === externalUserId),
  );
}
