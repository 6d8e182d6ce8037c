import { Menu, Popover } from "@mantine/core";
import type { Campaign, Domain } from "@postern/sdk";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { LiveToggle } from "../../lists/LiveToggle";
import { SEARCH_CHARACTERS, SearchBox } from "../../lists/SearchBox";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, countUpTo, shortDay } from "../../parts/format";
import { Button, Field, ICON } from "../../parts/parts";
import type { LiveState } from "../../session/live";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import type { Refusal } from "./Log";
import { countLimitOf, type FilterName, filtersIn, type LogSearch, without } from "./search";
import { STATUS_GROUPS, wordsOfStatuses } from "./status";

/** Campaigns to choose from, the newest. */
const CAMPAIGNS = 100;
const TAG_CHARACTERS = 256;

export const FILTER_LABELS: Record<FilterName, () => string> = {
  sent: m.emails_filter_sent,
  status: m.emails_filter_status,
  recipient: m.emails_filter_recipient,
  tag: m.emails_filter_tag,
  campaignId: m.emails_filter_campaign,
  domainId: m.emails_filter_domain,
};

interface Props {
  search: LogSearch;
  onChange: (search: LogSearch) => void;
}

/** Search, live toggle, and the filters as chips that can be changed and removed. All of them are in the URL. */
export function Filters({
  search,
  onChange,
  refused,
  total,
  live,
  state,
  onLive,
}: Props & {
  refused: Refusal[];
  total: number | undefined;
  live: boolean;
  state: LiveState;
  onLive: (live: boolean) => void;
}) {
  const [editing, setEditing] = useState<FilterName>();
  const more = useRef<HTMLButtonElement>(null);
  const set = filtersIn(search);
  const shown = editing && !set.includes(editing) ? [...set, editing] : set;
  const free = (Object.keys(FILTER_LABELS) as FilterName[]).filter((name) => !set.includes(name));
  const remove = (name: FilterName) => {
    setEditing(undefined);
    onChange(without(search, name));
    more.current?.focus();
  };
  return (
    <form className="filters" role="search" aria-label={m.emails_filter()} onSubmit={(event) => event.preventDefault()}>
      <SearchBox
        value={search.q ?? ""}
        label={m.emails_search()}
        invalid={refused.some((each) => each.filter === "q")}
        onChange={(q) => onChange({ ...search, q: q || undefined })}
      />
      <LiveToggle live={live} state={state} onLive={onLive} />
      <div className="chips">
        {shown.map((name) => (
          <Chip
            key={name}
            name={name}
            search={search}
            onChange={onChange}
            refused={refused.some((each) => each.filter === name)}
            isEditing={editing === name}
            onEdit={(edit) => setEditing(edit ? name : undefined)}
            onRemove={() => remove(name)}
          />
        ))}
        {free.length > 0 && (
          <Menu position="bottom-start" returnFocus={false} width={200}>
            <Menu.Target>
              <button type="button" className="btn bare small" ref={more}>
                <IconPlus {...ICON} />
                {m.emails_add_filter()}
              </button>
            </Menu.Target>
            <Menu.Dropdown>
              {free.map((name) => (
                <Menu.Item key={name} onClick={() => setEditing(name)}>
                  {FILTER_LABELS[name]()}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
        <span className="total muted" aria-live="polite">
          {total !== undefined &&
            (total === 1
              ? m.emails_total_one()
              : m.emails_total({ count: countLimitOf(search) ? countUpTo(total) : count(total) }))}
        </span>
      </div>
      {refused.map(({ filter, message }) => (
        <p key={message} className="wrong" role="alert">
          <Glyph shape="failed" />
          <span>
            {filter && filter !== "q" ? `${FILTER_LABELS[filter]()}: ` : ""}
            {message}
          </span>
        </p>
      ))}
    </form>
  );
}

function Chip({
  name,
  search,
  onChange,
  refused,
  isEditing,
  onEdit,
  onRemove,
}: Props & {
  name: FilterName;
  refused: boolean;
  isEditing: boolean;
  onEdit: (edit: boolean) => void;
  onRemove: () => void;
}) {
  const value = useChipText(name, search);
  const label = FILTER_LABELS[name]();
  return (
    <span className={refused ? "filter refused" : "filter"}>
      <Popover
        opened={isEditing}
        onChange={onEdit}
        position="bottom-start"
        width={304}
        trapFocus
        returnFocus
        shadow="md"
      >
        <Popover.Target>
          <button type="button" onClick={() => onEdit(!isEditing)}>
            <span>{label}</span> {value || "…"}
          </button>
        </Popover.Target>
        <Popover.Dropdown className="editor" aria-label={label}>
          <Editor name={name} search={search} onChange={onChange} onDone={() => onEdit(false)} />
        </Popover.Dropdown>
      </Popover>
      <button
        type="button"
        aria-label={m.emails_remove_filter({ filter: `${label} ${value}`.trim() })}
        onClick={onRemove}
      >
        <IconX {...ICON} />
      </button>
    </span>
  );
}

/** A filter's value in words. */
function useChipText(name: FilterName, search: LogSearch): string {
  const domains = useDomains(name === "domainId");
  const campaign = useCampaign(name === "campaignId" ? search.campaignId : undefined);
  switch (name) {
    case "sent":
      return sentText(search);
    case "status":
      return search.status ? wordsOfStatuses(search.status.split(",")) : "";
    case "domainId":
      return domains?.find((each) => each.id === search.domainId)?.domain ?? search.domainId ?? "";
    case "campaignId":
      return campaign?.name ?? search.campaignId ?? "";
    default:
      return search[name] ?? "";
  }
}

function sentText({ sent, from, to }: LogSearch): string {
  if (sent === "today") return m.emails_sent_today();
  if (sent) return m.emails_sent_days({ days: sent === "7d" ? 7 : 30 });
  if (from && to) return m.emails_sent_between({ from: dayText(from), to: dayText(to) });
  if (from) return m.emails_sent_since({ from: dayText(from) });
  return to ? m.emails_sent_until({ to: dayText(to) }) : "";
}

function dayText(value: string): string {
  const date = new Date(/^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00` : value);
  return Number.isNaN(date.getTime()) ? value : shortDay(date);
}

function useDomains(enabled: boolean): Domain[] | undefined {
  const projectId = useProjectId();
  return useQuery({
    queryKey: ["domains", projectId],
    queryFn: async ({ signal }) => (await api(projectId).domains.list({}, { signal })).data,
    enabled,
  }).data;
}

export function useCampaign(id: string | null | undefined): Campaign | undefined {
  const projectId = useProjectId();
  return useQuery({
    queryKey: ["campaign", projectId, id],
    queryFn: ({ signal }) => api(projectId).campaigns.get(id as string, { signal }),
    enabled: Boolean(id),
    staleTime: 60_000,
    retry: false,
  }).data;
}

function Editor({ name, ...props }: Props & { name: FilterName; onDone: () => void }) {
  if (name === "status") return <StatusEditor {...props} />;
  if (name === "sent") return <SentEditor {...props} />;
  if (name === "domainId") return <DomainEditor {...props} />;
  if (name === "campaignId") return <CampaignEditor {...props} />;
  return <TextEditor name={name} {...props} />;
}

type EditorProps = Props & { onDone: () => void };

function StatusEditor({ search, onChange, onDone }: EditorProps) {
  const chosen = new Set(search.status?.split(",") ?? []);
  return (
    <fieldset>
      <legend className="label">{m.emails_filter_status()}</legend>
      <div className="choices">
        {STATUS_GROUPS.map(({ shape, statuses, word }) => (
          <label key={statuses.join()} className="line">
            <input
              className="check"
              type="checkbox"
              checked={statuses.every((each) => chosen.has(each))}
              onChange={(event) => {
                for (const each of statuses) event.target.checked ? chosen.add(each) : chosen.delete(each);
                onChange({ ...search, status: [...chosen].join(",") || undefined });
              }}
            />
            <Glyph shape={shape} />
            {word()}
          </label>
        ))}
      </div>
      <p className="hint muted">{m.emails_filter_status_hint()}</p>
      <Done onDone={onDone} />
    </fieldset>
  );
}

function SentEditor({ search, onChange, onDone }: EditorProps) {
  const { sent, from, to, ...rest } = search;
  const periods = {
    today: m.emails_sent_today(),
    "7d": m.emails_sent_days({ days: 7 }),
    "30d": m.emails_sent_days({ days: 30 }),
  };
  return (
    <fieldset>
      <legend className="label">{m.emails_filter_sent()}</legend>
      <div className="seg" role="group" aria-label={m.emails_filter_sent()}>
        {Object.entries(periods).map(([period, label]) => (
          <button
            key={period}
            type="button"
            aria-pressed={sent === period}
            onClick={() => {
              onChange({ ...rest, sent: period as LogSearch["sent"] });
              onDone();
            }}
          >
            {label}
          </button>
        ))}
      </div>
      <div className="days">
        <Field
          label={m.emails_from_day()}
          type="date"
          value={from ?? ""}
          max={to}
          onChange={(event) => onChange({ ...rest, to, from: event.target.value || undefined })}
        />
        <Field
          label={m.emails_to_day()}
          type="date"
          value={to ?? ""}
          min={from}
          onChange={(event) => onChange({ ...rest, from, to: event.target.value || undefined })}
        />
      </div>
      <Done onDone={onDone} />
    </fieldset>
  );
}

const TEXT_FIELDS = {
  tag: { label: m.emails_filter_tag, hint: m.emails_filter_tag_hint, most: TAG_CHARACTERS },
  recipient: { label: m.emails_filter_recipient, hint: m.emails_filter_recipient_hint, most: SEARCH_CHARACTERS },
} as const;

function TextEditor({ name, search, onChange, onDone }: EditorProps & { name: "tag" | "recipient" }) {
  const { label, hint, most } = TEXT_FIELDS[name];
  return (
    <EditorForm
      onSubmit={(value) => {
        onChange({ ...search, [name]: value || undefined });
        onDone();
      }}
    >
      <Field
        label={label()}
        hint={hint()}
        name="value"
        defaultValue={search[name]}
        maxLength={most}
        autoComplete="off"
        data-autofocus
      />
    </EditorForm>
  );
}

function DomainEditor({ search, onChange, onDone }: EditorProps) {
  const domains = useDomains(true);
  const choose = (domainId: string) => {
    onChange({ ...search, domainId: domainId || undefined });
    onDone();
  };
  if (domains?.length === 0) return <p className="muted">{m.emails_filter_no_domains()}</p>;
  return (
    <Field label={m.emails_filter_domain()}>
      {(attributes) => (
        <select
          className="input"
          {...attributes}
          value={search.domainId ?? ""}
          onChange={(event) => choose(event.target.value)}
          data-autofocus
        >
          <option value="">{m.emails_filter_any()}</option>
          {domains?.map((each) => (
            <option key={each.id} value={each.id}>
              {each.domain}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function CampaignEditor({ search, onChange, onDone }: EditorProps) {
  const projectId = useProjectId();
  const campaigns = useQuery({
    queryKey: ["campaigns", projectId, "newest"],
    queryFn: async ({ signal }) => (await api(projectId).campaigns.list({ limit: CAMPAIGNS }, { signal })).data,
  }).data;
  const choose = (campaignId: string) => {
    onChange({ ...search, campaignId: campaignId || undefined });
    onDone();
  };
  return (
    <EditorForm onSubmit={choose}>
      {campaigns && campaigns.length > 0 && (
        <Field label={m.emails_filter_campaign()}>
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              value={search.campaignId ?? ""}
              onChange={(event) => choose(event.target.value)}
              data-autofocus
            >
              <option value="">{m.emails_filter_any()}</option>
              {campaigns.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field
        label={m.emails_filter_campaign_id()}
        name="value"
        defaultValue={search.campaignId}
        maxLength={36}
        autoComplete="off"
      />
    </EditorForm>
  );
}

/** The field `value` of an editor with a button to apply it. It is in a portal: no form within a form. */
function EditorForm({ onSubmit, children }: { onSubmit: (value: string) => void; children: ReactNode }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // React lets events of a portal rise to the search form.
    event.stopPropagation();
    onSubmit(String(new FormData(event.currentTarget).get("value") ?? "").trim());
  };
  return (
    <form className="form" onSubmit={submit}>
      {children}
      <div className="dialog-actions">
        <Button kind="primary" size="small" type="submit">
          {m.emails_apply()}
        </Button>
      </div>
    </form>
  );
}

function Done({ onDone }: { onDone: () => void }) {
  return (
    <div className="dialog-actions">
      <Button size="small" onClick={onDone}>
        {m.emails_done()}
      </Button>
    </div>
  );
}
