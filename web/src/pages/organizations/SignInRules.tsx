import { notifications } from "@mantine/notifications";
import { APIError, type Organization, type OrganizationChange } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { Button, Field } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { useEditing, useShowOrganization } from "./queries";
import { limitIn } from "./values";

const METHODS = ["PASSWORD", "EMAIL_CODE", "EMAIL_LINK", "PASSKEY", "SOCIAL", "SSO"] as const;
const WORDS: Record<string, () => string> = {
  PASSWORD: m.organizations_method_password,
  EMAIL_CODE: m.organizations_method_code,
  EMAIL_LINK: m.organizations_method_link,
  PASSKEY: m.organizations_method_passkey,
  SOCIAL: m.organizations_method_social,
  SSO: m.organizations_method_sso,
};
const FIELDS = {
  allowedMethods: "allowedMethods",
  sessionLifetimeMinutes: "sessionLifetimeMinutes",
  sessionIdleMinutes: "sessionIdleMinutes",
};

interface Draft {
  isLimited: boolean;
  methods: string[];
  sessionLifetimeMinutes: string;
  sessionIdleMinutes: string;
}

const draftOf = ({ allowedMethods, sessionLifetimeMinutes, sessionIdleMinutes }: Organization): Draft => ({
  isLimited: allowedMethods !== null,
  methods: METHODS.filter((each) => allowedMethods === null || allowedMethods.includes(each)),
  sessionLifetimeMinutes: sessionLifetimeMinutes === null ? "" : String(sessionLifetimeMinutes),
  sessionIdleMinutes: sessionIdleMinutes === null ? "" : String(sessionIdleMinutes),
});

const methodsWord = ({ isLimited, methods }: Draft) =>
  isLimited ? methods.map((each) => WORDS[each]?.() ?? each).join(", ") : m.organizations_methods_all();

