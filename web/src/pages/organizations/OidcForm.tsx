import { notifications } from "@mantine/notifications";
import type { Organization, SsoConnection, SsoConnectionChange } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { Button, Field } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { useEditing, useReadAgain, useShowConnection } from "./queries";
import { missingParts } from "./values";

const FIELDS = {
  oidcIssuer: "oidcIssuer",
  oidcClientId: "oidcClientId",
  oidcClientSecret: "oidcClientSecret",
  oidcScopes: "oidcScopes",
};
const SCOPES = "openid email profile";

/** The OpenID provider of an organization, and the client that was registered there. */
export function OidcForm({ organization, connection }: { organization: Organization; connection: SsoConnection }) {
  const mayWrite = useMayWrite();
  const [isOpen, setOpen] = useState(false);
  const isMissing = missingParts(connection).length > 0;
  return (
    <>
      {!isMissing && (
        <dl className="facts">
          <dt>{m.organizations_oidc_issuer()}</dt>
          <dd>
            <code>{connection.oidcIssuer}</code>
          </dd>
          <dt>{m.organizations_oidc_client()}</dt>
          <dd>
            <code>{connection.oidcClientId}</code>
          </dd>
          <dt>{m.organizations_oidc_secret()}</dt>
          <dd>
            {connection.oidcHasSecret ? m.organizations_oidc_secret_stored() : m.organizations_oidc_secret_none()}
          </dd>
          <dt>{m.organizations_oidc_scopes()}</dt>
          <dd>
            <code>{connection.oidcScopes ?? SCOPES}</code>
          </dd>
        </dl>
      )}
      {mayWrite && !isMissing && !isOpen && (
        <p>
          <Button size="small" onClick={() => setOpen(true)}>
            {m.organizations_idp_change()}
          </Button>
        </p>
      )}
      {mayWrite && (isMissing || isOpen) && (
        <Form
          organization={organization}
          connection={connection}
          onClose={isMissing ? undefined : () => setOpen(false)}
        />
      )}
      {!mayWrite && isMissing && <p className="muted">{m.organizations_none_yet()}</p>}
    </>
  );
}

/** What is stored in the fields of the form; the secret is never shown. */
const draftOf = ({ oidcIssuer, oidcClientId, oidcScopes }: SsoConnection) => ({
  oidcIssuer: oidcIssuer ?? "",
  oidcClientId: oidcClientId ?? "",
  oidcClientSecret: "",
  oidcScopes: oidcScopes ?? "",
  isPublic: false,
});

function Form({
  organization,
  connection,
  onClose,
}: {
  organization: Organization;
  connection: SsoConnection;
  onClose: (() => void) | undefined;
}) {
  const projectId = useProjectId();
  const show = useShowConnection(projectId);
  const readAgain = useReadAgain(projectId, organization.id);
  const { sso } = api(projectId);
  const { base, theirs, isBusy, save, rebase, settle } = useEditing(
    connection,
    () => sso.get(organization.id, connection.id),
    (saved) => {
      show(saved);
      readAgain("sso");
    },
  );
  const [draft, setDraft] = useState(() => draftOf(connection));
  const [errors, setErrors] = useState<Record<string, string>>({});
  // A change of something else, such as of attributes and roles, is no conflict.
  if (connection.updatedAt > base.updatedAt && !theirs && !isBusy && provider(connection) === provider(base))
    rebase(connection);
  const store = async (against?: SsoConnection) => {
    const needed: Record<string, string> = {};
    if (!draft.oidcIssuer.trim()) needed.oidcIssuer = m.organizations_needed();
    if (!draft.oidcClientId.trim()) needed.oidcClientId = m.organizations_needed();
    setErrors(needed);
    if (Object.keys(needed).length) return settle();
    const body: SsoConnectionChange = {
      oidcIssuer: draft.oidcIssuer.trim(),
      oidcClientId: draft.oidcClientId.trim(),
      oidcScopes: draft.oidcScopes.trim() || null,
      ...(draft.isPublic && { oidcClientSecret: null }),
      ...(!draft.isPublic && draft.oidcClientSecret && { oidcClientSecret: draft.oidcClientSecret }),
    };
    const saved = await save((ifMatch) => sso.update(organization.id, connection.id, body, { ifMatch }), against);
    if (saved.kind === "refused") {
      settle();
      setErrors(messagesByField(saved.error, FIELDS, messageOf(saved.error)));
    }
    if (saved.kind === "saved") {
      notifications.show({ message: m.organizations_idp_saved() });
      setDraft((before) => ({ ...before, oidcClientSecret: "" }));
      onClose?.();
    }
  };
  const field = (name: "oidcIssuer" | "oidcClientId" | "oidcClientSecret" | "oidcScopes") => ({
    value: draft[name],
    error: errors[name],
    autoComplete: "off",
    spellCheck: false,
    onChange: (event: { target: { value: string } }) => {
      setDraft({ ...draft, [name]: event.target.value });
      setErrors({ ...errors, [name]: "" });
    },
  });
  return (
    <form
      className="form customerform provider"
      noValidate
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (!isBusy) void store();
      }}
    >
      <Field
        label={m.organizations_oidc_issuer()}
        hint={m.organizations_oidc_issuer_hint()}
        type="url"
        placeholder="https://login.example.com"
        maxLength={1024}
        {...field("oidcIssuer")}
      />
      <Field label={m.organizations_oidc_client()} maxLength={500} {...field("oidcClientId")} />
      {!draft.isPublic && (
        <Field
          label={m.organizations_oidc_secret()}
          hint={connection.oidcHasSecret ? m.organizations_oidc_secret_keep() : m.organizations_oidc_secret_hint()}
          type="password"
          maxLength={2000}
          {...field("oidcClientSecret")}
          autoComplete="new-password"
        />
      )}
      <label className="boxed">
        <input
          type="checkbox"
          className="check"
          checked={draft.isPublic}
          onChange={(event) => setDraft({ ...draft, isPublic: event.target.checked })}
        />
        <span>
          {m.organizations_oidc_public()}
          <span className="muted">{m.organizations_oidc_public_hint()}</span>
        </span>
      </label>
      <Field
        label={m.organizations_oidc_scopes()}
        hint={m.organizations_oidc_scopes_hint()}
        placeholder={SCOPES}
        maxLength={500}
        {...field("oidcScopes")}
      />
      <Wrong>{errors[""]}</Wrong>
      <div className="dialog-actions start">
        <Button kind="primary" type="submit" busy={isBusy}>
          {m.organizations_save()}
        </Button>
        {onClose && <Button onClick={onClose}>{m.cancel()}</Button>}
      </div>
      {theirs && (
        <ConflictDialog
          lead={m.organizations_conflict_lead()}
          rows={[
            { name: m.organizations_oidc_issuer(), theirs: theirs.oidcIssuer, mine: draft.oidcIssuer },
            { name: m.organizations_oidc_client(), theirs: theirs.oidcClientId, mine: draft.oidcClientId },
            { name: m.organizations_oidc_scopes(), theirs: theirs.oidcScopes, mine: draft.oidcScopes },
          ].filter((row) => (row.theirs ?? "") !== row.mine)}
          onClose={settle}
          onTheirs={() => {
            show(theirs);
            settle();
            onClose?.();
          }}
          onMine={() => store(theirs)}
        />
      )}
    </form>
  );
}

/** What this form is about, to compare two versions. */
const provider = ({ oidcIssuer, oidcClientId, oidcHasSecret, oidcScopes }: SsoConnection) =>
  JSON.stringify([oidcIssuer, oidcClientId, oidcHasSecret, oidcScopes]);
