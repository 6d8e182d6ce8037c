import { generateKeyPairSync } from "node:crypto";
import type { Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
import { draftOf, FIELDS } from "../src/pages/access/signIn";
import { styleOf, themeOf } from "../src/pages/access/theme";
import { api, at, expect, expectAccessible, expectHolds, SERVER, test } from "./fixtures";

/** The API as the owner of the account. */
const owner = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });
/** Text that would run if any page took it for HTML. */
const ATTACK = "<img src=x onerror=window.hacked=1>";

let made = 0;
/** A name that only this run has. */
const unique = (name: string) => `${name}${Date.now().toString(36)}${made++}`;

/** A project of its own, so that no other test changes what a page shows. */
async function newProject(name: string): Promise<{ id: string; client: Postern; path: (tab?: string) => string }> {
  const { id } = await owner.projects.create({ name });
  const client = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken, project: id });
  return { id, client, path: (tab = "") => `/dashboard/projects/${id}/access${tab && `?tab=${tab}`}` };
}

async function asViewer(page: Page): Promise<void> {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
}

const settingOf = (page: Page, field: string) => page.locator(`[data-field="${field}"]`);

test.describe("sign-in settings", () => {
  test.use({ tolerated: /status of (400|412|422)/ });

  test("are explained, marked when changed, saved together, and refused at their field", async ({ signedIn: page }) => {
    const { client, path } = await newProject(unique("Harbour"));
    await page.goto(path());
    await expect(settingOf(page, "signUp").getByText("Default: Open")).toBeVisible();
    await expect(page.getByText("Changed", { exact: true })).toHaveCount(0);
    await page.getByRole("radio", { name: /^Closed/ }).check();
    await page.getByRole("checkbox", { name: /^Link by email/ }).uncheck();
    await page.getByRole("textbox", { name: "Redirect URLs" }).fill("not a url");
    await expect(settingOf(page, "signUp").getByText("Changed", { exact: true })).toBeVisible();
    const bar = page.getByRole("region", { name: "Unsaved changes" });
    await expect(bar.getByText("3 unsaved changes")).toBeVisible();
    await bar.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("textbox", { name: "Redirect URLs" })).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await page
      .getByRole("textbox", { name: "Redirect URLs" })
      .fill("https://app.example.com/a\nhttps://app.example.com/b");
    await bar.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("The settings are saved")).toBeVisible();
    const { signIn } = (await client.projects.get()).settings;
    expect([signIn.signUp, signIn.methods.includes("EMAIL_LINK"), signIn.redirectUrls]).toEqual([
      false,
      false,
      ["https://app.example.com/a", "https://app.example.com/b"],
    ]);
    await page.getByRole("button", { name: "Use the default: Sign-up" }).click();
    await expect(page.getByRole("radio", { name: /^Open/ })).toBeChecked();
    await page.getByRole("link", { name: "Providers" }).click();
    await page.getByRole("dialog").getByRole("button").last().click();
    await expect(page.getByRole("heading", { name: "No providers yet" })).toBeVisible();
  });

  test("show both versions if another person has saved", async ({ signedIn: page }) => {
    const { client, path } = await newProject(unique("Finch"));
    await page.goto(path());
    await page.getByLabel("Require a second factor").check();
    await client.projects.update({ settings: { signIn: { signUp: false } } });
    await page.getByRole("button", { name: "Save changes" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByRole("row", { name: /Sign-up/ })).toContainText("Closed");
    await expect(dialog.getByRole("row", { name: /Second factor/ })).toContainText("On");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: /Keep mine/ }).click();
    await expect(page.getByText("The settings are saved")).toBeVisible();
    const { signIn } = (await client.projects.get()).settings;
    expect([signIn.signUp, signIn.requireMfa]).toEqual([false, true]);
  });
});

test("the host name of the pages shows what it still needs", async ({ signedIn: page }) => {
  const { client, path } = await newProject(unique("Names"));
  const domain = `${unique("names")}.example`;
  const { id, records } = await client.domains.create({ domain });
  const key = records.find(({ purpose }) => purpose === "DKIM");
  await fetch(`${SERVER.zoneUrl}/${key?.name}/TXT`, { method: "PUT", body: JSON.stringify([key?.value]) });
  expect((await client.domains.verify(id)).status).toBe("VERIFIED");
  const name = `login.${domain}`;
  const state = page.getByRole("region", { name: "State of the host name" });
  await page.goto(path());
  await settingOf(page, "pagesDomain").getByRole("textbox").fill(name);
  await expect(state).toHaveCount(0);
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(state).toContainText("Links have this name");

  // The server of this test has an IP address, to which no record can point.
  const record = { type: "CNAME", name, value: "post.example.net", purpose: "PAGES", required: true, found: [] };
  const certificate = { name, status: "ISSUED", problem: null, issuedAt: null, expiresAt: null, nextAttemptAt: null };
  let answer: object = { record: { ...record, status: "PENDING", reason: null }, certificate: null, inUse: true };
  await page.route("**/pages-domain", (route) => route.fulfill({ json: { name, domainVerified: true, ...answer } }));
  const check = state.getByRole("button", { name: "Check again" });
  await check.click();
  await expect(state).toContainText("Not found yet");
  await expect(state.getByRole("status")).toContainText("do not work until the record leads to this server");
  await expect(state.getByRole("button", { name: "Copy value: CNAME" })).toBeVisible();
  const pending = { ...certificate, status: "PENDING" };
  answer = { record: { ...record, status: "UNKNOWN", reason: ATTACK }, certificate: pending, inUse: false };
  await check.click();
  await expect(state).toContainText(ATTACK);
  await expect(state.getByRole("status")).toContainText("have the name of this server until there is a certificate");
  await expectHolds(page, "access host name", state);
  answer = { record: { ...record, status: "VERIFIED", reason: null }, certificate, inUse: true };
  await check.click();
  await expect(state).toContainText("Issued");
  await expect(state.getByRole("status")).toHaveText("Links have this name.");
});

