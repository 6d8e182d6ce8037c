import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { AccessDecision, AccessExplanation, Customer, OrganizationMembership, Role } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, LoadingFailed, Pill, Status, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { coveredBy, DECIDING, ROLE_STEPS, roleOf } from "./access";
import { customerQuery, isConflict, membershipsQuery, permissionsQuery, rolesQuery, useShowChanged } from "./queries";
import { RoleBoxes } from "./RoleBoxes";
import { nameOf, SOURCES } from "./words";

const page = getRouteApi("/session/projects/$projectId/customers/$customerId");

/** Whether a customer has a permission in the project or in one of its organizations, and every step of the check. */
export function Check({ customer }: { customer: Customer }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const { can, in: place } = page.useSearch();
  const permissions = useQuery(permissionsQuery(projectId));
  const memberships = useQuery(membershipsQuery(projectId, customer.id));
  const roles = useQuery(rolesQuery(projectId));
  const id = useId();
  const name = nameOf(customer);
  const permission = can ?? permissions.data?.[0]?.key;
  const body = { permission: permission ?? "", customerId: customer.id, ...(place && { organizationId: place }) };
  const check = useQuery({
    queryKey: ["customers", projectId, "check", customer.id, permission, place],
    queryFn: ({ signal }) => api(projectId).access.check(body, { signal }),
    enabled: Boolean(permission),
  });
  const set = (change: { can?: string; in?: string | undefined }) =>
    void navigate({
      to: ".",
      search: ((before: object) => ({ ...before, ...change })) as never,
      replace: true,
      resetScroll: false,
    });
  const keys = new Set([...(permissions.data ?? []).map((each) => each.key), ...(can ? [can] : [])]);
  const isMember = memberships.data?.some((each) => each.organization.id === place);
  return (
    <section className="sec" aria-labelledby={`${id}check`}>
      <header>
        <h2 id={`${id}check`}>{m.customers_why({ name })}</h2>
      </header>
      {permissions.isError && !permissions.data ? (
        <LoadingFailed error={permissions.error} onRetry={() => void permissions.refetch()} />
      ) : permissions.data && keys.size === 0 ? (
        <p className="muted rule nothing">{m.customers_no_permissions()}</p>
      ) : (
        <>
          <div className="question">
            <label htmlFor={`${id}can`}>{m.customers_can({ name })}</label>
            <select
              className="input"
              id={`${id}can`}
              value={permission ?? ""}
              onChange={(event) => set({ can: event.target.value })}
            >
              {[...keys].map((key) => (
                <option key={key} value={key}>
                  {key}
                </option>
              ))}
            </select>
            <label htmlFor={`${id}in`}>{m.customers_in()}</label>
            <select
              className="input"
              id={`${id}in`}
              value={place ?? ""}
              onChange={(event) => set({ in: event.target.value || undefined })}
            >
              <option value="">{m.customers_whole_project()}</option>
              {memberships.data?.map(({ organization }) => (
                <option key={organization.id} value={organization.id}>
                  {organization.name}
                </option>
              ))}
              {place && !isMember && <option value={place}>{place}</option>}
            </select>
          </div>
          {check.isError ? (
            <LoadingFailed
              title={m.customers_check_failed()}
              error={check.error}
              onRetry={() => void check.refetch()}
            />
          ) : (
            check.data && (
              <>
                <Answer decision={check.data} name={name} roles={roles.data ?? []} />
                <Steps
                  decision={check.data}
                  customer={customer}
                  roles={roles.data ?? []}
                  membership={memberships.data?.find((each) => each.organization.id === place)}
                />
                <p className="treefoot">
                  <button
                    type="button"
                    className="btn bare small"
                    onClick={() => void copyCurl({ method: "POST", path: `/projects/${projectId}/access/check`, body })}
                  >
                    {m.copy_as_curl()}
                  </button>
                  <span className="muted">{m.customers_check_same()}</span>
                </p>
              </>
            )
          )}
        </>
      )}
    </section>
  );
}

