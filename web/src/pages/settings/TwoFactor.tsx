import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { DeveloperTotpEnrolment } from "@postern/sdk";
import { IconCopy, IconDownload } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { Button, Copy, Field, ICON } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { profileQuery, useProfile } from "../../session/profile";
import { queries } from "../../session/queries";
import { api } from "../../session/server";
import { DIALOG, type Errors, errorsOf, FormDialog, OwnPassword, STAY, textOf } from "./pieces";
import { qrMatrix, qrPath } from "./qr";

/** Modules of light around a QR code. */
const QUIET = 4;

/** Sets up an authenticator app: the password, the code to scan, a first code, and the recovery codes. */
export function TurnOn({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const [enrolment, setEnrolment] = useState<DeveloperTotpEnrolment>();
  const [codes, setCodes] = useState<string[]>();
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setErrors({});
    try {
      if (!enrolment) {
        setEnrolment(await api().developers.totp.enroll({ password: String(form.get("password")) }));
      } else {
        const confirmed = await api().developers.totp.confirm({ code: textOf(form, "code").replaceAll(" ", "") });
        setCodes(confirmed.recoveryCodes);
        void queries.invalidateQueries({ queryKey: ["account", "sessions"] });
      }
    } catch (error) {
      setErrors(errorsOf(error, { password: ["/password", "password_wrong"], code: ["/code", "code_wrong"] }));
    } finally {
      setBusy(false);
    }
  };
  if (codes) return <ShowCodes codes={codes} onClose={onClose} />;
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.settings_totp_set_up()}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
      closeOnClickOutside={!enrolment}
    >
      <form className="form" onSubmit={submit} noValidate key={enrolment ? "code" : "password"}>
        {enrolment ? (
          <Scan enrolment={enrolment} errors={errors} />
        ) : (
          <>
            <p className="muted">{m.settings_totp_lead()}</p>
            <OwnPassword error={errors.password} isFirst />
          </>
        )}
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {enrolment ? m.settings_totp_turn_on() : m.settings_continue()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function Scan({ enrolment, errors }: { enrolment: DeveloperTotpEnrolment; errors: Errors }) {
  const key = enrolment.secret.match(/.{1,4}/g)?.join(" ") ?? enrolment.secret;
  return (
    <>
      <div className="totp">
        <QrCode text={enrolment.uri} />
        <div>
          <p>{m.settings_totp_scan()}</p>
          <p className="idline">
            <code className="secret">{key}</code>
            <Copy value={enrolment.secret} label={m.settings_totp_copy()} />
          </p>
        </div>
      </div>
      <Field
        label={m.settings_totp_code()}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={7}
        hint={m.settings_totp_others_end()}
        error={errors.code}
        autoFocus
      />
    </>
  );
}

/** A QR code drawn here: its text is a secret. Without one if the text is too long for it. */
function QrCode({ text }: { text: string }) {
  const matrix = qrMatrix(text);
  if (!matrix) return null;
  const size = matrix.length + 2 * QUIET;
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={m.settings_totp_qr()}>
      <rect width={size} height={size} fill="#fff" />
      <path d={qrPath(matrix)} transform={`translate(${QUIET} ${QUIET})`} fill="#111a1c" shapeRendering="crispEdges" />
    </svg>
  );
}

/** Recovery codes, which are shown this once. The dialog stays open until they are saved. */
function ShowCodes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const { email } = useProfile();
  const [isSaved, setSaved] = useState(false);
  const done = () => {
    void queries.refetchQueries(profileQuery);
    onClose();
  };
  const text = `${m.settings_codes_file({ server: location.host, email })}\n\n${codes.join("\n")}\n`;
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      classNames={{ body: DIALOG }}
      title={m.settings_codes_title()}
    >
      <div className="form">
        <p>{m.settings_codes_lead()}</p>
        <ul className="codes" aria-label={m.settings_codes()}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <p className="line">
          <Button
            size="small"
            icon={<IconDownload {...ICON} />}
            onClick={() => download(text, "postern-recovery-codes.txt", "text/plain")}
          >
            {m.settings_download()}
          </Button>
          <Button
            size="small"
            icon={<IconCopy {...ICON} />}
            onClick={async () => {
              await navigator.clipboard.writeText(codes.join("\n"));
              notifications.show({ message: m.settings_codes_copied() });
            }}
          >
            {m.copy()}
          </Button>
        </p>
        <label className="line">
          <input
            className="check"
            type="checkbox"
            checked={isSaved}
            onChange={(event) => setSaved(event.target.checked)}
          />
          {m.settings_codes_saved()}
        </label>
        <div className="dialog-actions">
          <Button kind="primary" disabled={!isSaved} onClick={done}>
            {m.settings_done()}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

const PLACES = { password: ["/password", "password_wrong"], code: ["/code", "code_wrong"] };

function PasswordAndCode({ errors }: { errors: Errors }) {
  return (
    <>
      <OwnPassword error={errors.password} isFirst />
      <Field label={m.code()} name="code" autoComplete="one-time-code" hint={m.code_hint()} error={errors.code} />
    </>
  );
}

function proofOf(form: FormData) {
  return { password: String(form.get("password")), code: textOf(form, "code").replaceAll(" ", "") };
}

/** Turns the second factor off. */
export function TurnOff({ onClose }: { onClose: () => void }) {
  return (
    <FormDialog
      title={m.settings_totp_turn_off()}
      deed={m.settings_turn_off()}
      kind="solid-danger"
      places={PLACES}
      onClose={onClose}
      run={async (form) => {
        await api().developers.totp.disable(proofOf(form));
        await queries.refetchQueries(profileQuery);
        notifications.show({ message: m.settings_totp_is_off() });
      }}
    >
      {(errors) => (
        <>
          <p>{m.settings_totp_off_lead()}</p>
          <PasswordAndCode errors={errors} />
        </>
      )}
    </FormDialog>
  );
}

/** Replaces the recovery codes. */
export function RenewCodes({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const [codes, setCodes] = useState<string[]>();
  if (codes) return <ShowCodes codes={codes} onClose={onClose} />;
  return (
    <FormDialog
      title={m.settings_codes_new()}
      deed={m.settings_codes_new_deed()}
      places={PLACES}
      onClose={onClose}
      run={async (form) => {
        const renewed = await api().developers.renewRecoveryCodes(proofOf(form));
        setCodes(renewed.recoveryCodes);
        return STAY;
      }}
    >
      {(errors) => (
        <>
          <p className="muted">{m.settings_codes_new_lead()}</p>
          <PasswordAndCode errors={errors} />
        </>
      )}
    </FormDialog>
  );
}
