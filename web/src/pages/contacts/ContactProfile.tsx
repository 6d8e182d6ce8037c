import { notifications } from "@mantine/notifications";
import { APIError, type Contact } from "@postern/sdk";
import { IconPencil, IconX } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConflictDialog, type Difference } from "../../parts/ConflictDialog";
import { Button, Field, ICON } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { AddToAudience } from "./AddToAudience";
import { AttributeFields, changeOf, type Draft, draftsOf } from "./AttributeFields";
import { isSame } from "./attributes";
import { BeforeLeaving } from "./BeforeLeaving";
import { type ContactErrors, contactErrors } from "./contactErrors";
import { lastChangedBy } from "./lastChange";
import { ADDRESS_CHARACTERS } from "./limits";
import { useAttributes, useAudiences } from "./queries";
import type { Types } from "./rules";
import { inWords, typeName } from "./values";

/** What is stored about a contact, to be edited, and the audiences that it is in. */
export function ContactProfile({ contact, onChange }: { contact: Contact; onChange: (contact: Contact) => void }) {
  const mayWrite = useMayWrite();
  const { types } = useAttributes();
  const projectId = useProjectId();
  /** The contact as it was read when the editing began, with its ETag; undefined while nothing is edited. */
  const [edited, setEdited] = useState<Contact>();
  const [isStarting, setStarting] = useState(false);
  /** The form has gone: the focus returns to the button that opened it. */
  const [wasEdited, setWasEdited] = useState(false);
  const edit = async () => {
    setStarting(true);
    try {
      setEdited(await api(projectId).contacts.get(contact.id));
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    } finally {
      setStarting(false);
    }
  };
  const entries = Object.entries(contact.attributes).sort(([a], [b]) => a.localeCompare(b));
  const done = () => {
    setEdited(undefined);
    setWasEdited(true);
  };
  if (edited) return <EditForm contact={edited} onChange={onChange} onDone={done} />;
  return (
    <>
      <section className="part" aria-label={m.contacts_attributes()}>
        <div className="sechead">
          <h3>{m.contacts_attributes()}</h3>
          {mayWrite && (
            <div className="acts">
              <Button
                size="small"
                busy={isStarting}
                icon={<IconPencil {...ICON} />}
                autoFocus={wasEdited}
                onClick={() => void edit()}
              >
                {m.contacts_edit()}
              </Button>
            </div>
          )}
        </div>
        {entries.length === 0 ? (
          <p className="muted">{m.contacts_no_attributes()}</p>
        ) : (
          <dl className="facts values">
            {entries.map(([name, value]) => (
              <Value key={name} name={name} value={value} type={types.get(name)} />
            ))}
          </dl>
        )}
      </section>
      <Memberships contact={contact} />
    </>
  );
}

function Value({ name, value, type }: { name: string; value: unknown; type: string | undefined }) {
  const isObject = typeof value === "object" && !Array.isArray(value);
  return (
    <>
      <dt title={type && typeName(type)}>{name}</dt>
      <dd>{isObject ? <code>{JSON.stringify(value)}</code> : inWords(value, type)}</dd>
    </>
  );
}

interface Conflict {
  theirs: Contact;
  who: string | undefined;
  change: Record<string, unknown>;
  rows: Difference[];
}

