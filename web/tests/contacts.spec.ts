import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { api, at, expect, expectAccessible, expectHolds, SERVER, signIn, test } from "./fixtures";

/** Text that would run if any page took it for HTML. */
const ATTACK = "<img src=x onerror=window.hacked=1>";

let made = 0;
/** A word that only this run has. */
function unique(name: string): string {
  made += 1;
  return `${name}-${Date.now().toString(36)}${made}`;
}

function address(name: string): string {
  return `${unique(name)}@roastery.example`;
}

async function importCsv(text: string): Promise<void> {
  const { id } = await api.contacts.imports.create(text);
  await expect.poll(async () => (await api.contacts.imports.get(id)).status).toBe("COMPLETED");
}

/** Choose a file in the page of the import. */
async function chooseFile(page: Page, text: string | Buffer, name = "contacts.csv"): Promise<void> {
  const buffer = typeof text === "string" ? Buffer.from(text) : text;
  await page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/csv", buffer });
}

test("before there is anything, the pages say what will be here", async ({ signedIn: page }) => {
  const project = await page.request.post("/dashboard/api/projects", {
    headers: { "x-postern-dashboard": "1", "sec-fetch-site": "same-origin" },
    data: { name: "Empty" },
  });
  const { id } = (await project.json()) as { id: string };
  await page.goto(`/dashboard/projects/${id}/contacts`);
  await expect(page.getByRole("heading", { name: "No contacts yet" })).toBeVisible();
  await expectAccessible(page);
  await page.goto(`/dashboard/projects/${id}/contacts/audiences`);
  await expect(page.getByRole("heading", { name: "No audiences yet" })).toBeVisible();
  await expectAccessible(page);
  await page.goto(`/dashboard/projects/${id}/contacts/imports`);
  await expect(page.getByRole("heading", { name: "No imports yet" })).toBeVisible();
  await expectAccessible(page);
});

test("filters stand in the URL, columns are kept, and an empty result names the filter", async ({ signedIn: page }) => {
  const word = unique("filter");
  await api.contacts.create({ email: `${word}a@roastery.example`, attributes: { city: "Berlin", seats: 1204 } });
  await api.contacts.create({ email: `${word}b@roastery.example`, unsubscribed: true });
  await page.goto(at("/contacts"));
  await page.getByRole("searchbox").fill(word);
  await expect(page).toHaveURL(new RegExp(`q=${word}`));
  await expect(page.getByText("2 contacts", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Unsubscribed", exact: true }).click();
  await expect(page).toHaveURL(/state=unsubscribed/);
  await expect(page.getByRole("rowheader")).toHaveText([`${word}b@roastery.example`]);
  await page.reload();
  await expect(page.getByRole("rowheader")).toHaveText([`${word}b@roastery.example`]);

  await page.getByRole("searchbox").fill(`${word}a`);
  await expect(page.getByRole("heading", { name: "No contact matches" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "In any state" }).click();
  await expect(page.getByRole("rowheader")).toHaveText([`${word}a@roastery.example`]);

  await page.getByRole("button", { name: "Columns" }).click();
  const columns = page.getByRole("dialog", { name: "Columns" });
  const chosen = columns.getByRole("checkbox", { checked: true });
  await expect(columns.getByRole("checkbox", { name: "seats" })).toBeChecked();
  for (let left = await chosen.count(); left > 0; left--) await chosen.first().uncheck();
  await columns.getByRole("checkbox", { name: "seats" }).check();
  await columns.getByRole("checkbox", { name: "Last clicked" }).check();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.reload();
  await expect(page.getByRole("columnheader")).toHaveText([
    "Choose",
    "Subscription",
    "Email address",
    "seats",
    "Last clicked",
    "Added",
  ]);
  await expect(page.getByRole("cell", { name: "1,204" })).toBeVisible();
});

test("the filtered list is saved as CSV, and spreadsheets run nothing of it", async ({ signedIn: page }) => {
  const word = unique("csv");
  await api.contacts.create({ email: `${word}@roastery.example`, attributes: { note: "=1+1" } });
  await page.goto(at(`/contacts?q=${word}`));
  await expect(page.getByRole("rowheader")).toHaveCount(1);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export" }).click(),
  ]);
  const text = await readFile(await file.path(), "utf8");
  expect(text.split("\r\n")).toHaveLength(3);
  expect(text).toContain(word);
  expect(text).toContain("'=1+1");
  await page.goto(at("/contacts"));
  const [all] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export" }).click(),
  ]);
  expect(await readFile(await all.path(), "utf8")).toContain("id,email,unsubscribed");
});

