import { address, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, {
    accent: "#0f5c7a",
    page: "#ffffff",
    ink: "#16262e",
    soft: "#51636c",
    line: "#d9e3e7",
    font: "Georgia, 'Times New Roman', serif",
  });
  const piece = (topic: string, title: string, content: string, url: string) => [
    k.label(topic),
    k.heading(title, 3),
    k.rich(`${content} <a href="${url}">${say("Continue", "Weiter")}</a>`),
    k.space(4),
    k.divider,
    k.space(4),
  ];
  return {
    subject: say("The week in four stories", "Die Woche in vier Geschichten"),
    builderJson: k.document(say("Four stories, six minutes.", "Vier Geschichten, sechs Minuten."), [
      ...k.brand(),
      k.small(`${say("Issue", "Ausgabe")} ${value("issue", "12")} · ${value("issueDay", say("Friday", "Freitag"))}`),
      k.heading(say("The week in four stories", "Die Woche in vier Geschichten")),
      k.text(
        say(
          "Good morning. This week: a quiet street, a loud debate, a very old ledger, and the reason why your trains are suddenly on time.",
          "Guten Morgen. Diese Woche: eine stille Straße, eine laute Debatte, ein sehr altes Kassenbuch und warum Ihre Züge plötzlich pünktlich sind.",
        ),
      ),
      k.divider,
      k.space(4),
      ...piece(
        say("CITY", "STADT"),
        say(
          "The street that closed for a summer and stayed shut",
          "Die Straße, die für einen Sommer schloss und zu blieb",
        ),
        say(
          "The shops feared for their customers. Two years later, three of them run a café on the asphalt.",
          "Die Läden fürchteten um ihre Kundschaft. Zwei Jahre später betreiben drei von ihnen ein Café auf dem Asphalt.",
        ),
        address("firstUrl"),
      ),
      ...piece(
        say("WORK", "ARBEIT"),
        say("Four days, the same pay, and what the numbers say", "Vier Tage, gleicher Lohn, und was die Zahlen sagen"),
        say(
          "Sixty companies tried it for a year. Fifty-four go on. We asked the six others why not.",
          "Sechzig Betriebe haben es ein Jahr lang versucht. 54 machen weiter. Wir haben die sechs anderen gefragt.",
        ),
        address("secondUrl"),
      ),
      ...piece(
        say("HISTORY", "GESCHICHTE"),
        say(
          "A baker's ledger from 1802 and the price of bread",
          "Das Kassenbuch eines Bäckers von 1802 und der Brotpreis",
        ),
        say(
          "It noted the weather, too. That makes it the most exact climate record of its valley.",
          "Er notierte auch das Wetter. Darum ist es heute die genaueste Klimareihe des Tals.",
        ),
        address("thirdUrl"),
      ),
      ...piece(
        say("NUMBER OF THE WEEK", "ZAHL DER WOCHE"),
        say("93 percent", "93 Prozent"),
        say(
          "of the regional trains were on time in spring. A new timetable leaves them two minutes more at every third stop.",
          "der Regionalzüge waren im Frühjahr pünktlich. Der neue Fahrplan gibt ihnen an jedem dritten Halt zwei Minuten mehr.",
        ),
        address("fourthUrl"),
      ),
      ...k.marketing(say("You get this email every Friday.", "Diese E-Mail erhalten Sie jeden Freitag.")),
    ]),
  };
};
export default make;
