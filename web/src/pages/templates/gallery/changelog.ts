import { address, kit, type Make, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#0f766e", page: "#ffffff", ink: "#12211f", soft: "#4f6360", line: "#d8e4e2" });
  const list = (entries: string[]) =>
    k.rich(`<ul style="margin:0;padding-left:20px">${entries.map((entry) => `<li>${entry}</li>`).join("")}</ul>`);
  const version = value("version", "4.2");
  return {
    subject: say(`What is new in ${version}`, `Neu in ${version}`),
    builderJson: k.document(
      say(
        "Faster search, dark mode, and one change for you to check.",
        "Schnellere Suche, dunkle Ansicht, und etwas zu prüfen.",
      ),
      [
        ...k.brand(),
        k.label(say("RELEASE NOTES", "VERSIONSHINWEISE")),
        k.heading(say(`What is new in ${version}`, `Neu in ${version}`)),
        k.text(
          say(
            "Three weeks of work, mostly on speed. The update is already there, and you do not have to do anything.",
            "Drei Wochen Arbeit, vor allem für mehr Tempo. Die neue Version ist schon da, und Sie müssen nichts tun.",
          ),
        ),
        k.divider,
        k.heading(say("New", "Neu"), 3),
        list([
          say(
            "<b>Dark mode</b> follows the setting of your device.",
            "Die <b>dunkle Ansicht</b> folgt der Einstellung Ihres Geräts.",
          ),
          say(
            "<b>Saved filters</b> for every list, shared with your team.",
            "<b>Gespeicherte Filter</b> für jede Liste, auch fürs Team.",
          ),
        ]),
        k.heading(say("Better", "Besser"), 3),
        list([
          say("Search answers in a fifth of the time.", "Die Suche antwortet in einem Fünftel der Zeit."),
          say(
            "Exports have the columns that you see, in your order.",
            "Exporte haben die Spalten, die Sie sehen, in Ihrer Reihenfolge.",
          ),
        ]),
        k.heading(say("Repaired", "Behoben"), 3),
        list([
          say(
            "Reminders no longer arrive twice after a change of time zone.",
            "Erinnerungen kommen nach einem Wechsel der Zeitzone nicht mehr doppelt.",
          ),
        ]),
        k.panel(
          [
            [
              k.heading(say("Please check", "Bitte prüfen"), 3, { size: 17 }),
              k.text(
                say(
                  "The old import format ends on 30 June. If you import files every night, switch before that.",
                  "Das alte Importformat endet am 30. Juni. Wenn Sie jede Nacht Dateien importieren, stellen Sie vorher um.",
                ),
                { size: 15 },
              ),
              k.link(say("How to switch", "So stellen Sie um"), address("migrationUrl"), { size: 15 }),
            ],
          ],
          "#e3f1ef",
        ),
        k.space(8),
        k.button(say("All changes", "Alle Änderungen"), address("changelogUrl")),
        k.space(8),
        k.divider,
        ...k.marketing(
          say("You get release notes about once a month.", "Versionshinweise erhalten Sie etwa einmal im Monat."),
        ),
      ],
    ),
  };
};
export default make;
