import { createServer as createHttpServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import type { Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
import { api, at, expect, SERVER, test } from "./fixtures";

/** The API as the developer, who may change the project. */
const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken, project: SERVER.projectId });

/** Text that would call `ran`, which every page has, if a page took it for HTML. */
const TEXT = `"'><img src=x onerror=ran(1)><svg onload=ran(2)>`;
const SHOWN = "<img src=x onerror=ran(1)>";

/** The server of the attacker: what was requested from it, and the page that it shows. */
let attacker: Server;
const requested: string[] = [];
let attackersPage = "";
/** The attacker as another site than the dashboard, and as another origin of the same site. */
let otherSite = "";
let sameSite = "";
/** A mail server that refuses everybody, with its own words. */
let mailServer: TcpServer;

const portOf = (server: Server | TcpServer) => (server.address() as AddressInfo).port;
const unique = (name: string) => `${name}-${Date.now().toString(36)}${Math.floor(Math.random() * 46_656).toString(36)}`;

/** The id of the message in the inbox that `q` finds, once its send has captured it. */
async function capturedId(q: string): Promise<string> {
  const found = async () => (await api.inbox.list({ q })).data;
  await expect.poll(async () => (await found()).length).toBe(1);
  return (await found())[0]?.id ?? "";
}

async function publish(name: string, type: string, ...values: string[]): Promise<void> {
  await fetch(`${SERVER.zoneUrl}/${name}/${type}`, { method: "PUT", body: JSON.stringify(values) });
}

test.beforeAll(async () => {
  attacker = createHttpServer((request, response) => {
    requested.push(`${request.method} ${request.url}`);
    request.resume();
    if (request.url === "/page") {
      response.writeHead(200, { "content-type": "text/html" });
      return response.end(attackersPage);
    }
    if (request.url?.startsWith("/hook")) {
      response.writeHead(500, { "content-type": "text/html", "x-words": SHOWN, "content-location": otherSite });
      return response.end(longText());
    }
    response.writeHead(200, { "content-type": "text/plain" });
    response.end();
  });
  mailServer = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.write("220 mail.example\r\n");
    socket.on("data", (data) => {
      const verb = data.toString().slice(0, 4).toUpperCase();
      if (verb === "RCPT") socket.write(`550 5.1.1 ${SHOWN}\r\n`);
      else if (verb === "QUIT") socket.end("221 Bye\r\n");
      else socket.write(`250 ${verb === "EHLO" ? "mail.example" : "OK"}\r\n`);
    });
  });
  await new Promise<void>((resolve) => attacker.listen(0, "127.0.0.1", resolve));
  await new Promise<void>((resolve) => mailServer.listen(0, "127.0.0.1", resolve));
  otherSite = `http://localhost:${portOf(attacker)}`;
  sameSite = `http://127.0.0.1:${portOf(attacker)}`;
});

test.afterAll(() => {
  attacker.close();
  mailServer.close();
});

/** Text with everything that could run, load, or leave the page. */
function longText(): string {
  return `${TEXT}<script>ran(3)</script><iframe srcdoc="<script>top.ran(4)</script>"></iframe>
<a href="javascript:ran(5)">x</a><style>@import url(${otherSite}/css);</style><img src="${otherSite}/pixel">
<meta http-equiv="refresh" content="0;url=${otherSite}/refresh"><base href="${otherSite}/">{{ 7 * 7 }}\${7*7}`;
}

/** A mail that tries everything, with links for a person who clicks. */
function hostileMail(): string {
  return `<!doctype html><html><head><base href="${otherSite}/base/" target="_top">
<meta http-equiv="refresh" content="0;url=${otherSite}/refresh"><link rel="stylesheet" href="${otherSite}/style">
<style>@import url(${otherSite}/import); body { background: url(${otherSite}/background) }</style></head>
<body onload="top.ran(6)"><h1>Read me</h1>${longText()}<object data="${otherSite}/object"></object>
<embed src="${otherSite}/embed"><video poster="${otherSite}/poster" src="${otherSite}/video"></video>
<img srcset="${otherSite}/srcset 2x" src="//localhost:${portOf(attacker)}/scheme"><iframe src="${otherSite}/frame"></iframe>
<p><a href="data:text/html,<script>top.ran(7)</script>">Data</a> <a rel="opener" href="${otherSite}/page">Opener</a></p>
<form action="${otherSite}/form" target="_top"><input name="password"><button>Go</button></form></body></html>`;
}

interface Watched {
  /** What ran although nothing may. */
  ran: unknown[];
  dialogs: string[];
  /** What came from others than the server. */
  foreign: string[];
}

