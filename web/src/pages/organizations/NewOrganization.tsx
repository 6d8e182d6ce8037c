import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Customer, NewOrganization } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { CustomerPicker } from "./CustomerPicker";
import { organizationQuery, plansQuery } from "./queries";

/** The fields that a problem is about, beside those that the API names. */
export const FIELDS = {
  slug_taken: "slug",
  organization_external_id_taken: "externalId",
  external_id_taken: "externalId",
  name: "name",
  slug: "slug",
  metadata: "metadata",
};

/** Creates an organization, with its owner and plan if they are chosen, and leads to its page. */
export default function NewOrganizationDialog({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const plans = useQuery(plansQuery(projectId));
  const [draft, setDraft] = useState({ name: "", slug: "", externalId: "" });
  const [planKey, setPlanKey] = useState("");
  const [hasOwner, setHasOwner] = useState(false);
  const [owner, setOwner] = useState<Customer>();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const path = `/projects/${projectId}/b2b/organizations`;
  const body: NewOrganization = { name: draft.name.trim() };
  if (draft.slug.trim()) body.slug = draft.slug.trim();
  if (draft.externalId.trim()) body.externalId = draft.externalId.trim();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!body.name) return setErrors({ name: m.organizations_name_needed() });
    if (hasOwner && !owner) return setErrors({ owner: m.organizations_owner_needed() });
    setBusy(true);
    setErrors({});
    try {
      const created = await api(projectId).organizations.create(body);
      // The organization exists: what fails now is said on its page, where it can be repeated.
      const failed: string[] = [];
      if (owner)
        await api(projectId)
          .organizations.members.add(created.id, { customerId: owner.id, roles: ["OWNER"] })
          .catch((error: unknown) => failed.push(m.organizations_owner_failed({ reason: messageOf(error) })));
      if (planKey)
        await api(projectId)
          .organizations.setPlan(created.id, { planKey })
          .catch((error: unknown) => failed.push(m.organizations_plan_failed({ reason: messageOf(error) })));
      if (!owner) client.setQueryData(organizationQuery(projectId, created.id).queryKey, created);
      void client.invalidateQueries({ queryKey: ["organizations", projectId, "list"] });
      await navigate({
        to: "/projects/$projectId/organizations/$organizationId",
        params: { projectId, organizationId: created.id },
      });
      notifications.show({ message: m.organizations_new_done({ name: created.name }) });
      for (const message of failed) notifications.show({ message, autoClose: false });
    } catch (error) {
      setErrors(messagesByField(error, FIELDS, messageOf(error)));
      setBusy(false);
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
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_new()}
      size={520}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <Field label={m.organizations_name()} maxLength={200} {...field("name")} data-autofocus />
        <Field
          label={m.organizations_slug()}
          hint={m.organizations_slug_hint()}
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
        {plans.data && plans.data.length > 0 && (
          <Field label={m.organizations_plan()}>
            {(attributes) => (
              <select
                {...attributes}
                className="input"
                value={planKey}
                onChange={(event) => setPlanKey(event.target.value)}
              >
                <option value="">{m.organizations_plan_none()}</option>
                {plans.data.map(({ key, name }) => (
                  <option key={key} value={key}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <label className="boxed">
          <input
            type="checkbox"
            className="check"
            checked={hasOwner}
            onChange={(event) => setHasOwner(event.target.checked)}
          />
          <span>
            {m.organizations_with_owner()}
            <span className="muted">{m.organizations_with_owner_hint()}</span>
          </span>
        </label>
        {hasOwner && (
          <CustomerPicker label={m.organizations_owner()} error={errors.owner} chosen={owner} onChoose={setOwner} />
        )}
        <Wrong>{errors[""] || errors.metadata}</Wrong>
        <div className="dialog-actions">
          <Button kind="bare" onClick={() => void copyCurl({ method: "POST", path, body })}>
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_create()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