test.describe("texts of pages", () => {
  test.use({ tolerated: /status of 400/ });

  test("are found, replaced in one language, refused with a reason, and reset", async ({ signedIn: page }) => {
    const { client, path } = await newProject(unique("Texts"));
    await page.goto(path("texts"));
    await page.getByLabel("Shown").selectOption("INVITATION");
    await expect(page.getByRole("button", { name: "Edit: Accept the invitation" })).toBeVisible();
    await page.getByLabel("Language of the texts").selectOption("de");
    await page.getByLabel("Search texts").fill("annehmen EINLADUNG");
    await expect(page.getByText("Number of texts: 1")).toBeVisible();
    await page.getByRole("button", { name: "Edit: Einladung annehmen" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByText("Accept the invitation")).toBeVisible();
    await dialog.getByLabel("Your text, German").fill("{app} beitreten");
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByRole("textbox")).toHaveAttribute("aria-invalid", "true");
    await expect(dialog.getByRole("alert")).toContainText("This text has no value `{app}`");
    await expectAccessible(page);
    await dialog.getByRole("textbox").fill(`Team beitreten ${ATTACK}`);
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("The text is saved")).toBeVisible();
    await expect(page.getByText(`Team beitreten ${ATTACK}`)).toBeVisible();
    await expect(page.getByText("Built-in: Einladung annehmen")).toBeVisible();
    expect((await client.pageTexts.list("de", { changed: true })).map(({ text }) => text)).toEqual([
      `Team beitreten ${ATTACK}`,
    ]);

    await page.getByLabel("Search texts").fill("");
    await page.getByLabel("Shown").selectOption({ label: "Changed by you (1)" });
    await expect(page.getByText("Number of texts: 1")).toBeVisible();
    await page.getByRole("button", { name: /^Edit: Team beitreten/ }).click();
    await dialog.getByRole("button", { name: "Use the built-in text" }).click();
    await expect(page.getByRole("heading", { name: "No texts" })).toBeVisible();
    expect(await client.pageTexts.list("de", { changed: true })).toEqual([]);
    await page.getByLabel("Shown").selectOption("");
    await page.getByRole("button", { name: "Show 50 more" }).click();
    await expectHolds(page, "access texts");
    await asViewer(page);
    await page.reload();
    await expect(page.getByText("Einladung annehmen").first()).toBeVisible();
    await expect(page.getByRole("button", { name: /^Edit: / })).toHaveCount(0);
  });
});

