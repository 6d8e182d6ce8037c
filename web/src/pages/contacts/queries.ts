import {
  APIError,
  type Contact,
  type ContactAttribute,
  type ListedAudience,
  type Page,
  type Suppression,
} from "@postern/sdk";
import { type QueryClient, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import type { Types } from "./rules";

/** Events after which contacts, or what belongs to them, may be different. */
export const CONTACT_EVENTS = ["contact.created", "contact.updated", "contact.unsubscribed", "contact.deleted"];
export const MEMBER_EVENTS = ["audience.joined", "audience.left", "audience.refilled"];
/** Records of one request for a list that is read to its end. */
const CHUNK = 1_000;
/** Audiences to choose from: as many as a project can have. */
const MOST_AUDIENCES = 2_000;
/** Addresses among which the one of a contact is looked for. */
const SUPPRESSIONS = 100;

async function readAll<T>(first: Promise<Page<T>>, most: number): Promise<T[]> {
  const found: T[] = [];
  for (let page: Page<T> | undefined = await first; page; page = await page.next()) {
    found.push(...page.data);
    if (found.length >= most || !page.hasNext) break;
  }
  return found;
}

/** All attributes of the project with their types, by name. */
export function useAttributes(): { attributes: ContactAttribute[]; types: Types; isPending: boolean } {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["contacts", projectId, "attributes"],
    queryFn: ({ signal }) => readAll(api(projectId).contacts.attributes.list({ limit: CHUNK }, { signal }), CHUNK),
    // An import that is still running brings new ones, and may end while another page is shown.
    staleTime: 0,
  });
  const attributes = useMemo(() => [...(query.data ?? [])].sort((a, b) => a.name.localeCompare(b.name)), [query.data]);
  const types = useMemo(() => new Map(attributes.map((each) => [each.name, each.type])), [attributes]);
  return { attributes, types, isPending: query.isPending };
}

/** All audiences of the project by name, to choose from and to name them. */
export function useAudiences(): { audiences: ListedAudience[]; isPending: boolean } {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["contacts", projectId, "audience-names"],
    queryFn: ({ signal }) =>
      readAll(api(projectId).audiences.list({ sort: "name", limit: CHUNK }, { signal }), MOST_AUDIENCES),
  });
  return { audiences: query.data ?? [], isPending: query.isPending };
}

export function contactQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["contact", projectId, id],
    queryFn: ({ signal }) => api(projectId).contacts.get(id, { signal }),
  });
}

/**
 * Why an address gets no mail; null if it does.
 *
 * It is looked for in the list, because browsers report a record that is missing as an error of the page.
 */
export async function suppressionOf(
  projectId: string,
  email: string,
  signal?: AbortSignal,
): Promise<Suppression | null> {
  const { suppressions } = api(projectId);
  const address = email.toLowerCase();
  const page = await suppressions.list({ q: email, limit: SUPPRESSIONS }, { signal });
  const found = page.data.find((each) => each.address.toLowerCase() === address);
  if (found || !page.hasNext) return found ?? null;
  try {
    return await suppressions.get(email, { signal });
  } catch (error) {
    if (error instanceof APIError && error.status === 404) return null;
    throw error;
  }
}

/** Put a contact that was changed wherever it is shown, and read again what may depend on it. */
export function useContactChanged(): (contact: Contact) => void {
  const client = useQueryClient();
  const projectId = useProjectId();
  return useCallback(
    (contact: Contact) => {
      client.setQueryData(contactQuery(projectId, contact.id).queryKey, contact);
      refreshAround(client, projectId, contact.id);
    },
    [client, projectId],
  );
}

function refreshAround(client: QueryClient, projectId: string, contactId: string): void {
  void client.invalidateQueries({ queryKey: ["contact-audiences", projectId, contactId] });
  void client.invalidateQueries({ queryKey: ["contact-suppression", projectId, contactId] });
  void client.invalidateQueries({ queryKey: ["contacts", projectId, "attributes"] });
}
