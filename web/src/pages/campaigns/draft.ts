import type { Campaign, CampaignChange, CampaignVariant, NewVariant } from "@postern/sdk";

/** A variant of an A/B test as it stands in the form; empty means the campaign's own subject or template. */
export interface VariantForm {
  /** Only for this page: tells apart variants with the same texts. */
  key: string;
  name: string;
  subject: string;
  templateId: string;
  weight: number;
}

/** A draft as it stands in the form. What is not set is an empty text. */
export interface DraftForm {
  name: string;
  subject: string;
  previewText: string;
  fromName: string;
  fromEmail: string;
  domainId: string;
  audienceId: string;
  templateId: string;
  when: "now" | "later";
  /** The time in the viewer's time zone, as in a field of the type datetime-local. */
  at: string;
  abTestEnabled: boolean;
  abTestSamplePercent: number;
  abTestMetric: string;
  abTestDurationMinutes: number;
  variants: VariantForm[];
}

/** What a new A/B test begins with. */
export const TEST_DEFAULTS = { percent: 20, metric: "OPEN_RATE", minutes: 240 } as const;
export const VARIANTS = { fewest: 2, most: 8 } as const;
export const SAMPLE_PERCENT = { least: 5, most: 100 } as const;

/** The form of a stored draft. `local` writes a point in time as a field has it. */
export function formOf(
  campaign: Campaign & { variants?: CampaignVariant[] },
  local: (date: Date) => string,
): DraftForm {
  return {
    name: campaign.name,
    subject: campaign.subject ?? "",
    previewText: campaign.previewText ?? "",
    fromName: campaign.fromName ?? "",
    fromEmail: campaign.fromEmail ?? "",
    domainId: campaign.domainId ?? "",
    audienceId: campaign.audienceId ?? "",
    templateId: campaign.templateId ?? "",
    when: campaign.scheduledAt ? "later" : "now",
    at: campaign.scheduledAt ? local(new Date(campaign.scheduledAt)) : "",
    abTestEnabled: campaign.abTestEnabled,
    // A test without a size was begun by a program; the form has to ask for one.
    abTestSamplePercent: campaign.abTestSamplePercent ?? (campaign.abTestEnabled ? 0 : TEST_DEFAULTS.percent),
    abTestMetric: campaign.abTestMetric ?? TEST_DEFAULTS.metric,
    abTestDurationMinutes: campaign.abTestDurationMinutes ?? TEST_DEFAULTS.minutes,
    variants: (campaign.variants ?? []).map((each) => ({
      key: each.id,
      name: each.name,
      subject: each.subject ?? "",
      templateId: each.templateId ?? "",
      weight: each.weight,
    })),
  };
}

/** The time that is chosen; null for right away, undefined if there is none yet. */
export function timeOf({ when, at }: Pick<DraftForm, "when" | "at">): string | null | undefined {
  if (when === "now") return null;
  const date = new Date(at);
  return at && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined;
}

const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** The part of an address before the @. */
export function localPart(address: string): string {
  return address.slice(0, address.includes("@") ? address.lastIndexOf("@") : undefined);
}

/** Equal shares that sum to 100. */
export function evenly(number: number): number[] {
  const share = Math.floor(100 / number);
  return Array.from({ length: number }, (_, index) => share + (index < 100 - share * number ? 1 : 0));
}

export function weightsOf(variants: VariantForm[]): number {
  return variants.reduce((sum, each) => sum + (Number.isFinite(each.weight) ? each.weight : 0), 0);
}

/** Whether the API takes the variants as they stand. None at all is fine, too. */
export function variantsFit(variants: VariantForm[]): boolean {
  if (variants.length === 0) return true;
  return (
    variants.length >= VARIANTS.fewest &&
    variants.length <= VARIANTS.most &&
    variants.every((each) => each.name.trim() && Number.isInteger(each.weight) && each.weight >= 1) &&
    weightsOf(variants) === 100
  );
}

