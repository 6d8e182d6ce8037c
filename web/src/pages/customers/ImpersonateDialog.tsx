import { Modal } from "@mantine/core";
import type { Customer, CustomerSignInResult } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { CopyRequest } from "../../parts/CopyRequest";
import { Button, Copy, Field } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField, useShowChanged } from "./queries";
import { nameOf } from "./words";

/** Minutes for which a session can last. */
const MINUTES = [5, 15, 30, 60] as const;
const REASON_CHARACTERS = 500;

/** Begins a session as a customer, for a reason that the customer can read, and shows its tokens once. */
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
  const body = { reason: reason.trim(), minutes };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!body.reason) return setErrors({ reason: m.customers_impersonate_reason_needed() });
    setBusy(true);
    setErrors({});
    try {
      setResult(await api(projectId).customers.impersonate(customer.id, body));
      showChanged(customer.id);
    } catch (error) {
      setErrors(messagesByField(error, { reason: "reason", minutes: "minutes" }, messageOf(error)));
    }
    setBusy(false);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size={560}
      title={m.customers_impersonate_title({ name })}
      // What is shown only once does not vanish by a slip.
      closeOnClickOutside={!result}
      closeOnEscape={!result}
      withCloseButton={!result}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      {result ? (
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
          <Wrong>{errors[""]}</Wrong>
          <div className="dialog-actions">
            <span className="grow">
              <CopyRequest
                request={{ method: "POST", path: `/projects/${projectId}/customers/${customer.id}/impersonate`, body }}
              />
            </span>
            <Button onClick={onClose}>{m.cancel()}</Button>
            <Button kind="primary" type="submit" busy={isBusy}>
              {m.customers_impersonate_deed()}
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
