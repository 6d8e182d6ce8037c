import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
import { at, expect, expectAccessible, expectHolds, expectSettled, SERVER, signIn, test } from "./fixtures";

/** The API as the owner of the account. */
const owner = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });
/** Text that would run if any page took it for HTML. */
const ATTACK = "<img src=x onerror=window.hacked=1>";
const PASSWORD = "a password of 31 characters, yes";

const part = (name = "") => at(name ? `/settings/${name}` : "/settings");

let made = 0;
/** A name that only this run has. */
const unique = (name: string) => `${name}-${Date.now().toString(36)}${made++}`;

async function newProject(name: string): Promise<{ id: string; path: string }> {
  const { id } = await owner.projects.create({ name });
  return { id, path: `/dashboard/projects/${id}/settings` };
}

interface Member {
  id: string;
  email: string;
  /** The API as this member. */
  client: Postern;
}

type Role = "DEVELOPER" | "VIEWER";
interface Invited {
  email: string;
  role: Role;
  token: string;
}

let invited: Promise<Invited[]> | undefined;

/** Invite several people at once: reading the mail of an invitation, as the operator does, takes seconds. */
async function invite(roles: Role[]): Promise<Invited[]> {
  const people = roles.map((role) => ({ role, email: `${unique("member")}@northwind-coffee.example` }));
  for (const person of people) await owner.account.invitations.create(person);
  let found: Invited[] = [];
  await expect(async () => {
    const command = ["-m", "postern", "developers", "mail", "--last", "100"];
    const { stdout } = await promisify(execFile)(process.env.POSTERN_PYTHON ?? "python", command, { cwd: ".." });
    const messages = stdout.split(/^To: /m);
    found = people.map((person) => {
      const message = messages.find((each) => each.startsWith(person.email));
      return { ...person, token: /\/join\?token=([\w-]+)/.exec(message ?? "")?.[1] ?? "" };
    });
    expect(found.filter((each) => !each.token)).toEqual([]);
  }).toPass();
  return found;
}

/** A new member of the account, who has accepted an invitation. */
async function join(role: Role, name: string): Promise<Member> {
  invited ??= invite(["DEVELOPER", "DEVELOPER", "DEVELOPER", "DEVELOPER", "VIEWER", "VIEWER", "VIEWER"]);
  const people = await invited;
  const [person] = people.splice(
    people.findIndex((each) => each.role === role),
    1,
  );
  if (person?.role !== role) throw new Error(`Invite more: ${role}`);
  const { email, token } = person;
  const signedUp = await new Postern({ url: SERVER.baseUrl }).developers.signUp({
    email,
    name,
    password: PASSWORD,
    invitationToken: token,
  });
  const client = new Postern({ url: SERVER.baseUrl, key: signedUp.accessToken });
  return { id: (await client.account.get()).id, email, client };
}

