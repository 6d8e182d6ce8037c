import "./automations.css";
import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Automation, type ProblemError } from "@postern/sdk";
import { IconDots, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { ListPage } from "../../lists/ListPage";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Pill } from "../../parts/parts";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useLive } from "../../session/live";
import { useMayWrite, useProfile, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { DryRunDialog } from "./DryRun";
import { AUTOMATION_EVENTS, automationQuery, type Choices, totalsQuery, useChoices } from "./queries";
import { RunPanel, Runs, useRunList } from "./Runs";
import type { AutomationSearch, Tab } from "./routes";
import { Settings } from "./Settings";
import { StepList } from "./StepList";
import { type Content, contentOf, flattened, stepAt } from "./steps";
import { dropDraft, keptDraft } from "./useDraft";
import { stepWords, triggerWords } from "./words";

const page = getRouteApi("/session/projects/$projectId/automations/$automationId");

/** One automation: its state, its steps with the runs at each, its runs, and its settings. */
export function AutomationPage() {
  const projectId = useProjectId();
  const { automationId } = page.useParams();
  const query = useQuery(automationQuery(projectId, automationId));
  if (query.isError && !query.data)
    return (
      <main id="main" className="page automation">
        {query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.automations_missing()} lead={m.automations_missing_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </main>
    );
  if (!query.data)
    return (
      <main id="main" className="page automation" aria-busy="true">
        <i className="skel" style={{ width: 240, height: 24 }} />
      </main>
    );
  return <Loaded key={automationId} automation={query.data} />;
}

function Loaded({ automation }: { automation: Automation }) {
  const projectId = useProjectId();
  const { id, name, active } = automation;
  const search = page.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const choices = useChoices();
  const content = useMemo(() => contentOf(automation as never), [automation]);
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<ProblemError[]>();
  const [isDeleting, setDeleting] = useState(false);
  const draftName = `${useProfile().id}.${id}`;
  const [hasDraft, setHasDraft] = useState(() => keptDraft(draftName) !== undefined);
  const runs = useRunList(automation, search.tab === "runs");
  const path = `/projects/${projectId}/automations/${id}`;
  const reload = () => client.invalidateQueries({ queryKey: ["automations", projectId] });
  useLive(projectId, AUTOMATION_EVENTS, () => void reload());
  const setSearch = (next: AutomationSearch) =>
    void navigate({ to: ".", search: next as never, replace: true, resetScroll: false });

  const toggle = async () => {
    if (isBusy) return;
    setBusy(true);
    setProblems(undefined);
    try {
      const changed = await api(projectId).automations.setActive(id, { active: !active }, { ifMatch: automation });
      client.setQueryData(automationQuery(projectId, id).queryKey, changed);
      notifications.show({
        message: changed.active ? m.automations_activated({ name }) : m.automations_deactivated({ name }),
      });
      void reload();
    } catch (error) {
      if (error instanceof APIError && error.status === 412) {
        notifications.show({ message: m.automations_changed_meanwhile() });
        void reload();
      } else if (error instanceof APIError && error.errors.length) setProblems(error.errors);
      else notifications.show({ message: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  const duplicate = async () => {
    try {
      const { trigger, steps, maxRunsPerHour, allowLoops } = automation;
      const copy = await api(projectId).automations.create({
        name: m.automations_copy_of({ name }).slice(0, 200),
        trigger: trigger as never,
        steps: steps as never,
        maxRunsPerHour,
        allowLoops,
      });
      void reload();
      await navigate({
        to: "/projects/$projectId/automations/$automationId",
        params: { projectId, automationId: copy.id },
      });
      notifications.show({ message: m.automations_duplicated({ name: copy.name }) });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
  };
  const tabs: [Tab | undefined, string][] = [
    [undefined, m.automations_steps()],
    ["runs", m.automations_runs()],
    ["settings", m.automations_settings()],
  ];
  return (
    <ListPage
      title={name}
      name="automation"
      crumb={
        <Link to="/projects/$projectId/automations" params={{ projectId }} activeOptions={{ exact: true }}>
          {m.automations()}
        </Link>
      }
      state={
        <Pill shape={active ? "yes" : "off"} tone={active ? "good" : ""}>
          {active ? m.automations_active() : m.automations_inactive()}
        </Pill>
      }
      request={search.tab === "runs" ? { method: "GET", path: `${path}/runs` } : { method: "GET", path }}
      neighbours={runs.neighbours}
      actions={
        <>
          <Button icon={<IconPlayerPlay {...ICON} />} onClick={() => setSearch({ ...search, dry: "1" })}>
            {m.automations_dry()}
          </Button>
          {mayWrite && (
            <>
              <Link
                className="btn"
                to="/projects/$projectId/automations/$automationId/edit"
                params={{ projectId, automationId: id }}
              >
                {m.automations_edit()}
              </Link>
              <Button kind={active ? "" : "primary"} busy={isBusy} onClick={() => void toggle()}>
                {active ? m.automations_deactivate() : m.automations_activate()}
              </Button>
              <Menu
                position="bottom-end"
                width={220}
                portalProps={{ target: "#menus" }}
                withInitialFocusPlaceholder={false}
              >
                <Menu.Target>
                  <button className="btn more" type="button" aria-label={m.automations_more()}>
                    <IconDots {...ICON} />
                  </button>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item onClick={() => void duplicate()}>{m.automations_duplicate()}</Menu.Item>
                  <Menu.Divider />
                  <Menu.Item className="danger" onClick={() => setDeleting(true)}>
                    {m.automations_delete()}
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            </>
          )}
        </>
      }
      tabs={
        <nav className="tabs" aria-label={m.list_parts()}>
          {tabs.map(([tab, label]) => (
            <Link
              key={label}
              to="."
              search={(tab ? { tab } : {}) as never}
              replace
              resetScroll={false}
              activeOptions={{ exact: true, explicitUndefined: true }}
              aria-current={tab === search.tab ? "page" : undefined}
            >
              {label}
            </Link>
          ))}
        </nav>
      }
      panel={
        search.tab === "runs" && search.run ? (
          <RunPanel automation={automation} runId={search.run} content={content} choices={choices} />
        ) : undefined
      }
    >
      {problems && (
        <section className="problems" role="alert" aria-label={m.automations_incomplete()}>
          <h2>
            <Glyph shape="attention" /> {m.automations_incomplete()}
          </h2>
          <ul>
            {problems.map((problem) => (
              <li key={problem.path + problem.message}>
                <Problem problem={problem} automation={automation} content={content} choices={choices} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {hasDraft && mayWrite && (
        <p className="note">
          <Glyph shape="waiting" />
          <span>
            {m.automations_has_draft()}{" "}
            <Link to="/projects/$projectId/automations/$automationId/edit" params={{ projectId, automationId: id }}>
              {m.automations_continue()}
            </Link>{" "}
            <button
              type="button"
              className="linkbtn"
              onClick={() => {
                dropDraft(draftName);
                setHasDraft(false);
              }}
            >
              {m.automations_discard()}
            </button>
          </span>
        </p>
      )}
      {search.tab === "runs" ? (
        <Runs list={runs} automation={automation} content={content} />
      ) : search.tab === "settings" ? (
        <Settings automation={automation} content={content} />
      ) : (
        <Steps automation={automation} content={content} choices={choices} />
      )}
      {search.dry && (
        <DryRunDialog
          automation={automation}
          content={content}
          choices={choices}
          onClose={() => {
            const { dry: _, ...others } = search;
            setSearch(others);
          }}
        />
      )}
      {isDeleting && (
        <TypedConfirm
          title={m.automations_delete_title({ name })}
          name={name}
          deed={m.automations_delete()}
          onClose={() => setDeleting(false)}
          run={async () => {
            await api(projectId).automations.delete(id);
            dropDraft(draftName);
            notifications.show({ message: m.automations_deleted({ name }) });
            await navigate({ to: "/projects/$projectId/automations", params: { projectId } });
            client.removeQueries({ queryKey: automationQuery(projectId, id).queryKey });
            void reload();
          }}
        >
          <p>{m.automations_delete_lead()}</p>
        </TypedConfirm>
      )}
    </ListPage>
  );
}

/** What prevents the activation, with a link to its field. */
function Problem({
  problem: { path, message },
  automation,
  content,
  choices,
}: {
  problem: ProblemError;
  automation: Automation;
  content: Content;
  choices: Choices;
}) {
  const projectId = useProjectId();
  const found = stepAt(content.steps, path);
  return (
    <>
      <Link
        to="/projects/$projectId/automations/$automationId/edit"
        params={{ projectId, automationId: automation.id }}
        search={{ at: path }}
      >
        {message}
      </Link>
      {found && <span className="muted small"> {stepWords(found.step, choices)}</span>}
    </>
  );
}

function Steps({ automation, content, choices }: { automation: Automation; content: Content; choices: Choices }) {
  const projectId = useProjectId();
  const { data, error, refetch } = useQuery(totalsQuery(projectId, automation.id));
  const indexes = useMemo(
    () => new Map(flattened(content.steps).map(({ step, index }) => [step.id, index])),
    [content.steps],
  );
  const { version, trigger } = { version: automation.version, trigger: content.trigger };
  const at = new Map(data?.positions.filter((each) => each.version === version).map((each) => [each.step, each.runs]));
  const sum = (isOld: boolean) =>
    (data?.positions ?? [])
      .filter((each) => each.version < version === isOld)
      .reduce((total, each) => total + each.runs, 0);
  const earlier = sum(true);
  const running = earlier + sum(false);
  const totals = data?.totals;
  const figures: [string, number | undefined][] = [
    [m.automations_started(), totals?.totalRuns],
    [m.automations_running(), data && running],
    [m.automations_completed(), totals?.completed],
    [m.automations_failed(), totals?.failed],
  ];
  return (
    <>
      {error && !data ? (
        <LoadingFailed error={error} onRetry={refetch} />
      ) : (
        <dl className="figures">
          {figures.map(([label, number]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{number === undefined ? <i className="skel" style={{ width: 40 }} /> : count(number)}</dd>
            </div>
          ))}
        </dl>
      )}
      {earlier > 0 && (
        <p className="note">
          <Glyph shape="waiting" />
          <span>{earlier === 1 ? m.automations_earlier_one() : m.automations_earlier({ count: count(earlier) })}</span>
        </p>
      )}
      {totals && totals.limited > 0 && (
        <p className="muted small">{m.automations_limited({ count: count(totals.limited) })}</p>
      )}
      {totals && totals.capped > 0 && (
        <p className="muted small">{m.automations_capped({ count: count(totals.capped) })}</p>
      )}
      <section className="sec" aria-labelledby="steps-title">
        <header>
          <h2 id="steps-title">{m.automations_steps()}</h2>
        </header>
        <p className="starts">
          <Glyph shape="clicked" />
          <span>
            {triggerWords(trigger, choices)}{" "}
            <span className="muted">{trigger.once ? m.automations_once_short() : m.automations_often_short()}</span>
          </span>
        </p>
        {content.steps.length === 0 ? (
          <p className="muted">{m.automations_no_steps()}</p>
        ) : (
          <StepList
            steps={content.steps}
            names={choices}
            note={(step) => {
              const number = at.get(indexes.get(step.id) ?? -1);
              return number ? (
                <span className="here">
                  {number === 1 ? m.automations_here_one() : m.automations_here({ count: count(number) })}
                </span>
              ) : null;
            }}
          />
        )}
      </section>
    </>
  );
}
