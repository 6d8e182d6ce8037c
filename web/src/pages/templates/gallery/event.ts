import { address, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#a21c4c", page: "#fbf0f3", ink: "#33131f", soft: "#6e535d", line: "#f0d9e1" });
  const slot = (time: string, title: string, content: string) => [
    k.rich(`<b>${time} · ${title}</b><br>${content}`, { size: 15 }),
  ];
  return {
    subject: say("You are invited: our summer evening", "Einladung zu unserem Sommerabend"),
    builderJson: k.document(
      say("Talks, food and a long table outside.", "Vorträge, Essen und eine lange Tafel im Freien."),
      [
        ...k.brand({ align: "center" }),
        k.band([
          k.space(10),
          k.picture("lanterns", say("Lanterns over a table in the evening", "Lampions über einer Tafel am Abend")),
          k.space(8),
          k.label(say("INVITATION", "EINLADUNG"), { align: "center" }),
          k.heading(say("An evening under the lanterns", "Ein Abend unter Lampions"), 1, { align: "center", size: 34 }),
          k.text(
            say(
              "Once a year we get together with the people we work for. Three short talks, one long table, and nobody has to wear a name tag.",
              "Einmal im Jahr treffen wir die, für die wir arbeiten. Drei kurze Vorträge, eine lange Tafel, und niemand muss ein Namensschild tragen.",
            ),
            { align: "center" },
          ),
          k.space(8),
        ]),
        k.panel(
          [
            [
              k.label(say("WHEN", "WANN")),
              k.rich(
                `<b>${value("eventDay", say("Thursday, 18 June", "Donnerstag, 18. Juni"))}</b><br>${value("eventTime", say("6 pm to 10 pm", "18 bis 22 Uhr"))}`,
              ),
            ],
            [
              k.label(say("WHERE", "WO")),
              k.rich(
                `<b>${value("eventPlace", say("The old greenhouse", "Altes Gewächshaus"))}</b><br>${value("eventStreet", say("4 Garden Lane", "Gartenweg 4"))}`,
              ),
            ],
          ],
          "#f8dfe7",
        ),
        k.band([
          k.space(16),
          ...slot("18:00", say("Arrive", "Ankommen"), say("Something cold in the courtyard.", "Etwas Kaltes im Hof.")),
          ...slot(
            "18:45",
            say("Three talks", "Drei Vorträge"),
            say("Ten minutes each, without slides.", "Je zehn Minuten, ohne Folien."),
          ),
          ...slot(
            "20:00",
            say("The long table", "Die lange Tafel"),
            say("Food from the garden, also vegan.", "Essen aus dem Garten, auch vegan."),
          ),
          k.space(4),
          k.button(say("I am coming", "Ich komme gern"), address("acceptUrl"), { align: "center" }),
          k.small(
            say(
              `<a href="${address("declineUrl")}">I cannot make it</a>`,
              `<a href="${address("declineUrl")}">Ich kann leider nicht</a>`,
            ),
            { align: "center" },
          ),
          k.space(16),
        ]),
        ...k.marketing(
          say(
            "You get this email because you are a customer.",
            "Sie erhalten diese E-Mail, weil Sie Kundin oder Kunde sind.",
          ),
        ),
      ],
    ),
  };
};
export default make;
