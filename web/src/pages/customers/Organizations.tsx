import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Customer, OrganizationMembership } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { roleOf } from "../../parts/access";
import { membershipsQuery, rolesQuery } from "../../parts/accessQueries";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Button, LoadingFailed, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { MemberRolesDialog } from "./MemberRolesDialog";
import { Picker } from "./Picker";
import { useShowChanged } from "./queries";
import { RoleBoxes } from "./RoleBoxes";
import { nameOf } from "./words";

const FOUND = 8;

/** The organizations of a customer, with its roles there; `most` shortens the list. */
export function Organizations({ customer, most }: { customer: Customer; most?: number }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const showChanged = useShowChanged();
  const query = useQuery(membershipsQuery(projectId, customer.id));
  const roles = useQuery(rolesQuery(projectId));
  const [isAdding, setAdding] = useState(false);
  const [changing, setChanging] = useState<OrganizationMembership>();
  const [leaving, setLeaving] = useState<OrganizationMembership>();
  const memberships = query.data ?? [];
  const shown = memberships.slice(0, most);
  const name = nameOf(customer);
  return (
    <section className="sec" aria-labelledby="organizations">
      <header>
        <h2 id="organizations">{m.customers_organizations()}</h2>
        {mayWrite && (
          <div className="acts">
            <Button kind={most ? "bare" : ""} size="small" onClick={() => setAdding(true)}>
              {m.customers_org_add()}
            </Button>
          </div>
        )}
      </header>
      {query.isError && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <ul className="list ruled" aria-busy={query.isPending || undefined}>
          {query.data?.length === 0 && (
            <li>
              <p className="muted">{m.customers_org_none()}</p>
            </li>
          )}
          {shown.map((membership) => (
            <li key={membership.organization.id}>
              <span className="chip org" aria-hidden="true">
                {[...membership.organization.name][0]?.toUpperCase()}
              </span>
              <div className="grow">
                <b className="breaks">
                  <Link
                    className="quiet"
                    to="/projects/$projectId/organizations/$organizationId"
                    params={{ projectId, organizationId: membership.organization.id }}
                  >
                    {membership.organization.name}
                  </Link>
                </b>
                <p className="muted">
                  {membership.status === "SUSPENDED" && `${m.customers_org_suspended()} · `}
                  {membership.roles
                    .map((key) => roleOf(roles.data ?? [], key, "ORGANIZATION")?.name ?? key)
                    .join(", ") || m.customers_no_roles()}
                  {" · "}
                  {m.customers_org_since()} <Time at={membership.joinedAt} />
                </p>
              </div>
              {mayWrite && (
                <>
                  <Button
                    kind="bare"
                    size="small"
                    aria-label={m.customers_org_roles_of({ name: membership.organization.name })}
                    onClick={() => setChanging(membership)}
                  >
                    {m.customers_roles()}
                  </Button>
                  <Button
                    kind="bare"
                    size="small"
                    aria-label={m.customers_org_remove_of({ name: membership.organization.name })}
                    onClick={() => setLeaving(membership)}
                  >
                    {m.customers_org_remove()}
                  </Button>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {memberships.length > shown.length && (
        <p className="more">
          <Link to="." search={(before: object) => ({ ...before, tab: "organizations" }) as never} resetScroll={false}>
            {m.customers_org_all({ count: memberships.length })}
          </Link>
        </p>
      )}
      {isAdding && <AddDialog customer={customer} memberships={memberships} onClose={() => setAdding(false)} />}
      {changing && (
        <MemberRolesDialog
          organization={changing.organization}
          customerId={customer.id}
          title={m.customers_org_roles_title({ name: nameOf(customer), organization: changing.organization.name })}
          onSaved={() => showChanged(customer.id)}
          onClose={() => setChanging(undefined)}
        />
      )}
      {leaving && (
        <ConfirmDialog
          title={m.customers_org_remove_title({ name, organization: leaving.organization.name })}
          deed={m.customers_org_remove()}
          onClose={() => setLeaving(undefined)}
          run={async () => {
            await api(projectId).organizations.members.remove(leaving.organization.id, customer.id);
            showChanged(customer.id);
            notifications.show({ message: m.customers_org_removed({ name, organization: leaving.organization.name }) });
          }}
        >
          <p>{m.customers_org_remove_lead()}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

/** Makes a customer a member of another organization. */
function AddDialog({
  customer,
  memberships,
  onClose,
}: {
  customer: Customer;
  memberships: OrganizationMembership[];
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const showChanged = useShowChanged();
  const roles = useQuery(rolesQuery(projectId));
  const [organization, setOrganization] = useState<{ id: string; name: string }>();
  const [chosen, setChosen] = useState<string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<{ organization?: string; form?: string }>({});
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!organization) return setErrors({ organization: m.customers_org_choose() });
    setBusy(true);
    setErrors({});
    try {
      const member = { customerId: customer.id, ...(chosen.length && { roles: chosen }) };
      await api(projectId).organizations.members.add(organization.id, member);
      showChanged(customer.id);
      notifications.show({
        message: m.customers_org_added({ name: nameOf(customer), organization: organization.name }),
      });
      onClose();
    } catch (error) {
      setErrors({ form: messageOf(error) });
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.customers_org_add_title({ name: nameOf(customer) })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <Picker
          label={m.customers_org()}
          hint={m.customers_org_search()}
          error={errors.organization}
          queryKey={["customers", projectId, "find-organizations"]}
          find={async (q, signal) =>
            (await api(projectId).organizations.list({ ...(q && { q }), limit: FOUND }, { signal })).data.filter(
              (each) => !memberships.some((other) => other.organization.id === each.id),
            )
          }
          words={(each) => ({ name: each.name, detail: each.slug })}
          chosen={organization}
          onChoose={(each) => {
            setOrganization(each);
            setErrors({});
          }}
        />
        <RoleBoxes
          roles={roles.data}
          scope="ORGANIZATION"
          legend={m.customers_org_roles()}
          chosen={chosen}
          onChange={setChosen}
        />
        {errors.form && (
          <p className="wrong" role="alert">
            {errors.form}
          </p>
        )}
        <div className="dialog-actions">
          {organization && (
            <Button
              kind="bare"
              onClick={() =>
                void copyCurl({
                  method: "POST",
                  path: `/projects/${projectId}/b2b/organizations/${organization.id}/members`,
                  body: { customerId: customer.id, roles: chosen },
                })
              }
            >
              {m.copy_as_curl()}
            </Button>
          )}
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.customers_org_add()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
