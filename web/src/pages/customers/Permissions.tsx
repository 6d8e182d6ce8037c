import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Customer } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { AccessCheck } from "../../parts/AccessCheck";
import { roleOf } from "../../parts/access";
import { membershipsQuery, rolesQuery } from "../../parts/accessQueries";
import { count } from "../../parts/format";
import { Button, LoadingFailed, Status, Time } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { customerQuery, isConflict, useShowChanged } from "./queries";
import { RoleBoxes } from "./RoleBoxes";
import { nameOf, SOURCES } from "./words";

const page = getRouteApi("/session/projects/$projectId/customers/$customerId");

/** Whether the customer may do something, with the question in the URL. */
export function Check({ customer }: { customer: Customer }) {
  const navigate = useNavigate();
  const { can, in: place } = page.useSearch();
  const name = nameOf(customer);
  return (
    <AccessCheck
      customer={customer}
      name={name}
      title={m.customers_why({ name })}
      can={can}
      place={place}
      onChange={(change) =>
        void navigate({
          to: ".",
          search: ((before: object) => ({ ...before, ...change })) as never,
          replace: true,
          resetScroll: false,
        })
      }
    />
  );
}

/** The roles of a customer in the whole project. */
export function Roles({ customer }: { customer: Customer }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const roles = useQuery(rolesQuery(projectId));
  const [isChanging, setChanging] = useState(false);
  return (
    <section className="sec" aria-labelledby="roles">
      <header>
        <h2 id="roles">{m.customers_roles_project()}</h2>
        {mayWrite && (
          <div className="acts">
            <Button size="small" disabled={!roles.data} onClick={() => setChanging(true)}>
              {m.customers_roles_change()}
            </Button>
          </div>
        )}
      </header>
      {roles.isError && !roles.data && <LoadingFailed error={roles.error} onRetry={() => void roles.refetch()} />}
      <ul className="list ruled">
        {customer.roles.length === 0 && (
          <li>
            <p className="muted">{m.customers_no_roles()}</p>
          </li>
        )}
        {customer.roles.map((key) => {
          const role = roleOf(roles.data ?? [], key, "PROJECT");
          return (
            <li key={key}>
              <div className="grow">
                <b className="breaks">{role?.name ?? key}</b>
                <p className="muted breaks">
                  {role?.permissions.length ? role.permissions.join(", ") : m.customers_role_nothing()}
                </p>
              </div>
              {role?.appliesToAllOrganizations && <span className="tag">{m.customers_role_everywhere()}</span>}
            </li>
          );
        })}
      </ul>
      {isChanging && <RolesDialog customer={customer} onClose={() => setChanging(false)} />}
    </section>
  );
}

function RolesDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const showChanged = useShowChanged();
  const roles = useQuery(rolesQuery(projectId));
  const [base, setBase] = useState(customer);
  const [chosen, setChosen] = useState(customer.roles);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError("");
    try {
      const { customers } = api(projectId);
      showChanged(customer.id, await customers.replaceRoles(customer.id, { roles: chosen }, { ifMatch: base }));
      notifications.show({ message: m.customers_roles_saved() });
      onClose();
    } catch (caught) {
      setBusy(false);
      if (!isConflict(caught)) return setError(messageOf(caught));
      try {
        const now = await api(projectId).customers.get(customer.id);
        client.setQueryData(customerQuery(projectId, customer.id).queryKey, now);
        setBase(now);
        setError(m.customers_roles_conflict({ roles: now.roles.join(", ") || m.customers_no_roles() }));
      } catch (failed) {
        setError(messageOf(failed));
      }
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.customers_roles_title({ name: nameOf(customer) })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <RoleBoxes
          roles={roles.data}
          scope="PROJECT"
          legend={m.customers_roles_project()}
          chosen={chosen}
          onChange={setChosen}
        />
        {error && (
          <p className="wrong" role="alert">
            {error}
          </p>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.customers_roles_save()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** What the organizations of a customer can use, and why. */
export function Entitlements({ customer }: { customer: Customer }) {
  const projectId = useProjectId();
  const memberships = useQuery(membershipsQuery(projectId, customer.id));
  return (
    <section className="sec" aria-labelledby="entitlements">
      <header>
        <h2 id="entitlements">{m.customers_entitlements()}</h2>
      </header>
      {memberships.isError && !memberships.data ? (
        <LoadingFailed error={memberships.error} onRetry={() => void memberships.refetch()} />
      ) : memberships.data?.length === 0 ? (
        <p className="muted rule nothing">{m.customers_entitlements_none()}</p>
      ) : (
        memberships.data?.map(({ organization }) => (
          <OfOrganization key={organization.id} id={organization.id} name={organization.name} />
        ))
      )}
    </section>
  );
}

/** The entitlements of one organization; read when they are opened. */
function OfOrganization({ id, name }: { id: string; name: string }) {
  const projectId = useProjectId();
  const [isOpen, setOpen] = useState(false);
  const query = useQuery({
    queryKey: ["customers", projectId, "entitlements", id],
    queryFn: ({ signal }) => api(projectId).entitlements.list(id, { signal }),
    enabled: isOpen,
  });
  return (
    <details className="rule entitlements" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{name}</summary>
      {query.isError ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data?.length === 0 ? (
        <p className="muted">{m.customers_no_features()}</p>
      ) : (
        <ul className="list">
          {query.data?.map(({ featureKey, type, enabled, limit, source, planKey, reason, expiresAt }) => (
            <li key={featureKey}>
              <div className="grow">
                <b className="breaks">{featureKey}</b>
                <p className="muted breaks">
                  {SOURCES[source]?.() ?? source}
                  {planKey && ` ${planKey}`}
                  {reason && ` · ${reason}`}
                  {expiresAt && (
                    <>
                      {" · "}
                      {m.customers_expires_at()} <Time at={expiresAt} />
                    </>
                  )}
                </p>
              </div>
              <Status shape={enabled ? "yes" : "no"}>
                {!enabled
                  ? m.customers_no()
                  : type === "LIMIT"
                    ? limit === null
                      ? m.customers_unlimited()
                      : m.customers_up_to({ limit: count(limit) })
                    : m.customers_yes()}
              </Status>
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
