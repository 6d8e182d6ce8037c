import { address, hello, kit, line, type Make, table, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say);
  const number = value("orderNumber", "0000");
  const missing = say("on request", "auf Anfrage");
  return {
    subject: say(`Your order ${number}`, `Ihre Bestellung ${number}`),
    builderJson: k.document(
      say("We have your order and write again when it ships.", "Ihre Bestellung ist da. Wir melden uns beim Versand."),
      [
        ...k.brand(),
        k.band([
          k.space(20),
          k.label(say(`ORDER ${number}`, `BESTELLUNG ${number}`)),
          k.heading(say("Thank you for your order", "Vielen Dank für Ihre Bestellung")),
          k.text(
            `${hello(say)}\n\n${say(
              "We have your order and are packing it. You get another email with the tracking link when it ships.",
              "Ihre Bestellung ist bei uns, und wir packen sie. Beim Versand bekommen Sie eine weitere E-Mail mit dem Link zur Sendung.",
            )}`,
          ),
          {
            type: "html",
            html: table([
              "{% for item in items %}",
              line(
                `<b>{{ item.name }}</b><br>${say("Quantity", "Menge")}: {{ item.quantity|default(1) }}`,
                "{{ item.price }}",
              ),
              "{% else %}",
              line(say("Your items", "Ihre Artikel"), missing),
              "{% endfor %}",
              line(say("Shipping", "Versand"), value("shippingPrice", say("free", "kostenlos"))),
              line(`<b>${say("Total, with VAT", "Summe inkl. MwSt.")}</b>`, `<b>${value("total", missing)}</b>`),
            ]),
          },
          k.space(4),
          k.button(say("See the order", "Bestellung ansehen"), address("orderUrl")),
          k.space(16),
        ]),
        k.panel(
          [
            [
              k.heading(say("Goes to", "Geht an"), 3, { size: 16 }),
              k.text(value("shippingAddress", say("The address in your account", "Die Adresse in Ihrem Konto")), {
                size: 15,
              }),
            ],
            [
              k.heading(say("Paid with", "Bezahlt mit"), 3, { size: 16 }),
              k.text(value("paymentMethod", say("As chosen at checkout", "Wie an der Kasse gewählt")), { size: 15 }),
            ],
          ],
          "#e6eeef",
        ),
        ...k.transactional(
          say(
            "Questions about the order? Reply to this email.",
            "Fragen zur Bestellung? Antworten Sie auf diese E-Mail.",
          ),
        ),
      ],
    ),
  };
};
export default make;