/** Address and attributes as a form. Only what differs is sent, and only if nobody else has changed the contact. */
function EditForm({
  contact,
  onChange,
  onDone,
}: {
  contact: Contact;
  onChange: (contact: Contact) => void;
  onDone: () => void;
}) {
  const projectId = useProjectId();
  const { types } = useAttributes();
  const [email, setEmail] = useState(contact.email);
  const [before] = useState<Draft[]>(() => draftsOf(contact.attributes, types));
  const [drafts, setDrafts] = useState(before);
  const [errors, setErrors] = useState<ContactErrors>({ attributes: {} });
  const [conflict, setConflict] = useState<Conflict>();
  const [isBusy, setBusy] = useState(false);
  const save = async (change: Record<string, unknown>, base: Contact) => {
    const address = email.trim();
    setBusy(true);
    setErrors({ attributes: {} });
    try {
      const saved = await api(projectId).contacts.update(
        contact.id,
        {
          ...(address !== contact.email && { email: address }),
          ...(Object.keys(change).length > 0 && { attributes: change }),
        },
        { ifMatch: base },
      );
      onChange(saved);
      onDone();
    } catch (error) {
      if (!(error instanceof APIError && error.status === 412)) setErrors(contactErrors(error, drafts));
      else await compare(change).catch((reason: unknown) => setErrors(contactErrors(reason, drafts)));
    } finally {
      setBusy(false);
    }
  };
  const compare = async (change: Record<string, unknown>) => {
    const [theirs, who] = await Promise.all([
      api(projectId).contacts.get(contact.id),
      lastChangedBy(projectId, "contact.updated", contact.id),
    ]);
    const rows = versionsOf(theirs, contact, email.trim(), change, types);
    if (rows.length > 0) setConflict({ theirs, who, change, rows });
    else await save(change, theirs);
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!email.trim()) return setErrors({ email: m.contacts_email_missing(), attributes: {} });
    const read = changeOf(drafts);
    if ("errors" in read) return setErrors({ attributes: read.errors });
    if (Object.keys(read.change).length === 0 && email.trim() === contact.email) return onDone();
    await save(read.change, contact);
  };
  return (
    <form className="form contacts-form part" onSubmit={submit} noValidate aria-label={m.contacts_edit()}>
      <Field
        label={m.contacts_email()}
        type="email"
        autoComplete="off"
        maxLength={ADDRESS_CHARACTERS}
        error={errors.email}
        autoFocus
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <AttributeFields drafts={drafts} types={types} errors={errors.attributes} onChange={setDrafts} />
      {errors.all && <Wrong>{errors.all}</Wrong>}
      <div className="dialog-actions">
        <Button onClick={onDone}>{m.cancel()}</Button>
        <Button kind="primary" type="submit" busy={isBusy}>
          {m.contacts_save()}
        </Button>
      </div>
      <BeforeLeaving isUnsaved={() => email !== contact.email || drafts !== before} />
      {conflict && (
        <ConflictDialog
          who={conflict.who}
          lead={m.contacts_conflict_lead()}
          rows={conflict.rows}
          onClose={() => setConflict(undefined)}
          onTheirs={() => {
            onChange(conflict.theirs);
            onDone();
          }}
          onMine={async () => {
            setConflict(undefined);
            await save(conflict.change, conflict.theirs);
          }}
        />
      )}
    </form>
  );
}

/** Where a change differs from what another person has stored meanwhile. All else of theirs stays. */
function versionsOf(
  theirs: Contact,
  was: Contact,
  email: string,
  change: Record<string, unknown>,
  types: Types,
): Difference[] {
  const words = (value: unknown, name: string) => inWords(value, types.get(name)) || m.contacts_nothing();
  const differing = Object.keys(change)
    .sort()
    .filter((name) => !isSame(theirs.attributes[name] ?? null, change[name] ?? null));
  return [
    ...(email === was.email || email === theirs.email
      ? []
      : [{ name: m.contacts_email(), theirs: theirs.email, mine: email }]),
    ...differing.map((name) => ({
      name,
      theirs: words(theirs.attributes[name], name),
      mine: words(change[name], name),
    })),
  ];
}

/** The audiences that the contact is in. */
function Memberships({ contact }: { contact: Contact }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const { audiences } = useAudiences();
  const [isAdding, setAdding] = useState(false);
  const key = ["contact-audiences", projectId, contact.id];
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api(projectId).contacts.listAudiences(contact.id, { signal }),
  });
  const ids = query.data;
  const leave = async (id: string, name: string) => {
    try {
      await api(projectId).audiences.contacts.remove(id, contact.id);
      notifications.show({ message: m.contacts_left({ email: contact.email, name }) });
      void client.invalidateQueries({ queryKey: ["contacts", projectId, "audiences"] });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
    await client.invalidateQueries({ queryKey: key });
  };
  return (
    <section className="part" aria-label={m.contacts_audiences()}>
      <div className="sechead">
        <h3>{m.contacts_audiences()}</h3>
        {mayWrite && audiences.some((each) => each.type === "STATIC") && (
          <div className="acts">
            <Button size="small" onClick={() => setAdding(true)}>
              {m.contacts_add_to_audience()}
            </Button>
          </div>
        )}
      </div>
      {query.isError ? (
        <Wrong>{messageOf(query.error)}</Wrong>
      ) : ids?.length === 0 ? (
        <p className="muted">{m.contacts_in_no_audience()}</p>
      ) : (
        <ul className="list">
          {ids?.map((id) => {
            const audience = audiences.find((each) => each.id === id);
            const name = audience?.name ?? id;
            return (
              <li key={id}>
                <span className="grow cut">
                  <Link to="/projects/$projectId/contacts" params={{ projectId }} search={{ audience: id }}>
                    {name}
                  </Link>{" "}
                  {audience?.type === "DYNAMIC" && <span className="muted">{m.contacts_by_rules()}</span>}
                </span>
                {mayWrite && audience?.type === "STATIC" && (
                  <button
                    type="button"
                    className="iconbtn small"
                    aria-label={m.contacts_leave({ name })}
                    title={m.contacts_leave({ name })}
                    onClick={() => void leave(id, name)}
                  >
                    <IconX {...ICON} />
                  </button>
                )}
              </li>
            );
          })}
        </ul>
      )}
      {isAdding && (
        <AddToAudience
          emails={[contact.email]}
          without={ids ?? []}
          onClose={() => setAdding(false)}
          onAdded={() => void client.invalidateQueries({ queryKey: key })}
        />
      )}
    </section>
  );
}
