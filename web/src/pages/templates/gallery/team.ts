import { address, kit, type Make } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#92400e", page: "#f8f5ef", ink: "#292015", soft: "#675b4c", line: "#e8dfd1" });
  const job = (title: string, facts: string, content: string, url: string) => [
    k.heading(title, 3),
    k.small(facts),
    k.text(content, { size: 15 }),
    k.link(say("Read the posting", "Zur Stelle"), url, { size: 15 }),
    k.space(4),
  ];
  return {
    subject: say("Two new faces, and two open positions", "Zwei Neue im Team, und zwei offene Stellen"),
    builderJson: k.document(say("Perhaps you know somebody.", "Vielleicht kennen Sie jemanden."), [
      ...k.brand(),
      k.band([
        k.space(20),
        k.heading(say("We are now fourteen", "Wir sind jetzt vierzehn")),
        k.text(
          say(
            "Since spring, Mira looks after everybody who writes to us, and Jonas makes sure that parcels leave on the day you order. For two more desks we are still looking, and good people are usually known by good people.",
            "Seit dem Frühjahr kümmert sich Mira um alle, die uns schreiben, und Jonas sorgt dafür, dass Pakete am Tag der Bestellung das Haus verlassen. Für zwei weitere Plätze suchen wir noch, und gute Leute kennen meist gute Leute.",
          ),
        ),
        k.space(4),
        k.divider,
        ...job(
          say("Product designer", "Produktdesign (m/w/d)"),
          say("Full time or 80 % · on site or remote", "Vollzeit oder 80 % · vor Ort oder remote"),
          say(
            "You draw, build and talk to customers in the same week.",
            "Sie zeichnen, bauen und sprechen in derselben Woche mit Kundinnen und Kunden.",
          ),
          address("designerUrl"),
        ),
        k.divider,
        ...job(
          say("Roastery assistant", "Mitarbeit in der Rösterei (m/w/d)"),
          say("Part time, mornings · on site", "Teilzeit, vormittags · vor Ort"),
          say(
            "No experience needed. We teach you, and you never smell anything but coffee again.",
            "Erfahrung brauchen Sie nicht. Wir bringen Ihnen alles bei, und es duftet immer nach Kaffee.",
          ),
          address("roasteryUrl"),
        ),
        k.divider,
        k.text(
          say(
            "Do you know somebody? Forward this email. If we hire, coffee for a year is yours.",
            "Kennen Sie jemanden? Leiten Sie diese E-Mail weiter. Klappt es, gibt es für Sie ein Jahr lang Kaffee.",
          ),
        ),
        k.button(say("Meet the team", "Das Team kennenlernen"), address("teamUrl")),
        k.space(16),
      ]),
      ...k.marketing(
        say(
          "You get this email because you signed up for news.",
          "Sie erhalten diese E-Mail, weil Sie sich für Neuigkeiten angemeldet haben.",
        ),
      ),
    ]),
  };
};
export default make;
