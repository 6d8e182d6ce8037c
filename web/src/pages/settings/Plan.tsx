import type { Billing } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { m } from "../../messages/messages.js";
import { count, shortTime } from "../../parts/format";
import { Button, LoadingFailed, Pill } from "../../parts/parts";
import { useProfile } from "../../session/profile";
import { api } from "../../session/server";
import { Frame } from "./Frame";
import { Choices, FormDialog, ReadOnly, Row, Section, textOf, useMay } from "./pieces";

/** From this share of a limit on, the bar warns. */
const NEARLY_FULL = 0.9;

/** The plan of the account: usage against limits, and the way to another plan. */
export function PlanPart() {
  const query = useQuery({
    queryKey: ["account", "billing"],
    queryFn: ({ signal }) => api().billing.get({ signal }),
  });
  return (
    <Frame
      name="plan"
      title={m.settings_plan()}
      lead={m.settings_plan_lead()}
      request={{ method: "GET", path: "/account/auth-billing" }}
    >
      <ReadOnly what="account" />
      {query.data ? (
        <Plan billing={query.data} />
      ) : query.error ? (
        <LoadingFailed title={m.page_failed()} error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div className="formload" aria-busy="true" />
      )}
    </Frame>
  );
}

const STATES: Record<string, { word: () => string; tone: "" | "good" | "bad"; shape: "yes" | "off" | "attention" }> = {
  active: { word: m.settings_plan_active, tone: "good", shape: "yes" },
  past_due: { word: m.settings_plan_past_due, tone: "bad", shape: "attention" },
  cancelled: { word: m.settings_plan_cancelled, tone: "", shape: "off" },
};

function Plan({ billing }: { billing: Billing }) {
  const mayWrite = useMay("account");
  const { projects } = useProfile();
  const [dialog, setDialog] = useState<"" | "pro" | "b2b" | "portal">("");
  const close = () => setDialog("");
  const state = STATES[billing.status];
  const isPro = billing.plan === "pro";
  const isManual = billing.provider === "manual";
  const { usage, limits } = billing;
  return (
    <>
      <Section title={m.settings_plan_now()}>
        <ul className="rows">
          <Row
            title={
              <>
                {isPro ? m.settings_plan_pro() : m.settings_plan_free()}{" "}
                {state && (
                  <Pill shape={state.shape} tone={state.tone}>
                    {state.word()}
                  </Pill>
                )}
              </>
            }
            action={
              mayWrite &&
              (isPro ? (
                <Button size="small" onClick={() => setDialog("portal")}>
                  {m.settings_plan_manage()}
                </Button>
              ) : (
                <Button size="small" kind="primary" onClick={() => setDialog("pro")}>
                  {m.settings_plan_choose_pro()}
                </Button>
              ))
            }
          >
            {planText(billing)}
          </Row>
          <Row
            title={m.settings_b2b()}
            action={
              mayWrite &&
              !billing.b2bEnhanced && (
                <Button size="small" onClick={() => setDialog("b2b")}>
                  {m.settings_b2b_add()}
                </Button>
              )
            }
          >
            {billing.b2bEnhanced ? m.settings_b2b_on() : m.settings_b2b_off()}
          </Row>
        </ul>
        {isManual && <p className="muted small">{m.settings_plan_manual()}</p>}
      </Section>
      <Section title={m.settings_usage()} lead={m.settings_usage_lead()}>
        <dl className="usage">
          <Used name={m.settings_usage_projects()} used={projects.length} most={limits.projects} />
          <Used name={m.settings_usage_customers()} used={usage.customers} most={limits.customers} />
          <Used name={m.settings_usage_emails()} used={usage.emails} most={limits.emails}>
            {m.settings_usage_month()}
          </Used>
        </dl>
      </Section>
      {dialog === "pro" && <CheckoutDialog item="pro" isManual={isManual} onClose={close} />}
      {dialog === "b2b" && <CheckoutDialog item="b2b" isManual={isManual} onClose={close} />}
      {dialog === "portal" && (
        <FormDialog
          title={m.settings_plan_manage()}
          deed={m.settings_plan_portal()}
          onClose={close}
          run={async () => follow((await api().billing.openPortal()).url)}
        >
          {() => <p>{m.settings_plan_portal_lead()}</p>}
        </FormDialog>
      )}
    </>
  );
}

function planText({ plan, billingCycle, currentPeriodEnd, status }: Billing): string {
  if (plan !== "pro") return m.settings_plan_free_text();
  const cycle = billingCycle === "yearly" ? m.settings_yearly() : m.settings_monthly();
  if (!currentPeriodEnd) return cycle;
  const day = shortTime(currentPeriodEnd);
  return status === "cancelled" ? m.settings_plan_ends({ day }) : m.settings_plan_renews({ cycle, day });
}

function Used({
  name,
  used,
  most,
  children,
}: {
  name: string;
  used: number;
  most: number | null;
  children?: ReactNode;
}) {
  const share = most ? used / most : 0;
  return (
    <div className="used">
      <dt>
        {name} {children && <span className="muted">{children}</span>}
      </dt>
      <dd>
        <span>
          <b>{count(used)}</b>{" "}
          <span className="muted">
            {most === null ? m.settings_usage_unlimited() : m.settings_usage_of({ most: count(most) })}
          </span>
        </span>
        {most !== null && (
          <span className="meter" aria-hidden="true">
            <i className={share >= NEARLY_FULL ? "warn" : ""} style={{ width: `${Math.min(share * 100, 100)}%` }} />
          </span>
        )}
        {share >= 1 && <p className="full">{m.settings_usage_full()}</p>}
      </dd>
    </div>
  );
}

/** Go to a page of the payment provider or of this server. */
function follow(url: string): void {
  if (/^https?:/.test(url)) location.assign(url);
}

function CheckoutDialog({ item, isManual, onClose }: { item: "pro" | "b2b"; isManual: boolean; onClose: () => void }) {
  const { billing } = api();
  return (
    <FormDialog
      title={item === "pro" ? m.settings_plan_choose_pro() : m.settings_b2b_add()}
      deed={m.settings_checkout_go()}
      onClose={onClose}
      run={async (form) => {
        const chosen = { billingCycle: textOf(form, "cycle") };
        const { url } = await (item === "pro" ? billing.beginCheckout(chosen) : billing.beginB2bCheckout(chosen));
        follow(url);
      }}
    >
      {() => (
        <>
          <p className="muted">{isManual ? m.settings_checkout_manual() : m.settings_checkout_lead()}</p>
          <Choices
            legend={m.settings_cycle()}
            isLegendShown
            name="cycle"
            value="monthly"
            options={[
              { value: "monthly", label: m.settings_monthly() },
              { value: "yearly", label: m.settings_yearly() },
            ]}
          />
        </>
      )}
    </FormDialog>
  );
}
