import { address, hello, kit, line, type Make, table, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#8a3d0f", page: "#faf5f0", ink: "#2b1d14", soft: "#6b5a4e", line: "#ecdfd4" });
  const day = value("trialEndDay", say("in three days", "in drei Tagen"));
  return {
    subject: say("Your trial ends soon", "Ihr Test endet bald"),
    builderJson: k.document(
      say("Choose a plan, or do nothing: we charge nothing.", "Wählen Sie einen Tarif, oder nichts: Es kostet nichts."),
      [
        ...k.brand(),
        k.band([
          k.space(20),
          k.label(say(`ENDS: ${day}`, `ENDET: ${day}`)),
          k.heading(say("Your trial ends soon", "Ihr Test endet bald")),
          k.text(
            `${hello(say)}\n\n${say(
              "Thank you for trying us. If you would like to go on, choose a plan. Everything you made stays as it is.",
              "danke, dass Sie uns ausprobiert haben. Wenn Sie weitermachen möchten, wählen Sie einen Tarif. Alles, was Sie angelegt haben, bleibt.",
            )}`,
          ),
          {
            type: "html",
            html: table([
              line(
                say("<b>Solo</b><br>One person, all functions", "<b>Solo</b><br>Eine Person, alle Funktionen"),
                say("€ 9 a month", "9 € im Monat"),
              ),
              line(
                say(
                  "<b>Team</b><br>Up to ten people, shared projects",
                  "<b>Team</b><br>Bis zu zehn Personen, gemeinsame Projekte",
                ),
                say("€ 39 a month", "39 € im Monat"),
              ),
            ]),
          },
          k.space(4),
          k.button(say("Choose a plan", "Tarif wählen"), address("planUrl")),
          k.space(4),
          k.rich(
            say(
              "<b>If you do nothing</b>, your account becomes read-only. We delete nothing for 90 days, and we charge nothing.",
              "<b>Wenn Sie nichts tun</b>, können Sie Ihr Konto nur noch ansehen. Wir löschen 90 Tage lang nichts und berechnen nichts.",
            ),
            { size: 15 },
          ),
          k.space(16),
        ]),
        ...k.transactional(
          say("You get this email because your trial ends.", "Sie erhalten diese E-Mail, weil Ihr Testzeitraum endet."),
        ),
      ],
    ),
  };
};
export default make;
