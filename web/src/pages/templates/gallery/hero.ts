import { address, kit, type Make } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#9a3412", page: "#fbf3ec", ink: "#2c1a12", soft: "#6d584c", line: "#efdfd2" });
  return {
    subject: say("We are opening a second shop", "Wir eröffnen ein zweites Geschäft"),
    builderJson: k.document(
      say("From Saturday, and with breakfast.", "Ab Samstag, und mit Frühstück."),
      [
        ...k.brand({ align: "center" }),
        k.band([
          k.space(10),
          k.picture("hills", say("Morning sun over green hills", "Morgensonne über grünen Hügeln")),
          k.space(8),
          k.label(say("FROM SATURDAY", "AB SAMSTAG"), { align: "center" }),
          k.heading(say("We are opening a second shop", "Wir eröffnen ein zweites Geschäft"), 1, {
            align: "center",
            size: 34,
          }),
          k.text(
            say(
              "Bigger, brighter, and with a kitchen: from Saturday you find us in the old station, too. Breakfast from seven, bread from the oven all day, and the big table by the window is for everybody.",
              "Größer, heller und mit Küche: Ab Samstag finden Sie uns auch im alten Bahnhof. Frühstück ab sieben, den ganzen Tag Brot aus dem Ofen, und der große Tisch am Fenster ist für alle da.",
            ),
            { align: "center" },
          ),
          k.button(say("See how to get there", "Anfahrt ansehen"), address("shopUrl"), { align: "center" }),
          k.space(20),
        ]),
        k.panel(
          [
            [
              k.heading(say("Opening day", "Eröffnungstag"), 3, { size: 17 }),
              k.text(
                say(
                  "The first hundred guests get a loaf to take home.",
                  "Die ersten hundert Gäste bekommen ein Brot mit nach Hause.",
                ),
                { size: 15 },
              ),
            ],
            [
              k.heading(say("Hours", "Öffnungszeiten"), 3, { size: 17 }),
              k.text(say("Every day, 7 am to 6 pm.", "Täglich von 7 bis 18 Uhr."), { size: 15 }),
            ],
          ],
          "#f6e4d6",
        ),
        ...k.marketing(
          say(
            "You get this email because you signed up for news.",
            "Sie erhalten diese E-Mail, weil Sie sich für Neuigkeiten angemeldet haben.",
          ),
        ),
      ],
      { font: "Georgia, 'Times New Roman', serif" },
    ),
  };
};
export default make;