test("providers are added, changed without showing the secret, and deleted", async ({ signedIn: page }) => {
  const { id, client, path } = await newProject(unique("Providers"));
  await page.goto(path("providers"));
  await page.getByRole("button", { name: "Add provider" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Provider", { exact: true }).selectOption("OIDC");
  await dialog.getByRole("button", { name: "Add provider" }).click();
  await expect(dialog.getByLabel("Issuer")).toHaveAttribute("aria-invalid", "true");
  await expect(dialog.getByText(`/projects/${id}/auth/providers/callback`)).toBeVisible();
  await expectAccessible(page);
  await dialog.getByLabel("Name on the button").fill(`Acme ${ATTACK}`);
  await dialog.getByLabel("Issuer").fill("https://login.acme.example");
  await dialog.getByLabel("Client ID").fill("postern");
  await dialog.getByLabel("Client secret").fill("a very secret secret");
  await dialog.getByRole("button", { name: "Add provider" }).click();
  await expect(page.getByText(`Acme ${ATTACK}`).first()).toBeVisible();
  const [provider] = await client.providers.list();
  expect([provider?.issuer, provider?.hasSecret]).toEqual(["https://login.acme.example", true]);

  await page.getByRole("button", { name: /^Edit Acme/ }).click();
  await expect(dialog.getByLabel("Client secret")).toHaveValue("");
  await dialog.getByLabel("Customers can use it").uncheck();
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await expect(dialog).toHaveCount(0);
  expect((await client.providers.list())[0]).toMatchObject({ enabled: false, hasSecret: true });

  await page.getByRole("button", { name: /^Delete Acme/ }).click();
  await dialog.getByRole("textbox").fill(provider?.key ?? "");
  await dialog.getByRole("button", { name: "Delete provider" }).click();
  await expect(page.getByRole("heading", { name: "No providers yet" })).toBeVisible();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test.describe("apps", () => {
  test.use({ tolerated: /status of (400|412)/ });

  test("are registered, show their secret once, and are changed without losing anything", async ({
    signedIn: page,
    context,
  }) => {
    const { client, path } = await newProject(unique("Apps"));
    await client.access.permissions.create({ key: "posts:write", description: ATTACK });
    await page.goto(path("apps"));
    await expect(page.getByRole("heading", { name: "No apps yet" })).toBeVisible();
    await page.getByRole("button", { name: "New app" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByLabel("Name", { exact: true })).toBeFocused();
    await dialog.getByRole("button", { name: "Register app" }).click();
    await expect(dialog.getByLabel("Redirect URIs")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Name", { exact: true }).fill(`Reports ${ATTACK}`);
    await dialog.getByLabel("Redirect URIs").fill("https://app.example.com/a\n\nhttp://app.example.com/b");
    await dialog.getByRole("button", { name: "Register app" }).click();
    await expect(dialog.getByRole("alert")).toContainText("Line 3: Use https");
    await expect(dialog.getByLabel("Redirect URIs")).toBeFocused();
    await dialog.getByText("Sign-out and links").click();
    await dialog.getByLabel("Website").fill("http://example.com");
    await dialog.getByLabel("Redirect URIs").fill("https://app.example.com/a\nhttps://app.example.com/b");
    await dialog.getByRole("checkbox", { name: /posts:write/ }).check();
    await dialog.getByRole("checkbox", { name: /^Acts for itself/ }).check();
    await dialog.getByText("Sign-out and links").click();
    await dialog.getByRole("button", { name: "Register app" }).click();
    await expect(dialog.getByLabel("Website")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await dialog.getByLabel("Website").fill("https://example.com");
    await dialog.getByRole("button", { name: "Register app" }).click();

    // The secret is shown once, and not closed by a slip.
    await expect(dialog.getByText(/^ocs_/)).toBeVisible();
    const secret = await dialog.getByText(/^ocs_/).textContent();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    await expect(page.getByRole("heading", { level: 1, name: `Reports ${ATTACK}` })).toBeVisible();
    const [app] = (await client.oauthClients.list()).data;
    expect(app).toMatchObject({
      redirectUris: ["https://app.example.com/a", "https://app.example.com/b"],
      scopes: ["openid", "profile", "email", "offline_access", "posts:write"],
      grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
      websiteUrl: "https://example.com",
      environment: "LIVE",
    });
    const id = app?.id ?? "";
    await expect(page.getByText(`ocs_…${secret?.slice(-4)}`)).toBeVisible();
    await expect(page.getByText(secret ?? "?")).toHaveCount(0);

    // What a library needs is there to copy, with code that has the values of the app.
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy Discovery URL" }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe(`${app?.issuer}/.well-known/openid-configuration`);
    await page.getByText("The single URLs").click();
    await expect(page.getByRole("button", { name: "Copy Token", exact: true })).toBeVisible();
    await page.getByRole("button", { name: "TypeScript" }).first().click();
    const code = page.getByRole("region", { name: "Sign a customer in through the browser" });
    await expect(code).toContainText(`"${id}", process.env.OAUTH_CLIENT_SECRET`);
    await expectAccessible(page);

    // Another secret works beside the first one for a while.
    await page.getByRole("button", { name: "New secret…" }).click();
    await dialog.getByLabel("The present secret also works for").selectOption("1 hour");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Create a new secret" }).click();
    await expect(dialog.getByText(/^ocs_/)).toBeVisible();
    const next = await dialog.getByText(/^ocs_/).textContent();
    expect(next).not.toBe(secret);
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    for (const each of [secret, next]) {
      const tokens = await page.request.post(`${app?.issuer}/oauth/token`, {
        headers: { authorization: `Basic ${btoa(`${id}:${each}`)}` },
        form: { grant_type: "client_credentials", scope: "posts:write" },
      });
      expect(tokens.status()).toBe(200);
    }

    // Another person changes the app meanwhile. The secret's change is no conflict.
    await page.getByRole("button", { name: "Edit" }).first().click();
    await dialog.getByLabel("Name", { exact: true }).fill("Mine");
    await client.oauthClients.update(id, { name: "Theirs", redirectUris: ["https://theirs.example.com/"] });
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByRole("row", { name: /Name/ })).toContainText("Theirs");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: /Keep mine/ }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Mine" })).toBeVisible();
    expect(await client.oauthClients.get(id)).toMatchObject({
      name: "Mine",
      redirectUris: ["https://theirs.example.com/"],
    });

    // A key instead of the secret, and the profile that requires it.
    await page.getByRole("button", { name: "Edit" }).first().click();
    await dialog.getByText("Authentication and security").click();
    await dialog.getByRole("checkbox", { name: /^FAPI 2.0/ }).check();
    await expect(dialog.getByRole("checkbox", { name: /^Bind tokens/ })).toBeChecked();
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByRole("alert")).toContainText("A FAPI2 client authenticates with a key");
    await dialog.getByRole("radio", { name: /^Key, stored here/ }).check();
    await dialog.getByLabel("Public keys (JWKS)").fill("no json");
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByLabel("Public keys (JWKS)")).toHaveAttribute("aria-invalid", "true");
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = { ...publicKey.export({ format: "jwk" }), kid: "2026", alg: "ES256" };
    await dialog.getByLabel("Public keys (JWKS)").fill(JSON.stringify(key));
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("None: the app authenticates with a key.")).toBeVisible();
    await expect(page.getByText("2026", { exact: true })).toBeVisible();
    expect(await client.oauthClients.get(id)).toMatchObject({
      jwks: { keys: [key] },
      requireDpop: true,
      securityProfile: "FAPI2",
      secretLastFour: null,
    });

    await page.getByRole("button", { name: "Delete app" }).click();
    await dialog.getByRole("button", { name: "Delete app" }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await dialog.getByRole("textbox").fill("Mine");
    await dialog.getByRole("button", { name: "Delete app" }).click();
    await expect(page.getByRole("heading", { name: "No apps yet" })).toBeVisible();
    expect((await client.oauthClients.list()).data).toEqual([]);

    // The APIs for which apps get tokens.
    const apis = page.getByRole("region", { name: "APIs", exact: true });
    await apis.getByRole("button", { name: "New API" }).click();
    await dialog.getByLabel("Name", { exact: true }).fill(`Notes ${ATTACK}`);
    await dialog.getByLabel("Identifier").fill("http://notes.example.com/mcp");
    await dialog.getByRole("button", { name: "Add API" }).click();
    await expect(dialog.getByLabel("Identifier")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Identifier").fill("https://notes.example.com/mcp");
    await dialog.getByRole("checkbox", { name: /posts:write/ }).check();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Add API" }).click();
    await expect(apis.getByText("https://notes.example.com/mcp")).toBeVisible();
    const [declared] = (await client.oauthResources.list()).data;
    expect(declared).toMatchObject({ scopes: ["posts:write"], environment: "LIVE" });
    await apis.getByRole("button", { name: /^Edit Notes/ }).click();
    await dialog.getByLabel("Name", { exact: true }).fill("Mine");
    await client.oauthResources.update(declared?.id ?? "", { name: "Theirs", scopes: [] });
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByRole("row", { name: /Name/ })).toContainText("Theirs");
    await dialog.getByRole("button", { name: /Keep mine/ }).click();
    await expect(apis.getByText("Mine", { exact: true })).toBeVisible();
    expect((await client.oauthResources.list()).data).toMatchObject([{ name: "Mine", scopes: [] }]);
    await apis.getByRole("button", { name: "Delete Mine" }).click();
    await dialog.getByRole("textbox").fill("Mine");
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await expect(apis.getByRole("heading", { name: "No APIs yet" })).toBeVisible();

    // Apps register themselves with a token.
    await page.getByRole("radio", { name: /^With a token/ }).check();
    await expect(page.getByRole("button", { name: "Create a token" })).toHaveCount(0);
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByRole("button", { name: "Create a token" }).click();
    const token = (await dialog.locator("code").textContent()) ?? "";
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    const registered = await page.request.post(`${app?.issuer}/oauth/register`, {
      headers: { authorization: `Bearer ${token}` },
      data: { client_name: "Assistant", redirect_uris: ["https://assistant.example.com/callback"] },
    });
    expect(registered.status(), await registered.text()).toBe(201);
    await page.reload();
    await expect(page.getByRole("listitem").filter({ hasText: "Assistant" })).toContainText("registered by itself");
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  });
});

test.describe("apps that are not there", () => {
  test.use({ tolerated: /status of (404|500)/ });

  test("are told apart from apps that cannot be read, and a list is filtered", async ({ signedIn: page }) => {
    const { id, client, path } = await newProject(unique("Gone"));
    await page.goto(`/dashboard/projects/${id}/access/apps/019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11`);
    await expect(page.getByRole("heading", { name: "There is no such app" })).toBeVisible();
    await expectAccessible(page);
    await client.oauthClients.create({ name: "Real", redirectUris: ["https://a.example.com/"] });
    const grantTypes = ["urn:ietf:params:oauth:grant-type:device_code"];
    await client.oauthClients.create({ name: "Trial", type: "PUBLIC", environment: "TEST", grantTypes });
    let isDown = true;
    await page.route(/\/oauth-clients\?/, (route) =>
      isDown ? route.fulfill({ status: 404, json: { code: "not_found", detail: "Out of order." } }) : route.continue(),
    );
    await page.getByRole("link", { name: "To the apps" }).click();
    await expect(page.getByRole("heading", { name: "The list could not be loaded" })).toBeVisible();
    isDown = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("link", { name: "Real" })).toBeVisible();
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await expect(page).toHaveURL(/mode=TEST/);
    await expect(page.getByRole("link", { name: "Real" })).toHaveCount(0);
    await page.getByRole("link", { name: "Trial" }).click();
    await expect(page.getByText("None: the app runs where it could be read.")).toBeVisible();
    await expect(page.getByRole("button", { name: "New secret…" })).toHaveCount(0);
    await expect(page.getByText("Sign a customer in on a device without a browser")).toBeVisible();
    await page.goto(`${path("apps")}`);
    await expect(page.getByRole("link", { name: "Trial" })).toBeVisible();
  });
});

test.describe("hosted pages", () => {
  test.use({ tolerated: /status of (400|422)/ });

  test("are shown with the theme and the texts before they are saved", async ({ signedIn: page }) => {
    const { client, path } = await newProject(unique("Theme"));
    await client.projects.update({ settings: { signIn: { redirectUrls: ["https://app.example.com/back"] } } });
    await page.goto(path("pages"));
    const frame = page.frameLocator("iframe[title='Sign in']:not(.next)");
    const button = frame.getByRole("button", { name: "Continue", exact: true });
    await expect(button).toHaveCSS("border-radius", "10px");
    const colour = (scheme: string, name: string) =>
      page.getByRole("group", { name: scheme, exact: true }).getByRole("textbox", { name, exact: true });
    await colour("Light", "Page").fill("#fdf6e3");
    await expect(frame.locator("body")).toHaveCSS("background-color", "rgb(253, 246, 227)");
    // What follows from other colours is shown in their fields.
    await expect(colour("Light", "Boxes")).toHaveAttribute("placeholder", "#fdf6e3");
    await colour("Light", "Text").fill("#fdf6e0");
    await page.getByRole("button", { name: "Large" }).click();
    await expect(button).toHaveCSS("border-radius", "18px");
    await page.getByLabel("Font of titles", { exact: true }).selectOption("Serif");
    await expect(frame.getByRole("heading", { level: 1 })).toHaveCSS("font-family", /Georgia/);
    await page.getByRole("textbox", { name: "Privacy policy" }).fill("https://app.example.com/privacy");
    await expect(frame.getByText("Privacy", { exact: true })).toBeVisible();
    await page.getByLabel("Language of the texts").selectOption("German");
    await expect(page).toHaveURL(/lang=de/);
    await expect(page.getByLabel("First button")).toHaveAttribute("placeholder", "Weiter");
    await page.getByLabel("Title of the sign-in page", { exact: true }).fill(`Willkommen ${ATTACK}`);
    await page.getByLabel("Sentence below this title").fill("Schön, dass Sie da sind.");
    await page.getByLabel("First button").fill("Los");
    await page.getByLabel("Line in the foot of all pages").fill("Acme GmbH, Kiel");
    await expect(frame.getByRole("heading", { level: 1 })).toHaveText(`Willkommen ${ATTACK}`);
    await expect(frame.getByText("Schön, dass Sie da sind.")).toBeVisible();
    await expect(frame.getByRole("button", { name: "Los", exact: true })).toBeVisible();
    await expect(frame.getByText("Acme GmbH, Kiel")).toBeVisible();
    await expect(frame.getByText("Datenschutz", { exact: true })).toBeVisible();
    await expectAccessible(page);

    // The text could not be read: nothing is saved.
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(colour("Light", "Text")).toHaveAttribute("aria-invalid", "true");
    await expect(page.getByText("The contrast of `ink` #fdf6e0")).toBeVisible();
    await page.getByRole("button", { name: "Use the default: Text, Light" }).click();
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("The settings are saved")).toBeVisible();
    const { signIn } = (await client.projects.get()).settings;
    expect(signIn.theme).toMatchObject({
      corners: "LARGE",
      font: "SYSTEM",
      headingFont: "SERIF",
      light: { page: "#fdf6e3", ink: null },
    });
    expect(signIn.pageTexts.de).toMatchObject({ signInButton: "Los", footer: "Acme GmbH, Kiel", signUpTitle: null });
    // The page of the server says and shows the same.
    const hosted = await page.request.get(
      (await page.getByRole("link", { name: "Open the page" }).getAttribute("href")) ?? "",
    );
    expect(await hosted.text()).toContain(">Los</button>");
    const sheet = await page.request.get(`/projects/${(await client.projects.get()).id}/auth/pages/style.css`);
    expect(await sheet.text()).toBe(styleOf(themeOf(draftOf(signIn))));

    await expectHolds(page, "access pages");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByRole("button", { name: "Use the built-in texts: German" }).click();
    await expect(frame.getByRole("heading", { level: 1 })).toHaveText("Anmelden");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect.poll(async () => (await client.projects.get()).settings.signIn.pageTexts.de).toBe(null);
  });
});

test.describe("hooks", () => {
  test.use({ tolerated: /status of (400|412)/ });

  test("are added with a secret that is shown once, called, changed and deleted", async ({ signedIn: page }) => {
    const { client, path } = await newProject(unique("Hooks"));
    await page.goto(path("hooks"));
    await expect(page.getByText("No hook.")).toHaveCount(3);
    await page.getByRole("button", { name: "Add hook: Before sign-up" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL", { exact: true }).fill("http://hooks.invalid/sign-up");
    await dialog.getByLabel("Time limit (milliseconds)").fill("soon");
    await dialog.getByRole("button", { name: "Add hook" }).click();
    await expect(dialog.getByLabel("Time limit (milliseconds)")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Time limit (milliseconds)").fill("1000");
    await dialog.getByRole("button", { name: "Add hook" }).click();
    await expect(dialog.getByLabel("URL", { exact: true })).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await dialog.getByLabel("URL", { exact: true }).fill("https://hooks.invalid/sign-up");
    await dialog.getByRole("button", { name: "Add hook" }).click();
    await expect(dialog.getByText(/^whsec_/)).toBeVisible();
    const secret = (await dialog.getByText(/^whsec_/).textContent()) ?? "?";
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    await expect(page.getByText("https://hooks.invalid/sign-up")).toBeVisible();
    await expect(page.getByText(secret)).toHaveCount(0);
    await page.getByRole("button", { name: "Call with example data: Before sign-up" }).click();
    await expect(page.getByText(/No valid answer: /)).toBeVisible();
    await page.getByRole("button", { name: "New secret of the hook: Before sign-up" }).click();
    await dialog.getByRole("button", { name: "Create a new secret" }).click();
    await expect(dialog.getByText(/^whsec_/)).not.toHaveText(secret);
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    await expect(page.getByText("Previous secret")).toBeVisible();

    await page.getByRole("button", { name: "Edit hook: Before sign-up" }).click();
    await dialog.getByRole("radio", { name: /^Continue/ }).check();
    await client.signInHooks.update("BEFORE_SIGN_UP", { timeoutMs: 1500, active: false });
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByRole("row", { name: /Time limit/ })).toContainText("1500");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: /Keep mine/ }).click();
    await expect(dialog).toHaveCount(0);
    expect(await client.signInHooks.get("BEFORE_SIGN_UP")).toMatchObject({ onFailure: "CONTINUE", timeoutMs: 1500 });
    await expect(page.getByText("Off", { exact: true })).toBeVisible();
    await expectHolds(page, "access hooks");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: "Delete hook: Before sign-up" }).click();
    await dialog.getByRole("textbox").fill("BEFORE_SIGN_UP");
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await expect(page.getByText("No hook.")).toHaveCount(3);
    expect(await client.signInHooks.list()).toEqual([]);
  });
});

