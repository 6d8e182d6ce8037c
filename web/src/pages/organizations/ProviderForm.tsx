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

type Way = "url" | "xml" | "hand";

/** The problems of the API by the field of each way. */
const FIELDS = {
  idpMetadataUrl: "idpMetadataUrl",
  idpMetadataXml: "idpMetadataXml",
  idpEntityId: "idpEntityId",
  idpSsoUrl: "idpSsoUrl",
  idpSloUrl: "idpSloUrl",
  idpCertificate: "idpCertificate",
};

/** What the identity provider says about itself: by its metadata, or field by field. */
export function ProviderForm({ organization, connection }: { organization: Organization; connection: SsoConnection }) {
  const mayWrite = useMayWrite();
  const [isOpen, setOpen] = useState(false);
  const isMissing = missingParts(connection).length > 0;
  return (
    <>
      {!isMissing && (
        <dl className="facts">
          <dt>{m.organizations_idp_entity()}</dt>
          <dd>
            <code>{connection.idpEntityId}</code>
          </dd>
          <dt>{m.organizations_idp_sso()}</dt>
          <dd>
            <code>{connection.idpSsoUrl}</code>
          </dd>
          {connection.idpSloUrl && (
            <>
              <dt>{m.organizations_idp_slo()}</dt>
              <dd>
                <code>{connection.idpSloUrl}</code>
              </dd>
            </>
          )}
          {connection.idpMetadataUrl && (
            <>
              <dt>{m.organizations_idp_url()}</dt>
              <dd>
                <code>{connection.idpMetadataUrl}</code>
              </dd>
            </>
          )}
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
  const [way, setWay] = useState<Way>(connection.idpMetadataUrl || !connection.idpEntityId ? "url" : "hand");
  const [draft, setDraft] = useState({
    idpMetadataUrl: connection.idpMetadataUrl ?? "",
    idpMetadataXml: "",
    idpEntityId: connection.idpEntityId ?? "",
    idpSsoUrl: connection.idpSsoUrl ?? "",
    idpSloUrl: connection.idpSloUrl ?? "",
    idpCertificate: connection.idpCertificate.join("\n"),
  });
  const [errors, setErrors] = useState<Record<string, string>>({});
  // A change of something else, such as of attributes and roles, is no conflict.
  if (connection.updatedAt > base.updatedAt && !theirs && !isBusy && provider(connection) === provider(base))
    rebase(connection);
  const change = (): SsoConnectionChange | undefined => {
    const needed: Record<string, string> = {};
    const require = (...names: (keyof typeof draft)[]) => {
      for (const name of names) if (!draft[name].trim()) needed[name] = m.organizations_needed();
    };
    if (way === "url") require("idpMetadataUrl");
    else if (way === "xml") require("idpMetadataXml");
    else require("idpEntityId", "idpSsoUrl", "idpCertificate");
    setErrors(needed);
    if (Object.keys(needed).length) return undefined;
    if (way === "url") return { idpMetadataUrl: draft.idpMetadataUrl.trim() };
    if (way === "xml") return { idpMetadataXml: draft.idpMetadataXml };
    return {
      idpMetadataUrl: null,
      idpEntityId: draft.idpEntityId.trim(),
      idpSsoUrl: draft.idpSsoUrl.trim(),
      idpSloUrl: draft.idpSloUrl.trim() || null,
      idpCertificate: certificatesIn(draft.idpCertificate),
    };
  };
  const store = async (against?: SsoConnection) => {
    const body = change();
    if (!body) return settle();
    const saved = await save((ifMatch) => sso.update(organization.id, connection.id, body, { ifMatch }), against);
    if (saved.kind === "refused") {
      settle();
      setErrors(messagesByField(saved.error, FIELDS, messageOf(saved.error)));
    }
    if (saved.kind === "saved") {
      notifications.show({ message: m.organizations_idp_saved() });
      onClose?.();
    }
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy) await store();
  };
  const field = (name: keyof typeof draft) => ({
    value: draft[name],
    error: errors[name],
    autoComplete: "off",
    spellCheck: false,
    onChange: (event: { target: { value: string } }) => {
      setDraft({ ...draft, [name]: event.target.value });
      setErrors({ ...errors, [name]: "" });
    },
  });
  const area = (name: keyof typeof draft, label: string, hint: string, rows: number) => {
    const { error, ...rest } = field(name);
    return (
      <Field label={label} hint={hint} error={error}>
        {(attributes) => <textarea {...attributes} {...rest} className="input mono" rows={rows} />}
      </Field>
    );
  };
  const ways: Record<Way, () => string> = {
    url: m.organizations_idp_by_url,
    xml: m.organizations_idp_by_xml,
    hand: m.organizations_idp_by_hand,
  };
  return (
    <form className="form customerform provider" onSubmit={submit} noValidate>
      <div className="seg fit scrollx" role="group" aria-label={m.organizations_idp_way()}>
        {(Object.keys(ways) as Way[]).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={way === each}
            onClick={() => {
              setWay(each);
              setErrors({});
            }}
          >
            {ways[each]()}
          </button>
        ))}
      </div>
      {way === "url" ? (
        <Field
          label={m.organizations_idp_url()}
          hint={m.organizations_idp_url_hint()}
          type="url"
          placeholder="https://acme.okta.com/app/abc/sso/saml/metadata"
          maxLength={2048}
          {...field("idpMetadataUrl")}
        />
      ) : way === "xml" ? (
        <>
          <Field label={m.organizations_idp_file()}>
            {(attributes) => (
              <input
                {...attributes}
                className="input file"
                type="file"
                accept=".xml,application/xml,text/xml,application/samlmetadata+xml"
                onChange={async (event) => {
                  const file = event.target.files?.[0];
                  if (!file) return;
                  const text = await file.text();
                  setDraft((before) => ({ ...before, idpMetadataXml: text }));
                  setErrors({});
                }}
              />
            )}
          </Field>
          {area("idpMetadataXml", m.organizations_idp_xml(), m.organizations_idp_xml_hint(), 6)}
        </>
      ) : (
        <>
          <Field label={m.organizations_idp_entity()} maxLength={1024} {...field("idpEntityId")} />
          <Field label={m.organizations_idp_sso()} type="url" maxLength={2048} {...field("idpSsoUrl")} />
          <Field
            label={m.organizations_idp_slo()}
            hint={m.organizations_optional()}
            type="url"
            maxLength={2048}
            {...field("idpSloUrl")}
          />
          {area("idpCertificate", m.organizations_idp_certificate(), m.organizations_idp_certificate_hint(), 6)}
        </>
      )}
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
            { name: m.organizations_idp_entity(), theirs: theirs.idpEntityId, mine: draft.idpEntityId },
            { name: m.organizations_idp_sso(), theirs: theirs.idpSsoUrl, mine: draft.idpSsoUrl },
            { name: m.organizations_idp_url(), theirs: theirs.idpMetadataUrl, mine: draft.idpMetadataUrl },
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
const provider = ({ idpEntityId, idpSsoUrl, idpSloUrl, idpMetadataUrl, idpCertificate }: SsoConnection) =>
  JSON.stringify([idpEntityId, idpSsoUrl, idpSloUrl, idpMetadataUrl, idpCertificate]);

/** The certificates in a text: each PEM block, or the whole text as one without its frame. */
function certificatesIn(text: string): string[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  return blocks ?? [text.trim()];
}
