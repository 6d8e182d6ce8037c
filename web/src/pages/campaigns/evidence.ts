import type { CampaignDetail, CampaignVariant } from "@postern/sdk";

/** By what the winner of an A/B test was chosen, as the API keeps it. */
export interface Evidence {
  decidedBy: string;
  decisive: boolean;
  winnerId: string | undefined;
  variants: {
    variantId: string;
    delivered: number;
    opened: number;
    clicked: number;
    rate: number;
    probabilityOfBeingBest: number;
  }[];
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const numberOf = (value: unknown) => (typeof value === "number" ? value : 0);

/** The evidence of a campaign, which the API does not describe further than as an object. */
export function evidenceOf(value: unknown): Evidence | undefined {
  if (!isObject(value) || typeof value.decidedBy !== "string") return undefined;
  const variants = Array.isArray(value.variants) ? value.variants.filter(isObject) : [];
  return {
    decidedBy: value.decidedBy,
    decisive: value.decisive === true,
    winnerId: typeof value.winnerId === "string" ? value.winnerId : undefined,
    variants: variants.map((each) => ({
      variantId: String(each.variantId),
      delivered: numberOf(each.delivered),
      opened: numberOf(each.opened),
      clicked: numberOf(each.clicked),
      rate: numberOf(each.rate),
      probabilityOfBeingBest: numberOf(each.probabilityOfBeingBest),
    })),
  };
}

export interface Result {
  variant: CampaignVariant;
  messages: number;
  successes: number;
  rate: number;
}

/**
 * The results of the variants: those by which the winner was chosen, where they are kept, because the winner goes on to
 * be sent; otherwise those so far.
 */
export function resultsOf(
  { variants, abTestMetric }: Pick<CampaignDetail, "variants" | "abTestMetric">,
  evidence: Evidence | undefined,
): Result[] {
  const measure = abTestMetric === "CLICK_RATE" ? "clicked" : "opened";
  return variants.map((variant) => {
    const kept = evidence?.variants.find((each) => each.variantId === variant.id);
    const messages = kept ? kept.delivered : variant.stats.sent;
    const successes = Math.min(kept ? kept[measure] : variant.stats[measure], messages);
    return { variant, messages, successes, rate: messages > 0 ? successes / messages : 0 };
  });
}