test.describe("adding a contact", () => {
  test.use({ tolerated: /status of (400|409|422)/ });

  test("attributes have types, and what is refused stands at its field", async ({ signedIn: page }) => {
    const email = address("new");
    await page.goto(at("/contacts"));
    await page.getByRole("button", { name: "Add a contact" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Add a contact" });
    await dialog.getByRole("button", { name: "Add a contact" }).click();
    await expect(dialog.getByRole("alert")).toHaveText("An email address is needed.");
    await dialog.getByLabel("Email address").fill("nobody");
    await dialog.getByRole("button", { name: "Add a contact" }).click();
    await expect(dialog.getByLabel("Email address")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Email address").fill(email);
    await dialog.getByRole("button", { name: "Add an attribute" }).click();
    await dialog.getByLabel("Name").fill("visits");
    await dialog.getByLabel("Type").selectOption("number");
    await dialog.getByLabel("visits", { exact: true }).fill("many");
    await dialog.getByRole("button", { name: "Add a contact" }).click();
    await expect(dialog.getByRole("alert")).toHaveText("Write a number such as 12 or 0.5.");
    await expectAccessible(page);
    await dialog.getByLabel("visits", { exact: true }).fill("12");

    // Slow: a second press sends nothing.
    let sent = 0;
    await page.route(/\/contacts$/, async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, 600));
      await route.continue();
    });
    await dialog.getByRole("button", { name: "Add a contact" }).click();
    await expect(dialog.getByRole("button", { name: "Add a contact" })).toBeDisabled();
    await dialog.getByLabel("Email address").press("Enter");
    await expect(page.getByRole("heading", { name: email })).toBeVisible();
    expect(sent).toBe(1);
    const [contact] = (await api.contacts.list({ q: email })).data;
    expect(contact?.attributes).toEqual({ visits: 12 });

    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Add a contact" }).first().click();
    await dialog.getByLabel("Email address").fill(email.toUpperCase());
    await dialog.getByRole("button", { name: "Add a contact" }).click();
    await expect(dialog.getByRole("alert")).toHaveText("There is already a contact with this address.");
    await dialog.getByRole("link", { name: "Open this contact" }).click();
    await expect(page.getByRole("heading", { name: email })).toBeVisible();
  });
});

test.describe("editing a contact", () => {
  test.use({ tolerated: /status of (409|412)/ });

  test("only what differs is sent, and a change by another person is shown", async ({ signedIn: page }) => {
    const taken = address("taken");
    await api.contacts.create({ email: taken });
    const { id } = await api.contacts.create({
      email: address("edit"),
      attributes: { city: "Berlin", seats: 4, vip: true, tags: ["a", "b"], renews: "2027-01-31", extra: { x: 1 } },
    });
    await page.goto(at(`/contacts/${id}`));
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const form = page.getByRole("form", { name: "Edit" });
    await form.getByLabel("city", { exact: true }).fill("Lisbon");
    await page.getByRole("link", { name: "Emails", exact: true }).last().click();
    await page
      .getByRole("dialog", { name: "Leave without saving?" })
      .getByRole("button", { name: "Keep editing" })
      .click();
    await form.getByLabel("vip", { exact: true }).selectOption("No");
    await form.getByLabel("tags", { exact: true }).fill("a\nc");
    await form.getByRole("button", { name: "Remove seats" }).click();
    await expect(form.getByText("“seats” will be removed.")).toBeVisible();
    await form.getByLabel("extra", { exact: true }).fill("{");
    await form.getByRole("button", { name: "Save" }).click();
    await expect(form.getByRole("alert")).toHaveText("This is not valid JSON.");
    await form.getByLabel("extra", { exact: true }).fill('{"x": 2}');
    await form.getByLabel("Email address").fill(taken);
    await form.getByRole("button", { name: "Save" }).click();
    await expect(form.getByRole("alert")).toHaveText("There is already a contact with this address.");
    await expectAccessible(page);
    const { email } = await api.contacts.get(id);
    await form.getByLabel("Email address").fill(email);

    await api.contacts.update(id, { attributes: { city: "Kyoto", plan: "pro" } });
    await form.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("dialog", { name: /changed this meanwhile/ });
    await expect(conflict.getByRole("row", { name: "city Kyoto Lisbon" })).toBeVisible();
    await expectAccessible(page);
    await conflict.getByRole("button", { name: "Keep mine" }).click();
    await expect(form).toHaveCount(0);
    expect((await api.contacts.get(id)).attributes).toEqual({
      city: "Lisbon",
      vip: false,
      tags: ["a", "c"],
      renews: "2027-01-31",
      extra: { x: 2 },
      plan: "pro",
    });
  });
});