test("the preview shows the brand before it is saved, and the real pages cannot be framed", async ({
  signedIn: page,
}) => {
  const { client, path } = await newProject(unique("Brand"));
  await page.goto(path("pages"));
  await expect(page.getByRole("heading", { name: "No redirect URL yet" })).toBeVisible();
  await page.getByRole("button", { name: "Forgotten password" }).click();
  await expect(
    page.frameLocator("iframe[title='Forgotten password']").last().getByRole("heading").first(),
  ).toBeVisible();
  await client.projects.update({ settings: { signIn: { redirectUrls: ["https://app.example.com/back"] } } });
  await page.goto(path("pages"));
  await page.getByRole("textbox", { name: "Name of your product" }).fill(ATTACK);
  await page.getByRole("textbox", { name: "Colour", exact: true }).fill("#0a7d55");
  const frame = page.frameLocator("iframe[title='Sign in']:not(.next)");
  await expect(frame.getByText(ATTACK)).toBeVisible();
  await expect(frame.getByRole("button", { name: "Continue", exact: true })).toHaveCSS(
    "background-color",
    "rgb(10, 125, 85)",
  );
  await page.getByRole("button", { name: "Dark" }).click();
  await expect(page).toHaveURL(/scheme=dark/);
  await expect(frame.locator("body")).toHaveCSS("background-color", "rgb(15, 21, 22)");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("The settings are saved")).toBeVisible();
  expect((await client.projects.get()).settings.signIn.accentColor).toBe("#0a7d55");
  const href = await page.getByRole("link", { name: "Open the page" }).getAttribute("href");
  const hosted = await page.request.get(href ?? "");
  expect(hosted.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(await hosted.text()).not.toContain(ATTACK);
});

