import { Modal } from "@mantine/core";
import type { ApiKey, NewApiKey } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { CodeTabs } from "../../parts/CodeTabs";
import { CopyRequest } from "../../parts/CopyRequest";
import { pythonOf, typescriptOf } from "../../parts/code";
import { fieldErrors } from "../../parts/fieldErrors";
import { Button, Copy, Field } from "../../parts/parts";
import { type ApiRequest, curlOf } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { localInput, timeZoneName } from "../../parts/when";
import { useProfile, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { keysQuery } from "./Keys";
import { AREA_LABELS, AREAS, READS, type Scope, scopeOf, VERB_LABELS } from "./permissions";
import type { Mode } from "./routes";

const NAME_CHARACTERS = 200;
const DAY_MS = 86_400_000;
/** Days that are proposed for a key that ends at a time of its own. */
const DEFAULT_DAYS = 30;
/** Days until a new key expires; "" for never, "at" for a time of its own. */
const TERMS = ["", "30", "90", "365", "at"] as const;

const FIELDS = ["name", "permissions", "ipAllowList", "expiresAt"] as const;

/** Creates a key, or one `like` another to replace that, and shows it once. */
export default function KeyDialog({ like, onClose }: { like?: ApiKey; onClose: () => void }) {
  useReturnFocus();
  const [created, setCreated] = useState<ApiKey>();
  return (
    <Modal
      opened
      onClose={onClose}
      className="developers-dialog"
      size={620}
      title={created ? m.developers_key_save_title() : like ? m.developers_key_replace_title() : m.developers_key_new()}
      // What is shown only once does not vanish by a slip.
      closeOnClickOutside={false}
      closeOnEscape={!created}
      withCloseButton={!created}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      {created ? (
        <NewKey created={created} replaced={like} onClose={onClose} />
      ) : (
        <KeyForm like={like} onCancel={onClose} onCreated={setCreated} />
      )}
    </Modal>
  );
}

function KeyForm({
  like,
  onCancel,
  onCreated,
}: {
  like: ApiKey | undefined;
  onCancel: () => void;
  onCreated: (key: ApiKey) => void;
}) {
  const projectId = useProjectId();
  const { role } = useProfile();
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Partial<Record<(typeof FIELDS)[number] | "form", string>>>({});
  const [name, setName] = useState(like?.name ?? "");
  const [mode, setMode] = useState<Mode>(like?.environment === "TEST" ? "TEST" : "LIVE");
  const [isPublic, setPublic] = useState(like?.type === "PUBLISHABLE");
  const [scope, setScope] = useState<Scope>(like ? scopeOf(like.permissions) : "all");
  const [chosen, setChosen] = useState<string[]>(like?.permissions ?? ["emails:send"]);
  const [term, setTerm] = useState<(typeof TERMS)[number]>(like?.expiresAt ? "at" : "");
  const [at, setAt] = useState(() => localInput(new Date(Date.now() + lifetime(like))));
  const [from, setFrom] = useState(like?.ipAllowList?.join("\n") ?? "");
  const addresses = from.split(/[\s,;]+/).filter(Boolean);
  const permissions = { all: null, send: ["emails:send"], read: READS, some: chosen }[scope];
  const mayImpersonate = role === "OWNER" || role === "ADMIN";
  const body: NewApiKey = {
    name: name.trim(),
    type: isPublic ? "PUBLISHABLE" : "SECRET",
    environment: mode,
    ...(!isPublic && permissions && { permissions }),
    ...(addresses.length > 0 && { ipAllowList: addresses }),
    ...(term && { expiresAt: expiry(term, at) }),
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!name.trim()) return setErrors({ name: m.developers_key_name_missing() });
    if (!isPublic && scope === "some" && chosen.length === 0)
      return setErrors({ permissions: m.developers_key_scope_missing() });
    setBusy(true);
    setErrors({});
    try {
      const key = await api(projectId).apiKeys.create(body);
      void client.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
      void client.invalidateQueries({ queryKey: ["overview", projectId, "keys"] });
      onCreated(key);
    } catch (error) {
      setErrors(fieldErrors(error, FIELDS));
      setBusy(false);
    }
  };
  return (
    <form className="form keyform" onSubmit={submit} noValidate>
      {like && <p>{m.developers_key_replace_lead({ name: like.name })}</p>}
      <Field
        label={m.developers_key_name()}
        hint={m.developers_key_name_hint()}
        error={errors.name}
        maxLength={NAME_CHARACTERS}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
        data-autofocus
      />
      <div className="pair">
        <Choices
          label={m.developers_key_mode()}
          hint={mode === "TEST" ? m.developers_test_means() : m.developers_live_means()}
          choices={[
            ["LIVE", m.developers_live()],
            ["TEST", m.developers_test()],
          ]}
          value={mode}
          onChange={setMode}
        />
        <Choices
          label={m.developers_key_kind()}
          hint={isPublic ? m.developers_publishable_means() : m.developers_secret_means()}
          choices={[
            ["secret", m.developers_kind_secret()],
            ["public", m.developers_kind_publishable()],
          ]}
          value={isPublic ? "public" : "secret"}
          onChange={(kind) => setPublic(kind === "public")}
        />
      </div>
      {!isPublic && (
        <Field label={m.developers_key_scope()} error={errors.permissions} hint={SCOPE_HINTS[scope]()}>
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              value={scope}
              onChange={(event) => {
                const next = event.target.value as Scope;
                if (next === "some" && permissions) setChosen(permissions);
                setScope(next);
              }}
            >
              <option value="all">{m.developers_scope_all()}</option>
              <option value="send">{m.developers_scope_send()}</option>
              <option value="read">{m.developers_scope_read()}</option>
              <option value="some">{m.developers_scope_some()}</option>
            </select>
          )}
        </Field>
      )}
      {!isPublic && scope === "some" && (
        <div className="grants" role="group" aria-label={m.developers_scope_some()}>
          {Object.entries(AREAS).map(([area, verbs]) => (
            <fieldset key={area}>
              <legend>{AREA_LABELS[area]?.()}</legend>
              {verbs
                .filter((verb) => verb !== "impersonate" || mayImpersonate)
                .map((verb) => {
                  const permission = `${area}:${verb}`;
                  const isOn = chosen.includes(permission) || chosen.includes(`${area}:*`);
                  return (
                    <label key={verb} className="line">
                      <input
                        className="check"
                        type="checkbox"
                        checked={isOn}
                        onChange={() => setChosen(toggled(chosen, area, permission, isOn))}
                      />
                      {VERB_LABELS[verb]?.()}
                    </label>
                  );
                })}
            </fieldset>
          ))}
        </div>
      )}
      <Field label={m.developers_key_expires()} error={term === "at" ? undefined : errors.expiresAt}>
        {(attributes) => (
          <select
            className="input"
            {...attributes}
            value={term}
            onChange={(event) => setTerm(event.target.value as (typeof TERMS)[number])}
          >
            {TERMS.map((each) => (
              <option key={each} value={each}>
                {each === ""
                  ? m.developers_never()
                  : each === "at"
                    ? m.developers_term_at()
                    : m.developers_term_days({ days: each })}
              </option>
            ))}
          </select>
        )}
      </Field>
      {term === "at" && (
        <Field
          label={m.developers_term_time()}
          hint={timeZoneName()}
          error={errors.expiresAt}
          type="datetime-local"
          value={at}
          onChange={(event) => setAt(event.target.value)}
        />
      )}
      <Field label={m.developers_key_from()} hint={m.developers_key_from_hint()} error={errors.ipAllowList}>
        {(attributes) => (
          <textarea
            className="input mono"
            rows={2}
            {...attributes}
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        )}
      </Field>
      {errors.form && (
        <p className="wrong" role="alert">
          <span>{errors.form}</span>
        </p>
      )}
      <div className="dialog-actions">
        <span className="grow">
          <CopyRequest request={{ method: "POST", path: `/projects/${projectId}/api-keys`, body }} />
        </span>
        <Button onClick={onCancel}>{m.cancel()}</Button>
        <Button kind="primary" type="submit" busy={isBusy}>
          {m.developers_key_create()}
        </Button>
      </div>
    </form>
  );
}

