import type { Request } from "@playwright/test";
import { at, expect, expectAccessible, expectHolds, SERVER, signIn, test } from "./fixtures";

test.describe("with a refused password", () => {
  // Chromium notes every response of an error on the console.
  test.use({ tolerated: /status of 401/ });

  test("the form signs in and returns to the page that was asked for", async ({ page }) => {
    await page.goto(at("/emails?q=ada"));
    await expect(page).toHaveURL(/\/dashboard\/sign-in\?next=/);
    await expectAccessible(page);
    await page.getByLabel("Email address").fill(SERVER.developerEmail);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("alert")).not.toBeEmpty();
    await page.getByLabel("Password").fill(SERVER.developerPassword);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page).toHaveURL(new RegExp(`${at("/emails")}\\?q=ada$`));
  });

  test("the sign-in never leads to another site", async ({ page }) => {
    for (const next of ["//evil.example/", "/\\evil.example", "https://evil.example/", "javascript:alert(1)"]) {
      await page.context().clearCookies();
      await page.goto(`/dashboard/sign-in?next=${encodeURIComponent(next)}`);
      await page.getByLabel("Email address").fill(SERVER.developerEmail);
      await page.getByLabel("Password").fill(SERVER.developerPassword);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await expect(page).toHaveURL(new RegExp(`^${SERVER.baseUrl}/dashboard/projects/`));
    }
  });

  test("a session that ends in the middle goes on after signing in again", async ({ signedIn: page }) => {
    await page.goto(at("/emails"));
    await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
    await page.context().clearCookies();
    await page.getByRole("searchbox").fill("ada");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await expect(dialog).toBeVisible();
    await expectAccessible(page);
    await dialog.getByLabel("Password").fill(SERVER.developerPassword);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(dialog).toHaveCount(0);
    await expect(page).toHaveURL(/q=ada/);
    await expect(page.getByRole("searchbox")).toHaveValue("ada");
  });
});

test.describe("while the server does not answer", () => {
  test.use({ tolerated: /ERR_|Failed to fetch/ });

  test("a banner says so, and the page goes on by itself", async ({ signedIn: page }) => {
    await page.goto(at("/emails"));
    await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
    const unanswered = (url: URL) => url.pathname.startsWith("/dashboard/api") || url.pathname === "/healthz";
    await page.route(unanswered, (route) => route.abort("connectionrefused"));
    await page.getByRole("searchbox").fill("ada");
    const banner = page.getByText("The server does not answer.");
    await expect(banner).toBeVisible();
    await page.unroute(unanswered);
    await expect(banner).toBeHidden();
    await expect(page.getByText("No email matches")).toBeVisible();
  });
});

test("keys alone open pages, the search and the list of keys", async ({ signedIn: page }) => {
  await page.goto(at());
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect(page).toHaveURL(new RegExp(`${at("/emails")}$`));
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox", { name: "Search or jump to" })).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.type("overv");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`${at()}/?$`));
});

test("what is typed while the palette is loaded is not lost", async ({ signedIn: page }) => {
  await page.route("**/assets/Palette*.js", async (route) => {
    await typed;
    await route.continue();
  });
  let finish = () => {};
  const typed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  await page.goto(at("/emails"));
  await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("dom");
  finish();
  const field = page.getByRole("combobox", { name: "Search or jump to" });
  await expect(field).toHaveValue("dom");
  await expect(field).toBeFocused();
  await page.keyboard.type("ains");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`${at("/domains")}$`));
});

test("the page as a curl command runs with a key", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(at("/emails?q=ada"));
  await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
  await page.keyboard.press("c");
  await expect(page.getByText("The curl command is in the clipboard.")).toBeVisible();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const url = /'(http[^']+)'/.exec(command)?.[1] ?? "";
  expect(command).toContain("$POSTERN_KEY");
  const answer = await fetch(url, { headers: { authorization: `Bearer ${SERVER.secretKey}` } });
  expect(answer.status).toBe(200);
});

test("appearance and language are kept", async ({ signedIn: page }) => {
  await page.goto(at());
  const menu = page.locator(".side .me");
  await menu.click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Deutsch" }).click();
  await expect(page.getByRole("heading", { name: "Übersicht", level: 1 })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await page.reload();
  await expect(page.getByRole("heading", { name: "Übersicht", level: 1 })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
});

test("a new project is created and opened from the menu", async ({ signedIn: page }) => {
  await page.goto(at());
  await page
    .getByRole("button", { name: /^Switch project/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: "New project" }).click();
  const dialog = page.getByRole("dialog", { name: "New project" });
  await expectAccessible(page);
  await dialog.getByLabel("Name of the project").fill("<img src=x onerror=alert(1)>");
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(page).not.toHaveURL(new RegExp(SERVER.projectId));
  await expect(
    page.getByRole("button", { name: "Switch project, now <img src=x onerror=alert(1)>" }).first(),
  ).toBeVisible();
  await page.goto("/dashboard");
  await expect(page).not.toHaveURL(new RegExp(SERVER.projectId));
});

test.describe("with a request that is under way when the session ends", () => {
  // It is answered 401, which the browser logs. The bar beside the page may have one at any time.
  test.use({ tolerated: /status of 401/ });

  test("signing out ends the session", async ({ signedIn: page }) => {
    await page.goto(at());
    await page.locator(".side .me").click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/dashboard\/sign-in$/);
    await page.goto(at());
    await expect(page).toHaveURL(/\/dashboard\/sign-in/);
  });
});

test("an unknown project and an unknown page say so", async ({ signedIn: page }) => {
  for (const path of ["/dashboard/projects/00000000-0000-4000-8000-000000000000/emails", "/dashboard/nothing/here"]) {
    await page.goto(path);
    await expect(page.getByText("There is no such page")).toBeVisible();
    await expectAccessible(page);
  }
});

test.describe("with an empty cache", () => {
  test.use({ isCacheEmpty: true });

  test("the first page loads at most 250 kB of JavaScript, and does not shift", async ({ page }) => {
    await signIn(page);
    const scripts: Request[] = [];
    page.on("requestfinished", (request) => {
      if (request.resourceType() === "script") scripts.push(request);
    });
    await page.addInitScript(() => {
      const state = window as unknown as { shift: number };
      state.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) state.shift += (entry as unknown as { value: number }).value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(at());
    await expect(page.getByRole("heading", { name: "Send your first email" })).toBeVisible();
    await page.waitForLoadState("load");
    const sizes = await Promise.all(scripts.map((script) => script.sizes()));
    const octets = sizes.reduce((sum, size) => sum + size.responseBodySize, 0);
    expect(octets).toBeGreaterThan(50_000);
    expect(octets).toBeLessThan(250_000);
    expect(await page.evaluate(() => (window as unknown as { shift: number }).shift)).toBeLessThan(0.1);
  });
});

test("menu and pages hold", async ({ signedIn: page }) => {
  for (const path of ["", "/emails"]) {
    await page.goto(at(path));
    await expect(page.locator("main h1").first()).toBeAttached();
    await expectHolds(page, `shell ${path || "overview"}`);
  }
});
