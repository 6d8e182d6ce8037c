import { address, hello, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#14532d", page: "#f1f5ef", ink: "#17261b", soft: "#54645a", line: "#dbe6dc" });
  const fact = (title: string, content: string) => [
    k.heading(title, 3, { size: 17 }),
    k.text(content, { size: 15, color: k.soft }),
  ];
  return {
    subject: say("New: the hand brewer", "Neu: der Handfilter"),
    builderJson: k.document(
      say("Two years of work, three minutes to a cup.", "Zwei Jahre Arbeit, drei Minuten bis zur Tasse."),
      [
        ...k.brand(),
        k.band([
          k.space(10),
          k.picture("brewer", say("The hand brewer on its glass jug", "Der Handfilter auf seiner Glaskanne")),
          k.space(8),
          k.label(say("NEW", "NEU")),
          k.heading(say("The hand brewer", "Der Handfilter"), 1, { size: 36 }),
          k.text(
            `${hello(say)}\n\n${say(
              "We made 41 of them before this one. It pours evenly without any skill, keeps the heat for twenty minutes, and comes apart for the dishwasher.",
              "davor haben wir 41 andere gebaut. Dieser gießt gleichmäßig, ganz ohne Übung, hält zwanzig Minuten warm und passt zerlegt in die Spülmaschine.",
            )}`,
          ),
          k.button(
            say(`Order for ${value("price", "€ 49")}`, `Für ${value("price", "49 €")} bestellen`),
            address("productUrl"),
          ),
          k.space(12),
          k.divider,
        ]),
        k.row([
          fact(say("Three minutes", "Drei Minuten"), say("From the kettle to the cup.", "Vom Kessel bis zur Tasse.")),
          fact(say("Two cups", "Zwei Tassen"), say("Or one large one.", "Oder eine große.")),
          fact(say("Ten years", "Zehn Jahre"), say("Guarantee, spare parts included.", "Garantie, mit Ersatzteilen.")),
        ]),
        k.band([k.space(16)]),
        ...k.marketing(
          say(
            "You get this email because you wanted to hear about new products.",
            "Sie erhalten diese E-Mail, weil Sie von neuen Produkten hören wollten.",
          ),
        ),
      ],
    ),
  };
};
export default make;
