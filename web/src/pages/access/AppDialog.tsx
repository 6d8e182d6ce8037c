import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type OAuthClient, type OAuthClientWithSecret } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { permissionsQuery } from "../../parts/accessQueries";
import { CodeBox } from "../../parts/CodeBox";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { CopyRequest } from "../../parts/CopyRequest";
import { Button, Copy, Field } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { isConflict } from "../customers/queries";
import { Choices, DIALOG, type Errors } from "../settings/pieces";
import { AppSecurity } from "./AppSecurity";
import { appQuery, appsQuery } from "./appQueries";
import {
  type AppDraft,
  changesOf,
  draftOfApp,
  GRANTS,
  isStandardScope,
  keysOf,
  NEW_APP,
  newAppOf,
  refusedFields,
  STANDARD_SCOPES,
  toggled,
} from "./apps";
import { AUTHENTICATION_WORDS, environmentLook, GRANT_WORDS, grantWord, scopeWord } from "./appWords";
import { Box } from "./Box";

const NAME_CHARACTERS = 200;
const URL_CHARACTERS = 2_000;
/** Fields of the parts that are closed at first. */
const SECURITY = ["authentication", "jwks", "jwksUri", "requireDpop", "isFapi", "idTokenSigningAlg"] as const;
const MORE = ["postLogoutRedirectUris", "websiteUrl", "privacyUrl", "termsUrl", "backchannelLogoutUri"] as const;

