import { notifications } from "@mantine/notifications";
import type { Customer } from "@postern/sdk";
import { IconPlus, IconUpload } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { Held } from "../../lists/Held";
import { ListPage } from "../../lists/ListPage";
import type { Neighbours } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { count } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Status as State, Time } from "../../parts/parts";
import { copyCurl, queryString } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { stateOf } from "./history";
import { CUSTOMER_EVENTS, providersQuery } from "./queries";
import { type CustomersSearch, STATUSES } from "./routes";
import { methodWord, nameOf, OWN_METHODS, STATES, STATUS_WORDS } from "./words";
import "./customers.css";

const NewCustomerDialog = lazy(() => import("./NewCustomer"));
const ImportDialog = lazy(() => import("./ImportDialog"));

const page = getRouteApi("/session/projects/$projectId/customers");

/** Nothing opens beside this list: a customer has a page of its own. */
const NO_NEIGHBOURS: Neighbours = {
  above: undefined,
  below: undefined,
  close: () => {},
  row: undefined,
  patch: () => {},
};

/** The people who sign in to the project's product. */
export function Customers() {
  const projectId = useProjectId();
  const { q, status, provider, add } = page.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const filters = { q, status, provider };
  const list = useRowList<Customer>({
    queryKey: ["customers", projectId, "list", filters],
    first: () => api(projectId).customers.list({ ...filters, limit: PAGE_ROWS }),
    one: (id) => api(projectId).customers.get(id),
    types: CUSTOMER_EVENTS,
    live: true,
  });
  const setSearch = (search: CustomersSearch) =>
    void navigate({ to: ".", search: search as never, replace: true, resetScroll: false });
  const open = useCallback(
    ({ id }: Customer) =>
      void navigate({ to: "/projects/$projectId/customers/$customerId", params: { projectId, customerId: id } }),
    [navigate, projectId],
  );
  const close = useCallback(() => {}, []);
  const onExport = async () => {
    try {
      download(await api(projectId).customers.export(filters), "customers.csv", "text/csv");
    } catch (error) {
      notifications.show({ message: m.customers_export_failed({ reason: messageOf(error) }) });
    }
  };
  const path = `/projects/${projectId}/customers`;
  const isFiltered = Boolean(q || status || provider);
  const isEmpty = !list.isPending && !list.error && list.rows.length === 0;
  return (
    <ListPage
      title={m.customers()}
      name="customers"
      request={{ method: "GET", path: path + queryString({ ...filters, limit: PAGE_ROWS }) }}
      onExport={onExport}
      exportTitle={m.customers_export()}
      neighbours={NO_NEIGHBOURS}
      actions={
        mayWrite && (
          <>
            <Button icon={<IconUpload {...ICON} />} onClick={() => setSearch({ ...filters, add: "many" })}>
              {m.customers_import()}
            </Button>
            <Button kind="primary" icon={<IconPlus {...ICON} />} onClick={() => setSearch({ ...filters, add: "one" })}>
              {m.customers_add()}
            </Button>
          </>
        )
      }
    >
      {!(isEmpty && !isFiltered) && (
        <form
          className="filters"
          role="search"
          aria-label={m.customers_filter()}
          onSubmit={(event) => event.preventDefault()}
        >
          <SearchBox
            value={q ?? ""}
            label={m.customers_search()}
            onChange={(next) => setSearch({ status, provider, q: next || undefined })}
          />
          <ProviderFilter value={provider} onChange={(next) => setSearch({ q, status, provider: next })} />
          <div className="chips">
            <div className="seg scrollx" role="group" aria-label={m.customers_which()}>
              {[undefined, ...STATUSES].map((each) => (
                <button
                  key={each ?? "all"}
                  type="button"
                  aria-pressed={status === each}
                  onClick={() => setSearch({ q, provider, status: each })}
                >
                  {each ? STATUS_WORDS[each]() : m.customers_all()}
                </button>
              ))}
            </div>
            <span className="total muted" aria-live="polite">
              {list.total !== undefined &&
                !list.isStale &&
                (list.total === 1 ? m.customers_total_one() : m.customers_total({ count: count(list.total) }))}
            </span>
          </div>
        </form>
      )}
      <Held list={list} />
      {list.error && list.rows.length === 0 ? (
        <>
          <LoadingFailed error={list.error} onRetry={list.retry} />
          {isFiltered && <Button onClick={() => setSearch({})}>{m.list_clear_filters()}</Button>}
        </>
      ) : isEmpty ? (
        isFiltered ? (
          <NoneMatch search={filters} onChange={setSearch} />
        ) : (
          <Empty title={m.customers_empty()} lead={m.customers_empty_lead()}>
            {mayWrite && <Button onClick={() => setSearch({ add: "one" })}>{m.customers_add()}</Button>}
            <a className="btn" href="/guide/customers" target="_blank" rel="noreferrer">
              {m.customers_guide()}
            </a>
            <Button
              kind="bare"
              onClick={() => void copyCurl({ method: "POST", path, body: { email: "ada@example.com", name: "Ada" } })}
            >
              {m.copy_as_curl()}
            </Button>
          </Empty>
        )
      ) : (
        <>
          <RowTable
            label={m.customers()}
            columns={columns()}
            rows={list.rows}
            total={list.total}
            isPending={list.isPending}
            isStale={list.isStale}
            fresh={list.fresh}
            onOpen={open}
            onClose={close}
            onEnd={list.more}
            row={(customer) => <Cells customer={customer} />}
          />
          {list.error ? <LoadingFailed error={list.error} onRetry={list.retry} /> : null}
        </>
      )}
      <Suspense>
        {add === "one" && mayWrite && <NewCustomerDialog onClose={() => setSearch(filters)} />}
        {add === "many" && mayWrite && (
          <ImportDialog
            onClose={() => setSearch(filters)}
            onImported={() => {
              void client.invalidateQueries({ queryKey: ["customers", projectId, "list"] });
              void client.invalidateQueries({ queryKey: ["overview", projectId, "customers"] });
            }}
          />
        )}
      </Suspense>
    </ListPage>
  );
}

