import { address, hello, kit, type Make } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#3f3f8f", page: "#f3f3f8", ink: "#20203a", soft: "#5b5b75", line: "#dfdfec" });
  return {
    subject: say("Shall we keep writing to you?", "Sollen wir Ihnen weiter schreiben?"),
    builderJson: k.document(say("One click says yes. Otherwise we stop.", "Ein Klick heißt ja. Sonst hören wir auf."), [
      ...k.brand(),
      k.band([
        k.space(24),
        k.heading(say("Shall we keep writing to you?", "Sollen wir Ihnen weiter schreiben?")),
        k.text(
          `${hello(say)}\n\n${say(
            "It has been a while since you opened one of our emails. That is fine: inboxes are full. We only want to write to those who like to read it.",
            "Sie haben unsere E-Mails länger nicht geöffnet. Das ist in Ordnung: Postfächer sind voll. Wir möchten nur denen schreiben, die es gern lesen.",
          )}`,
        ),
        k.button(say("Yes, keep writing", "Ja, schreiben Sie weiter"), address("stayUrl")),
        k.space(4),
        k.rich(
          say(
            `<b>Too many emails?</b> <a href="${address("preferencesUrl")}">Once a month instead of every week</a> is possible, too.`,
            `<b>Zu viele E-Mails?</b> <a href="${address("preferencesUrl")}">Einmal im Monat statt jede Woche</a> geht auch.`,
          ),
        ),
        k.text(
          say(
            "Without a click, this is our last email, and we delete your address after 30 days.",
            "Ohne Klick ist dies unsere letzte E-Mail, und nach 30 Tagen löschen wir Ihre Adresse.",
          ),
        ),
        k.space(16),
      ]),
      ...k.marketing(say("One click is enough:", "Ein Klick genügt:")),
    ]),
  };
};
export default make;
