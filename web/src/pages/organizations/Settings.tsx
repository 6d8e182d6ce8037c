import { notifications } from "@mantine/notifications";
import type { Organization, OrganizationChange } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { Button, Field } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { metadataChange, objectIn } from "../customers/history";
import { messagesByField } from "../customers/queries";
import { FIELDS } from "./NewOrganization";
import { useEditing, useShowOrganization } from "./queries";
import { SignInRules } from "./SignInRules";

interface Draft {
  name: string;
  slug: string;
  externalId: string;
  metadata: string;
}

const draftOf = ({ name, slug, externalId, metadata }: Organization): Draft => ({
  name,
  slug,
  externalId: externalId ?? "",
  metadata: JSON.stringify(metadata, null, 2),
});

/** Name, slug, ID, metadata and the rules for signing in; the deletion. */
export function Settings({ organization, onDelete }: { organization: Organization; onDelete: () => void }) {
  const mayWrite = useMayWrite();
  return (
    <div className="narrow">
      <Details organization={organization} />
      <SecondFactor organization={organization} />
      <SignInRules organization={organization} />
      {mayWrite && (
        <section className="sec" aria-labelledby="delete">
          <header>
            <h2 id="delete">{m.organizations_delete_title({ name: organization.name })}</h2>
          </header>
          <div className="ruled ends">
            <p>{m.organizations_delete_keeps()}</p>
            <Button kind="danger" onClick={onDelete}>
              {m.organizations_delete()}
            </Button>
          </div>
        </section>
      )}
    </div>
  );
}

