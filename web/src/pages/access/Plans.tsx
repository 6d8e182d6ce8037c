import { notifications } from "@mantine/notifications";
import { APIError, type Feature, type Plan } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { count, longTime } from "../../parts/format";
import { Button, Empty, Field, ICON, LoadingFailed, SkeletonRows, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useUndo } from "../../parts/undo";
import { useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Choices, FormDialog, textOf } from "../settings/pieces";
import { type Choice, choiceOf, defaultOf, isLimit, planFeatures, plansWith, type Setting, settingIn } from "./matrix";

const MOST = 1_000;
const POLL_MS = 30_000;

function featuresQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "features"],
    queryFn: async ({ signal }) => {
      const { data } = await api(projectId).features.list({ limit: MOST }, { signal });
      return data.toSorted((one, other) => one.name.localeCompare(other.name));
    },
    refetchInterval: POLL_MS,
  });
}

function plansQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "plans"],
    // The oldest first, as plans usually grow.
    queryFn: async ({ signal }) => (await api(projectId).plans.list({ limit: MOST }, { signal })).data.toReversed(),
    refetchInterval: POLL_MS,
  });
}

/** A feature or plan that another person has changed while it was edited here. */
interface Clash {
  name: string;
  updatedAt: string;
  rows: { name: string; theirs: string; mine: string }[];
  keep: () => Promise<unknown>;
}

type Dialog =
  | { kind: "feature"; feature?: Feature }
  | { kind: "plan"; plan?: Plan }
  | { kind: "losing feature"; feature: Feature };

