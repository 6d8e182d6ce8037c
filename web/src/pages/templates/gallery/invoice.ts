import { address, hello, kit, line, type Make, table, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#1f2d3a", page: "#ffffff", ink: "#1f2d3a", soft: "#566370", line: "#dde2e7" });
  const number = value("invoiceNumber", "2026-0001");
  const total = value("total", say("see the invoice", "siehe Rechnung"));
  return {
    subject: say(`Invoice ${number}`, `Rechnung ${number}`),
    builderJson: k.document(say(`Amount due: ${total}`, `Zu zahlen: ${total}`), [
      ...k.brand(),
      k.divider,
      k.space(8),
      k.label(say(`INVOICE ${number}`, `RECHNUNG ${number}`), { color: k.soft }),
      k.heading(total, 1, { size: 36 }),
      k.text(say(`due on ${value("dueDay", "receipt")}`, `fällig: ${value("dueDay", "nach Erhalt")}`), {
        color: k.soft,
      }),
      k.space(4),
      k.text(
        `${hello(say)}\n\n${say(
          `Here is your invoice for ${value("period", "the last month")}. If you pay by card or direct debit, there is nothing to do.`,
          `hier ist Ihre Rechnung für ${value("period", "den letzten Monat")}. Bei Zahlung per Karte oder Lastschrift ist nichts zu tun.`,
        )}`,
      ),
      {
        type: "html",
        html: table([
          "{% for item in items %}",
          line(`{{ item.name }}<br>${say("Quantity", "Menge")}: {{ item.quantity|default(1) }}`, "{{ item.price }}"),
          "{% else %}",
          line(say("Subscription", "Abonnement"), total),
          "{% endfor %}",
          line(say("VAT", "MwSt."), value("tax", say("included", "enthalten"))),
          line(`<b>${say("Total", "Summe")}</b>`, `<b>${total}</b>`),
        ]),
      },
      k.space(4),
      k.button(say("Download the PDF", "PDF herunterladen"), address("invoiceUrl")),
      k.space(4),
      k.small(
        say(
          "Another billing address or a purchase order number? Change it in your account, and the next invoice has it.",
          "Andere Rechnungsadresse oder Bestellnummer? Ändern Sie sie in Ihrem Konto, dann steht sie auf der nächsten Rechnung.",
        ),
      ),
      k.space(8),
      k.divider,
      ...k.transactional(
        say(`VAT ID: ${value("vatId", "on the invoice")}`, `USt-IdNr.: ${value("vatId", "auf der Rechnung")}`),
      ),
    ]),
  };
};
export default make;
