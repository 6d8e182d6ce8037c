import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Customer } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { localInput } from "../../parts/when";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { holderOf } from "./find";
import { Picker } from "./Picker";
import { messagesByField, useShowChanged } from "./queries";
import { nameOf } from "./words";

const FOUND = 8;
const DAY_MS = 86_400_000;

/** Blocks a customer, or changes why and until when. */
export function BanDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const showChanged = useShowChanged();
  const name = nameOf(customer);
  const [reason, setReason] = useState(customer.banReason ?? "");
  const [until, setUntil] = useState(customer.banExpiresAt ? localInput(new Date(customer.banExpiresAt)) : "");
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const date = until ? new Date(until) : undefined;
  const body = {
    reason: reason.trim() || null,
    expiresAt: date && !Number.isNaN(date.getTime()) ? date.toISOString() : null,
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setErrors({});
    try {
      showChanged(customer.id, await api(projectId).customers.ban(customer.id, body));
      notifications.show({ message: m.customers_banned({ name }) });
      onClose();
    } catch (error) {
      const fields = { reason: "reason", expiresAt: "expiresAt" };
      setErrors(messagesByField(error, fields, messageOf(error)));
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.customers_ban_title({ name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.customers_ban_lead({ name })}</p>
        <Field
          label={m.customers_ban_reason()}
          hint={m.customers_ban_reason_hint()}
          maxLength={500}
          autoComplete="off"
          error={errors.reason}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          data-autofocus
        />
        <Field
          label={m.customers_ban_until()}
          hint={m.customers_ban_until_hint()}
          type="datetime-local"
          min={localInput(new Date())}
          max={localInput(new Date(Date.now() + 36_500 * DAY_MS))}
          error={errors.expiresAt}
          value={until}
          onChange={(event) => setUntil(event.target.value)}
        />
        {errors[""] && (
          <p className="wrong" role="alert">
            {errors[""]}
          </p>
        )}
        <div className="dialog-actions">
          <Button
            kind="bare"
            onClick={() =>
              void copyCurl({ method: "POST", path: `/projects/${projectId}/customers/${customer.id}/ban`, body })
            }
          >
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="solid-danger" type="submit" busy={isBusy}>
            {customer.bannedAt ? m.customers_save() : m.customers_ban_deed()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** Gives a customer the identifier that it has in your system. The API would merge another one that has it: see below. */
export function LinkDialog({
  customer,
  onClose,
  onMerge,
}: {
  customer: Customer;
  onClose: () => void;
  onMerge: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const showChanged = useShowChanged();
  const [typed, setTyped] = useState(customer.externalUserId ?? "");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const [holder, setHolder] = useState<Customer>();
  const externalUserId = typed.trim();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!externalUserId) return setError(m.customers_link_none());
    setBusy(true);
    setError("");
    try {
      const other = await holderOf(projectId, { externalUserId });
      if (other && other.id !== customer.id) {
        setHolder(other);
        setError(m.customers_link_taken({ name: nameOf(other) }));
        return setBusy(false);
      }
      const { customers } = api(projectId);
      const { customer: linked } = await customers.link({ customerId: customer.id, externalUserId });
      showChanged(customer.id, undefined);
      notifications.show({ message: m.customers_linked({ name: nameOf(linked), id: externalUserId }) });
      onClose();
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.customers_link_title()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form customerform" onSubmit={submit} noValidate>
        <Field
          label={m.customers_external_id()}
          hint={m.customers_external_id_hint()}
          error={error}
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setError("");
            setHolder(undefined);
          }}
          data-autofocus
        />
        {holder && (
          <p>
            <Button size="small" onClick={onMerge}>
              {m.customers_merge()}
            </Button>
          </p>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.customers_save()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function useFindCustomers(customer: Customer) {
  const projectId = useProjectId();
  return {
    queryKey: ["customers", projectId, "find", customer.id],
    find: async (q: string, signal: AbortSignal) =>
      (await api(projectId).customers.list({ ...(q && { q }), limit: FOUND + 1 }, { signal })).data
        .filter((each) => each.id !== customer.id)
        .slice(0, FOUND),
  };
}

const detailOf = (each: Customer) => [each.name && each.email, each.externalUserId].filter(Boolean).join(" · ");

/** Merges another customer into this one: chosen first, then its name is typed. */
export function MergeDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const [other, setOther] = useState<Customer>();
  return other ? (
    <MergeConfirm customer={customer} other={other} onClose={onClose} />
  ) : (
    <MergeChoice customer={customer} onClose={onClose} onChosen={setOther} />
  );
}

function MergeChoice({
  customer,
  onClose,
  onChosen,
}: {
  customer: Customer;
  onClose: () => void;
  onChosen: (other: Customer) => void;
}) {
  useReturnFocus();
  const [chosen, setChosen] = useState<Customer>();
  const [error, setError] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!chosen) return setError(m.customers_merge_choose());
    // The API names the one that goes by its identifier.
    if (!chosen.externalUserId) return setError(m.customers_merge_no_id({ name: nameOf(chosen) }));
    onChosen(chosen);
  };
  return (
    <Modal opened onClose={onClose} title={m.customers_merge_title()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.customers_merge_lead({ name: nameOf(customer) })}</p>
        <Picker
          label={m.customers_merge_other()}
          hint={m.customers_search()}
          error={error}
          {...useFindCustomers(customer)}
          words={(each) => ({ name: nameOf(each), detail: detailOf(each) })}
          chosen={chosen}
          onChoose={(each) => {
            setChosen(each);
            setError("");
          }}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit">
            {m.customers_next()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function MergeConfirm({ customer, other, onClose }: { customer: Customer; other: Customer; onClose: () => void }) {
  const projectId = useProjectId();
  const showChanged = useShowChanged();
  const name = nameOf(customer);
  const otherName = nameOf(other);
  const id = other.externalUserId ?? "";
  return (
    <TypedConfirm
      title={m.customers_merge_confirm({ other: otherName, name })}
      name={other.email ?? otherName}
      deed={m.customers_merge_deed()}
      onClose={onClose}
      run={async () => {
        await api(projectId).customers.link({ customerId: customer.id, externalUserId: id });
        showChanged(other.id);
        showChanged(customer.id);
        notifications.show({ message: m.customers_merged({ other: otherName, name }) });
      }}
    >
      <p>{m.customers_merge_what({ other: otherName, name })}</p>
      <p>{m.customers_merge_keeps({ name })}</p>
      <p>
        {customer.externalUserId && customer.externalUserId !== id
          ? m.customers_merge_replaces({ id, before: customer.externalUserId })
          : m.customers_merge_id({ id })}
      </p>
    </TypedConfirm>
  );
}

/** Erases a customer; if it is the last owner of organizations, only once another owner is chosen. */
export function EraseDialog({
  customer,
  onClose,
  onLeaving,
  onErased,
}: {
  customer: Customer;
  onClose: () => void;
  onLeaving: (isLeaving: boolean) => void;
  onErased: () => Promise<void>;
}) {
  const projectId = useProjectId();
  const [owned, setOwned] = useState<string[]>([]);
  const [heir, setHeir] = useState<Customer>();
  const found = useFindCustomers(customer);
  const name = nameOf(customer);
  return (
    <TypedConfirm
      title={m.customers_erase_title({ name })}
      name={customer.email ?? name}
      deed={heir ? m.customers_erase_hand_over() : m.customers_erase()}
      onClose={onClose}
      explain={(error) => {
        if (!(error instanceof APIError) || error.code !== "customer_owns_organizations") return messageOf(error);
        setOwned(error.errors.map((each) => each.message.replace(/ \([0-9a-f-]{36}\)$/, "")));
        return m.customers_erase_owns();
      }}
      run={async () => {
        onLeaving(true);
        try {
          await api(projectId).customers.delete(customer.id, heir ? { transferOwnershipTo: heir.id } : {});
        } catch (error) {
          onLeaving(false);
          throw error;
        }
        await onErased();
      }}
    >
      <p>{m.customers_erase_lead({ name })}</p>
      <p>{m.customers_erase_keeps()}</p>
      {owned.length > 0 && (
        <div className="customerform">
          <p className="breaks">{m.customers_erase_owned({ organizations: owned.join(", ") })}</p>
          <Picker
            label={m.customers_erase_heir()}
            hint={m.customers_search()}
            {...found}
            words={(each) => ({ name: nameOf(each), detail: detailOf(each) })}
            chosen={heir}
            onChoose={setHeir}
          />
        </div>
      )}
    </TypedConfirm>
  );
}
