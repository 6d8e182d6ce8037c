import { useMantineColorScheme } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconAt, IconDeviceMobileMessage, IconListNumbers, IconLock, IconUser } from "@tabler/icons-react";
import { useState } from "react";
import { keepLive, startsLive } from "../../lists/liveness";
import { m } from "../../messages/messages.js";
import { getLocale, locales, setLocale } from "../../messages/runtime.js";
import { shortTime } from "../../parts/format";
import { Button, Field, ICON } from "../../parts/parts";
import { profileQuery, useMayWrite, useProfile } from "../../session/profile";
import { queries } from "../../session/queries";
import { api, messageOf } from "../../session/server";
import { LANGUAGES } from "../../shell/preferences";
import { useTour } from "../../tour/state";
import { Frame } from "./Frame";
import { Passkeys } from "./Passkeys";
import { FormDialog, OwnPassword, Row, Section, Setting, textOf } from "./pieces";
import { ROLE_WORDS } from "./roles";
import { Sessions } from "./Sessions";
import { RenewCodes, TurnOff, TurnOn } from "./TwoFactor";

/** Recovery codes from which on new ones are advised. */
const FEW_CODES = 3;
const MOST_CODES = 10;

type Dialog = "" | "name" | "email" | "password" | "totp-on" | "totp-off" | "codes";

/** The developer who is signed in: name, ways to sign in, sessions, and what this browser keeps. */
export function ProfilePart() {
  const [dialog, setDialog] = useState<Dialog>("");
  const close = () => setDialog("");
  const profile = useProfile();
  return (
    <Frame
      name="profile"
      title={m.settings_profile()}
      lead={m.settings_profile_lead({
        role: ROLE_WORDS[profile.role]?.() ?? profile.role,
        account: profile.account.name,
      })}
      request={{ method: "GET", path: "/account" }}
    >
      <You onOpen={setDialog} />
      <SigningIn onOpen={setDialog} />
      <Sessions />
      <ThisBrowser />
      {dialog === "name" && <NameDialog onClose={close} />}
      {dialog === "email" && <EmailDialog onClose={close} />}
      {dialog === "password" && <PasswordDialog onClose={close} />}
      {dialog === "totp-on" && <TurnOn onClose={close} />}
      {dialog === "totp-off" && <TurnOff onClose={close} />}
      {dialog === "codes" && <RenewCodes onClose={close} />}
    </Frame>
  );
}

function You({ onOpen }: { onOpen: (dialog: Dialog) => void }) {
  const profile = useProfile();
  const [isSending, setSending] = useState(false);
  const resend = async () => {
    setSending(true);
    try {
      await api().developers.resendVerification();
      notifications.show({ message: m.settings_verify_sent({ email: profile.email }) });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    } finally {
      setSending(false);
    }
  };
  return (
    <Section title={m.settings_you_title()}>
      <ul className="rows">
        <Row
          icon={<IconUser {...ICON} />}
          title={profile.name || <span className="muted">{m.settings_no_name()}</span>}
          action={
            <Button size="small" aria-label={m.settings_change_name()} onClick={() => onOpen("name")}>
              {m.settings_change()}
            </Button>
          }
        >
          {m.settings_your_name()}
        </Row>
        <Row
          icon={<IconAt {...ICON} />}
          title={profile.email}
          action={
            <>
              {!profile.emailVerifiedAt && (
                <Button size="small" busy={isSending} onClick={() => void resend()}>
                  {m.settings_verify_again()}
                </Button>
              )}
              <Button size="small" aria-label={m.settings_change_email()} onClick={() => onOpen("email")}>
                {m.settings_change()}
              </Button>
            </>
          }
        >
          {profile.pendingEmail
            ? m.settings_email_pending({ email: profile.pendingEmail })
            : profile.emailVerifiedAt
              ? m.settings_email_hint()
              : m.settings_email_unverified()}
        </Row>
      </ul>
    </Section>
  );
}

function SigningIn({ onOpen }: { onOpen: (dialog: Dialog) => void }) {
  const profile = useProfile();
  const isOn = profile.mfaEnabledAt !== null;
  return (
    <Section title={m.settings_signing_in()} lead={m.settings_signing_in_lead()}>
      <Passkeys needsCode={isOn} />
      <ul className="rows">
        <Row
          icon={<IconLock {...ICON} />}
          title={m.password()}
          action={
            <Button size="small" aria-label={m.settings_change_password()} onClick={() => onOpen("password")}>
              {m.settings_change()}
            </Button>
          }
        >
          {m.settings_password_hint()}
        </Row>
        <Row
          icon={<IconDeviceMobileMessage {...ICON} />}
          title={m.settings_totp()}
          action={
            isOn ? (
              <Button size="small" aria-label={m.settings_totp_turn_off()} onClick={() => onOpen("totp-off")}>
                {m.settings_turn_off()}
              </Button>
            ) : (
              <Button size="small" aria-label={m.settings_totp_set_up()} onClick={() => onOpen("totp-on")}>
                {m.settings_set_up()}
              </Button>
            )
          }
        >
          {profile.mfaEnabledAt ? m.settings_totp_on({ day: shortTime(profile.mfaEnabledAt) }) : m.settings_totp_off()}
        </Row>
        {isOn && (
          <Row
            icon={<IconListNumbers {...ICON} />}
            title={m.settings_codes()}
            action={
              <Button size="small" onClick={() => onOpen("codes")}>
                {m.settings_codes_new()}
              </Button>
            }
          >
            <span className={profile.recoveryCodesLeft < FEW_CODES ? "expired" : ""}>
              {m.settings_codes_left({ count: profile.recoveryCodesLeft, of: MOST_CODES })}
            </span>
          </Row>
        )}
      </ul>
    </Section>
  );
}

