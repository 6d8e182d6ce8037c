import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Customer, type NewCustomer } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { rolesQuery } from "../../parts/accessQueries";
import { Button, Field } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { holderOf } from "./find";
import { customerQuery, messagesByField } from "./queries";
import { RoleBoxes } from "./RoleBoxes";
import { nameOf } from "./words";

/** The field that a problem is about, beside those that the API names. */
const FIELDS = {
  email_taken: "email",
  password_common: "password",
  password_breached: "password",
  external_id_taken: "externalUserId",
  role_unknown: "roles",
  name: "name",
  phone: "phone",
};

/** Adds a customer by hand, and leads to its page. */
export default function NewCustomerDialog({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const roles = useQuery(rolesQuery(projectId));
  const [isBusy, setBusy] = useState(false);
  const [draft, setDraft] = useState({ email: "", name: "", phone: "", externalUserId: "", password: "" });
  const [isVerified, setVerified] = useState(false);
  const [chosen, setChosen] = useState<string[]>([]);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [holder, setHolder] = useState<Customer>();
  const path = `/projects/${projectId}/customers`;
  const body: NewCustomer = {};
  for (const name of ["email", "name", "phone", "externalUserId"] as const) {
    const value = draft[name].trim();
    if (value) body[name] = value;
  }
  if (draft.password) body.password = draft.password;
  if (body.email && isVerified) body.emailVerified = true;
  if (chosen.length) body.roles = chosen;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setHolder(undefined);
    if (!body.email && !body.externalUserId) return setErrors({ email: m.customers_add_nobody() });
    setBusy(true);
    setErrors({});
    try {
      const added = await api(projectId).customers.create(body);
      client.setQueryData(customerQuery(projectId, added.id).queryKey, added);
      void client.invalidateQueries({ queryKey: ["customers", projectId, "list"] });
      void client.invalidateQueries({ queryKey: ["overview", projectId, "customers"] });
      await navigate({
        to: "/projects/$projectId/customers/$customerId",
        params: { projectId, customerId: added.id },
      });
      notifications.show({ message: m.customers_added({ name: nameOf(added) }) });
    } catch (error) {
      setErrors(messagesByField(error, FIELDS, messageOf(error)));
      setBusy(false);
      if (error instanceof APIError && (error.code === "email_taken" || error.code === "external_id_taken"))
        setHolder(await holderOf(projectId, error.code === "email_taken" ? { email: body.email } : body));
    }
  };
  const field = (name: keyof typeof draft) => ({
    name,
    value: draft[name],
    error: errors[name],
    autoComplete: "off",
    onChange: (event: { target: { value: string } }) => {
      setDraft({ ...draft, [name]: event.target.value });
      setErrors({ ...errors, [name]: "" });
    },
  });
  return (
    <Modal opened onClose={onClose} title={m.customers_add()} size={520} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form customerform" onSubmit={submit} noValidate>
        <Field label={m.customers_email()} type="email" maxLength={254} {...field("email")} data-autofocus />
        {holder && (
          <p>
            <Link to="/projects/$projectId/customers/$customerId" params={{ projectId, customerId: holder.id }}>
              {m.customers_show({ name: nameOf(holder) })}
            </Link>
          </p>
        )}
        <label className="boxed">
          <input
            type="checkbox"
            className="check"
            checked={isVerified}
            onChange={(event) => setVerified(event.target.checked)}
          />
          <span>
            {m.customers_is_confirmed()}
            <span className="muted">{m.customers_is_confirmed_hint()}</span>
          </span>
        </label>
        <Field label={m.customers_name()} maxLength={200} {...field("name")} />
        <Field label={m.customers_phone()} type="tel" placeholder="+4915112345678" {...field("phone")} />
        <Field
          label={m.customers_external_id()}
          hint={m.customers_external_id_hint()}
          maxLength={255}
          {...field("externalUserId")}
        />
        <Field
          label={m.customers_method_password()}
          type="password"
          hint={m.customers_password_hint()}
          {...field("password")}
          autoComplete="new-password"
        />
        <RoleBoxes
          roles={roles.data}
          scope="PROJECT"
          legend={m.customers_roles_project()}
          chosen={chosen}
          onChange={setChosen}
        />
        {(errors[""] || errors.roles) && (
          <p className="wrong" role="alert">
            {errors[""]} {errors.roles}
          </p>
        )}
        <div className="dialog-actions">
          <Button
            kind="bare"
            onClick={() =>
              void copyCurl({ method: "POST", path, body: body.password ? { ...body, password: "…" } : body })
            }
          >
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.customers_add()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
