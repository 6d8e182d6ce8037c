import { useDebouncedValue } from "@mantine/hooks";
import type { Contact, Template } from "@postern/sdk";
import { IconAlignLeft, IconDeviceDesktop, IconDeviceMobile, IconMoon } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { Button, ICON } from "../../parts/parts";
import { useProfile, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import type { DraftForm } from "./draft";

type View = "computer" | "phone" | "dark" | "text";

const VIEWS = [
  ["computer", IconDeviceDesktop, m.emails_view_computer],
  ["phone", IconDeviceMobile, m.emails_view_phone],
  ["dark", IconMoon, m.emails_view_dark],
  ["text", IconAlignLeft, m.emails_view_text],
] as const;

/** Milliseconds without a change until the server renders. */
const PAUSE_MS = 400;
/** The variant that stands for the campaign's own subject and template. */
const OWN = "";

/** The message as a contact of the audience will see it, rendered by the server that will send it. */
export function LetterPreview({
  form,
  template,
  error,
  contacts,
}: {
  form: DraftForm;
  template: Template | undefined;
  error: unknown;
  /** Contacts of the audience for whom it can be shown. */
  contacts: Contact[];
}) {
  const projectId = useProjectId();
  const profile = useProfile();
  const [view, setView] = useState<View>("computer");
  const [contactId, setContactId] = useState("");
  const [variantKey, setVariantKey] = useState(OWN);
  const contact = contacts.find((each) => each.id === contactId) ?? contacts[0];
  const variants = form.abTestEnabled ? form.variants : [];
  const variant = variants.find((each) => each.key === variantKey) ?? variants[0];
  const otherId = variant?.templateId && variant.templateId !== form.templateId ? variant.templateId : "";
  const parts = {
    subject: variant?.subject || form.subject,
    previewText: form.previewText,
    fromName: form.fromName,
    templateId: otherId || form.templateId,
    version: otherId ? 0 : template?.version,
    email: contact?.email ?? profile.email,
    attributes: contact?.attributes ?? {},
  };
  const key = JSON.stringify(parts);
  const [settled] = useDebouncedValue(key, PAUSE_MS);
  const query = useQuery({
    queryKey: ["campaigns", projectId, "rendered", settled],
    queryFn: async ({ signal }) => {
      const of = JSON.parse(settled) as typeof parts;
      const content =
        of.version && template?.id === of.templateId
          ? template
          : await api(projectId).templates.get(of.templateId, { signal });
      const sample = { email: of.email, attributes: of.attributes };
      const { engine } = content;
      // The lines around the message are rendered with it, where they have something to fill in.
      const line = async (text: string) =>
        text.includes("{") && engine !== "none"
          ? ((await api(projectId).templates.render({ text, engine, contact: sample }, { signal })).text ?? text)
          : text;
      const [message, fromName, previewText] = await Promise.all([
        api(projectId).templates.render(
          { subject: of.subject || content.subject, html: content.html, text: content.text, engine, contact: sample },
          { signal },
        ),
        line(of.fromName),
        line(of.previewText),
      ]);
      return { ...message, fromName, previewText };
    },
    enabled: parts.templateId !== "" && (otherId !== "" || template !== undefined),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const shown = parts.templateId ? query.data : undefined;
  const failure = error ?? query.error;
  return (
    <section className="letterside" aria-labelledby="letter">
      <header className="sechead">
        <h2 id="letter">{m.campaigns_preview()}</h2>
        <div className="acts">
          <div className="seg" role="group" aria-label={m.emails_view_as()}>
            {VIEWS.map(([name, Icon, label]) => (
              <button
                key={name}
                type="button"
                aria-pressed={view === name}
                aria-label={label()}
                title={label()}
                onClick={() => setView(name)}
              >
                <Icon {...ICON} />
              </button>
            ))}
          </div>
        </div>
      </header>
      {parts.templateId === "" ? (
        <p className="muted well blankletter">{m.campaigns_preview_empty()}</p>
      ) : (
        <>
          <div className="previewfor">
            {contacts.length > 0 && (
              <select
                className="input"
                aria-label={m.campaigns_preview_for()}
                value={contact?.id}
                onChange={(event) => setContactId(event.target.value)}
              >
                {contacts.map((each) => (
                  <option key={each.id} value={each.id}>
                    {m.campaigns_preview_as({ email: each.email })}
                  </option>
                ))}
              </select>
            )}
            {variants.length > 0 && (
              <select
                className="input"
                aria-label={m.campaigns_preview_variant()}
                value={variant?.key}
                onChange={(event) => setVariantKey(event.target.value)}
              >
                {variants.map((each) => (
                  <option key={each.key} value={each.key}>
                    {m.campaigns_variant({ name: each.name })}
                  </option>
                ))}
              </select>
            )}
          </div>
          <div className="inboxline">
            <b className="cut">{shown?.fromName || form.fromEmail || m.campaigns_sender()}</b>
            <span className="cut ink">{shown?.subject || m.campaigns_no_subject()}</span>
            <span className="cut muted">{shown?.previewText || m.campaigns_no_preview_text()}</span>
          </div>
          {failure && !shown ? (
            <div className="nopreview" role="alert">
              <p className="muted">{messageOf(failure)}</p>
              <Button size="small" onClick={() => void query.refetch()}>
                {m.try_again()}
              </Button>
            </div>
          ) : (
            shown && (
              <>
                {shown.problems.map((each) => (
                  <p key={each.path + each.message} className="wrong" role="alert">
                    <Glyph shape="failed" />
                    <span>{each.message}</span>
                  </p>
                ))}
                {view === "text" || !shown.html ? (
                  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys.
                  <pre className="code lettertext" tabIndex={0} role="region" aria-label={m.emails_view_text()}>
                    {shown.text || m.emails_no_text()}
                  </pre>
                ) : (
                  <Frame
                    // Each rendering has a frame of its own, so that none is in the history of the browser. So has dark:
                    // the media query is answered while the document loads.
                    key={`${query.dataUpdatedAt} ${view === "dark"}`}
                    html={shown.html}
                    view={view}
                    title={m.campaigns_preview_of({ name: form.name })}
                  />
                )}
              </>
            )
          )}
        </>
      )}
    </section>
  );
}

/**
 * HTML in a frame of the server, which runs nothing of it. It is posted as a form, because the policy of this page
 * would hold in a frame that this page fills.
 */
function Frame({ html, view, title }: { html: string; view: View; title: string }) {
  const name = useId().replace(/\W/g, "");
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.submit(), []);
  return (
    <div className={`frame ${view}`}>
      <form ref={form} method="post" action="/dashboard/preview" target={name} hidden>
        <input type="hidden" name="html" value={html} />
        <input type="hidden" name="images" value="1" />
      </form>
      <iframe
        name={name}
        title={title}
        sandbox="allow-popups allow-popups-to-escape-sandbox"
        referrerPolicy="no-referrer"
        style={{ colorScheme: view === "dark" ? "dark" : "light" }}
      />
    </div>
  );
}
