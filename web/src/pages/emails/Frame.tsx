import "./emails.css";
import { IconDownload, IconSend, IconTerminal2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { createContext, lazy, type ReactNode, Suspense, use, useCallback, useMemo, useState } from "react";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, ICON } from "../../parts/parts";
import { type ApiRequest, copyCurl, usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";

const SendTest = lazy(() => import("./SendTest"));

/** What the panel beside a list needs to know of the list. */
interface Neighbours {
  above: (() => void) | undefined;
  below: (() => void) | undefined;
  close: () => void;
  /** The list's own copy of what is open, to show until all of it is read. */
  row: unknown;
  /** Change the row of the list, or remove it with `undefined`. */
  patch: (id: string, row: unknown) => void;
}

const NeighboursContext = createContext<Neighbours>({
  above: undefined,
  below: undefined,
  close: () => {},
  row: undefined,
  patch: () => {},
});

export function useNeighbours(): Neighbours {
  return use(NeighboursContext);
}

const TestContext = createContext<() => void>(() => {});

/** A function that opens the dialog to send a test. */
export function useSendTest(): () => void {
  return use(TestContext);
}

/** The rows around the one that is open, for the panel. */
export function useNeighboursOf<T extends { id: string }>(
  rows: T[],
  openId: string | undefined,
  open: (row: T) => void,
  close: () => void,
  patch: (id: string, row: T | undefined) => void,
): Neighbours {
  return useMemo(() => {
    const index = openId ? rows.findIndex((each) => each.id === openId) : -1;
    const to = (at: number) => {
      const row = index < 0 ? undefined : rows[at];
      return row && (() => open(row));
    };
    return {
      above: to(index - 1),
      below: to(index + 1),
      close,
      row: rows[index],
      patch: patch as (id: string, row: unknown) => void,
    };
  }, [rows, openId, open, close, patch]);
}

type Tab = "log" | "scheduled" | "inbox" | "suppressions";

/** The frame of the four pages about e-mails: title, actions, tabs, the list, and the panel beside it. */
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
  const [isExporting, setExporting] = useState(false);
  const mayWrite = useMayWrite();
  const openTest = useCallback(() => setTesting(true), []);
  const runExport = async () => {
    setExporting(true);
    await onExport?.().finally(() => setExporting(false));
  };
  return (
    <TestContext value={openTest}>
      <NeighboursContext value={neighbours}>
        <main id="main" className="page emails" data-panel={panel ? "open" : "closed"}>
          <div className="listing">
            <div className="head">
              <h1>{m.emails()}</h1>
              <div className="acts">
                <button
                  className="iconbtn wide"
                  type="button"
                  aria-label={m.emails_copy_list()}
                  title={m.emails_copy_list()}
                  onClick={() => void copyCurl(request)}
                >
                  <IconTerminal2 {...ICON} />
                </button>
                {onExport && (
                  <button
                    className="iconbtn wide"
                    type="button"
                    aria-label={m.export()}
                    title={m.emails_export_title()}
                    aria-busy={isExporting || undefined}
                    disabled={isExporting}
                    onClick={() => void runExport()}
                  >
                    <IconDownload {...ICON} />
                  </button>
                )}
                {mayWrite && (
                  <Button kind="primary" icon={<IconSend {...ICON} />} onClick={openTest}>
                    {m.emails_send_test()}
                  </Button>
                )}
              </div>
            </div>
            <Tabs current={tab} />
            {children}
          </div>
          {panel || <PageRequest request={request} />}
        </main>
        {isTesting && (
          <Suspense>
            <SendTest onClose={() => setTesting(false)} />
          </Suspense>
        )}
      </NeighboursContext>
    </TestContext>
  );
}

/** While a panel is open, the page's request is that of the panel. */
function PageRequest({ request }: { request: ApiRequest }) {
  usePageRequest(request);
  return null;
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
      <Link {...link} to="/projects/$projectId/emails/suppressions">
        {m.emails_tab_suppressions()} {suppressed ? <span className="count">{count(suppressed)}</span> : null}
      </Link>
    </nav>
  );
}