const SCOPE_HINTS: Record<Scope, () => string> = {
  all: m.developers_all_means,
  send: m.developers_send_means,
  read: m.developers_read_means,
  some: m.developers_some_means,
};

/** Two or three choices that exclude each other, with what the present one means. */
function Choices<T extends string>({
  label,
  hint,
  choices,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  choices: [T, string][];
  value: T;
  onChange: (value: T) => void;
}) {
  return (
    <div className="field">
      <span className="label">{label}</span>
      <div className="seg" role="group" aria-label={label}>
        {choices.map(([each, word]) => (
          <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
            {word}
          </button>
        ))}
      </div>
      <p className="hint">{hint}</p>
    </div>
  );
}

/** The permissions with one added or taken away; a wildcard becomes its parts first. */
function toggled(chosen: string[], area: string, permission: string, isOn: boolean): string[] {
  const parts = (AREAS[area] ?? []).filter((verb) => verb !== "impersonate").map((verb) => `${area}:${verb}`);
  const plain = chosen.flatMap((each) => (each === `${area}:*` ? parts : [each]));
  return isOn ? plain.filter((each) => each !== permission) : [...new Set([...plain, permission])];
}

/** Milliseconds for which a key like another one is valid: as long as that one was. */
function lifetime(like: ApiKey | undefined): number {
  return like?.expiresAt ? Date.parse(like.expiresAt) - Date.parse(like.createdAt) : DEFAULT_DAYS * DAY_MS;
}

