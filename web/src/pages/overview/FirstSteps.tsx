import { Modal } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { shortDay } from "../../parts/format";
import { Button, Copy, Field, ICON, Time } from "../../parts/parts";
import { useMayWrite, useProfile, useProject, useProjectId } from "../../session/profile";
import { queries } from "../../session/queries";
import { api, messageOf } from "../../session/server";
import { TourLink } from "../../tour/TourLink";
import { transportSeen } from "./attention";
import { useTestKey } from "./key";
import { capturedQuery, domainsQuery, keysQuery, membersQuery, recentQuery } from "./queries";

export type Step = "key" | "send" | "domain" | "transport" | "colleague";

/** A domain that waits for its records: the step goes on there. */
type Waiting = { id: string } | undefined;

const HIDDEN = "postern.steps-hidden.";

/** Whether the first steps of a project are hidden in this browser, and a way to hide them. */
export function useStepsHidden(projectId: string): [boolean, () => void] {
  const [hidden, setHidden] = useState(() => localStorage.getItem(HIDDEN + projectId) !== null);
  return [
    hidden,
    () => {
      localStorage.setItem(HIDDEN + projectId, "1");
      setHidden(true);
    },
  ];
}

interface State {
  step: Step;
  title: string;
  done: boolean;
  at?: string | null;
  domain?: Waiting;
}

/** The steps with what the API tells about them; undefined until all is read. */
export function useSteps(projectId: string): State[] | undefined {
  const project = useProject();
  const keys = useQuery(keysQuery(projectId));
  const recent = useQuery(recentQuery(projectId));
  const captured = useQuery(capturedQuery(projectId));
  const domains = useQuery(domainsQuery(projectId));
  const members = useQuery(membersQuery);
  if ([keys, recent, domains, members].some((each) => each.isPending)) return undefined;
  const verified = domains.data?.find((each) => each.verifiedAt);
  const { transport, relays } = project?.settings ?? {};
  const colleagues = (members.data ?? []).toSorted((first, second) => first.joinedAt.localeCompare(second.joinedAt));
  const seen = transportSeen(recent.data?.data ?? [], captured.data);
  const leaves =
    transport === "relay" || transport === "ses" || transport === "direct" || (transport === null && !!relays?.length);
  const states: (State | false)[] = [
    keys.isSuccess && {
      step: "key",
      title: m.overview_step_key(),
      done: keys.data.data.length > 0,
      at: keys.data.hasNext ? undefined : keys.data.data.at(-1)?.createdAt,
    },
    recent.isSuccess && {
      step: "send",
      title: m.overview_step_send(),
      // Old e-mails are deleted in time; this page is not shown before the first one.
      done: true,
      at: recent.data.hasNext ? undefined : recent.data.data.at(-1)?.createdAt,
    },
    domains.isSuccess && {
      step: "domain",
      title: m.overview_step_domain(),
      done: verified !== undefined,
      at: verified?.verifiedAt,
      domain: domains.data[0],
    },
    {
      step: "transport",
      title: m.overview_step_transport(),
      done: leaves || (transport === null && (seen === "relay" || seen === "direct")),
    },
    members.isSuccess && {
      step: "colleague",
      title: m.overview_step_colleague(),
      done: colleagues.length > 1,
      at: colleagues[1]?.joinedAt,
    },
  ];
  return states.filter((each) => each !== false);
}

/** The checklist. Each step that is not done opens what does it. */
export function FirstSteps({
  steps,
  onStep,
  onHide,
}: {
  steps: State[] | undefined;
  onStep: (step: Step) => void;
  onHide: () => void;
}) {
  return (
    <section className="steps" aria-labelledby="steps">
      <header className="sechead">
        <h2 id="steps">{m.overview_steps()}</h2>
        {steps && <p>{m.overview_steps_done({ done: steps.filter((each) => each.done).length, all: steps.length })}</p>}
        <div className="acts">
          <button type="button" className="iconbtn small" aria-label={m.overview_hide_steps()} onClick={onHide}>
            <IconX {...ICON} />
          </button>
        </div>
      </header>
      <ol>
        {steps?.map(({ step, title, done, at, domain }) => (
          <li key={step} className={done ? undefined : "next"}>
            <Glyph shape={done ? "yes" : "off"} />
            {done ? (
              <span>
                {title}
                <span className="sr"> {m.overview_step_is_done()}</span>
              </span>
            ) : step === "domain" ? (
              <DomainLink domain={domain}>{title}</DomainLink>
            ) : (
              <button type="button" className="linkbtn" onClick={() => onStep(step)}>
                {title}
              </button>
            )}
            {done && at && <Time at={at} format={(time) => shortDay(new Date(time))} />}
          </li>
        )) ??
          Array.from({ length: 5 }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move.
            <li key={row}>
              <i className="skel" style={{ width: 120 + ((row * 37) % 60) }} />
            </li>
          ))}
      </ol>
      <TourLink />
    </section>
  );
}

