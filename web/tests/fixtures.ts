import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { AxeBuilder } from "@axe-core/playwright";
import { type BrowserContext, test as base, expect, type Locator, type Page } from "@playwright/test";
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

/** The source of axe, from the package that AxeBuilder takes it from. */
const AXE = readFileSync(
  createRequire(createRequire(import.meta.url).resolve("@axe-core/playwright")).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** Fail if axe finds a violation on the page as it is now, of all rules or of one. */
export async function expectAccessible(page: Page, rule?: string): Promise<void> {
  // AxeBuilder would send its 1.5 MB of source twice to each frame for each analysis: a frame keeps what it has.
  for (const frame of page.frames()) {
    const has = await frame.evaluate("'axe' in window").catch(() => true);
    if (!has) await frame.evaluate(AXE).catch(() => undefined);
  }
  // Without frames of other origins, which hold mail, axe needs no second page; without passes it takes a third.
  const axe = new AxeBuilder({ page, axeSource: ";" }).setLegacyMode();
  // No rule that runs by default needs the style sheets, which axe would parse again, but one needs sound and films.
  const preload = { assets: ["media"] };
  axe.options({ resultTypes: ["violations"], preload, ...(rule && { runOnly: { type: "rule", values: [rule] } }) });
  const { violations } = await axe.analyze();
  expect(violations.map((each) => ({ id: each.id, nodes: each.nodes.map((node) => node.html) }))).toEqual([]);
}

/** Wait until all is there that the page loads: no bars stand for rows, and nothing is on its way. */
export async function expectSettled(page: Page): Promise<void> {
  await expect(page.locator(":is(main, [role=dialog]) :is(.skel, [aria-busy=true]), main[aria-busy=true]")).toHaveCount(
    0,
  );
}

/** Fail if the page as it is now is wider than the window, or what is in `part` is wider than that. */
export async function expectFits(page: Page, name: string, part = page.locator(":root")): Promise<void> {
  const excess = () => part.evaluate((each) => each.scrollWidth - each.clientWidth);
  await expect.poll(excess, { message: `${name}: pixels that do not fit` }).toBeLessThanOrEqual(0);
}

/** The size of a page at the beginning of a test. */
const VIEWPORT = { width: 1440, height: 900 };

/** The sizes and colour schemes in which a page must hold. Colours are all that a dark page can do wrong by itself. */
const SHAPES = [
  { shape: "desktop, light", width: 1440, height: 900, colorScheme: "light", rules: "all" },
  { shape: "desktop, dark", width: 1440, height: 900, colorScheme: "dark", rules: "color-contrast" },
  { shape: "small window", width: 900, height: 800, colorScheme: "light", rules: "none" },
  { shape: "phone, light", width: 390, height: 844, colorScheme: "light", rules: "all" },
  { shape: "phone, dark", width: 390, height: 844, colorScheme: "dark", rules: "color-contrast" },
] as const;

/**
 * Fail if the page as it is now is wider than the window or has a violation in one of the sizes and colour schemes, or
 * if what is in `part` does not fit in it.
 * With the environment variable `POSTERN_SHOTS`, screenshots are written to that folder, with `name`.
 */
export async function expectHolds(page: Page, name: string, part?: Locator): Promise<void> {
  for (const { shape, width, height, colorScheme, rules } of SHAPES) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    // The page is drawn in the new size before it is looked at.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
    await expectSettled(page);
    await expectFits(page, `${name}, ${shape}`);
    if (part) await expectFits(page, `${name}, ${shape}`, part);
    if (rules !== "none") await expectAccessible(page, rules === "all" ? undefined : rules);
    if (!process.env.POSTERN_SHOTS) continue;
    const file = `${name} ${shape}`.replaceAll(/\W+/g, "-");
    await page.screenshot({ path: `${process.env.POSTERN_SHOTS}/${file}.png`, fullPage: true });
  }
}

/** Milliseconds by which every response of the API may be late: shows what a page does with a click that comes early. */
const LATE_MS = Number(process.env.POSTERN_TEST_LATE_MS ?? 0);

/** A page that tests use one after the other, as long as nothing in it stays. */
interface Kept {
  page?: Page;
  /** Receives the messages of the page that tell of a fault. */
  note: (message: string) => void;
  /** Whether a test changed what cannot be undone. */
  isChanged: boolean;
}

