import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Audience } from "@postern/sdk";
import { IconDots } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useNeighbours } from "../../lists/neighbours";
import { Panel, PanelTabs } from "../../lists/Panel";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { count, longTime } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, Time } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { AddPeople, RenameAudience } from "./AudienceDialogs";
import { useAudiences } from "./queries";
import { type Group, isGroup, treeOf } from "./rules";
import { conditionWords, KINDS, type Names } from "./ruleWords";
import { SubscriptionStatus } from "./values";

const page = getRouteApi("/session/projects/$projectId/contacts/audiences/$audienceId");
/** Members that the panel shows; the list of contacts has all. */
const NEWEST_MEMBERS = 20;

type Dialog = "add" | "rename" | "freeze" | "delete";

/** One audience beside the list. */
export function AudiencePanel() {
  const projectId = useProjectId();
  const { audienceId = "" } = useParams({ strict: false });
  const { tab } = page.useSearch();
  const { close, patch } = useNeighbours();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const [dialog, setDialog] = useState<Dialog>();
  const query = useQuery({
    queryKey: ["audience", projectId, audienceId],
    queryFn: ({ signal }) => api(projectId).audiences.get(audienceId, { signal }),
    // Changed records come with their ETag.
    structuralSharing: false,
  });
  const path = `/projects/${projectId}/audiences/${audienceId}`;
  usePageRequest({
    method: "GET",
    path: tab === "rules" ? path : `${path}/contacts${queryString({ limit: NEWEST_MEMBERS })}`,
  });
  const audience = query.data;
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ["audience", projectId, audienceId] });
    void client.invalidateQueries({ queryKey: ["contacts", projectId] });
  };
  if (query.isError)
    return (
      <Panel label={m.contacts_audience()} actions={null}>
        {query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.contacts_no_audience()} lead={m.contacts_no_audience_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </Panel>
    );
  if (!audience)
    return (
      <Panel label={m.contacts_audience()} actions={null} busy>
        {null}
      </Panel>
    );
  const isDynamic = audience.type === "DYNAMIC";
  const recompute = async () => {
    try {
      const { added, removed } = await api(projectId).audiences.recompute(audience.id);
      notifications.show({ message: m.contacts_recomputed({ added: count(added), removed: count(removed) }) });
      refresh();
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
  };
  const rules = {
    to: "/projects/$projectId/contacts/audiences/$audienceId/rules",
    params: { projectId, audienceId },
  } as const;
  return (
    <Panel
      label={audience.name}
      actions={
        mayWrite && (
          <>
            {isDynamic ? (
              <Link className="btn small" {...rules}>
                {m.contacts_edit_rules()}
              </Link>
            ) : (
              <Button size="small" onClick={() => setDialog("add")}>
                {m.contacts_add_people()}
              </Button>
            )}
            <Menu position="bottom-end" width={260}>
              <Menu.Target>
                <button className="iconbtn small" type="button" aria-label={m.contacts_more_actions()}>
                  <IconDots {...ICON} />
                </button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => setDialog("rename")}>{m.contacts_rename()}</Menu.Item>
                {isDynamic ? (
                  <>
                    <Menu.Item onClick={() => void recompute()}>{m.contacts_recompute()}</Menu.Item>
                    <Menu.Item onClick={() => setDialog("freeze")}>{m.contacts_freeze()}</Menu.Item>
                  </>
                ) : (
                  <Menu.Item renderRoot={(props) => <Link {...props} {...rules} />}>
                    {m.contacts_fill_by_rules()}
                  </Menu.Item>
                )}
                <Menu.Item className="contacts-danger" onClick={() => setDialog("delete")}>
                  {m.contacts_delete_audience()}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
        )
      }
    >
      <header className="subject">
        <h2>{audience.name}</h2>
        <dl className="facts">
          <dt>{m.contacts_filled()}</dt>
          <dd>{KINDS[isDynamic ? "DYNAMIC" : "STATIC"]()}</dd>
          <dt>{m.contacts_created()}</dt>
          <dd>
            <Time at={audience.createdAt} format={longTime} />
          </dd>
          <dt>{m.contacts_id()}</dt>
          <dd className="id">
            <code className="cut">{audience.id}</code>
            <Copy value={audience.id} />
          </dd>
        </dl>
      </header>
      <PanelTabs
        tabs={[
          [undefined, m.contacts_members()],
          ["rules", m.contacts_rules()],
        ]}
      />
      {tab === "rules" ? <RulesInWords audience={audience} /> : <Members audience={audience} />}
      {dialog === "add" && <AddPeople audience={audience} onClose={() => setDialog(undefined)} onAdded={refresh} />}
      {dialog === "rename" && (
        <RenameAudience
          audience={audience}
          onClose={() => setDialog(undefined)}
          onRenamed={(next) => {
            client.setQueryData(["audience", projectId, audienceId], next);
            refresh();
          }}
        />
      )}
      {dialog === "freeze" && (
        <ConfirmDialog
          title={m.contacts_freeze_title({ name: audience.name })}
          deed={m.contacts_freeze_deed()}
          onClose={() => setDialog(undefined)}
          run={async () => {
            await api(projectId).audiences.update(audience.id, { type: "STATIC" }, { ifMatch: audience });
            refresh();
          }}
        >
          <p>{m.contacts_freeze_lead()}</p>
        </ConfirmDialog>
      )}
      {dialog === "delete" && (
        <ConfirmDialog
          title={m.contacts_delete_audience_title({ name: audience.name })}
          deed={m.contacts_delete_audience()}
          onClose={() => setDialog(undefined)}
          run={async () => {
            await api(projectId).audiences.delete(audience.id);
            patch(audience.id, undefined);
            void client.invalidateQueries({ queryKey: ["contacts", projectId, "audience-names"] });
            notifications.show({ message: m.contacts_audience_deleted({ name: audience.name }) });
            close();
          }}
        >
          <p>{m.contacts_delete_audience_lead()}</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function Members({ audience }: { audience: Audience }) {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["contacts", projectId, "members", audience.id],
    queryFn: ({ signal }) => api(projectId).audiences.contacts.list(audience.id, { limit: NEWEST_MEMBERS }, { signal }),
  });
  if (query.isError) return <LoadingFailed error={query.error} onRetry={query.refetch} />;
  if (!query.data) return null;
  const { data, total = 0 } = query.data;
  if (data.length === 0)
    return (
      <Empty
        title={m.contacts_audience_empty()}
        lead={audience.type === "DYNAMIC" ? m.contacts_nobody_matches() : m.contacts_nobody_added()}
      />
    );
  return (
    <section className="part" aria-label={m.contacts_members()}>
      <p className="figure">{total === 1 ? m.contacts_total_one() : m.contacts_total({ count: count(total) })}</p>
      <ul className="list">
        {data.map((each) => (
          <li key={each.id}>
            <span className="grow cut">
              <Link to="/projects/$projectId/contacts/$contactId" params={{ projectId, contactId: each.id }}>
                {each.email}
              </Link>
            </span>
            <SubscriptionStatus contact={each} />
          </li>
        ))}
      </ul>
      <p>
        <Link to="/projects/$projectId/contacts" params={{ projectId }} search={{ audience: audience.id }}>
          {m.contacts_show_members()}
        </Link>
      </p>
    </section>
  );
}

function RulesInWords({ audience }: { audience: Audience }) {
  const { audiences } = useAudiences();
  const names = useMemo(() => new Map(audiences.map((each) => [each.id, each.name])), [audiences]);
  if (!audience.rules) return <Empty title={m.contacts_no_rules()} lead={m.contacts_by_hand_lead()} />;
  const read = treeOf(audience.rules);
  return (
    <section className="part" aria-label={m.contacts_rules()}>
      {"tree" in read ? (
        <GroupInWords group={read.tree} names={names} />
      ) : (
        <pre className="code">{JSON.stringify(audience.rules, null, 2)}</pre>
      )}
    </section>
  );
}

function GroupInWords({ group, names }: { group: Group; names: Names }) {
  if (group.nodes.length === 0)
    return <p>{group.match === "all" ? m.contacts_rule_everybody() : m.contacts_rule_nobody()}</p>;
  return (
    <div className="inwords">
      <p className="muted">{group.match === "all" ? m.contacts_words_all() : m.contacts_words_any()}</p>
      <ul>
        {group.nodes.map((node) => (
          <li key={node.key}>
            {isGroup(node) ? <GroupInWords group={node} names={names} /> : conditionWords(node, names)}
          </li>
        ))}
      </ul>
    </div>
  );
}