/** The code that an authenticator app shows for a key (RFC 6238). */
function codeOf(key: string, now = Date.now()): string {
  const bits = [...key].map((each) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(each).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const hash = createHmac("sha1", Buffer.from(bytes.map((each) => Number.parseInt(each, 2))))
    .update(counter)
    .digest();
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

const rowsOf = (page: Page) => page.getByRole("rowheader");

test.describe("with settings that are refused", () => {
  test.use({ tolerated: /status of (400|422)/ });

  test("changes are saved together, and what is wrong stands at its field", async ({ signedIn: page }) => {
    const { id, path } = await newProject("Harbour");
    await page.goto(path);
    await page.getByLabel("Name", { exact: true }).fill("Harbour & Finch");
    await page.getByLabel("Count opens").uncheck();
    await page.getByLabel("Content of messages").fill("0");
    const bar = page.getByRole("region", { name: "Unsaved changes" });
    await expect(bar.getByText("3 unsaved changes")).toBeVisible();
    await bar.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("Enter a whole number from 1 to 3,650, or nothing.")).toBeVisible();
    await page.getByLabel("Content of messages").fill("60");

    await page.getByLabel("Domain of links").fill("not a host name");
    await bar.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByLabel("Domain of links")).toHaveAttribute("aria-invalid", "true");
    await expect(bar.getByRole("alert")).toHaveText("Something above cannot be saved as it is.");
    await expectAccessible(page);
    expect((await owner.projects.get({ project: id })).name).toBe("Harbour");
    await page.getByLabel("Domain of links").fill("");

    await page.getByLabel("Seed list").fill("seed@gmail.example\nseed@outlook.example");
    await page.getByLabel("Custom data").fill("{");
    await bar.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("This is not an object in JSON")).toBeVisible();
    await page.getByLabel("Custom data").fill('{"crm": {"id": 4711}}');
    await bar.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("The settings are saved")).toBeVisible();
    await expect(bar).toHaveCount(0);
    const { name, settings } = await owner.projects.get({ project: id });
    expect(name).toBe("Harbour & Finch");
    expect(settings).toMatchObject({
      trackOpens: false,
      trackClicks: true,
      retentionDays: 60,
      seedList: ["seed@gmail.example", "seed@outlook.example"],
      extra: { crm: { id: 4711 } },
    });
    await expect(page.getByRole("button", { name: "Switch project, now Harbour & Finch" }).first()).toBeVisible();
  });

  test("TLS can be required, and the setting says what that means", async ({ signedIn: page }) => {
    const { id, path } = await newProject("Harbour");
    await page.goto(path);
    const toggle = page.getByLabel("Send only over TLS");
    await expect(toggle).not.toBeChecked();
    await expect(toggle).toHaveAccessibleDescription(/messages to all others bounce/);
    await toggle.check();
    await expectHolds(page, "settings TLS", page.getByRole("region", { name: "Unsaved changes" }));
    // This server has no archive.
    await page.getByLabel("Archive before deletion").check();
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "archive" }).first()).toBeVisible();
    await page.getByLabel("Archive before deletion").uncheck();
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("The settings are saved")).toBeVisible();
    expect((await owner.projects.get({ project: id })).settings.requireTls).toBe(true);
    await page.getByLabel("Amazon SES").check();
    await expect(toggle).toHaveAccessibleDescription(/Amazon SES does not support this/);
  });

  test("mail servers are added and changed, and their passwords are kept", async ({ signedIn: page }) => {
    const { id, path } = await newProject("Relays");
    await page.goto(path);
    await page.getByRole("button", { name: "Add a mail server" }).click();
    const dialog = page.getByRole("dialog");
    await expectAccessible(page);
    await dialog.getByLabel("Server").fill("127.0.0.1");
    await dialog.getByLabel("User name").fill("postern");
    await dialog.getByLabel("Password").fill("secret");
    await dialog.getByRole("button", { name: "Add a mail server" }).click();
    await expect(page.getByRole("button", { name: "Add a mail server" })).toBeFocused();
    const save = page.getByRole("button", { name: "Save changes" });
    await save.click();
    await expect(page.getByRole("alert").first()).toBeVisible();
    await page.getByRole("button", { name: "Change 127.0.0.1" }).click();
    await dialog.getByLabel("Server").fill("192.0.2.7");
    await expect(dialog.getByText("The stored one is only for the server")).toBeVisible();
    await dialog.getByLabel("Server").fill("smtp.relay.example");
    await dialog.getByLabel("Password").fill("secret");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await save.click();
    await expect(page.getByText("The settings are saved")).toBeVisible();
    await page.getByRole("button", { name: "Change smtp.relay.example" }).click();
    await expect(dialog.getByText("Leave empty to keep the stored one.")).toBeVisible();
    await dialog.getByLabel("Port").fill("2525");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await save.click();
    await expect(save).toHaveCount(0);
    const { settings } = await owner.projects.get({ project: id });
    expect(settings.relays).toMatchObject([{ host: "smtp.relay.example", port: 2525, username: "postern" }]);
    expect(settings.relays?.[0]?.password).toMatch(/^\*+$/);
  });

  test("an account of Amazon SES is added and kept, with transports to fall back to", async ({ signedIn: page }) => {
    const { id, path } = await newProject("SES");
    await page.goto(path);
    await page.getByRole("radio", { name: "Deliver through Amazon SES" }).check();
    const save = page.getByRole("button", { name: "Save changes" });
    await save.click();
    await expect(page.getByText("this server has none configured")).toBeVisible();
    await page.getByRole("button", { name: "Add an account" }).click();
    const dialog = page.getByRole("dialog", { name: "Add an account" });
    const add = dialog.getByRole("button", { name: "Add an account" });
    await dialog.getByLabel("Region").fill("Frankfurt");
    await dialog.getByLabel("Access key ID").fill("AKIAIOSFODNN7EXAMPLE");
    await expect(add).toBeDisabled();
    await dialog.getByLabel("Secret access key").fill("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
    await dialog.getByLabel("SNS topics").fill("arn:aws:sns:eu-central-1:123456789012:acme");
    await expectAccessible(page);
    await add.click();
    await save.click();
    await expect(page.locator(".wrong").filter({ hasText: "region" })).toBeVisible();
    await page.getByRole("button", { name: "Change the account" }).click();
    const change = page.getByRole("dialog", { name: "Change the account" });
    await change.getByLabel("Region").fill("eu-central-1");
    await change.getByRole("button", { name: "Apply" }).click();
    // What is changed in a dialog is not saved before the rest is.
    await expect(page.getByRole("main").locator(".wrong")).toHaveCount(0);
    await expect(page.getByText(`/projects/${id}/ses/notifications`)).toBeVisible();
    if (process.env.POSTERN_SHOTS) await expectHolds(page, "ses");
    await page.getByLabel("If it cannot be reached").selectOption("Deliver");
    await page.getByLabel("And after that").selectOption("No further");
    await page.getByRole("button", { name: "Add a mail server" }).click();
    await page.getByRole("dialog").getByLabel("Server").fill("smtp.relay.example");
    await page.getByRole("dialog").getByRole("button", { name: "Add a mail server" }).click();
    await save.click();
    await expect(save).toHaveCount(0);
    let { settings } = await owner.projects.get({ project: id });
    expect(settings).toMatchObject({ transport: "ses", fallbackTransports: ["relay"] });

    await page.getByRole("button", { name: "Change the account" }).click();
    await expect(change.getByText("Leave empty to keep the stored one.")).toBeVisible();
    await change.getByLabel("Access key ID").fill("AKIAIOSFODNN7EXAMPL2");
    await expect(change.getByText("The stored one is only for the access key")).toBeVisible();
    await expect(change.getByRole("button", { name: "Apply" })).toBeDisabled();
    await change.getByLabel("Access key ID").fill("AKIAIOSFODNN7EXAMPLE");
    await change.getByLabel("Configuration set").fill("postern");
    await change.getByRole("button", { name: "Apply" }).click();
    // A transport that is chosen is not its own fall-back.
    await page.getByRole("radio", { name: /^Deliver Through/ }).check();
    await expect(page.getByLabel("If it cannot be reached")).toHaveValue("");
    await save.click();
    await expect(save).toHaveCount(0);
    ({ settings } = await owner.projects.get({ project: id }));
    expect(settings).toMatchObject({ transport: "relay", fallbackTransports: null });
    expect(settings.ses).toMatchObject({ configurationSet: "postern", secretAccessKey: "********" });
  });
});

