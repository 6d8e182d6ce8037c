import "./accesscheck.css";
import type { AccessDecision, AccessExplanation, Customer, OrganizationMembership, Role } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { Glyph } from "../look/glyphs";
import { m } from "../messages/messages.js";
import { useProjectId } from "../session/profile";
import { api } from "../session/server";
import { coveredBy, DECIDING, ROLE_STEPS, roleOf } from "./access";
import { membershipsQuery, permissionsQuery, rolesQuery } from "./accessQueries";
import { LoadingFailed, Pill } from "./parts";
import { copyCurl } from "./request";

/** Whether a customer has a permission in the project or in one of its organizations, and every step of the check. */
export function AccessCheck({
  customer,
  name,
  title,
  can,
  place,
  organizations = [],
  onChange,
}: {
  customer: Customer;
  /** The customer in words. */
  name: string;
  title: string;
  /** The permission that is checked; without it, the first one. */
  can: string | undefined;
  /** Id of the organization in which; without it, the project. */
  place: string | undefined;
  /** Organizations to choose from, beside those of the customer. */
  organizations?: { id: string; name: string }[];
  onChange: (change: { can?: string; in?: string | undefined }) => void;
}) {
  const projectId = useProjectId();
  const permissions = useQuery(permissionsQuery(projectId));
  const memberships = useQuery(membershipsQuery(projectId, customer.id));
  const roles = useQuery(rolesQuery(projectId));
  const id = useId();
  const permission = can ?? permissions.data?.[0]?.key;
  const body = { permission: permission ?? "", customerId: customer.id, ...(place && { organizationId: place }) };
  const check = useQuery({
    queryKey: ["customers", projectId, "check", customer.id, permission, place],
    queryFn: ({ signal }) => api(projectId).access.check(body, { signal }),
    enabled: Boolean(permission),
  });
  const keys = new Set([...(permissions.data ?? []).map((each) => each.key), ...(can ? [can] : [])]);
  const others = organizations.filter(
    (each) => !memberships.data?.some(({ organization }) => organization.id === each.id),
  );
  const isMember = memberships.data?.some((each) => each.organization.id === place);
  return (
    <section className="sec accesscheck" aria-labelledby={`${id}check`}>
      <header>
        <h2 id={`${id}check`}>{title}</h2>
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
              onChange={(event) => onChange({ can: event.target.value })}
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
              onChange={(event) => onChange({ in: event.target.value || undefined })}
            >
              <option value="">{m.customers_whole_project()}</option>
              {memberships.data?.map(({ organization }) => (
                <option key={organization.id} value={organization.id}>
                  {organization.name}
                </option>
              ))}
              {others.map(({ id: other, name: word }) => (
                <option key={other} value={other}>
                  {word}
                </option>
              ))}
              {place && !isMember && !others.some((each) => each.id === place) && (
                <option value={place}>{place}</option>
              )}
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