/** The features of the project as rows, its plans as columns. */
export function Plans() {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const features = useQuery(featuresQuery(projectId));
  const plans = useQuery(plansQuery(projectId));
  const undo = useUndo();
  const [dialog, setDialog] = useState<Dialog>();
  const [clash, setClash] = useState<Clash>();
  const refresh = async () => {
    await Promise.all([
      client.invalidateQueries(featuresQuery(projectId)),
      client.invalidateQueries(plansQuery(projectId)),
    ]);
  };
  useLive(projectId, ["entitlement.changed"], () => void refresh());
  const close = () => setDialog(undefined);
  const rows = features.data?.filter((each) => !undo.hidden.has(idOf("feature", each)));
  const columns = plans.data?.filter((each) => !undo.hidden.has(idOf("plan", each))) ?? [];
  const failed = features.data && plans.data ? undefined : (features.error ?? plans.error);
  const removeFeature = (feature: Feature) => {
    if (plansWith(plans.data ?? [], feature.key).length) return setDialog({ kind: "losing feature", feature });
    undo.start({
      id: idOf("feature", feature),
      said: m.access_deleted({ name: feature.name }),
      run: async () => {
        await api(projectId).features.delete(feature.key);
        await refresh();
      },
      failed: (error) => m.access_failed({ name: feature.name, reason: messageOf(error) }),
    });
  };
  const removePlan = (plan: Plan) =>
    undo.start({
      id: idOf("plan", plan),
      said: m.access_deleted({ name: plan.name }),
      run: async () => {
        await api(projectId).plans.delete(plan.key);
        await refresh();
      },
      failed: (error) => m.access_failed({ name: plan.name, reason: messageOf(error) }),
    });
  return (
    <div className="planspart">
      {mayWrite && (
        <div className="filters">
          <div className="acts right">
            <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setDialog({ kind: "feature" })}>
              {m.access_feature_new()}
            </Button>
            <Button
              size="small"
              kind="primary"
              icon={<IconPlus {...ICON} />}
              onClick={() => setDialog({ kind: "plan" })}
            >
              {m.access_plan_new()}
            </Button>
          </div>
        </div>
      )}
      {failed ? (
        <LoadingFailed
          error={failed}
          onRetry={() => {
            void features.refetch();
            void plans.refetch();
          }}
        />
      ) : rows?.length === 0 && plans.data && columns.length === 0 ? (
        <Empty title={m.access_features_none()} lead={m.access_features_none_lead()}>
          {mayWrite && (
            <Button kind="primary" onClick={() => setDialog({ kind: "feature" })}>
              {m.access_feature_new()}
            </Button>
          )}
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys.
        <div className="scrollx matrixbox" tabIndex={0} role="region" aria-label={m.access_plans_matrix()}>
          <table className="table matrix plans">
            <thead>
              <tr>
                <th scope="col">{m.access_feature()}</th>
                <th scope="col" className="col">
                  {m.access_without_plan()}
                  <small className="muted">{m.access_without_plan_lead()}</small>
                </th>
                {columns.map((plan) => (
                  <th key={plan.key} scope="col" className="col">
                    {mayWrite ? (
                      <button
                        type="button"
                        className="name linkish"
                        title={plan.key}
                        aria-label={m.access_edit_of({ name: plan.name })}
                        onClick={() => setDialog({ kind: "plan", plan })}
                      >
                        {plan.name}
                      </button>
                    ) : (
                      <span className="name" title={plan.key}>
                        {plan.name}
                      </span>
                    )}
                    <small className="muted">
                      {plan.organizationCount === 1
                        ? m.access_organizations_one()
                        : m.access_organizations({ count: count(plan.organizationCount) })}
                    </small>
                  </th>
                ))}
                {mayWrite && (
                  <th scope="col" className="c-act">
                    <span className="sr">{m.access_actions()}</span>
                  </th>
                )}
              </tr>
            </thead>
            {rows && plans.data ? (
              <tbody>
                {rows.map((feature) => (
                  <tr key={feature.key}>
                    <th scope="row">
                      {feature.name}
                      <small className="muted">
                        <code>{feature.key}</code>{" "}
                        {feature.type === "LIMIT" ? m.access_type_limit() : m.access_type_boolean()}
                      </small>
                    </th>
                    <td className="col" data-plan={m.access_without_plan()}>
                      <Value setting={defaultOf(feature)} type={feature.type} />
                    </td>
                    {columns.map((plan) => {
                      const setting = settingIn(plan, feature.key);
                      return (
                        <td key={plan.key} className="col" data-plan={plan.name}>
                          {setting.kind === "default" ? (
                            <span className="muted">
                              <Value setting={defaultOf(feature)} type={feature.type} />
                              <small>{m.access_as_default()}</small>
                            </span>
                          ) : (
                            <Value setting={setting} type={feature.type} />
                          )}
                        </td>
                      );
                    })}
                    {mayWrite && (
                      <td className="c-act">
                        <Button
                          kind="bare"
                          size="small"
                          aria-label={m.access_edit_of({ name: feature.name })}
                          onClick={() => setDialog({ kind: "feature", feature })}
                        >
                          {m.access_edit()}
                        </Button>
                        <Button
                          kind="bare"
                          size="small"
                          aria-label={m.access_delete_of({ name: feature.name })}
                          onClick={() => removeFeature(feature)}
                        >
                          {m.access_delete()}
                        </Button>
                      </td>
                    )}
                  </tr>
                ))}
              </tbody>
            ) : (
              <SkeletonRows rows={4} widths={[160, 60, 60, 60]} />
            )}
          </table>
        </div>
      )}
      {dialog?.kind === "feature" && (
        <FeatureDialog stored={dialog.feature} onClose={close} onSaved={refresh} onClash={setClash} />
      )}
      {dialog?.kind === "plan" && rows && (
        <PlanDialog
          stored={dialog.plan}
          features={rows}
          onClose={close}
          onSaved={refresh}
          onClash={setClash}
          onRemove={removePlan}
        />
      )}
      {dialog?.kind === "losing feature" && (
        <TypedConfirm
          title={m.access_feature_delete_title({ name: dialog.feature.name })}
          name={dialog.feature.key}
          deed={m.access_feature_delete()}
          onClose={close}
          run={async () => {
            await api(projectId).features.delete(dialog.feature.key);
            await refresh();
            notifications.show({ message: m.access_deleted({ name: dialog.feature.name }) });
          }}
        >
          <p>
            {m.access_feature_delete_used({
              plans: plansWith(plans.data ?? [], dialog.feature.key)
                .map((plan) => `${plan.name} (${count(plan.organizationCount)})`)
                .join(", "),
            })}
          </p>
          <p>{m.access_feature_delete_lead()}</p>
        </TypedConfirm>
      )}
      {clash && (
        <ConflictDialog
          lead={
            <>
              {m.access_changed_meanwhile({ name: clash.name })} <Time at={clash.updatedAt} format={longTime} />
            </>
          }
          rows={clash.rows}
          onTheirs={() => setClash(undefined)}
          onMine={async () => {
            try {
              await clash.keep();
            } catch (error) {
              notifications.show({ message: m.access_failed({ name: clash.name, reason: messageOf(error) }) });
            }
            setClash(undefined);
            await refresh();
          }}
          onClose={() => setClash(undefined)}
        />
      )}
    </div>
  );
}

