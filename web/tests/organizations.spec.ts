import type { Page } from "@playwright/test";
import type { Organization } from "@postern/sdk";
import { Postern } from "@postern/sdk";
import { api, at, expect, expectAccessible, expectHolds, expectSettled, SERVER, test } from "./fixtures";

const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken, project: SERVER.projectId });
const ATTACK = "<img src=x onerror=window.hacked=1>";

/** A word that only this run has. */
let number = 0;
const unique = (name: string) => `${name}-${Date.now().toString(36)}${number++}`;

async function newOrganization(name: string, more = {}): Promise<Organization> {
  const word = unique(name.toLowerCase());
  return api.organizations.create({ name: `${name} ${word}`, slug: word, ...more });
}

const pageOf = ({ id }: { id: string }, tab = "") => at(`/organizations/${id}${tab && `?tab=${tab}`}`);

async function publish(name: string, value: string): Promise<void> {
  const response = await fetch(`${SERVER.zoneUrl}/${name}/TXT`, { method: "PUT", body: JSON.stringify([value]) });
  expect(response.status).toBe(204);
}

/** A domain of the organization that is verified. */
async function verified(organization: Organization, domain: string): Promise<void> {
  const { id, recordName, record } = await api.organizations.domains.add(organization.id, { domain });
  await publish(recordName, record);
  expect((await api.organizations.domains.verify(organization.id, id)).status).toBe("VERIFIED");
}

async function more(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: "More actions", exact: true }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

async function asViewer(page: Page): Promise<void> {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
}

const hacked = (page: Page) => page.evaluate(() => (window as unknown as { hacked?: number }).hacked);

test("the list is searched, filtered, sorted, and follows what happens", async ({ signedIn: page }) => {
  const word = unique("listed");
  const beta = await api.organizations.create({ name: `Beta ${word}` });
  const alpha = await api.organizations.create({ name: `Alpha ${word}` });
  await api.organizations.update(alpha.id, { status: "SUSPENDED" });
  await page.goto(at(`/organizations?q=${word}`));
  await expect(page.getByRole("rowheader")).toHaveText([alpha.name, beta.name]);
  await expect(page.getByText("2 organizations", { exact: true })).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel("Order").selectOption("Name, Z to A");
  await expect(page).toHaveURL(/sort=-name/);
  await expect(page.getByRole("rowheader")).toHaveText([beta.name, alpha.name]);
  await page.getByRole("button", { name: "Suspended", exact: true }).click();
  await expect(page).toHaveURL(/status=SUSPENDED/);
  await expect(page.getByRole("rowheader")).toHaveText([alpha.name]);
  await page.getByRole("searchbox").fill("nothing-like-this");
  await expect(page.getByRole("heading", { name: "No organization matches" })).toBeVisible();
  await page.goto(at(`/organizations?q=${word}`));
  await expect(page.getByRole("rowheader")).toHaveCount(2);
  await api.organizations.create({ name: `Gamma ${word}` });
  await expect(page.getByRole("rowheader")).toHaveCount(3);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: `Gamma ${word}` })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(page).toHaveURL(at("/organizations"));
  await page.keyboard.press("Control+k");
  await page.keyboard.type(`beta ${word}`);
  await expect(page.getByRole("option", { name: `Beta ${word}` })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: `Beta ${word}` })).toBeVisible();
});

test.describe("with a slug that is taken", () => {
  test.use({ tolerated: /status of 409/ });

  test("an organization is created once, with its owner and plan", async ({ signedIn: page }) => {
    const { id } = await developer.projects.create({ name: "No companies" });
    await page.goto(`/dashboard/projects/${id}/organizations`);
    await expect(page.getByRole("heading", { name: "No organization yet" })).toBeVisible();
    await expectAccessible(page);

    const taken = await newOrganization("Taken");
    const owner = await api.customers.create({ email: `${unique("owner")}@example.com`, name: "Olga Owner" });
    const plan = await api.plans.create({ key: unique("plan"), name: unique("Gold") });
    await page.goto(at("/organizations?add=true"));
    const dialog = page.getByRole("dialog", { name: "New organization" });
    await dialog.getByRole("button", { name: "Create organization" }).click();
    await expect(dialog.getByRole("alert")).toContainText("Enter a name");
    const name = unique("Acme");
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    await dialog.getByLabel("Slug", { exact: true }).fill(taken.slug);
    await dialog.getByLabel("Plan").selectOption(plan.name);
    await dialog.getByLabel("With an owner").check();
    await dialog.getByLabel("Owner", { exact: true }).fill(owner.email ?? "");
    await dialog.getByRole("radio", { name: "Olga Owner" }).check();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Create organization" }).click();
    await expect(dialog.getByLabel("Slug", { exact: true })).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Slug", { exact: true }).fill("");
    await dialog.getByLabel("Slug", { exact: true }).press("Enter");
    await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
    await expect(page.locator("dl").getByRole("link", { name: plan.name })).toBeVisible();
    const [created] = (await api.organizations.list({ q: name })).data;
    const members = (await api.organizations.members.list(created?.id ?? "")).data;
    expect(members.map(({ customerId, roles }) => [customerId, roles])).toEqual([[owner.id, ["OWNER"]]]);
    expect((await api.organizations.list({ q: name })).data).toHaveLength(1);
  });
});