test("a contact is unsubscribed, subscribed again, and its history says so", async ({ signedIn: page }) => {
  const { id, email } = await api.contacts.create({ email: address("state") });
  await page.goto(at(`/contacts/${id}?tab=subscription`));
  await page.getByRole("button", { name: "Unsubscribe", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("marketing mail no longer");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Unsubscribe" }).click();
  await expect(page.getByRole("list", { name: "History of the subscription" })).toContainText("Unsubscribed");
  await expect.poll(async () => (await api.contacts.get(id)).unsubscribed).toBe(true);
  await page.getByRole("button", { name: "Subscribe again" }).click();
  await dialog.getByRole("button", { name: "The person agreed: subscribe" }).click();
  await expect(page.getByText(`${email} is subscribed again`)).toBeVisible();
  expect((await api.contacts.get(id)).unsubscribed).toBe(false);
  await api.suppressions.add({ address: email, reason: "BOUNCE" });
  await page.reload();
  await expect(page.getByText("The address is on the suppression list")).toBeVisible();
  await expectAccessible(page);
});

test("the panel shows the emails of a contact, and leads to the log", async ({ signedIn: page }) => {
  const { id, email } = await api.contacts.create({ email: address("mail") });
  await page.goto(at(`/contacts/${id}?tab=emails`));
  await expect(page.getByRole("heading", { name: "No emails yet" })).toBeVisible();
  await api.emails.send({ from: "a@roastery.example", to: [email], subject: "Your beans", text: "Hi", engine: "none" });
  await page.reload();
  await expect(page.getByRole("link", { name: "Your beans" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "More actions" }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Save this person’s data (JSON)" }).click(),
  ]);
  const saved = JSON.parse(await readFile(await file.path(), "utf8"));
  expect(saved.contact.email).toBe(email);
  expect(saved.emails).toHaveLength(1);
  await page.getByRole("link", { name: "All emails to this address in the log" }).click();
  await expect(page).toHaveURL(/\/emails\?recipient=/);
});

test("deleting can be taken back for a while", async ({ signedIn: page }) => {
  const word = unique("delete");
  const { id } = await api.contacts.create({ email: `${word}@roastery.example` });
  const remove = async () => {
    await page.goto(at(`/contacts/${id}?q=${word}`));
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete the contact" }).click();
    await expect(page.getByRole("heading", { name: "No contact matches" })).toBeVisible();
  };
  await remove();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("rowheader")).toHaveCount(1);
  await api.contacts.get(id);
  await remove();
  await expect.poll(async () => (await api.contacts.list({ q: word })).data.length, { timeout: 15_000 }).toBe(0);
});

test("contacts join an audience by hand, and the list shows its members", async ({ signedIn: page }) => {
  const word = unique("join");
  const name = `${ATTACK} ${word}`;
  const audience = await api.audiences.create({ name });
  for (const each of ["a", "b", "c"]) await api.contacts.create({ email: `${word}${each}@roastery.example` });
  await page.goto(at(`/contacts?q=${word}`));
  await page.getByRole("checkbox", { name: `Choose ${word}a@` }).check();
  await page.getByRole("checkbox", { name: `Choose ${word}b@` }).check();
  await expect(page.getByText("2 chosen")).toBeVisible();
  await page.getByRole("button", { name: "Add to an audience" }).click();
  const dialog = page.getByRole("dialog", { name: "Add to an audience" });
  await dialog.getByRole("button", { name: "Add 2 contacts" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Choose an audience.");
  await dialog.getByLabel("Audience").selectOption(name);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Add 2 contacts" }).click();
  await expect(page.getByText(`2 contacts joined “${name}”`)).toBeVisible();
  await page.goto(at(`/contacts?audience=${audience.id}`));
  await expect(page.getByText("2 contacts", { exact: true })).toBeVisible();
  await page
    .getByRole("rowheader", { name: `${word}a@` })
    .getByRole("link")
    .click();
  await page.getByRole("button", { name: `Remove from ${name}` }).click();
  await expect(page.getByText("In no audience.")).toBeVisible();
  expect((await api.audiences.contacts.list(audience.id)).total).toBe(1);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: `Remove filter: audience ${name}` }).click();
  await expect(page).toHaveURL(new RegExp(`${at("/contacts")}$`));
});

test("nothing that someone wrote into an attribute is run", async ({ signedIn: page }) => {
  const word = unique("xss");
  const { id } = await api.contacts.create({
    email: `${word}@roastery.example`,
    attributes: {
      [ATTACK]: ATTACK,
      list: [ATTACK],
      object: { [ATTACK]: ATTACK },
      link: "javascript:alert(1)",
      html: `<script>window.hacked=1</script>`,
    },
  });
  await page.goto(at(`/contacts?q=${word}`));
  await page.evaluate(
    ([key, columns]) => localStorage.setItem(key as string, columns as string),
    [`postern.contacts.columns.${SERVER.projectId}`, JSON.stringify([`attributes.${ATTACK}`, "attributes.html"])],
  );
  await page.reload();
  await expect(page.getByRole("columnheader", { name: ATTACK })).toBeVisible();
  await expect(page.getByRole("cell", { name: ATTACK })).toBeVisible();
  await page.goto(at(`/contacts/${id}`));
  await expect(page.getByText("javascript:alert(1)")).toBeVisible();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await expect(page.getByLabel("link", { exact: true })).toHaveValue("javascript:alert(1)");
  await page.goto(at("/contacts/imports/new"));
  await chooseFile(page, `email,${ATTACK}\n${word}2@roastery.example,${ATTACK}\n${ATTACK},x\n`, `${ATTACK}.csv`);
  await expect(page.getByRole("cell", { name: ATTACK })).toBeVisible();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test.describe("with rules", () => {
  test.use({ tolerated: /status of (400|412|422)/ });

  test("the builder counts live, and marks what is wrong at its condition", async ({ signedIn: page }) => {
    const word = unique("rules");
    await api.contacts.create({ email: `${word}a@roastery.example`, attributes: { plan: "pro", seats: 9 } });
    await api.contacts.create({ email: `${word}b@roastery.example`, attributes: { plan: "free", seats: 2 } });
    await page.goto(at("/contacts/audiences"));
    await page.getByRole("link", { name: "New audience" }).first().click();
    await page.getByRole("button", { name: "Create the audience" }).click();
    await expect(page.getByRole("alert").filter({ hasText: "A name is needed." })).toBeVisible();
    await page.getByLabel("Name", { exact: true }).fill(word);
    await page.getByRole("button", { name: "Create the audience" }).click();
    const first = page.getByRole("group", { name: "Condition 1" });
    await expect(first.getByRole("alert")).toHaveText("A value is missing here.");
    await first.getByLabel("Comparison").selectOption("contains");
    await first.getByLabel("Value").fill(word);
    await expect(page.getByText("2 contacts", { exact: true })).toBeVisible();
    await expect(page.getByRole("link", { name: `${word}a@roastery.example` })).toBeVisible();

    await page.getByRole("button", { name: "Add a group" }).click();
    const inner = page.getByRole("group", { name: "Group of conditions" }).last();
    await inner.getByLabel("Field").selectOption({ label: "seats" });
    await inner.getByLabel("Comparison").selectOption("is at least");
    await inner.getByLabel("Value").fill("5");
    await inner.getByRole("button", { name: "Add a condition" }).click();
    const event = inner.getByRole("group", { name: "Condition 2" });
    await event.getByLabel("Field").selectOption({ label: "Event …" });
    await event.getByLabel("Name of the event").fill("Not A Name");
    await event.getByLabel("Comparison").selectOption("happened at least");
    await event.getByLabel("Value").fill("3");
    await event.getByLabel("Days in which it counts").fill("30");
    await expect(event.getByRole("alert")).toContainText("is not a valid name");
    await expectAccessible(page);
    await event.getByLabel("Name of the event").fill("order.placed");
    await expect(page.getByText("1 contact", { exact: true })).toBeVisible();

    await page.getByRole("button", { name: "Text", exact: true }).click();
    await expect(page.getByLabel("Rules as JSON")).toHaveValue(/"withinDays": 30/);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Builder", exact: true }).click();
    await page.getByRole("button", { name: "Create the audience" }).click();
    await expect(page.getByRole("heading", { name: word })).toBeVisible();
    const [audience] = (await api.audiences.list({ q: word })).data;
    expect(audience?.rules).toEqual({
      match: "all",
      conditions: [
        { field: "email", operator: "contains", value: word },
        {
          match: "any",
          conditions: [
            { field: "attributes.seats", operator: "gte", value: 5 },
            { field: "events.order.placed", operator: "gte", value: 3, withinDays: 30 },
          ],
        },
      ],
    });
    await page.getByRole("link", { name: "Rules", exact: true }).click();
    await expect(page.getByText("seats is at least 5", { exact: true })).toBeVisible();
    await expectAccessible(page);
  });

  test("rules that the builder cannot show are edited as text", async ({ signedIn: page }) => {
    const name = unique("text");
    const { id } = await api.audiences.create({
      name,
      rules: { match: "all", conditions: [{ field: "plan", operator: "in", value: ["pro", 1] }] },
    });
    await page.goto(at(`/contacts/audiences/${id}/rules`));
    await expect(page.getByText("These rules can only be edited as text")).toBeVisible();
    await page.getByRole("button", { name: "Builder", exact: true }).click();
    await expect(page.getByRole("alert")).toContainText("a value that none of its fields can hold");
    const text = page.getByLabel("Rules as JSON");
    await text.fill('{"conditions": [{"field": "plan", "operator": "like", "value": "x"}]}');
    await expect(page.getByRole("alert").first()).toContainText("/conditions/0/operator");
    await expectAccessible(page);
    await text.fill('{"conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}');
    await page.getByRole("button", { name: "Builder", exact: true }).click();
    await expect(page.getByLabel("Value")).toHaveValue("pro");

    await page.getByRole("link", { name: "Overview" }).first().click();
    const leaving = page.getByRole("dialog", { name: "Leave without saving?" });
    await expectAccessible(page);
    await leaving.getByRole("button", { name: "Keep editing" }).click();

    await api.audiences.setRules(id, { match: "any", conditions: [{ field: "email", operator: "eq", value: "x" }] });
    await page.getByRole("button", { name: "Save the rules" }).click();
    const conflict = page.getByRole("dialog", { name: /changed this meanwhile/ });
    await expect(conflict).toContainText("Email address is x");
    await expect(conflict).toContainText("plan is pro");
    await expectAccessible(page);
    await conflict.getByRole("button", { name: "Keep mine" }).click();
    await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
    expect((await api.audiences.get(id)).rules).toMatchObject({ conditions: [{ field: "plan", value: "pro" }] });
  });
});

test.describe("an audience", () => {
  test.use({ tolerated: /status of (400|409|422)/ });

  test("is created by hand, filled, renamed and deleted", async ({ signedIn: page }) => {
    const name = unique("hand");
    await page.goto(at("/contacts/audiences/new"));
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByRole("button", { name: "By hand" }).click();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create the audience" }).click();
    await expect(page.getByRole("heading", { name: "Nobody is in this audience" })).toBeVisible();
    await page.getByRole("button", { name: "Add people" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Email addresses").fill("nobody");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await expectAccessible(page);
    await dialog.getByLabel("Email addresses").fill(`${name}a@roastery.example, ${name}b@roastery.example`);
    await dialog.getByRole("button", { name: "Add 2 contacts" }).click();
    await expect(page.getByText("2 contacts", { exact: true })).toBeVisible();

    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await dialog.getByLabel("Name").fill(`${name} renamed`);
    await dialog.getByRole("button", { name: "Rename" }).click();
    await expect(page.getByRole("heading", { name: `${name} renamed` })).toBeVisible();

    const [audience] = (await api.audiences.list({ q: name })).data;
    const user = await api.audiences.create({
      name: unique("user"),
      rules: { conditions: [{ field: "audience", operator: "eq", value: audience?.id }] },
    });
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete the audience" }).click();
    await dialog.getByRole("button", { name: "Delete the audience" }).click();
    await expect(dialog.getByRole("alert")).toContainText(user.name);
    await expectAccessible(page);
    await api.audiences.delete(user.id);
    await dialog.getByRole("button", { name: "Delete the audience" }).click();
    await expect(page).toHaveURL(new RegExp(`${at("/contacts/audiences")}$`));
    expect((await api.audiences.list({ q: name })).data).toEqual([]);
  });
});

test.describe("an import", () => {
  test.use({ tolerated: /status of (400|422)/ });

  test("maps columns, shows what would be refused, and reports what it did", async ({ signedIn: page }) => {
    const word = unique("import");
    await page.goto(at("/contacts/imports"));
    await page.getByRole("link", { name: "Import CSV" }).first().click();
    await chooseFile(page, "");
    await expect(page.getByRole("alert")).toHaveText("This file is empty.");
    await expectAccessible(page);
    const lines = [
      "Kunde;Vorname;Abgemeldet;Zip",
      `${word}a@roastery.example;Jürgen;nein;01067`,
      "nobody;Wer;nein;10115",
      `${word}b@roastery.example;Ada;ja;20095`,
    ];
    await chooseFile(page, Buffer.from(lines.join("\r\n"), "latin1"));
    await expect(page.getByText("No column has the email addresses yet.")).toBeVisible();
    await expect(page.getByRole("button", { name: "Start the import" })).toBeDisabled();
    await expect(page.getByText("Semicolons", { exact: true })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "It is “Kunde”" }).click();
    await expect(page.getByText("1 of the first 3 would be refused")).toBeVisible();
    await expect(page.getByRole("cell", { name: "Jürgen" })).toBeVisible();
    await page.getByLabel("Attribute for “Vorname”").fill("firstName");
    await page.getByLabel("Attribute for “Vorname”").press("Enter");
    await expect(page.getByRole("columnheader", { name: "firstName" })).toBeVisible();
    await page.getByLabel("What “Zip” becomes").selectOption("Leave out");
    await expect(page.getByRole("columnheader", { name: "Zip" })).toHaveCount(0);
    await page.getByLabel("Leave them as they are, and only add new ones.").check();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Start the import" }).click();
    await expect(page.getByRole("heading", { name: "Import of" })).toBeVisible();
    await expect(page.getByText("Done").first()).toBeVisible();
    await expect(page.getByRole("region", { name: "Lines that were refused" })).toContainText("Line 3");
    await expectAccessible(page);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as CSV" }).click(),
    ]);
    expect(await readFile(await file.path(), "utf8")).toMatch(/^line,reason\r\n3,/);
    const [done] = (await api.contacts.imports.list({ limit: 1 })).data;
    expect(done).toMatchObject({ mode: "skip", created: 2, failed: 1 });
    const found = (await api.contacts.list({ q: word })).data;
    expect(found.map((each) => [each.attributes, each.unsubscribed])).toEqual([
      [{ firstName: "Ada" }, true],
      [{ firstName: "Jürgen" }, false],
    ]);
  });

  test("a file that is dropped is read, and an upload that fails says so", async ({ signedIn: page }) => {
    await page.goto(at("/contacts/imports/new"));
    const transfer = await page.evaluateHandle(() => {
      const given = new DataTransfer();
      given.items.add(new File(["email,plan\nx@roastery.example,pro\n"], "dropped.csv", { type: "text/csv" }));
      return given;
    });
    await page.dispatchEvent(".drop", "drop", { dataTransfer: transfer });
    await expect(page.getByText("The first row is fine")).toBeVisible();
    const start = page.getByRole("button", { name: "Start the import" });

    // While the server takes its time: leaving asks, and the upload can be stopped.
    const slow = /\/contacts\/import\?/;
    let sent = 0;
    await page.route(slow, () => {
      sent += 1;
      return new Promise<void>(() => {});
    });
    await start.click();
    await expect(start).toBeDisabled();
    await page.getByRole("link", { name: "Imports" }).click();
    const leaving = page.getByRole("dialog", { name: "Leave and stop the upload?" });
    await expectAccessible(page);
    await leaving.getByRole("button", { name: "Stay here" }).click();
    await page.getByRole("button", { name: "Stop the upload" }).click();
    await expect(start).toBeEnabled();
    await expect(page.getByRole("alert")).toHaveCount(0);
    expect(sent).toBe(1);
    await page.unroute(slow);

    await page.route(/\/contacts\/import\?/, (route) =>
      route.fulfill({
        status: 422,
        contentType: "application/problem+json",
        json: {
          type: "about:blank",
          title: "No",
          status: 422,
          code: "too_many_imports",
          detail: "Too many run.",
          errors: [],
        },
      }),
    );
    await start.click();
    await expect(page.getByRole("alert")).toHaveText("The import was not started: Too many run.");
    await expect(start).toBeEnabled();
  });
});

test("a long list is read in parts, and only rows near the window exist", async ({ signedIn: page }) => {
  const word = unique("long");
  const rows = Array.from({ length: 1_200 }, (_, row) => `${word}${row}@roastery.example,${row}`);
  await importCsv(["email,number", ...rows].join("\n"));
  await page.goto(at(`/contacts?q=${word}`));
  await expect(page.getByText("1,200 contacts", { exact: true })).toBeVisible();
  await expect(page.getByRole("table")).toHaveAttribute("aria-rowcount", "1201");
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 4_000);
      return page.evaluate(() => document.documentElement.scrollHeight);
    })
    .toBeGreaterThan(8_000);
  await expect.poll(() => page.locator("tbody tr[data-row]").count()).toBeLessThan(80);
});

