// Sends with the Node clients of SendGrid and Postmark, and prints one JSON object with the result of each call.
// The environment has the base URL (POSTERN_URL), a secret key (POSTERN_KEY), and a template (TEMPLATE_ID).
const sendgrid = require("@sendgrid/mail");
const { ServerClient } = require("postmark");

const { POSTERN_URL, POSTERN_KEY, TEMPLATE_ID } = process.env;
const host = new URL(POSTERN_URL).host;
const content = Buffer.from("hello").toString("base64");
console.warn = () => {}; // The key does not begin like one of SendGrid.

function useSendGrid(key) {
  sendgrid.setApiKey(key);
  sendgrid.client.setDefaultRequest("baseUrl", `${POSTERN_URL}/compat/sendgrid`);
}

function postmark(key) {
  return new ServerClient(key, { requestHost: `${host}/compat/postmark`, useHttps: false });
}

async function outcome(call) {
  try {
    return { result: await call() };
  } catch (error) {
    return { error: error.constructor.name, status: error.statusCode ?? error.code, code: error.code, ...details(error) };
  }
}

function details(error) {
  return { message: error.message, body: error.response?.body, recipients: error.recipients };
}

async function sendgridCalls() {
  useSendGrid(POSTERN_KEY);
  // A new object for each call, because the client changes the object that it gets.
  const simple = () => ({
    to: "ada@example.org",
    from: "hello@example.com",
    subject: "Sending with SendGrid is Fun",
    text: "and easy to do anywhere, even with Node.js",
    html: "<strong>and easy to do anywhere, even with Node.js</strong>",
  });
  const full = {
    from: { email: "hello@example.com", name: "Acme" },
    personalizations: [
      { to: ["bob@example.org"], cc: "carol@example.org", bcc: "dan@example.org", dynamicTemplateData: { name: "Bob" } },
    ],
    replyTo: "reply@example.com",
    templateId: `d-${TEMPLATE_ID}`,
    categories: ["node"],
    customArgs: { user: "42" },
    headers: { "X-Own": "1" },
    attachments: [{ content, filename: "a.txt", type: "text/plain", disposition: "attachment" }],
    trackingSettings: { clickTracking: { enable: false }, openTracking: { enable: false } },
    mailSettings: { sandboxMode: { enable: false } },
  };
  const results = {
    send: await outcome(async () => (await sendgrid.send(simple()))[0]),
    full: await outcome(async () => (await sendgrid.send(full))[0]),
    multiple: await outcome(
      async () => (await sendgrid.sendMultiple({ ...simple(), to: ["eve@example.org", "fred@example.org"] }))[0],
    ),
    invalid: await outcome(() => sendgrid.send({ ...simple(), to: "nobody" })),
    unverified: await outcome(() => sendgrid.send({ ...simple(), from: "hello@other.example" })),
  };
  useSendGrid("SG.wrong");
  results.wrongKey = await outcome(() => sendgrid.send(simple()));
  return results;
}

async function postmarkCalls() {
  const client = postmark(POSTERN_KEY);
  const message = { From: "hello@example.com", To: "pat@example.org", Subject: "Hello from Postmark", TextBody: "Hi" };
  const template = { From: "hello@example.com", To: "tess@example.org", TemplateModel: { name: "Tess" } };
  return {
    send: await outcome(() => client.sendEmail(message)),
    full: await outcome(() =>
      client.sendEmail({
        ...message,
        To: '"Doe, Jane" <jane@example.org>, joe@example.org',
        Cc: "cc@example.org",
        Bcc: "bcc@example.org",
        ReplyTo: "reply@example.com",
        HtmlBody: '<a href="https://acme.example/">x</a><img src="cid:logo.png">',
        Tag: "welcome mail",
        Metadata: { user: "42" },
        Headers: [{ Name: "X-Own", Value: "1" }],
        TrackOpens: false,
        TrackLinks: "None",
        MessageStream: "outbound",
        Attachments: [
          { Name: "logo.png", Content: content, ContentType: "image/png", ContentID: "cid:logo.png" },
          { Name: "a.txt", Content: content, ContentType: "text/plain", ContentID: null },
        ],
      }),
    ),
    batch: await outcome(() => client.sendEmailBatch([message, { ...message, To: "nobody" }, message])),
    template: await outcome(() => client.sendEmailWithTemplate({ ...template, TemplateId: TEMPLATE_ID })),
    alias: await outcome(() => client.sendEmailWithTemplate({ ...template, TemplateAlias: "welcome-mail" })),
    templates: await outcome(() =>
      client.sendEmailBatchWithTemplates([
        { ...template, TemplateAlias: "Welcome mail" },
        { ...template, TemplateId: 7 },
      ]),
    ),
    inactive: await outcome(() => client.sendEmail({ ...message, To: "gone@example.org" })),
    someInactive: await outcome(() => client.sendEmail({ ...message, To: "pat@example.org, gone@example.org" })),
    invalid: await outcome(() => client.sendEmail({ ...message, To: "nobody" })),
    unverified: await outcome(() => client.sendEmail({ ...message, From: "hello@other.example" })),
    wrongToken: await outcome(() => postmark("wrong").sendEmail(message)),
    testToken: await outcome(() => postmark("POSTMARK_API_TEST").sendEmail(message)),
    notOffered: await outcome(() => client.getBounces()),
  };
}

(async () => {
  const results = { sendgrid: await sendgridCalls(), postmark: await postmarkCalls() };
  process.stdout.write(JSON.stringify(results));
})();