function columns(): Column[] {
  return [
    { key: "state", label: m.customers_state(), skeleton: 90, className: "c-st" },
    { key: "email", label: m.customers_email(), skeleton: 220, className: "c-to" },
    { key: "name", label: m.customers_name(), skeleton: 140, className: "c-name" },
    { key: "methods", label: m.customers_signs_in(), skeleton: 160, className: "c-sub" },
    { key: "mfa", label: m.customers_second_factor(), skeleton: 40, className: "c-mfa" },
    { key: "last", label: m.customers_last_sign_in(), skeleton: 40, className: "num c-time" },
  ];
}

function Cells({ customer }: { customer: Customer }) {
  const projectId = useProjectId();
  const { shape, tone, word } = STATES[stateOf(customer)];
  return (
    <>
      <td className="c-st">
        <State shape={shape} tone={tone}>
          {word()}
        </State>
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/customers/$customerId"
          params={{ projectId, customerId: customer.id }}
        >
          {customer.email ?? nameOf(customer)}
        </Link>
      </th>
      <td className="c-name">
        <span className="cut">{customer.name}</span>
      </td>
      <td className="c-sub">
        <span className="cut muted">
          {customer.identities.map((each) => methodWord(each.provider)).join(", ") || m.customers_no_method()}
        </span>
      </td>
      <td className="c-mfa">{customer.mfaEnabledAt ? m.customers_on() : ""}</td>
      <td className="num c-time">
        {customer.lastSignInAt ? <Time at={customer.lastSignInAt} /> : m.customers_never()}
      </td>
    </>
  );
}

/** The ways to sign in by which the list can be filtered; that of the URL stays, even if it is not known. */
function ProviderFilter({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (provider: string | undefined) => void;
}) {
  const projectId = useProjectId();
  const providers = useQuery(providersQuery(projectId));
  const keys = new Set([...OWN_METHODS, ...(providers.data ?? []).map((each) => each.key), ...(value ? [value] : [])]);
  return (
    <select
      className="input by-method"
      aria-label={m.customers_signs_in()}
      value={value ?? ""}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">{m.customers_any_method()}</option>
      {[...keys].map((each) => (
        <option key={each} value={each}>
          {methodWord(each)}
        </option>
      ))}
    </select>
  );
}

/** No customer matches: names what can be dropped. */
function NoneMatch({
  search: { q, status, provider },
  onChange,
}: {
  search: CustomersSearch;
  onChange: (search: CustomersSearch) => void;
}) {
  const isSeveral = [q, status, provider].filter(Boolean).length > 1;
  return (
    <Empty title={m.customers_none()} lead={q ? m.list_none_match_q({ q }) : m.list_none_match_filters()}>
      {isSeveral && status && (
        <Button onClick={() => onChange({ q, provider })}>
          {m.customers_without({ filter: STATUS_WORDS[status]() })}
        </Button>
      )}
      {isSeveral && provider && (
        <Button onClick={() => onChange({ q, status })}>{m.customers_without({ filter: methodWord(provider) })}</Button>
      )}
      <Button kind="bare" onClick={() => onChange({})}>
        {m.list_clear_filters()}
      </Button>
    </Empty>
  );
}
