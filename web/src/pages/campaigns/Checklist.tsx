import type { ProblemError } from "@postern/sdk";
import type { Ref } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { type DraftForm, FIELD_OF, type Need, timeOf } from "./draft";
import { NEED_WORDS, plannedInWords } from "./words";

/** Go to a field of the form, by the name in its `data-field`. */
export function focusField(name: string): void {
  const field = document.querySelector<HTMLElement>(`main [data-field="${name}"]`);
  field?.scrollIntoView({ block: "center" });
  field?.focus({ preventScroll: true });
}

/** The parts of a draft in the order of its form, each with the needs that it has if it is not finished. */
const ITEMS: { title: () => string; needs: Need[] }[] = [
  { title: m.campaigns_audience, needs: ["audience", "nobody"] },
  { title: m.campaigns_sender, needs: ["domain", "domain_gone", "domain_not_ready", "sender"] },
  { title: m.campaigns_message, needs: ["name", "template", "blank", "subject", "test_template"] },
  { title: m.campaigns_ab, needs: ["variants", "percent"] },
  { title: m.campaigns_when, needs: ["time", "past"] },
];

/** What must be there before the campaign can be sent; what is missing leads to its field. */
export function Checklist({
  ref,
  needs,
  isAsked,
  isLoading,
  warnings,
  form,
  domainNotReady,
  recipients,
  subject,
}: {
  ref: Ref<HTMLElement>;
  needs: Need[];
  /** A person has tried to send it. */
  isAsked: boolean;
  isLoading: boolean;
  warnings: ProblemError[];
  form: DraftForm;
  /** Its domain is not ready, which matters unless this server catches all mail. */
  domainNotReady: boolean;
  recipients: number | undefined;
  /** The subject that is sent. */
  subject: string | undefined;
}) {
  const done: Record<number, string | undefined> = {
    0:
      recipients === undefined
        ? undefined
        : recipients === 1
          ? m.campaigns_people_one()
          : m.campaigns_people({ count: count(recipients) }),
    1: form.fromEmail,
    2: subject,
    4: form.when === "now" ? m.campaigns_when_now() : plannedInWords(timeOf(form) ?? new Date().toISOString()),
  };
  return (
    <section className="checks" aria-labelledby="checks" ref={ref} tabIndex={-1}>
      <h2 id="checks">{m.campaigns_checks()}</h2>
      <p className={needs.length > 0 && isAsked ? "wrong" : "muted"} role={isAsked ? "alert" : undefined}>
        {needs.length === 0
          ? isLoading
            ? m.campaigns_checking()
            : m.campaigns_checks_done()
          : needs.length === 1
            ? m.campaigns_checks_one()
            : m.campaigns_checks_left({ count: needs.length })}
      </p>
      <ul>
        {ITEMS.map(({ title, needs: about }, index) => {
          if (index === 3 && !form.abTestEnabled) return null;
          const open = needs.filter((each) => about.includes(each));
          return (
            <li key={about[0]}>
              <Glyph shape={open.length ? "off" : "yes"} />
              <div>
                <b>{title()}</b>
                {open.length === 0 ? (
                  done[index] && <span className="muted"> {done[index]}</span>
                ) : (
                  <ul>
                    {open.map((need) => (
                      <li key={need}>
                        <button type="button" className="linkbtn" onClick={() => focusField(FIELD_OF[need])}>
                          {NEED_WORDS[need]()}
                        </button>
                      </li>
                    ))}
                  </ul>
                )}
              </div>
            </li>
          );
        })}
      </ul>
      {domainNotReady && (
        <p className="note wait">
          <Glyph shape="waiting" />
          <span>{m.campaigns_domain_caution()}</span>
        </p>
      )}
      {form.abTestEnabled &&
        warnings.map((each) => (
          <p key={each.path + each.message} className="note wait">
            <Glyph shape="attention" />
            <span>{each.message}</span>
          </p>
        ))}
    </section>
  );
}