/** What a test listens to at a page. */
const LISTENED = ["console", "dialog", "download", "pageerror", "popup", "request", "requestfinished", "response"];

/**
 * A page whose messages of errors on the console, exceptions, and violations of the Content-Security-Policy reach
 * `kept.note`.
 */
async function openPage(context: BrowserContext, kept: Kept): Promise<Page> {
  const page = await context.newPage();
  await page.exposeFunction("noteViolation", (message: string) => kept.note(message));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const { noteViolation } = window as unknown as { noteViolation: (text: string) => void };
      noteViolation(`CSP ${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  // Scripts and functions that tests add to the page, and what they change over the protocol, would stay.
  const changes = <T extends object>(owner: T, ...methods: (keyof T)[]) => {
    for (const method of methods) {
      const original = owner[method] as (...args: unknown[]) => unknown;
      owner[method] = ((...args: unknown[]) => {
        kept.isChanged = true;
        return original.apply(owner, args);
      }) as T[typeof method];
    }
  };
  changes(page, "addInitScript", "exposeFunction", "exposeBinding", "routeWebSocket", "setExtraHTTPHeaders");
  changes(context, "addInitScript", "exposeFunction", "exposeBinding", "routeWebSocket", "setExtraHTTPHeaders");
  changes(context, "newCDPSession", "setOffline", "setGeolocation");
  return page;
}

/** Make the page as if it were new for the next test. False if that is not possible. */
async function isReset(page: Page): Promise<boolean> {
  const context = page.context();
  try {
    const others = context.pages().filter((other) => other !== page);
    await Promise.all(others.map((other) => other.close()));
    for (const event of LISTENED) page.removeAllListeners(event);
    context.removeAllListeners("page");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.unrouteAll({ behavior: "ignoreErrors" });
    // A small response of the same server: after about:blank, the browser would begin a new process.
    await page.goto("/readyz", { timeout: 10_000 });
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await context.clearCookies();
    await context.clearPermissions();
    await page.setViewportSize(VIEWPORT);
    await page.emulateMedia({ media: null, colorScheme: "light", reducedMotion: "reduce" });
    await page.mouse.move(-1, -1);
    return true;
  } catch {
    return false;
  }
}

/**
 * A test whose page fails it for messages of errors on the console, exceptions, and violations of the
 * Content-Security-Policy. `tolerated` is the pattern of messages that a test provokes, `isCacheEmpty` whether
 * it needs a browser that has loaded nothing.
 *
 * Tests that pass leave their page to the next test, without cookies and all else that they have set: a new page has a
 * new process, for which the browser compiles all scripts again, and takes twice the processor time.
 */
export const test = base.extend<
  { tolerated: RegExp; isCacheEmpty: boolean; watched: undefined; signedIn: Page },
  { kept: Kept }
>({
  tolerated: [/(?!)/, { option: true }],
  isCacheEmpty: [false, { option: true }],
  kept: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture uses from the pattern.
    async ({}, use) => {
      const kept: Kept = { note: () => undefined, isChanged: false };
      await use(kept);
      await kept.page?.context().close();
    },
    { scope: "worker" },
  ],
  context: async ({ browser, kept, isCacheEmpty }, use, testInfo) => {
    if (isCacheEmpty) {
      await kept.page?.context().close();
      kept.page = undefined;
    }
    kept.page ??= await openPage(await browser.newContext(), kept);
    kept.isChanged = false;
    const { page } = kept;
    await use(page.context());
    const isUsable = testInfo.status === testInfo.expectedStatus && !kept.isChanged && !page.isClosed();
    if (isUsable && (await isReset(page))) return;
    kept.page = undefined;
    await page.context().close();
  },
  page: async ({ context, kept }, use) => {
    await use(kept.page ?? (await openPage(context, kept)));
  },
  watched: [
    async ({ page, kept, tolerated }, use) => {
      const troubles: string[] = [];
      const note = (text: string) => {
        if (!tolerated.test(text)) troubles.push(text);
      };
      kept.note = note;
      page.on("console", (message) => message.type() === "error" && note(message.text()));
      page.on("pageerror", (error) => note(`${error.name}: ${error.message}`));
      if (LATE_MS > 0) {
        await page.context().route("**/dashboard/api/**", async (route) => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * LATE_MS));
          await route.fallback().catch(() => undefined);
        });
      }
      await use(undefined);
      kept.note = () => undefined;
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
