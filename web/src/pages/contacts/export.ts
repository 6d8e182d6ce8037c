import type { Contact, ContactAttribute, Page } from "@postern/sdk";
import { download } from "../../parts/download";
import { API, api } from "../../session/server";
import { csvOf } from "./attributes";

/** Contacts of one export of a filtered list: it is read page by page. */
export const MOST_EXPORTED = 10_000;
const PAGE = 100;

/** Save all contacts as the API's own CSV. The browser writes it to the disk while it comes. */
export async function exportAll(projectId: string): Promise<void> {
  const link = document.createElement("a");
  link.href = `${API}/projects/${encodeURIComponent(projectId)}/contacts/export`;
  link.download = "contacts.csv";
  link.click();
}

const FIELDS = ["email", "unsubscribed", "createdAt", "lastOpenedAt", "lastClickedAt"];

/** The name of an attribute's column, which an import reads as this attribute. */
function headOf(name: string): string {
  const isField = [...FIELDS, "id", "updatedAt", "attributes"].some(
    (each) => each.toLowerCase() === name.toLowerCase(),
  );
  return isField || name.startsWith("attributes.") ? `attributes.${name}` : name;
}

interface Filters {
  q?: string | undefined;
  unsubscribed?: boolean | undefined;
  audience?: string | undefined;
}

/** Save the contacts of a filtered list as CSV. Returns whether these are all that match. */
export async function exportFound(
  projectId: string,
  { audience, ...filters }: Filters,
  attributes: ContactAttribute[],
): Promise<boolean> {
  const { contacts, audiences } = api(projectId);
  const names = attributes.map((each) => each.name);
  const rows: unknown[][] = [[...FIELDS, ...names.map(headOf)]];
  let page: Page<Contact> | undefined = audience
    ? await audiences.contacts.list(audience, { limit: PAGE })
    : await contacts.list({ ...filters, limit: PAGE });
  let isAll = true;
  while (page) {
    for (const each of page.data)
      rows.push([
        each.email,
        each.unsubscribed,
        each.createdAt,
        each.lastOpenedAt,
        each.lastClickedAt,
        ...names.map((name) => each.attributes[name]),
      ]);
    isAll = !page.hasNext;
    page = rows.length > MOST_EXPORTED ? undefined : await page.next();
  }
  download(csvOf(rows), "contacts.csv", "text/csv");
  return isAll;
}
