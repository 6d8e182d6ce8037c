import { notifications } from "@mantine/notifications";
import type { Passkey } from "@postern/sdk";
import { IconFingerprint, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { shortTime } from "../../parts/format";
import { Button, Field, ICON, LoadingFailed } from "../../parts/parts";
import { useUndo } from "../../parts/undo";
import { queries } from "../../session/queries";
import { api, messageOf } from "../../session/server";
import { FormDialog, OwnPassword, Row, textOf } from "./pieces";
import { browserOf } from "./userAgent";

const PASSKEYS = ["account", "passkeys"];
/** Passkeys of a developer. */
const MOST = 20;

/** The passkeys of the developer, with the way to another. */
export function Passkeys({ needsCode }: { needsCode: boolean }) {
  const [isAdding, setAdding] = useState(false);
  const { hidden, start } = useUndo();
  const query = useQuery({ queryKey: PASSKEYS, queryFn: ({ signal }) => api().developers.passkeys.list({ signal }) });
  const passkeys = (query.data ?? []).filter((each) => !hidden.has(each.id));
  const canAdd = "PublicKeyCredential" in window && passkeys.length < MOST;
  const remove = ({ id, name }: Passkey) =>
    start({
      id,
      said: m.settings_passkey_removed({ name }),
      run: async () => {
        await api().developers.passkeys.delete(id);
        await queries.invalidateQueries({ queryKey: PASSKEYS });
      },
      failed: messageOf,
    });
  if (query.error && !query.data) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <>
      <ul className="rows joined">
        {passkeys.map((each) => (
          <Row
            key={each.id}
            icon={<IconFingerprint {...ICON} />}
            title={each.name}
            action={
              <Button
                size="small"
                aria-label={m.settings_passkey_remove({ name: each.name })}
                onClick={() => remove(each)}
              >
                {m.settings_remove()}
              </Button>
            }
          >
            {[
              each.lastUsedAt
                ? m.settings_passkey_used({ day: shortTime(each.lastUsedAt) })
                : m.settings_passkey_never(),
              m.settings_passkey_added({ day: shortTime(each.createdAt) }),
              each.backedUp && m.settings_passkey_synced(),
            ]
              .filter(Boolean)
              .join(" · ")}
          </Row>
        ))}
        <Row
          icon={<IconFingerprint {...ICON} />}
          title={passkeys.length ? m.settings_passkey_another() : m.settings_passkey_none()}
          action={
            canAdd && (
              <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setAdding(true)}>
                {m.settings_passkey_add()}
              </Button>
            )
          }
        >
          {"PublicKeyCredential" in window ? m.settings_passkey_lead() : m.settings_passkey_unsupported()}
        </Row>
      </ul>
      {isAdding && <AddPasskey needsCode={needsCode} onClose={() => setAdding(false)} />}
    </>
  );
}

/** What the browser's own dialog answers, in words. */
function refusalOf(error: unknown): Error | undefined {
  if (!(error instanceof DOMException)) return undefined;
  if (error.name === "NotAllowedError") return new Error(m.settings_passkey_cancelled());
  if (error.name === "InvalidStateError") return new Error(m.settings_passkey_exists());
  if (error.name === "SecurityError") return new Error(m.settings_passkey_domain());
  return new Error(m.settings_passkey_failed({ reason: error.message }));
}

async function create(options: object): Promise<PublicKeyCredential> {
  try {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
    return (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
  } catch (error) {
    throw refusalOf(error) ?? error;
  }
}

function AddPasskey({ needsCode, onClose }: { needsCode: boolean; onClose: () => void }) {
  const { name, system } = browserOf(navigator.userAgent);
  return (
    <FormDialog
      title={m.settings_passkey_add()}
      deed={m.settings_passkey_create()}
      places={{
        name: ["/name"],
        password: ["/password", "password_wrong"],
        code: ["/code", "code_wrong", "mfa_required"],
      }}
      onClose={onClose}
      run={async (form) => {
        const begun = await api().developers.passkeys.beginRegistration({
          password: String(form.get("password")),
          code: needsCode ? textOf(form, "code").replaceAll(" ", "") : undefined,
        });
        const credential = await create(begun.options);
        await api().developers.passkeys.register({
          challengeId: begun.challengeId,
          credential: credential.toJSON() as never,
          name: textOf(form, "name") || undefined,
        });
        await queries.invalidateQueries({ queryKey: PASSKEYS });
        notifications.show({ message: m.settings_passkey_done() });
      }}
    >
      {(errors) => (
        <>
          <p className="muted">{m.settings_passkey_how()}</p>
          <Field
            label={m.settings_passkey_name()}
            name="name"
            defaultValue={name && system ? m.settings_session_on({ browser: name, system }) : ""}
            maxLength={100}
            autoComplete="off"
            error={errors.name}
          />
          <OwnPassword error={errors.password} isFirst />
          {needsCode && (
            <Field label={m.code()} name="code" autoComplete="one-time-code" hint={m.code_hint()} error={errors.code} />
          )}
        </>
      )}
    </FormDialog>
  );
}
