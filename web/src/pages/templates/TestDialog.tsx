import { Modal } from "@mantine/core";
import { APIError } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field } from "../../parts/parts";
import { useProfile, useProject, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { verifiedSenders } from "../emails/SendTest";

/** An e-mail as it was rendered with the sample data. */
export interface RenderedMail {
  subject: string | null;
  html: string | null;
  text: string | null;
}

/** Sends what the preview shows, once, to an address of one's own. */
export default function TestDialog({ mail, onClose }: { mail: RenderedMail; onClose: () => void }) {
  const projectId = useProjectId();
  const project = useProject();
  const { email } = useProfile();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<{ from?: string; to?: string; other?: string }>({});
  const [sent, setSent] = useState<{ id: string; to: string } | undefined>();
  const senders = useQuery({ queryKey: ["senders", projectId, "verified"], queryFn: () => verifiedSenders(projectId) });
  const isCaptured = project?.settings.transport === "capture";

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const from = String(form.get("from") ?? "").trim();
    const to = String(form.get("to") ?? "").trim();
    if (!from || !to)
      return setErrors({ ...(!from && { from: m.templates_missing() }), ...(!to && { to: m.templates_missing() }) });
    setBusy(true);
    setErrors({});
    try {
      const { id } = await api(projectId).emails.send({
        from,
        to: [to],
        subject: mail.subject || m.templates_no_subject(),
        html: mail.html,
        text: mail.text,
        // It is rendered already.
        engine: "none",
      });
      setSent({ id, to });
    } catch (error) {
      setErrors(errorsOf(error));
    }
    setBusy(false);
  };

  return (
    <Modal opened onClose={onClose} title={m.templates_test()} closeButtonProps={{ "aria-label": m.close() }}>
      {sent ? (
        <div className="form">
          <p>
            {m.templates_test_sent({ to: sent.to })}{" "}
            <Link to="/projects/$projectId/emails/$sendId" params={{ projectId, sendId: sent.id }}>
              {m.templates_test_follow()}
            </Link>
          </p>
          <div className="dialog-actions">
            <Button onClick={onClose} data-autofocus>
              {m.close()}
            </Button>
          </div>
        </div>
      ) : senders.isPending ? (
        <p className="muted">{m.loading()}</p>
      ) : (
        <form className="form" onSubmit={submit} noValidate>
          <p className="muted">{isCaptured ? m.templates_test_captured() : m.templates_test_lead()}</p>
          <Field
            label={m.templates_test_from()}
            name="from"
            list="templates-senders"
            defaultValue={senders.data?.[0] ?? (isCaptured ? "test@example.com" : "")}
            error={errors.from}
            autoComplete="off"
          />
          <datalist id="templates-senders">
            {senders.data?.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <Field
            label={m.templates_test_to()}
            name="to"
            type="email"
            defaultValue={email}
            error={errors.to}
            data-autofocus
          />
          {errors.other && (
            <p className="wrong" role="alert">
              <span>{errors.other}</span>
            </p>
          )}
          <div className="dialog-actions">
            <Button onClick={onClose}>{m.cancel()}</Button>
            <Button kind="primary" type="submit" busy={isBusy}>
              {m.templates_test_send()}
            </Button>
          </div>
        </form>
      )}
    </Modal>
  );
}

function errorsOf(error: unknown): { from?: string; to?: string; other?: string } {
  if (!(error instanceof APIError)) return { other: messageOf(error) };
  if (error.code === "domain_not_verified") return { from: error.detail };
  const at = (name: string) => error.errors.find((each) => each.path.split("/")[1]?.replace("_", "") === name)?.message;
  const [from, to] = [at("from"), at("to")];
  return from || to ? { ...(from && { from }), ...(to && { to }) } : { other: messageOf(error) };
}
