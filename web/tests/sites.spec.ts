import type { DeliverySite } from "@postern/sdk";
import { at, expect, expectHolds, test } from "./fixtures";

const LIMITS = { connections: 10, messagesPerConnection: 100, messagesPerMinute: 600 };

/** A site as the API lists it. */
function site(name: string, more: Partial<DeliverySite> = {}): DeliverySite {
  return {
    name,
    transport: "direct",
    provider: name,
    hosts: [`mx.${name}.example`],
    state: "OPEN",
    suspension: null,
    limits: LIMITS,
    defaultLimits: LIMITS,
    throttledUntil: null,
    lastReply: null,
    lastReplyAt: null,
    waiting: 0,
    oldestWaitingAt: null,
    delivered: 1_200,
    deferred: 3,
    bounced: 1,
    bounce: null,
    createdAt: "2026-11-01T00:00:00Z",
    updatedAt: "2026-11-01T00:00:00Z",
    ...more,
  };
}

test("a project whose mail goes nowhere says what will be here", async ({ signedIn: page }) => {
  await page.goto(at("/emails/sites"));
  await expect(page.getByRole("heading", { name: "No mail has left this server yet" })).toBeVisible();
});

test.describe("with a server that refuses", () => {
  test.use({ tolerated: /status of (409|500)/ });

  test("sites are filtered, suspended with a reason, resumed, and their mail given up", async ({ signedIn: page }) => {
    let big = site("bigmail", {
      state: "SLOWED",
      limits: { ...LIMITS, messagesPerMinute: 60 },
      waiting: 412,
      oldestWaitingAt: new Date(Date.now() - 3_600_000).toISOString(),
      throttledUntil: new Date(Date.now() + 600_000).toISOString(),
      lastReply: "421 4.7.0 <img src=x onerror=window.hacked=1> too many messages",
      lastReplyAt: new Date().toISOString(),
    });
    const sent: [string, unknown][] = [];
    let isBroken = true;
    await page.route(/\/delivery\/sites/, async (route) => {
      const request = route.request();
      const url = new URL(request.url());
      if (request.method() === "POST") {
        sent.push([url.pathname.split("/").slice(-2).join("/"), request.postDataJSON()]);
        if (url.pathname.endsWith("/suspend"))
          big = {
            ...big,
            state: "SUSPENDED",
            suspension: { by: "PROJECT", reason: "They block us", since: big.createdAt, until: null },
          };
        if (url.pathname.endsWith("/resume")) big = { ...big, state: "OPEN", suspension: null };
        if (url.pathname.endsWith("/bounce") && isBroken) {
          isBroken = false;
          return route.fulfill({ status: 409, json: { status: 409, code: "site_busy", detail: "Try later." } });
        }
        return route.fulfill({ json: big });
      }
      const rows = [big, site("email.eu-central-1.amazonaws.com:443", { transport: "ses" })];
      const state = url.searchParams.get("state");
      await route.fulfill({ json: rows.filter((each) => !state || each.state === state) });
    });
    await page.goto(at("/emails/sites"));
    const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "bigmail" }) });
    await expect(row).toContainText("Slowed down");
    await expect(row).toContainText("Normally 10 connections, 100 messages per connection, 600 per minute");
    await expect(row).toContainText("412");
    await expect(page.getByRole("rowheader").last()).toContainText("through Amazon SES");
    await expect(row).toContainText("421 4.7.0 <img src=x");
    await expectHolds(page, "sites");
    await page.setViewportSize({ width: 1440, height: 900 });

    await row.getByRole("button", { name: "Suspend bigmail" }).click();
    const dialog = page.getByRole("dialog", { name: "Suspend bigmail" });
    await expect(dialog.getByRole("button", { name: "Suspend" })).toBeDisabled();
    await dialog.getByLabel("Reason").fill("They block us");
    await dialog.getByRole("button", { name: "Suspend" }).click();
    await expect(row).toContainText("They block us");
    expect(sent).toEqual([["bigmail/suspend", { reason: "They block us", until: null }]]);
    await page.getByLabel("State").selectOption("Suspended");
    await expect(page).toHaveURL(/siteState=SUSPENDED/);
    await expect(page.getByRole("rowheader")).toHaveCount(1);
    await page.getByLabel("State").selectOption("Any state");
    await row.getByRole("button", { name: "Resume bigmail" }).click();
    await expect(row).toContainText("Open");

    await row.getByRole("button", { name: "Give up the mail for bigmail" }).click();
    const confirm = page.getByRole("dialog", { name: "Give up the mail for bigmail?" });
    await confirm.getByLabel("Reason").fill("The domain is gone");
    await confirm.getByRole("textbox").first().fill("bigmail");
    await confirm.getByLabel("Reason").fill("The domain is gone");
    await confirm.locator("input").last().fill("bigmail");
    await confirm.getByRole("button", { name: "Give up" }).click();
    await expect(confirm.getByRole("alert")).toBeVisible();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await page.keyboard.press("Escape");

    await page.route(/\/delivery\/sites/, (route) => route.fulfill({ status: 500, json: { detail: "Broken" } }));
    await page.reload();
    await expect(page.getByRole("alert")).toContainText("could not be loaded", { timeout: 30_000 });
  });
});

test("a viewer sees sites without actions", async ({ signedIn: page }) => {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
  await page.route(/\/delivery\/sites/, (route) => route.fulfill({ json: [site("bigmail", { waiting: 2 })] }));
  await page.goto(at("/emails/sites"));
  await expect(page.getByRole("rowheader", { name: "bigmail" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Suspend|Give up/ })).toHaveCount(0);
});
