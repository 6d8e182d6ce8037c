import type { ProjectRelay } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Field, ICON } from "../../parts/parts";
import { FormDialog, Row, textOf, useMay } from "./pieces";

/** Relays of a project. */
const MOST_RELAYS = 8;
const DEFAULT_PORT = 587;

const ENCRYPTION = {
  "starttls-required": m.settings_relay_tls_required,
  implicit: m.settings_relay_tls_implicit,
  starttls: m.settings_relay_tls_offered,
  none: m.settings_relay_tls_none,
};

/** The servers through which the project's mail leaves. They are saved with the other settings. */
export function Relays({ relays, onChange }: { relays: ProjectRelay[]; onChange: (relays: ProjectRelay[]) => void }) {
  const [open, setOpen] = useState<number>();
  const mayWrite = useMay("projects");
  const total = relays.reduce((sum, each) => sum + (each.weight ?? 1), 0);
  return (
    <div className="relays">
      {relays.length === 0 ? (
        <p className="muted">{m.settings_relays_none_lead()}</p>
      ) : (
        <ul className="rows">
          {relays.map((relay, index) => (
            <Row
              // biome-ignore lint/suspicious/noArrayIndexKey: relays have no id, and two can be alike.
              key={index}
              title={`${relay.host}:${relay.port ?? DEFAULT_PORT}`}
              action={
                mayWrite && (
                  <>
                    <Button
                      size="small"
                      aria-label={m.settings_relay_change({ host: relay.host })}
                      onClick={() => setOpen(index)}
                    >
                      {m.settings_change()}
                    </Button>
                    <Button
                      size="small"
                      kind="bare"
                      aria-label={m.settings_relay_remove({ host: relay.host })}
                      onClick={() => onChange(relays.filter((_, at) => at !== index))}
                    >
                      {m.settings_remove()}
                    </Button>
                  </>
                )
              }
            >
              {[
                ENCRYPTION[relay.tls as keyof typeof ENCRYPTION]?.() ?? relay.tls,
                relay.username ? m.settings_relay_as({ user: relay.username }) : m.settings_relay_open(),
                relays.length > 1 && m.settings_relay_share({ share: Math.round(((relay.weight ?? 1) / total) * 100) }),
                relay.messagesPerSecond && m.settings_relay_rate({ count: count(relay.messagesPerSecond) }),
              ]
                .filter(Boolean)
                .join(" · ")}
            </Row>
          ))}
        </ul>
      )}
      {mayWrite && relays.length < MOST_RELAYS && (
        <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setOpen(relays.length)}>
          {m.settings_relay_add()}
        </Button>
      )}
      {open !== undefined && (
        <RelayDialog
          relay={relays[open]}
          onClose={() => setOpen(undefined)}
          onDone={(relay) => onChange(relays.toSpliced(open, 1, relay))}
        />
      )}
    </div>
  );
}

function RelayDialog({
  relay,
  onClose,
  onDone,
}: {
  relay: ProjectRelay | undefined;
  onClose: () => void;
  onDone: (relay: ProjectRelay) => void;
}) {
  const [host, setHost] = useState(relay?.host ?? "");
  const [username, setUsername] = useState(relay?.username ?? "");
  // The server keeps a stored password only for the same host and user name. The API returns a mask for it, and takes
  // the mask to keep it.
  const kept =
    host.trim() === relay?.host && username.trim() === (relay.username ?? "") ? (relay.password ?? null) : null;
  return (
    <FormDialog
      title={relay ? m.settings_relay_change({ host: relay.host }) : m.settings_relay_add()}
      deed={relay ? m.settings_relay_apply() : m.settings_relay_add()}
      ready={host.trim() !== ""}
      onClose={onClose}
      run={async (form) => {
        const number = (name: string) => Number(textOf(form, name)) || undefined;
        onDone({
          host: host.trim(),
          port: number("port") ?? DEFAULT_PORT,
          tls: textOf(form, "tls"),
          username: username.trim() || null,
          password: username.trim() ? String(form.get("password") ?? "") || kept : null,
          weight: number("weight") ?? 1,
          messagesPerSecond: number("rate") ?? null,
        });
      }}
    >
      {() => (
        <>
          <div className="two">
            <Field
              label={m.settings_relay_host()}
              value={host}
              onChange={(event) => setHost(event.target.value)}
              placeholder="smtp.example.com"
              spellCheck={false}
              autoComplete="off"
              data-autofocus
            />
            <Field
              label={m.settings_relay_port()}
              name="port"
              type="number"
              min={1}
              max={65535}
              defaultValue={relay?.port ?? DEFAULT_PORT}
            />
          </div>
          <Field label={m.settings_relay_tls()}>
            {(attributes) => (
              <select className="input" name="tls" defaultValue={relay?.tls ?? "starttls-required"} {...attributes}>
                {Object.entries(ENCRYPTION).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label()}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <div className="two even">
            <Field
              label={m.settings_relay_user()}
              value={username}
              onChange={(event) => setUsername(event.target.value)}
              autoComplete="off"
              spellCheck={false}
            />
            <Field
              label={m.settings_relay_password()}
              name="password"
              type="password"
              autoComplete="new-password"
              hint={
                kept
                  ? m.settings_relay_password_kept()
                  : relay?.password
                    ? m.settings_relay_password_again()
                    : undefined
              }
            />
          </div>
          <div className="two even">
            <Field
              label={m.settings_relay_weight()}
              name="weight"
              type="number"
              min={1}
              max={100}
              defaultValue={relay?.weight ?? 1}
              hint={m.settings_relay_weight_hint()}
            />
            <Field
              label={m.settings_relay_most()}
              name="rate"
              type="number"
              min={1}
              defaultValue={relay?.messagesPerSecond ?? ""}
              hint={m.settings_relay_most_hint()}
            />
          </div>
        </>
      )}
    </FormDialog>
  );
}