function Details({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const show = useShowOrganization(projectId);
  const { id } = organization;
  const { base, theirs, isBusy, save, takeTheirs, rebase, settle } = useEditing(
    organization,
    () => api(projectId).organizations.get(id),
    show,
  );
  const [draft, setDraft] = useState(() => draftOf(organization));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const stored = draftOf(base);
  const edited = objectIn(draft.metadata);
  const changeFrom = (from: Organization): OrganizationChange => {
    const change: OrganizationChange = {};
    const before = draftOf(from);
    if (draft.name.trim() !== before.name) change.name = draft.name.trim();
    if (draft.slug.trim() !== before.slug) change.slug = draft.slug.trim();
    if (draft.externalId.trim() !== before.externalId) change.externalId = draft.externalId.trim() || null;
    const metadata = edited && metadataChange(from.metadata, edited);
    if (metadata) change.metadata = metadata;
    return change;
  };
  // What this person has changed: the rest stays as another person has stored it.
  const change = changeFrom(base);
  const isChanged = Object.keys(change).length > 0 || !edited;
  const latest = draftOf(organization);
  const isSame = (Object.keys(latest) as (keyof Draft)[]).every((name) => latest[name] === stored[name]);
  // A change of something else, or one that this person does not overwrite, is no conflict.
  if (organization.updatedAt > base.updatedAt && !theirs && !isBusy && (isSame || !isChanged)) {
    rebase(organization);
    if (!isChanged) setDraft(latest);
  }
  const store = async (against?: Organization) => {
    setErrors({});
    const saved = await save((ifMatch) => api(projectId).organizations.update(id, change, { ifMatch }), against);
    if (saved.kind === "refused") {
      settle();
      setErrors(messagesByField(saved.error, FIELDS, messageOf(saved.error)));
    }
    if (saved.kind === "saved") notifications.show({ message: m.organizations_saved() });
    return saved;
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy || !isChanged) return;
    if (!draft.name.trim()) return setErrors({ name: m.organizations_name_needed() });
    if (!draft.slug.trim()) return setErrors({ slug: m.organizations_slug_needed() });
    if (!edited) return setErrors({ metadata: m.customers_metadata_wrong() });
    await store();
  };
  const field = (name: "name" | "slug" | "externalId") => ({
    value: draft[name],
    error: errors[name],
    autoComplete: "off",
    readOnly: !mayWrite,
    onChange: (event: { target: { value: string } }) => {
      setDraft({ ...draft, [name]: event.target.value });
      setErrors({ ...errors, [name]: "" });
    },
  });
  const words: Record<keyof Draft, () => string> = {
    name: m.organizations_name,
    slug: m.organizations_slug,
    externalId: m.organizations_external_id,
    metadata: m.organizations_metadata,
  };
  const now = theirs && draftOf(theirs);
  return (
    <section className="sec" aria-labelledby="details">
      <header>
        <h2 id="details">{m.organizations_details()}</h2>
      </header>
      <form className="form customerform ruled detailsform" onSubmit={submit} noValidate>
        <Field label={m.organizations_name()} maxLength={200} {...field("name")} />
        <Field
          label={m.organizations_slug()}
          hint={m.organizations_slug_change_hint()}
          maxLength={64}
          spellCheck={false}
          {...field("slug")}
        />
        <Field
          label={m.organizations_external_id()}
          hint={m.organizations_external_id_hint()}
          maxLength={255}
          {...field("externalId")}
        />
        <Field label={m.organizations_metadata()} hint={m.organizations_metadata_hint()} error={errors.metadata}>
          {(attributes) => (
            <textarea
              {...attributes}
              className="input mono"
              rows={6}
              spellCheck={false}
              readOnly={!mayWrite}
              value={draft.metadata}
              onChange={(event) => {
                setDraft({ ...draft, metadata: event.target.value });
                setErrors({ ...errors, metadata: "" });
              }}
            />
          )}
        </Field>
        <Wrong>{errors[""]}</Wrong>
        {mayWrite && (
          <div className="dialog-actions start">
            <Button kind="primary" type="submit" busy={isBusy} disabled={!isChanged}>
              {m.organizations_save()}
            </Button>
            {isChanged && (
              <>
                <Button
                  onClick={() => {
                    setDraft(stored);
                    setErrors({});
                  }}
                >
                  {m.organizations_discard()}
                </Button>
                <Button
                  kind="bare"
                  onClick={() =>
                    void copyCurl({
                      method: "PATCH",
                      path: `/projects/${projectId}/b2b/organizations/${id}`,
                      body: change,
                    })
                  }
                >
                  {m.copy_as_curl()}
                </Button>
              </>
            )}
          </div>
        )}
      </form>
      {theirs && now && (
        <ConflictDialog
          lead={m.organizations_conflict_lead()}
          rows={(Object.keys(words) as (keyof Draft)[])
            .filter((name) => now[name] !== draft[name])
            .map((name) => ({
              name: words[name](),
              theirs: <span className="breaks">{now[name]}</span>,
              mine: <span className="breaks">{draft[name]}</span>,
            }))}
          hint={m.organizations_conflict_hint()}
          onClose={settle}
          onTheirs={() => {
            setDraft(now);
            show(theirs);
            takeTheirs();
          }}
          onMine={async () => {
            const saved = await store(theirs);
            // What another person has changed and this person has not is shown as it is now.
            if (saved.kind === "saved") setDraft(draftOf(await api(projectId).organizations.get(id)));
          }}
        />
      )}
    </section>
  );
}

/** Whether members need a second factor. Single sign-on has a tab of its own. */
function SecondFactor({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const show = useShowOrganization(projectId);
  const [isBusy, setBusy] = useState(false);
  const change = async (requireMfa: boolean) => {
    setBusy(true);
    try {
      show(await api(projectId).organizations.update(organization.id, { requireMfa }));
      notifications.show({ message: requireMfa ? m.organizations_mfa_on() : m.organizations_mfa_off() });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
    setBusy(false);
  };
  return (
    <section className="sec" aria-labelledby="mfa">
      <header>
        <h2 id="mfa">{m.organizations_second_factor()}</h2>
      </header>
      <label className="switchline ruled">
        <input
          type="checkbox"
          className="switch"
          checked={organization.requireMfa}
          disabled={!mayWrite || isBusy}
          onChange={(event) => void change(event.target.checked)}
        />
        <span>
          {m.organizations_mfa()}
          <span className="muted">{m.organizations_mfa_hint()}</span>
        </span>
      </label>
    </section>
  );
}