test("roles get permissions in the matrix, with the keyboard too", async ({ signedIn: page }) => {
  const { client, path } = await newProject(unique("Matrix"));
  await page.goto(path("roles"));
  await page.getByRole("button", { name: "New permission" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Permission", { exact: true }).fill("posts:write");
  await dialog.getByRole("button", { name: "Add permission" }).click();
  await expect(page.getByRole("rowheader", { name: /posts:write/ })).toBeVisible();
  await client.access.permissions.create({ key: "posts:read", description: ATTACK });
  await page.getByRole("button", { name: "New role" }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("Editor");
  await dialog.getByLabel("Key", { exact: true }).fill("editor");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Add role" }).click();
  const cell = (permission: string) => page.getByRole("checkbox", { name: new RegExp(`^Editor: ${permission}`) });
  await cell("posts:read").click();
  await expect.poll(async () => (await client.access.roles.get("editor")).permissions).toEqual(["posts:read"]);
  await cell("posts:read").press("ArrowUp");
  await expect(cell("posts:\\*")).toBeFocused();
  await page.keyboard.press("Space");
  await expect
    .poll(async () => (await client.access.roles.get("editor")).permissions)
    .toEqual(["posts:*", "posts:read"]);
  await expect(page.getByRole("checkbox", { name: "Editor: posts:write, by posts:*" })).toBeChecked();
  const locked = page.getByRole("checkbox", { name: /^Member: posts:read/i });
  await expect(locked).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByText(ATTACK)).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Delete posts:read" }).click();
  await expect(dialog.getByText("These roles have it, and lose it: Editor.")).toBeVisible();
  await dialog.getByRole("textbox").fill("posts:read");
  await dialog.getByRole("button", { name: "Delete permission" }).click();
  await expect.poll(async () => (await client.access.roles.get("editor")).permissions).toEqual(["posts:*"]);
  await page.getByRole("button", { name: "Delete posts:write" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("rowheader", { name: /posts:write/ })).toBeVisible();
  await page.getByRole("button", { name: "Edit Editor" }).click();
  await dialog.getByRole("button", { name: "Delete role" }).click();
  await dialog.getByRole("button", { name: "Delete role" }).click();
  await expect(page.getByRole("columnheader", { name: /Editor/ })).toHaveCount(0);
});

test("a role that another person has changed shows both versions", async ({ signedIn: page }) => {
  const { client, path } = await newProject(unique("Clash"));
  await client.access.permissions.create({ key: "posts:write" });
  await client.access.roles.create({ key: "editor", name: "Editor" });
  await page.goto(path("roles"));
  const cell = page.getByRole("checkbox", { name: "Editor: posts:write" });
  await expect(cell).toBeVisible();
  await client.access.roles.update("editor", { name: "Chief editor" });
  await cell.click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("row", { name: /Name/ })).toContainText("Chief editor");
  await expect(dialog.getByRole("row", { name: /Permissions/ })).toContainText("posts:write");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: /Keep mine/ }).click();
  await expect(page.getByRole("columnheader", { name: /Chief editor/ })).toBeVisible();
  await expect(dialog).toHaveCount(0);
  expect(await client.access.roles.get("editor")).toMatchObject({ name: "Chief editor", permissions: ["posts:write"] });
});

