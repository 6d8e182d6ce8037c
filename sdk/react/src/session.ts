/** An organization of the customer. */
export interface OrganizationSummary {
  id: string;
  slug: string;
  name: string;
  /** Keys of the customer's roles in the organization. */
  roles: readonly string[];
}

/** The signed-in customer. */
export interface Customer {
  id: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
  /** Keys of the customer's roles in the project. */
  roles: readonly string[];
  /** Metadata that the project declares for tokens. */
  metadata: Readonly<Record<string, unknown>>;
  /** The member of the application's team who acts as the customer; null or absent if it is the customer. */
  impersonatedBy?: string | null;
}

/** The active organization. */
export interface ActiveOrganization extends OrganizationSummary {
  entitlementsVersion: number;
  metadata: Readonly<Record<string, unknown>>;
}

/** The answer of the application's route `/auth/session`. */
export interface SessionDocument {
  customer: Customer | null;
  organization: ActiveOrganization | null;
  organizations: readonly OrganizationSummary[];
  /** What the customer may do: in the active organization if there is one, else in the project. */
  permissions: readonly string[];
}

export const SIGNED_OUT: SessionDocument = { customer: null, organization: null, organizations: [], permissions: [] };

/** Text that differs between sessions with another customer, another person who acts as one, or another active
 * organization. */
export function identityOf({ customer, organization }: SessionDocument): string {
  const actor = customer?.impersonatedBy;
  return `${customer?.id ?? ""}/${organization?.id ?? ""}${actor ? `/${actor}` : ""}`;
}

/** The session of this browser. Throws if the application does not answer. */
export async function fetchSession(authPath: string): Promise<SessionDocument> {
  const response = await fetch(`${authPath}/session`, {
    headers: { accept: "application/json" },
    credentials: "same-origin",
    cache: "no-store",
  });
  if (!response.ok) throw new Error(`${authPath}/session answered with the status ${response.status}.`);
  const document = (await response.json()) as Partial<SessionDocument>;
  return { ...SIGNED_OUT, ...document };
}

/** The path of the page that is open. */
export function currentPath(): string {
  return location.pathname + location.search;
}

/** A path that begins a sign-in or sign-up and then returns to `returnTo`. */
export function pathTo(authPath: string, page: "sign-in" | "sign-up", returnTo: string | undefined): string {
  return `${authPath}/${page}${returnTo ? `?${new URLSearchParams({ return_to: returnTo })}` : ""}`;
}

/** Sends a form to a route of the application, as if a person had; the browser leaves the page. */
export function submitForm(action: string, fields: Record<string, string>): void {
  const form = document.createElement("form");
  form.method = "post";
  form.action = action;
  form.hidden = true;
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement("input");
    input.type = "hidden";
    input.name = name;
    input.value = value;
    form.append(input);
  }
  document.body.append(form);
  form.submit();
}
