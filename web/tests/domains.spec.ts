import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { type DnsRecord, type Domain, Postern } from "@postern/sdk";
import { api, at, expect, expectAccessible, expectHolds, SERVER, test } from "./fixtures";

/** The API as the developer, who may change projects; keys may not. */
const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken, project: SERVER.projectId });

/** A domain that only this run has. */
const unique = (name: string) => `${name}-${Date.now().toString(36)}.example`;

/** Publish records in the DNS that the server asks. */
async function publish(name: string, type: string, ...values: string[]): Promise<void> {
  const response = await fetch(`${SERVER.zoneUrl}/${name}/${type}`, { method: "PUT", body: JSON.stringify(values) });
  expect(response.status).toBe(204);
}

async function publishAll(records: DnsRecord[]): Promise<void> {
  for (const { name, type, value } of records) await publish(name, type, value);
}

const recordOf = (domain: Domain, purpose: string) => {
  const found = domain.records.find((each) => each.purpose === purpose);
  if (!found) throw new Error(purpose);
  return found;
};

/** A domain whose records are all right. */
async function readyDomain(name: string): Promise<Domain> {
  const domain = await api.domains.create({ domain: unique(name) });
  await publishAll(domain.records);
  const checked = await api.domains.verify(domain.id);
  expect(checked.status).toBe("VERIFIED");
  return checked;
}

const rowOf = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: false }) });

async function asViewer(page: Page): Promise<void> {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
}

/** A project without domains. */
async function newProject(name: string): Promise<string> {
  return `/dashboard/projects/${(await developer.projects.create({ name })).id}`;
}

test.describe("with names that the API refuses", () => {
  test.use({ tolerated: /status of (400|409)/ });

  test("a domain is added from the empty list; what is refused stands at the field", async ({ signedIn: page }) => {
    await page.goto(`${await newProject("Empty")}/domains`);
    await expect(page.getByRole("heading", { name: "No domain yet" })).toBeVisible();
    await expectAccessible(page);
    await page.locator("main .empty").getByRole("button", { name: "Add domain" }).click();
    await expect(page).toHaveURL(/\?add=1$/);
    const dialog = page.getByRole("dialog", { name: "Add domain" });
    await expect(dialog.getByLabel("Domain")).toBeFocused();
    await expect(dialog.getByText("They are looked up every minute")).toBeVisible();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Add domain" }).click();
    await expect(dialog.getByRole("alert")).toHaveText("Enter the name of a domain.");
    await dialog.getByLabel("Domain").fill("co.uk");
    await dialog.getByRole("button", { name: "Add domain" }).click();
    await expect(dialog.getByRole("alert")).toContainText("public suffix");
    await expect(dialog.getByLabel("Domain")).toHaveAttribute("aria-invalid", "true");

    // A slow answer: the second press does nothing.
    let created = 0;
    await page.route(/\/domains$/, async (route) => {
      if (route.request().method() === "POST") created++;
      await new Promise((resolve) => setTimeout(resolve, 400));
      await route.continue();
    });
    const name = unique("added");
    await dialog.getByLabel("Domain").fill(`https://${name}/about`);
    await expect(dialog.getByText(`Will be added as ${name}.`)).toBeVisible();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/domains\/[0-9a-f-]{36}$/);
    expect(created).toBe(1);
    await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
    await expect(page.getByText("Waiting for DNS")).toBeVisible();
    await expect(page.getByRole("rowheader", { name: "Signature DKIM, in use, needed" })).toBeVisible();

    await page.goto(page.url().replace(/\/domains\/.*/, "/domains?add=1"));
    await dialog.getByLabel("Domain").fill(name);
    await dialog.getByRole("button", { name: "Add domain" }).click();
    await expect(dialog.getByRole("alert")).toContainText("already");
    await dialog.getByRole("link", { name: `Show ${name}` }).click();
    await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  });
});

