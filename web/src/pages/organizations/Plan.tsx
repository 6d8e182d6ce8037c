import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Entitlement, EntitlementOverride, Organization } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { count, longTime } from "../../parts/format";
import { Button, Empty, Field, LoadingFailed, Status, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useUndo } from "../../parts/undo";
import { Wrong } from "../../parts/Wrong";
import { localInput } from "../../parts/when";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { entitlementsQuery, featuresQuery, planQuery, plansQuery, useReadAgain } from "./queries";
import { limitIn, overridesFirst } from "./values";
import { Waiting } from "./Waiting";

/** The plan of an organization, and what it may use for which reason. */
export function Plan({ organization }: { organization: Organization }) {
  return (
    <>
      <PlanChoice organization={organization} />
      <Features organization={organization} />
    </>
  );
}

function PlanChoice({ organization: { id, name } }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const plan = useQuery(planQuery(projectId, id));
  const plans = useQuery(plansQuery(projectId));
  const [isChoosing, setChoosing] = useState(false);
  const key = plan.data?.planKey ?? null;
  const known = plans.data?.find((each) => each.key === key);
  return (
    <section className="sec" aria-labelledby="plan">
      <header>
        <h2 id="plan">{m.organizations_plan()}</h2>
        {mayWrite && plan.data && plans.data && plans.data.length > 0 && (
          <div className="acts">
            <Button size="small" onClick={() => setChoosing(true)}>
              {m.organizations_plan_change()}
            </Button>
          </div>
        )}
      </header>
      {plan.isError && !plan.data ? (
        <LoadingFailed error={plan.error} onRetry={() => void plan.refetch()} />
      ) : plan.isPending || plans.isPending ? (
        <Waiting rows={1} />
      ) : (
        <p className="ruled planline">
          {key ? (
            <>
              <b>{known?.name ?? key}</b> <code className="muted">{key}</code>
            </>
          ) : (
            <span className="muted">
              {plans.data?.length ? m.organizations_plan_none_lead({ name }) : m.organizations_plans_none()}
            </span>
          )}
        </p>
      )}
      {isChoosing && <PlanDialog id={id} name={name} current={key} onClose={() => setChoosing(false)} />}
    </section>
  );
}

