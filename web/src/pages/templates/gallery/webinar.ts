import { address, hello, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#4a3aa8", page: "#f3f1fb", ink: "#1f1a3d", soft: "#5d587a", line: "#e0dcf3" });
  return {
    subject: say("Starting soon: your webinar", "Gleich geht es los: Ihr Webinar"),
    builderJson: k.document(say("The link, and what you need.", "Der Link, und was Sie brauchen."), [
      ...k.brand(),
      k.band(
        [
          k.space(24),
          k.text(value("webinarTime", say("Today, 4 pm", "Heute, 16 Uhr")), { color: "#ffffff", size: 18 }),
          k.heading(
            value(
              "webinarTitle",
              say("From spreadsheet to workflow in 40 minutes", "Von der Tabelle zum Ablauf in 40 Minuten"),
            ),
            1,
            { color: "#ffffff" },
          ),
          k.button(say("Join the webinar", "Am Webinar teilnehmen"), address("joinUrl"), {
            background: "#ffffff",
            color: "#3a2c8f",
          }),
          k.space(20),
        ],
        "#4a3aa8",
      ),
      k.band([
        k.space(16),
        k.text(
          `${hello(say)}\n\n${say(
            "Your place is reserved. The room opens ten minutes before, and a browser is all you need.",
            "Ihr Platz ist reserviert. Der Raum öffnet zehn Minuten vorher, und Sie brauchen nur einen Browser.",
          )}`,
        ),
        k.heading(say("What we will do", "Was wir vorhaben"), 3),
        k.rich(
          say(
            '<ul style="margin:0;padding-left:20px"><li>Find the three steps that cost the most time</li><li>Build a workflow live, with your questions</li><li>Twenty minutes for everything else you want to know</li></ul>',
            '<ul style="margin:0;padding-left:20px"><li>Die drei Schritte finden, die am meisten Zeit kosten</li><li>Live einen Ablauf bauen, mit Ihren Fragen</li><li>Zwanzig Minuten für alles, was Sie sonst wissen möchten</li></ul>',
          ),
        ),
        k.small(
          say(
            `No time after all? The recording will be with you tomorrow. <a href="${address("calendarUrl")}">Add it to the calendar</a>`,
            `Doch keine Zeit? Die Aufzeichnung bekommen Sie morgen. <a href="${address("calendarUrl")}">In den Kalender eintragen</a>`,
          ),
        ),
        k.space(16),
      ]),
      ...k.marketing(
        say("You get this email because you registered.", "Sie erhalten diese E-Mail, weil Sie sich angemeldet haben."),
      ),
    ]),
  };
};
export default make;
