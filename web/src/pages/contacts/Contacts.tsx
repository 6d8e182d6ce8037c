import { notifications } from "@mantine/notifications";
import type { Contact } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { Held } from "../../lists/Held";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { m } from "../../messages/messages.js";
import { COUNT_LIMIT, count } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Time } from "../../parts/parts";
import { copyCurl, queryString } from "../../parts/request";
import { useUndo } from "../../parts/undo";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { AddContact } from "./AddContact";
import { AddToAudience } from "./AddToAudience";
import { ContactFilters } from "./ContactFilters";
import { attributeOfColumn, isTimeColumn, TIME_NAMES, useColumns } from "./columns";
import { exportAll, exportFound, MOST_EXPORTED } from "./export";
import { Frame } from "./Frame";
import { CONTACT_EVENTS, MEMBER_EVENTS, useAttributes } from "./queries";
import { type ContactsSearch, unsubscribedIn } from "./search";
import { inWords, SubscriptionStatus } from "./values";

const page = getRouteApi("/session/projects/$projectId/contacts");

/** All contacts of the project, or those of an audience. */
export function Contacts() {
  const projectId = useProjectId();
  const { contactId } = useParams({ strict: false });
  const search = page.useSearch();
  const { q, state, audience } = search;
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const [isAdding, setAdding] = useState(false);
  /** Addresses of the contacts that are chosen, by their ids. */
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const { attributes, types, isPending: columnsPending } = useAttributes();
  const [columns, setColumns] = useColumns(projectId, attributes);
  const unsubscribed = unsubscribedIn(state);
  const list = useRowList<Contact>({
    queryKey: ["contacts", projectId, "list", { q, state, audience }],
    first: () =>
      audience
        ? api(projectId).audiences.contacts.list(audience, { limit: PAGE_ROWS })
        : api(projectId).contacts.list({ q, unsubscribed, countLimit: q ? COUNT_LIMIT : undefined, limit: PAGE_ROWS }),
    one: (id) => api(projectId).contacts.get(id),
    types: audience ? [...CONTACT_EVENTS, ...MEMBER_EVENTS] : CONTACT_EVENTS,
    live: true,
  });
  const undo = useUndo();
  const rows = list.rows.filter((each) => !undo.hidden.has(each.id));
  const setSearch = (next: ContactsSearch) => {
    setChosen(new Map());
    void navigate({ to: ".", search: next as never, replace: true, resetScroll: false });
  };
  const open = useCallback(
    (row: Contact) =>
      void navigate({
        to: "/projects/$projectId/contacts/$contactId",
        params: { projectId, contactId: row.id },
        search: true,
        replace: contactId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, contactId],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/contacts",
        params: { projectId },
        search: ({ tab: _, ...rest }: ContactsSearch & { tab?: unknown }) => rest as never,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(rows, contactId, open, close, list.patch);
  const isFiltered = Boolean(q || state || audience);
  const onExport = async () => {
    if (!isFiltered) return exportAll(projectId);
    try {
      const all = await exportFound(projectId, { q, unsubscribed, audience }, attributes);
      if (!all) notifications.show({ message: m.contacts_export_first({ most: count(MOST_EXPORTED) }) });
    } catch (error) {
      notifications.show({ message: m.contacts_export_failed({ reason: messageOf(error) }) });
    }
  };
  const path = audience ? `/projects/${projectId}/audiences/${audience}/contacts` : `/projects/${projectId}/contacts`;
  const request = {
    method: "GET",
    path: path + queryString(audience ? { limit: PAGE_ROWS } : { q, unsubscribed, limit: PAGE_ROWS }),
  } as const;
  const isMissing = audience !== undefined && list.error instanceof APIError && list.error.status === 404;
  const toggle = (contact: Contact) => {
    const next = new Map(chosen);
    if (!next.delete(contact.id)) next.set(contact.id, contact.email);
    setChosen(next);
  };
  return (
    <Frame
      tab="contacts"
      request={request}
      onExport={onExport}
      actions={
        mayWrite && (
          <>
            <Link
              className="btn"
              to="/projects/$projectId/contacts/imports/new"
              params={{ projectId }}
              data-tour="contacts"
            >
              {m.contacts_import_csv()}
            </Link>
            <Button kind="primary" icon={<IconPlus {...ICON} />} onClick={() => setAdding(true)}>
              {m.contacts_add()}
            </Button>
          </>
        )
      }
      neighbours={neighbours}
      panel={contactId && <Outlet />}
    >
      <ContactFilters
        search={search}
        onChange={setSearch}
        total={list.isStale ? undefined : list.total}
        attributes={attributes}
        columns={columns}
        onColumns={setColumns}
      />
      {mayWrite && chosen.size > 0 && <Chosen contacts={chosen} onClear={() => setChosen(new Map())} />}
      <Held list={list} />
      {isMissing ? (
        <Empty title={m.contacts_no_audience()} lead={m.contacts_no_audience_lead()}>
          <Button onClick={() => setSearch({})}>{m.contacts_show_all()}</Button>
        </Empty>
      ) : list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && rows.length === 0 ? (
        <NoContacts search={search} onChange={setSearch} onAdd={mayWrite ? () => setAdding(true) : undefined} />
      ) : (
        // Another table once the columns are known: they do not push those aside that are there.
        <RowTable
          key={columnsPending ? "loading" : "known"}
          label={m.contacts_table()}
          columns={headsOf(columns, types, mayWrite)}
          className={mayWrite ? "people choosing" : "people"}
          rows={rows}
          total={list.total}
          isPending={list.isPending || columnsPending}
          isStale={list.isStale}
          openId={contactId}
          fresh={list.fresh}
          onOpen={open}
          onClose={close}
          onEnd={list.more}
          row={(row) => (
            <Cells
              row={row}
              columns={columns}
              types={types}
              isChosen={chosen.has(row.id)}
              onChoose={mayWrite ? toggle : undefined}
            />
          )}
        />
      )}
      {isAdding && <AddContact onClose={() => setAdding(false)} onAdded={open} />}
    </Frame>
  );
}

function NoContacts({
  search: { q, state, audience },
  onChange,
  onAdd,
}: {
  search: ContactsSearch;
  onChange: (search: ContactsSearch) => void;
  onAdd: (() => void) | undefined;
}) {
  const projectId = useProjectId();
  if (audience)
    return (
      <Empty title={m.contacts_audience_empty()} lead={m.contacts_audience_empty_lead()}>
        <Button onClick={() => onChange({})}>{m.contacts_show_all()}</Button>
      </Empty>
    );
  if (q || state)
    return (
      <Empty title={m.contacts_none()} lead={q ? m.list_none_match_q({ q }) : m.list_none_match_filters()}>
        {q && state && <Button onClick={() => onChange({ q })}>{m.contacts_any_state()}</Button>}
        <Button kind="bare" onClick={() => onChange({})}>
          {m.list_clear_filters()}
        </Button>
      </Empty>
    );
  const body = { email: "ada@example.com", attributes: { plan: "pro" } };
  return (
    <Empty title={m.contacts_empty()} lead={m.contacts_empty_lead()}>
      {onAdd && <Button onClick={onAdd}>{m.contacts_add()}</Button>}
      {onAdd && (
        <Link className="btn" to="/projects/$projectId/contacts/imports/new" params={{ projectId }}>
          {m.contacts_import_csv()}
        </Link>
      )}
      <Button
        kind="bare"
        onClick={() => void copyCurl({ method: "POST", path: `/projects/${projectId}/contacts`, body })}
      >
        {m.copy_as_curl()}
      </Button>
    </Empty>
  );
}

function headsOf(columns: string[], types: ReadonlyMap<string, string>, isChoosing: boolean): Column[] {
  return [
    ...(isChoosing
      ? [
          {
            key: "choose",
            label: <span className="sr">{m.contacts_choose()}</span>,
            className: "c-choose",
            skeleton: 16,
          },
        ]
      : []),
    { key: "state", label: m.contacts_state(), className: "c-st", skeleton: 90 },
    { key: "email", label: m.contacts_email(), className: "c-to", skeleton: 200 },
    ...columns.map((column) => {
      const name = attributeOfColumn(column);
      const isNumber = name !== undefined && types.get(name) === "number";
      return {
        key: column,
        label: <span className="cut">{name ?? (isTimeColumn(column) ? TIME_NAMES[column]() : column)}</span>,
        className: isNumber ? "c-more num" : "c-more",
        skeleton: 70,
      };
    }),
    { key: "added", label: m.contacts_added(), className: "num c-time", skeleton: 36 },
  ];
}

function Cells({
  row,
  columns,
  types,
  isChosen,
  onChoose,
}: {
  row: Contact;
  columns: string[];
  types: ReadonlyMap<string, string>;
  isChosen: boolean;
  onChoose: ((contact: Contact) => void) | undefined;
}) {
  const projectId = useProjectId();
  return (
    <>
      {onChoose && (
        <td className="c-choose">
          <input
            className="check"
            type="checkbox"
            checked={isChosen}
            aria-label={m.contacts_choose_one({ email: row.email })}
            onChange={() => onChoose(row)}
          />
        </td>
      )}
      <td className="c-st">
        <SubscriptionStatus contact={row} />
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/contacts/$contactId"
          params={{ projectId, contactId: row.id }}
          search={true}
          resetScroll={false}
        >
          {row.email}
        </Link>
      </th>
      {columns.map((column) => {
        const name = attributeOfColumn(column);
        if (name === undefined) {
          const at = isTimeColumn(column) ? row[column] : null;
          return (
            <td key={column} className="c-more">
              {at && <Time at={at} />}
            </td>
          );
        }
        const type = types.get(name);
        const words = inWords(row.attributes[name], type);
        return (
          <td key={column} className={type === "number" ? "c-more num" : "c-more"}>
            <span className="cut" title={words}>
              {words}
            </span>
          </td>
        );
      })}
      <td className="c-time num">
        <Time at={row.createdAt} />
      </td>
    </>
  );
}

/** What can be done with the contacts that are chosen. */
function Chosen({
  contacts,
  onClear,
}: {
  /** Addresses by the id of the contact. */
  contacts: ReadonlyMap<string, string>;
  onClear: () => void;
}) {
  const [isAdding, setAdding] = useState(false);
  return (
    <div className="chosen" role="group" aria-label={m.contacts_chosen_label()}>
      <b>{contacts.size === 1 ? m.contacts_chosen_one() : m.contacts_chosen({ count: count(contacts.size) })}</b>
      <Button size="small" onClick={() => setAdding(true)}>
        {m.contacts_add_to_audience()}
      </Button>
      <Button size="small" kind="bare" onClick={onClear}>
        {m.contacts_choose_none()}
      </Button>
      {isAdding && <AddToAudience emails={[...contacts.values()]} onClose={() => setAdding(false)} onAdded={onClear} />}
    </div>
  );
}