test("by keyboard only: search, open, change, close", async ({ signedIn: page }) => {
  const word = unique("keys");
  const { id } = await api.contacts.create({ email: `${word}a@roastery.example`, attributes: { city: "Berlin" } });
  await api.contacts.create({ email: `${word}b@roastery.example` });
  await page.goto(at());
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await expect(page.getByRole("heading", { name: "Contacts", level: 1 })).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type(word);
  await expect(page.getByRole("rowheader")).toHaveCount(2);
  await page.getByRole("searchbox").blur();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: `${word}a@roastery.example` })).toBeFocused();
  const edit = page.getByRole("button", { name: "Edit", exact: true });
  for (let tabs = 0; tabs < 20 && !(await edit.evaluate((each) => each === document.activeElement)); tabs++)
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByLabel("city", { exact: true }).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Oslo");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Attributes" })).toContainText("Oslo");
  expect((await api.contacts.get(id)).attributes).toEqual({ city: "Oslo" });
  await page.keyboard.press("Escape");
  await expect(page.getByRole("row", { name: `${word}a@` }).getByRole("link")).toBeFocused();
});

test.describe("when the server fails", () => {
  test.use({ tolerated: /status of (404|422|500)/ });

  test("lists and panels say so, and can be tried again", async ({ signedIn: page }) => {
    await api.contacts.create({ email: address("fails") });
    const lists = /\/(contacts|audiences|contacts\/imports)\?/;
    await page.route(lists, (route) =>
      route.fulfill({
        status: 422,
        contentType: "application/problem+json",
        json: { type: "about:blank", title: "No", status: 422, code: "database_away", detail: "Away.", errors: [] },
      }),
    );
    for (const path of ["/contacts", "/contacts/audiences", "/contacts/imports"]) {
      await page.goto(at(path));
      await expect(page.getByRole("alert")).toContainText("The list could not be loaded");
      await expectAccessible(page);
    }
    await page.goto(at("/contacts"));
    await expect(page.getByRole("alert")).toBeVisible();
    await page.unroute(lists);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("rowheader").first()).toBeVisible();
    const none = "01990000-0000-7000-8000-000000000000";
    await page.goto(at(`/contacts/${none}`));
    await expect(page.getByRole("heading", { name: "There is no such contact" })).toBeVisible();
    await page.goto(at(`/contacts?audience=${none}`));
    await expect(page.getByRole("heading", { name: "There is no such audience" })).toBeVisible();
    await page.goto(at(`/contacts/audiences/${none}/rules`));
    await expect(page.getByRole("heading", { name: "There is no such audience" })).toBeVisible();
    await page.goto(at(`/contacts/imports/${none}`));
    await expect(page.getByRole("heading", { name: "There is no such import" })).toBeVisible();
  });
});

