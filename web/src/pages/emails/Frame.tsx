import "./emails.css";
import { IconSend } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { createContext, lazy, type ReactNode, Suspense, use, useCallback, useState } from "react";
import { ListPage } from "../../lists/ListPage";
import type { Neighbours } from "../../lists/neighbours";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, ICON } from "../../parts/parts";
import type { ApiRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";

const SendTest = lazy(() => import("./SendTest"));

const TestContext = createContext<() => void>(() => {});

/** A function that opens the dialog to send a test. */
export function useSendTest(): () => void {
  return use(TestContext);
}

type Tab = "log" | "scheduled" | "inbox" | "received" | "sites" | "suppressions";

/** The frame of the pages about e-mails: title, actions, tabs, the list, and the panel beside it. */
export function Frame({
  tab,
  request,
  onExport,
  neighbours,
  panel,
  children,
}: {
  tab: Tab;
  /** What the list shows, for "Copy as curl". */
  request: ApiRequest;
  onExport?: () => Promise<void>;
  neighbours: Neighbours;
  /** What is open beside the list. */
  panel?: ReactNode;
  children: ReactNode;
}) {
  const [isTesting, setTesting] = useState(false);
  const mayWrite = useMayWrite();
  const openTest = useCallback(() => setTesting(true), []);
  return (
    <TestContext value={openTest}>
      <ListPage
        title={m.emails()}
        name="emails"
        request={request}
        onExport={onExport}
        exportTitle={m.emails_export_title()}
        actions={
          mayWrite && (
            <Button kind="primary" icon={<IconSend {...ICON} />} onClick={openTest}>
              {m.emails_send_test()}
            </Button>
          )
        }
        tabs={<Tabs current={tab} />}
        neighbours={neighbours}
        panel={panel}
      >
        {children}
      </ListPage>
      {isTesting && (
        <Suspense>
          <SendTest onClose={() => setTesting(false)} />
        </Suspense>
      )}
    </TestContext>
  );
}

/** Milliseconds between two looks at the numbers beside the tabs. */
const COUNTS_MS = 60_000;

/** Numbers beside the tabs: how many e-mails are scheduled, how many addresses suppressed. */
function useCounts(): { scheduled: number | undefined; suppressed: number | undefined } {
  const projectId = useProjectId();
  const scheduled = useQuery({
    queryKey: ["emails", projectId, "count", "scheduled"],
    queryFn: async ({ signal }) =>
      (await api(projectId).emails.list({ status: ["SCHEDULED"], limit: 1 }, { signal })).total ?? 0,
    refetchInterval: COUNTS_MS,
  });
  const suppressed = useQuery({
    queryKey: ["emails", projectId, "count", "suppressed"],
    queryFn: async ({ signal }) => (await api(projectId).suppressions.list({ limit: 1 }, { signal })).total ?? 0,
    refetchInterval: COUNTS_MS,
  });
  return { scheduled: scheduled.data, suppressed: suppressed.data };
}

function Tabs({ current }: { current: Tab }) {
  const projectId = useProjectId();
  const { scheduled, suppressed } = useCounts();
  const link = { params: { projectId }, activeOptions: { includeSearch: false } };
  return (
    <nav className="tabs" aria-label={m.emails_tabs()}>
      {/* The log is also the parent of every e-mail that is open, but not of the other tabs. */}
      <Link
        to="/projects/$projectId/emails"
        params={{ projectId }}
        activeOptions={{ exact: true, includeSearch: false }}
        aria-current={current === "log" ? "page" : undefined}
      >
        {m.emails_tab_log()}
      </Link>
      <Link {...link} to="/projects/$projectId/emails/scheduled">
        {m.emails_tab_scheduled()} {scheduled ? <span className="count">{count(scheduled)}</span> : null}
      </Link>
      <Link {...link} to="/projects/$projectId/emails/inbox">
        {m.emails_tab_inbox()}
      </Link>
      <Link {...link} to="/projects/$projectId/emails/received">
        {m.received_tab()}
      </Link>
      <Link {...link} to="/projects/$projectId/emails/sites">
        {m.sites_tab()}
      </Link>
      <Link {...link} to="/projects/$projectId/emails/suppressions">
        {m.emails_tab_suppressions()} {suppressed ? <span className="count">{count(suppressed)}</span> : null}
      </Link>
    </nav>
  );
}