function idOf(kind: string, { key, createdAt }: Feature | Plan): string {
  return `${kind} ${key} ${createdAt}`;
}

function settingWords(setting: Setting, type: string): string {
  if (setting.kind === "default") return m.access_as_default();
  if (setting.kind === "off") return m.settings_off();
  if (type !== "LIMIT") return m.settings_on();
  return setting.limit === null ? m.access_unlimited() : m.access_up_to({ limit: count(setting.limit) });
}

function Value({ setting, type }: { setting: Setting; type: string }) {
  return (
    <span className="st">
      <Glyph shape={setting.kind === "on" ? "yes" : "no"} />
      <span className="w">{settingWords(setting, type)}</span>
    </span>
  );
}

function isChangedMeanwhile(error: unknown): boolean {
  return error instanceof APIError && error.status === 412;
}

function FeatureDialog({
  stored,
  onClose,
  onSaved,
  onClash,
}: {
  stored: Feature | undefined;
  onClose: () => void;
  onSaved: () => Promise<void>;
  onClash: (clash: Clash) => void;
}) {
  const projectId = useProjectId();
  const [type, setType] = useState<"BOOLEAN" | "LIMIT">(stored?.type === "LIMIT" ? "LIMIT" : "BOOLEAN");
  const [limitError, setLimitError] = useState<string>();
  return (
    <FormDialog
      title={stored ? m.access_feature_edit({ name: stored.name }) : m.access_feature_new()}
      deed={stored ? m.settings_save() : m.access_feature_create()}
      places={{ key: ["/key", "feature_exists"], name: ["/name"], limit: ["/defaultLimit", "limit_not_taken"] }}
      onClose={onClose}
      run={async (form) => {
        const { features } = api(projectId);
        const name = textOf(form, "name");
        const limit = textOf(form, "limit");
        const enabled = form.get("enabled") === "on";
        if (!isLimit(limit)) {
          setLimitError(m.access_limit_wrong());
          throw new Error(m.settings_see_above());
        }
        setLimitError(undefined);
        const defaultLimit = type === "LIMIT" && limit ? Number(limit) : null;
        if (!stored) {
          const key = textOf(form, "key");
          await features.create({ key, ...(name && { name }), type, defaultEnabled: enabled, defaultLimit });
          await onSaved();
          notifications.show({ message: m.access_saved({ name: name || key }) });
          return;
        }
        const wanted = {
          name: name || stored.key,
          defaultEnabled: enabled,
          ...(type === "LIMIT" && { defaultLimit }),
        };
        const clash = (theirs: Feature) => {
          const mine: Setting = enabled ? { kind: "on", limit: defaultLimit } : { kind: "off" };
          onClash({
            name: theirs.name,
            updatedAt: theirs.updatedAt,
            rows: [
              { name: m.access_name(), theirs: theirs.name, mine: wanted.name },
              {
                name: m.access_without_plan(),
                theirs: settingWords(defaultOf(theirs), type),
                mine: settingWords(mine, type),
              },
            ],
            keep: () => features.update(stored.key, wanted, { ifMatch: theirs }),
          });
        };
        // Who saves knows the version that the dialog shows: the list has no versions, a single record has.
        const now = await features.get(stored.key);
        if (now.updatedAt !== stored.updatedAt) {
          clash(now);
        } else {
          try {
            await features.update(stored.key, wanted, { ifMatch: now });
            notifications.show({ message: m.access_saved({ name: wanted.name }) });
          } catch (error) {
            if (!isChangedMeanwhile(error)) throw error;
            clash(await features.get(stored.key));
          }
        }
        await onSaved();
      }}
    >
      {(errors) => (
        <>
          <Field
            label={m.access_name()}
            name="name"
            defaultValue={stored?.name ?? ""}
            maxLength={200}
            autoComplete="off"
            error={errors.name}
            data-autofocus
          />
          {!stored && (
            <>
              <Field
                label={m.access_key()}
                name="key"
                hint={m.access_feature_key_hint()}
                placeholder="seats"
                maxLength={64}
                spellCheck={false}
                autoComplete="off"
                error={errors.key}
              />
              <Choices
                legend={m.access_type()}
                isLegendShown
                name="type"
                value={type}
                onChange={setType}
                options={[
                  { value: "BOOLEAN", label: m.access_type_boolean(), hint: m.access_type_boolean_hint() },
                  { value: "LIMIT", label: m.access_type_limit(), hint: m.access_type_limit_hint() },
                ]}
              />
            </>
          )}
          <label className="line">
            <input className="switch" type="checkbox" name="enabled" defaultChecked={stored?.defaultEnabled ?? false} />
            {m.access_feature_enabled()}
          </label>
          {type === "LIMIT" && (
            <Field
              label={m.access_feature_limit()}
              name="limit"
              hint={m.access_limit_hint()}
              defaultValue={stored?.defaultLimit ?? ""}
              inputMode="numeric"
              autoComplete="off"
              error={limitError ?? errors.limit}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}

function PlanDialog({
  stored,
  features,
  onClose,
  onSaved,
  onClash,
  onRemove,
}: {
  stored: Plan | undefined;
  features: Feature[];
  onClose: () => void;
  onSaved: () => Promise<void>;
  onClash: (clash: Clash) => void;
  onRemove: (plan: Plan) => void;
}) {
  const projectId = useProjectId();
  const [choices, setChoices] = useState<Record<string, Choice>>(() =>
    Object.fromEntries(
      features.map(({ key }) => [key, choiceOf(stored ? settingIn(stored, key) : { kind: "default" })]),
    ),
  );
  const [wrong, setWrong] = useState<string[]>([]);
  const choose = (key: string, part: Partial<Choice>) => {
    setChoices((before) => ({
      ...before,
      [key]: { mode: "default", limit: "", ...before[key], ...part },
    }));
    setWrong((before) => before.filter((each) => each !== key));
  };
  return (
    <FormDialog
      title={stored ? m.access_plan_edit({ name: stored.name }) : m.access_plan_new()}
      deed={stored ? m.settings_save() : m.access_plan_create()}
      places={{ key: ["/key", "plan_exists"], name: ["/name"] }}
      onClose={onClose}
      run={async (form) => {
        const { plans } = api(projectId);
        const refused = features.filter(
          ({ key, type }) => type === "LIMIT" && choices[key]?.mode === "on" && !isLimit(choices[key]?.limit ?? ""),
        );
        setWrong(refused.map(({ key }) => key));
        if (refused.length) throw new Error(m.settings_see_above());
        const name = textOf(form, "name");
        const wanted = { ...(name && { name }), features: planFeatures(features, choices) };
        if (!stored) {
          const key = textOf(form, "key");
          await plans.create({ key, ...wanted });
          await onSaved();
          notifications.show({ message: m.access_saved({ name: name || key }) });
          return;
        }
        const clash = (theirs: Plan) =>
          onClash({
            name: theirs.name,
            updatedAt: theirs.updatedAt,
            rows: [
              { name: m.access_name(), theirs: theirs.name, mine: name || stored.name },
              ...features.map(({ key, name: word, type }) => ({
                name: word,
                theirs: settingWords(settingIn(theirs, key), type),
                mine: settingWords(settingIn(wanted, key), type),
              })),
            ].filter((row) => row.theirs !== row.mine),
            keep: () => plans.update(stored.key, wanted, { ifMatch: theirs }),
          });
        const now = await plans.get(stored.key);
        if (now.updatedAt !== stored.updatedAt) {
          clash(now);
        } else {
          try {
            await plans.update(stored.key, wanted, { ifMatch: now });
            notifications.show({ message: m.access_saved({ name: name || stored.name }) });
          } catch (error) {
            if (!isChangedMeanwhile(error)) throw error;
            clash(await plans.get(stored.key));
          }
        }
        await onSaved();
      }}
    >
      {(errors) => (
        <>
          {stored && stored.organizationCount > 0 && (
            <p className="muted">
              {stored.organizationCount === 1
                ? m.access_plan_used_one()
                : m.access_plan_used({ count: count(stored.organizationCount) })}
            </p>
          )}
          <Field
            label={m.access_name()}
            name="name"
            defaultValue={stored?.name ?? ""}
            maxLength={200}
            autoComplete="off"
            error={errors.name}
            data-autofocus
          />
          {!stored && (
            <Field
              label={m.access_key()}
              name="key"
              hint={m.access_plan_key_hint()}
              placeholder="pro"
              maxLength={64}
              spellCheck={false}
              autoComplete="off"
              error={errors.key}
            />
          )}
          {features.length > 0 && (
            <fieldset className="planfeatures">
              <legend className="label">{m.access_features()}</legend>
              {features.map((feature) => {
                const choice = choices[feature.key] ?? { mode: "default", limit: "" };
                return (
                  <div key={feature.key} className="planfeature">
                    <Field label={feature.name}>
                      {(attributes) => (
                        <select
                          className="input"
                          value={choice.mode}
                          onChange={(event) => choose(feature.key, { mode: event.target.value as Choice["mode"] })}
                          {...attributes}
                        >
                          <option value="default">
                            {m.access_default_is({ value: settingWords(defaultOf(feature), feature.type) })}
                          </option>
                          <option value="on">{m.settings_on()}</option>
                          <option value="off">{m.settings_off()}</option>
                        </select>
                      )}
                    </Field>
                    {feature.type === "LIMIT" && choice.mode === "on" && (
                      <Field
                        label={m.access_limit_of({ name: feature.name })}
                        hint={m.access_limit_hint()}
                        value={choice.limit}
                        inputMode="numeric"
                        autoComplete="off"
                        error={wrong.includes(feature.key) ? m.access_limit_wrong() : undefined}
                        onChange={(event) => choose(feature.key, { limit: event.target.value })}
                      />
                    )}
                  </div>
                );
              })}
            </fieldset>
          )}
          {stored && (
            <p className="line">
              <Button
                kind="danger"
                size="small"
                disabled={stored.organizationCount > 0}
                onClick={() => {
                  onClose();
                  onRemove(stored);
                }}
              >
                {m.access_plan_delete()}
              </Button>
              {stored.organizationCount > 0 && <span className="muted small">{m.access_plan_delete_not()}</span>}
            </p>
          )}
        </>
      )}
    </FormDialog>
  );
}
