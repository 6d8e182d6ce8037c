import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Field, ICON } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { type DraftForm, evenly, SAMPLE_PERCENT, VARIANTS, type VariantForm, weightsOf } from "./draft";
import { templatesQuery } from "./queries";
import { minutesInWords } from "./words";

/** Durations that are offered, in minutes; the API takes any from 15 minutes to 7 days. */
const DURATIONS = [15, 30, 60, 120, 240, 480, 720, 1_440, 2_880, 4_320, 10_080];
/** The names of variants, one after the other. */
const LETTERS = "ABCDEFGH";

function named(taken: VariantForm[]): VariantForm {
  const name = [...LETTERS].find((letter) => !taken.some((each) => each.name === letter)) ?? "";
  return { key: crypto.randomUUID?.() ?? `${Date.now()}${name}`, name, subject: "", templateId: "", weight: 0 };
}

/** The variants with equal shares, as after one is added or removed. */
function shared(variants: VariantForm[]): VariantForm[] {
  const weights = evenly(variants.length);
  return variants.map((each, index) => ({ ...each, weight: weights[index] ?? 1 }));
}

/** What is tested against each other, on how many, and what decides. */
export function Variants({
  form,
  set,
  errors,
  recipients,
}: {
  form: DraftForm;
  set: (change: Partial<DraftForm>) => void;
  errors: Record<string, string>;
  recipients: number | undefined;
}) {
  const projectId = useProjectId();
  const templates = useQuery(templatesQuery(projectId));
  const { variants } = form;
  // A test has two variants at least: those of a new one stand there to be filled in.
  const isEmpty = variants.length === 0;
  useEffect(() => {
    if (!isEmpty) return;
    const first = named([]);
    set({ variants: shared([first, named([first])]) });
  }, [isEmpty, set]);
  const change = (key: string, part: Partial<VariantForm>) =>
    set({ variants: variants.map((each) => (each.key === key ? { ...each, ...part } : each)) });
  const sum = weightsOf(variants);
  const { abTestSamplePercent: percent, abTestDurationMinutes: minutes } = form;
  const isPercent = percent >= SAMPLE_PERCENT.least && percent <= SAMPLE_PERCENT.most;
  const sample =
    recipients !== undefined && isPercent
      ? Math.min(Math.max(Math.round((recipients * percent) / 100), variants.length), recipients)
      : undefined;
  const durations = DURATIONS.includes(minutes) ? DURATIONS : [...DURATIONS, minutes].sort((a, b) => a - b);
  return (
    <div className="variants">
      {variants.map((each, index) => (
        <fieldset key={each.key} className="variant" aria-label={m.campaigns_variant({ name: each.name })}>
          <Field
            label={m.campaigns_variant_name()}
            data-field={index === 0 ? "variants" : undefined}
            maxLength={200}
            autoComplete="off"
            error={each.name.trim() ? undefined : m.campaigns_variant_unnamed()}
            value={each.name}
            onChange={(event) => change(each.key, { name: event.target.value })}
          />
          <Field
            label={m.campaigns_subject()}
            maxLength={2_000}
            autoComplete="off"
            placeholder={form.subject || m.campaigns_subject_of_template()}
            value={each.subject}
            onChange={(event) => change(each.key, { subject: event.target.value })}
          />
          <Field label={m.campaigns_template()}>
            {(attributes) => (
              <select
                className="input"
                {...attributes}
                value={each.templateId}
                onChange={(event) => change(each.key, { templateId: event.target.value })}
              >
                <option value="">{m.campaigns_variant_same()}</option>
                {templates.data?.map((template) => (
                  <option key={template.id} value={template.id}>
                    {template.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field
            label={m.campaigns_variant_share()}
            type="number"
            inputMode="numeric"
            min={1}
            max={100}
            value={Number.isFinite(each.weight) ? each.weight : ""}
            onChange={(event) => change(each.key, { weight: event.target.valueAsNumber })}
          />
          {variants.length > VARIANTS.fewest && (
            <button
              type="button"
              className="iconbtn remove"
              aria-label={m.campaigns_variant_remove({ name: each.name })}
              title={m.campaigns_variant_remove({ name: each.name })}
              onClick={() => set({ variants: shared(variants.filter((other) => other.key !== each.key)) })}
            >
              <IconTrash {...ICON} />
            </button>
          )}
        </fieldset>
      ))}
      {(errors.variants || sum !== 100) && (
        <p className="wrong" role="alert">
          {errors.variants ?? m.campaigns_variant_sum({ sum })}
        </p>
      )}
      <p className="line">
        {variants.length < VARIANTS.most && (
          <Button
            size="small"
            icon={<IconPlus {...ICON} />}
            onClick={() => set({ variants: shared([...variants, named(variants)]) })}
          >
            {m.campaigns_variant_add()}
          </Button>
        )}
        <Button size="small" kind="bare" onClick={() => set({ variants: shared(variants) })}>
          {m.campaigns_variant_even()}
        </Button>
      </p>
      <div className="testfields">
        <Field
          label={m.campaigns_ab_percent()}
          data-field="percent"
          type="number"
          inputMode="numeric"
          min={SAMPLE_PERCENT.least}
          max={SAMPLE_PERCENT.most}
          value={Number.isFinite(percent) ? percent : ""}
          hint={sample === undefined ? undefined : m.campaigns_ab_sample({ count: count(sample) })}
          error={errors.abTestSamplePercent ?? (isPercent ? undefined : m.campaigns_need_percent())}
          onChange={(event) => set({ abTestSamplePercent: event.target.valueAsNumber })}
        />
        <Field label={m.campaigns_ab_metric()} error={errors.abTestMetric}>
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              value={form.abTestMetric}
              onChange={(event) => set({ abTestMetric: event.target.value })}
            >
              <option value="OPEN_RATE">{m.campaigns_ab_opens()}</option>
              <option value="CLICK_RATE">{m.campaigns_ab_clicks()}</option>
            </select>
          )}
        </Field>
        <Field label={m.campaigns_ab_duration()} error={errors.abTestDurationMinutes}>
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              value={minutes}
              onChange={(event) => set({ abTestDurationMinutes: Number(event.target.value) })}
            >
              {durations.map((each) => (
                <option key={each} value={each}>
                  {minutesInWords(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <p className="muted foot">{m.campaigns_ab_rest()}</p>
    </div>
  );
}
