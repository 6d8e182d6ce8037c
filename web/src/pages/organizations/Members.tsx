import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Customer, type Organization, type OrganizationMember } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { roleOf } from "../../parts/access";
import { membershipsQuery, rolesQuery } from "../../parts/accessQueries";
import { Button, Empty, LoadingFailed, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useUndo } from "../../parts/undo";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { MemberRolesDialog } from "../customers/MemberRolesDialog";
import { RoleBoxes } from "../customers/RoleBoxes";
import { nameOf } from "../customers/words";
import { CustomerPicker } from "./CustomerPicker";
import { Older } from "./History";
import { keyOf, useParts, useReadAgain } from "./queries";
import { Waiting } from "./Waiting";
import { SOURCES } from "./words";

const memberName = ({ name, email, customerId }: OrganizationMember) => name || email || customerId;

/** The words for an error about a member: the rule about the last owner is explained. */
function explain(error: unknown, name: string): string {
  const isLast = error instanceof APIError && error.code === "last_owner";
  return isLast ? m.organizations_last_owner({ name }) : messageOf(error);
}

/** Who belongs to an organization, with their roles there. */
export function Members({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const { id, name, status } = organization;
  const readAgain = useReadAgain(projectId, id);
  const { hidden, start } = useUndo();
  const roles = useQuery(rolesQuery(projectId));
  const [isAdding, setAdding] = useState(false);
  const [changing, setChanging] = useState<OrganizationMember>();
  const { query, rows } = useParts<OrganizationMember>(keyOf(projectId, "members", id), (parameters, options) =>
    api(projectId).organizations.members.list(id, parameters, options),
  );
  const members = rows.filter((each) => !hidden.has(each.id));
  const remove = (member: OrganizationMember) =>
    start({
      id: member.id,
      said: m.organizations_member_removed({ name: memberName(member) }),
      run: async () => {
        await api(projectId).organizations.members.remove(id, member.customerId);
        readAgain("one", "members");
      },
      failed: (error) => explain(error, name),
    });
  const canAdd = mayWrite && status === "ACTIVE";
  return (
    <section className="sec" aria-labelledby="members">
      <header>
        <h2 id="members">{m.organizations_members()}</h2>
        {canAdd && rows.length > 0 && (
          <div className="acts">
            <Button size="small" onClick={() => setAdding(true)}>
              {m.organizations_member_add()}
            </Button>
          </div>
        )}
      </header>
      {query.isError && rows.length === 0 ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Waiting />
      ) : members.length === 0 ? (
        <Empty title={m.organizations_members_empty()} lead={m.organizations_members_empty_lead()}>
          {canAdd && <Button onClick={() => setAdding(true)}>{m.organizations_member_add()}</Button>}
          <Button
            kind="bare"
            onClick={() =>
              void copyCurl({
                method: "POST",
                path: `/projects/${projectId}/b2b/organizations/${id}/members`,
                body: { customerId: "…", roles: ["OWNER"] },
              })
            }
          >
            {m.copy_as_curl()}
          </Button>
        </Empty>
      ) : (
        <>
          <ul className="list ruled">
            {members.map((member) => (
              <li key={member.id}>
                <div className="grow">
                  <b className="breaks">
                    <Link
                      className="quietlink"
                      to="/projects/$projectId/customers/$customerId"
                      params={{ projectId, customerId: member.customerId }}
                    >
                      {memberName(member)}
                    </Link>
                  </b>
                  {member.email && member.email !== memberName(member) && (
                    <span className="muted"> {member.email}</span>
                  )}
                  <p className="muted">
                    {member.roles.map((key) => roleOf(roles.data ?? [], key, "ORGANIZATION")?.name ?? key).join(", ") ||
                      m.customers_no_roles()}
                    {" · "}
                    {SOURCES[member.source]?.() ?? member.source} <Time at={member.joinedAt} />
                  </p>
                </div>
                {mayWrite && (
                  <>
                    <Button
                      kind="bare"
                      size="small"
                      aria-label={m.organizations_roles_of({ name: memberName(member) })}
                      onClick={() => setChanging(member)}
                    >
                      {m.organizations_roles()}
                    </Button>
                    <Button
                      kind="bare"
                      size="small"
                      aria-label={m.organizations_remove_of({ name: memberName(member) })}
                      onClick={() => remove(member)}
                    >
                      {m.organizations_remove()}
                    </Button>
                  </>
                )}
              </li>
            ))}
          </ul>
          <p className="muted hint">{m.organizations_members_note()}</p>
        </>
      )}
      <Older query={query} />
      {isAdding && <AddDialog organization={organization} onClose={() => setAdding(false)} />}
      {changing && (
        <MemberRolesDialog
          organization={organization}
          customerId={changing.customerId}
          title={m.organizations_roles_of({ name: memberName(changing) })}
          onSaved={() => readAgain("members")}
          onClose={() => setChanging(undefined)}
        />
      )}
    </section>
  );
}

function AddDialog({
  organization: { id, name, memberCount },
  onClose,
}: {
  organization: Organization;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const readAgain = useReadAgain(projectId, id);
  const roles = useQuery(rolesQuery(projectId));
  const [customer, setCustomer] = useState<Customer>();
  // Someone has to own it: the first one does.
  const [chosen, setChosen] = useState<string[]>(memberCount === 0 ? ["OWNER"] : ["MEMBER"]);
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<{ customer?: string; form?: string }>({});
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!customer) return setErrors({ customer: m.organizations_member_choose() });
    if (chosen.length === 0) return setErrors({ form: m.organizations_roles_needed() });
    setBusy(true);
    setErrors({});
    try {
      await api(projectId).organizations.members.add(id, { customerId: customer.id, roles: chosen });
      readAgain("one", "members");
      void client.invalidateQueries({ queryKey: membershipsQuery(projectId, customer.id).queryKey });
      notifications.show({ message: m.organizations_member_added({ name: nameOf(customer) }) });
      onClose();
    } catch (error) {
      const isMember = error instanceof APIError && error.code === "already_member";
      setErrors(
        isMember
          ? { customer: m.organizations_member_already({ name: nameOf(customer) }) }
          : { form: messageOf(error) },
      );
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_member_add_title({ name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <CustomerPicker
          label={m.customers_customer()}
          error={errors.customer}
          chosen={customer}
          onChoose={(each) => {
            setCustomer(each);
            setErrors({});
          }}
        />
        <RoleBoxes
          roles={roles.data}
          scope="ORGANIZATION"
          legend={m.organizations_roles()}
          chosen={chosen}
          onChange={setChosen}
        />
        <Wrong>{errors.form}</Wrong>
        <div className="dialog-actions">
          {customer && (
            <Button
              kind="bare"
              onClick={() =>
                void copyCurl({
                  method: "POST",
                  path: `/projects/${projectId}/b2b/organizations/${id}/members`,
                  body: { customerId: customer.id, roles: chosen },
                })
              }
            >
              {m.copy_as_curl()}
            </Button>
          )}
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_member_add()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
