import { address, kit, type Make } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#7c2d12", page: "#f7f3ee", ink: "#2a1f18", soft: "#6a5b50", line: "#e8ddd2" });
  const product = (picture: string, alt: string, name: string, note: string, price: string, url: string) => [
    k.picture(picture, alt),
    k.rich(`<b>${name}</b><br>${note}<br><a href="${url}">${price}</a>`, { size: 15 }),
    k.space(8),
  ];
  return {
    subject: say("Four coffees for the summer", "Vier Kaffees für den Sommer"),
    builderJson: k.document(
      say("Freshly roasted on Tuesday, with you on Thursday.", "Am Dienstag geröstet, am Donnerstag bei Ihnen."),
      [
        ...k.brand({ align: "center" }),
        k.band([
          k.space(20),
          k.heading(say("Four coffees for the summer", "Vier Kaffees für den Sommer"), 1, { align: "center" }),
          k.text(
            say(
              "Light roasts that are good with ice, too. We roast on Tuesday and ship on Wednesday.",
              "Helle Röstungen, die auch auf Eis schmecken. Wir rösten am Dienstag und versenden am Mittwoch.",
            ),
            { align: "center" },
          ),
          k.space(8),
        ]),
        k.row([
          product(
            "bag-amber",
            say("A bag with an amber label", "Tüte mit bernsteinfarbenem Etikett"),
            "Sidamo",
            say("Peach and black tea", "Pfirsich und Schwarztee"),
            say("€ 12.50 for 250 g", "12,50 € für 250 g"),
            address("sidamoUrl"),
          ),
          product(
            "bag-green",
            say("A bag with a green label", "Tüte mit grünem Etikett"),
            "Huila",
            say("Lime and cane sugar", "Limette und Rohrzucker"),
            say("€ 11.90 for 250 g", "11,90 € für 250 g"),
            address("huilaUrl"),
          ),
        ]),
        k.row([
          product(
            "bag-rose",
            say("A bag with a rose label", "Tüte mit rosa Etikett"),
            "Nyeri",
            say("Blackcurrant and hibiscus", "Johannisbeere und Hibiskus"),
            say("€ 13.90 for 250 g", "13,90 € für 250 g"),
            address("nyeriUrl"),
          ),
          product(
            "bag-blue",
            say("A bag with a blue label", "Tüte mit blauem Etikett"),
            say("Summer blend", "Sommermischung"),
            say("For iced coffee and the office", "Für Eiskaffee und fürs Büro"),
            say("€ 9.90 for 250 g", "9,90 € für 250 g"),
            address("blendUrl"),
          ),
        ]),
        k.band([
          k.button(say("See all coffees", "Alle Kaffees ansehen"), address("shopUrl"), { align: "center" }),
          k.small(say("Free shipping from € 30.", "Ab 30 € versandkostenfrei."), { align: "center" }),
          k.space(16),
        ]),
        ...k.marketing(
          say(
            "You get this email because you signed up for news.",
            "Sie erhalten diese E-Mail, weil Sie sich für Neuigkeiten angemeldet haben.",
          ),
        ),
      ],
    ),
  };
};
export default make;
