import { hello, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, {
    accent: "#1f5135",
    page: "#eef3f1",
    ink: "#162a21",
    soft: "#50635a",
    line: "#d7e3dd",
    font: "Georgia, 'Times New Roman', serif",
  });
  return {
    subject: say("Thank you for this year", "Danke für dieses Jahr"),
    builderJson: k.document(say("No offer, just a thank you.", "Kein Angebot, nur ein Dank."), [
      ...k.brand({ align: "center" }),
      k.band([
        k.space(10),
        k.picture("winter", say("Snowy firs under a full moon", "Verschneite Tannen im Mondlicht")),
        k.space(12),
        k.heading(say("Thank you for this year", "Danke für dieses Jahr"), 1, { align: "center", size: 34 }),
        k.text(
          `${hello(say)}\n\n${say(
            "There is no offer in this email. We only want to say thank you: for your trust, your patience in October, and every kind word in between.",
            "in dieser E-Mail steht kein Angebot. Wir möchten nur Danke sagen: für Ihr Vertrauen, Ihre Geduld im Oktober und jedes freundliche Wort dazwischen.",
          )}`,
          { align: "center", size: 17 },
        ),
        k.text(
          say(
            `Over the holidays we close the workshop, from ${value("closedFrom", "24 December")} to ${value("closedUntil", "2 January")}. Urgent? Reply to this email: one of us reads along every day.`,
            `Zwischen den Jahren ist die Werkstatt geschlossen, vom ${value("closedFrom", "24. Dezember")} bis ${value("closedUntil", "2. Januar")}. Dringend? Antworten Sie auf diese E-Mail: Jemand von uns liest jeden Tag mit.`,
          ),
          { align: "center", size: 17 },
        ),
        k.rich(
          say(
            `<i>Happy holidays, and a good start</i><br><b>Everybody at ${k.company}</b>`,
            `<i>Frohe Festtage und einen guten Start</i><br><b>Ihr Team von ${k.company}</b>`,
          ),
          { align: "center", size: 17 },
        ),
        k.space(24),
      ]),
      ...k.marketing(
        say(
          "You get this email because you are a customer.",
          "Sie erhalten diese E-Mail, weil Sie Kundin oder Kunde sind.",
        ),
      ),
    ]),
  };
};
export default make;