test("the check says why, for a customer who is searched for", async ({ signedIn: page }) => {
  const word = unique("why");
  await api.access.permissions.create({ key: `${word}:approve` });
  await api.access.roles.create({ key: word, name: `Approver ${word}`, permissions: [`${word}:*`] });
  const customer = await api.customers.create({ email: `${word}@example.com`, name: `Ada ${word}` });
  await api.customers.replaceRoles(customer.id, { roles: [word] });
  const organization = await api.organizations.create({ name: `Linden ${word}` });
  await page.goto(at("/access?tab=why"));
  await page.getByRole("searchbox").fill(word);
  await page.getByRole("radio", { name: new RegExp(`Ada ${word}`) }).click();
  await page.getByRole("combobox", { name: `Can Ada ${word}` }).selectOption(`${word}:approve`);
  await expect(page.getByText(`Ada ${word} has the role Approver ${word} in the whole project.`)).toBeVisible();
  await expect(page.locator(".tree .decides")).toContainText(`${word}:*`);
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "in", exact: true }).selectOption(organization.id);
  await expect(page.getByText(`Ada ${word} is not a member there.`)).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`customer=${customer.id}.*in=${organization.id}`));
});

test.describe("plans", () => {
  test.use({ tolerated: /status of (400|409|412|422)/ });

  test("say what organizations can use, and warn before something is lost", async ({ signedIn: page }) => {
    const { client, path } = await newProject(unique("Plans"));
    await page.goto(path("plans"));
    await page.getByRole("button", { name: "New feature" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("Seats");
    await dialog.getByLabel("Key", { exact: true }).fill("two words");
    await dialog.getByRole("radio", { name: /^With a limit/ }).check();
    await dialog.getByRole("button", { name: "Add feature" }).click();
    await expect(dialog.getByLabel("Key", { exact: true })).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await dialog.getByLabel("Key", { exact: true }).fill("seats");
    await dialog.getByLabel("Limit without a plan").fill("5");
    await dialog.getByRole("switch").or(dialog.locator("input.switch")).first().check();
    await dialog.getByRole("button", { name: "Add feature" }).click();
    await expect(page.getByRole("row", { name: /Seats/ })).toContainText("Up to 5");

    await page.getByRole("button", { name: "New plan" }).click();
    await dialog.getByLabel("Name", { exact: true }).fill("Pro");
    await dialog.getByLabel("Key", { exact: true }).fill("pro");
    await dialog.getByLabel("Seats", { exact: true }).selectOption("on");
    await dialog.getByLabel("Limit of Seats").fill("1.5");
    await dialog.getByRole("button", { name: "Add plan" }).click();
    await expect(dialog.getByLabel("Limit of Seats")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Limit of Seats").fill("50");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Add plan" }).click();
    await expect(page.getByRole("row", { name: /Seats/ })).toContainText("Up to 50");
    expect((await client.plans.get("pro")).features).toMatchObject([{ featureKey: "seats", limit: 50 }]);
    await expectAccessible(page);

    const { id } = await client.organizations.create({ name: "Linden" });
    await client.organizations.setPlan(id, { planKey: "pro" });
    await page.reload();
    await page.getByRole("button", { name: "Edit Pro" }).click();
    await expect(dialog.getByText("1 organization has this plan.")).toBeVisible();
    await expect(dialog.getByRole("button", { name: "Delete plan" })).toBeDisabled();
    await client.plans.update("pro", { features: [{ featureKey: "seats", limit: 60 }] });
    await dialog.getByLabel("Name", { exact: true }).fill("Professional");
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByRole("row", { name: /Seats/ })).toContainText("Up to 60");
    await dialog.getByRole("button", { name: /Take theirs|Keep theirs|theirs/i }).click();
    await page.getByRole("button", { name: "Delete Seats" }).click();
    await expect(dialog.getByText("These plans set it (number of organizations): Pro (1).")).toBeVisible();
    await dialog.getByRole("textbox").fill("seats");
    await dialog.getByRole("button", { name: "Delete feature" }).click();
    await expect(page.getByRole("rowheader", { name: /Seats/ })).toHaveCount(0);
  });
});

