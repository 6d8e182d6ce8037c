import { address, hello, kit, line, type Make, table, value } from "./kit.ts";

const make: Make = (say) => {
  const k = kit(say, { accent: "#1f2d3a", page: "#f2f4f6", ink: "#1f2d3a", soft: "#566370", line: "#dde2e7" });
  return {
    subject: say("Your password was changed", "Ihr Passwort wurde geändert"),
    builderJson: k.document(say("If that was you, there is nothing to do.", "Wenn Sie das waren, ist nichts zu tun."), [
      ...k.brand(),
      k.band([
        k.space(20),
        k.heading(say("Your password was changed", "Ihr Passwort wurde geändert"), 2),
        k.text(
          `${hello(say)}\n\n${say(
            "The password of your account was changed. If that was you, there is nothing to do.",
            "das Passwort Ihres Kontos wurde geändert. Wenn Sie das waren, ist nichts zu tun.",
          )}`,
        ),
        {
          type: "html",
          html: table([
            line(say("When", "Wann"), value("changedAt", say("just now", "gerade eben"))),
            line(say("Device", "Gerät"), value("device", say("unknown", "unbekannt"))),
            line(say("Near", "Ungefährer Ort"), value("place", say("unknown", "unbekannt"))),
          ]),
        },
        k.space(8),
        k.heading(say("That was not you?", "Das waren nicht Sie?"), 3),
        k.text(
          say(
            "Set a new password now. This signs out every device. Then look through your recent sign-ins.",
            "Setzen Sie sofort ein neues Passwort. Das meldet alle Geräte ab. Prüfen Sie danach Ihre letzten Anmeldungen.",
          ),
        ),
        k.button(say("Secure the account", "Konto sichern"), address("secureUrl")),
        k.space(4),
        k.small(
          say(
            "We never ask for your password, neither by email nor by phone.",
            "Wir fragen nie nach Ihrem Passwort, weder per E-Mail noch am Telefon.",
          ),
        ),
        k.space(16),
      ]),
      ...k.transactional(
        say(
          "We send this email after every change of a password. It cannot be turned off.",
          "Diese E-Mail senden wir nach jeder Änderung eines Passworts. Sie lässt sich nicht abstellen.",
        ),
      ),
    ]),
  };
};
export default make;