async function watch(page: Page): Promise<Watched> {
  const watched: Watched = { ran: [], dialogs: [], foreign: [] };
  await page.exposeFunction("ran", (number: unknown) => watched.ran.push(number));
  page.on("dialog", (dialog) => {
    watched.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  // What a policy stops is a request, too, but has no response.
  page.on("response", (response) => {
    const { protocol, origin } = new URL(response.url());
    if (/^(http|ws)/.test(protocol) && origin !== SERVER.baseUrl) watched.foreign.push(response.url());
  });
  return watched;
}

/** What a page has made of text: nothing that could run, load or lead out of the dashboard. */
async function elementsOfText(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const LINKS = new Set(["href", "src", "action", "formaction", "xlink:href"]);
    return [...document.querySelectorAll("*")]
      .filter(
        (element) =>
          [...element.attributes].some(
            ({ name, value }) =>
              name.startsWith("on") || (LINKS.has(name) && /^\s*(javascript|data:text)/i.test(value)),
          ) || element.matches("base, meta[http-equiv], iframe[srcdoc], object, embed, img[src='x']"),
      )
      .map((element) => element.outerHTML);
  });
}

test.describe("with text that attacks in every field", () => {
  // What the frames of mail do not run is noted on the console. Violations by the page itself have another form.
  test.use({
    tolerated:
      /^(?!CSP).*(Blocked (script|form)|violates the following Content Security Policy|Refused to |NotSameOrigin)/,
  });

  test("every page shows it as text", async ({ signedIn: page }) => {
    const watched = await watch(page);
    const long = longText();
    const word = unique("attack");
    const address = `${word}@example.com`;

    const domain = await api.domains.create({ domain: `${word}.example` });
    for (const { name, type } of domain.records.filter((record) => record.type === "TXT"))
      await publish(name, type, `v=DMARC1; p=none; ${TEXT}`, `v=spf1 ${TEXT} -all`);
    await api.domains.verify(domain.id);

    const hook = await api.webhooks.create({
      url: `${sameSite}/hook?${encodeURIComponent(TEXT)}`,
      events: ["*"],
      description: TEXT,
    });

    const contact = await api.contacts.create({
      email: address,
      attributes: { [TEXT]: TEXT, long, list: [TEXT], object: { [TEXT]: TEXT }, link: "javascript:ran(8)" },
    });
    const audience = await api.audiences.create({ name: `${TEXT} ${word}` });
    await api.audiences.contacts.addEmails(audience.id, { contacts: [{ email: address }] });
    await api.events.record({ name: "order.attacked", email: address, data: { [TEXT]: long } });
    const csv = `email,"${TEXT.replaceAll('"', '""')}"\n"${SHOWN}",x\nimported-${address},"${TEXT.replaceAll('"', '""')}"\n`;
    const { id: importId } = await api.contacts.imports.create(csv);
    const customer = await api.customers.create({
      email: `customer-${address}`,
      emailVerified: true,
      name: TEXT,
      password: "correct horse battery",
      externalUserId: `${TEXT}${word}`,
      metadata: { [TEXT]: TEXT, long, saml: { "urn:oid:2.5.4.42": TEXT } },
    });
    const signedIn = await fetch(`${SERVER.baseUrl}/projects/${SERVER.projectId}/auth/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": `Firefox/${TEXT}` },
      body: JSON.stringify({ email: `customer-${address}`, password: "correct horse battery" }),
    });
    expect(signedIn.status, await signedIn.text()).toBe(200);
    await api.customers.ban(customer.id, { reason: TEXT });
    const organization = await api.organizations.create({ name: TEXT });
    await api.organizations.members.add(organization.id, { customerId: customer.id } as never);

    const template = await api.templates.create({ name: TEXT, subject: `${TEXT}{{ firstName }}`, html: hostileMail() });
    await api.templates.update(template.id, { subject: `${SHOWN} again` });
    const blocks = await api.templates.create({
      name: `Blocks ${TEXT}`,
      subject: TEXT,
      builderJson: {
        blocks: [
          { type: "heading", text: TEXT, level: 2 },
          { type: "text", text: long.replace(/\{\{.*$/s, "") },
          { type: "button", text: TEXT, url: "https://example.com/" },
        ],
      },
    });
    const campaign = await api.campaigns.create({
      name: TEXT,
      subject: TEXT,
      previewText: TEXT,
      fromName: TEXT,
      audienceId: audience.id,
      templateId: template.id,
    });

    const sendId = (
      await api.emails.send({
        from: `${JSON.stringify(SHOWN)} <orders@northwind-coffee.example>`,
        to: [`"<img src=x onerror=ran(1)>" <sent-${address}>`],
        replyTo: [`"<img src=x onerror=ran(1)>" <reply-${address}>`],
        subject: TEXT,
        html: hostileMail(),
        text: long,
        headers: { "X-Words": TEXT },
        tags: [word],
        engine: "none",
        trackOpens: true,
        attachments: [
          { filename: `${SHOWN}.html`, content: btoa("<script>ran(9)</script>"), contentType: "text/html" },
          {
            filename: "image.svg",
            content: btoa(`<svg xmlns="http://www.w3.org/2000/svg" onload="ran(10)"><script>ran(11)</script></svg>`),
            contentType: "image/svg+xml",
          },
        ],
      } as never)
    ).id;
    const messageId = await capturedId(`sent-${address}`);
    const pixel = /\/t\/o\/[\w./-]+/.exec(JSON.stringify(await api.inbox.get(messageId)))?.[0];
    expect(pixel).toBeTruthy();
    await fetch(SERVER.baseUrl + pixel, { headers: { "user-agent": SHOWN } });

    // The project of its own sends through the mail server that refuses.
    const relayed = await developer.projects.create({ name: TEXT });
    await developer.projects.update(
      { settings: { transport: "relay", relays: [{ host: "127.0.0.1", port: portOf(mailServer), tls: "none" }] } },
      { project: relayed.id },
    );
    const { key } = await developer.apiKeys.create({ name: TEXT }, { project: relayed.id });
    const other = new Postern({ url: SERVER.baseUrl, key: key ?? "", project: relayed.id });
    const sender = await other.domains.create({ domain: `sender-${word}.example` });
    for (const { name, type, value } of sender.records) await publish(name, type, value);
    await other.domains.verify(sender.id);
    const from = `Shop <shop@${sender.domain}>`;
    const { id: bounced } = await other.emails.send({ from, to: [address], subject: "Refused", text: "Hello" });
    await expect.poll(async () => (await other.emails.get(bounced)).status, { timeout: 30_000 }).toBe("BOUNCED");

    await expect
      .poll(async () => (await api.webhooks.deliveries.list(hook.id)).data.filter((each) => each.attempts > 0).length, {
        timeout: 30_000,
      })
      .toBeGreaterThan(0);
    const delivery = (await api.webhooks.deliveries.list(hook.id)).data.find((each) => each.attempts > 0);
    const event = (await api.events.list({ type: ["order.attacked"] } as never)).data[0];
    const elsewhere = `/dashboard/projects/${relayed.id}`;

    const pages: [path: string, shown?: string | RegExp][] = [
      [elsewhere, TEXT],
      [`${elsewhere}/emails/${bounced}`, SHOWN],
      [`${elsewhere}/developers`, TEXT],
      [`${elsewhere}/settings`],
      [at(`/emails?q=${word}`), TEXT],
      ...["", "?tab=headers", "?tab=source", "?tab=preview", "?tab=request"].map((tab): [string, string] => [
        at(`/emails/${sendId}${tab}`),
        SHOWN,
      ]),
      [at(`/emails/inbox/${messageId}`), `${SHOWN}.html`],
      [at(`/contacts?q=${word}`), address],
      [at(`/contacts/${contact.id}`), SHOWN],
      [at("/contacts/audiences"), SHOWN],
      [at(`/contacts/audiences/${audience.id}`), SHOWN],
      [at(`/contacts/imports/${importId}`), SHOWN],
      [at(`/customers?q=${word}`), SHOWN],
      ...["", "?tab=timeline", "?tab=sessions", "?tab=organizations", "?tab=audit"].map((tab): [string, string] => [
        at(`/customers/${customer.id}${tab}`),
        SHOWN,
      ]),
      [at(`/domains/${domain.id}`), SHOWN],
      [at("/developers/webhooks"), SHOWN],
      [at(`/developers/webhooks/${hook.id}`), SHOWN],
      [at(`/developers/webhooks/${hook.id}/${delivery?.id}`), SHOWN],
      [at(`/developers/events/${event?.id}`), SHOWN],
      [at("/settings/audit-log"), SHOWN],
    ];
    // What the project itself has written is shown with its images, from wherever they are.
    const written: typeof pages = [
      [at("/templates"), SHOWN],
      [at("/templates?as=pictures"), SHOWN],
      [at(`/templates/${template.id}`), SHOWN],
      [at(`/templates/${template.id}?tab=versions&version=1`), SHOWN],
      [at(`/templates/${template.id}?tab=usage`), SHOWN],
      [at(`/templates/${blocks.id}/edit`), SHOWN],
      [at("/campaigns"), SHOWN],
      [at(`/campaigns/${campaign.id}`), SHOWN],
    ];
    const visit = async ([path, shown]: (typeof pages)[number]) => {
      await page.goto(path);
      await expect(page.locator("main h1, .ebar h1").first(), path).toBeAttached();
      await expect(page.locator("[aria-busy=true]"), path).toHaveCount(0);
      if (shown)
        await expect
          .poll(
            () =>
              page.evaluate(() =>
                [
                  document.body.textContent,
                  ...[...document.querySelectorAll("input, textarea")].map(
                    (field) => (field as HTMLInputElement).value,
                  ),
                ].join("\n"),
              ),
            { message: path },
          )
          .toContain(shown);
      for (const frame of await page.locator("iframe").all())
        await expect(frame, path).toHaveAttribute("sandbox", "allow-popups allow-popups-to-escape-sandbox");
      expect(await elementsOfText(page), path).toEqual([]);
      expect(page.url().startsWith(SERVER.baseUrl), path).toBe(true);
    };
    requested.length = 0;
    for (const each of pages) await visit(each);
    expect(watched.foreign).toEqual([]);
    expect(requested.filter((each) => !each.startsWith("POST /hook"))).toEqual([]);
    for (const each of written) await visit(each);
    expect(watched.ran).toEqual([]);
    expect(watched.dialogs).toEqual([]);
    const images = /^GET \/(pixel|poster|background|scheme|srcset)$/;
    expect(requested.filter((each) => !each.startsWith("POST /hook") && !images.test(each))).toEqual([]);
  });
});

test("a link in a mail opens a page that does not get hold of the dashboard", async ({ signedIn: page, context }) => {
  attackersPage = `<script>fetch("/opener-" + (window.opener === null)).then(() => (document.title = "done"))</script>`;
  const { id } = await api.emails.send({
    from: "shop@example.com",
    to: ["opener@example.com"],
    subject: "Links",
    html: `<a rel="opener" href="${otherSite}/page">Shop</a>`,
    engine: "none",
    trackClicks: false,
  } as never);
  await page.goto(at(`/emails/${id}?tab=preview`));
  requested.length = 0;
  const opened = context.waitForEvent("page");
  await page.locator("iframe").contentFrame().getByRole("link", { name: "Shop" }).click();
  await expect(await opened).toHaveTitle("done");
  expect(requested).toContain("GET /opener-true");
  await expect(page).toHaveURL(new RegExp(`/emails/${id}`));
});

test.describe("with attachments that the browser would show", () => {
  test.use({ tolerated: /Blocked script|ERR_ABORTED/ });

  test("they are saved, also when their URL is opened by hand", async ({ signedIn: page }) => {
    const watched = await watch(page);
    const script = `<svg xmlns="http://www.w3.org/2000/svg"><script>opener?.ran(1);top.ran(2)</script></svg>`;
    await api.emails.send({
      from: "shop@example.com",
      to: ["attachments@example.com"],
      subject: "Attachments",
      text: "Hello",
      engine: "none",
      attachments: [
        { filename: "../page.html", content: btoa(`<script>top.ran(3)</script>`), contentType: "text/html" },
        { filename: "image.svg", content: btoa(script), contentType: "image/svg+xml" },
      ],
    } as never);
    const message = await api.inbox.get(await capturedId("attachments@example.com"));
    await page.goto(at(`/emails/inbox/${message.id}`));
    for (const [number, name] of ["page.html", "image.svg"].entries()) {
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save", exact: true }).nth(number).click();
      expect((await saved).suggestedFilename()).toContain(name);
    }
    for (const { number } of message.attachments) {
      const url = `${SERVER.baseUrl}/dashboard/api/projects/${SERVER.projectId}/inbox/${message.id}/attachments/${number}`;
      // Typed into the address bar it is refused; a link of the dashboard itself saves it.
      const saved = page.waitForEvent("download");
      await page.evaluate((href) => {
        const link = document.createElement("a");
        link.href = href;
        document.body.append(link);
        link.click();
      }, url);
      await (await saved).delete();
    }
    expect(watched).toEqual({ ran: [], dialogs: [], foreign: [] });
  });
});

test.describe("from a page of the attacker", () => {
  test.use({ tolerated: /.*/ });

  test("nothing is written with the session, from another site or another origin of this one", async ({
    signedIn: page,
    context,
  }) => {
    const project = `${SERVER.baseUrl}/dashboard/api/projects/${SERVER.projectId}`;
    const name = unique("forged");
    attackersPage = `<!doctype html><title>Prize</title>
<form id="form" method="post" enctype="text/plain" action="${project}/templates">
<input name='{"name":"${name}","html":"' value='"}'></form>
<form id="out" method="post" action="${SERVER.baseUrl}/dashboard/api/auth/sign-out"></form>
<form id="show" method="post" action="${SERVER.baseUrl}/dashboard/preview"><input name="html" value="<h1>Enter your password</h1>"></form>`;
    for (const origin of [otherSite, sameSite]) {
      const cookies = await context.cookies(`${SERVER.baseUrl}/dashboard`);
      expect(cookies).toHaveLength(1);
      await page.goto(`${origin}/page`);
      const outcomes = await page.evaluate(
        async ({ project, name, base }) => {
          const json = JSON.stringify({ name, html: "<p>Forged</p>" });
          const own = { "x-postern-dashboard": "1", "content-type": "application/json" };
          const attempts: [string, RequestInit][] = [
            [`${project}/templates`, { method: "POST", mode: "no-cors", body: json }],
            [`${project}/templates`, { method: "POST", headers: own, body: json }],
            [`${project}/templates`, {}],
            [`${base}/dashboard/api/auth/sign-out`, { method: "POST", mode: "no-cors" }],
          ];
          const answers: string[] = [];
          for (const [url, init] of attempts)
            answers.push(
              await fetch(url, { ...init, credentials: "include" }).then(
                (response) => response.type,
                () => "refused",
              ),
            );
          navigator.sendBeacon(`${project}/templates`, new Blob([json], { type: "text/plain" }));
          return answers;
        },
        { project, name, base: SERVER.baseUrl },
      );
      expect(outcomes).toEqual(["refused", "refused", "refused", "refused"]);
      for (const form of ["form", "out", "show"]) {
        await page.goto(`${origin}/page`);
        const answered = page.waitForResponse((response) => response.request().isNavigationRequest());
        await page.evaluate((id) => (document.getElementById(id) as HTMLFormElement).submit(), form);
        expect((await answered).status(), form).toBe(403);
        await page.waitForURL((url) => url.href.startsWith(SERVER.baseUrl));
      }
    }
    expect((await api.templates.list({ q: name })).data).toEqual([]);
    await page.goto(at());
    await expect(page.locator("main h1").first()).toBeVisible();
  });

  test("no page of the dashboard is shown in a frame", async ({ signedIn: page }) => {
    const { id } = await api.emails.send({
      from: "shop@example.com",
      to: ["framed@example.com"],
      subject: "Framed",
      text: "Hello",
      engine: "none",
    });
    const preview = await page.request.post(`/dashboard/api/projects/${SERVER.projectId}/emails/logs/${id}/preview`, {
      headers: { "x-postern-dashboard": "1", "sec-fetch-site": "same-origin" },
      data: {},
    });
    const pages = ["", "/emails", "/campaigns", "/templates", "/contacts", "/customers", "/domains", "/developers"];
    const paths = [
      ...[...pages, "/settings", "/settings/profile"].map((path) => at(path)),
      "/dashboard/sign-in",
      "/dashboard/welcome",
      ((await preview.json()) as { path: string }).path,
    ];
    attackersPage = paths.map((path) => `<iframe src="${SERVER.baseUrl}${path}"></iframe>`).join("");
    for (const origin of [otherSite, sameSite]) {
      await page.goto(`${origin}/page`);
      const frames = page.frames().filter((frame) => frame !== page.mainFrame());
      expect(frames).toHaveLength(paths.length);
      // What Chromium shows in place of a page that refuses to be framed.
      for (const frame of frames) expect(frame.url()).toBe("chrome-error://chromewebdata/");
    }
  });
});

test("a link to the sign-in leads nowhere else, however it is written", async ({ page }) => {
  const foreign = new URL(otherSite).host;
  for (const next of [
    `/\t/${foreign}`,
    `/\n/${foreign}`,
    `/.//${foreign}`,
    `/x/..//${foreign}`,
    `/%2f${foreign}`,
    `/\t\\${foreign}`,
  ]) {
    await page.context().clearCookies();
    await page.goto(`/dashboard/sign-in?next=${encodeURIComponent(next)}`);
    await page.getByLabel("Email address").fill(SERVER.developerEmail);
    await page.getByLabel("Password").fill(SERVER.developerPassword);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByRole("button", { name: "Sign in", exact: true })).toHaveCount(0);
    await expect(page.locator("h1").first(), next).toBeVisible();
    expect(page.url(), next).toMatch(new RegExp(`^${SERVER.baseUrl}/dashboard`));
  }
});