test.describe("with what the API refuses", () => {
  test.use({ tolerated: /status of (400|409|412|422|429)/ });

  test("members are added, changed and removed, and an owner stays", async ({ signedIn: page }) => {
    const organization = await newOrganization("Members");
    const ada = await api.customers.create({ email: `${unique("ada")}@example.com`, name: "Ada Lovelace" });
    const bob = await api.customers.create({ email: `${unique("bob")}@example.com`, name: "Bob Member" });
    await page.goto(pageOf(organization, "members"));
    await expect(page.getByRole("heading", { name: "No member yet" })).toBeVisible();
    const add = async (email: string | null) => {
      await page.getByRole("button", { name: "Add member" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("searchbox").fill(email ?? "");
      await expect(dialog.getByRole("radio")).toHaveCount(1);
      await dialog.getByRole("radio").check();
      await expectAccessible(page);
      await dialog.getByRole("button", { name: "Add member" }).click();
    };
    await add(ada.email);
    await expect(page.getByRole("link", { name: "Ada Lovelace" })).toBeVisible();
    await add(ada.email);
    await expect(page.getByRole("dialog").getByRole("alert")).toContainText("is a member already");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await add(bob.email);
    await expect(page.getByRole("link", { name: "Bob Member" })).toBeVisible();
    // The first one became the owner, and an organization has one.
    await page.getByRole("button", { name: "Roles of Ada Lovelace" }).click();
    const roles = page.getByRole("dialog", { name: "Roles of Ada Lovelace" });
    await expect(roles.getByRole("checkbox", { name: /Owner/i })).toBeChecked();
    await roles.getByRole("checkbox", { name: /Owner/i }).uncheck();
    await roles.getByRole("checkbox", { name: /Member/i }).check();
    await expect(roles.getByRole("button", { name: "Save" })).toBeEnabled();
    await roles.getByRole("button", { name: "Save" }).click();
    await expect(roles.getByRole("alert")).toContainText("last owner");
    await expectAccessible(page);
    // Another person changes the roles meanwhile.
    await api.organizations.members.update(organization.id, ada.id, { roles: ["OWNER", "ADMIN"] });
    await roles.getByRole("button", { name: "Save" }).click();
    await expect(roles.getByRole("alert")).toContainText("OWNER, ADMIN");
    await roles.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Remove Bob Member" }).click();
    await expect(page.getByRole("link", { name: "Bob Member" })).toHaveCount(0);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByRole("link", { name: "Bob Member" })).toBeVisible();
    await expectAccessible(page);
  });

  test("people are invited, mailed again, and invitations withdrawn", async ({ signedIn: page }) => {
    const organization = await newOrganization("Invited");
    const email = `${unique("grace")}@example.com`;
    await page.goto(pageOf(organization, "invitations"));
    await expect(page.getByRole("heading", { name: "No invitation yet" })).toBeVisible();
    const invite = async () => {
      await page.getByRole("button", { name: "Invite", exact: true }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Email address").fill(email);
      await dialog.getByLabel("Valid for").selectOption("14 days");
      await dialog.getByRole("button", { name: "Send invitation" }).click();
      return dialog;
    };
    await invite();
    await expect(page.getByText(email, { exact: true })).toBeVisible();
    const again = await invite();
    await expect(again.getByLabel("Email address")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await again.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: `Resend the invitation of ${email}` }).click();
    await expect(page.getByText("An invitation can be sent again once a minute.")).toBeVisible();
    await page.getByRole("button", { name: `Withdraw the invitation of ${email}` }).click();
    await expect(page.getByText(email, { exact: true })).toHaveCount(0);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText(email, { exact: true })).toBeVisible();
    const [invitation] = (await api.organizations.invitations.list(organization.id)).data;
    expect(invitation?.status).toBe("PENDING");
    await expectAccessible(page);
  });

  test("a domain is verified, lets people join, and is removed", async ({ signedIn: page }) => {
    const organization = await newOrganization("Domains");
    const domain = `${unique("owned")}.example`;
    await page.goto(pageOf(organization, "domains"));
    await page.getByRole("button", { name: "Add domain" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Domain").fill("gmail.com");
    await dialog.getByRole("button", { name: "Add domain" }).click();
    await expect(dialog.getByLabel("Domain")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await dialog.getByLabel("Domain").fill(domain);
    await dialog.getByRole("button", { name: "Add domain" }).click();
    await expect(page.getByText("Waiting for DNS")).toBeVisible();
    const join = page.getByRole("checkbox", { name: /People join automatically/ });
    await expect(join).toBeDisabled();
    await page.getByRole("button", { name: `Verify now: ${domain}` }).click();
    await expect(page.getByText(/No TXT record with this value was found/).first()).toBeVisible();
    await expectAccessible(page);
    const [added] = (await api.organizations.domains.list(organization.id)).data;
    await expect(page.getByText(added?.record ?? "?", { exact: true })).toBeVisible();
    await publish(added?.recordName ?? "", added?.record ?? "");
    await page.getByRole("button", { name: `Verify now: ${domain}` }).click();
    await expect(page.getByText("Verified", { exact: true })).toBeVisible();
    await expect(join).toBeEnabled();
    await join.click();
    await expect(join).toBeChecked();
    expect((await api.organizations.domains.list(organization.id)).data[0]?.autoJoinEnabled).toBe(true);
    await page.getByRole("button", { name: `Remove ${domain}` }).click();
    const removal = page.getByRole("dialog", { name: `Remove ${domain}?` });
    await removal.getByRole("textbox").fill(domain);
    await removal.getByRole("button", { name: "Remove domain" }).click();
    await expect(page.getByRole("heading", { name: "No domain yet" })).toBeVisible();
  });

  test("single sign-on is set up, tested, activated and required", async ({ signedIn: page, context }, info) => {
    const organization = await newOrganization("Acme");
    const added = await api.organizations.domains.add(organization.id, { domain: "acme.example" });
    await page.goto(pageOf(organization, "sso"));
    await expect(page.getByRole("heading", { name: "No single sign-on yet" })).toBeVisible();
    await page.getByRole("button", { name: "Set up single sign-on" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill(ATTACK);
    await expect(dialog.getByLabel("Domain of the addresses")).toHaveValue("acme.example");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByRole("heading", { name: ATTACK })).toBeVisible();

    // The values for the identity provider can be copied.
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy Entity ID (audience)" }).click();
    const [connection] = (await api.sso.list(organization.id)).data;
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(connection?.spEntityId);

    // Its own values are refused at the field, and then read from its metadata.
    await expect(page.getByRole("button", { name: "Test sign-in" })).toBeDisabled();
    const step = page.locator(".provider");
    await step.getByRole("button", { name: "Metadata file" }).click();
    await step.getByLabel("Metadata (XML)").fill("<not-metadata/>");
    await step.getByRole("button", { name: "Save" }).click();
    await expect(step.getByLabel("Metadata (XML)")).toHaveAttribute("aria-invalid", "true");
    await step.getByRole("button", { name: "Metadata URL" }).click();
    await step.getByLabel("URL of the metadata").fill(`${SERVER.providerUrl}/metadata`);
    await step.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText(`${SERVER.providerUrl}/login`)).toBeVisible();
    await expectSettled(page);
    await expectAccessible(page);

    // The domain is not verified yet: the test and the activation say so.
    const signOn = async () => {
      const opened = context.waitForEvent("page");
      await page.getByRole("button", { name: "Test sign-in" }).click();
      const tab = await opened;
      await expect(
        tab.getByText("Maria", { exact: false }).or(tab.getByText("maria@acme.example")).first(),
      ).toBeVisible();
      await tab.close();
    };
    await signOn();
    await expect(page.getByText("The test failed.")).toBeVisible();
    await page.getByRole("link", { name: "Show every check" }).click();
    await expect(page).toHaveURL(/trace=/);
    const checks = page.locator(".checks");
    await expect(checks.getByText("Domain is verified", { exact: true })).toBeVisible();
    await expect(checks.locator("dl").getByText(ATTACK).first()).toBeVisible();
    await expectAccessible(page);
    await page.screenshot({ path: info.outputPath("trace.png"), fullPage: true });
    await page.getByRole("button", { name: "Activate", exact: true }).click();
    await expect(page.getByText("This is missing:")).toBeVisible();

    await publish(added.recordName, added.record);
    await api.organizations.domains.verify(organization.id, added.id);
    await expect(page.getByText("is verified.", { exact: true })).toBeVisible();
    await signOn();
    await expect(page.getByText("The test passed.")).toBeVisible();
    await page.getByRole("button", { name: "Activate", exact: true }).click();
    await expect(page.getByText("People at acme.example sign in through this connection.")).toBeVisible();

    // Groups get roles; another person changes the connection meanwhile.
    await page.locator(".step").nth(3).getByRole("button", { name: "Change" }).click();
    const rules = page.getByRole("dialog", { name: "Attributes, roles and options" });
    await rules.getByLabel("Roles by group").fill("staff");
    await rules.getByRole("button", { name: "Save" }).click();
    await expect(rules.getByLabel("Roles by group")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await rules.getByLabel("Roles by group").fill("staff = ADMIN");
    await rules.locator("summary").click();
    const skew = rules.getByLabel("Difference of the clocks, in seconds");
    await skew.fill("900");
    await rules.getByRole("button", { name: "Save" }).click();
    await expect(skew).toHaveAttribute("aria-invalid", "true");
    await skew.fill("120");
    await api.sso.update(organization.id, connection?.id ?? "", { trustMfa: true });
    await rules.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("dialog", { name: "Someone changed this meanwhile" });
    await expect(conflict.getByText("staff = ADMIN")).toBeVisible();
    await expectAccessible(page);
    await conflict.getByRole("button", { name: /Keep mine/i }).click();
    await expect(page.getByText(/staff: admin/i)).toBeVisible();

    await page.getByRole("checkbox", { name: /only way to sign in/ }).click();
    const required = page.getByRole("dialog");
    await required.getByRole("textbox").fill(organization.name);
    await required.getByRole("button", { name: "Require single sign-on" }).click();
    await expect(page.getByRole("checkbox", { name: /only way to sign in/ })).toBeChecked();
    // The last working connection stays while single sign-on is required.
    await page.getByRole("button", { name: "Deactivate" }).click();
    const deactivation = page.getByRole("dialog");
    await deactivation.getByRole("button", { name: "Deactivate" }).click();
    await expect(deactivation.getByRole("alert")).toBeVisible();
    await deactivation.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("checkbox", { name: /only way to sign in/ }).click();
    await expect(page.getByRole("checkbox", { name: /only way to sign in/ })).not.toBeChecked();

    await page.getByRole("button", { name: "More actions for this connection" }).click();
    await page.getByRole("menuitem", { name: "Rename or change the domain…" }).click();
    const rename = page.getByRole("dialog");
    await expect(rename.getByLabel("Domain of the addresses")).toHaveValue("acme.example");
    await rename.getByLabel("Name").fill(`Renamed ${ATTACK}`);
    await expectAccessible(page);
    await rename.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("heading", { name: `Renamed ${ATTACK}` })).toBeVisible();
    expect((await api.sso.get(organization.id, connection?.id ?? "")).clockSkewSeconds).toBe(120);

    const before = connection?.spCertificates.find((each) => each.place === "NEXT")?.fingerprint;
    await page.getByRole("button", { name: "Change the certificate…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Change the certificate…" }).click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    const now = await api.sso.get(organization.id, connection?.id ?? "");
    expect(now.spCertificates.find((each) => each.place === "CURRENT")?.fingerprint).toBe(before);
    await page.getByRole("button", { name: "Deactivate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click();
    await expect(page.getByRole("button", { name: "Activate", exact: true })).toBeVisible();

    // A second connection, by OpenID Connect.
    await page.getByRole("button", { name: "Another connection" }).click();
    await dialog.getByLabel("Name").fill("Acme Login");
    await dialog.getByRole("radio", { name: /^OpenID Connect/ }).check();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByRole("heading", { name: "Acme Login" })).toBeVisible();
    await expect(page.getByText("Back-channel logout URI")).toBeVisible();
    await expect(page.getByRole("heading", { name: "Certificates" })).toHaveCount(0);
    await step.getByRole("button", { name: "Save" }).click();
    await expect(step.getByLabel("Issuer")).toHaveAttribute("aria-invalid", "true");
    await step.getByLabel("Issuer").fill("https://login.acme.example");
    await step.getByLabel("Client ID").fill("postern");
    await step.getByLabel("Client secret").fill("not shown again");
    await step.getByLabel("Scopes").fill("email");
    await step.getByRole("button", { name: "Save" }).click();
    await expect(step.getByLabel("Scopes")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await step.getByLabel("Scopes").fill("openid email");
    await step.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Stored, never shown again")).toBeVisible();
    await page.locator(".step").nth(3).getByRole("button", { name: "Change" }).click();
    await expect(rules.getByRole("checkbox", { name: /encrypted/i })).toHaveCount(0);
    await rules.getByLabel("Roles by group").fill("staff = ADMIN");
    await rules.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText(/staff: admin/i)).toBeVisible();
    expect((await api.sso.list(organization.id)).data[0]).toMatchObject({
      kind: "OIDC",
      oidcIssuer: "https://login.acme.example",
      oidcHasSecret: true,
      oidcScopes: "openid email",
      groupRoles: { staff: ["ADMIN"] },
    });
    await expectHolds(page, "organizations oidc");
    await page.setViewportSize({ width: 1440, height: 900 });

    // An administrator of the organization gets a link to set it up.
    await page.getByRole("button", { name: "New setup link" }).click();
    for (const each of ["Verify domains", "Set up single sign-on"])
      await dialog.getByRole("checkbox", { name: each }).uncheck();
    await dialog.getByRole("button", { name: "Create link" }).click();
    await expect(dialog.getByRole("alert")).toContainText("Choose at least one step.");
    await dialog.getByRole("checkbox", { name: "Connect a directory" }).check();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Create link" }).click();
    const url = (await dialog.locator("code").textContent()) ?? "";
    expect((await page.request.get(url)).status()).toBe(200);
    await page.keyboard.press("Escape");
    await dialog.getByRole("button").last().click();
    const links = page.getByRole("region", { name: "Setup by the organization’s administrator" });
    await expect(links.getByRole("listitem")).toContainText("Connect a directory");
    await expect(page.getByText(url)).toHaveCount(0);
    await links.getByRole("button", { name: "Withdraw" }).click();
    await dialog.getByRole("button", { name: "Withdraw" }).click();
    await expect(page.getByText("The setup link is withdrawn")).toBeVisible();
    expect((await api.organizations.setupLinks.list(organization.id)).data).toMatchObject([{ status: "REVOKED" }]);
    expect(await hacked(page)).toBeUndefined();
  });

  test("a directory is connected, told what it does wrong, gives roles, and is deleted", async ({ signedIn: page }) => {
    const organization = await newOrganization("Directed");
    const domain = `${unique("directed")}.example`;
    await page.goto(pageOf(organization, "directory"));
    await expect(page.getByRole("heading", { name: "No directory yet" })).toBeVisible();
    await expect(page.getByRole("link", { name: "All steps for Okta" })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Connect a directory" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByLabel("Name", { exact: true })).toBeFocused();
    await dialog.getByLabel("Roles by group").fill("Staff");
    await dialog.getByRole("button", { name: "Create URL and token" }).click();
    await expect(dialog.getByLabel("Name", { exact: true })).toHaveAttribute("aria-invalid", "true");
    await expect(dialog.getByLabel("Roles by group")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Name", { exact: true }).fill(`Acme ${ATTACK}`);
    await dialog.getByLabel("Roles by group").fill("Expected = NO_SUCH_ROLE");
    await dialog.getByRole("button", { name: "Create URL and token" }).click();
    await expect(dialog.getByLabel("Roles by group")).toHaveAttribute("aria-invalid", "true");
    await expect(dialog.getByText("The organization has no verified domain.")).toBeVisible();
    await expectAccessible(page);
    await dialog.getByLabel("Roles by group").fill("Expected = ADMIN");
    await dialog.getByRole("button", { name: "Create URL and token" }).click();

    // The token is shown once, and works.
    const token = await dialog.getByText(/^scim_/).textContent();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    await expect(page.getByText("Waiting for the directory")).toBeVisible();
    await expect(page.getByText(token ?? "?")).toHaveCount(0);
    const [directory] = (await api.directories.list(organization.id)).data;
    const id = directory?.id ?? "";
    const scim = async (path: string, body: object, status = 201, key = token) => {
      const response = await page.request.post(`${directory?.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${key}`, "content-type": "application/scim+json" },
        data: JSON.stringify(body),
      });
      expect(response.status(), await response.text()).toBe(status);
      return (await response.json()) as { id: string };
    };
    const schema = "urn:ietf:params:scim:schemas:core:2.0";
    const maria = { schemas: [`${schema}:User`], userName: `maria@${domain}`, displayName: `Maria ${ATTACK}` };
    await scim("/Users", maria, 400);
    await page.reload();
    await expect(page.getByText("Requests refused")).toBeVisible();
    const refused = page.getByRole("region", { name: "Refused requests" });
    await expect(refused.getByText("POST /Users")).toBeVisible();
    await expect(refused.getByText(/domain that the organization has not verified/)).toBeVisible();
    await expectAccessible(page);

    await verified(organization, domain);
    const user = await scim("/Users", maria);
    await scim("/Groups", { schemas: [`${schema}:Group`], displayName: "Staff", members: [{ value: user.id }] });
    await page.reload();
    const users = page.getByRole("region", { name: "Users" });
    await expect(users.getByRole("link", { name: `Maria ${ATTACK}` })).toBeVisible();
    const groups = page.getByRole("region", { name: "Groups" });
    await expect(groups.getByRole("listitem").filter({ hasText: "Expected" })).toContainText(
      "Not sent by the directory",
    );
    await groups.getByRole("button", { name: "Roles of Staff" }).click();
    await dialog.getByRole("checkbox", { name: /^Admin/ }).check();
    await expectAccessible(page);
    // Another person changes the directory meanwhile.
    await api.directories.update(organization.id, id, { groupRoles: { Others: ["OWNER"] } });
    await dialog.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("dialog", { name: "Someone changed this meanwhile" });
    await expect(conflict.getByRole("row", { name: /Roles/ })).toContainText("ADMIN");
    await conflict.getByRole("button", { name: /Keep mine/i }).click();
    await expect(groups.getByRole("listitem").filter({ hasText: "Staff" })).toContainText("Admin");
    expect((await api.directories.get(organization.id, id)).groupRoles).toEqual({
      Others: ["OWNER"],
      Staff: ["ADMIN"],
    });
    await expect.poll(async () => (await api.directories.listUsers(organization.id, id)).data[0]?.roles.length).toBe(2);
    await page.reload();
    await expect(users.getByText("Admin (from Staff)")).toBeVisible();

    // Another token works beside the first one for a while.
    await page.getByRole("button", { name: "New token…" }).click();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Create a new token" }).click();
    const next = await dialog.getByText(/^scim_/).textContent();
    await dialog.getByRole("button", { name: "I have saved it" }).click();
    await expect(page.getByText("works until:")).toBeVisible();
    for (const [number, key] of [token, next].entries())
      await scim("/Groups", { schemas: [`${schema}:Group`], displayName: `Group ${number}` }, 201, key);

    await page.getByRole("button", { name: "More actions for this directory" }).click();
    await page.getByRole("menuitem", { name: "Switch off…" }).click();
    await dialog.getByRole("button", { name: "Switch off" }).click();
    await expect(page.getByText("The directory is switched off.")).toBeVisible();
    await page.getByRole("button", { name: "Switch on" }).click();
    await expect(page.getByText("The directory is switched off.")).toHaveCount(0);

    await page.getByRole("button", { name: "More actions for this directory" }).click();
    await page.getByRole("menuitem", { name: "Delete directory…" }).click();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Delete directory" }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await dialog.getByRole("textbox").fill(`Acme ${ATTACK}`);
    await dialog.getByRole("button", { name: "Delete directory" }).click();
    await expect(page.getByRole("heading", { name: "No directory yet" })).toBeVisible();
    expect((await api.organizations.members.list(organization.id)).data).toHaveLength(1);
    expect(await hacked(page)).toBeUndefined();
  });

  test("settings are saved, and a conflict offers both versions", async ({ signedIn: page }) => {
    const organization = await newOrganization("Edit", { metadata: { tier: "gold", old: 1 } });
    const taken = await newOrganization("Other");
    await page.goto(pageOf(organization, "settings"));
    await page.getByLabel("Slug", { exact: true }).fill(taken.slug);
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByLabel("Slug", { exact: true })).toHaveAttribute("aria-invalid", "true");
    await page.getByRole("button", { name: "Discard changes" }).click();
    await page.getByLabel("Metadata", { exact: true }).fill("{");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByLabel("Metadata", { exact: true })).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await page.getByLabel("Metadata", { exact: true }).fill(JSON.stringify({ tier: ATTACK }));
    await page.getByLabel("Name", { exact: true }).fill(`Mine ${ATTACK}`);
    await api.organizations.update(organization.id, { name: "Theirs", externalId: unique("crm") });
    await page.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("dialog", { name: "Someone changed this meanwhile" });
    await expect(conflict.getByRole("cell", { name: "Theirs" })).toBeVisible();
    await expectAccessible(page);
    await conflict.getByRole("button", { name: /Keep mine/i }).click();
    await expect(page.getByRole("heading", { level: 1, name: `Mine ${ATTACK}` })).toBeVisible();
    const now = await api.organizations.get(organization.id);
    expect(now.metadata).toEqual({ tier: ATTACK });
    await expect(page.getByLabel("ID in your system")).toHaveValue(now.externalId ?? "?");

    // What this page changes itself is no conflict.
    await page.getByRole("checkbox", { name: /second factor/ }).click();
    await expect(page.getByRole("checkbox", { name: /second factor/ })).toBeChecked();
    const id = unique("crm");
    await page.getByLabel("ID in your system").fill(id);
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("button", { name: "Save" })).toBeDisabled();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect.poll(async () => (await api.organizations.get(organization.id)).externalId).toBe(id);
    // By which methods members sign in, and how long they stay.
    const rules = page.getByRole("region", { name: "Ways in and sessions" });
    await rules.getByLabel("Sessions end after (minutes)", { exact: true }).fill("a day");
    await rules.getByRole("button", { name: "Apply the rules" }).click();
    await expect(rules.getByLabel("Sessions end after (minutes)", { exact: true })).toHaveAttribute(
      "aria-invalid",
      "true",
    );
    await rules.getByLabel("Sessions end after (minutes)", { exact: true }).fill("1440");
    await rules.getByRole("checkbox", { name: /only some methods/ }).check();
    for (const each of ["Password", "Link by email"]) await rules.getByRole("checkbox", { name: each }).uncheck();
    await api.organizations.update(organization.id, { sessionIdleMinutes: 60 });
    await rules.getByRole("button", { name: "Apply the rules" }).click();
    await expect(conflict.getByRole("cell", { name: "60" })).toBeVisible();
    await expectAccessible(page);
    await conflict.getByRole("button", { name: /Keep mine/i }).click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    // The button is disabled while the rules are saved, too.
    await expect
      .poll(() => api.organizations.get(organization.id))
      .toMatchObject({
        allowedMethods: ["EMAIL_CODE", "PASSKEY", "SOCIAL", "SSO"],
        sessionLifetimeMinutes: 1440,
        sessionIdleMinutes: 60,
      });
    await expectHolds(page, "organizations rules");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(pageOf(organization));
    await expect(page.getByText(ATTACK, { exact: true })).toBeVisible();
    await expect(page.getByRole("table").getByText("changed", { exact: false }).first()).toBeVisible();
    expect(await hacked(page)).toBeUndefined();

    await more(page, "Suspend…");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill(now.name);
    await dialog.getByRole("button", { name: "Suspend" }).click();
    await expect(page.getByText("This organization is suspended.")).toBeVisible();
    await expectSettled(page);
    await expectAccessible(page);
    await page.getByRole("button", { name: "End the suspension" }).click();
    await expect(page.getByText("This organization is suspended.")).toHaveCount(0);
    await more(page, "Delete organization…");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Delete organization" }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await dialog.getByRole("textbox").fill(now.name);
    await dialog.getByRole("button", { name: "Delete organization" }).click();
    await expect(page).toHaveURL(at("/organizations"));
    expect((await api.organizations.list({ q: now.slug })).data).toEqual([]);
  });
});

test("the plan is chosen, and a feature overridden until a day", async ({ signedIn: page }) => {
  const organization = await newOrganization("Planned");
  const seats = await api.features.create({
    key: unique("seats"),
    name: unique("Seats"),
    type: "LIMIT",
    defaultLimit: 5,
  });
  const plan = await api.plans.create({ key: unique("pro"), features: [{ featureKey: seats.key, limit: 50 }] });
  await page.goto(pageOf(organization, "plan"));
  await page.getByRole("button", { name: "Change plan" }).click();
  const choice = page.getByRole("dialog");
  await choice.getByRole("radio", { name: plan.name }).check();
  await expectAccessible(page);
  await choice.getByRole("button", { name: "Change plan" }).click();
  const row = page.getByRole("listitem").filter({ hasText: seats.name });
  await expect(row).toContainText("Up to 50");
  await expect(row).toContainText(`From the plan ${plan.name}`);
  await row.getByRole("button", { name: `Override of ${seats.name}` }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Up to").fill("many");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByLabel("Up to")).toHaveAttribute("aria-invalid", "true");
  await dialog.getByLabel("Up to").fill("80");
  await dialog.getByLabel("Reason").fill(ATTACK);
  await dialog.getByLabel("Until").fill("2099-01-01T12:00");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("Up to 80");
  await expect(row).toContainText(ATTACK);
  const stored = (await api.entitlements.list(organization.id)).find((each) => each.featureKey === seats.key);
  expect([stored?.source, stored?.limit, stored?.expiresAt?.slice(0, 4)]).toEqual(["OVERRIDE", 80, "2099"]);
  await row.getByRole("button", { name: `Remove the override of ${seats.name}` }).click();
  await expect(row).toContainText("The override is being removed");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row).toContainText("Override for this organization");
  await expectSettled(page);
  await expectAccessible(page);
});

test("a viewer sees everything, and no way to change it", async ({ signedIn: page }) => {
  const organization = await newOrganization("Viewed");
  const customer = await api.customers.create({ email: `${unique("viewed")}@example.com`, name: "Vera Viewed" });
  await api.organizations.members.add(organization.id, { customerId: customer.id, roles: ["OWNER"] });
  await api.organizations.invitations.create(organization.id, { email: `${unique("asked")}@example.com` });
  await api.organizations.domains.add(organization.id, { domain: `${unique("viewed")}.example` });
  await api.sso.create(organization.id, { name: "Seen", domain: "viewed.example" });
  await api.directories.create(organization.id, { name: "Seen" });
  await asViewer(page);
  await page.goto(at("/organizations"));
  await expect(page.getByRole("rowheader", { name: organization.name })).toBeVisible();
  await expect(page.getByRole("button", { name: "New organization" })).toHaveCount(0);
  const writes =
    /Add|Invite|Remove|Resend|Withdraw|Verify|Roles|Save|Test|Activate|Override|Change|Delete|New|More actions$/;
  for (const tab of ["", "members", "invitations", "domains", "sso", "directory", "plan", "history", "settings"]) {
    await page.goto(pageOf(organization, tab));
    await expect(page.getByRole("heading", { level: 1, name: organization.name })).toBeVisible();
    await expectSettled(page);
    await expect(page.locator("main").getByRole("button", { name: writes })).toHaveCount(0);
  }
  // A customer's page leads here.
  await page.goto(at(`/customers/${customer.id}?tab=organizations`));
  await page.getByRole("link", { name: organization.name }).click();
  await expect(page).toHaveURL(pageOf(organization));
});

test.describe("with pages that cannot be loaded", () => {
  test.use({ tolerated: /status of (404|500|503)/ });

  test("what is missing and what failed are told apart", async ({ signedIn: page }) => {
    await page.goto(at("/organizations/019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11"));
    await expect(page.getByRole("heading", { name: "There is no such organization" })).toBeVisible();
    await expectAccessible(page);
    const organization = await newOrganization("Fails");
    let isDown = true;
    await page.route(/\/members\?/, (route) =>
      isDown ? route.fulfill({ status: 404, json: { code: "not_found", detail: "Out of order." } }) : route.continue(),
    );
    await page.goto(pageOf(organization, "members"));
    await expect(page.getByRole("heading", { name: "The list could not be loaded" })).toBeVisible();
    await expectAccessible(page);
    isDown = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("heading", { name: "No member yet" })).toBeVisible();
  });
});

