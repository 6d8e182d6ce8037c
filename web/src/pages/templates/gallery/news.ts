import { address, kit, type Make } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say);
  const story = (title: string, content: string, url: string) => [
    k.heading(title, 3),
    k.text(content, { size: 15 }),
    k.link(say("Read on", "Weiterlesen"), url, { size: 15 }),
    k.space(8),
  ];
  return {
    subject: say("This month: bookings by phone", "Diesen Monat: Buchungen per Telefon"),
    builderJson: k.document(
      say("One new thing, and two that became better.", "Etwas Neues, und zwei Verbesserungen."),
      [
        ...k.brand(),
        k.band([
          k.space(20),
          k.label(say("THIS MONTH", "DIESEN MONAT")),
          k.heading(
            say("Bookings by phone now land in your calendar", "Telefonische Buchungen landen jetzt im Kalender"),
          ),
          k.text(
            say(
              "Guests who call hear the free times and choose one. The booking is in your calendar before they hang up, with their number and a note of what they said. No forms, no calling back.",
              "Wer anruft, hört die freien Zeiten und wählt eine aus. Die Buchung steht im Kalender, bevor aufgelegt wird, mit Nummer und Notiz. Keine Formulare, kein Rückruf.",
            ),
          ),
          k.button(say("Turn it on", "Einschalten"), address("storyUrl")),
          k.space(12),
          k.divider,
        ]),
        k.row([
          story(
            say("A calmer calendar", "Ein ruhigerer Kalender"),
            say(
              "Fewer colours, larger type, and one line for today.",
              "Weniger Farben, größere Schrift und eine Linie für heute.",
            ),
            address("secondUrl"),
          ),
          story(
            say("Invoices in one click", "Rechnungen mit einem Klick"),
            say(
              "From the booking to the PDF, with the right tax.",
              "Von der Buchung zum PDF, mit der richtigen Steuer.",
            ),
            address("thirdUrl"),
          ),
        ]),
        k.band([k.space(8)]),
        ...k.marketing(say("You get this email once a month.", "Diese E-Mail erhalten Sie einmal im Monat.")),
      ],
    ),
  };
};
export default make;
