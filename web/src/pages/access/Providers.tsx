import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { SignInProvider } from "@postern/sdk";
import { IconExternalLink, IconPlus } from "@tabler/icons-react";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Copy, Empty, Field, ICON, LoadingFailed, Status } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { DIALOG, type Errors, errorsOf, LoadingRows, ReadOnly, Row, Section, useMay } from "../settings/pieces";
import {
  draftOfProvider,
  emptyProvider,
  KINDS,
  type Kind,
  keyOf,
  PROVIDERS,
  type ProviderDraft,
  settingsOf,
  WITHOUT_ID_TOKENS,
} from "./providerKinds";

export function signInProvidersQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "providers"],
    queryFn: ({ signal }) => api(projectId).providers.list({ signal }),
    refetchInterval: 30_000,
  });
}

/** The redirect URI to register at every provider of the project. */
function callbackOf(projectId: string, providers: SignInProvider[] | undefined): string {
  return providers?.[0]?.callbackUrl ?? `${location.origin}/projects/${projectId}/auth/providers/callback`;
}

/** Accounts of other services with which customers can sign in. */
export function Providers() {
  const projectId = useProjectId();
  const mayWrite = useMay("projects");
  const query = useQuery(signInProvidersQuery(projectId));
  const [isAdding, setAdding] = useState(false);
  const [editing, setEditing] = useState<SignInProvider>();
  const [deleting, setDeleting] = useState<SignInProvider>();
  const callback = callbackOf(projectId, query.data);
  const path = `/projects/${projectId}/auth/providers/GOOGLE`;
  return (
    <>
      <ReadOnly what="projects" />
      <Section
        title={m.access_providers()}
        actions={
          mayWrite &&
          query.data &&
          query.data.length > 0 && (
            <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setAdding(true)}>
              {m.access_provider_add()}
            </Button>
          )
        }
      >
        {query.isPending ? (
          <LoadingRows count={2} />
        ) : query.data === undefined ? (
          <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
        ) : query.data.length === 0 ? (
          <Empty title={m.access_providers_none()} lead={m.access_providers_none_lead()}>
            {mayWrite && (
              <Button kind="primary" onClick={() => setAdding(true)}>
                {m.access_provider_add()}
              </Button>
            )}
            <Button
              kind="bare"
              onClick={() =>
                void copyCurl({
                  method: "PUT",
                  path,
                  body: { kind: "GOOGLE", clientId: "…apps.googleusercontent.com", clientSecret: "…" },
                })
              }
            >
              {m.copy_as_curl()}
            </Button>
          </Empty>
        ) : (
          <ul className="rows">
            {query.data.map((each) => (
              <Row
                key={each.key}
                title={
                  <>
                    {each.name} <code className="muted">{each.key}</code>
                  </>
                }
                action={
                  mayWrite && (
                    <>
                      <Button
                        kind="bare"
                        size="small"
                        aria-label={m.access_edit_of({ name: each.name })}
                        onClick={() => setEditing(each)}
                      >
                        {m.access_edit()}
                      </Button>
                      <Button
                        kind="bare"
                        size="small"
                        aria-label={m.access_delete_of({ name: each.name })}
                        onClick={() => setDeleting(each)}
                      >
                        {m.access_delete()}
                      </Button>
                    </>
                  )
                }
              >
                <Status shape={each.enabled ? "yes" : "off"}>
                  {each.enabled ? m.access_provider_on() : m.access_provider_off()}
                </Status>
                {" · "}
                {each.issuer}
                {!each.hasSecret && ` · ${m.access_provider_no_secret()}`}
              </Row>
            ))}
          </ul>
        )}
      </Section>
      <Section title={m.access_register()} lead={m.access_register_lead()}>
        <dl className="facts">
          <dt>{m.access_callback()}</dt>
          <dd>
            <code>{callback}</code> <Copy value={callback} label={m.access_callback_copy()} />
          </dd>
          <dt>{m.access_origin()}</dt>
          <dd>
            <code>{location.origin}</code> <Copy value={location.origin} label={m.access_origin_copy()} />
          </dd>
        </dl>
      </Section>
      {isAdding && <ProviderDialog providers={query.data ?? []} callback={callback} onClose={() => setAdding(false)} />}
      {editing && (
        <ProviderDialog
          providers={query.data ?? []}
          stored={editing}
          callback={editing.callbackUrl}
          onClose={() => setEditing(undefined)}
        />
      )}
      {deleting && <DeleteProvider provider={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

function DeleteProvider({ provider, onClose }: { provider: SignInProvider; onClose: () => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return (
    <TypedConfirm
      title={m.access_provider_delete_title({ name: provider.name })}
      name={provider.key}
      deed={m.access_provider_delete()}
      onClose={onClose}
      run={async () => {
        await api(projectId).providers.delete(provider.key);
        await client.invalidateQueries(signInProvidersQuery(projectId));
        notifications.show({ message: m.access_deleted({ name: provider.name }) });
      }}
    >
      <p>{m.access_provider_delete_lead()}</p>
    </TypedConfirm>
  );
}

const FIELDS = [
  "clientId",
  "clientSecret",
  "name",
  "issuer",
  "scopes",
  "trustedEmailDomains",
  "teamId",
  "keyId",
  "acrValues",
  "maxAgeSeconds",
] as const;
const PLACES = Object.fromEntries(FIELDS.map((field) => [field, [`/${field}`]]));

const STEPS: Record<Kind, () => string> = {
  GOOGLE: m.access_steps_google,
  MICROSOFT: m.access_steps_microsoft,
  APPLE: m.access_steps_apple,
  GITHUB: m.access_steps_github,
  GITLAB: m.access_steps_gitlab,
  DISCORD: m.access_steps_discord,
  SLACK: m.access_steps_slack,
  LINKEDIN: m.access_steps_linkedin,
  FACEBOOK: m.access_steps_facebook,
  X: m.access_steps_x,
  OIDC: m.access_steps_oidc,
};

/** Adds or changes a provider. A stored secret is never shown; an empty field keeps it. */
function ProviderDialog({
  providers,
  stored,
  callback,
  onClose,
}: {
  providers: SignInProvider[];
  stored?: SignInProvider;
  callback: string;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const [base, setBase] = useState(stored);
  const unused = KINDS.find((kind) => !providers.some((each) => each.key === kind)) ?? "OIDC";
  const [draft, setDraft] = useState(() => (stored ? draftOfProvider(stored) : emptyProvider(unused)));
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  const set = (part: Partial<ProviderDraft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([field]) => field && !(field in part))));
  };
  const text = (field: (typeof FIELDS)[number]) => ({
    value: draft[field],
    error: errors[field],
    spellCheck: false,
    autoComplete: "off",
    onChange: (event: { target: { value: string } }) => set({ [field]: event.target.value }),
  });
  const key = stored?.key ?? (draft.kind === "OIDC" ? draft.key.trim() || keyOf(draft.name) : draft.kind);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const wrong: Errors = {};
    if (!draft.clientId.trim()) wrong.clientId = m.access_required();
    if (!base?.hasSecret && !draft.clientSecret.trim()) wrong.clientSecret = m.access_required();
    if (draft.kind === "OIDC" && !draft.issuer.trim()) wrong.issuer = m.access_required();
    if (draft.kind === "OIDC" && !key) wrong.name = m.access_required();
    if (draft.maxAgeSeconds.trim() && !/^\d{1,8}$/.test(draft.maxAgeSeconds.trim()))
      wrong.maxAgeSeconds = m.access_number_wrong();
    if (Object.keys(wrong).length) return setErrors(wrong);
    setBusy(true);
    setErrors({});
    try {
      // The API replaces a provider whatever was changed meanwhile, so what is there is looked at first.
      const now = (await api(projectId).providers.list()).find((each) => each.key === key);
      if (!base && now) {
        setErrors({ [draft.kind === "OIDC" ? "name" : ""]: m.access_provider_exists({ key }) });
        return setBusy(false);
      }
      if (base && now && now.updatedAt !== base.updatedAt) {
        setBase(now);
        setErrors({ "": m.access_provider_conflict({ changes: changesBetween(base, now) }) });
        return setBusy(false);
      }
      await api(projectId).providers.set(key, settingsOf(draft));
      await client.invalidateQueries(signInProvidersQuery(projectId));
      notifications.show({ message: m.access_provider_saved({ name: draft.name || PROVIDERS[draft.kind].name }) });
      onClose();
    } catch (error) {
      setErrors(errorsOf(error, PLACES));
      setBusy(false);
    }
  };
  const { console: page, name: service } = PROVIDERS[draft.kind];
  return (
    <Modal
      opened
      onClose={onClose}
      size={560}
      title={stored ? m.access_provider_edit({ name: stored.name }) : m.access_provider_add()}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <form className="form accessform" onSubmit={submit} noValidate>
        {!stored && (
          <Field label={m.access_provider_kind()}>
            {(attributes) => (
              <select
                className="input"
                value={draft.kind}
                data-autofocus
                onChange={(event) => {
                  const kind = KINDS.find((each) => each === event.target.value) ?? "OIDC";
                  setErrors({});
                  setDraft((before) => ({ ...emptyProvider(kind), clientId: before.clientId }));
                }}
                {...attributes}
              >
                {KINDS.map((kind) => (
                  <option key={kind} value={kind}>
                    {kind === "OIDC" ? m.access_provider_other() : PROVIDERS[kind].name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <div className="registerhint">
          <p>{STEPS[draft.kind]()}</p>
          <p className="idline">
            <code>{callback}</code> <Copy value={callback} label={m.access_callback_copy()} />
          </p>
          {page && (
            <p>
              <a href={page} target="_blank" rel="noreferrer">
                {m.access_provider_console({ service })} <IconExternalLink {...ICON} size={14} />
              </a>
            </p>
          )}
        </div>
        {draft.kind === "OIDC" && (
          <>
            <Field
              label={m.access_provider_name()}
              hint={stored ? undefined : m.access_provider_name_hint({ key: key || "ACME_DIRECTORY" })}
              maxLength={100}
              {...text("name")}
            />
            <Field
              label={m.access_provider_issuer()}
              hint={m.access_provider_issuer_hint()}
              placeholder="https://login.example.com"
              {...text("issuer")}
            />
          </>
        )}
        <Field label={m.access_provider_client_id()} {...text("clientId")} />
        {draft.kind === "APPLE" && (
          <div className="two even">
            <Field label={m.access_provider_team_id()} {...text("teamId")} />
            <Field label={m.access_provider_key_id()} {...text("keyId")} />
          </div>
        )}
        {draft.kind === "APPLE" ? (
          <Field
            label={m.access_provider_private_key()}
            hint={base?.hasSecret ? m.access_provider_secret_kept() : m.access_provider_private_key_hint()}
            error={errors.clientSecret}
          >
            {(attributes) => (
              <textarea
                className="input mono"
                rows={4}
                spellCheck={false}
                autoComplete="off"
                value={draft.clientSecret}
                onChange={(event) => set({ clientSecret: event.target.value })}
                {...attributes}
              />
            )}
          </Field>
        ) : (
          <Field
            label={m.access_provider_secret()}
            hint={base?.hasSecret ? m.access_provider_secret_kept() : m.access_provider_secret_hint()}
            {...text("clientSecret")}
            type="password"
            autoComplete="new-password"
          />
        )}
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={draft.enabled}
            onChange={(event) => set({ enabled: event.target.checked })}
          />
          {m.access_provider_enabled()}
        </label>
        <details className="small">
          <summary>{m.access_provider_more()}</summary>
          <div className="form">
            {draft.kind !== "OIDC" && <Field label={m.access_provider_name()} maxLength={100} {...text("name")} />}
            <Field label={m.access_provider_scopes()} hint={m.access_provider_scopes_hint()} {...text("scopes")} />
            <Field
              label={m.access_provider_domains()}
              hint={m.access_provider_domains_hint()}
              placeholder="example.com"
              {...text("trustedEmailDomains")}
            />
            {!WITHOUT_ID_TOKENS.includes(draft.kind) && (
              <>
                <Field label={m.access_provider_acr()} hint={m.access_provider_acr_hint()} {...text("acrValues")} />
                <Field
                  label={m.access_provider_age()}
                  hint={m.access_provider_age_hint()}
                  inputMode="numeric"
                  {...text("maxAgeSeconds")}
                />
              </>
            )}
            <label className="line">
              <input
                className="check"
                type="checkbox"
                checked={draft.holds}
                onChange={(event) => set({ holds: event.target.checked })}
              />
              {m.access_provider_holds()}
            </label>
          </div>
        </details>
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {stored ? m.settings_save() : m.access_provider_add()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** What another person has changed of a provider, as `name: value` in the words of the API. */
function changesBetween(before: SignInProvider, after: SignInProvider): string {
  const names = ["name", "clientId", "issuer", "scopes", "trustedEmailDomains", "acrValues", "enabled"] as const;
  const changes = names.filter((name) => String(before[name]) !== String(after[name]));
  return changes.map((name) => `${name}: ${String(after[name])}`).join(", ") || m.access_provider_secret();
}