/** By which methods the members of an organization sign in, and when their sessions end. */
export function SignInRules({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const show = useShowOrganization(projectId);
  const { id } = organization;
  const { base, theirs, isBusy, save, takeTheirs, rebase, settle } = useEditing(
    organization,
    () => api(projectId).organizations.get(id),
    show,
  );
  const [draft, setDraft] = useState(() => draftOf(organization));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isLockOut, setLockOut] = useState(false);
  const stored = draftOf(base);
  const text = (each: Draft) => JSON.stringify(each.isLimited ? each : { ...each, methods: [] });
  const isChanged = text(draft) !== text(stored);
  // A change of something else, or one that this person does not overwrite, is no conflict.
  if (organization.updatedAt > base.updatedAt && !theirs && !isBusy) {
    const latest = draftOf(organization);
    if (text(latest) === text(stored) || !isChanged) {
      rebase(organization);
      if (!isChanged) setDraft(latest);
    }
  }
  const minutes = (name: "sessionLifetimeMinutes" | "sessionIdleMinutes") => limitIn(draft[name]);
  const store = async (against?: Organization, allowLockOut = false) => {
    const wrong: Record<string, string> = {};
    for (const name of ["sessionLifetimeMinutes", "sessionIdleMinutes"] as const)
      if (minutes(name) === undefined) wrong[name] = m.organizations_minutes_wrong();
    if (draft.isLimited && draft.methods.length === 0) wrong.allowedMethods = m.organizations_methods_none();
    setErrors(wrong);
    if (Object.keys(wrong).length) return settle();
    const change: OrganizationChange = {
      ...(methodsWord(draft) !== methodsWord(stored) && { allowedMethods: draft.isLimited ? draft.methods : null }),
      ...(draft.sessionLifetimeMinutes !== stored.sessionLifetimeMinutes && {
        sessionLifetimeMinutes: minutes("sessionLifetimeMinutes") ?? null,
      }),
      ...(draft.sessionIdleMinutes !== stored.sessionIdleMinutes && {
        sessionIdleMinutes: minutes("sessionIdleMinutes") ?? null,
      }),
      ...(allowLockOut && { allowLockOut }),
    };
    const saved = await save((ifMatch) => api(projectId).organizations.update(id, change, { ifMatch }), against);
    if (saved.kind === "refused") {
      settle();
      const { error } = saved;
      if (error instanceof APIError && error.code === "owners_locked_out") return setLockOut(true);
      setErrors(messagesByField(error, FIELDS, messageOf(error)));
    }
    if (saved.kind === "saved") {
      notifications.show({ message: m.organizations_rules_applied() });
      setDraft(draftOf(await api(projectId).organizations.get(id)));
    }
  };
  const field = (name: "sessionLifetimeMinutes" | "sessionIdleMinutes") => ({
    value: draft[name],
    error: errors[name],
    inputMode: "numeric" as const,
    autoComplete: "off",
    readOnly: !mayWrite,
    onChange: (event: { target: { value: string } }) => {
      setDraft({ ...draft, [name]: event.target.value });
      setErrors({ ...errors, [name]: "" });
    },
  });
  const now = theirs && draftOf(theirs);
  return (
    <section className="sec" aria-labelledby="signinrules">
      <header>
        <h2 id="signinrules">{m.organizations_rules()}</h2>
      </header>
      <form
        className="form customerform ruled detailsform"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!isBusy && isChanged) void store();
        }}
      >
        <fieldset className="roleboxes" disabled={!mayWrite}>
          <legend className="label">{m.organizations_methods()}</legend>
          <label className="boxed">
            <input
              type="checkbox"
              className="check"
              checked={draft.isLimited}
              onChange={(event) => setDraft({ ...draft, isLimited: event.target.checked })}
            />
            <span>
              {m.organizations_methods_limited()}
              <span className="muted">{m.organizations_methods_hint()}</span>
            </span>
          </label>
          {draft.isLimited &&
            METHODS.map((each) => (
              <label key={each} className="boxed indented">
                <input
                  type="checkbox"
                  className="check"
                  checked={draft.methods.includes(each)}
                  onChange={(event) =>
                    setDraft({
                      ...draft,
                      methods: METHODS.filter((other) =>
                        other === each ? event.target.checked : draft.methods.includes(other),
                      ),
                    })
                  }
                />
                <span>{WORDS[each]?.()}</span>
              </label>
            ))}
        </fieldset>
        <Wrong>{errors.allowedMethods}</Wrong>
        <Field
          label={m.organizations_lifetime()}
          hint={m.organizations_lifetime_hint()}
          {...field("sessionLifetimeMinutes")}
        />
        <Field label={m.organizations_idle()} hint={m.organizations_idle_hint()} {...field("sessionIdleMinutes")} />
        <Wrong>{errors[""]}</Wrong>
        {mayWrite && (
          <div className="dialog-actions start">
            <Button kind="primary" type="submit" busy={isBusy} disabled={!isChanged}>
              {m.organizations_rules_apply()}
            </Button>
          </div>
        )}
      </form>
      {isLockOut && (
        <ConfirmDialog
          title={m.organizations_lock_out_title()}
          deed={m.organizations_lock_out_deed()}
          onClose={() => setLockOut(false)}
          run={() => store(undefined, true)}
        >
          <p>{m.organizations_lock_out_lead()}</p>
        </ConfirmDialog>
      )}
      {theirs && now && (
        <ConflictDialog
          lead={m.organizations_conflict_lead()}
          rows={[
            { name: m.organizations_methods(), theirs: methodsWord(now), mine: methodsWord(draft) },
            {
              name: m.organizations_lifetime(),
              theirs: now.sessionLifetimeMinutes,
              mine: draft.sessionLifetimeMinutes,
            },
            { name: m.organizations_idle(), theirs: now.sessionIdleMinutes, mine: draft.sessionIdleMinutes },
          ].filter((row) => row.theirs !== row.mine)}
          hint={m.organizations_conflict_hint()}
          onClose={settle}
          onTheirs={() => {
            setDraft(now);
            show(theirs);
            takeTheirs();
          }}
          onMine={() => store(theirs)}
        />
      )}
    </section>
  );
}
