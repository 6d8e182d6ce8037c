import { address, kit, type Make } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#1d4ed8", page: "#f1f4fb", ink: "#15203b", soft: "#55607a", line: "#dce3f2" });
  const feature = (title: string, content: string, label: string, url: string) => [
    k.heading(title, 3),
    k.text(content, { size: 15 }),
    k.link(label, url, { size: 15 }),
    k.space(8),
  ];
  const more = say("How it works", "So geht es");
  return {
    subject: say("Four things that save you time", "Vier Funktionen, die Zeit sparen"),
    builderJson: k.document(say("Two of them are already in your account.", "Zwei davon haben Sie schon."), [
      ...k.brand(),
      k.band([
        k.space(20),
        k.heading(say("Four things that save you time", "Vier Funktionen, die Zeit sparen")),
        k.text(
          say(
            "Most teams use a third of what is there. These four pay off within a week, and none takes longer than five minutes to set up.",
            "Die meisten Teams nutzen ein Drittel von allem. Diese vier lohnen sich innerhalb einer Woche, und keine braucht länger als fünf Minuten.",
          ),
        ),
        k.space(4),
        k.divider,
      ]),
      k.row([
        feature(
          say("Reminders", "Erinnerungen"),
          say(
            "Unpaid invoices remind by themselves, politely, and stop when the money arrives.",
            "Offene Rechnungen erinnern von selbst, höflich, und hören auf, wenn das Geld da ist.",
          ),
          more,
          address("remindersUrl"),
        ),
        feature(
          say("Templates", "Vorlagen"),
          say(
            "Write an offer once. The next one takes three clicks.",
            "Ein Angebot einmal schreiben. Das nächste braucht drei Klicks.",
          ),
          more,
          address("templatesUrl"),
        ),
      ]),
      k.row([
        feature(
          say("Shared inbox", "Gemeinsames Postfach"),
          say(
            "Everybody sees who answers, so that nobody answers twice.",
            "Alle sehen, wer antwortet. So antwortet niemand doppelt.",
          ),
          more,
          address("inboxUrl"),
        ),
        feature(
          say("Reports", "Berichte"),
          say(
            "Monday morning, one page: what came in, what is open, what is late.",
            "Montagfrüh, eine Seite: was kam, was offen ist, was sich verspätet.",
          ),
          more,
          address("reportsUrl"),
        ),
      ]),
      k.band([k.divider, k.button(say("Open the account", "Zum Konto"), address("appUrl")), k.space(16)]),
      ...k.marketing(say("You get tips like these once a month.", "Solche Tipps erhalten Sie einmal im Monat.")),
    ]),
  };
};
export default make;
