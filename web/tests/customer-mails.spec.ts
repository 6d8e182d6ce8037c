import { Postern } from "@postern/sdk";
import { api, at, expect, expectAccessible, SERVER, signIn, test } from "./fixtures";

/** The API as another client of the developer. */
const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken, project: SERVER.projectId });

// The preview of a text with a mistake, and the save of a text that another person has changed.
test.use({ tolerated: /status of (400|412)/ });

test("a text of a mail is edited, previewed, restored and reset", async ({ page }) => {
  await signIn(page);
  await page.goto(at("/access?tab=mails"));
  const subject = page.getByLabel("Subject", { exact: true });
  await expect(subject).toHaveValue("Your {{ app }} sign-in code");
  await expectAccessible(page);
  await subject.fill("{{ nobody }}");
  await expect(page.getByText("There is no variable `nobody`").first()).toBeVisible();
  await subject.fill("Your own code");
  await expect(page.getByRole("heading", { name: "Your own code" })).toBeVisible();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Your text, changed by")).toBeVisible();
  await page.getByRole("button", { name: "Use the built-in text" }).click();
  await expect(subject).toHaveValue("Your {{ app }} sign-in code");
  await page.getByRole("button", { name: "Versions" }).click();
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await expect(subject).toHaveValue("Your own code");
});

test("another mail in another language is sent as a test, and keeps what somebody else saved", async ({
  signedIn: page,
}) => {
  await page.goto(at("/access?tab=mails&mail=INVITATION&lang=de"));
  const subject = page.getByLabel("Subject", { exact: true });
  await expect(subject).toHaveValue(/Einladung|eingeladen/);
  await subject.fill("Kommen Sie zu {{ organization }}");
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview.getByRole("heading", { name: "Kommen Sie zu Analytical Engines" })).toBeVisible();
  const mail = preview.frameLocator("iframe:not(.next)");
  await expect(mail.getByRole("link", { name: "Einladung annehmen" })).toBeVisible();
  await expect(mail.getByText("Wenn die Schaltfläche nichts bewirkt")).toBeVisible();

  // What is on the page is sent, although it is not saved.
  await page.getByRole("button", { name: "Send me a test" }).click();
  await expect(page.getByText(`A test is on its way to ${SERVER.developerEmail}`)).toBeVisible();
  const received = async () => (await api.inbox.list({ q: SERVER.developerEmail })).data;
  await expect
    .poll(async () => (await received()).map((each) => each.subject))
    .toEqual(["[Test] Kommen Sie zu Analytical Engines"]);
  const { html } = await api.inbox.get((await received())[0]?.id ?? "");
  expect(html).toContain(`An ${SERVER.developerEmail} gesendet`);
  expect((await api.customerMails.get("INVITATION", "de")).version).toBe(0);

  const { content } = await api.customerMails.get("INVITATION", "de");
  await developer.customerMails.set("INVITATION", "de", { ...content, subject: "Von jemand anderem" });
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "Another person has changed this text" })).toBeVisible();
  await expect(subject).toHaveValue("Kommen Sie zu {{ organization }}");
  expect((await api.customerMails.get("INVITATION", "de")).content.subject).toBe("Von jemand anderem");

  await page.reload();
  await expect(subject).toHaveValue("Von jemand anderem");
  await subject.fill("Kommen Sie zu {{ organization }}");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Your text, changed by")).toBeVisible();
  await expect
    .poll(async () => (await api.customerMails.get("INVITATION", "de")).content.subject)
    .toBe("Kommen Sie zu {{ organization }}");
  expect((await api.customerMails.get("CODE", "de")).isBuiltIn).toBe(true);
});
