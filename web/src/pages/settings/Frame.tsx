import "./settings.css";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { ListPage } from "../../lists/ListPage";
import type { Neighbours } from "../../lists/neighbours";
import { m } from "../../messages/messages.js";
import type { ApiRequest } from "../../parts/request";
import { useProjectId } from "../../session/profile";

const PARTS = [
  {
    title: m.settings_group_project,
    parts: [{ to: "/projects/$projectId/settings", label: m.settings_general }],
  },
  {
    title: m.settings_group_account,
    parts: [
      { to: "/projects/$projectId/settings/team", label: m.settings_team },
      { to: "/projects/$projectId/settings/plan", label: m.settings_plan },
      { to: "/projects/$projectId/settings/audit-log", label: m.settings_audit },
      { to: "/projects/$projectId/settings/data", label: m.settings_data },
    ],
  },
  {
    title: m.settings_group_you,
    parts: [{ to: "/projects/$projectId/settings/profile", label: m.settings_profile }],
  },
  {
    title: m.settings_group_server,
    parts: [{ to: "/projects/$projectId/settings/instance", label: m.settings_instance }],
  },
] as const;

const ALONE: Neighbours = { above: undefined, below: undefined, close: () => {}, row: undefined, patch: () => {} };

/** The frame of all parts of the settings: the menu of the parts, and the open part with its title. */
export function Frame({
  name,
  title,
  lead,
  request,
  onExport,
  exportTitle,
  actions,
  neighbours = ALONE,
  panel,
  children,
}: {
  /** A class of the part. */
  name: string;
  title: string;
  /** One sentence about what is here. */
  lead: ReactNode;
  /** What the part shows, for "Copy as curl". */
  request: ApiRequest;
  onExport?: () => Promise<void>;
  exportTitle?: string;
  actions?: ReactNode;
  neighbours?: Neighbours;
  panel?: ReactNode;
  children: ReactNode;
}) {
  return (
    <ListPage
      title={m.settings()}
      name={`settings ${name}`}
      request={request}
      onExport={onExport}
      exportTitle={exportTitle}
      actions={actions}
      tabs={<Parts />}
      neighbours={neighbours}
      panel={panel}
    >
      <div className="part">
        <header className="parthead">
          <h2>{title}</h2>
          <p className="muted">{lead}</p>
        </header>
        {children}
      </div>
    </ListPage>
  );
}

function Parts() {
  const projectId = useProjectId();
  const nav = useRef<HTMLElement>(null);
  // As tabs, they are wider than a phone: the open part must be in sight.
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && current) nav.current.scrollLeft = current.offsetLeft - nav.current.clientWidth / 3;
  }, []);
  return (
    <nav className="parts" aria-label={m.settings_parts()} ref={nav}>
      {PARTS.map(({ title, parts }) => (
        <div key={parts[0].to}>
          <p className="grp">{title()}</p>
          <ul>
            {parts.map(({ to, label }) => (
              <li key={to}>
                <Link
                  to={to}
                  params={{ projectId }}
                  activeOptions={{ exact: to === "/projects/$projectId/settings", includeSearch: false }}
                >
                  {label()}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
