import type { Beginning, Block, BlockDocument, Language, Make, Say } from "./gallery/kit.ts";

export type { Beginning, Block, BlockDocument, Language };

/** What e-mails are for. People unsubscribe from marketing, and from tips about the product, but not from the rest. */
export const PURPOSES = ["transactional", "product", "marketing"] as const;
export type Purpose = (typeof PURPOSES)[number];

/** A template of the gallery. Its content is a module of its own. */
export interface Starter {
  key: string;
  purpose: Purpose;
  /** Whether people can unsubscribe from it: all but those that belong to an account or an order. */
  isUnsubscribable: boolean;
  /** What people call it, and what it is for, in English and in German. */
  names: [string, string];
  leads: [string, string];
  /** Further words that find it, in both languages. */
  words: string;
  load: () => Promise<{ default: Make }>;
}

export const STARTERS: Starter[] = [
  starter(
    "welcome",
    "transactional",
    ["Welcome", "Willkommen"],
    ["After somebody signed up: one thing to do first.", "Nach der Anmeldung: der erste Schritt."],
    "sign up account registrierung konto",
    () => import("./gallery/welcome.ts"),
  ),
  starter(
    "order",
    "transactional",
    ["Order confirmation", "Bestellbestätigung"],
    [
      "What was bought, for how much, and what happens next.",
      "Was gekauft wurde, zu welchem Preis, und wie es weitergeht.",
    ],
    "receipt shop purchase quittung kauf kassenbon",
    () => import("./gallery/order.ts"),
  ),
  starter(
    "shipping",
    "transactional",
    ["Shipping notice", "Versandmitteilung"],
    ["When the parcel arrives, and where it is now.", "Wann das Paket ankommt, und wo es gerade ist."],
    "parcel delivery tracking paket lieferung",
    () => import("./gallery/shipping.ts"),
  ),
  starter(
    "invoice",
    "transactional",
    ["Invoice", "Rechnung"],
    ["The amount, the items and the PDF.", "Der Betrag, die Posten und das PDF."],
    "bill payment subscription zahlung abo",
    () => import("./gallery/invoice.ts"),
  ),
  starter(
    "security",
    "transactional",
    ["Password changed", "Passwort geändert"],
    [
      "A notice, and what to do if it was somebody else.",
      "Ein Hinweis, und was zu tun ist, wenn es jemand anders war.",
    ],
    "security notice account sicherheit hinweis konto",
    () => import("./gallery/security.ts"),
  ),
  starter(
    "trial",
    "transactional",
    ["Trial ending", "Test endet"],
    [
      "When it ends, what it costs, and what happens without a plan.",
      "Wann er endet, was es kostet, und was ohne Tarif geschieht.",
    ],
    "plan upgrade saas tarif abo",
    () => import("./gallery/trial.ts"),
  ),
  starter(
    "reminder",
    "transactional",
    ["Appointment reminder", "Terminerinnerung"],
    ["When and where, and how to change it.", "Wann und wo, und wie sich der Termin ändern lässt."],
    "booking calendar buchung kalender",
    () => import("./gallery/reminder.ts"),
  ),
  starter(
    "onboarding",
    "product",
    ["Onboarding checklist", "Erste Schritte"],
    ["Three steps in the first days after signing up.", "Drei Schritte in den ersten Tagen nach der Anmeldung."],
    "setup tutorial getting started einrichtung anleitung",
    () => import("./gallery/onboarding.ts"),
  ),
  starter(
    "features",
    "product",
    ["Two columns of features", "Funktionen in zwei Spalten"],
    ["Four functions beside each other, each with a link.", "Vier Funktionen nebeneinander, jede mit Link."],
    "tips columns tipps spalten",
    () => import("./gallery/features.ts"),
  ),
  starter(
    "changelog",
    "product",
    ["Release notes", "Versionshinweise"],
    ["New, better, repaired, and what people must check.", "Neu, besser, behoben, und was zu prüfen ist."],
    "changelog update version änderungen",
    () => import("./gallery/changelog.ts"),
  ),
  starter(
    "webinar",
    "product",
    ["Webinar reminder", "Webinar-Erinnerung"],
    ["The link to join, shortly before it begins.", "Der Link zum Teilnehmen, kurz vor dem Beginn."],
    "online event meeting veranstaltung",
    () => import("./gallery/webinar.ts"),
  ),
  starter(
    "survey",
    "product",
    ["Survey", "Umfrage"],
    ["One question, answered with one click from 0 to 10.", "Eine Frage, mit einem Klick von 0 bis 10 beantwortet."],
    "nps feedback rating bewertung meinung",
    () => import("./gallery/survey.ts"),
  ),
  starter(
    "hero",
    "marketing",
    ["Announcement", "Ankündigung"],
    ["A large picture, a headline and one button.", "Ein großes Bild, eine Überschrift und eine Schaltfläche."],
    "hero opening news eröffnung neuigkeit",
    () => import("./gallery/hero.ts"),
  ),
  starter(
    "launch",
    "marketing",
    ["Product launch", "Produktstart"],
    ["One product with picture, price and three facts.", "Ein Produkt mit Bild, Preis und drei Fakten."],
    "new picture neu bild",
    () => import("./gallery/launch.ts"),
  ),
  starter(
    "products",
    "marketing",
    ["Product grid", "Produktübersicht"],
    ["Four products with pictures and prices.", "Vier Produkte mit Bildern und Preisen."],
    "shop catalogue sale katalog angebot",
    () => import("./gallery/products.ts"),
  ),
  starter(
    "news",
    "marketing",
    ["News", "Neuigkeiten"],
    ["One main story, two short ones beside each other.", "Eine große Meldung, zwei kleine nebeneinander."],
    "newsletter monthly monatlich",
    () => import("./gallery/news.ts"),
  ),
  starter(
    "digest",
    "marketing",
    ["Weekly digest", "Wochenrückblick"],
    ["Four short texts with links, one below the other.", "Vier kurze Texte mit Links untereinander."],
    "newsletter links week woche",
    () => import("./gallery/digest.ts"),
  ),
  starter(
    "letter",
    "marketing",
    ["Letter from the founder", "Brief der Gründerin"],
    ["Only text, as one person writes it to another.", "Nur Text, wie von Mensch zu Mensch."],
    "plain personal text schlicht persönlich",
    () => import("./gallery/letter.ts"),
  ),
  starter(
    "essay",
    "marketing",
    ["Long read", "Lange Lektüre"],
    ["An article with picture and a quote.", "Ein Artikel mit Bild und Zitat."],
    "editorial article story magazin geschichte",
    () => import("./gallery/essay.ts"),
  ),
  starter(
    "event",
    "marketing",
    ["Event invitation", "Einladung"],
    ["Picture, programme, place and time.", "Bild, Programm, Ort und Zeit."],
    "party evening rsvp fest veranstaltung",
    () => import("./gallery/event.ts"),
  ),
  starter(
    "team",
    "marketing",
    ["Team and jobs", "Team und Stellen"],
    ["Who is new, and which positions are open.", "Wer neu ist, und welche Stellen offen sind."],
    "hiring job career karriere stellenanzeige",
    () => import("./gallery/team.ts"),
  ),
  starter(
    "holiday",
    "marketing",
    ["Holiday greeting", "Festtagsgruß"],
    ["A thank you at the end of the year, without an offer.", "Ein Dank zum Jahresende, ohne Angebot."],
    "christmas season winter weihnachten neujahr",
    () => import("./gallery/holiday.ts"),
  ),
  starter(
    "winback",
    "marketing",
    ["We have not seen you", "Lange nicht gesehen"],
    ["To contacts who were quiet for months, with a way out.", "An Kontakte, die lange still waren, mit Ausweg."],
    "re-engagement inactive reaktivierung inaktiv",
    () => import("./gallery/winback.ts"),
  ),
];