function PlanDialog({
  id,
  name,
  current,
  onClose,
}: {
  id: string;
  name: string;
  current: string | null;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const plans = useQuery(plansQuery(projectId));
  const readAgain = useReadAgain(projectId, id);
  const [chosen, setChosen] = useState(current);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const path = `/projects/${projectId}/b2b/organizations/${id}/plan`;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (chosen === current) return onClose();
    setBusy(true);
    setError("");
    try {
      await api(projectId).organizations.setPlan(id, { planKey: chosen });
      readAgain("plan", "entitlements");
      notifications.show({ message: m.organizations_plan_done({ name }) });
      onClose();
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  const choices = [
    { key: null, label: m.organizations_plan_none(), hint: m.organizations_plan_none_hint() },
    ...(plans.data ?? []).map((each) => ({
      key: each.key,
      label: each.name,
      hint: each.features
        .map(({ featureKey, enabled, limit }) =>
          enabled
            ? limit === null || limit === undefined
              ? featureKey
              : `${featureKey}: ${count(limit)}`
            : m.organizations_feature_without({ feature: featureKey }),
        )
        .join(", "),
    })),
  ];
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_plan_title({ name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.organizations_plan_lead()}</p>
        <fieldset className="choices">
          <legend className="sr">{m.organizations_plan()}</legend>
          {choices.map(({ key, label, hint }) => (
            <label key={key ?? ""} className="boxed">
              <input type="radio" name="plan" checked={chosen === key} onChange={() => setChosen(key)} />
              <span>
                {label}
                <span className="muted">{hint}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Wrong>{error}</Wrong>
        <div className="dialog-actions">
          <Button kind="bare" onClick={() => void copyCurl({ method: "PUT", path, body: { planKey: chosen } })}>
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_plan_change()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** Up to how much a feature may be used, in words. */
function amountOf({ type, enabled, limit }: Entitlement): string {
  if (!enabled) return m.organizations_feature_off();
  if (type !== "LIMIT") return m.organizations_feature_on();
  return limit === null ? m.organizations_unlimited() : m.organizations_up_to({ count: count(limit) });
}

function Features({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const { id, status } = organization;
  const query = useQuery(entitlementsQuery(projectId, id));
  const features = useQuery(featuresQuery(projectId));
  const plans = useQuery(plansQuery(projectId));
  const readAgain = useReadAgain(projectId, id);
  const { hidden, start } = useUndo();
  const [changing, setChanging] = useState<Entitlement>();
  const nameOf = (key: string) => features.data?.find((each) => each.key === key)?.name ?? key;
  const undoId = (key: string) => `override ${id} ${key}`;
  const remove = ({ featureKey }: Entitlement) =>
    start({
      id: undoId(featureKey),
      said: m.organizations_override_removed({ feature: nameOf(featureKey) }),
      run: async () => {
        await api(projectId).entitlements.deleteOverride(id, featureKey);
        readAgain("entitlements");
      },
      failed: messageOf,
    });
  const sourceOf = (entitlement: Entitlement) => {
    if (hidden.has(undoId(entitlement.featureKey))) return m.organizations_override_removing();
    switch (entitlement.source) {
      case "OVERRIDE":
        return m.organizations_from_override();
      case "PLAN":
        return m.organizations_from_plan({
          plan: plans.data?.find((each) => each.key === entitlement.planKey)?.name ?? entitlement.planKey ?? "",
        });
      default:
        return m.organizations_from_default();
    }
  };
  return (
    <section className="sec" aria-labelledby="features">
      <header>
        <h2 id="features">{m.organizations_features()}</h2>
        <p>{m.organizations_features_lead()}</p>
      </header>
      {status === "SUSPENDED" && <p className="muted">{m.organizations_features_suspended()}</p>}
      {query.isError && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Waiting />
      ) : query.data.length === 0 ? (
        <Empty title={m.organizations_features_empty()} lead={m.organizations_features_empty_lead()}>
          <a className="btn" href="/guide/entitlements" target="_blank" rel="noreferrer">
            {m.organizations_features_guide()}
          </a>
          <Button
            kind="bare"
            onClick={() =>
              void copyCurl({
                method: "POST",
                path: `/projects/${projectId}/b2b/features`,
                body: { key: "seats", name: "Seats", type: "LIMIT", defaultEnabled: true, defaultLimit: 5 },
              })
            }
          >
            {m.copy_as_curl()}
          </Button>
        </Empty>
      ) : (
        <ul className="list ruled features">
          {overridesFirst(query.data).map((entitlement) => {
            const { featureKey, enabled, source, reason, expiresAt } = entitlement;
            const isOverride = source === "OVERRIDE" && !hidden.has(undoId(featureKey));
            return (
              <li key={featureKey}>
                <div className="grow">
                  <b className="breaks">{nameOf(featureKey)}</b>{" "}
                  {nameOf(featureKey) !== featureKey && <code className="muted breaks">{featureKey}</code>}
                  <p className="muted breaks">
                    {sourceOf(entitlement)}
                    {isOverride && reason && ` · ${reason}`}
                    {isOverride && expiresAt && (
                      <>
                        {" · "}
                        {m.organizations_override_until()} <Time at={expiresAt} format={longTime} />
                      </>
                    )}
                  </p>
                </div>
                <Status shape={enabled ? "yes" : "no"}>{amountOf(entitlement)}</Status>
                {mayWrite && (
                  <>
                    <Button
                      kind="bare"
                      size="small"
                      aria-label={
                        isOverride
                          ? m.organizations_override_change_of({ feature: nameOf(featureKey) })
                          : m.organizations_override_of({ feature: nameOf(featureKey) })
                      }
                      onClick={() => setChanging(entitlement)}
                    >
                      {isOverride ? m.organizations_override_change() : m.organizations_override()}
                    </Button>
                    {isOverride && (
                      <Button
                        kind="bare"
                        size="small"
                        aria-label={m.organizations_override_remove_of({ feature: nameOf(featureKey) })}
                        onClick={() => remove(entitlement)}
                      >
                        {m.organizations_remove()}
                      </Button>
                    )}
                  </>
                )}
              </li>
            );
          })}
        </ul>
      )}
      {changing && (
        <OverrideDialog
          organization={organization}
          entitlement={changing}
          feature={nameOf(changing.featureKey)}
          onClose={() => setChanging(undefined)}
        />
      )}
    </section>
  );
}

const FIELDS = { limit: "limit", reason: "reason", expiresAt: "expiresAt" };

function OverrideDialog({
  organization: { id, name },
  entitlement,
  feature,
  onClose,
}: {
  organization: Organization;
  entitlement: Entitlement;
  feature: string;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const readAgain = useReadAgain(projectId, id);
  const isOverride = entitlement.source === "OVERRIDE";
  const isLimit = entitlement.type === "LIMIT";
  // An exception mostly allows what is not allowed yet.
  const [isEnabled, setEnabled] = useState(isOverride ? entitlement.enabled : true);
  const [limit, setLimit] = useState(entitlement.limit === null ? "" : String(entitlement.limit));
  const [reason, setReason] = useState((isOverride && entitlement.reason) || "");
  const [until, setUntil] = useState(
    isOverride && entitlement.expiresAt ? localInput(new Date(entitlement.expiresAt)) : "",
  );
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const path = `/projects/${projectId}/b2b/organizations/${id}/entitlements/${entitlement.featureKey}`;
  const date = until ? new Date(until) : undefined;
  const amount = limitIn(limit);
  const body: EntitlementOverride = {
    enabled: isEnabled,
    ...(isLimit && isEnabled && { limit: amount ?? null }),
    reason: reason.trim() || null,
    expiresAt: date && !Number.isNaN(date.getTime()) ? date.toISOString() : null,
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (isLimit && isEnabled && amount === undefined) return setErrors({ limit: m.organizations_limit_wrong() });
    if (date && date.getTime() <= Date.now()) return setErrors({ expiresAt: m.organizations_override_past() });
    setBusy(true);
    setErrors({});
    try {
      await api(projectId).entitlements.setOverride(id, entitlement.featureKey, body);
      readAgain("entitlements");
      notifications.show({ message: m.organizations_override_done({ feature }) });
      onClose();
    } catch (error) {
      setErrors(messagesByField(error, FIELDS, messageOf(error)));
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_override_title({ feature, name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.organizations_override_lead()}</p>
        <div className="seg fit" role="group" aria-label={feature}>
          <button type="button" aria-pressed={isEnabled} onClick={() => setEnabled(true)}>
            {m.organizations_feature_on()}
          </button>
          <button type="button" aria-pressed={!isEnabled} onClick={() => setEnabled(false)}>
            {m.organizations_feature_off()}
          </button>
        </div>
        {isLimit && isEnabled && (
          <Field
            label={m.organizations_limit()}
            hint={m.organizations_limit_hint()}
            inputMode="numeric"
            autoComplete="off"
            error={errors.limit}
            value={limit}
            onChange={(event) => {
              setLimit(event.target.value);
              setErrors({});
            }}
          />
        )}
        <Field
          label={m.organizations_override_reason()}
          hint={m.organizations_override_reason_hint()}
          maxLength={500}
          autoComplete="off"
          error={errors.reason}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <Field
          label={m.organizations_override_ends()}
          hint={m.organizations_override_ends_hint()}
          type="datetime-local"
          error={errors.expiresAt}
          value={until}
          onChange={(event) => {
            setUntil(event.target.value);
            setErrors({});
          }}
        />
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button kind="bare" onClick={() => void copyCurl({ method: "PUT", path, body })}>
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_save()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
