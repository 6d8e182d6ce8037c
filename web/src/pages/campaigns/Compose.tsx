import type { CampaignDetail } from "@postern/sdk";
import { IconClock, IconSend } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Field, ICON, LoadingFailed } from "../../parts/parts";
import { localInput, timeZoneName } from "../../parts/when";
import { useMayWrite, useProject, useProjectId } from "../../session/profile";
import { Checklist, focusField } from "./Checklist";
import { Conflict } from "./Conflict";
import { type DraftForm, localPart, needsOf } from "./draft";
import { Elsewhere, useHasPage } from "./Elsewhere";
import { Crumb, MoreActions, StatePill } from "./Head";
import { LetterPreview } from "./Letter";
import { type Checked, PreflightPanel, preflight } from "./Preflight";
import { audiencesQuery, recipientsQuery, sendingDomainsQuery, templateQuery, templatesQuery } from "./queries";
import { SendDialog } from "./SendDialog";
import { TestDialog } from "./TestDialog";
import { SAVE_WORDS, useDraft } from "./useDraft";
import { Variants } from "./Variants";

/** The first time that is offered is the next full hour, but at least half an hour ahead. */
function nextHour(): string {
  const date = new Date(Date.now() + 30 * 60_000);
  date.setHours(date.getHours() + 1, 0, 0, 0);
  return localInput(date);
}

