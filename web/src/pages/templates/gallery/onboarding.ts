import { address, hello, kit, type Make } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#3a4fb8", page: "#f2f3fa", ink: "#1b2140", soft: "#565c7a", line: "#dfe2f0" });
  const step = (number: number, title: string, content: string, label: string, url: string) => [
    k.label(say(`STEP ${number}`, `SCHRITT ${number}`)),
    k.heading(title, 3),
    k.text(content),
    k.link(label, url),
    k.space(4),
  ];
  return {
    subject: say("Three steps to get going", "In drei Schritten startklar"),
    builderJson: k.document(say("Ten minutes, then it runs by itself.", "Zehn Minuten, danach läuft es von allein."), [
      ...k.brand(),
      k.band([
        k.space(20),
        k.heading(say("Three steps to get going", "In drei Schritten startklar")),
        k.text(
          `${hello(say)}\n\n${say(
            "You have an account, but the good part begins when these three are done. Together they take ten minutes.",
            "Ihr Konto steht, aber richtig nützlich wird es erst mit diesen drei Schritten. Zusammen dauern sie zehn Minuten.",
          )}`,
        ),
        k.space(4),
        k.divider,
        ...step(
          1,
          say("Connect your calendar", "Kalender verbinden"),
          say(
            "So that nobody can book you twice. We read when you are busy, and nothing else.",
            "Damit niemand Sie doppelt bucht. Wir lesen nur, wann Sie belegt sind.",
          ),
          say("Connect the calendar", "Kalender verbinden"),
          address("calendarUrl"),
        ),
        k.divider,
        ...step(
          2,
          say("Set your hours", "Zeiten festlegen"),
          say(
            "Mornings only? Never on Fridays? Set it once, and every invitation follows.",
            "Nur vormittags? Nie am Freitag? Einmal festlegen, und jede Einladung hält sich daran.",
          ),
          say("Set the hours", "Zeiten festlegen"),
          address("hoursUrl"),
        ),
        k.divider,
        ...step(
          3,
          say("Share your link", "Link teilen"),
          say(
            "Put it into your signature. The first booking usually comes within a day.",
            "Am besten in Ihrer Signatur. Die erste Buchung kommt meist innerhalb eines Tages.",
          ),
          say("Copy the link", "Link kopieren"),
          address("shareUrl"),
        ),
        k.space(4),
        k.button(say("Continue the setup", "Einrichtung fortsetzen"), address("setupUrl")),
        k.space(16),
      ]),
      ...k.marketing(
        say("You get these tips during your first two weeks.", "Diese Tipps erhalten Sie in den ersten zwei Wochen."),
      ),
    ]),
  };
};
export default make;