function NameDialog({ onClose }: { onClose: () => void }) {
  const profile = useProfile();
  return (
    <FormDialog
      title={m.settings_change_name()}
      deed={m.settings_save_name()}
      places={{ name: ["/name"] }}
      onClose={onClose}
      run={async (form) => {
        await api().account.update({ name: textOf(form, "name") });
        await queries.refetchQueries(profileQuery);
      }}
    >
      {(errors) => (
        <Field
          label={m.settings_your_name()}
          name="name"
          autoComplete="name"
          defaultValue={profile.name}
          maxLength={200}
          hint={m.settings_your_name_hint()}
          error={errors.name}
          data-autofocus
        />
      )}
    </FormDialog>
  );
}

function EmailDialog({ onClose }: { onClose: () => void }) {
  return (
    <FormDialog
      title={m.settings_change_email()}
      deed={m.settings_email_deed()}
      places={{ email: ["/email"], password: ["/password", "password_wrong"] }}
      onClose={onClose}
      run={async (form) => {
        const email = textOf(form, "email");
        await api().account.update({ email, password: String(form.get("password")) });
        await queries.refetchQueries(profileQuery);
        notifications.show({ message: m.settings_email_sent({ email }) });
      }}
    >
      {(errors) => (
        <>
          <p className="muted">{m.settings_email_lead()}</p>
          <Field
            label={m.settings_email_new()}
            name="email"
            type="email"
            autoComplete="email"
            error={errors.email}
            data-autofocus
          />
          <OwnPassword error={errors.password} />
        </>
      )}
    </FormDialog>
  );
}

function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { email } = useProfile();
  return (
    <FormDialog
      title={m.settings_change_password()}
      deed={m.settings_change_password()}
      places={{
        current: ["/currentPassword", "password_wrong"],
        next: ["/newPassword", "password_common", "password_breached"],
      }}
      onClose={onClose}
      run={async (form) => {
        await api().developers.changePassword({
          currentPassword: String(form.get("current")),
          newPassword: String(form.get("next")),
        });
        void queries.invalidateQueries({ queryKey: ["account", "sessions"] });
        notifications.show({ message: m.settings_password_changed() });
      }}
    >
      {(errors) => (
        <>
          <p className="muted">{m.settings_password_lead()}</p>
          <input type="email" name="username" autoComplete="username" value={email} readOnly hidden />
          <Field
            label={m.settings_password_current()}
            name="current"
            type="password"
            autoComplete="current-password"
            error={errors.current}
            data-autofocus
          />
          <Field
            label={m.settings_password_new()}
            name="next"
            type="password"
            autoComplete="new-password"
            hint={m.settings_password_new_hint()}
            error={errors.next}
          />
        </>
      )}
    </FormDialog>
  );
}

/** What this browser keeps: colours, language, and whether lists move. */
function ThisBrowser() {
  const { start } = useTour();
  const mayWrite = useMayWrite();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [isLive, setLive] = useState(startsLive);
  const schemes = { auto: m.as_the_system(), light: m.light(), dark: m.dark() };
  return (
    <Section title={m.settings_browser()} lead={m.settings_browser_lead()}>
      <Setting title={m.appearance()} lead={m.settings_appearance_lead()}>
        <div className="seg" role="group" aria-label={m.appearance()}>
          {Object.entries(schemes).map(([scheme, label]) => (
            <button
              key={scheme}
              type="button"
              aria-pressed={scheme === colorScheme}
              onClick={() => setColorScheme(scheme as keyof typeof schemes)}
            >
              {label}
            </button>
          ))}
        </div>
      </Setting>
      <Setting title={m.language()} lead={m.settings_language_lead()}>
        <div className="seg" role="group" aria-label={m.language()}>
          {locales.map((locale) => (
            <button
              key={locale}
              type="button"
              lang={locale}
              aria-pressed={locale === getLocale()}
              onClick={() => void setLocale(locale)}
            >
              {LANGUAGES[locale] ?? locale}
            </button>
          ))}
        </div>
      </Setting>
      <Setting title={m.settings_live()} lead={m.settings_live_lead()}>
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={isLive}
            onChange={({ target: { checked } }) => {
              keepLive(checked);
              setLive(checked);
            }}
          />
          {m.settings_live_switch()}
        </label>
      </Setting>
      {mayWrite && (
        <Setting title={m.tour()} lead={m.tour_again_lead()}>
          <Button size="small" onClick={start}>
            {m.tour_again()}
          </Button>
        </Setting>
      )}
    </Section>
  );
}
