import { address, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, {
    accent: "#8c2f1b",
    page: "#fdfbf7",
    ink: "#231e19",
    soft: "#655b52",
    line: "#e6ddd2",
    font: "Georgia, 'Times New Roman', serif",
  });
  const paragraph = (content: string) => k.text(content, { size: 18 });
  return {
    subject: say("The slow repair", "Die langsame Reparatur"),
    builderJson: k.document(
      say("A long read for the weekend: nine minutes.", "Etwas Langes fürs Wochenende: neun Minuten."),
      [
        ...k.brand(),
        k.divider,
        k.space(8),
        k.label(say("THE LONG READ", "DIE LANGE LEKTÜRE")),
        k.heading(say("The slow repair", "Die langsame Reparatur"), 1, { size: 40 }),
        k.text(
          say(
            "A watchmaker in a town without watches, and what she knows about time.",
            "Eine Uhrmacherin in einer Stadt ohne Uhren, und was sie über die Zeit weiß.",
          ),
          { size: 20, color: k.soft },
        ),
        k.small(
          `${say("By", "Von")} ${value("authorName", say("our editors", "unserer Redaktion"))} · ${say("9 minutes", "9 Minuten")}`,
        ),
        k.picture("workshop", say("A workbench by the window, with a lamp", "Eine Werkbank am Fenster, mit Lampe")),
        k.space(8),
        paragraph(
          say(
            "The bell above the door rings twice a day, on a good day. The rest of the time it is so quiet in the shop that you hear the clocks disagree. Forty of them hang on the wall, and no two show the same hour. “They are all right,” she says. “They are only from different places.”",
            "Die Glocke über der Tür klingelt zweimal am Tag, an guten Tagen. Die übrige Zeit ist es so still im Laden, dass man hört, wie die Uhren sich widersprechen. Vierzig hängen an der Wand, und keine zwei zeigen dieselbe Stunde. „Sie gehen alle richtig“, sagt sie. „Sie kommen nur von verschiedenen Orten.“",
          ),
        ),
        paragraph(
          say(
            "She learned the trade when it was already ending. Her teacher gave her a loupe, a set of screwdrivers and one rule: never open a clock on the first day. First you listen. What is broken tells you, if you leave it time enough.",
            "Sie lernte das Handwerk, als es schon zu Ende ging. Ihr Lehrer gab ihr eine Lupe, einen Satz Schraubendreher und eine Regel: Öffne eine Uhr nie am ersten Tag. Erst wird zugehört. Was kaputt ist, sagt es einem, wenn man ihm genug Zeit lässt.",
          ),
        ),
        k.space(4),
        k.heading(
          say(
            "“What is broken tells you, if you leave it time enough.”",
            "„Was kaputt ist, sagt es einem, wenn man ihm genug Zeit lässt.“",
          ),
          2,
          { color: k.accent, align: "center" },
        ),
        k.space(4),
        paragraph(
          say(
            "A repair takes her three weeks on average. One day of it is work. The rest is waiting: for oil to settle, for a spring to rest, for the customer to notice that they managed without. Every tenth does not come back. She keeps those clocks wound anyway.",
            "Eine Reparatur dauert bei ihr im Schnitt drei Wochen. Ein Tag davon ist Arbeit. Der Rest ist Warten: bis das Öl sich setzt, die Feder ruht und die Kundschaft merkt, dass es auch ohne ging. Jede Zehnte kommt nicht wieder. Aufgezogen werden deren Uhren trotzdem.",
          ),
        ),
        k.button(say("Read the whole story", "Die ganze Geschichte lesen"), address("storyUrl")),
        k.space(12),
        k.divider,
        ...k.marketing(say("You get one long read every Saturday.", "Jeden Samstag erhalten Sie eine lange Lektüre.")),
      ],
      { width: 620 },
    ),
  };
};
export default make;