function starter(
  key: string,
  purpose: Purpose,
  names: [string, string],
  leads: [string, string],
  words: string,
  load: Starter["load"],
): Starter {
  return { key, purpose, isUnsubscribable: purpose !== "transactional", names, leads, words, load };
}

/** Chooses the text of a language. */
export function sayIn(language: Language): Say {
  return (en, de) => (language === "de" ? de : en);
}

export function nameOf({ names }: Starter, language: Language): string {
  return sayIn(language)(...names);
}

export function leadOf({ leads }: Starter, language: Language): string {
  return sayIn(language)(...leads);
}

/** The templates that are for a purpose, and have every word of a search in their texts. */
export function found(search: string, purpose: Purpose | undefined): Starter[] {
  const wanted = search.toLowerCase().split(/\s+/).filter(Boolean);
  return STARTERS.filter((each) => {
    const texts = [...each.names, ...each.leads, each.words, each.key].join(" ").toLowerCase();
    return (!purpose || each.purpose === purpose) && wanted.every((word) => texts.includes(word));
  });
}

/** The content of a template of the gallery in a language. */
export async function beginningOf({ load }: Starter, language: Language): Promise<Beginning> {
  return (await load()).default(sayIn(language));
}

/** The content of a template that begins empty: the server refuses one without any. */
export function blank(language: Language): BlockDocument {
  return {
    width: 600,
    background: "#ffffff",
    font: "Helvetica, Arial, sans-serif",
    lang: language,
    blocks: [{ type: "heading", text: sayIn(language)("Heading", "Überschrift"), level: 2, color: "#1d2a2d" }],
  };
}