test("a viewer sees no actions", async ({ signedIn: page }) => {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
  const { id } = await api.contacts.create({ email: address("viewer"), attributes: { city: "Berlin" } });
  const audience = await api.audiences.create({ name: unique("viewer") });
  const actions = page.getByRole("main").getByRole("button", {
    name: /Add|Edit|Unsubscribe$|Subscribe again|Create|Save the rules|Start|Remove/,
  });
  const links = page.getByRole("main").getByRole("link", { name: /Import CSV|New audience|Edit the rules/ });
  for (const [path, heading] of [
    [`/contacts/${id}`, "viewer-"],
    [`/contacts/audiences/${audience.id}`, audience.name],
    ["/contacts/imports", "Contacts"],
    ["/contacts/imports/new", "Your role cannot change contacts"],
    ["/contacts/audiences/new", "Your role cannot change contacts"],
  ] as const) {
    await page.goto(at(path));
    await expect(page.getByRole("heading", { name: heading }).first()).toBeVisible();
    await expect(actions).toHaveCount(0);
    await expect(links).toHaveCount(0);
  }
  await page.goto(at("/contacts"));
  await expect(page.getByRole("rowheader").first()).toBeVisible();
  await expect(page.getByRole("checkbox")).toHaveCount(0);
});

test("lists, panels and forms hold", async ({ page }) => {
  await signIn(page);
  const { id } = await api.contacts.create({
    email: `an.address.that.is.rather.long.for.a.column.${unique("shape")}@a-long-domain.example`,
    attributes: { city: "Berlin", note: "A text that is rather long for a column, and even for a panel ".repeat(3) },
  });
  const audience = await api.audiences.create({
    name: unique("shape"),
    rules: {
      conditions: [
        { field: "plan", operator: "in", value: ["pro", "team"] },
        { match: "any", conditions: [{ field: "events.order.placed", operator: "gte", value: 3, withinDays: 30 }] },
      ],
    },
  });
  await importCsv(`email\n${address("shape")}\nnobody\n`);
  const [done] = (await api.contacts.imports.list({ limit: 1 })).data;
  for (const [name, path] of [
    ["list", "/contacts"],
    ["contact", `/contacts/${id}`],
    ["subscription", `/contacts/${id}?tab=subscription`],
    ["audiences", "/contacts/audiences"],
    ["audience", `/contacts/audiences/${audience.id}?tab=rules`],
    ["rules", `/contacts/audiences/${audience.id}/rules`],
    ["imports", "/contacts/imports"],
    ["import", `/contacts/imports/${done?.id}`],
    ["new import", "/contacts/imports/new"],
  ] as const) {
    await page.goto(at(path));
    await expect(page.locator("main h1, main h2").first()).toBeAttached();
    if (path.endsWith("/imports/new")) await chooseFile(page, "email,plan\na@roastery.example,pro\n");
    await expectHolds(page, `contacts ${name}`);
  }
});
