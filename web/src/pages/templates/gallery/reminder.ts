import { address, hello, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#7a2e58", page: "#f9f2f6", ink: "#2d1723", soft: "#6a5560", line: "#ecdbe4" });
  const day = value("appointmentDay", say("the agreed day", "am vereinbarten Tag"));
  const time = value("appointmentTime", say("the agreed time", "zur vereinbarten Zeit"));
  return {
    subject: say("Your appointment: a reminder", "Ihr Termin: eine Erinnerung"),
    builderJson: k.document(say("When and where, and how to change it.", "Wann und wo, und wie Sie ihn ändern."), [
      ...k.brand(),
      k.band([
        k.space(20),
        k.heading(say("See you soon", "Bis bald")),
        k.text(`${hello(say)}\n\n${say("This is your appointment with us:", "das ist Ihr Termin bei uns:")}`),
      ]),
      k.panel(
        [
          [k.label(say("WHEN", "WANN")), k.rich(`<b>${day}<br>${time}</b>`, { size: 18 })],
          [
            k.label(say("WHERE", "WO")),
            k.rich(`<b>${value("place", say("At our office", "In unseren Räumen"))}</b>`, { size: 18 }),
          ],
        ],
        "#f3e3ec",
      ),
      k.band([
        k.space(12),
        k.text(
          say(
            "If that no longer suits you, change or cancel it up to 24 hours before, so that the time is free for others.",
            "Wenn es doch nicht passt, können Sie bis 24 Stunden vorher verschieben oder absagen. Dann wird die Zeit für andere frei.",
          ),
        ),
        k.button(say("Change or cancel", "Verschieben oder absagen"), address("changeUrl")),
        k.space(16),
      ]),
      ...k.transactional(
        say(
          "You get this email because you made an appointment.",
          "Sie erhalten diese E-Mail, weil Sie einen Termin vereinbart haben.",
        ),
      ),
    ]),
  };
};
export default make;