/** The moment at which a key ends; what cannot be read as a time is left to the API to refuse. */
function expiry(term: string, at: string): string | undefined {
  const time = term === "at" ? Date.parse(at) : Date.now() + Number(term) * DAY_MS;
  return Number.isNaN(time) ? at : new Date(time).toISOString();
}

/** The key, this once, with a first call. */
function NewKey({
  created,
  replaced,
  onClose,
}: {
  created: ApiKey;
  replaced: ApiKey | undefined;
  onClose: () => void;
}) {
  const projectId = useProjectId();
  const { email } = useProfile();
  const domains = useQuery({
    queryKey: ["developers", projectId, "domains"],
    queryFn: async ({ signal }) => (await api(projectId).domains.list({ limit: 100 }, { signal })).data,
  });
  const domain = domains.data?.find((each) => each.verifiedAt)?.domain;
  const request = firstCall(created, projectId, email, domain);
  const place = { url: location.origin, key: created.key };
  return (
    <div className="form">
      <p>{m.developers_key_once()}</p>
      <div className="secret">
        <code>{created.key}</code>
        <Copy value={created.key} label={m.developers_key_copy()} />
      </div>
      {request && (
        <CodeTabs
          label={m.developers_first_call()}
          codes={{
            curl: curlOf(request, created.key),
            typescript: typescriptOf(request, place),
            python: pythonOf(request, place),
          }}
        />
      )}
      {request?.method === "POST" && created.environment === "LIVE" && domains.data && !domain && (
        <p className="muted">{m.developers_first_call_domain()}</p>
      )}
      {replaced && <p>{m.developers_key_replaced({ name: replaced.name })}</p>}
      <div className="dialog-actions">
        <Button kind="primary" onClick={onClose}>
          {m.developers_saved()}
        </Button>
      </div>
    </div>
  );
}

/** The first thing that a key may do; nothing for a key of a browser. */
function firstCall(key: ApiKey, projectId: string, email: string, domain: string | undefined): ApiRequest | undefined {
  if (key.type === "PUBLISHABLE") return undefined;
  const may = (permission: string) =>
    key.permissions === null ||
    key.permissions.includes(permission) ||
    key.permissions.includes(`${permission.split(":", 1)[0]}:*`);
  const path = `/projects/${projectId}`;
  if (may("emails:send"))
    return {
      method: "POST",
      path: `${path}/emails`,
      body: { from: `hello@${domain ?? "example.com"}`, to: [email], subject: "Hello", text: "It works." },
    };
  for (const [permission, list] of READABLE) if (may(permission)) return { method: "GET", path: path + list };
  return undefined;
}

const READABLE: [string, string][] = [
  ["emails:read", "/emails/logs?limit=10"],
  ["contacts:read", "/contacts?limit=10"],
  ["customers:read", "/customers?limit=10"],
  ["events:read", "/events?limit=10"],
  ["templates:read", "/templates?limit=10"],
  ["campaigns:read", "/campaigns?limit=10"],
  ["webhooks:read", "/webhooks?limit=10"],
  ["domains:read", "/domains?limit=10"],
];
