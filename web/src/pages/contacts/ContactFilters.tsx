import { Menu, Popover } from "@mantine/core";
import type { ContactAttribute } from "@postern/sdk";
import { IconColumns, IconPlus, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { count, countUpTo } from "../../parts/format";
import { ICON } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { columnOf, MOST_COLUMNS, TIME_COLUMNS, TIME_NAMES } from "./columns";
import { useAudiences } from "./queries";
import type { ContactsSearch, SubscriptionState } from "./search";

const STATES: (SubscriptionState | undefined)[] = [undefined, "subscribed", "unsubscribed"];
const STATE_NAMES: Record<SubscriptionState, () => string> = {
  subscribed: m.contacts_subscribed,
  unsubscribed: m.contacts_unsubscribed,
};

/** Search, filters and columns of the list, and how many contacts it has. */
export function ContactFilters({
  search: { q, state, audience },
  onChange,
  total,
  attributes,
  columns,
  onColumns,
}: {
  search: ContactsSearch;
  onChange: (search: ContactsSearch) => void;
  total: number | undefined;
  attributes: ContactAttribute[];
  columns: string[];
  onColumns: (columns: string[]) => void;
}) {
  const { audiences } = useAudiences();
  const name = audiences.find((each) => each.id === audience)?.name;
  return (
    <form
      className="filters"
      role="search"
      aria-label={m.contacts_filter()}
      onSubmit={(event) => event.preventDefault()}
    >
      {audience ? (
        <p className="grow inaudience">
          <span className="filter">
            <span className="chiptext">
              <span>{m.contacts_audience()}</span> {name ?? audience}
            </span>
            <button
              type="button"
              aria-label={m.contacts_remove_audience({ name: name ?? audience })}
              onClick={() => onChange({})}
            >
              <IconX {...ICON} />
            </button>
          </span>{" "}
          <span className="muted">{m.contacts_audience_only()}</span>
        </p>
      ) : (
        <SearchBox
          value={q ?? ""}
          label={m.contacts_search()}
          onChange={(next) => onChange({ ...(state && { state }), ...(next && { q: next }) })}
        />
      )}
      <Columns attributes={attributes} columns={columns} onChange={onColumns} />
      <div className="chips">
        {!audience && (
          <div className="seg scrollx" role="group" aria-label={m.contacts_state()}>
            {STATES.map((each) => (
              <button
                key={each ?? "all"}
                type="button"
                aria-pressed={state === each}
                onClick={() => onChange({ ...(q && { q }), ...(each && { state: each }) })}
              >
                {each ? STATE_NAMES[each]() : m.contacts_all()}
              </button>
            ))}
          </div>
        )}
        {!audience && audiences.length > 0 && (
          <Menu position="bottom-start" width={280}>
            <Menu.Target>
              <button type="button" className="btn bare small">
                <IconPlus {...ICON} />
                {m.contacts_audience()}
              </button>
            </Menu.Target>
            <Menu.Dropdown className="contacts-menu">
              {audiences.map((each) => (
                <Menu.Item key={each.id} onClick={() => onChange({ audience: each.id })}>
                  <span className="cut">{each.name}</span>
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
        <span className="total muted" aria-live="polite">
          {total !== undefined &&
            (total === 1 ? m.contacts_total_one() : m.contacts_total({ count: q ? countUpTo(total) : count(total) }))}
          {!q && !state && !audience && <Growth />}
        </span>
      </div>
    </form>
  );
}

const TOTALS_MS = 60_000;

/** How many contacts were added lately, and how many have unsubscribed. */
function Growth() {
  const projectId = useProjectId();
  const totals = useQuery({
    queryKey: ["contacts", projectId, "totals"],
    queryFn: async ({ signal }) => (await api(projectId).analytics.get({}, { signal })).contacts,
    refetchInterval: TOTALS_MS,
  }).data;
  if (!totals?.total) return null;
  return (
    <span className="desk">
      {" · "}
      {m.contacts_growth({ added: count(totals.newLast30Days), unsubscribed: count(totals.unsubscribed) })}
    </span>
  );
}

/** Chooses the columns, which this browser keeps for the project. */
function Columns({
  attributes,
  columns,
  onChange,
}: {
  attributes: ContactAttribute[];
  columns: string[];
  onChange: (columns: string[]) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const shown = attributes.filter((each) => each.name.toLowerCase().includes(text.trim().toLowerCase()));
  const isFull = columns.length >= MOST_COLUMNS;
  const item = (column: string, label: string) => {
    const isOn = columns.includes(column);
    return (
      <label key={column} className="line">
        <input
          className="check"
          type="checkbox"
          checked={isOn}
          disabled={isFull && !isOn}
          onChange={() => onChange(isOn ? columns.filter((each) => each !== column) : [...columns, column])}
        />
        <span className="cut">{label}</span>
      </label>
    );
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={280} trapFocus returnFocus>
      <Popover.Target>
        <button type="button" className="btn desk" onClick={() => setOpen(!isOpen)}>
          <IconColumns {...ICON} />
          {m.contacts_columns()}
        </button>
      </Popover.Target>
      <Popover.Dropdown className="editor contacts-columns" aria-label={m.contacts_columns()}>
        <fieldset>
          <legend className="label">{m.contacts_columns()}</legend>
          {attributes.length > MOST_COLUMNS && (
            <input
              className="input"
              type="text"
              aria-label={m.contacts_find_attribute()}
              placeholder={m.contacts_find_attribute()}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
          <div className="choices">
            {shown.map((each) => item(columnOf(each.name), each.name))}
            {TIME_COLUMNS.map((each) => item(each, TIME_NAMES[each]()))}
          </div>
          <p className="hint muted">{m.contacts_columns_hint({ most: MOST_COLUMNS })}</p>
        </fieldset>
      </Popover.Dropdown>
    </Popover>
  );
}
