import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { Postern } from "@postern/sdk";

/** The server under test and the credentials of its first account, from tests/web/test_dashboard_pages.py. */
export const SERVER = JSON.parse(process.env.POSTERN_TEST ?? "{}") as {
  baseUrl: string;
  projectId: string;
  secretKey: string;
  developerEmail: string;
  developerPassword: string;
  developerToken: string;
  /** Signs the developer in to the dashboard, once. */
  dashboardUrl: string;
  /** Changes what the server finds in the DNS. */
  zoneUrl: string;
  /** Stops the server and starts it again: `POST /stop`, `POST /start`. */
  controlUrl: string;
  /** A SAML identity provider, which signs everybody on as Maria. */
  providerUrl: string;
};

/** The API with the secret key of the project: makes what a page shows. */
export const api = new Postern({ url: SERVER.baseUrl, key: SERVER.secretKey, project: SERVER.projectId });

/** The address of a page of the project, such as `/emails`. */
export function at(path = ""): string {
  return `/dashboard/projects/${SERVER.projectId}${path}`;
}

/** Sign in as the developer who owns the project, without the form. */
export async function signIn(
  page: Page,
  email = SERVER.developerEmail,
  password = SERVER.developerPassword,
): Promise<void> {
  const response = await page.request.post("/dashboard/api/auth/sign-in", {
    headers: { "x-postern-dashboard": "1", "sec-fetch-site": "same-origin" },
    data: { email, password },
  });
  expect(response.status(), await response.text()).toBe(200);
}

/** Fail if axe finds a violation on the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // Without frames of other origins, which hold mail, axe needs no second page; without passes it takes a third.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await axe.analyze();
  expect(violations.map((each) => ({ id: each.id, nodes: each.nodes.map((node) => node.html) }))).toEqual([]);
}

/** The sizes and colour schemes in which a page must hold. */
export const SHAPES = [
  { name: "desktop, light", width: 1440, height: 900, colorScheme: "light" },
  { name: "desktop, dark", width: 1440, height: 900, colorScheme: "dark" },
  { name: "small window, light", width: 900, height: 800, colorScheme: "light" },
  { name: "phone, light", width: 390, height: 844, colorScheme: "light" },
  { name: "phone, dark", width: 390, height: 844, colorScheme: "dark" },
] as const;

/** Milliseconds by which every response of the API may be late: shows what a page does with a click that comes early. */
const LATE_MS = Number(process.env.POSTERN_TEST_LATE_MS ?? 0);

/**
 * A test whose page fails it for messages of errors on the console, exceptions, and violations of the
 * Content-Security-Policy. `tolerated` is the pattern of messages that a test provokes.
 */
export const test = base.extend<{ tolerated: RegExp; watched: undefined; signedIn: Page }>({
  tolerated: [/(?!)/, { option: true }],
  watched: [
    async ({ page, tolerated }, use) => {
      const troubles: string[] = [];
      const note = (text: string) => {
        if (!tolerated.test(text)) troubles.push(text);
      };
      page.on("console", (message) => message.type() === "error" && note(message.text()));
      page.on("pageerror", (error) => note(`${error.name}: ${error.message}`));
      await page.exposeFunction("noteViolation", note);
      await page.addInitScript(() => {
        document.addEventListener("securitypolicyviolation", (event) => {
          const { noteViolation } = window as unknown as { noteViolation: (text: string) => void };
          noteViolation(`CSP ${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
        });
      });
      if (LATE_MS > 0) {
        await page.context().route("**/dashboard/api/**", async (route) => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * LATE_MS));
          await route.fallback().catch(() => undefined);
        });
      }
      await use(undefined);
      expect(troubles).toEqual([]);
    },
    { auto: true },
  ],
  signedIn: async ({ page }, use) => {
    await signIn(page);
    await use(page);
  },
});

export { expect };
