import { Modal } from "@mantine/core";
import { APIError } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field } from "../../parts/parts";
import { useProfile, useProject, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";

/** Addresses with a fixed outcome, on every transport. */
const OUTCOMES = ["delivered", "bounced", "complained", "deferred", "suppressed"].map((name) => `${name}@postern.test`);
const ANY_SENDER = "test@example.com";
const FIELDS = ["from", "to", "subject", "text"] as const;
type FieldName = (typeof FIELDS)[number];

/** Sends one e-mail with the API, and opens it. */
export default function SendTest({ onClose }: { onClose: () => void }) {
  const projectId = useProjectId();
  const project = useProject();
  const { email, name } = useProfile();
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Partial<Record<FieldName | "", string>>>({});
  const lists = useId();
  const senders = useQuery({ queryKey: ["senders", projectId, "verified"], queryFn: () => verifiedSenders(projectId) });
  const isCaptured = project?.settings.transport === "capture";

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const value = (field: FieldName) => String(form.get(field) ?? "").trim();
    const missing = FIELDS.filter((field) => !value(field));
    if (missing.length) return setErrors(Object.fromEntries(missing.map((field) => [field, m.emails_test_missing()])));
    setBusy(true);
    setErrors({});
    try {
      const sent = await api(projectId).emails.send({
        from: value("from"),
        to: value("to")
          .split(/[,;]/)
          .map((each) => each.trim())
          .filter(Boolean),
        subject: value("subject"),
        text: value("text"),
        // What a person types is sent as it is.
        engine: "none",
      });
      onClose();
      await navigate({
        to: "/projects/$projectId/emails/$sendId",
        params: { projectId, sendId: sent.id },
        resetScroll: false,
      });
    } catch (error) {
      setErrors(errorsOf(error));
      setBusy(false);
    }
  };

  return (
    <Modal
      opened
      onClose={onClose}
      title={m.emails_send_test()}
      size={520}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      {/* The sender is filled in once it is known which ones are allowed. */}
      {senders.isPending ? (
        <p className="muted">{m.loading()}</p>
      ) : (
        <form className="form" onSubmit={submit} noValidate>
          <Field
            label={m.emails_from()}
            name="from"
            list={`${lists}from`}
            defaultValue={senders.data?.[0] ?? ANY_SENDER}
            hint={
              senders.data?.length
                ? m.emails_test_from_hint()
                : isCaptured
                  ? m.emails_test_from_any()
                  : m.emails_test_from_none()
            }
            error={errors.from}
            autoComplete="off"
          />
          <datalist id={`${lists}from`}>
            {senders.data?.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <Field
            label={m.emails_col_to()}
            name="to"
            list={`${lists}to`}
            defaultValue={email}
            hint={m.emails_test_to_hint()}
            error={errors.to}
            autoComplete="off"
          />
          <datalist id={`${lists}to`}>
            {[email, ...OUTCOMES].map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <Field
            label={m.emails_col_subject()}
            name="subject"
            defaultValue={m.emails_test_subject({ project: project?.name ?? "" })}
            error={errors.subject}
            autoComplete="off"
            data-autofocus
          />
          <Field label={m.emails_test_text()} error={errors.text}>
            {(attributes) => (
              <textarea
                className="input"
                name="text"
                rows={4}
                {...attributes}
                defaultValue={m.emails_test_body({ name: name || email })}
              />
            )}
          </Field>
          {errors[""] && (
            <p className="wrong" role="alert">
              <span>{errors[""]}</span>
            </p>
          )}
          <div className="dialog-actions">
            <Button onClick={onClose}>{m.cancel()}</Button>
            <Button kind="primary" type="submit" busy={isBusy}>
              {m.emails_test_send()}
            </Button>
          </div>
        </form>
      )}
    </Modal>
  );
}

/** Addresses that may stand in From: one of each verified domain, and the confirmed single senders. */
export async function verifiedSenders(projectId: string): Promise<string[]> {
  const [domains, senders] = await Promise.all([api(projectId).domains.list({}), api(projectId).senders.list()]);
  return [
    ...domains.data.filter((each) => each.status === "VERIFIED").map((each) => `hello@${each.domain}`),
    ...senders.filter((each) => each.status === "VERIFIED").map((each) => each.email),
  ];
}

/** What was refused, by field; under an empty name what is about none of them. */
function errorsOf(error: unknown): Partial<Record<FieldName | "", string>> {
  if (!(error instanceof APIError)) return { "": messageOf(error) };
  if (error.code === "domain_not_verified") return { from: error.detail };
  const found: Partial<Record<FieldName | "", string>> = {};
  for (const { path, message } of error.errors) {
    const name = path.split("/")[1] ?? "";
    const field = FIELDS.find((each) => each === name || (each === "from" && name === "from_")) ?? "";
    found[field] = found[field] ? `${found[field]} ${message}` : message;
  }
  return Object.keys(found).length ? found : { "": messageOf(error) };
}
