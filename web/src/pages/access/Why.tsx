import "../customers/customers.css";
import type { Customer } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { AccessCheck } from "../../parts/AccessCheck";
import { Button, LoadingFailed } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { Picker } from "../customers/Picker";
import { customerQuery, isMissing } from "../customers/queries";
import { nameOf } from "../customers/words";
import type { AccessSearch } from "./routes";

const page = getRouteApi("/session/projects/$projectId/access");
const FOUND = 8;
const MOST = 1_000;

/** Whether someone may do something, with every step of the decision. */
export function Why() {
  const navigate = useNavigate();
  const { customer } = page.useSearch();
  const set = (change: Partial<Record<keyof AccessSearch, string | undefined>>) =>
    void navigate({
      to: ".",
      search: ((before: object) => ({ ...before, ...change })) as never,
      replace: true,
      resetScroll: false,
    });
  return customer ? <Decision id={customer} set={set} /> : <Choose onChoose={({ id }) => set({ customer: id })} />;
}

function Choose({ onChoose }: { onChoose: (customer: Customer) => void }) {
  const projectId = useProjectId();
  return (
    <div className="customerform choosing">
      <Picker
        label={m.access_why_customer()}
        hint={m.access_why_customer_hint()}
        queryKey={["access", projectId, "pick"]}
        find={async (q, signal) =>
          (await api(projectId).customers.list({ ...(q && { q }), limit: FOUND }, { signal })).data
        }
        words={(customer) => ({ name: nameOf(customer), detail: customer.email ?? customer.id })}
        chosen={undefined}
        onChoose={onChoose}
      />
    </div>
  );
}

function Decision({
  id,
  set,
}: {
  id: string;
  set: (change: Partial<Record<keyof AccessSearch, string | undefined>>) => void;
}) {
  const projectId = useProjectId();
  const { can, in: place } = page.useSearch();
  const query = useQuery(customerQuery(projectId, id));
  const organizations = useQuery({
    queryKey: ["access", projectId, "organizations"],
    queryFn: async ({ signal }) => (await api(projectId).organizations.list({ limit: MOST }, { signal })).data,
  });
  const another = (
    <Button size="small" onClick={() => set({ customer: undefined, in: undefined })}>
      {m.access_why_another()}
    </Button>
  );
  if (query.isError && !query.data)
    return (
      <>
        {isMissing(query.error) ? (
          <p className="muted nothing">{m.access_why_missing()}</p>
        ) : (
          <LoadingFailed title={m.page_failed()} error={query.error} onRetry={() => void query.refetch()} />
        )}
        {another}
      </>
    );
  if (!query.data)
    return (
      <div className="formload" aria-busy="true">
        <i className="skel" style={{ width: 260 }} />
      </div>
    );
  const customer = query.data;
  const name = nameOf(customer);
  return (
    <>
      <p className="chosen">
        <Link to="/projects/$projectId/customers/$customerId" params={{ projectId, customerId: id }}>
          {name}
        </Link>
        {customer.email && customer.email !== name && <span className="muted">{customer.email}</span>}
        {another}
      </p>
      <AccessCheck
        customer={customer}
        name={name}
        title={m.access_why_title()}
        can={can}
        place={place}
        organizations={organizations.data ?? []}
        onChange={set}
      />
    </>
  );
}
