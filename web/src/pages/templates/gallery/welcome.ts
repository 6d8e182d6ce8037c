import { address, hello, kit, type Make } from "./kit.ts";

const make: Make = (say) => {
  const { band, brand, button, company, divider, document, heading, rich, small, space, text, transactional } =
    kit(say);
  return {
    subject: say(`Welcome to ${company}`, `Willkommen bei ${company}`),
    builderJson: document(
      say("Your account is ready. Here is the best first step.", "Ihr Konto ist bereit. So fangen Sie am besten an."),
      [
        ...brand(),
        band([
          space(20),
          heading(say("Your account is ready", "Ihr Konto ist bereit")),
          text(
            `${hello(say)}\n\n${say(
              "Good to have you here. Most people begin by setting up their workspace. It takes about two minutes, and everything else follows from it.",
              "schön, dass Sie da sind. Die meisten richten zuerst ihren Arbeitsbereich ein. Das dauert etwa zwei Minuten, und alles Weitere ergibt sich daraus.",
            )}`,
          ),
          button(say("Set up the workspace", "Arbeitsbereich einrichten"), address("startUrl")),
          space(12),
          divider,
          heading(say("Good to know", "Gut zu wissen"), 3),
          rich(
            say(
              '<ul style="margin:0;padding-left:20px"><li><b>Invite your team</b> in the settings. Everybody gets an account of their own.</li><li><b>Bring your data along</b> as a CSV file. Nothing is changed before you confirm.</li><li><b>You can leave at any time</b> and take everything with you.</li></ul>',
              '<ul style="margin:0;padding-left:20px"><li><b>Laden Sie Ihr Team ein</b>, in den Einstellungen. Alle bekommen ein eigenes Konto.</li><li><b>Bringen Sie Ihre Daten mit</b>, als CSV-Datei. Es ändert sich nichts, bevor Sie zustimmen.</li><li><b>Sie können jederzeit gehen</b> und alles mitnehmen.</li></ul>',
            ),
          ),
          small(
            say(
              "Stuck? Reply to this email. A person reads it and answers, usually on the same day.",
              "Sie kommen nicht weiter? Antworten Sie auf diese E-Mail. Ein Mensch liest sie und antwortet, meist am selben Tag.",
            ),
          ),
          space(16),
        ]),
        ...transactional(
          say(
            "You get this email because you created an account.",
            "Sie erhalten diese E-Mail, weil Sie ein Konto angelegt haben.",
          ),
        ),
      ],
    ),
  };
};
export default make;
