import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { Customer, NewCustomer } from "@postern/sdk";
import { Postern } from "@postern/sdk";
import { api, at, expect, expectAccessible, expectHolds, SERVER, test } from "./fixtures";

const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken, project: SERVER.projectId });
const ATTACK = "<img src=x onerror=window.hacked=1>";

/** A word that only this run has. */
let number = 0;
const unique = (name: string) => `${name}-${Date.now().toString(36)}${number++}`;

async function newCustomer(name: string, more: NewCustomer = {}): Promise<Customer> {
  return api.customers.create({ email: `${unique(name)}@example.com`, name: `${name} Hoffmann`, ...more });
}

const pageOf = ({ id }: Customer, tab = "") => at(`/customers/${id}${tab && `?tab=${tab}`}`);

async function more(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

async function asViewer(page: Page): Promise<void> {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
}

test("the list is searched, filtered in the URL, and exported", async ({ signedIn: page }) => {
  const word = unique("listed");
  const ada = await api.customers.create({ email: `ada-${word}@example.com`, name: "Ada", emailVerified: true });
  const bob = await api.customers.create({ email: `bob-${word}@example.com`, name: "Bob" });
  await api.customers.ban(bob.id, { reason: "Card fraud" });
  await page.goto(at(`/customers?q=${word}`));
  await expect(page.getByRole("rowheader")).toHaveText([bob.email ?? "", ada.email ?? ""]);
  await expect(page.getByText("2 customers", { exact: true })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Blocked", exact: true }).click();
  await expect(page).toHaveURL(/status=banned/);
  await expect(page.getByRole("rowheader")).toHaveText([bob.email ?? ""]);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const text = await readFile(await (await saved).path(), "utf8");
  expect(text).toContain(bob.email);
  expect(text).not.toContain(ada.email);
  await page.getByRole("searchbox").fill("nobody-like-this");
  await expect(page.getByRole("heading", { name: "No customer matches" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(new RegExp(`${at("/customers")}$`));
});

test("the list follows what happens", async ({ signedIn: page }) => {
  const word = unique("live");
  await api.customers.create({ email: `first-${word}@example.com` });
  await page.goto(at(`/customers?q=${word}`));
  await expect(page.getByRole("rowheader")).toHaveCount(1);
  await api.customers.create({ email: `second-${word}@example.com` });
  await expect(page.getByRole("rowheader")).toHaveCount(2);
});

test.describe("with addresses that are taken", () => {
  test.use({ tolerated: /status of (400|409)/ });

  test("a customer is added once, and what is refused stands at its field", async ({ signedIn: page }) => {
    const { id } = await developer.projects.create({ name: "Nobody" });
    await page.goto(`/dashboard/projects/${id}/customers`);
    await expect(page.getByRole("heading", { name: "No customer yet" })).toBeVisible();
    await expectAccessible(page);

    const taken = await newCustomer("Taken");
    await page.goto(at("/customers?add=one"));
    const dialog = page.getByRole("dialog", { name: "Add customer" });
    await expect(dialog.getByLabel("Email address")).toBeFocused();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Add customer" }).click();
    await expect(dialog.getByRole("alert")).toContainText("Enter an address");
    await dialog.getByLabel("Email address").fill(taken.email ?? "");
    await dialog.getByRole("button", { name: "Add customer" }).click();
    await expect(dialog.getByLabel("Email address")).toHaveAttribute("aria-invalid", "true");
    await expect(dialog.getByRole("link", { name: "Show Taken Hoffmann" })).toBeVisible();
    await dialog.getByLabel("Phone number").fill("12");
    await dialog.getByRole("button", { name: "Add customer" }).click();
    await expect(dialog.getByLabel("Phone number")).toHaveAttribute("aria-invalid", "true");

    let created = 0;
    await page.route(/\/customers$/, async (route) => {
      if (route.request().method() === "POST") created++;
      await new Promise((resolve) => setTimeout(resolve, 400));
      await route.continue();
    });
    const email = `${unique("added")}@example.com`;
    await dialog.getByLabel("Email address").fill(email);
    await dialog.getByLabel("Phone number").fill("");
    await dialog.getByLabel("Name", { exact: true }).fill("Grace Hopper");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "Grace Hopper", level: 1 })).toBeVisible();
    expect(created).toBe(1);
    expect((await api.customers.list({ q: email })).data[0]?.name).toBe("Grace Hopper");
  });
});

test("a CSV file is checked, imported, and its faults are named by line", async ({ signedIn: page }) => {
  const word = unique("import");
  await page.goto(at("/customers?add=many"));
  const dialog = page.getByRole("dialog", { name: "Import customers" });
  const lines = ["email;name;colour", `ada-${word}@example.com;Ada;red`, "nonsense;Bob;", `cy-${word}@example.com;Cy;`];
  const file = (text: string) => ({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await dialog.getByLabel("CSV file").setInputFiles(file("a;b\n1;2"));
  await expect(dialog.getByRole("alert")).toContainText("no column");
  await dialog.getByLabel("CSV file").setInputFiles(file(lines.join("\n")));
  await expect(dialog.getByText("2 customers found")).toBeVisible();
  await expect(dialog.getByText("Not used: colour.")).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Import 2" }).click();
  await expect(dialog.getByRole("status")).toHaveText("2 added, 0 skipped, 1 failed");
  await expect(dialog.getByText("Line 3: The address is not valid.")).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Done" }).click();
  expect((await api.customers.list({ q: word })).total).toBe(2);
});

test.describe("with a customer that another person has changed", () => {
  test.use({ tolerated: /status of 412/ });

  test("profile and metadata are edited, and a conflict offers both versions", async ({ signedIn: page }) => {
    const customer = await newCustomer("Edit", { metadata: { plan: "pro", old: 1 } });
    await page.goto(pageOf(customer));
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const profile = page.getByRole("dialog", { name: "Edit profile" });
    await expectAccessible(page);
    await api.customers.update(customer.id, { name: "Theirs" });
    await profile.getByLabel("Name", { exact: true }).fill("Mine");
    await profile.getByLabel("Language").selectOption("Portuguese");
    await profile.getByRole("button", { name: "Save" }).click();
    await expect(profile.getByRole("alert")).toContainText("Theirs");
    await expectAccessible(page);
    await profile.getByRole("button", { name: "Save mine anyway" }).click();
    await expect(page.getByRole("heading", { name: "Mine", level: 1 })).toBeVisible();
    expect(await api.customers.get(customer.id)).toMatchObject({ name: "Mine", language: "pt" });
    await expect(page.getByText("Portuguese")).toBeVisible();

    await page.getByRole("button", { name: "Edit metadata" }).click();
    const metadata = page.getByRole("dialog", { name: "Edit metadata" });
    await metadata.getByLabel("Metadata").fill("[1]");
    await metadata.getByRole("button", { name: "Save" }).click();
    await expect(metadata.getByRole("alert")).toContainText("not a JSON object");
    await metadata.getByLabel("Metadata").fill('{"plan": "team", "seats": 3}');
    await metadata.getByRole("button", { name: "Save" }).click();
    await expect(metadata).toHaveCount(0);
    expect((await api.customers.get(customer.id)).metadata).toEqual({ plan: "team", seats: 3 });
  });
});

test("a block has a reason, is shown, and is lifted", async ({ signedIn: page }) => {
  const customer = await newCustomer("Blocked");
  await page.goto(pageOf(customer));
  await more(page, "Block…");
  const dialog = page.getByRole("dialog", { name: "Block Blocked Hoffmann?" });
  await expectAccessible(page);
  await dialog.getByLabel("Reason").fill("Card fraud");
  await dialog.getByRole("button", { name: "Block", exact: true }).click();
  await expect(page.getByText("Card fraud").first()).toBeVisible();
  await expectAccessible(page);
  expect(await api.customers.get(customer.id)).toMatchObject({ banReason: "Card fraud", banExpiresAt: null });
  await page.getByRole("button", { name: "Lift block" }).click();
  await expect(page.getByText("Blocked Hoffmann can sign in again")).toBeVisible();
  expect((await api.customers.get(customer.id)).bannedAt).toBeNull();
});

test("somebody of the team acts as a customer, for a reason that is shown", async ({ signedIn: page }) => {
  const customer = await newCustomer("Helped");
  await page.goto(pageOf(customer, "sessions"));
  await more(page, "Act as this customer…");
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("the project lists no redirect URLs")).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Create the link" })).toBeDisabled();
  await dialog.getByRole("button", { name: "Show tokens instead" }).click();
  await expect(dialog.getByLabel("Reason")).toHaveAttribute("aria-invalid", "true");
  await dialog.getByLabel("Reason").fill(`Ticket 4711 ${ATTACK}`);
  await dialog.getByLabel("The session ends after").selectOption("5 minutes");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Show tokens instead" }).click();
  await expect(dialog.getByRole("button", { name: "Copy: Access token" })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  const token = (await dialog.locator("code").first().textContent()) ?? "";
  const me = await page.request.get(`/projects/${SERVER.projectId}/auth/me`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await me.json()).toMatchObject({ id: customer.id, impersonatedBy: SERVER.developerEmail });
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("Your team acts")).toBeVisible();
  await expect(page.getByText(`${SERVER.developerEmail} acts as the customer: Ticket 4711 ${ATTACK}`)).toBeVisible();
  await expect(page.getByText(token)).toHaveCount(0);
  await expectHolds(page, "customers impersonated");
  await page
    .getByRole("button", { name: /^End the session/ })
    .first()
    .click();
  await dialog.getByRole("button", { name: /^End/ }).click();
  await expect(page.getByText("Your team acts")).toHaveCount(0);
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test("somebody of the team opens the app as a customer with a link", async ({ signedIn: page }) => {
  const redirectUrls = ["https://app.example.com/back", "https://admin.example.com/back"];
  await developer.projects.update({ settings: { signIn: { redirectUrls } } });
  const customer = await newCustomer("Opened");
  await page.goto(pageOf(customer, "sessions"));
  await more(page, "Act as this customer…");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("Ticket 4712");
  await dialog.getByLabel("Opens").selectOption("https://admin.example.com/back");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create the link" }).click();
  const link = dialog.getByRole("link", { name: "Open in a new tab" });
  await expect(link).toHaveAttribute("rel", /noopener/);
  await expectAccessible(page);
  const opened = page.waitForEvent("popup");
  await link.click();
  const tab = await opened;
  await expect(tab.getByText("Ticket 4712")).toBeVisible();
  const answered = tab.waitForResponse((response) => response.request().method() === "POST");
  await tab.getByRole("button", { name: "Continue" }).click();
  expect((await answered).headers().location).toMatch(
    /^https:\/\/admin\.example\.com\/back\?code=\w+&impersonation=true$/,
  );
  await tab.close();
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("Your team acts")).toBeVisible();
});

test("organizations and roles are changed, and the check says why", async ({ signedIn: page }) => {
  const word = unique("orders").replaceAll("-", "_");
  await api.access.permissions.create({ key: `${word}:approve` });
  const role = { key: `buyer-${word}`, name: "Purchaser", scope: "ORGANIZATION", permissions: [`${word}:*`] };
  await api.access.roles.create(role);
  const organization = await api.organizations.create({ name: `Linden ${word}` });
  const customer = await newCustomer("Member");
  await page.goto(pageOf(customer, "organizations"));
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("searchbox").fill(organization.name);
  await dialog.getByRole("radio").check();
  await dialog
    .getByRole("checkbox", { name: /^Purchaser/ })
    .first()
    .check();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByRole("listitem").filter({ hasText: organization.name })).toContainText("Purchaser");

  await page.goto(at(`/customers/${customer.id}?tab=permissions&can=${word}:approve&in=${organization.id}`));
  await expect(page.getByText("Member Hoffmann has the role Purchaser there.")).toBeVisible();
  await expect(page.locator(".tree .decides")).toContainText(`${word}:*`);
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "in" }).selectOption("");
  await expect(page.getByText("Member Hoffmann has no role that gives this.")).toBeVisible();
  await page.getByRole("button", { name: "Change roles" }).click();
  await page
    .getByRole("dialog")
    .getByRole("checkbox", { name: /^Admin/ })
    .check();
  await page.getByRole("dialog").getByRole("button", { name: "Save roles" }).click();
  await expect(page.getByText("has the role Admin in the whole project.")).toBeVisible();
  expect((await api.customers.get(customer.id)).roles).toEqual(["ADMIN"]);

  await page.goto(pageOf(customer, "organizations"));
  await page.getByRole("button", { name: `Remove from ${organization.name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("In no organization")).toBeVisible();
});

test("apps that a customer has allowed something are listed, and a consent is withdrawn", async ({
  signedIn: page,
  browser,
}) => {
  const password = "correct horse battery staple";
  const customer = await newCustomer("Allows", { password, emailVerified: true });
  const redirectUri = "http://127.0.0.1:1/callback";
  const app = await developer.oauthClients.create({ name: `Reports ${ATTACK}`, redirectUris: [redirectUri] });
  await page.goto(pageOf(customer, "sessions"));
  await expect(page.getByText("Allows Hoffmann has allowed no other app anything")).toBeVisible();
  const visitor = await browser.newPage();
  const query = new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: redirectUri,
    scope: "openid email",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  await visitor.goto(`${app.issuer}/oauth/authorize?${query}`);
  await visitor
    .locator("input[name=email]")
    .first()
    .fill(customer.email ?? "");
  await visitor.getByRole("button", { name: "Continue", exact: true }).click();
  await visitor.locator("input[name=password]").fill(password);
  await visitor.locator("input[name=password]").press("Enter");
  await visitor.locator("button[value=allow]").click();
  await expect.poll(async () => (await api.customers.listConsents(customer.id)).length).toBe(1);
  await visitor.close();

  await page.goto(pageOf(customer));
  const apps = page.getByRole("region", { name: "Apps" });
  await expect(apps.getByRole("listitem")).toContainText("May get: Email address, Who the customer is (an ID)");
  await expectAccessible(page);
  await apps.getByRole("button", { name: "Withdraw the consent to Reports" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Withdraw consent" }).click();
  await expect(apps).toHaveCount(0);
  expect(await api.customers.listConsents(customer.id)).toEqual([]);
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test.describe("with an owner", () => {
  test.use({ tolerated: /status of (404|409)/ });

  test("a merge and an erasure are typed, and ownership is handed over", async ({ signedIn: page }) => {
    const customer = await newCustomer("Stays", { externalUserId: unique("cus_a") });
    const other = await newCustomer("Goes", { externalUserId: unique("cus_b") });
    await page.goto(pageOf(customer));
    await more(page, "Merge another customer…");
    const choice = page.getByRole("dialog", { name: "Merge another customer" });
    await choice.getByRole("searchbox").fill(other.email ?? "");
    await expect(choice.getByRole("radio")).toHaveCount(1);
    await choice.getByRole("radio").check();
    await expectAccessible(page);
    await choice.getByRole("button", { name: "Continue" }).click();
    const confirm = page.getByRole("dialog", { name: /^Merge Goes/ });
    await confirm.getByRole("textbox").fill(other.email ?? "");
    await expectAccessible(page);
    await confirm.getByRole("button", { name: "Merge" }).click();
    await expect(confirm).toHaveCount(0);
    await expect(api.customers.get(other.id)).rejects.toThrow();

    const organization = await api.organizations.create({ name: unique("Owned") });
    await api.organizations.members.add(organization.id, { customerId: customer.id, roles: ["OWNER"] });
    const heir = await newCustomer("Heir");
    await more(page, "Erase");
    const dialog = page.getByRole("dialog", { name: /^Erase / });
    await dialog.getByRole("button", { name: "Erase" }).click();
    await expect(dialog.getByRole("alert")).toContainText("This is not");
    await dialog
      .getByRole("textbox")
      .first()
      .fill(customer.email ?? "");
    await dialog.getByRole("button", { name: "Erase" }).click();
    await expect(dialog.getByText(`Last owner of: ${organization.name}`)).toBeVisible();
    await dialog.getByRole("searchbox").fill(heir.email ?? "");
    await expect(dialog.getByRole("radio")).toHaveCount(1);
    await dialog.getByRole("radio").check();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Hand over and erase" }).click();
    await expect(page).toHaveURL(at("/customers"));
    await expect(api.customers.get(customer.id)).rejects.toThrow();
    expect((await api.organizations.members.get(organization.id, heir.id)).roles).toContain("OWNER");
  });
});

test.describe("with a list that fails", () => {
  test.use({ tolerated: /status of (404|500)/ });

  test("the list and a customer say so, and are tried again", async ({ signedIn: page }) => {
    const customer = await newCustomer("Again");
    await page.route(/\/customers\?/, (route) => route.fulfill({ status: 500, json: { detail: "Broken" } }));
    await page.goto(at("/customers"));
    await expect(page.getByRole("alert")).toContainText("The list could not be loaded", { timeout: 30_000 });
    await page.unroute(/\/customers\?/);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("rowheader", { name: customer.email ?? "" })).toBeVisible();
    await page.goto(at("/customers/00000000-0000-7000-8000-000000000000"));
    await expect(page.getByRole("heading", { name: "There is no such customer" })).toBeVisible();
    await expectAccessible(page);
  });
});

test("keys alone find a customer and edit its name", async ({ signedIn: page }) => {
  const customer = await newCustomer("Keys");
  await page.goto(at());
  await expect(page.getByRole("heading", { level: 1 }).first()).toBeAttached();
  await page.keyboard.press("g");
  await page.keyboard.press("u");
  await expect(page).toHaveURL(at("/customers"));
  // The address changes before the page does, and the page before has row headers, too.
  await expect(page.getByRole("searchbox")).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type(customer.email ?? "");
  await expect(page.getByRole("rowheader")).toHaveCount(1);
  await page.getByRole("searchbox").blur();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Keys Hoffmann", level: 1 })).toBeVisible();
  await page.getByRole("button", { name: "Edit", exact: true }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByLabel("Name", { exact: true })).toBeFocused();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Renamed");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Renamed", level: 1 })).toBeVisible();
});

test("what customers write is text, and a viewer sees no actions", async ({ signedIn: page }) => {
  const customer = await newCustomer("Viewer", { name: ATTACK, metadata: { [ATTACK]: ATTACK } });
  await asViewer(page);
  for (const tab of ["", "timeline", "sessions", "organizations", "permissions", "audit"]) {
    await page.goto(pageOf(customer, tab));
    await expect(page.getByRole("heading", { name: ATTACK, level: 1 })).toBeVisible();
    await expect(page.getByRole("heading", { level: 2 }).first()).toBeVisible();
    const deeds = /More actions|Edit|Add|Change roles|Sign out everywhere|Reset/;
    await expect(page.getByRole("main").getByRole("button", { name: deeds })).toHaveCount(0);
    await expectAccessible(page);
  }
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  await page.goto(at("/customers?add=one"));
  await expect(page.getByRole("rowheader").first()).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("button", { name: /Add customer|Import/ })).toHaveCount(0);
});

test("list and customer hold", async ({ signedIn: page }) => {
  const customer = await newCustomer("Shape", { metadata: { price_list: "wholesale-b" }, phone: "+4915112345678" });
  await api.customers.ban(customer.id, { reason: "Card fraud" });
  for (const tab of ["list", "", "timeline", "permissions", "audit"]) {
    await page.goto(tab === "list" ? at("/customers") : pageOf(customer, tab));
    await expect(page.getByRole("heading", { level: 1 }).first()).toBeAttached();
    await expectHolds(page, `customers ${tab || "customer"}`);
  }
});