const REASONS: Record<string, (words: { name: string; role: string }) => string> = {
  PROJECT_ROLE: m.customers_reason_project_role,
  ORGANIZATION_ROLE: m.customers_reason_organization_role,
  ALL_ORGANIZATIONS_ROLE: m.customers_reason_all_role,
  NO_ROLE_GRANTS_PERMISSION: m.customers_reason_no_role,
  NOT_A_MEMBER: m.customers_reason_not_member,
  UNKNOWN_PERMISSION: m.customers_reason_unknown,
  CUSTOMER_BANNED: m.customers_reason_banned,
  ORGANIZATION_SUSPENDED: m.customers_reason_suspended,
};

function Answer({ decision, name, roles }: { decision: AccessDecision; name: string; roles: Role[] }) {
  const step = decision.explanation.find((each) => each.step === decision.reason);
  const key = step?.roles[0] ?? "";
  const role = roleOf(roles, key, ROLE_STEPS[decision.reason] ?? "PROJECT")?.name ?? key;
  return (
    <p className="answer" role="status">
      <Pill shape={decision.allowed ? "yes" : "no"} tone={decision.allowed ? "good" : ""}>
        {decision.allowed ? m.customers_yes() : m.customers_no()}
      </Pill>{" "}
      <span>{REASONS[decision.reason]?.({ name, role }) ?? decision.reason}</span>
    </p>
  );
}

const STEPS: Record<string, () => string> = {
  PERMISSION_DECLARED: m.customers_step_declared,
  CUSTOMER_NOT_BANNED: m.customers_step_not_banned,
  ORGANIZATION_ACTIVE: m.customers_step_active,
  MEMBER: m.customers_step_member,
  PROJECT_ROLE: m.customers_step_project_role,
  ORGANIZATION_ROLE: m.customers_step_organization_role,
  ALL_ORGANIZATIONS_ROLE: m.customers_step_all_role,
};

function Steps({
  decision,
  customer,
  roles,
  membership,
}: {
  decision: AccessDecision;
  customer: Customer;
  roles: Role[];
  membership: OrganizationMembership | undefined;
}) {
  const held = (step: string): string[] =>
    step === "ORGANIZATION_ROLE"
      ? (membership?.roles ?? [])
      : step === "PROJECT_ROLE"
        ? customer.roles
        : customer.roles.filter((key) => roleOf(roles, key, "PROJECT")?.appliesToAllOrganizations);
  return (
    <ol className="tree" aria-label={m.customers_steps()}>
      {decision.explanation
        .filter(({ step }) => step !== "CUSTOMER_GIVEN")
        .map((each) => (
          <li key={each.step} className={DECIDING[decision.reason] === each.step ? "decides" : ""}>
            <Glyph shape={each.ok ? "yes" : "no"} />
            <div>
              <b>{STEPS[each.step]?.() ?? each.step}</b>
              <span className="sr"> {each.ok ? m.customers_yes() : m.customers_no()}</span>
              {DECIDING[decision.reason] === each.step && <span className="tag">{m.customers_decides()}</span>}
              {ROLE_STEPS[each.step] && (
                <RoleLines step={each} permission={decision.permission} held={held(each.step)} roles={roles} />
              )}
            </div>
          </li>
        ))}
    </ol>
  );
}

/** The roles that a step looked at, and what of each covers the permission. */
function RoleLines({
  step,
  permission,
  held,
  roles,
}: {
  step: AccessExplanation;
  permission: string;
  held: string[];
  roles: Role[];
}) {
  const keys = [...new Set([...held, ...step.roles])];
  if (keys.length === 0) return <p>{m.customers_step_none()}</p>;
  return (
    <ul>
      {keys.map((key) => {
        const role = roleOf(roles, key, ROLE_STEPS[step.step] ?? "PROJECT");
        const isGranting = step.roles.includes(key);
        const pattern = role && coveredBy(role.permissions, permission);
        return (
          <li key={key}>
            <Glyph shape={isGranting ? "yes" : "no"} />
            <div>
              {role?.name ?? key}{" "}
              {isGranting && pattern && pattern !== permission ? (
                <>
                  <span className="muted">{m.customers_gives()}</span> <code>{pattern}</code>{" "}
                  <span className="muted">{m.customers_covers()}</span> <code>{permission}</code>
                </>
              ) : isGranting ? (
                <>
                  <span className="muted">{m.customers_gives()}</span> <code>{permission}</code>
                </>
              ) : (
                <span className="muted">{m.customers_gives_not()}</span>
              )}
            </div>
          </li>
        );
      })}
    </ul>
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
