import { APIError, type Customer } from "@postern/sdk";
import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";

/** Events after which a customer is different. */
export const CUSTOMER_EVENTS = [
  "customer.signed_up",
  "customer.signed_in",
  "customer.sign_in_failed",
  "customer.signed_out",
  "customer.stepped_up",
  "customer.locked",
  "customer.unlocked",
  "customer.email_verified",
  "customer.password_changed",
  "customer.mfa_enabled",
  "customer.mfa_disabled",
  "customer.mfa_reset",
  "customer.passkey_added",
  "customer.passkey_removed",
  "customer.session_revoked",
  "customer.sign_in_denied",
  "customer.impersonated",
  "customer.impersonation_ended",
  "customer.terms_accepted",
  "customer.banned",
  "customer.unbanned",
  "customer.updated",
  "customer.metadata_updated",
  "customer.roles_updated",
  "customer.linked",
  "customer.unlinked",
  "customer.identity_held",
  "customer.mail_failed",
  "customer.mail_text_failed",
  "customer.deleted",
];

/** Events after which a customer may belong to other organizations, or have other roles there. */
export const ORGANIZATION_EVENTS = [
  "organization.updated",
  "organization.deleted",
  "organization.member_added",
  "organization.member_removed",
];

/** As many records as one request gives. */
const MOST = 1_000;
/** Entries of a history that are read at once. */
export const HISTORY_ENTRIES = 50;
const QUIET_MS = 60_000;

export function customerQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["customers", projectId, "one", id],
    queryFn: ({ signal }) => api(projectId).customers.get(id, { signal }),
    refetchInterval: QUIET_MS,
    // The client knows the version of the very object that it returned, not of a copy.
    structuralSharing: false,
  });
}

/** The URLs of the project's apps to which a sign-in returns. */
export function redirectUrlsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["customers", projectId, "redirect-urls"],
    queryFn: async ({ signal }) => (await api(projectId).projects.get({ signal })).settings.signIn.redirectUrls,
  });
}

/** The accounts at providers that wait to be linked to a customer. The API has no filter by customer. */
export function requestsQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["customers", projectId, "requests", id],
    queryFn: async ({ signal }) => {
      const parameters = { status: "PENDING", limit: MOST };
      const { data } = await api(projectId).customers.identityRequests.list(parameters, { signal });
      return data.filter((each) => each.customerId === id);
    },
  });
}

/** The apps that a customer has allowed something. */
export function consentsQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["customers", projectId, "consents", id],
    queryFn: ({ signal }) => api(projectId).customers.listConsents(id, { signal }),
    // No event tells that a customer allows an app something.
    refetchInterval: QUIET_MS,
  });
}

/** The accounts at other services with which customers of the project can sign in. */
export function providersQuery(projectId: string) {
  return queryOptions({
    queryKey: ["customers", projectId, "providers"],
    queryFn: ({ signal }) => api(projectId).providers.list({ signal }),
    staleTime: QUIET_MS,
  });
}

/** A function that shows a changed customer at once, and reads again what else may be different. */
export function useShowChanged(): (id: string, customer?: Customer) => void {
  const client = useQueryClient();
  const projectId = useProjectId();
  return useCallback(
    (id, customer) => {
      if (customer) client.setQueryData(customerQuery(projectId, id).queryKey, customer);
      for (const part of ["one", "timeline", "audit", "organizations", "requests", "consents", "check"]) {
        if (part !== "one" || !customer)
          void client.invalidateQueries({ queryKey: ["customers", projectId, part, id] });
      }
      void client.invalidateQueries({ queryKey: ["customers", projectId, "list"] });
    },
    [client, projectId],
  );
}

/** Whether another person has changed the record since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof APIError && error.status === 412;
}

export function isMissing(error: unknown): boolean {
  return error instanceof APIError && [400, 404].includes(error.status);
}

/** The message of an error for each field: by the path of its errors, or by its code. What is about none is under "". */
export function messagesByField(
  error: unknown,
  codes: Record<string, string>,
  message: string,
): Record<string, string> {
  if (!(error instanceof APIError)) return { "": message };
  const fields = new Set(Object.values(codes));
  const found: Record<string, string> = {};
  for (const each of error.errors) {
    const name = /^\/(\w+)/.exec(each.path)?.[1] ?? "";
    const field = fields.has(name) ? name : "";
    found[field] = [found[field], each.message].filter(Boolean).join(" ");
  }
  if (error.errors.length === 0) found[codes[error.code] ?? ""] = message;
  return found;
}
