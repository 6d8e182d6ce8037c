// Sends three messages over one pooled connection, with the port, key and CA file of the environment.
const fs = require("node:fs");
const nodemailer = require("nodemailer");

const { SMTP_PORT, SMTP_KEY, SMTP_SECURE, SMTP_CA } = process.env;
const transport = nodemailer.createTransport({
  host: "localhost",
  port: Number(SMTP_PORT),
  secure: SMTP_SECURE === "true",
  requireTLS: true,
  pool: true,
  maxConnections: 1,
  auth: { user: "apikey", pass: SMTP_KEY },
  tls: { ca: fs.readFileSync(SMTP_CA) },
});

const message = (number) => ({
  from: '"Acme, Inc." <hello@example.com>',
  to: "Zoë <ada@example.org>",
  bcc: "carol@example.org",
  subject: `Schöne Grüße ${number}`,
  text: ".\n..\nHallo Zoë\n",
  html: '<p>Hallo <img src="cid:logo@example.com"> Zoë</p>',
  attachments: [
    { filename: "Räume.txt", content: "Büro\n" },
    { filename: "logo.png", content: Buffer.from([1, 2, 3, 255]), cid: "logo@example.com" },
  ],
  headers: { "X-Postern-Tag": "welcome", "Idempotency-Key": `nodemailer-${number}` },
});

(async () => {
  const sent = await Promise.all([1, 2, 3].map((number) => transport.sendMail(message(number))));
  let refused;
  try {
    await transport.sendMail({ ...message(4), from: "hello@unverified.example" });
  } catch (error) {
    refused = { code: error.code, response: error.response };
  }
  transport.close();
  process.stdout.write(JSON.stringify({ sent: sent.map((info) => info.response), refused }));
})();
