import { Modal } from "@mantine/core";
import { APIError, type Automation, type Contact, type DryRun, type DryRunCondition } from "@postern/sdk";
import { IconTerminal2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { SearchBox } from "../../lists/SearchBox";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { exactTime } from "../../parts/format";
import { Button, Field, ICON, Status } from "../../parts/parts";
import { type ApiRequest, copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { type Condition, nodeAt } from "../contacts/rules";
import { conditionWords, operatorWords } from "../contacts/ruleWords";
import { MailFrame } from "../templates/MailFrame";
import type { Choices } from "./queries";
import { bodyOf, type Content, type EditedStep, flattened } from "./steps";
import { outcomeLook, runLook, stepWords } from "./words";

/** Contacts to choose from. */
const FOUND = 8;

/** Shows what an automation would do with a contact. Nothing is sent and nothing is stored. */
export function DryRunDialog({
  automation,
  content,
  choices,
  onClose,
}: {
  automation: Automation;
  /** The trigger and steps to try, which need not be stored. */
  content: Content;
  choices: Choices;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const [q, setQ] = useState("");
  const [contact, setContact] = useState<Contact>();
  const [data, setData] = useState("{}");
  const [happened, setHappened] = useState<ReadonlySet<string>>(new Set());
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const [dataError, setDataError] = useState("");
  const [result, setResult] = useState<{ run: DryRun; contact: Contact }>();
  const found = useQuery({
    queryKey: ["automations", projectId, "contacts", q],
    queryFn: ({ signal }) => api(projectId).contacts.list({ q: q || undefined, limit: FOUND }, { signal }),
  });
  const positions = flattened(content.steps);
  const waits = positions.filter(({ step }) => step.type === "WAIT_FOR_EVENT");
  const isEvent = content.trigger.type === "EVENT";
  const read = (): Record<string, unknown> | undefined => {
    try {
      const value: unknown = JSON.parse(data);
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? (value as Record<string, unknown>)
        : undefined;
    } catch {
      return undefined;
    }
  };
  const { trigger, steps } = bodyOf(content);
  const body = {
    contactId: contact?.id ?? "",
    ...(isEvent && { eventData: read() ?? {} }),
    ...(happened.size > 0 && {
      happened: waits.filter(({ step }) => happened.has(step.id)).map((each) => each.index),
    }),
    trigger,
    steps,
  };
  const request: ApiRequest = {
    method: "POST",
    path: `/projects/${projectId}/automations/${automation.id}/dry-run`,
    body,
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setError("");
    setDataError("");
    if (!contact) return setError(m.automations_dry_no_contact());
    if (isEvent && !read()) return setDataError(m.automations_dry_json());
    setBusy(true);
    try {
      const run = await api(projectId).automations.dryRun(automation.id, body as never);
      setResult({ run, contact });
    } catch (caught) {
      const about = caught instanceof APIError ? caught.errors.find((each) => each.path === "/eventData") : undefined;
      if (about) setDataError(about.message);
      else setError(messageOf(caught));
      setResult(undefined);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size={860}
      className="dryrun"
      title={m.automations_dry_title()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form" onSubmit={submit} noValidate>
        <p className="muted">{m.automations_dry_lead()}</p>
        <fieldset className="who">
          <legend className="label">{m.contacts_one()}</legend>
          <SearchBox value={q} label={m.automations_dry_search()} onChange={setQ} />
          {found.isError ? (
            <p className="wrong" role="alert">
              <span>{messageOf(found.error)}</span>
            </p>
          ) : (
            <div className="choices" aria-busy={found.isPending || undefined}>
              {found.data?.data.map((each) => (
                <label key={each.id}>
                  <input
                    type="radio"
                    name="contact"
                    checked={contact?.id === each.id}
                    onChange={() => {
                      setContact(each);
                      setError("");
                    }}
                  />
                  <span className="cut">{each.email}</span>
                </label>
              ))}
              {found.data?.data.length === 0 && <p className="muted">{m.automations_dry_nobody()}</p>}
            </div>
          )}
        </fieldset>
        {isEvent && (
          <Field label={m.automations_dry_data()} hint={m.automations_dry_data_hint()} error={dataError}>
            {(given) => (
              <textarea
                className="input mono"
                rows={4}
                spellCheck={false}
                {...given}
                value={data}
                onChange={(event) => setData(event.target.value)}
              />
            )}
          </Field>
        )}
        {waits.length > 0 && (
          <fieldset className="who">
            <legend className="label">{m.automations_dry_waits()}</legend>
            {waits.map(({ step }) => (
              <label className="line" key={step.id}>
                <input
                  className="check"
                  type="checkbox"
                  checked={happened.has(step.id)}
                  onChange={() => {
                    const next = new Set(happened);
                    if (!next.delete(step.id)) next.add(step.id);
                    setHappened(next);
                  }}
                />
                <span>{m.automations_dry_happens({ step: stepWords(step, choices) })}</span>
              </label>
            ))}
          </fieldset>
        )}
        {error && (
          <p className="wrong" role="alert">
            <Glyph shape="failed" />
            <span>{error}</span>
          </p>
        )}
        <div className="dialog-actions">
          <Button kind="bare" icon={<IconTerminal2 {...ICON} />} onClick={() => void copyCurl(request)}>
            {m.copy_as_curl()}
          </Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.automations_dry()}
          </Button>
        </div>
      </form>
      {result && <Result run={result.run} contact={result.contact} content={content} choices={choices} />}
    </Modal>
  );
}

function Result({
  run,
  contact,
  content,
  choices,
}: {
  run: DryRun;
  contact: Contact;
  content: Content;
  choices: Choices;
}) {
  const positions = flattened(content.steps);
  const { shape, tone, word } = runLook(run.status);
  const { trigger } = content;
  return (
    <section className="result" aria-live="polite" aria-label={m.automations_dry_result({ email: contact.email })}>
      <h3>{m.automations_dry_result({ email: contact.email })}</h3>
      {run.reasons.map(({ code }) => (
        <p className="note wait" key={code}>
          <Glyph shape="attention" />
          <span>{REASONS[code]?.() ?? code}</span>
        </p>
      ))}
      {run.conditions.length > 0 && (
        <ul className="whys">
          {run.conditions.map((each) => {
            const row = trigger.rows[Number(/(\d+)$/.exec(each.path)?.[1])];
            const words = row
              ? `${row.field} ${operatorWords("attributes.x", row.operator as never)} ${row.text}`
              : each.path;
            return <Why key={each.path} condition={each} words={words} />;
          })}
        </ul>
      )}
      <ol className="history">
        {run.steps.map((step) => {
          const look = outcomeLook(step.outcome);
          const edited = positions[step.step]?.step;
          const reason = typeof step.detail.reason === "string" ? step.detail.reason : undefined;
          return (
            <li key={step.step}>
              <Glyph shape={look.shape} />
              <div>
                <b>{edited ? stepWords(edited, choices) : step.type}</b>
                <span className={look.tone ? "failed" : "muted"}>
                  {step.type === "WEBHOOK" ? m.automations_dry_webhook() : look.word()}
                  {reason && `: ${reason}`}
                </span>
                <span className="muted">
                  {step.startsAt === step.endsAt
                    ? exactTime(step.startsAt)
                    : m.automations_dry_until({ from: exactTime(step.startsAt), to: exactTime(step.endsAt) })}
                </span>
                {step.conditions.length > 0 && (
                  <ul className="whys">
                    {step.conditions.map((each) => (
                      <Why key={each.path} condition={each} words={wordsAt(edited, each.path, choices)} />
                    ))}
                  </ul>
                )}
                {step.mail && (
                  <details className="mail">
                    <summary>{step.mail.subject ?? m.automations_dry_mail()}</summary>
                    <dl className="facts">
                      <dt>{m.automations_f_from()}</dt>
                      <dd>{step.mail.sender}</dd>
                    </dl>
                    {step.mail.problem && <p className="wrong">{step.mail.problem}</p>}
                    {step.mail.html ? (
                      <MailFrame html={step.mail.html} title={step.mail.subject ?? ""} look="computer" />
                    ) : (
                      step.mail.text && <pre className="lettertext">{step.mail.text}</pre>
                    )}
                  </details>
                )}
              </div>
            </li>
          );
        })}
      </ol>
      <p className="line">
        <Status shape={shape} tone={tone}>
          {word()}
        </Status>
        {run.error && <span className="muted">{run.error}</span>}
      </p>
    </section>
  );
}

const REASONS: Record<string, () => string> = {
  where_not_matched: m.automations_dry_where,
  already_run: m.automations_dry_already,
  unfinished_run: m.automations_dry_unfinished,
  run_limited: m.automations_dry_limited,
};

function wordsAt(step: EditedStep | undefined, path: string, { audienceNames }: Choices): string {
  const node = step?.tree && nodeAt(step.tree, path);
  return node && !("nodes" in node) ? conditionWords(node as Condition, audienceNames) : path;
}

/** Whether a condition holds, and the value that decides. */
function Why({ condition: { holds, value }, words }: { condition: DryRunCondition; words: string }) {
  return (
    <li>
      <Glyph shape={holds ? "yes" : "no"} />
      <span>
        {words}
        <span className="muted">
          {" "}
          {holds ? m.automations_dry_holds() : m.automations_dry_not()}
          {value !== null &&
            ` ${m.automations_dry_is({ value: typeof value === "string" ? value : JSON.stringify(value) })}`}
        </span>
      </span>
    </li>
  );
}