test.describe("while another person saves", () => {
  test.use({ tolerated: /status of 412/ });

  test("both versions are shown with who saved the other, and can be joined", async ({ signedIn: page }) => {
    const { id, path } = await newProject("Before");
    await page.goto(path);
    await page.getByLabel("Name", { exact: true }).fill("Mine");
    await owner.projects.update({ name: "Theirs", settings: { retentionDays: 7 } }, { project: id });
    await page.getByRole("button", { name: "Save changes" }).click();
    const dialog = page.getByRole("dialog", { name: /changed this meanwhile/ });
    await expect(dialog.getByText(SERVER.developerEmail)).toBeVisible();
    await expect(dialog.getByRole("row", { name: "Name" })).toHaveText("NameTheirsMine");
    await expect(dialog.getByRole("row", { name: "Content of messages" })).toContainText("7Not changed by you");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Keep mine" }).click();
    await expect(page.getByText("The settings are saved")).toBeVisible();
    const { name, settings } = await owner.projects.get({ project: id });
    expect([name, settings.retentionDays]).toEqual(["Mine", 7]);

    await page.getByLabel("Name", { exact: true }).fill("Mine again");
    await owner.projects.update({ name: "Theirs again" }, { project: id });
    await page.getByRole("button", { name: "Save changes" }).click();
    await dialog.getByRole("button", { name: "Take theirs" }).click();
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Theirs again");
    expect((await owner.projects.get({ project: id })).name).toBe("Theirs again");
  });
});

test("typed settings are not lost by leaving the page", async ({ signedIn: page }) => {
  await page.goto(part());
  await page.getByLabel("Name", { exact: true }).fill("Another name");
  await page.getByRole("link", { name: "Team" }).click();
  const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Stay here" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Another name");
  await page.getByRole("link", { name: "Team" }).click();
  await dialog.getByRole("button", { name: "Discard and leave" }).click();
  await expect(page).toHaveURL(new RegExp(`${part("team")}$`));
  expect((await owner.projects.get({ project: SERVER.projectId })).name).not.toBe("Another name");
});