function bodyOf(variants: VariantForm[]): NewVariant[] {
  return variants.map(({ name, subject, templateId, weight }) => ({
    name: name.trim(),
    subject: subject.trim() || null,
    templateId: templateId || null,
    weight,
  }));
}

const TEXTS = ["subject", "previewText", "fromName", "domainId", "audienceId", "templateId"] as const;

/**
 * What is to be stored of a form, and the form as it is stored after that. A part that is not finished, such as an
 * address without a domain, is left out until it is.
 */
export function changeOf(saved: DraftForm, form: DraftForm): { change: CampaignChange | undefined; stored: DraftForm } {
  const change: CampaignChange = {};
  const stored = { ...saved };
  const keep = <Key extends keyof DraftForm>(...keys: Key[]) => {
    for (const key of keys) stored[key] = form[key];
  };
  if (form.name.trim() && form.name !== saved.name) {
    change.name = form.name.trim();
    keep("name");
  }
  for (const key of TEXTS) {
    if (form[key] === saved[key]) continue;
    change[key] = form[key].trim() || null;
    keep(key);
  }
  if (form.fromEmail !== saved.fromEmail && (!form.fromEmail || ADDRESS.test(form.fromEmail))) {
    change.fromEmail = form.fromEmail || null;
    keep("fromEmail");
  }
  const at = timeOf(form);
  if (at !== undefined && (form.when !== saved.when || form.at !== saved.at)) {
    if (at !== timeOf(saved)) change.scheduledAt = at;
    keep("when", "at");
  }
  // The numbers of a test are stored with it, also those that nobody has touched.
  const isNew = form.abTestEnabled && (!saved.abTestEnabled || saved.abTestSamplePercent === 0);
  if (form.abTestEnabled !== saved.abTestEnabled) change.abTestEnabled = form.abTestEnabled;
  keep("abTestEnabled");
  const { abTestSamplePercent: percent } = form;
  const isPercent = Number.isInteger(percent) && percent >= SAMPLE_PERCENT.least && percent <= SAMPLE_PERCENT.most;
  if (isPercent && (isNew || percent !== saved.abTestSamplePercent)) {
    change.abTestSamplePercent = percent;
    keep("abTestSamplePercent");
  }
  if (isNew || form.abTestMetric !== saved.abTestMetric) {
    change.abTestMetric = form.abTestMetric;
    keep("abTestMetric");
  }
  if (isNew || form.abTestDurationMinutes !== saved.abTestDurationMinutes) {
    change.abTestDurationMinutes = form.abTestDurationMinutes;
    keep("abTestDurationMinutes");
  }
  const variants = bodyOf(form.variants);
  if (variantsFit(form.variants) && JSON.stringify(variants) !== JSON.stringify(bodyOf(saved.variants))) {
    change.variants = variants.length ? variants : null;
    keep("variants");
  }
  return { change: Object.keys(change).length ? change : undefined, stored };
}

/** The parts of the form in which two versions of a draft are different. */
export function differences(mine: DraftForm, theirs: DraftForm): (keyof DraftForm)[] {
  const plain = (form: DraftForm, key: keyof DraftForm) =>
    JSON.stringify(key === "variants" ? bodyOf(form.variants) : form[key]);
  return (Object.keys(mine) as (keyof DraftForm)[]).filter((key) => plain(mine, key) !== plain(theirs, key));
}

/** What a browser keeps of a draft until the server has it: what was typed, and what it was typed over. */
export interface KeptForm {
  base: DraftForm;
  form: DraftForm;
}

/** Whether something that a browser kept is a draft with all parts of one that was loaded. */
export function isKept(value: unknown, loaded: DraftForm): value is KeptForm {
  const isForm = (form: unknown) =>
    typeof form === "object" &&
    form !== null &&
    Object.entries(loaded).every(([key, part]) => {
      const kept = (form as Record<string, unknown>)[key];
      return typeof kept === typeof part && Array.isArray(kept) === Array.isArray(part);
    });
  return (
    typeof value === "object" &&
    value !== null &&
    "base" in value &&
    isForm(value.base) &&
    "form" in value &&
    isForm(value.form)
  );
}