/** Registers an app and shows its secret once, or changes one. */
export default function AppDialog({ app, onClose }: { app?: OAuthClient; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const navigate = useNavigate();
  const [created, setCreated] = useState<OAuthClientWithSecret>();
  const show = ({ id }: OAuthClient) =>
    void navigate({ to: "/projects/$projectId/access/apps/$clientId", params: { projectId, clientId: id } });
  if (!created)
    return (
      <AppForm
        app={app}
        onClose={onClose}
        onCreated={(client) => {
          if (client.clientSecret) return setCreated(client);
          onClose();
          show(client);
        }}
      />
    );
  return (
    <SecretModal
      app={created}
      lead={m.access_app_secret_once()}
      onClose={() => {
        onClose();
        show(created);
      }}
    />
  );
}

/** The secret of an app, this once, with the environment that a program needs. */
export function SecretModal({ app, lead, onClose }: { app: OAuthClientWithSecret; lead: string; onClose: () => void }) {
  useReturnFocus();
  const secret = app.clientSecret ?? "";
  const environment = `OAUTH_ISSUER=${app.issuer}
OAUTH_CLIENT_ID=${app.clientId}
OAUTH_CLIENT_SECRET=${secret}`;
  return (
    <Modal
      opened
      onClose={onClose}
      size={640}
      title={m.access_app_secret_title()}
      // What is shown only once does not vanish by a slip.
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      classNames={{ body: DIALOG }}
    >
      <div className="form accessform">
        <p>{lead}</p>
        <div className="onesecret">
          <code>{secret}</code>
          <Copy value={secret} label={m.access_app_secret_copy()} />
        </div>
        <div className="command">
          <p className="label">{m.access_environment()}</p>
          <div>
            <CodeBox label={m.access_environment()}>{environment}</CodeBox>
            <Copy value={environment} label={m.access_environment_copy()} />
          </div>
        </div>
        <div className="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            {m.access_app_secret_saved()}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

/** A draft as a text for each field, to compare two versions. */
const partsOf = (draft: AppDraft): Record<string, string> => ({
  [m.access_app_label()]: draft.name,
  [m.access_app_does()]: draft.grantTypes.map(grantWord).join(", "),
  [m.access_app_redirects()]: draft.redirectUris,
  [m.access_app_scopes()]: draft.scopes.join(" "),
  [m.access_app_first_party()]: draft.firstParty ? m.access_app_yes() : m.access_app_no(),
  [m.access_app_post_logout()]: draft.postLogoutRedirectUris,
  [m.access_app_website()]: draft.websiteUrl,
  [m.access_app_privacy()]: draft.privacyUrl,
  [m.access_app_terms()]: draft.termsUrl,
  [m.access_app_backchannel()]: draft.backchannelLogoutUri,
  [m.access_app_authentication()]: AUTHENTICATION_WORDS[draft.authentication].label(),
  [m.access_app_jwks()]: draft.authentication === "JWKS" ? draft.jwks : "",
  [m.access_app_jwks_uri()]: draft.authentication === "JWKS_URI" ? draft.jwksUri : "",
  [m.access_app_dpop()]: draft.requireDpop ? m.access_app_yes() : m.access_app_no(),
  [m.access_app_fapi()]: draft.isFapi ? m.access_app_yes() : m.access_app_no(),
  [m.access_app_id_tokens()]: draft.idTokenSigningAlg,
});

function AppForm({
  app,
  onClose,
  onCreated,
}: {
  app: OAuthClient | undefined;
  onClose: () => void;
  onCreated: (app: OAuthClientWithSecret) => void;
}) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  /** The version that the form began with, or that was taken over in a conflict. */
  const [base, setBase] = useState(app);
  const [theirs, setTheirs] = useState<OAuthClient>();
  const [draft, setDraft] = useState(() => (app ? draftOfApp(app) : NEW_APP));
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  const [isMore, setMore] = useState(() => app !== undefined && MORE.some((field) => draftOfApp(app)[field]));
  const [isSecurity, setSecurity] = useState(
    () => app !== undefined && SECURITY.some((field) => draftOfApp(app)[field] !== NEW_APP[field]),
  );
  const permissions = useQuery(permissionsQuery(projectId));
  const { oauthClients } = api(projectId);
  const path = `/projects/${projectId}/oauth-clients`;
  const usesBrowser = draft.grantTypes.includes("authorization_code");
  const set = (part: Partial<AppDraft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([field]) => field && !(field in part))));
  };
  // The form is long: what is wrong is brought into view.
  useEffect(() => {
    if (Object.keys(errors).length === 0) return;
    form.current?.querySelector<HTMLElement>("[aria-invalid=true], .wrong")?.scrollIntoView({ block: "center" });
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus({ preventScroll: true });
  }, [errors]);
  const refuse = (error: unknown) => {
    const fields =
      error instanceof APIError && error.errors.length
        ? refusedFields(error, draft, (line, message) => m.access_app_line({ line, message }))
        : { "": messageOf(error) };
    if (MORE.some((field) => fields[field])) setMore(true);
    if (SECURITY.some((field) => fields[field])) setSecurity(true);
    setErrors(fields);
  };
  const change = base && changesOf(draftOfApp(base), draft);
  const save = async (version: OAuthClient | undefined): Promise<void> => {
    const wrong: Errors = {};
    if (!draft.name.trim()) wrong.name = m.access_required();
    if (draft.grantTypes.length === 0) wrong.grantTypes = m.access_app_does_missing();
    if (usesBrowser && !draft.redirectUris.trim()) wrong.redirectUris = m.access_app_redirects_missing();
    if (draft.authentication === "JWKS" && !keysOf(draft.jwks)) wrong.jwks = m.access_app_jwks_wrong();
    if (draft.authentication === "JWKS_URI" && !draft.jwksUri.trim()) wrong.jwksUri = m.access_required();
    if (wrong.jwks || wrong.jwksUri) setSecurity(true);
    setErrors(wrong);
    if (Object.keys(wrong).length) return setTheirs(undefined);
    setBusy(true);
    try {
      if (!version) {
        const created = await oauthClients.create(newAppOf(draft));
        void client.invalidateQueries(appsQuery(projectId));
        return onCreated(created);
      }
      const saved = await oauthClients.update(version.id, change ?? {}, { ifMatch: version });
      client.setQueryData(appQuery(projectId, version.id).queryKey, saved);
      void client.invalidateQueries(appsQuery(projectId));
      notifications.show({ message: m.access_saved({ name: saved.name }) });
      return onClose();
    } catch (error) {
      if (version && isConflict(error)) {
        try {
          const now = await oauthClients.get(version.id);
          // A new secret is no other version of what stands here.
          if (Object.keys(changesOf(draftOfApp(version), draftOfApp(now))).length === 0) return await save(now);
          setTheirs(now);
        } catch (failed) {
          setErrors({ "": messageOf(failed) });
        }
      } else {
        setTheirs(undefined);
        refuse(error);
      }
    }
    setBusy(false);
  };
  if (theirs) {
    const [now, mine] = [partsOf(draftOfApp(theirs)), partsOf(draft)];
    return (
      <ConflictDialog
        lead={m.access_app_conflict_lead()}
        rows={Object.keys(mine)
          .filter((name) => now[name] !== mine[name])
          .map((name) => ({
            name,
            theirs: <span className="breaks">{now[name]}</span>,
            mine: <span className="breaks">{mine[name]}</span>,
          }))}
        hint={m.access_app_conflict_hint()}
        onClose={() => setTheirs(undefined)}
        onTheirs={() => {
          setDraft(draftOfApp(theirs));
          setBase(theirs);
          setTheirs(undefined);
        }}
        onMine={() => save(theirs)}
      />
    );
  }
  const text = (field: "name" | "websiteUrl" | "privacyUrl" | "termsUrl" | "backchannelLogoutUri") => ({
    value: draft[field],
    error: errors[field],
    autoComplete: "off",
    onChange: (event: { target: { value: string } }) => set({ [field]: event.target.value }),
  });
  const lines = (field: "redirectUris" | "postLogoutRedirectUris", label: string, hint: string) => (
    <Field label={label} hint={hint} error={errors[field]}>
      {(attributes) => (
        <textarea
          className="input mono"
          rows={Math.min(8, Math.max(2, draft[field].split("\n").length))}
          wrap="off"
          spellCheck={false}
          autoComplete="off"
          value={draft[field]}
          onChange={(event) => set({ [field]: event.target.value })}
          {...attributes}
        />
      )}
    </Field>
  );
  const declared = permissions.data?.map(({ key }) => key) ?? [];
  const others = draft.scopes.filter((each) => !isStandardScope(each) && !declared.includes(each));
  const meaningOf = (key: string) => permissions.data?.find((each) => each.key === key)?.description ?? "";
  return (
    <Modal
      opened
      onClose={onClose}
      size={640}
      title={app ? m.access_app_edit({ name: app.name }) : m.access_app_new()}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <form
        ref={form}
        className="form accessform"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          event.stopPropagation();
          if (!isBusy) void save(base);
        }}
      >
        <Field
          label={m.access_app_label()}
          hint={m.access_app_name_hint()}
          maxLength={NAME_CHARACTERS}
          {...text("name")}
          data-autofocus
        />
        {!app && (
          <div className="halves">
            <Choices
              legend={m.access_app_type()}
              isLegendShown
              name="type"
              value={draft.isPublic ? "PUBLIC" : "CONFIDENTIAL"}
              options={[
                {
                  value: "CONFIDENTIAL",
                  label: m.access_app_confidential(),
                  hint: m.access_app_confidential_hint(),
                },
                { value: "PUBLIC", label: m.access_app_public(), hint: m.access_app_public_hint() },
              ]}
              onChange={(type) =>
                set({
                  isPublic: type === "PUBLIC",
                  // A client that can keep no secret can keep no key, and cannot prove that it is itself.
                  ...(type === "PUBLIC" && { authentication: "SECRET", isFapi: false }),
                  grantTypes:
                    type === "PUBLIC"
                      ? draft.grantTypes.filter((each) => each !== "client_credentials")
                      : draft.grantTypes,
                })
              }
            />
            <Choices
              legend={m.access_app_environment()}
              isLegendShown
              name="environment"
              value={draft.environment}
              options={(["LIVE", "TEST"] as const).map((environment) => ({
                value: environment,
                label: environmentLook({ environment }).word,
                hint: environment === "TEST" ? m.access_app_test_hint() : m.access_app_live_hint(),
              }))}
              onChange={(environment) => set({ environment })}
            />
          </div>
        )}
        <Wrong>{errors.isPublic ?? errors.environment}</Wrong>
        <fieldset className="boxes">
          <legend className="label">{m.access_app_does()}</legend>
          {GRANTS.map((grant) => {
            const isOff = grant === "client_credentials" && draft.isPublic;
            const { label, hint } = GRANT_WORDS[grant];
            return (
              <Box
                key={grant}
                label={label()}
                hint={isOff ? m.access_app_grant_machine_off() : hint()}
                checked={draft.grantTypes.includes(grant)}
                disabled={isOff}
                onChange={() => set({ grantTypes: toggled(draft.grantTypes, grant, GRANTS) })}
              />
            );
          })}
          <Wrong>{errors.grantTypes}</Wrong>
        </fieldset>
        {usesBrowser &&
          lines(
            "redirectUris",
            m.access_app_redirects(),
            draft.isPublic ? m.access_app_redirects_public_hint() : m.access_app_redirects_hint(),
          )}
        <fieldset className="boxes">
          <legend className="label">{m.access_app_scopes()}</legend>
          {STANDARD_SCOPES.map((scope) => (
            <Box
              key={scope}
              label={scopeWord(scope) ?? scope}
              code={scope}
              checked={draft.scopes.includes(scope)}
              onChange={() => set({ scopes: toggled(draft.scopes, scope, STANDARD_SCOPES) })}
            />
          ))}
          <Wrong>{errors.scopes}</Wrong>
        </fieldset>
        {declared.length + others.length > 0 && (
          <fieldset className="boxes">
            <legend className="label">{m.access_app_permissions()}</legend>
            <p className="hint">{m.access_app_permissions_hint()}</p>
            <div className="manyboxes">
              {[...declared, ...others].map((key) => (
                <Box
                  key={key}
                  label={meaningOf(key) || key}
                  code={meaningOf(key) ? key : ""}
                  checked={draft.scopes.includes(key)}
                  onChange={() => set({ scopes: toggled(draft.scopes, key, STANDARD_SCOPES) })}
                />
              ))}
            </div>
          </fieldset>
        )}
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={draft.firstParty}
            onChange={(event) => set({ firstParty: event.target.checked })}
          />
          <span>
            {m.access_app_first_party()}
            <small className="muted">{m.access_app_first_party_hint()}</small>
          </span>
        </label>
        <details className="small" open={isSecurity} onToggle={(event) => setSecurity(event.currentTarget.open)}>
          <summary>{m.access_app_security()}</summary>
          <AppSecurity draft={draft} errors={errors} set={set} />
        </details>
        <details className="small" open={isMore} onToggle={(event) => setMore(event.currentTarget.open)}>
          <summary>{m.access_app_more()}</summary>
          <div className="form">
            {lines("postLogoutRedirectUris", m.access_app_post_logout(), m.access_app_post_logout_hint())}
            <Field label={m.access_app_website()} type="url" maxLength={URL_CHARACTERS} {...text("websiteUrl")} />
            <Field label={m.access_app_privacy()} type="url" maxLength={URL_CHARACTERS} {...text("privacyUrl")} />
            <Field
              label={m.access_app_terms()}
              hint={m.access_app_links_hint()}
              type="url"
              maxLength={URL_CHARACTERS}
              {...text("termsUrl")}
            />
            <Field
              label={m.access_app_backchannel()}
              hint={m.access_app_backchannel_hint()}
              type="url"
              maxLength={URL_CHARACTERS}
              {...text("backchannelLogoutUri")}
            />
          </div>
        </details>
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <span className="grow">
            <CopyRequest
              request={
                base
                  ? { method: "PATCH", path: `${path}/${base.id}`, body: change }
                  : { method: "POST", path, body: newAppOf(draft) }
              }
            />
          </span>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {base ? m.settings_save() : m.access_app_create()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
