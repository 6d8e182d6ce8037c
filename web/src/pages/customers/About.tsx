import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Customer, CustomerChange } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Button, Copy, Field, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { metadataChange, objectIn } from "./history";
import { isConflict, messagesByField, useShowChanged } from "./queries";
import { languageName, languagesWith } from "./words";

/** Who a customer is, with what your own system keeps about it. */
export function About({ customer }: { customer: Customer }) {
  const mayWrite = useMayWrite();
  const [dialog, setDialog] = useState<"" | "profile" | "metadata">("");
  const { id, email, emailVerifiedAt, name, language, phone, phoneVerifiedAt, externalUserId, createdAt, metadata } =
    customer;
  const close = () => setDialog("");
  const isConfirmed = (at: string | null) => (at ? m.customers_confirmed() : m.customers_not_confirmed());
  return (
    <section className="sec" aria-labelledby="about">
      <header>
        <h2 id="about">{m.customers_about()}</h2>
        {mayWrite && (
          <div className="acts">
            <Button kind="bare" size="small" onClick={() => setDialog("profile")}>
              {m.customers_edit()}
            </Button>
            <Button kind="bare" size="small" onClick={() => setDialog("metadata")}>
              {m.customers_edit_metadata()}
            </Button>
          </div>
        )}
      </header>
      <dl className="facts ruled">
        <dt>{m.customers_id()}</dt>
        <dd>
          <code>{id}</code>
          <Copy value={id} label={m.customers_copy_id()} />
        </dd>
        {externalUserId && (
          <>
            <dt>{m.customers_external_id()}</dt>
            <dd>
              <code>{externalUserId}</code>
            </dd>
          </>
        )}
        <dt>{m.customers_name()}</dt>
        <dd>{name ?? <span className="muted">{m.customers_none_set()}</span>}</dd>
        {language && (
          <>
            <dt>{m.customers_language()}</dt>
            <dd>
              {languageName(language)}
              <span className="muted">{language}</span>
            </dd>
          </>
        )}
        <dt>{m.customers_email()}</dt>
        <dd>
          {email ?? <span className="muted">{m.customers_none_set()}</span>}
          {email && <span className="muted">{isConfirmed(emailVerifiedAt)}</span>}
        </dd>
        {phone && (
          <>
            <dt>{m.customers_phone()}</dt>
            <dd>
              {phone}
              <span className="muted">{isConfirmed(phoneVerifiedAt)}</span>
            </dd>
          </>
        )}
        <dt>{m.customers_since_when()}</dt>
        <dd>
          <Time at={createdAt} format={longTime} />
        </dd>
        {Object.entries(metadata).map(([key, value]) => (
          <Datum key={key} name={key} value={value} />
        ))}
      </dl>
      {dialog === "profile" && <ProfileDialog customer={customer} onClose={close} />}
      {dialog === "metadata" && <MetadataDialog customer={customer} onClose={close} />}
    </section>
  );
}

function Datum({ name, value }: { name: string; value: unknown }) {
  return (
    <>
      <dt className="breaks">{name}</dt>
      <dd>{typeof value === "string" ? value : <code>{JSON.stringify(value)}</code>}</dd>
    </>
  );
}

/** What a dialog that edits a customer needs: saving against the version it began with, and what to do in a conflict. */
function useEditing(customer: Customer) {
  const projectId = useProjectId();
  const showChanged = useShowChanged();
  const [base, setBase] = useState(customer);
  /** Who has changed it since, if someone has. */
  const [conflict, setConflict] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const save = async (run: (ifMatch: Customer) => Promise<Customer>): Promise<unknown> => {
    setBusy(true);
    try {
      showChanged(customer.id, await run(base));
      notifications.show({ message: m.customers_saved() });
      return undefined;
    } catch (error) {
      setBusy(false);
      if (!isConflict(error)) return error;
      try {
        const { customers } = api(projectId);
        const now = await customers.get(customer.id);
        const last = await customers.listAuditLog(customer.id, { limit: 1 }).catch(() => undefined);
        setBase(now);
        setConflict(last?.data[0]?.actorEmail ?? m.customers_somebody());
        showChanged(customer.id, now);
        return undefined;
      } catch (failed) {
        return failed;
      }
    }
  };
  return { projectId, base, conflict, isBusy, save, settle: () => setConflict(undefined) };
}

/** Says who has changed a customer in the meantime, and offers both versions. */
function Conflict({ who, now, onTake }: { who: string; now: string; onTake: () => void }) {
  return (
    <div className="note wait" role="alert">
      <div>
        <p className="breaks">
          {m.customers_conflict({ who })} <b>{now}</b>
        </p>
        <p>
          <Button size="small" onClick={onTake}>
            {m.customers_conflict_take()}
          </Button>
        </p>
      </div>
    </div>
  );
}

const FIELDS = { email_taken: "email", email: "email", name: "name", language: "language", phone: "phone" };

const draftOf = ({ email, emailVerifiedAt, name, language, phone, phoneVerifiedAt }: Customer) => ({
  email: email ?? "",
  isEmailVerified: emailVerifiedAt !== null,
  name: name ?? "",
  language: language ?? "",
  phone: phone ?? "",
  isPhoneVerified: phoneVerifiedAt !== null,
});

function ProfileDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  useReturnFocus();
  const { projectId, base, conflict, isBusy, save, settle } = useEditing(customer);
  const [draft, setDraft] = useState(() => draftOf(customer));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const stored = draftOf(base);
  const change: CustomerChange = {};
  const email = draft.email.trim();
  const name = draft.name.trim();
  const phone = draft.phone.replaceAll(/[\s()./-]/g, "");
  if (email !== stored.email) change.email = email;
  if (email && (email !== stored.email || draft.isEmailVerified !== stored.isEmailVerified))
    change.emailVerified = draft.isEmailVerified;
  if (name !== stored.name) change.name = name || null;
  if (draft.language !== stored.language) change.language = draft.language || null;
  if (phone !== stored.phone) change.phone = phone || null;
  if (phone && (phone !== stored.phone || draft.isPhoneVerified !== stored.isPhoneVerified))
    change.phoneVerified = draft.isPhoneVerified;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (stored.email && !email) return setErrors({ email: m.customers_email_needed() });
    if (Object.keys(change).length === 0) return onClose();
    setErrors({});
    let isSaved = false;
    const error = await save(async (ifMatch) => {
      const changed = await api(projectId).customers.update(customer.id, change, { ifMatch });
      isSaved = true;
      return changed;
    });
    if (isSaved) onClose();
    else if (error) setErrors(messagesByField(error, FIELDS, messageOf(error)));
  };
  const box = (key: "isEmailVerified" | "isPhoneVerified", label: string) => (
    <label className="boxed">
      <input
        type="checkbox"
        className="check"
        checked={draft[key]}
        onChange={(event) => setDraft({ ...draft, [key]: event.target.checked })}
      />
      <span>{label}</span>
    </label>
  );
  const field = (key: "email" | "name" | "phone") => ({
    value: draft[key],
    error: errors[key],
    autoComplete: "off",
    onChange: (event: { target: { value: string } }) => {
      // A new address or number is confirmed only if someone says so.
      const box = key === "email" ? { isEmailVerified: false } : key === "phone" ? { isPhoneVerified: false } : {};
      setDraft({ ...draft, ...box, [key]: event.target.value });
    },
  });
  return (
    <Modal opened onClose={onClose} title={m.customers_edit_title()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form customerform" onSubmit={submit} noValidate>
        {conflict && (
          <Conflict
            who={conflict}
            now={[base.name, base.language && languageName(base.language), base.email, base.phone]
              .filter(Boolean)
              .join(", ")}
            onTake={() => {
              setDraft(draftOf(base));
              settle();
            }}
          />
        )}
        <Field label={m.customers_name()} maxLength={200} {...field("name")} data-autofocus />
        <Field label={m.customers_language()} hint={m.customers_language_hint()} error={errors.language}>
          {(attributes) => (
            <select
              {...attributes}
              className="input"
              value={draft.language}
              onChange={(event) => setDraft({ ...draft, language: event.target.value })}
            >
              <option value="">{m.customers_language_unknown()}</option>
              {languagesWith(stored.language).map((each) => (
                <option key={each} value={each}>
                  {languageName(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={m.customers_email()} type="email" hint={m.customers_email_notice()} {...field("email")} />
        {box("isEmailVerified", m.customers_is_confirmed())}
        <Field label={m.customers_phone()} type="tel" placeholder="+4915112345678" {...field("phone")} />
        {draft.phone && box("isPhoneVerified", m.customers_phone_is_confirmed())}
        {errors[""] && (
          <p className="wrong" role="alert">
            {errors[""]}
          </p>
        )}
        <div className="dialog-actions">
          <Button
            kind="bare"
            onClick={() =>
              void copyCurl({ method: "PATCH", path: `/projects/${projectId}/customers/${customer.id}`, body: change })
            }
          >
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {conflict ? m.customers_save_anyway() : m.customers_save()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

const textOf = ({ metadata }: Customer) => JSON.stringify(metadata, null, 2);

function MetadataDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  useReturnFocus();
  const { projectId, base, conflict, isBusy, save, settle } = useEditing(customer);
  /** What the person began with: only what was changed since is sent. */
  const [began, setBegan] = useState(customer);
  const [text, setText] = useState(() => textOf(customer));
  const [wrong, setWrong] = useState("");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const edited = objectIn(text);
    if (!edited) return setWrong(m.customers_metadata_wrong());
    const change = metadataChange(began.metadata, edited);
    if (!change) return onClose();
    setWrong("");
    let isSaved = false;
    const error = await save(async (ifMatch) => {
      const changed = await api(projectId).customers.updateMetadata(customer.id, { metadata: change }, { ifMatch });
      isSaved = true;
      return changed;
    });
    if (isSaved) onClose();
    else if (error) setWrong(messageOf(error));
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size={560}
      title={m.customers_edit_metadata()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        {conflict && (
          <Conflict
            who={conflict}
            now={JSON.stringify(base.metadata).slice(0, 400)}
            onTake={() => {
              setText(textOf(base));
              setBegan(base);
              settle();
            }}
          />
        )}
        <Field label={m.customers_metadata()} hint={m.customers_metadata_hint()} error={wrong}>
          {(attributes) => (
            <textarea
              {...attributes}
              className="input mono"
              rows={12}
              spellCheck={false}
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setWrong("");
              }}
              data-autofocus
            />
          )}
        </Field>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {conflict ? m.customers_save_anyway() : m.customers_save()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