test("signing keys are replaced without losing the one in use", async ({ signedIn: page }) => {
  const { id, path } = await newProject(unique("Keys"));
  await page.goto(path("keys"));
  await expect(page.getByRole("definition").filter({ hasText: `/projects/${id}/.well-known/jwks.json` })).toBeVisible();
  const keys = page.getByRole("list", { name: "Signing keys" }).getByRole("listitem");
  await expect(keys).toHaveCount(1);
  await page.getByRole("button", { name: "Replace the key" }).click();
  await expectAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Replace the key" }).click();
  await expect(keys).toHaveCount(2);
});

test("a viewer reads everything and changes nothing", async ({ signedIn: page }) => {
  const { client, path } = await newProject(unique("Viewer"));
  await client.access.permissions.create({ key: "posts:write" });
  await client.access.roles.create({ key: "editor", name: "Editor" });
  await client.features.create({ key: "sso", name: "Single sign-on" });
  await client.oauthClients.create({ name: "Seen", redirectUris: ["https://a.example.com/"] });
  await client.oauthResources.create({ name: "Notes", identifier: "https://notes.example.com/mcp" });
  await asViewer(page);
  await page.goto(path());
  await expect(page.getByRole("radio", { name: /^Open/ })).toBeDisabled();
  await page.getByRole("link", { name: "Providers" }).click();
  await expect(page.getByRole("heading", { name: "No providers yet" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Add provider" })).toHaveCount(0);
  await page.getByRole("link", { name: "Roles and permissions" }).click();
  await expect(page.getByRole("checkbox", { name: "Editor: posts:write" })).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByRole("button", { name: /^(New|Edit|Delete)/ })).toHaveCount(0);
  await page.getByRole("link", { name: "Features and plans" }).click();
  await expect(page.getByRole("rowheader", { name: /Single sign-on/ })).toBeVisible();
  await expect(page.getByRole("button", { name: /^(New|Edit|Delete)/ })).toHaveCount(0);
  await page.getByRole("link", { name: "Apps", exact: true }).click();
  await expect(page.getByText("https://notes.example.com/mcp")).toBeVisible();
  await expect(page.getByRole("radio", { name: /^With a token/ })).toBeDisabled();
  await expect(page.locator("#main").getByRole("button", { name: /^(New|Edit|Delete)/ })).toHaveCount(0);
  await page.getByRole("link", { name: "Seen" }).click();
  await expect(page.getByRole("button", { name: "Copy Client ID" })).toBeVisible();
  await expect(page.getByText("Your role is Viewer")).toBeVisible();
  await expect(page.locator("#main").getByRole("button", { name: /^(New|Edit|Delete)/ })).toHaveCount(0);
  await page.goto(path());
  await page.getByRole("link", { name: "Hooks" }).click();
  await expect(page.getByText("No hook.").first()).toBeVisible();
  await expect(page.getByRole("button", { name: /^(Add|New|Edit|Delete)/ })).toHaveCount(0);
  await page.getByRole("link", { name: "Signing keys" }).click();
  await expect(page.getByRole("list", { name: "Signing keys" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Replace the key" })).toHaveCount(0);
});

test("every tab holds", async ({ signedIn: page }) => {
  const { client, path } = await newProject(unique("Shapes"));
  await client.access.permissions.create({ key: "posts:write" });
  await client.access.roles.create({ key: "editor", name: "Editor", permissions: ["posts:*"] });
  await client.features.create({ key: "sso", name: "Single sign-on" });
  await client.plans.create({ key: "pro", name: "Pro", features: [{ featureKey: "sso" }] });
  const app = await client.oauthClients.create({
    name: `Reports of ${"Northwind ".repeat(8)}`.trim(),
    redirectUris: [`https://reports.example.com/${"path".repeat(60)}`],
    scopes: ["openid", "email", "offline_access", "posts:write"],
    grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
    environment: "TEST",
  });
  const settings = new Set<string>();
  const shown: [string, string][] = [
    ["", "Redirect URLs"],
    ["providers", "No providers yet"],
    ["pages", "No redirect URL yet"],
    ["mails", "Subject"],
    ["apps", "Reports of"],
    ["hooks", "Before sign-up"],
    ["roles", "posts:write"],
    ["why", "Who?"],
    ["plans", "Single sign-on"],
    ["keys", "ES256"],
  ];
  for (const [tab, text] of shown) {
    await page.goto(path(tab));
    await expect(page.locator("#main").getByText(text).first()).toBeVisible();
    await expectHolds(page, `access ${tab || "settings"}`);
    for (const each of await page.locator("[data-field]").all())
      settings.add(((await each.getAttribute("data-field")) ?? "").replace(/^pageTexts\/\w+/, "pageTexts"));
  }
  // Each of the settings is in a form. Texts are those of one language at a time.
  expect([...settings].sort()).toEqual(
    [...new Set(FIELDS.map((field) => field.replace(/^pageTexts\/\w+/, "pageTexts")))].sort(),
  );
  await page.goto(path("").replace(/access$/, `access/apps/${app.id}`));
  await expect(page.getByRole("heading", { level: 1, name: app.name })).toBeVisible();
  await expectHolds(page, "access app");
});