/**
 * What was typed and not stored, on top of the draft as it is stored now. `isConflict` says that another person has
 * stored another value of the same part.
 */
export function withKept({ base, form }: KeptForm, loaded: DraftForm): { form: DraftForm; isConflict: boolean } {
  const typed = differences(base, form);
  const stored = new Set(differences(base, loaded));
  const wanted = new Set(differences(form, loaded));
  const merged = Object.assign({ ...loaded }, ...typed.map((part) => ({ [part]: form[part] }))) as DraftForm;
  return { form: merged, isConflict: typed.some((part) => stored.has(part) && wanted.has(part)) };
}

/** Something that must be there before the campaign can be sent. */
export type Need =
  | "name"
  | "audience"
  | "nobody"
  | "domain"
  | "domain_gone"
  | "domain_not_ready"
  | "sender"
  | "template"
  | "blank"
  | "subject"
  | "test_template"
  | "variants"
  | "percent"
  | "time"
  | "past";

/** The field of the form that each need is about: the id of its control begins with `campaign-`. */
export const FIELD_OF: Record<Need, string> = {
  name: "name",
  audience: "audience",
  nobody: "audience",
  domain: "domain",
  domain_gone: "domain",
  domain_not_ready: "domain",
  sender: "sender",
  template: "template",
  blank: "template",
  subject: "subject",
  test_template: "template",
  variants: "variants",
  percent: "percent",
  time: "at",
  past: "at",
};

/** What is known beside the form. What is still read is undefined, and is not held against the campaign. */
export interface Known {
  /** Contacts that get the campaign. */
  recipients: number | undefined;
  /** The chosen domain, null if it does not exist any more. */
  domain: { domain: string; status: string } | null | undefined;
  /** The chosen template. */
  template: { subject: string | null; html: string | null; text: string | null } | undefined;
  /**
   * Whether the mail of the project is caught in the inbox, for which no domain must be ready; undefined if that is the
   * server's setting, which is not known here.
   */
  isCaptured: boolean | undefined;
  now: number;
}

/** What is missing before the campaign can be sent, in the order of the form. */
export function needsOf(form: DraftForm, { recipients, domain, template, isCaptured, now }: Known): Need[] {
  const needs: Need[] = [];
  if (!form.name.trim()) needs.push("name");
  if (!form.audienceId) needs.push("audience");
  else if (recipients === 0) needs.push("nobody");
  if (!form.domainId) needs.push("domain");
  else if (domain === null) needs.push("domain_gone");
  else if (domain && domain.status !== "VERIFIED" && isCaptured === false) needs.push("domain_not_ready");
  if (!ADDRESS.test(form.fromEmail)) needs.push("sender");
  const isTest = form.abTestEnabled;
  const variants = isTest ? form.variants : [];
  const ownTemplates = variants.length > 0 && variants.every((each) => each.templateId);
  const ownSubjects = variants.length > 0 && variants.every((each) => each.subject.trim());
  if (!form.templateId && !ownTemplates) needs.push(isTest ? "test_template" : "template");
  if (form.templateId && template && !template.html?.trim() && !template.text?.trim()) needs.push("blank");
  if (!form.subject.trim() && !ownSubjects && form.templateId && template && !template.subject?.trim())
    needs.push("subject");
  if (isTest) {
    if (form.variants.length < VARIANTS.fewest || !variantsFit(form.variants)) needs.push("variants");
    const { abTestSamplePercent: percent } = form;
    if (!(percent >= SAMPLE_PERCENT.least && percent <= SAMPLE_PERCENT.most)) needs.push("percent");
  }
  const at = timeOf(form);
  if (at === undefined) needs.push("time");
  else if (at !== null && Date.parse(at) <= now) needs.push("past");
  return needs;
}
