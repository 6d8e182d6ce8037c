import { Menu } from "@mantine/core";
import { useThrottledCallback } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconCalendar, IconChevronDown, IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, ICON, LoadingFailed } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { EMAIL_EVENTS, useLive } from "../../session/live";
import { useProjectId } from "../../session/profile";
import { queries } from "../../session/queries";
import { api, messageOf } from "../../session/server";
import { useTour } from "../../tour/state";
import { Attention, useAttention } from "./Attention";
import { FirstSteps, type Step, StepDialog, useSteps, useStepsHidden } from "./FirstSteps";
import { MailSection } from "./MailSection";
import { Onboarding } from "./Onboarding";
import { addDays, dayOf, RANGES, type Range } from "./period";
import { mailQuery, recentQuery, totalsQuery, ZONE } from "./queries";
import { Customers, Reputation } from "./Standing";
import { DEFAULT_RANGE, type OverviewSearch, useOverviewSearch } from "./search";
import "./overview.css";

/** The overview of a project; before its first e-mail, how to send that. */
export function Overview() {
  const projectId = useProjectId();
  return <OverviewOf key={projectId} projectId={projectId} />;
}

function OverviewOf({ projectId }: { projectId: string }) {
  const recent = useQuery(recentQuery(projectId));
  const isEmpty = recent.data && recent.data.data.length === 0;
  // The log forgets old e-mails, the counters do not.
  const totals = useQuery({ ...totalsQuery(projectId), enabled: isEmpty === true });
  const neverSent = isEmpty && totals.isSuccess ? totals.data.sends.total === 0 : isEmpty === false ? false : undefined;
  // The first e-mail does not replace the page on which someone waits for it.
  const [starting, setStarting] = useState<boolean>();
  if (starting === undefined && neverSent !== undefined) setStarting(neverSent);
  const failed = [recent, totals].find((each) => each.isError && !each.data);
  if (starting === undefined && failed) {
    return (
      <main id="main" className="page overview">
        <div className="head">
          <h1>{m.overview()}</h1>
        </div>
        <LoadingFailed title={m.page_failed()} error={failed.error} onRetry={() => void failed.refetch()} />
      </main>
    );
  }
  if (starting) return <Onboarding projectId={projectId} onDone={() => setStarting(false)} />;
  if (starting === undefined) return <main id="main" className="page overview" aria-busy="true" />;
  return <Numbers projectId={projectId} />;
}

/** Milliseconds between two readings of the figures while events arrive. */
const LIVE_MS = 3_000;

function Numbers({ projectId }: { projectId: string }) {
  const { range = DEFAULT_RANGE } = useOverviewSearch();
  const period = useQuery(mailQuery(projectId, range)).data?.period ?? periodOf(range);
  const { settled, ...attention } = useAttention(projectId, range);
  // What is below the list comes with it: it would jump by every line of the list that arrives.
  const [listed, setListed] = useState(false);
  if (!listed && settled) setListed(true);
  const steps = useSteps(projectId);
  const [hidden, hide] = useStepsHidden(projectId);
  const [step, setStep] = useState<Step>();
  const readAgain = useThrottledCallback(
    () => void queries.invalidateQueries({ queryKey: ["overview", projectId] }),
    LIVE_MS,
  );
  useLive(projectId, EMAIL_EVENTS, readAgain);
  // While the tour leads through its stops, it is the only list of things to do.
  const { isOn } = useTour();
  const showSteps = !hidden && !isOn && !steps?.every((each) => each.done);
  usePageRequest({
    method: "GET",
    path: `/projects/${projectId}/analytics/time-series${queryString(period)}`,
  });
  return (
    <main id="main" className="page overview" aria-busy={!listed}>
      <div className="head">
        <h1>{m.overview()}</h1>
        <div className="acts">
          <Choices
            label={m.overview_last_days({ days: range })}
            icon={<IconCalendar {...ICON} />}
            choices={RANGES.map((each) => ({
              name: m.overview_last_days({ days: each }),
              search: { range: each === DEFAULT_RANGE ? undefined : each },
              chosen: each === range,
            }))}
          />
          <IntervalMenu range={range} />
          <ExportButton projectId={projectId} period={period} />
        </div>
      </div>
      <div className="split top">
        <Attention {...attention} projectId={projectId} onTransport={() => setStep("transport")} />
        {showSteps && <FirstSteps steps={steps} onStep={setStep} onHide={hide} />}
      </div>
      <MailSection projectId={projectId} range={range} />
      <div className="split lower">
        <Reputation projectId={projectId} range={range} />
        <Customers projectId={projectId} range={range} />
      </div>
      <StepDialog step={step} projectId={projectId} onClose={() => setStep(undefined)} />
    </main>
  );
}

function periodOf(range: Range) {
  const today = dayOf(new Date());
  return { from: addDays(today, 1 - range), to: today, timezone: ZONE };
}

interface Choice {
  name: string;
  search: OverviewSearch;
  chosen: boolean;
}

/** A menu whose entries are addresses of this page. */
function Choices({
  label,
  icon,
  choices,
  className = "",
}: {
  label: string;
  icon?: ReactNode;
  choices: Choice[];
  className?: string;
}) {
  return (
    <Menu position="bottom-end" width={180} withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button icon={icon} className={className}>
          {label}
          <IconChevronDown {...ICON} className="i end" />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map(({ name, search, chosen }) => (
          <Menu.Item
            key={name}
            renderRoot={(props) => (
              <Link
                {...props}
                role="menuitemradio"
                aria-checked={chosen}
                to="."
                search={(before: OverviewSearch) => ({ ...before, ...search })}
                activeOptions={{ exact: true }}
                replace
                resetScroll={false}
              />
            )}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** By day or by week. A range of seven days has no weeks to compare. */
function IntervalMenu({ range }: { range: Range }) {
  const { by = "day" } = useOverviewSearch();
  if (range === 7) return null;
  return (
    <Choices
      className="wide"
      label={by === "week" ? m.overview_by_week() : m.overview_by_day()}
      choices={[
        { name: m.overview_by_day(), search: { by: undefined }, chosen: by === "day" },
        { name: m.overview_by_week(), search: { by: "week" }, chosen: by === "week" },
      ]}
    />
  );
}

interface Period {
  from: string;
  to: string;
  timezone: string;
}

/** Downloads the numbers of the chart as CSV. */
function ExportButton({ projectId, period }: { projectId: string; period: Period }) {
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const csv = await api(projectId).analytics.export(period);
      const url = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = `analytics-${period.from}-${period.to}.csv`;
      link.click();
      URL.revokeObjectURL(url);
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button className="wide" icon={<IconDownload {...ICON} />} busy={busy} onClick={() => void download()}>
      {m.export()}
    </Button>
  );
}