test("a project is deleted once, after its name was typed", async ({ signedIn: page }) => {
  const name = unique(ATTACK);
  const { id, path } = await newProject(name);
  let deletions = 0;
  await page.route(`**/dashboard/api/projects/${id}`, async (route) => {
    if (route.request().method() === "DELETE") {
      deletions++;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    await route.continue();
  });
  await page.goto(path);
  await page.getByRole("button", { name: "Delete…" }).click();
  const dialog = page.getByRole("dialog", { name: `Delete ${name}?` });
  await expect(dialog.getByText("the log of 0 emails, 0 contacts")).toBeVisible();
  const deed = dialog.getByRole("button", { name: "Delete the project" });
  await dialog.getByRole("textbox").fill("Something else");
  await deed.click();
  await expect(dialog.getByText(`This is not ${name}.`)).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole("textbox").fill(name);
  await page.keyboard.press("Enter");
  await expect(deed).toBeDisabled();
  await page.keyboard.press("Enter");
  await expect(page.getByText(`${name} is deleted`)).toBeVisible();
  await expect(page).not.toHaveURL(new RegExp(id));
  expect(deletions).toBe(1);
  expect((await owner.projects.list()).data.map((each) => each.id)).not.toContain(id);
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test.describe("with invitations that are refused", () => {
  test.use({ tolerated: /status of (400|409)/ });

  test("someone is invited by keys alone, again, and not after all", async ({ signedIn: page }) => {
    const email = `${unique("guest")}@agency.example`;
    await page.goto(at());
    await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeAttached();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await expect(page.getByRole("heading", { name: "General", level: 2 })).toBeVisible();
    await page.getByRole("link", { name: "Team" }).focus();
    await page.keyboard.press("Enter");
    const invite = page.getByRole("button", { name: "Invite someone" }).first();
    await invite.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Invite someone" });
    await expect(dialog.getByLabel("Email address")).toBeFocused();
    await page.keyboard.type("nobody");
    await page.keyboard.press("Enter");
    await expect(dialog.getByLabel("Email address")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await dialog.getByLabel("Email address").fill(SERVER.developerEmail);
    await page.keyboard.press("Enter");
    await expect(dialog.getByRole("alert")).toBeVisible();
    await dialog.getByLabel("Email address").fill(email);
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await expect(dialog.getByLabel("Viewer")).toBeChecked();
    await page.keyboard.press("Enter");
    await expect(dialog).toHaveCount(0);
    await expect(invite).toBeFocused();
    const found = async () => (await owner.account.invitations.list()).data.filter((each) => each.email === email);
    expect((await found()).map(({ role }) => role)).toEqual(["VIEWER"]);
    const before = (await found())[0]?.id;

    await page.getByRole("button", { name: `Send again to ${email}` }).click();
    await expect(page.getByText(`${email} gets a new link`)).toBeVisible();
    expect((await found())[0]?.id).not.toBe(before);
    const withdraw = page.getByRole("button", { name: `Withdraw the invitation of ${email}` });
    await withdraw.click();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(withdraw).toBeVisible();
    expect(await found()).toHaveLength(1);
    await withdraw.click();
    await expect(withdraw).toHaveCount(0);
    await expect.poll(found, { timeout: 20_000 }).toHaveLength(0);
  });
});

test.describe("with a password that is wrong", () => {
  test.use({ tolerated: /status of (400|401|403|409|422)/ });

  test("a member gets another role, owns the account for a while, and is removed", async ({ signedIn: page }) => {
    const { email, client, id } = await join("VIEWER", ATTACK);
    await page.goto(part("team"));
    const row = page.getByRole("row", { name: email });
    await expect(row).toContainText(ATTACK);
    await row.getByRole("button", { name: "Change role" }).click();
    const roles = page.getByRole("dialog", { name: `Change role of ${ATTACK}` });
    await expect(roles.getByLabel("Viewer")).toBeChecked();
    await roles.getByLabel("Admin").check();
    await expectAccessible(page);
    await roles.getByRole("button", { name: "Change role" }).click();
    await expect(row.getByRole("cell", { name: "Admin" })).toBeVisible();
    expect((await client.account.get()).role).toBe("ADMIN");

    await page.getByRole("button", { name: "Transfer…" }).click();
    const transfer = page.getByRole("dialog", { name: "Transfer the account" });
    await transfer.getByLabel("New owner").selectOption(id);
    await transfer.getByLabel("Your password").fill("not the password");
    await transfer.getByRole("button", { name: "Make owner" }).click();
    await expect(transfer.getByLabel("Your password")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await transfer.getByLabel("Your password").fill(SERVER.developerPassword);
    await transfer.getByRole("button", { name: "Make owner" }).click();
    await expect(row.getByRole("cell", { name: "Owner" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Transfer…" })).toHaveCount(0);
    const { id: me } = await owner.account.get();
    await client.account.members.transferOwnership(me, { password: PASSWORD });

    await page.reload();
    await row.getByRole("button", { name: `Remove ${email}` }).click();
    const remove = page.getByRole("dialog", { name: `Remove ${ATTACK}?` });
    await remove.getByRole("textbox").fill(email);
    await remove.getByRole("button", { name: "Remove the member" }).click();
    await expect(row).toHaveCount(0);
    await expect(client.account.get()).rejects.toMatchObject({ status: 401 });
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  });

  test("a profile gets another name, address and password", async ({ page }) => {
    const { email, client } = await join("DEVELOPER", "Ada");
    await signIn(page, email, PASSWORD);
    await page.goto(part("profile"));
    await page.getByRole("button", { name: "Change your name" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Ada Lovelace");
    await dialog.getByRole("button", { name: "Save the name" }).click();
    await expect(page.locator(".side .me")).toHaveText(/Ada Lovelace$/);
    expect((await client.account.get()).name).toBe("Ada Lovelace");

    await page.getByRole("button", { name: "Change the email address" }).click();
    await dialog.getByLabel("New email address").fill(`new-${email}`);
    await dialog.getByLabel("Your password").fill("not the password");
    await dialog.getByRole("button", { name: "Send the link" }).click();
    await expect(dialog.getByLabel("Your password")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await dialog.getByLabel("Your password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Send the link" }).click();
    await expect(page.getByText(`Becomes new-${email} when you follow the link`)).toBeVisible();
    expect((await client.account.get()).pendingEmail).toBe(`new-${email}`);

    await page.getByRole("button", { name: "Change the password" }).click();
    await dialog.getByLabel("Present password").fill(PASSWORD);
    await dialog.getByLabel("New password").fill("password");
    await dialog.getByRole("button", { name: "Change the password" }).click();
    await expect(dialog.getByLabel("New password")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("New password").fill(`${PASSWORD} indeed`);
    await dialog.getByRole("button", { name: "Change the password" }).click();
    await expect(dialog).toHaveCount(0);
    await expect(client.account.get()).rejects.toMatchObject({ status: 401 });
    await signIn(page, email, `${PASSWORD} indeed`);
  });

  test("an authenticator app and its recovery codes are set up, renewed and turned off", async ({ page }) => {
    const { email } = await join("DEVELOPER", "Grace");
    await signIn(page, email, PASSWORD);
    await page.goto(part("profile"));
    await page.getByRole("button", { name: "Set up an authenticator app" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Your password").fill("not the password");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await expect(dialog.getByLabel("Your password")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Your password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await expect(dialog.getByRole("img", { name: "QR code for your authenticator app" })).toBeVisible();
    await expectAccessible(page);
    const key = (await dialog.locator("code.secret").textContent())?.replaceAll(" ", "") ?? "";
    const right = codeOf(key);
    await dialog.getByLabel("Code from the app").fill(right === "000000" ? "000001" : "000000");
    await dialog.getByRole("button", { name: "Turn on" }).click();
    await expect(dialog.getByLabel("Code from the app")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Code from the app").fill(codeOf(key));
    await dialog.getByRole("button", { name: "Turn on" }).click();
    const codes = page.getByRole("dialog", { name: "Save your recovery codes" });
    await expect(codes.getByRole("listitem")).toHaveCount(10);
    await expectAccessible(page);
    const [first = "", second = ""] = await codes.getByRole("listitem").allTextContents();
    await page.keyboard.press("Escape");
    await expect(codes.getByRole("button", { name: "Done" })).toBeDisabled();
    const saved = page.waitForEvent("download");
    await codes.getByRole("button", { name: "Download" }).click();
    expect(await readFile(await (await saved).path(), "utf8")).toContain(first);
    await codes.getByLabel("I have saved them").check();
    await codes.getByRole("button", { name: "Done" }).click();
    await expect(page.getByText("10 of 10 left")).toBeVisible();

    await page.context().clearCookies();
    await page.goto("/dashboard/sign-in");
    await page.getByLabel("Email address").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByLabel("Code").fill(first);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page).toHaveURL(/\/dashboard\/projects\//);
    await page.goto(part("profile"));
    await expect(page.getByText("9 of 10 left")).toBeVisible();
    await expect(page.getByText("signed in with password + recovery code")).toBeVisible();
    await page.getByRole("button", { name: "New codes" }).click();
    await dialog.getByLabel("Your password").fill(PASSWORD);
    await dialog.getByLabel("Code").fill("000000");
    await dialog.getByRole("button", { name: "Replace the codes" }).click();
    await expect(dialog.getByLabel("Code")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Code").fill(second);
    await dialog.getByRole("button", { name: "Replace the codes" }).click();
    await expect(codes.getByRole("listitem")).toHaveCount(10);
    const [renewed = ""] = await codes.getByRole("listitem").allTextContents();
    await codes.getByLabel("I have saved them").check();
    await codes.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Turn off the second factor" }).click();
    await dialog.getByLabel("Your password").fill(PASSWORD);
    await dialog.getByLabel("Code").fill(renewed);
    await dialog.getByRole("button", { name: "Turn off" }).click();
    await expect(page.getByRole("button", { name: "Set up an authenticator app" })).toBeVisible();
    await expect(page.getByText("of 10 left")).toHaveCount(0);
    await signIn(page, email, PASSWORD);
  });
});

test("a passkey is added, signs in, and is removed unless that is undone", async ({ page }) => {
  const { email, client } = await join("DEVELOPER", "Radia");
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  await signIn(page, email, PASSWORD);
  await page.goto(part("profile"));
  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a passkey" });
  await expect(dialog.getByLabel("Name of the passkey")).toHaveValue("Chrome on Linux");
  await expectAccessible(page);
  await dialog.getByLabel("Name of the passkey").fill(ATTACK);
  await dialog.getByLabel("Your password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Create the passkey" }).click();
  const remove = page.getByRole("button", { name: `Remove the passkey “${ATTACK}”` });
  await expect(remove).toBeVisible();
  expect((await client.developers.passkeys.list()).map(({ name }) => name)).toEqual([ATTACK]);

  await page.getByRole("button", { name: "Add a passkey" }).click();
  await dialog.getByLabel("Your password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Create the passkey" }).click();
  await expect(dialog.getByText("This device already has a passkey of yours.")).toBeVisible();

  await page.context().clearCookies();
  await page.goto("/dashboard/sign-in");
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await expect(page).toHaveURL(/\/dashboard\/projects\//);
  await page.goto(part("profile"));
  await expect(page.getByText("signed in with passkey")).toBeVisible();
  await remove.click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(remove).toBeVisible();
  await remove.click();
  await expect(remove).toHaveCount(0);
  await expect.poll(async () => client.developers.passkeys.list(), { timeout: 20_000 }).toHaveLength(0);
});

test("other sessions are ended, one or all", async ({ page }) => {
  const { email, client } = await join("DEVELOPER", "Katherine");
  const signInElsewhere = async (name: string) => {
    const response = await fetch(`${SERVER.baseUrl}/auth/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": name },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    expect(response.status).toBe(200);
  };
  await signInElsewhere(
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
  );
  await signInElsewhere(`${ATTACK}/1.0`);
  await signIn(page, email, PASSWORD);
  await page.goto(part("profile"));
  await expect(page.getByText("This browser", { exact: true }).first()).toBeVisible();
  await expect(page.getByText("Unknown program").first()).toBeVisible();
  await page.getByRole("button", { name: "End the session in Safari on iPhone" }).click();
  await expect(page.getByText("The session in Safari on iPhone has ended")).toBeVisible();
  await expect(page.getByRole("button", { name: /^End the session in/ })).toHaveCount(2);
  expect(await client.developers.sessions.list()).toHaveLength(3);
  await page.getByRole("button", { name: "End all others" }).click();
  const dialog = page.getByRole("dialog", { name: "End all other sessions?" });
  await expect(dialog.getByText("2 other browsers and programs")).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "End all others" }).click();
  await expect(page.getByRole("button", { name: /^End the session in/ })).toHaveCount(0);
  await expect(client.account.get()).rejects.toMatchObject({ status: 401 });
});

test("the audit log is filtered in the URL, read by keys, and exported", async ({ signedIn: page }) => {
  const { id } = await newProject("Audited");
  await owner.projects.update({ settings: { retentionDays: 9 } }, { project: id });
  await owner.apiKeys.create({ name: ATTACK }, { project: id });
  const log = `/dashboard/projects/${id}/settings/audit-log`;
  await page.goto(log);
  await expect(page.getByText("2 changes", { exact: true })).toBeVisible();
  await expect(rowsOf(page)).toHaveText(["API key created", "Project changed"]);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Project changed" });
  await expect(panel).toBeFocused();
  await expect(panel.getByText("Content of messages")).toBeVisible();
  await expect(panel.getByText(SERVER.developerEmail).first()).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("k");
  await expect(page.getByRole("heading", { name: "API key created" })).toBeVisible();
  await expect(page.getByRole("region", { name: "What changed" })).toContainText(ATTACK);
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(new RegExp(`${log}$`));
  await expect(page.getByRole("row", { name: "API key created" }).getByRole("link")).toBeFocused();

  await page.getByLabel("Who", { exact: true }).selectOption({ label: SERVER.developerEmail });
  await page.getByLabel("What", { exact: true }).selectOption("domain");
  await expect(page).toHaveURL(/who=.*what=domain/);
  await expect(page.getByText("No change matches")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Without “What”" }).click();
  await expect(rowsOf(page)).toHaveCount(2);
  await page.getByLabel("When", { exact: true }).selectOption("7");
  await page.reload();
  await expect(page.getByLabel("When", { exact: true })).toHaveValue("7");
  await expect(rowsOf(page)).toHaveCount(2);
  await page.getByLabel("When", { exact: true }).selectOption("days");
  await page.getByLabel("to", { exact: true }).fill("2020-01-02");
  await page.getByLabel("From", { exact: true }).fill("2020-01-01");
  await expect(page.getByText("No change matches")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(new RegExp(`${log}$`));

  await page.getByLabel("Where", { exact: true }).selectOption("account");
  await expect(page).toHaveURL(/where=account/);
  await expect(page.getByRole("row", { name: "Project created" }).first()).toBeVisible();
  await page.getByLabel("Where", { exact: true }).selectOption("");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const lines = (await readFile(await (await saved).path(), "utf8")).trim().split("\r\n");
  expect(lines).toHaveLength(3);
  expect(lines[2]).toContain("project.updated");
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test("an audit log with nothing in it leads to that of the account", async ({ signedIn: page }) => {
  // Only of the project, so that a list that is read again before the click stays empty.
  await page.route(/\/account\/audit-log\?.*projectId=/, (route) =>
    route.fulfill({ json: { data: [], total: 0, nextCursor: null } }),
  );
  await page.goto(part("audit-log"));
  await expect(page.getByText("Nothing was changed yet")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show the whole account" }).click();
  await expect(rowsOf(page).first()).toBeVisible();
});

test.describe("with data that cannot be read", () => {
  test.use({ tolerated: /status of (403|503)/ });

  test("every part says so, and reads it again", async ({ signedIn: page }) => {
    const parts: [string, RegExp, string][] = [
      ["", new RegExp(`/dashboard/api/projects/${SERVER.projectId}$`), "Name"],
      ["team", /\/account\/members/, "\\d+ members?"],
      ["plan", /\/account\/auth-billing/, "Your plan"],
      ["audit-log", /\/account\/audit-log/, "API key created"],
      ["data", /\/contacts\/imports/, "Nothing was imported yet"],
      ["profile", /\/auth\/sessions/, "active now"],
      ["instance", /\/readyz/, "Everything works|is stuck"],
    ];
    for (const [name, url, sign] of parts) {
      await page.route(url, (route) =>
        // What the server refuses is not asked again, so that the page says so at once.
        route.fulfill({ status: 403, json: { code: "permission_missing", detail: "Not allowed.", errors: [] } }),
      );
      await page.goto(part(name));
      const again = page.locator("main").getByRole("button", { name: "Try again" }).first();
      await expect(again, name).toBeVisible({ timeout: 30_000 });
      await expectAccessible(page);
      await page.unroute(url);
      await again.click();
      await expect(page.locator("main").getByText(new RegExp(sign)).first(), name).toBeVisible();
    }
  });

  test("all data is exported, or the reason stands below the button", async ({ signedIn: page }) => {
    await page.goto(part("data"));
    await expect(page.getByText("Nothing was imported yet")).toBeVisible();
    await page.route("**/account/export", (route) =>
      route.fulfill({ status: 503, json: { detail: "The database is away." } }),
    );
    await page.getByRole("button", { name: "Export everything" }).click();
    await expect(page.getByRole("alert")).toHaveText("The database is away.");
    await expectAccessible(page);
    await page.unroute("**/account/export");
    const all = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export everything" }).click();
    const { account, projects } = JSON.parse(await readFile(await (await all).path(), "utf8"));
    expect(account.id).toBe((await owner.account.get()).account.id);
    expect(projects.length).toBeGreaterThan(0);
    await expect(page.getByText("The export is complete")).toBeVisible();
    const list = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download: Contacts" }).click();
    expect((await list).suggestedFilename()).toMatch(/contacts.*\.csv$/);
  });
});

test("the account is deleted only with its name and the password", async ({ signedIn: page }) => {
  await page.goto(part("data"));
  // The list of imports above the button changes its height when it is there, also between press and release.
  await expectSettled(page);
  await page.getByRole("button", { name: "Delete the account…" }).click();
  const dialog = page.getByRole("dialog");
  const deed = dialog.getByRole("button", { name: "Delete the account" });
  await expect(deed).toBeDisabled();
  await expectAccessible(page);
  let body: unknown;
  await page.route("**/dashboard/api/account", async (route) => {
    if (route.request().method() !== "DELETE") return route.continue();
    body = route.request().postDataJSON();
    await route.fulfill({ status: 204 });
  });
  const { account } = await owner.account.get();
  await dialog.getByLabel(`Type ${account.name} to confirm`).fill(account.name);
  await dialog.getByLabel("Your password").fill(SERVER.developerPassword);
  await deed.click();
  await expect.poll(() => body).toEqual({ password: SERVER.developerPassword });
});

test("the plan shows what is used, and leads to a page that asks to confirm", async ({ signedIn: page }) => {
  await page.goto(part("plan"));
  const { usage } = await owner.billing.get();
  await expect(page.getByText("Emails this month (UTC)")).toBeVisible();
  await expect(page.locator(".used", { hasText: "Customers" })).toContainText(String(usage.customers));
  await page.getByRole("button", { name: "Choose Pro" }).click();
  const dialog = page.getByRole("dialog", { name: "Choose Pro" });
  await expect(dialog.getByText("Nothing is charged.")).toBeVisible();
  await expectAccessible(page);
  await dialog.getByLabel("yearly").check();
  await dialog.getByRole("button", { name: "Continue to confirm" }).click();
  await expect(page).toHaveURL(/\/billing\/manual\//);
});

test("what is stuck is named with its consequence and what to do", async ({ signedIn: page }) => {
  await page.goto(part("instance"));
  await expect(page.getByText("Everything works, nothing is stuck")).toBeVisible();
  await expect(page.getByRole("link", { name: "Running · nothing stuck" })).toBeVisible();
  await page.route("**/readyz", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    const body = await response.json();
    body.parts.worker = { ok: false, detail: "no heartbeat since 10:41" };
    await route.fulfill({ json: body });
  });
  await page.route(/\/emails\/logs\?.*QUEUED/, (route) =>
    route.fulfill({ json: { data: [], total: 3, page: 1, pages: 3, nextCursor: null } }),
  );
  await page.goto(at());
  await page.getByRole("link", { name: "Running · 2 things are stuck" }).click();
  await expect(page.getByText("2 things are stuck", { exact: true })).toBeVisible();
  await expect(page.getByText("None has reported for 30 seconds")).toBeVisible();
  await expect(page.getByText("no heartbeat since 10:41")).toBeVisible();
  await expect(page.getByText("3 emails have waited for more than 5 minutes")).toBeVisible();
  await expectAccessible(page);
});

test("a viewer sees every part, and no action that the server refuses", async ({ page }) => {
  const { email } = await join("VIEWER", "Svea");
  await signIn(page, email, PASSWORD);
  await page.goto(part());
  await expect(page.getByText("Your role is Viewer")).toBeVisible();
  await expect(page.getByLabel("Name", { exact: true })).toBeDisabled();
  await expectAccessible(page);
  for (const [name, sign] of [
    ["team", "What each role may do"],
    ["plan", "Usage"],
    ["audit-log", "Every change by people and keys"],
    ["data", "How long data is kept"],
    ["instance", "Mail of this project"],
  ] as const) {
    await page.goto(part(name));
    await expect(page.getByText(sign).first()).toBeVisible();
    await expect(page.locator(".skel")).toHaveCount(0);
    await expect(
      page.getByRole("button", {
        name: /Delete|Add |Invite|Change|Remove|Transfer|Rename|Withdraw|Send|Choose|Export everything/,
      }),
    ).toHaveCount(0);
  }
  await page.goto(part("team"));
  await expect(page.getByRole("button", { name: "Leave…" })).toBeVisible();
  await page.goto(part("data"));
  const list = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download: Log of emails" }).click();
  expect((await list).suggestedFilename()).toBe("email-logs.csv");
});

test("a member leaves the account after typing their address", async ({ page }) => {
  const { email, client } = await join("VIEWER", "Joan");
  await signIn(page, email, PASSWORD);
  await page.goto(part("team"));
  await page.getByRole("button", { name: "Leave…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill(email);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Leave the account" }).click();
  await expect(page).toHaveURL(/\/dashboard\/sign-in/);
  await expect(client.account.get()).rejects.toMatchObject({ status: 401 });
});

const PARTS = ["", "team", "plan", "audit-log", "data", "profile", "instance"];

test("all parts hold", async ({ signedIn: page }) => {
  const [entry] = (await owner.account.auditLog.list({ projectId: SERVER.projectId, limit: 1 })).data;
  for (const each of [...PARTS, `audit-log/${entry?.id}`]) {
    await page.goto(part(each));
    await expect(page.getByRole("heading", { level: 2 }).first()).toBeAttached();
    await expectHolds(page, `settings ${each.replace(entry?.id ?? "", "one") || "general"}`);
  }
});