/** A draft: who gets it, from whom, what, and when; beside it what is still missing, and what it looks like. */
export function Compose({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const project = useProject();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const draft = useDraft(campaign);
  const { form, set, errors } = draft;
  const [dialog, setDialog] = useState<"" | "send" | "test">("");
  const [isChecking, setChecking] = useState(false);
  /** The number of recipients when the dialog was opened: what is typed there. */
  const [number, setNumber] = useState(0);
  const checklist = useRef<HTMLElement>(null);
  const [isAsked, setAsked] = useState(false);
  /** What the last check of the message found. */
  const [checked, setChecked] = useState<Checked>();

  const domains = useQuery(sendingDomainsQuery(projectId));
  const recipients = useQuery(recipientsQuery(projectId, form.audienceId));
  const template = useQuery(templateQuery(projectId, form.templateId));
  const domain = domains.data && (domains.data.find((each) => each.id === form.domainId) ?? null);
  const transport = project?.settings.transport;
  const isCaptured = transport === "capture" ? true : transport ? false : undefined;
  const needs = needsOf(form, {
    recipients: recipients.data?.count,
    domain: form.domainId ? domain : undefined,
    template: template.data,
    isCaptured,
    now: Date.now(),
  });
  const isPlanned = form.when === "later";

  const send = async () => {
    setAsked(true);
    if (needs.length > 0) {
      checklist.current?.focus();
      checklist.current?.scrollIntoView({ block: "nearest" });
      return;
    }
    setChecking(true);
    try {
      if (!(await draft.save())) return;
      const [{ count }, found] = await Promise.all([
        client.fetchQuery({ ...recipientsQuery(projectId, form.audienceId), staleTime: 0 }),
        // Advice only: without it, the campaign can be sent all the same.
        preflight(projectId, campaign.id, false).catch(() => undefined),
      ]);
      if (found) setChecked(found);
      if (count === 0) return checklist.current?.focus();
      setNumber(count);
      setDialog("send");
    } catch {
      // The section about the audience says why its contacts could not be counted.
      focusField("audience");
    } finally {
      setChecking(false);
    }
  };

  return (
    <main id="main" className="page campaign compose">
      <Crumb name={form.name || campaign.name} />
      <div className="head">
        <h1>{form.name.trim() || campaign.name}</h1>
        <StatePill campaign={campaign} />
        {mayWrite && (
          <span
            className={draft.state === "failed" || draft.state === "conflict" ? "saving wrong" : "saving muted"}
            role="status"
          >
            {SAVE_WORDS[draft.state]()}
          </span>
        )}
        <div className="acts">
          {mayWrite && (
            <Button
              kind="primary"
              busy={isChecking}
              icon={isPlanned ? <IconClock {...ICON} /> : <IconSend {...ICON} />}
              onClick={() => void send()}
            >
              {isPlanned ? m.campaigns_schedule_open() : m.campaigns_send_open()}
            </Button>
          )}
          <MoreActions campaign={campaign} before={draft.save} onTest={() => setDialog("test")} />
        </div>
      </div>
      {errors[""] && (
        <p className="wrong" role="alert">
          <Glyph shape="failed" />
          <span>{errors[""]}</span>
          <Button size="small" onClick={() => void draft.save()}>
            {m.try_again()}
          </Button>
        </p>
      )}
      <div className="split">
        <fieldset className="formcol" disabled={!mayWrite} aria-label={m.campaigns_draft()}>
          <Section title={m.campaigns_name_section()}>
            <Field
              label={m.campaigns_name()}
              data-field="name"
              hint={m.campaigns_name_hint()}
              error={errors.name ?? (form.name.trim() ? undefined : m.campaigns_need_name())}
              autoComplete="off"
              maxLength={200}
              value={form.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          </Section>
          <Audience form={form} set={set} error={errors.audienceId} />
          <Sender form={form} set={set} errors={errors} isCaptured={isCaptured} />
          <Message form={form} set={set} errors={errors} ofTemplate={template.data?.subject ?? undefined} />
          <Section
            title={m.campaigns_ab()}
            lead={m.campaigns_ab_lead()}
            action={
              <input
                className="switch"
                type="checkbox"
                aria-label={m.campaigns_ab()}
                checked={form.abTestEnabled}
                onChange={(event) => set({ abTestEnabled: event.target.checked })}
              />
            }
          >
            {form.abTestEnabled && (
              <Variants form={form} set={set} errors={errors} recipients={recipients.data?.count} />
            )}
          </Section>
          <When form={form} set={set} error={errors.at} />
        </fieldset>
        <div className="sidecol">
          <Checklist
            ref={checklist}
            needs={needs}
            isAsked={isAsked}
            isLoading={domains.isPending || (form.audienceId !== "" && recipients.isPending)}
            warnings={campaign.warnings}
            form={form}
            domainNotReady={Boolean(domain && domain.status !== "VERIFIED" && isCaptured === undefined)}
            recipients={recipients.data?.count}
            subject={form.subject || (template.data?.subject ?? undefined)}
          />
          <PreflightPanel
            id={campaign.id}
            checked={checked}
            isOutdated={draft.state !== "saved" || checked?.version !== draft.stored().updatedAt}
            before={draft.save}
            onChecked={setChecked}
          />
          <LetterPreview
            form={form}
            template={template.data}
            error={form.templateId ? template.error : null}
            contacts={recipients.data?.contacts ?? []}
          />
        </div>
      </div>
      {draft.theirs && (
        <Conflict mine={form} theirs={draft.theirs} onMine={draft.keepMine} onTheirs={draft.takeTheirs} />
      )}
      {dialog === "test" && <TestDialog campaign={campaign} before={draft.save} onClose={() => setDialog("")} />}
      {dialog === "send" && (
        <SendDialog
          form={form}
          id={campaign.id}
          number={number}
          version={draft.stored}
          findings={checked?.version === draft.stored().updatedAt ? checked.findings : []}
          sender={form.fromName ? `${form.fromName} <${form.fromEmail}>` : form.fromEmail}
          onClose={() => setDialog("")}
        />
      )}
    </main>
  );
}

interface PartProps {
  form: DraftForm;
  set: (change: Partial<DraftForm>) => void;
}

export function Section({
  title,
  lead,
  action,
  children,
}: {
  title: string;
  lead?: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="sec" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {action && <div className="acts">{action}</div>}
      </header>
      {lead && <p className="muted lead">{lead}</p>}
      {children}
    </section>
  );
}

/** Who gets it, and how many they are. */
function Audience({ form, set, error }: PartProps & { error: string | undefined }) {
  const projectId = useProjectId();
  const audiences = useQuery(audiencesQuery(projectId));
  const hasPage = useHasPage("audiences");
  if (audiences.isError && !audiences.data)
    return (
      <Section title={m.campaigns_audience()}>
        <LoadingFailed error={audiences.error} onRetry={() => void audiences.refetch()} />
      </Section>
    );
  const known = audiences.data ?? [];
  const isGone =
    audiences.data !== undefined && form.audienceId !== "" && !known.some((each) => each.id === form.audienceId);
  return (
    <Section title={m.campaigns_audience()}>
      <Field label={m.campaigns_audience_to()} error={error} hint={<RecipientCount audienceId={form.audienceId} />}>
        {(attributes) => (
          <select
            className="input"
            {...attributes}
            data-field="audience"
            value={form.audienceId}
            onChange={(event) => set({ audienceId: event.target.value })}
          >
            <option value="">{m.campaigns_choose()}</option>
            {isGone && <option value={form.audienceId}>{m.campaigns_other_audience()}</option>}
            {known.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {audiences.data?.length === 0 && (
        <p className="muted">
          {m.campaigns_no_audience()} {hasPage && <Elsewhere to="audiences">{m.campaigns_to_audiences()}</Elsewhere>}
        </p>
      )}
    </Section>
  );
}

/** How many people of an audience get the campaign. */
function RecipientCount({ audienceId }: { audienceId: string }) {
  const projectId = useProjectId();
  const { data, isError } = useQuery(recipientsQuery(projectId, audienceId));
  if (!audienceId) return m.campaigns_audience_hint();
  if (isError && !data) return m.campaigns_count_failed();
  if (!data) return m.campaigns_counting();
  const left = data.members - data.count;
  return (
    <>
      <b>{data.count === 1 ? m.campaigns_people_one() : m.campaigns_people({ count: count(data.count) })}</b>.{" "}
      {left > 0 && (left === 1 ? m.campaigns_unsubscribed_one() : m.campaigns_unsubscribed({ count: count(left) }))}{" "}
      {m.campaigns_suppressed_too()}
    </>
  );
}

/** From whom: a name and an address at one of the project's domains. */
function Sender({
  form,
  set,
  errors,
  isCaptured,
}: PartProps & { errors: Record<string, string>; isCaptured: boolean | undefined }) {
  const projectId = useProjectId();
  const domains = useQuery(sendingDomainsQuery(projectId));
  const [typed, setTyped] = useState(() => localPart(form.fromEmail));
  const known = domains.data ?? [];
  const nameOf = (id: string) => known.find((each) => each.id === id)?.domain ?? "";
  const local = form.fromEmail ? localPart(form.fromEmail) : typed;
  const address = (part: string, domainId: string) => {
    const domain = nameOf(domainId);
    return part.trim() && domain ? `${part.trim()}@${domain}` : "";
  };
  const chosen = nameOf(form.domainId);
  const isElsewhere = form.fromEmail !== "" && chosen !== "" && !form.fromEmail.toLowerCase().endsWith(`@${chosen}`);
  return (
    <Section title={m.campaigns_sender()}>
      <Field
        label={m.campaigns_from_name()}
        hint={m.campaigns_from_name_hint()}
        error={errors.fromName}
        autoComplete="off"
        maxLength={1_000}
        value={form.fromName}
        onChange={(event) => set({ fromName: event.target.value })}
      />
      <div className="pairfields">
        <Field
          label={m.campaigns_from_address()}
          error={
            errors.fromEmail ?? (isElsewhere ? m.campaigns_from_elsewhere({ address: form.fromEmail }) : undefined)
          }
        >
          {(attributes) => (
            <input
              className="input"
              {...attributes}
              data-field="sender"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder="news"
              maxLength={64}
              value={local}
              onChange={(event) => {
                const part = event.target.value.replace(/[@\s]/g, "");
                setTyped(part);
                set({ fromEmail: address(part, form.domainId) });
              }}
            />
          )}
        </Field>
        <span className="at" aria-hidden="true">
          @
        </span>
        <Field label={m.campaigns_domain()} error={errors.domainId}>
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              data-field="domain"
              value={form.domainId}
              onChange={(event) => {
                const domainId = event.target.value;
                set({ domainId, fromEmail: address(local, domainId) });
              }}
            >
              <option value="">{m.campaigns_choose()}</option>
              {form.domainId && domains.data && !chosen && (
                <option value={form.domainId}>{m.campaigns_need_domain_gone()}</option>
              )}
              {known.map((each) => (
                <option
                  key={each.id}
                  value={each.id}
                  disabled={each.status !== "VERIFIED" && isCaptured === false && each.id !== form.domainId}
                >
                  {each.status === "VERIFIED" ? each.domain : m.campaigns_not_ready({ domain: each.domain })}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {domains.isError && !domains.data && (
        <LoadingFailed error={domains.error} onRetry={() => void domains.refetch()} />
      )}
      {domains.data?.length === 0 && <p className="muted">{m.campaigns_no_domain()}</p>}
    </Section>
  );
}

/** What they read: a template, and what their mail programs show before it is opened. */
function Message({
  form,
  set,
  errors,
  ofTemplate,
}: PartProps & { errors: Record<string, string>; ofTemplate: string | undefined }) {
  const projectId = useProjectId();
  const templates = useQuery(templatesQuery(projectId));
  const hasPage = useHasPage("template");
  const hasList = useHasPage("templates");
  if (templates.isError && !templates.data)
    return (
      <Section title={m.campaigns_message()}>
        <LoadingFailed error={templates.error} onRetry={() => void templates.refetch()} />
      </Section>
    );
  const known = templates.data ?? [];
  const isGone =
    templates.data !== undefined && form.templateId !== "" && !known.some((each) => each.id === form.templateId);
  return (
    <Section title={m.campaigns_message()}>
      <Field
        label={m.campaigns_template()}
        error={errors.templateId}
        hint={
          form.templateId && hasPage ? (
            <Elsewhere to="template" id={form.templateId}>
              {m.campaigns_open_template()}
            </Elsewhere>
          ) : (
            m.campaigns_template_hint()
          )
        }
      >
        {(attributes) => (
          <select
            className="input"
            {...attributes}
            data-field="template"
            value={form.templateId}
            onChange={(event) => set({ templateId: event.target.value })}
          >
            <option value="">{m.campaigns_choose()}</option>
            {isGone && <option value={form.templateId}>{m.campaigns_other_template()}</option>}
            {known.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {templates.data?.length === 0 && (
        <p className="muted">
          {m.campaigns_no_template()} {hasList && <Elsewhere to="templates">{m.campaigns_to_templates()}</Elsewhere>}
        </p>
      )}
      <Field
        label={m.campaigns_subject()}
        error={errors.subject}
        hint={
          ofTemplate && !form.subject
            ? m.campaigns_subject_default({ subject: ofTemplate })
            : m.campaigns_subject_hint()
        }
      >
        {(attributes) => (
          <input
            className="input"
            {...attributes}
            data-field="subject"
            autoComplete="off"
            maxLength={2_000}
            placeholder={ofTemplate}
            value={form.subject}
            onChange={(event) => set({ subject: event.target.value })}
          />
        )}
      </Field>
      <Field
        label={m.campaigns_preview_text()}
        hint={m.campaigns_preview_text_hint()}
        error={errors.previewText}
        autoComplete="off"
        maxLength={1_000}
        value={form.previewText}
        onChange={(event) => set({ previewText: event.target.value })}
      />
    </Section>
  );
}

/** Right away, or at a time. */
function When({ form, set, error }: PartProps & { error: string | undefined }) {
  const isPast = form.when === "later" && form.at !== "" && new Date(form.at).getTime() <= Date.now();
  return (
    <Section title={m.campaigns_when()}>
      <div className="choices" role="radiogroup" aria-label={m.campaigns_when()}>
        <label>
          <input type="radio" name="when" checked={form.when === "now"} onChange={() => set({ when: "now" })} />
          {m.campaigns_when_now()}
        </label>
        <label>
          <input
            type="radio"
            name="when"
            checked={form.when === "later"}
            onChange={() => set({ when: "later", at: form.at || nextHour() })}
          />
          {m.campaigns_when_later()}
        </label>
      </div>
      {form.when === "later" && (
        <Field
          label={m.campaigns_at()}
          hint={m.campaigns_zone({ zone: timeZoneName() })}
          error={error ?? (isPast ? m.emails_time_past() : undefined)}
        >
          {(attributes) => (
            <input
              className="input"
              {...attributes}
              data-field="at"
              type="datetime-local"
              min={localInput(new Date())}
              value={form.at}
              onChange={(event) => set({ at: event.target.value })}
            />
          )}
        </Field>
      )}
    </Section>
  );
}