test("the page follows as records are found, without being asked", async ({ signedIn: page }) => {
  const domain = await api.domains.create({ domain: unique("live") });
  await page.goto(at(`/domains/${domain.id}`));
  await expect(page.getByText("Waiting for DNS")).toBeVisible();
  await publishAll(domain.records);
  // Another person presses the button: here, the records turn right by themselves.
  await api.domains.verify(domain.id);
  await expect(page.getByText("All are right.")).toBeVisible();
  await expect(page.locator(".pill", { hasText: "Ready" })).toBeVisible();
  await expect(page.locator(".dns .found")).not.toHaveCount(0);
  await expectAccessible(page);
});

test("a look says what was found against what is expected", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const domain = await readyDomain("differs");
  await publish(domain.domain, "TXT", "v=spf1 include:_spf.google.com -all", "google-site-verification=1");
  await publish("_spf.google.com", "TXT", "v=spf1 ip4:198.51.100.1 -all");
  await page.goto(at(`/domains/${domain.id}`));
  await expect(page.getByText("All are right.")).toBeVisible();
  await page.getByRole("button", { name: "Check again" }).click();
  await expect(page.getByText("1 record to change")).toBeVisible();
  const row = rowOf(page, "Permission to send");
  await expect(row).toContainText("Other value");
  await expect(row).toContainText("Found");
  await expect(row.locator("ins")).toContainText("ip4:192.0.2.10");
  await expect(row).toContainText("keeps what yours already permits");
  await row.getByRole("button", { name: "Copy value: Permission to send (SPF)" }).click();
  const merged = "v=spf1 include:_spf.google.com ip4:192.0.2.10 -all";
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(merged);
  await expectAccessible(page);

  // What the page says is right.
  await publish(domain.domain, "TXT", merged);
  await page.getByRole("button", { name: "Check again" }).click();
  await expect(page.getByText("All are right.")).toBeVisible();

  await page.getByRole("combobox", { name: "Names" }).selectOption(domain.domain);
  await expect(page).toHaveURL(/zone=/);
  await expect(rowOf(page, "Policy").locator(".name code")).toHaveText("_dmarc");
  await expect(rowOf(page, "Permission to send").locator(".name code")).toHaveText("@");
});

test.describe("with name servers that fail", () => {
  test.use({ tolerated: /status of 503/ });

  test("a check that fails is reported, and changes nothing", async ({ signedIn: page }) => {
    const domain = await readyDomain("fails");
    await page.goto(at(`/domains/${domain.id}`));
    await page.route(/\/verify$/, (route) =>
      route.fulfill({ status: 503, json: { status: 503, code: "database_away", detail: "Away for a moment." } }),
    );
    await page.getByRole("button", { name: "Check again" }).click();
    await expect(page.getByText("The check failed.")).toBeVisible({ timeout: 30_000 });
    await expect(page.getByText("All are right.")).toBeVisible();
  });
});

test("the records are handed over as text and as a zone file", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const domain = await api.domains.create({ domain: unique("hand") });
  const policy = recordOf(domain, "DMARC");
  await publish(policy.name, "TXT", "v=DMARC1; p=quarantine; rua=mailto:d@hand.example");
  await api.domains.verify(domain.id);
  await page.goto(at(`/domains/${domain.id}`));
  await expect(page.locator(".ladder [aria-current]")).toContainText("Into the spam folder");
  await page.getByRole("button", { name: "Send to my DNS admin" }).click();
  const dialog = page.getByRole("dialog", { name: "Send to my DNS admin" });
  await expectAccessible(page);
  await expect(dialog.getByRole("link", { name: "Open in mail program" })).toHaveAttribute(
    "href",
    /^mailto:\?subject=/,
  );
  await dialog.getByRole("button", { name: "Copy as text" }).click();
  const open = await page.evaluate(() => navigator.clipboard.readText());
  expect(open).toContain(recordOf(domain, "DKIM").value);
  expect(open).not.toContain(policy.name);
  await dialog.getByRole("button", { name: `All ${domain.records.length}` }).click();
  const saved = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Zone file" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe(`${domain.domain}.zone`);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  expect(lines).toHaveLength(domain.records.length);
  expect(lines.every((line) => /^\S+\.\t3600\tIN\t(TXT|CNAME)\t/.test(line))).toBe(true);
  const { name, value } = recordOf(domain, "DKIM");
  const key = lines.find((line) => line.startsWith(`${name}.`))?.split("\t")[4] ?? "";
  expect(key.replaceAll('" "', "").slice(1, -1)).toBe(value);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Send to my DNS admin" })).toBeFocused();
});

