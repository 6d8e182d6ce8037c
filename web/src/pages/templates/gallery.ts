import { getLocale } from "../../messages/runtime.js";

/** A block of a document, as the server takes it. */
export interface Block {
  type: string;
  id?: string;
  [field: string]: unknown;
}

/** A document of blocks, as the server takes it. */
export interface BlockDocument {
  blocks: Block[];
  title?: string;
  preview?: string;
  width?: number;
  background?: string;
  font?: string;
}

/** A template to begin with. */
export interface Starter {
  key: string;
  name: string;
  /** What it is for. */
  lead: string;
  subject: string;
  builderJson: BlockDocument;
}

const ACCENT = "#0d6472";
const INK = "#1d2a2d";
const SOFT = "#5a6567";

/** The starters in the language of the dashboard: what they say is meant to be changed. */
export function gallery(): Starter[] {
  const language = getLocale();
  const t = (en: string, de: string): string => (language === "de" ? de : en);

  const brand: Block = { type: "text", html: "<b>{{ company }}</b>", color: INK, size: 16 };
  const space = (height: number): Block => ({ type: "spacer", height });
  const heading = (text: string): Block => ({ type: "heading", text, level: 2, color: INK });
  const text = (value: string): Block => ({ type: "text", text: value, color: INK });
  const button = (label: string, url: string): Block => ({
    type: "button",
    text: label,
    url,
    align: "left",
    background: ACCENT,
    color: "#ffffff",
    size: 16,
  });
  const small = (html: string): Block => ({ type: "text", html, color: SOFT, size: 13 });
  const line: Block = { type: "divider", color: "#e0e6e7", width: 1 };
  const because = (reason: string): Block[] => [space(16), line, small(`{{ company }}<br>${reason}`)];
  const marketing = because(
    t(
      'You get this because you signed up for news. <a href="{{ unsubscribe_url }}">Unsubscribe</a>',
      'Sie erhalten diese E-Mail, weil Sie sich für Neuigkeiten angemeldet haben. <a href="{{ unsubscribe_url }}">Abmelden</a>',
    ),
  );
  const document = (preview: string, blocks: Block[]): BlockDocument => ({
    preview,
    width: 600,
    background: "#ffffff",
    font: "Helvetica, Arial, sans-serif",
    blocks: [space(16), brand, ...blocks, space(16)],
  });

  const rows = t("Quantity", "Menge");
  const items = [
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="border-collapse:collapse;font-size:15px;line-height:22px">',
    "{% for item in items %}",
    '<tr><td style="padding:10px 12px 10px 0;border-bottom:1px solid #e0e6e7">{{ item.name }}<br>' +
      `<span style="color:${SOFT};font-size:13px">${rows}: {{ item.quantity }}</span></td>` +
      '<td align="right" style="padding:10px 0;border-bottom:1px solid #e0e6e7;white-space:nowrap;vertical-align:top">{{ item.price }}</td></tr>',
    "{% endfor %}",
    `<tr><td style="padding:12px 12px 0 0"><b>${t("Total", "Summe")}</b></td>` +
      '<td align="right" style="padding:12px 0 0;white-space:nowrap"><b>{{ total }}</b></td></tr>',
    "</table>",
  ].join("\n");

  return [
    {
      key: "welcome",
      name: t("Welcome", "Willkommen"),
      lead: t("After somebody signed up: one thing to do first.", "Nach der Anmeldung: der erste Schritt."),
      subject: t("Welcome to {{ company }}", "Willkommen bei {{ company }}"),
      builderJson: document(t("Your account is ready. Here is where to begin.", "Ihr Konto ist bereit."), [
        heading(t("Your account is ready", "Ihr Konto ist bereit")),
        text(
          t(
            'Hello {{ firstName|default("there") }},\nthank you for signing up. Most people begin by setting up their profile: it takes two minutes, and everything else follows from it.',
            'Guten Tag {{ firstName|default("") }},\nvielen Dank für Ihre Anmeldung. Am besten richten Sie zuerst Ihr Profil ein: Das dauert zwei Minuten, und alles Weitere ergibt sich daraus.',
          ),
        ),
        button(t("Set up the profile", "Profil einrichten"), "{{ startUrl }}"),
        text(
          t(
            "If you get stuck, reply to this email. A person reads it.",
            "Wenn Sie nicht weiterkommen, antworten Sie auf diese E-Mail. Sie wird von Menschen gelesen.",
          ),
        ),
        ...because(
          t(
            "You get this because you created an account.",
            "Sie erhalten diese E-Mail, weil Sie ein Konto angelegt haben.",
          ),
        ),
      ]),
    },
    {
      key: "order",
      name: t("Order confirmation", "Bestellbestätigung"),
      lead: t(
        "What was bought, for how much, and what happens next.",
        "Was gekauft wurde, zu welchem Preis, und wie es weitergeht.",
      ),
      subject: t("Your order {{ orderNumber }}", "Ihre Bestellung {{ orderNumber }}"),
      builderJson: document(
        t("We have your order and tell you when it leaves.", "Ihre Bestellung ist da. Wir melden uns beim Versand."),
        [
          heading(t("Thank you for your order", "Vielen Dank für Ihre Bestellung")),
          text(
            t(
              "Hello {{ firstName }}, we have your order {{ orderNumber }} and tell you as soon as it leaves.",
              "Guten Tag {{ firstName }}, Ihre Bestellung {{ orderNumber }} ist bei uns. Wir melden uns, sobald sie unterwegs ist.",
            ),
          ),
          { type: "html", html: items },
          button(t("See the order", "Bestellung ansehen"), "{{ orderUrl }}"),
          ...because(
            t(
              "You get this because you ordered from us.",
              "Sie erhalten diese E-Mail, weil Sie bei uns bestellt haben.",
            ),
          ),
        ],
      ),
    },
    {
      key: "shipping",
      name: t("Shipping notice", "Versandmitteilung"),
      lead: t("Who brings the parcel, when, and where it is now.", "Wer das Paket wann bringt, und wo es gerade ist."),
      subject: t("Order {{ orderNumber }} is on its way", "Bestellung {{ orderNumber }} ist unterwegs"),
      builderJson: document(
        t("{{ carrier }} brings it on {{ deliveryDay }}.", "{{ carrier }} bringt sie am {{ deliveryDay }}."),
        [
          heading(t("Your order is on its way", "Ihre Bestellung ist unterwegs")),
          text(
            t(
              "Hello {{ firstName }}, order {{ orderNumber }} left us today. {{ carrier }} brings it on {{ deliveryDay }}.",
              "Guten Tag {{ firstName }}, Ihre Bestellung {{ orderNumber }} hat uns heute verlassen. {{ carrier }} bringt sie am {{ deliveryDay }}.",
            ),
          ),
          button(t("Follow the parcel", "Paket verfolgen"), "{{ trackingUrl }}"),
          text(
            t(
              "Nobody at home? The driver leaves it with a neighbour, or you choose another day under the link.",
              "Niemand zu Hause? Das Paket wird bei Nachbarn abgegeben, oder Sie wählen unter dem Link einen anderen Tag.",
            ),
          ),
          ...because(
            t(
              "You get this because you ordered from us.",
              "Sie erhalten diese E-Mail, weil Sie bei uns bestellt haben.",
            ),
          ),
        ],
      ),
    },
    {
      key: "reminder",
      name: t("Appointment reminder", "Terminerinnerung"),
      lead: t("When and where, and how to change it.", "Wann und wo, und wie sich der Termin ändern lässt."),
      subject: t("{{ appointmentDay }} at {{ appointmentTime }}", "{{ appointmentDay }} um {{ appointmentTime }} Uhr"),
      builderJson: document(t("A reminder, and how to change it.", "Eine Erinnerung, und wie Sie den Termin ändern."), [
        heading(t("See you soon, {{ firstName }}", "Bis bald, {{ firstName }}")),
        {
          type: "text",
          html: t(
            "<b>{{ appointmentDay }}, {{ appointmentTime }}</b><br>{{ place }}",
            "<b>{{ appointmentDay }}, {{ appointmentTime }} Uhr</b><br>{{ place }}",
          ),
          color: INK,
          size: 18,
        },
        text(
          t(
            "If that no longer suits you, change or cancel it up to 24 hours before, so that somebody else can have the time.",
            "Wenn es doch nicht passt, können Sie bis 24 Stunden vorher verschieben oder absagen. Dann wird die Zeit für andere frei.",
          ),
        ),
        button(t("Change or cancel", "Verschieben oder absagen"), "{{ changeUrl }}"),
        ...because(
          t(
            "You get this because you made an appointment.",
            "Sie erhalten diese E-Mail, weil Sie einen Termin vereinbart haben.",
          ),
        ),
      ]),
    },
    {
      key: "news",
      name: t("News", "Neuigkeiten"),
      lead: t("One main story, two short ones beside each other.", "Eine große Meldung, zwei kleine nebeneinander."),
      subject: t("What is new this month", "Was diesen Monat neu ist"),
      builderJson: document(t("One new thing, and two that became better.", "Etwas Neues, und zwei Verbesserungen."), [
        heading(t("The headline of the main story", "Die Überschrift der großen Meldung")),
        text(
          t(
            "Begin with what changes for the reader, in two or three sentences. What you built comes second.",
            "Beginnen Sie mit dem, was sich für die Leser ändert, in zwei oder drei Sätzen. Was Sie gebaut haben, kommt danach.",
          ),
        ),
        button(t("Read on", "Weiterlesen"), "https://example.com/"),
        space(8),
        line,
        {
          type: "columns",
          columns: [
            {
              blocks: [
                { type: "heading", text: t("A second story", "Zweite Meldung"), level: 3, color: INK },
                text(t("Two sentences and a link are enough.", "Zwei Sätze und ein Link genügen.")),
              ],
            },
            {
              blocks: [
                { type: "heading", text: t("A third story", "Dritte Meldung"), level: 3, color: INK },
                text(t("If there is none, delete this column.", "Gibt es keine, löschen Sie diese Spalte.")),
              ],
            },
          ],
        },
        ...marketing,
      ]),
    },
    {
      key: "winback",
      name: t("We have not seen you", "Lange nicht gesehen"),
      lead: t(
        "To contacts who were quiet for months, with a way out.",
        "An Kontakte, die lange still waren, mit Ausweg.",
      ),
      subject: t("Shall we keep writing to you?", "Sollen wir Ihnen weiter schreiben?"),
      builderJson: document(t("One click says yes. Otherwise we stop.", "Ein Klick heißt ja. Sonst hören wir auf."), [
        heading(t("Shall we keep writing to you?", "Sollen wir Ihnen weiter schreiben?")),
        text(
          t(
            'Hello {{ firstName|default("there") }}, you have not opened our mail for a while, and we do not want to fill your inbox. If you would like to stay, tell us. Otherwise this was the last one.',
            'Guten Tag {{ firstName|default("") }}, Sie haben unsere E-Mails länger nicht geöffnet, und wir möchten Ihr Postfach nicht füllen. Wenn Sie bleiben möchten, genügt ein Klick. Sonst war dies die letzte.',
          ),
        ),
        button(t("Keep me on the list", "Ich möchte bleiben"), "{{ stayUrl }}"),
        ...marketing,
      ]),
    },
  ];
}

/** The document of a template that begins without content: the server refuses one without any. */
export function blank(): BlockDocument {
  const heading = getLocale() === "de" ? "Überschrift" : "Heading";
  return {
    width: 600,
    background: "#ffffff",
    font: "Helvetica, Arial, sans-serif",
    blocks: [{ type: "heading", text: heading, level: 2, color: INK }],
  };
}
