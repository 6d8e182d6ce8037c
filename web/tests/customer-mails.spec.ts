import { at, expect, expectAccessible, signIn, test } from "./fixtures";

// The preview of a text with a mistake.
test.use({ tolerated: /status of 400/ });

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