/** What does a step: a form where this page can do it, else the command and the guide. */
export function StepDialog({
  step,
  projectId,
  onClose,
}: {
  step: Step | undefined;
  projectId: string;
  onClose: () => void;
}) {
  const titles: Record<Step, () => string> = {
    key: m.overview_step_key,
    send: m.overview_step_send,
    domain: m.overview_step_domain,
    transport: m.overview_step_transport,
    colleague: m.overview_step_colleague,
  };
  return (
    <Modal
      opened={step !== undefined}
      onClose={onClose}
      title={step && titles[step]()}
      size={560}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      {step === "key" && <KeyStep projectId={projectId} />}
      {step === "transport" && <TransportStep />}
      {step === "colleague" && <ColleagueStep onDone={onClose} />}
    </Modal>
  );
}

function Command({ label, children }: { label: string; children: string }) {
  return (
    <div className="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the box is read by scrolling it. */}
      <pre className="code" role="group" tabIndex={0} aria-label={label}>
        {children}
      </pre>
      <Copy value={children} />
    </div>
  );
}

function Guide({ path, children }: { path: string; children: ReactNode }) {
  return (
    <a href={`/guide/${path}`} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

function KeyStep({ projectId }: { projectId: string }) {
  const { key, busy, error, create } = useTestKey(projectId);
  if (!useMayWrite()) return <p>{m.role_viewer_note()}</p>;
  if (key) {
    return (
      <>
        <p>{m.overview_key_once()}</p>
        <Command label={m.overview_step_key()}>{key}</Command>
      </>
    );
  }
  return (
    <>
      <p>{m.overview_key_lead()}</p>
      {error && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
      <div className="dialog-actions">
        <Button kind="primary" busy={busy} onClick={() => void create()}>
          {m.overview_create_test_key()}
        </Button>
      </div>
    </>
  );
}

/** Leads to the domain whose records are awaited, or to where one is added. */
function DomainLink({ domain, children }: { domain: Waiting; children: ReactNode }) {
  const projectId = useProjectId();
  return domain ? (
    <Link className="linkbtn" to="/projects/$projectId/domains/$domainId" params={{ projectId, domainId: domain.id }}>
      {children}
    </Link>
  ) : (
    <Link className="linkbtn" to="/projects/$projectId/domains" params={{ projectId }} search={{ add: "1" }}>
      {children}
    </Link>
  );
}

function TransportStep() {
  const settings = `POSTERN_BASE_URL=${location.origin} \\
POSTERN_TRANSPORT=relay \\
POSTERN_RELAY='smtp://user:password@smtp.example.net:587' \\
postern serve`;
  const check = "postern doctor relay --from hello@mail.example.com --to you@example.net";
  return (
    <>
      <p>{m.overview_transport_lead()}</p>
      <Command label={m.overview_step_transport()}>{settings}</Command>
      <p>{m.overview_transport_check()}</p>
      <Command label={m.overview_transport_check()}>{check}</Command>
      <p className="muted">
        {m.overview_transport_project()} <Guide path="operations">{m.overview_guide_operations()}</Guide>
      </p>
    </>
  );
}

const ROLES = ["DEVELOPER", "ADMIN", "VIEWER"] as const;

function ColleagueStep({ onDone }: { onDone: () => void }) {
  const { role } = useProfile();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const [invited, setInvited] = useState("");
  const names = { DEVELOPER: m.overview_role_developer, ADMIN: m.overview_role_admin, VIEWER: m.overview_role_viewer };
  if (role !== "OWNER" && role !== "ADMIN") return <p>{m.overview_invite_forbidden()}</p>;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const email = String(form.get("email"));
    setBusy(true);
    setError("");
    try {
      await api().account.invitations.create({ email, role: String(form.get("role")) });
      void queries.invalidateQueries(membersQuery);
      setInvited(email);
    } catch (caught) {
      setError(messageOf(caught));
    } finally {
      setBusy(false);
    }
  };
  if (invited) {
    return (
      <>
        <p role="status">{m.overview_invited({ email: invited })}</p>
        <div className="dialog-actions">
          <Button data-autofocus onClick={onDone}>
            {m.close()}
          </Button>
        </div>
      </>
    );
  }
  return (
    <form className="form" onSubmit={submit}>
      <p>{m.overview_invite_lead()}</p>
      <Field label={m.email_address()} name="email" type="email" required error={error} data-autofocus />
      <Field label={m.overview_role()}>
        {(attributes) => (
          <select className="input" name="role" {...attributes}>
            {ROLES.map((each) => (
              <option key={each} value={each}>
                {names[each]()}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="dialog-actions">
        <Button kind="primary" type="submit" busy={busy}>
          {m.overview_invite()}
        </Button>
      </div>
    </form>
  );
}
