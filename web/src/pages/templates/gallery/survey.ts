import { hello, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#0d6472", page: "#f1f5f5" });
  const scale = Array.from({ length: 11 }, (_, score) => {
    const url = `${value("surveyUrl", "https://www.example.com/survey")}?score=${score}`;
    return `<td align="center" width="9%" nowrap="nowrap" style="padding:0 1px"><a href="${url}" style="display:block;padding:11px 0;border:1px solid #879294;text-decoration:none"><b>${score}</b></a></td>`;
  });
  return {
    subject: say("One question, eleven answers", "Eine Frage, elf Antworten"),
    builderJson: k.document(say("One click is enough.", "Ein Klick genügt."), [
      ...k.brand(),
      k.band([
        k.space(20),
        k.heading(
          say("How likely are you to recommend us to a colleague?", "Wie wahrscheinlich empfehlen Sie uns weiter?"),
          2,
        ),
        k.text(
          `${hello(say)}\n\n${say(
            "One click on a number is your whole answer. If you want to add something, there is a field for it afterwards.",
            "ein Klick auf eine Zahl ist schon die ganze Antwort. Wenn Sie etwas hinzufügen möchten, gibt es danach ein Feld dafür.",
          )}`,
        ),
        {
          type: "html",
          html: `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="width:100%;font-size:13px;line-height:20px"><tr>${scale.join("")}</tr></table>`,
        },
      ]),
      k.row([
        [k.small(say("0: not at all likely", "0: sehr unwahrscheinlich"))],
        [k.small(say("10: very likely", "10: sehr wahrscheinlich"), { align: "right" })],
      ]),
      k.band([
        k.divider,
        k.small(
          say(
            "We read every answer. What we changed after the last survey: faster search, invoices by email, and a phone number on every page.",
            "Wir lesen jede Antwort. Nach der letzten Umfrage haben wir geändert: schnellere Suche, Rechnungen per E-Mail und eine Telefonnummer auf jeder Seite.",
          ),
        ),
        k.space(16),
      ]),
      ...k.marketing(say("We ask this twice a year at most.", "Wir fragen das höchstens zweimal im Jahr.")),
    ]),
  };
};
export default make;
