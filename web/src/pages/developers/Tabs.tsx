import "./developers.css";
import { Link } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { useProjectId } from "../../session/profile";

export type Tab = "keys" | "webhooks" | "events" | "api";

/** The tabs of the pages for developers. */
export function Tabs({ current }: { current: Tab }) {
  const projectId = useProjectId();
  const link = { params: { projectId }, activeOptions: { exact: true, includeSearch: false } };
  const mark = (tab: Tab) => (tab === current ? "page" : undefined);
  return (
    <nav className="tabs" aria-label={m.developers_tabs()}>
      <Link {...link} to="/projects/$projectId/developers" aria-current={mark("keys")}>
        {m.developers_tab_keys()}
      </Link>
      <Link {...link} to="/projects/$projectId/developers/webhooks" aria-current={mark("webhooks")}>
        {m.developers_tab_webhooks()}
      </Link>
      <Link {...link} to="/projects/$projectId/developers/events" aria-current={mark("events")}>
        {m.developers_tab_events()}
      </Link>
      <Link {...link} to="/projects/$projectId/developers/api" aria-current={mark("api")}>
        {m.developers_tab_api()}
      </Link>
    </nav>
  );
}