test.describe("in each shape", () => {
  let organization: Organization;
  test.beforeAll(async () => {
    organization = await newOrganization("Shapes", { name: `Shapes & Söhne ${ATTACK}`, metadata: { tier: "gold" } });
    const customer = await api.customers.create({ email: `${unique("shape")}@example.com`, name: "Sophie Shape" });
    await api.organizations.members.add(organization.id, { customerId: customer.id, roles: ["OWNER"] });
    await api.organizations.invitations.create(organization.id, { email: `${unique("asked")}@example.com` });
    await api.organizations.domains.add(organization.id, { domain: `${unique("open")}.example` });
    const domain = `${unique("shapes")}.example`;
    await verified(organization, domain);
    const idpMetadataUrl = `${SERVER.providerUrl}/metadata`;
    await api.sso.create(organization.id, { name: "Shapes Okta", domain, idpMetadataUrl });
    const groupRoles = { [`Administrators of ${"everything ".repeat(8)}`.trim()]: ["ADMIN"] };
    const { baseUrl, token } = await api.directories.create(organization.id, { name: "Shapes Entra ID", groupRoles });
    for (const address of [`sophie@${domain}`, "sophie@elsewhere.example"])
      await fetch(`${baseUrl}/Users`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
        body: JSON.stringify({
          schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
          userName: address,
          displayName: "Sophie Shape",
        }),
      });
    await api.features.create({ key: unique("export"), defaultEnabled: true });
  });

  test("pages hold", async ({ signedIn: page }) => {
    for (const tab of [
      "list",
      "",
      "members",
      "invitations",
      "domains",
      "sso",
      "directory",
      "plan",
      "history",
      "settings",
    ]) {
      await page.goto(tab === "list" ? at("/organizations") : pageOf(organization, tab));
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      if (tab === "list") await expect(page.getByRole("rowheader").first()).toBeVisible();
      await expectHolds(page, `organizations ${tab || "overview"}`);
    }
    expect(await hacked(page)).toBeUndefined();
  });
});
