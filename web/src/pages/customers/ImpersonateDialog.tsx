import { Modal } from "@mantine/core";
import type { CreatedImpersonationLink, Customer, CustomerSignInResult } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { CopyRequest } from "../../parts/CopyRequest";
import { shortTime } from "../../parts/format";
import { Button, Copy, Field } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField, redirectUrlsQuery, useShowChanged } from "./queries";
import { nameOf } from "./words";

/** Minutes for which a session can last. */
const MINUTES = [5, 15, 30, 60] as const;
const REASON_CHARACTERS = 500;

/** Creates a link that opens the app as a customer, for a reason that the customer can read; or begins the session and
 * shows its tokens once. */
export function ImpersonateDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const showChanged = useShowChanged();
  const name = nameOf(customer);
  const [reason, setReason] = useState("");
  const [minutes, setMinutes] = useState<number>(30);
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [result, setResult] = useState<CustomerSignInResult>();
  const [link, setLink] = useState<CreatedImpersonationLink>();
  const urls = useQuery(redirectUrlsQuery(projectId)).data;
  const [chosen, setChosen] = useState<string>();
  const redirectUrl = chosen ?? urls?.[0];
  const session = { reason: reason.trim(), minutes };
  const run = async (deed: () => Promise<void>) => {
    if (isBusy) return;
    if (!session.reason) return setErrors({ reason: m.customers_impersonate_reason_needed() });
    setBusy(true);
    setErrors({});
    try {
      await deed();
    } catch (error) {
      const fields = { reason: "reason", minutes: "minutes", redirectUrl: "redirectUrl" };
      setErrors(messagesByField(error, fields, messageOf(error)));
    }
    setBusy(false);
  };
  const showTokens = () =>
    run(async () => {
      setResult(await api(projectId).customers.impersonate(customer.id, session));
      showChanged(customer.id);
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (redirectUrl === undefined) return;
    void run(async () => {
      setLink(await api(projectId).customers.createImpersonationLink(customer.id, { ...session, redirectUrl }));
    });
  };
  const isDone = result !== undefined || link !== undefined;
  return (
    <Modal
      opened
      onClose={onClose}
      size={560}
      title={m.customers_impersonate_title({ name })}
      // What is shown only once does not vanish by a slip.
      closeOnClickOutside={!isDone}
      closeOnEscape={!isDone}
      withCloseButton={!isDone}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      {link ? (
        <div className="form customerform">
          <p>{m.customers_impersonate_ready({ name, time: shortTime(link.expiresAt) })}</p>
          <Token label={m.customers_impersonate_url()} value={link.url} />
          <div className="dialog-actions">
            <Button onClick={onClose}>{m.customers_impersonate_close()}</Button>
            <a className="btn primary" href={link.url} target="_blank" rel="noopener noreferrer">
              {m.customers_impersonate_open()}
            </a>
          </div>
        </div>
      ) : result ? (
        <div className="form customerform">
          <p>{m.customers_impersonate_done({ name })}</p>
          <Token label={m.customers_impersonate_access()} value={result.accessToken ?? ""} />
          <Token label={m.customers_impersonate_refresh()} value={result.refreshToken ?? ""} />
          <div className="dialog-actions">
            <Button kind="primary" onClick={onClose}>
              {m.customers_impersonate_close()}
            </Button>
          </div>
        </div>
      ) : (
        <form className="form customerform" onSubmit={submit} noValidate>
          <p>{m.customers_impersonate_lead({ name })}</p>
          <Field
            label={m.customers_impersonate_reason()}
            hint={m.customers_impersonate_reason_hint()}
            placeholder="Ticket 4711"
            maxLength={REASON_CHARACTERS}
            autoComplete="off"
            error={errors.reason}
            value={reason}
            onChange={(event) => {
              setReason(event.target.value);
              setErrors({});
            }}
            data-autofocus
          />
          <Field label={m.customers_impersonate_minutes()} error={errors.minutes}>
            {(attributes) => (
              <select
                className="input"
                value={minutes}
                onChange={(event) => setMinutes(Number(event.target.value))}
                {...attributes}
              >
                {MINUTES.map((each) => (
                  <option key={each} value={each}>
                    {m.customers_impersonate_for({ count: each })}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {redirectUrl !== undefined && (
            <Field
              label={m.customers_impersonate_place()}
              hint={m.customers_impersonate_place_hint()}
              error={errors.redirectUrl}
            >
              {(attributes) => (
                <select
                  className="input"
                  value={redirectUrl}
                  onChange={(event) => setChosen(event.target.value)}
                  {...attributes}
                >
                  {urls?.map((each) => (
                    <option key={each} value={each}>
                      {each}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )}
          {urls?.length === 0 && (
            <p>
              {m.customers_impersonate_no_place()}{" "}
              <Link to="/projects/$projectId/access" params={{ projectId }} search={{}}>
                {m.customers_impersonate_set_place()}
              </Link>
            </p>
          )}
          <Wrong>{errors[""]}</Wrong>
          <div className="dialog-actions">
            <span className="grow">
              <CopyRequest
                request={{
                  method: "POST",
                  path: `/projects/${projectId}/customers/${customer.id}/impersonation-links`,
                  body: { ...session, redirectUrl },
                }}
              />
            </span>
            <Button onClick={onClose}>{m.cancel()}</Button>
            <Button busy={isBusy} onClick={showTokens}>
              {m.customers_impersonate_tokens()}
            </Button>
            <Button kind="primary" type="submit" busy={isBusy} disabled={redirectUrl === undefined}>
              {m.customers_impersonate_link()}
            </Button>
          </div>
        </form>
      )}
    </Modal>
  );
}

function Token({ label, value }: { label: string; value: string }) {
  return (
    <div className="onetoken">
      <p className="label">{label}</p>
      <p>
        <code className="cut">{value}</code>{" "}
        <Copy value={value} label={m.customers_impersonate_copy({ what: label })} />
      </p>
    </div>
  );
}