test("the key is changed after a warning, and tracking is set for the project", async ({ signedIn: page }) => {
  await developer.projects.update({ settings: { trackOpens: true } });
  const domain = await readyDomain("settings");
  await page.goto(at(`/domains/${domain.id}?tab=settings`));
  await expect(page.getByRole("heading", { name: "Signing keys" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Change to the next key" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign with the next key?" });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Change to the next key" }).click();
  await expect(page.getByText(`Mail is now signed with the key ${domain.dkimTokens[1]}`)).toBeVisible();
  expect((await api.domains.get(domain.id)).dkimTokens).toEqual(domain.dkimTokens.toReversed());

  await page.getByRole("checkbox", { name: /Note opens/ }).uncheck();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  expect((await developer.projects.get()).settings.trackOpens).toBe(false);
  await page.getByRole("checkbox", { name: /Note opens/ }).check();
  await expect.poll(async () => (await developer.projects.get()).settings.trackOpens).toBe(true);
});

test.describe("with settings that another person has changed", () => {
  test.use({ tolerated: /status of (409|412)/ });

  test("the conflict is said, and the next try succeeds", async ({ signedIn: page }) => {
    await developer.projects.update({ settings: { trackClicks: true } });
    const domain = await readyDomain("conflict");
    await page.goto(at(`/domains/${domain.id}?tab=settings`));
    const clicks = page.getByRole("checkbox", { name: /Note clicks/ });
    await expect(clicks).toBeChecked();
    await developer.projects.update({ settings: { retentionDays: 20 } });
    await clicks.click();
    await expect(page.getByRole("alert")).toContainText("Someone has changed the settings");
    await expect(clicks).toBeChecked();
    await clicks.uncheck();
    await expect(page.getByText("Saved", { exact: true })).toBeVisible();
    expect((await developer.projects.get()).settings).toMatchObject({ trackClicks: false, retentionDays: 20 });
    await developer.projects.update({ settings: { trackClicks: true } });
  });

  test("a domain is deleted once its name is typed, with mail that waits only when that is meant", async ({
    signedIn: page,
  }) => {
    const domain = await readyDomain("ends");
    await api.emails.send({
      from: `shop@${domain.domain}`,
      to: ["ada@example.com"],
      subject: "Later",
      text: "Hello",
      scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await page.goto(at(`/domains/${domain.id}`));
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete domain" }).click();
    const dialog = page.getByRole("dialog", { name: `Delete ${domain.domain}?` });
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Delete domain" }).click();
    await expect(dialog.getByRole("alert")).toContainText("This is not");
    await dialog.getByRole("textbox").fill(domain.domain);
    await dialog.getByRole("button", { name: "Delete domain" }).click();
    await expect(dialog.getByRole("alert")).toContainText("Mail waits to be sent from this domain");
    expect((await api.domains.get(domain.id)).id).toBe(domain.id);
    await dialog.getByRole("button", { name: "Delete, and let that mail fail" }).click();
    await expect(page.getByText(`${domain.domain} is deleted`)).toBeVisible();
    await expect(page).toHaveURL(at("/domains"));
    await expect(page.getByRole("rowheader", { name: domain.domain })).toHaveCount(0);
    await expect(api.domains.get(domain.id)).rejects.toThrow();
  });
});

test("the list says what is to be done, and is filtered in the URL", async ({ signedIn: page }) => {
  const ready = await readyDomain("list-ready");
  const pending = await api.domains.create({ domain: unique("list-pending") });
  await page.goto(at("/domains?q=list-"));
  await expect(page.getByRole("rowheader")).toHaveCount(2);
  await expect(page.getByRole("row", { name: ready.domain })).toContainText("Ready");
  await expect(page.getByRole("row", { name: pending.domain })).toContainText(
    `Publish ${pending.records.length} records`,
  );
  await expectAccessible(page);
  await page.getByRole("button", { name: /^To do/ }).click();
  await expect(page).toHaveURL(/only=attention/);
  await expect(page.getByRole("rowheader")).toHaveText([pending.domain]);
  await page.getByRole("searchbox").fill("nothing-like-this");
  await expect(page.getByRole("heading", { name: "No domain matches" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(new RegExp(`${at("/domains")}$`));
});

test.describe("with a list that fails", () => {
  test.use({ tolerated: /status of (404|500)/ });

  test("the list and a domain say so, and are tried again", async ({ signedIn: page }) => {
    const domain = await readyDomain("again");
    const fail = (url: RegExp) =>
      page.route(url, (route) => route.fulfill({ status: 500, json: { detail: "Broken" } }));
    await fail(/\/domains\?/);
    await page.goto(at("/domains"));
    await expect(page.getByRole("alert")).toContainText("The list could not be loaded", { timeout: 30_000 });
    await page.unroute(/\/domains\?/);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("rowheader", { name: domain.domain })).toBeVisible();
    await page.goto(at("/domains/00000000-0000-7000-8000-000000000000"));
    await expect(page.getByRole("heading", { name: "There is no such domain" })).toBeVisible();
    await expectAccessible(page);
  });
});

test("keys alone add a domain, read its records, and come back", async ({ signedIn: page }) => {
  await page.goto(at());
  await expect(page.getByRole("heading", { level: 1 }).first()).toBeAttached();
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await expect(page).toHaveURL(at("/domains"));
  const add = page.getByRole("button", { name: "Add domain" }).first();
  await add.focus();
  await page.keyboard.press("Enter");
  const name = unique("keys");
  await expect(page.getByRole("dialog").getByLabel("Domain")).toBeFocused();
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await page.goBack();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("rowheader", { name })).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "DNS records" })).toBeVisible();
});

test("what DNS answers is text, and a viewer sees no actions", async ({ signedIn: page }) => {
  const attack = "v=DMARC1; p=none; <img src=x onerror=window.hacked=1>";
  const domain = await api.domains.create({ domain: unique("viewer") });
  await publish(recordOf(domain, "DKIM").name, "TXT", "p=<img src=x onerror=window.hacked=1>");
  await publish(recordOf(domain, "DMARC").name, "TXT", attack);
  await api.domains.verify(domain.id);
  await asViewer(page);
  await page.goto(at(`/domains/${domain.id}`));
  await expect(rowOf(page, "Signature").first()).toContainText("<img src=x");
  await expect(page.locator(".published")).toHaveText(attack);
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  await expect(page.getByRole("button", { name: "Check again" })).toHaveCount(0);
  await page.getByRole("button", { name: "More actions" }).click();
  await expect(page.getByRole("menuitem")).toHaveCount(2);
  await page.keyboard.press("Escape");
  await page.getByRole("navigation", { name: "Parts of this domain" }).getByRole("link", { name: "Settings" }).click();
  await expect(page.getByRole("heading", { name: "Opens and clicks" })).toBeVisible();
  await expect(page.getByRole("checkbox").first()).toBeDisabled();
  await expect(page.getByRole("button", { name: /Delete domain|Change to the next key/ })).toHaveCount(0);
  await page.goto(at("/domains?add=1"));
  await expect(page.getByRole("rowheader").first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Add domain" })).toHaveCount(0);
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

/** A report about the mail of a domain, `daysAgo`, as receivers send it. */
function reportOf(domain: string, organization: string, daysAgo: number, rows: [string, number, "pass" | "fail"][]) {
  const begin = Math.floor(Date.now() / 86_400_000 - daysAgo) * 86_400;
  const records = rows.map(
    ([ip, messages, result]) =>
      `<record><row><source_ip>${ip}</source_ip><count>${messages}</count><policy_evaluated>
      <disposition>${result === "pass" ? "none" : "quarantine"}</disposition><dkim>${result}</dkim><spf>fail</spf>
      </policy_evaluated></row><identifiers><header_from>${domain}</header_from></identifiers></record>`,
  );
  return `<feedback><report_metadata><org_name>${organization}</org_name><report_id>${begin}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range></report_metadata>
    <policy_published><domain>${domain}</domain><p>none</p></policy_published>${records.join("")}</feedback>`;
}

test("mistakes in records are said with what to do", async ({ signedIn: page }) => {
  const domain = await readyDomain("mistakes");
  await publish(
    domain.domain,
    "TXT",
    recordOf(domain, "SPF").value,
    "v=spf1 mx <img src=x onerror=window.hacked=1> -all",
  );
  await api.domains.verify(domain.id);
  await page.goto(at(`/domains/${domain.id}`));
  const part = page.getByRole("region", { name: "Mistakes and advice" });
  const several = part.getByRole("list", { name: "Mistakes and advice" }).getByRole("listitem").first();
  await expect(several).toContainText("There are 2 SPF records.");
  await expect(several).toContainText("Merge them into one record");
  await expect(several.locator(".where")).toHaveText(domain.domain);
  await part.getByText("1 piece of advice", { exact: true }).click();
  await expect(part.getByRole("list", { name: "Advice", exact: true })).toContainText("nobody gets reports");
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  await expectAccessible(page);

  // The record is as expected, but with it anybody may send.
  await publish(domain.domain, "TXT", "v=spf1 ip4:192.0.2.10 +all");
  await api.domains.verify(domain.id);
  await page.goto(at(`/domains?q=${domain.domain}&only=attention`));
  await expect(page.getByRole("row", { name: domain.domain })).toContainText("1 mistake in the records");
});

test.describe("with files that are no reports", () => {
  test.use({ tolerated: /status of (422|500)/ });

  test("reports about DMARC are added and shown by day, host and receiver", async ({ signedIn: page }) => {
    const domain = await readyDomain("reports");
    await page.goto(at(`/domains/${domain.id}?tab=dmarc`));
    const part = page.getByRole("region", { name: "DMARC reports" });
    await expect(part.getByRole("heading", { name: "No reports of the last 30 days" })).toBeVisible();
    await expect(part).toContainText(`_dmarc.${domain.domain}`);
    await expect(part.getByRole("region", { name: "Command that adds a report" })).toContainText("--data-binary");
    await expectAccessible(page);
    const file = (name: string, content: string) => ({ name, mimeType: "text/xml", buffer: Buffer.from(content) });
    const google = reportOf(domain.domain, "google.com", 1, [["192.0.2.10", 980, "pass"]]);
    await part
      .locator("input[type=file]")
      .setInputFiles([
        file("google.xml", google),
        file("again.xml", google),
        file("yahoo.xml", reportOf(domain.domain, "&lt;b&gt;Yahoo&lt;/b&gt;", 3, [["203.0.113.40", 20, "fail"]])),
        file("other.xml", reportOf("other.example", "google.com", 2, [["192.0.2.10", 5, "pass"]])),
        file("broken.xml", "<feedback>"),
      ]);
    const results = part.locator(".results").getByRole("listitem");
    await expect(results).toHaveCount(5);
    await expect(results.nth(0)).toContainText("google.xml is added: 980 emails reported by google.com");
    await expect(results.nth(1)).toContainText("again.xml is known already");
    await expect(results.nth(2)).toContainText("reported by <b>Yahoo</b>");
    await expect(results.nth(3)).toContainText("This report is about other.example");
    await expect(results.nth(4)).toContainText("The XML of the report is not well-formed");
    await expect(part.locator(".ledger")).toContainText("98.0");
    const sources = part.getByRole("table", { name: "Sent in your name by" });
    await expect(sources.getByRole("row", { name: /192\.0\.2\.10 this server/ })).toContainText("100.0");
    await expect(sources.getByRole("row", { name: /203\.0\.113\.40/ })).toContainText("0.0");
    await expect(
      part.getByRole("table", { name: "Reported by" }).getByRole("row", { name: "<b>Yahoo</b>" }),
    ).toBeVisible();
    const chart = part.getByRole("slider", { name: "Mail in your name by day" });
    await chart.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect(chart).toHaveAttribute("aria-valuetext", /: Passed 980, Failed 0, /);
    await part.getByRole("link", { name: "7 days" }).click();
    await expect(page).toHaveURL(/days=7/);
    await expect(sources.getByRole("row")).toHaveCount(3);
    await expectHolds(page, "domains DMARC reports");

    // The records page says what follows from them.
    await page.setViewportSize({ width: 1440, height: 900 });
    await publish(recordOf(domain, "DMARC").name, "TXT", "v=DMARC1; p=none");
    await api.domains.verify(domain.id);
    await page.goto(at(`/domains/${domain.id}`));
    const dmarc = page.getByRole("region", { name: "DMARC", exact: true });
    await expect(dmarc).toContainText("It is time for the next step.");
    await dmarc.getByRole("link", { name: "All reports of 30 days" }).click();
    await expect(page).toHaveURL(/tab=dmarc/);

    await page.route(/\/dmarc\?/, (route) => route.fulfill({ status: 500, json: { detail: "Broken" } }));
    await asViewer(page);
    await page.goto(at(`/domains/${domain.id}?tab=dmarc`));
    await expect(part.getByRole("alert")).toContainText("could not be loaded", { timeout: 30_000 });
    await page.unroute(/\/dmarc\?/);
    await part.getByRole("button", { name: "Try again" }).click();
    await expect(sources.getByRole("row")).toHaveCount(3);
    await expect(part.getByRole("button", { name: "Add reports" })).toHaveCount(0);
  });
});

test("held mail of a domain is released with a reason", async ({ signedIn: page }) => {
  const domain = await readyDomain("held");
  const limits = { warning: 0.02, hold: 0.05, minMessages: 100 };
  const counts = { messages: 2_000, bounced: 124, complained: 1 };
  const reputation = {
    domainId: domain.id,
    domain: domain.domain,
    state: "HELD",
    since: new Date().toISOString(),
    reason: "6.2 % of 2,000 messages bounced.",
    heldUntil: new Date(Date.now() + 3_600_000).toISOString(),
    countedFrom: new Date(Date.now() - 7 * 86_400_000).toISOString(),
    counts,
    bounceRate: 0.062,
    complaintRate: 0.0005,
    thresholds: { bounces: limits, complaints: { warning: 0.001, hold: 0.003, minMessages: 100 } },
    days: [],
  };
  let reason: unknown;
  await page.route(/\/reputation(\/release)?(\?|$)/, (route) => {
    if (route.request().method() === "GET") return route.fulfill({ json: reputation });
    reason = route.request().postDataJSON();
    const released = { ...reputation, state: "HEALTHY", reason: null, heldUntil: null, bounceRate: 0 };
    return route.fulfill({ json: released });
  });
  await page.goto(at(`/domains/${domain.id}`));
  const part = page.getByRole("region", { name: "Reputation" });
  await expect(part.getByRole("status")).toContainText("Marketing mail of this domain is held. 6.2 % of 2,000");
  await expect(part.getByRole("row", { name: /Bounces/ })).toContainText("5.00");
  await expectHolds(page, "domains held");
  await page.setViewportSize({ width: 1440, height: 900 });
  await part.getByRole("button", { name: "Release held mail" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Release held mail" })).toBeDisabled();
  await dialog.getByLabel("What was done about the cause").fill("The old list is deleted");
  await dialog.getByRole("button", { name: "Release held mail" }).click();
  await expect(part.getByRole("status")).toHaveCount(0);
  expect(reason).toEqual({ reason: "The old list is deleted" });
});

test.describe("with a plan that the API refuses", () => {
  test.use({ tolerated: /status of (400|404)/ });

  test("a domain is warmed up by a plan, which is ended", async ({ signedIn: page }) => {
    const domain = await readyDomain("warm");
    await page.goto(at(`/domains/${domain.id}?tab=warm-up`));
    await expect(page.getByRole("heading", { name: "No warm-up plan" })).toBeVisible();
    await page.getByRole("button", { name: "Start warm-up" }).click();
    const dialog = page.getByRole("dialog", { name: `Warm up ${domain.domain}` });
    await expectAccessible(page);
    await dialog.getByLabel("Emails on the last day").fill("-1");
    await dialog.getByRole("button", { name: "Start warm-up" }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await dialog.getByLabel("Emails on the last day").fill("400");
    await dialog.getByRole("button", { name: "Start warm-up" }).click();
    const steps = page.getByRole("list", { name: "Ceiling of each day" }).getByRole("listitem");
    await expect(steps).toHaveCount(4);
    await expect(steps.first()).toHaveAttribute("aria-current", "step");
    await expect(page.getByText("0 of 50 today.")).toBeVisible();
    await expectHolds(page, "domains warm-up");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: "End warm-up" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End warm-up" }).click();
    await expect(page.getByRole("heading", { name: "No warm-up plan" })).toBeVisible();
    await asViewer(page);
    await page.reload();
    await expect(page.getByRole("heading", { name: "No warm-up plan" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Start warm-up" })).toHaveCount(0);
  });
});

test("certificates of tracking names say when they end, and why one failed", async ({ signedIn: page }) => {
  const domain = await readyDomain("tls");
  const issued = {
    name: `links.${domain.domain}`,
    status: "ISSUED",
    problem: null,
    issuedAt: "2026-11-01T00:00:00Z",
    expiresAt: "2027-01-30T00:00:00Z",
    nextAttemptAt: "2026-12-31T00:00:00Z",
  };
  const problem = "The name does not lead to this server.";
  const failed = { ...issued, name: `go.${domain.domain}`, status: "FAILED", problem, issuedAt: null, expiresAt: null };
  await page.route(/\/certificates$/, (route) => route.fulfill({ json: [issued, failed] }));
  await page.goto(at(`/domains/${domain.id}?tab=settings`));
  const part = page.getByRole("region", { name: "Certificates" });
  await expect(part.getByRole("row", { name: /^links\./ })).toContainText("Issued");
  await expect(part.getByRole("row", { name: /^go\./ })).toContainText("Failed");
  await expect(part.getByRole("row", { name: /^go\./ })).toContainText(problem);
  await expectAccessible(page);
});

test("the overview leads to the record of a domain that fails", async ({ signedIn: page }) => {
  const domain = await readyDomain("gone");
  await publish(recordOf(domain, "DKIM").name, "TXT");
  await api.domains.verify(domain.id);
  await api.emails.send({ from: `a@${domain.domain}`, to: ["ada@example.com"], subject: "One", text: "Hello" });
  await page.goto(at());
  const goOn = page.getByRole("button", { name: "Go on" });
  const line = page.getByRole("listitem").filter({ hasText: `The DKIM record of ${domain.domain} has been missing` });
  await expect(goOn.or(line).first()).toBeVisible();
  if (await goOn.isVisible()) await goOn.click();
  await line.getByRole("link", { name: "Show record" }).click();
  await expect(page).toHaveURL(at(`/domains/${domain.id}`));
  await expect(page.locator(".pill", { hasText: "Record gone" })).toBeVisible();
  await expect(page.getByRole("row").nth(1)).toContainText("Not found yet");
});

test("list, records and settings hold", async ({ signedIn: page }) => {
  const domain = await readyDomain("shape");
  await publish(domain.domain, "TXT", "v=spf1 include:_spf.google.com -all");
  await api.domains.verify(domain.id);
  for (const [path, heading] of [
    ["/domains", "Domains"],
    [`/domains/${domain.id}`, "DNS records"],
    [`/domains/${domain.id}?tab=settings`, "Signing keys"],
  ] as const) {
    await page.goto(at(path));
    await expect(page.getByRole("heading", { name: heading }).first()).toBeAttached();
    await expect(page.getByRole("rowheader").first()).toBeVisible();
    await expectHolds(page, `domains ${heading}`);
  }
});
