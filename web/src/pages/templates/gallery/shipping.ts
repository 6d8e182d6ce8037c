import { address, hello, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#0b6b4f", page: "#eff6f2", ink: "#14291f", soft: "#4f635a", line: "#d8e6de" });
  const number = value("orderNumber", "0000");
  const carrier = value("carrier", say("The carrier", "Der Paketdienst"));
  const day = value("deliveryDay", say("in two to three days", "in zwei bis drei Tagen"));
  return {
    subject: say(`Order ${number} is on its way`, `Bestellung ${number} ist unterwegs`),
    builderJson: k.document(say(`Arrives: ${day}`, `Kommt an: ${day}`), [
      ...k.brand(),
      k.band(
        [
          k.space(24),
          k.text(say("ARRIVES", "KOMMT AN"), { color: "#cfeadd", size: 13 }),
          k.heading(day, 1, { color: "#ffffff", size: 34 }),
          k.text(say(`${carrier} brings it to your door.`, `${carrier} bringt sie an die Haustür.`), {
            color: "#ffffff",
          }),
          k.space(16),
        ],
        "#0b6b4f",
      ),
      k.band([
        k.space(16),
        k.text(
          `${hello(say)}\n\n${say(
            `Your order ${number} left our warehouse today. You can follow the parcel until it is with you.`,
            `Ihre Bestellung ${number} hat heute unser Lager verlassen. Sie können das Paket verfolgen, bis es bei Ihnen ist.`,
          )}`,
        ),
        k.button(say("Follow the parcel", "Paket verfolgen"), address("trackingUrl")),
        k.space(8),
        k.divider,
      ]),
      k.row([
        [
          k.heading(say("Not at home?", "Nicht zu Hause?"), 3, { size: 17 }),
          k.text(
            say(
              "Choose a neighbour, a safe place or another day under the link.",
              "Wählen Sie unter dem Link Nachbarn, einen sicheren Ort oder einen anderen Tag.",
            ),
            { size: 15 },
          ),
        ],
        [
          k.heading(say("Something missing?", "Fehlt etwas?"), 3, { size: 17 }),
          k.text(
            say(
              "Reply to this email within 14 days, and we send it after.",
              "Antworten Sie innerhalb von 14 Tagen auf diese E-Mail, dann senden wir es nach.",
            ),
            { size: 15 },
          ),
        ],
      ]),
      k.band([k.space(12)]),
      ...k.transactional(
        say(
          "You get this email because you ordered from us.",
          "Sie erhalten diese E-Mail, weil Sie bei uns bestellt haben.",
        ),
      ),
    ]),
  };
};
export default make;
