import { m } from "../../messages/messages.js";
import { newCondition, newGroup, withOperator } from "../contacts/rules";
import { type Content, type EditedStep, type EditedTrigger, newStep } from "./steps";

export interface Recipe {
  key: string;
  name: () => string;
  lead: () => string;
  build: (sender: string) => Pick<Content, "trigger" | "steps">;
}

const on = (trigger: Partial<EditedTrigger>): EditedTrigger => ({
  type: "CONTACT_CREATED",
  audienceId: "",
  event: "",
  once: true,
  match: "all",
  rows: [],
  ...trigger,
});
const mail = (fromEmail: string) => newStep("SEND_EMAIL", { templateId: "", fromEmail });
const days = (number: number) => newStep("DELAY", { days: String(number) });
const wait = (event: string, timeout: Record<string, string>, otherwise: EditedStep[]): EditedStep => ({
  ...newStep("WAIT_FOR_EVENT"),
  fields: { event, ...timeout },
  then: [newStep("EXIT")],
  else: otherwise,
});

/** A condition on one field of the contact. */
function when(field: string, operator: "withinDays" | "eq", text: string, branches: Partial<EditedStep>): EditedStep {
  const condition = withOperator(newCondition(field, new Map()), operator, new Map());
  return { ...newStep("CONDITION"), tree: newGroup("all", [{ ...condition, text }]), ...branches };
}

/** Series that people usually begin with. Only the API's own triggers and steps. */
export const RECIPES: Recipe[] = [
  {
    key: "welcome",
    name: m.automations_r_welcome,
    lead: m.automations_r_welcome_lead,
    build: (sender) => ({ trigger: on({ type: "AUDIENCE_JOINED" }), steps: [mail(sender), days(3), mail(sender)] }),
  },
  {
    key: "onboarding",
    name: m.automations_r_onboarding,
    lead: m.automations_r_onboarding_lead,
    build: (sender) => ({
      trigger: on({ type: "EVENT", event: "customer.email_verified" }),
      steps: [mail(sender), wait("onboarding.completed", { days: "3" }, [mail(sender)])],
    }),
  },
  {
    key: "trial",
    name: m.automations_r_trial,
    lead: m.automations_r_trial_lead,
    build: (sender) => ({
      trigger: on({ type: "EVENT", event: "trial.started" }),
      steps: [days(11), when("attributes.plan", "eq", "pro", { then: [newStep("EXIT")], else: [mail(sender)] })],
    }),
  },
  {
    key: "cart",
    name: m.automations_r_cart,
    lead: m.automations_r_cart_lead,
    build: (sender) => ({
      trigger: on({ type: "EVENT", event: "cart.updated", once: false }),
      steps: [
        wait("order.placed", { hours: "4" }, [mail(sender), wait("order.placed", { days: "1" }, [mail(sender)])]),
      ],
    }),
  },
  {
    key: "feedback",
    name: m.automations_r_feedback,
    lead: m.automations_r_feedback_lead,
    build: (sender) => ({
      trigger: on({ type: "EVENT", event: "order.placed", once: false }),
      steps: [days(14), mail(sender)],
    }),
  },
  {
    key: "winback",
    name: m.automations_r_winback,
    lead: m.automations_r_winback_lead,
    build: (sender) => ({
      trigger: on({ type: "AUDIENCE_JOINED", once: false }),
      steps: [
        mail(sender),
        days(14),
        when("lastOpenedAt", "withinDays", "14", { then: [newStep("EXIT")], else: [mail(sender)] }),
      ],
    }),
  },
  {
    key: "loyal",
    name: m.automations_r_loyal,
    lead: m.automations_r_loyal_lead,
    build: (sender) => ({
      trigger: on({
        type: "EVENT",
        event: "order.placed",
        rows: [{ key: "total", field: "total", operator: "gte", text: "100" }],
      }),
      steps: [newStep("ADD_TO_AUDIENCE", { audienceId: "" }), mail(sender)],
    }),
  },
  {
    key: "anniversary",
    name: m.automations_r_anniversary,
    lead: m.automations_r_anniversary_lead,
    build: (sender) => ({ trigger: on({ type: "CONTACT_CREATED" }), steps: [days(365), mail(sender)] }),
  },
];

export const BLANK: Recipe = {
  key: "blank",
  name: m.automations_r_blank,
  lead: m.automations_r_blank_lead,
  build: () => ({ trigger: on({ type: "AUDIENCE_JOINED" }), steps: [] }),
};

export function recipeOf(key: string | undefined): Recipe {
  return RECIPES.find((each) => each.key === key) ?? BLANK;
}
