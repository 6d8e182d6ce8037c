import { hello, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { page: "#ffffff", ink: "#1e2426", soft: "#596468", accent: "#0d6472" });
  const paragraph = (content: string) => k.text(content, { size: 17 });
  return {
    subject: say("Why we say no to most ideas", "Warum wir zu den meisten Ideen Nein sagen"),
    builderJson: k.document(
      say("A letter, and a question at the end.", "Ein Brief, und am Ende eine Frage."),
      [
        k.space(24),
        paragraph(hello(say)),
        paragraph(
          say(
            "last year you sent us 1,340 ideas. We built 22 of them. I would like to explain the other 1,318, because you took the time to write them down.",
            "im letzten Jahr haben Sie uns 1.340 Ideen geschickt. Gebaut haben wir 22. Die anderen 1.318 möchte ich Ihnen erklären, denn Sie haben sich die Zeit genommen, sie aufzuschreiben.",
          ),
        ),
        paragraph(
          say(
            "Each new button makes every other button a little harder to find. So we ask one question of each idea: would somebody miss it after a week? Not “would it be nice”, but would they miss it. Most good ideas fail at that, and they are still good ideas.",
            "Jeder neue Knopf macht alle anderen ein wenig schwerer zu finden. Darum stellen wir jeder Idee eine Frage: Würde sie jemand nach einer Woche vermissen? Nicht, ob sie schön wäre, sondern ob sie fehlen würde. Daran scheitern die meisten guten Ideen, und es bleiben gute Ideen.",
          ),
        ),
        paragraph(
          say(
            "The 22 that passed have something in common. Each came from a person who described an afternoon, not a function: what they wanted to do, where they got stuck, and what they did instead.",
            "Die 22, die bestanden haben, verbindet etwas. Jede kam von jemandem, der keinen Wunsch nach einer Funktion beschrieb, sondern einen Nachmittag: was zu tun war, wo es hakte, und was stattdessen geschah.",
          ),
        ),
        paragraph(
          say(
            "So here is my question. Where did you get stuck last week? Reply to this email. I read every answer myself.",
            "Deshalb meine Frage: Wo hat es bei Ihnen letzte Woche gehakt? Antworten Sie einfach auf diese E-Mail. Ich lese jede Antwort selbst.",
          ),
        ),
        paragraph(say("Thank you for being here,", "Danke, dass Sie dabei sind,")),
        k.rich(`<b>${value("senderName", say("The founder", "Die Gründerin"))}</b><br>${k.company}`, { size: 17 }),
        k.space(12),
        k.divider,
        ...k.marketing(say("I write about four times a year.", "Ich schreibe etwa viermal im Jahr.")),
      ],
      { font: "Georgia, 'Times New Roman', serif", width: 560 },
    ),
  };
};
export default make;
