import "./contacts.css";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ListPage } from "../../lists/ListPage";
import type { Neighbours } from "../../lists/neighbours";
import { m } from "../../messages/messages.js";
import type { ApiRequest } from "../../parts/request";
import { useProjectId } from "../../session/profile";

export type Tab = "contacts" | "audiences" | "imports";

/** The frame of the lists about contacts: title, actions, tabs, the list, and the panel beside it. */
export function Frame({
  tab,
  request,
  onExport,
  actions,
  neighbours,
  panel,
  children,
}: {
  tab: Tab;
  /** What the list shows, for "Copy as curl". */
  request: ApiRequest;
  onExport?: (() => Promise<void>) | undefined;
  actions?: ReactNode;
  neighbours: Neighbours;
  /** What is open beside the list. */
  panel?: ReactNode;
  children: ReactNode;
}) {
  return (
    <ListPage
      title={m.contacts()}
      name="contacts"
      request={request}
      onExport={onExport}
      exportTitle={m.contacts_export_title()}
      actions={actions}
      tabs={<Tabs current={tab} />}
      neighbours={neighbours}
      panel={panel}
    >
      {children}
    </ListPage>
  );
}

/** The tabs of the entry. */
export function Tabs({ current }: { current: Tab }) {
  const projectId = useProjectId();
  return (
    <nav className="tabs" aria-label={m.contacts_tabs()}>
      <Link
        to="/projects/$projectId/contacts"
        params={{ projectId }}
        activeOptions={{ exact: true, includeSearch: false }}
        aria-current={current === "contacts" ? "page" : undefined}
      >
        {m.contacts()}
      </Link>
      <Link
        to="/projects/$projectId/contacts/audiences"
        params={{ projectId }}
        activeOptions={{ includeSearch: false }}
      >
        {m.contacts_audiences()}
      </Link>
      <Link to="/projects/$projectId/contacts/imports" params={{ projectId }} activeOptions={{ includeSearch: false }}>
        {m.contacts_imports()}
      </Link>
    </nav>
  );
}
