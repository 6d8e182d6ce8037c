import type { ReactNode } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field as TextField } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { Choices, Section } from "../settings/pieces";
import { PagesDomain } from "./PagesDomain";
import { type FormProps, SettingsForm } from "./SettingsForm";
import { DEFAULTS, type Draft, type Field, isSame, METHODS, RULES, SECURITY_MAILS } from "./signIn";
import { fieldWord, MAIL_WORDS, METHOD_WORDS, valueWords } from "./words";

/** How the customers of the project sign in, and under which rules. */
export function SignIn() {
  return (
    <SettingsForm label={m.access_tab_sign_in()} fields={RULES}>
      {(props) => (
        <>
          <Methods {...props} />
          <Accounts {...props} />
          <Places {...props} />
          <Mail {...props} />
          <Claims {...props} />
          <Fixed />
        </>
      )}
    </SettingsForm>
  );
}

/** A setting with its meaning and its default. What differs from the default is marked and can be set back. */
export function Item({
  field,
  lead,
  usual = valueWords(field, DEFAULTS),
  form,
  children,
}: {
  field: Field;
  lead: ReactNode;
  /** The default in words. */
  usual?: string;
  form: FormProps;
  children: ReactNode;
}) {
  const isChanged = !isSame(field, DEFAULTS, form.draft);
  return (
    <div className="setting" data-field={field}>
      <div className="what">
        <h4>
          {fieldWord(field)} {isChanged && <span className="tag">{m.access_changed()}</span>}
        </h4>
        <p className="muted">{lead}</p>
        <p className="muted usual">
          {m.access_default({ value: usual })}{" "}
          {isChanged && (
            <Button
              kind="bare"
              size="small"
              aria-label={m.access_use_default_of({ name: fieldWord(field) })}
              onClick={() => form.change({ [field]: DEFAULTS[field] })}
            >
              {m.access_use_default()}
            </Button>
          )}
        </p>
      </div>
      <div className="control">{children}</div>
    </div>
  );
}

type TextSetting = { [Each in Field]: Draft[Each] extends string ? Each : never }[Field];

/** A setting that is a text; with `rows`, one entry a line. */
export function TextItem({
  field,
  lead,
  hint,
  placeholder,
  rows,
  range,
  usual,
  after,
  form,
}: {
  field: TextSetting;
  lead: ReactNode;
  hint?: string;
  placeholder?: string;
  rows?: number;
  /** For a whole number: the least and the greatest. */
  range?: [number, number];
  usual?: string;
  /** What is shown below the field. */
  after?: ReactNode;
  form: FormProps;
}) {
  const shared = { value: form.draft[field], placeholder, spellCheck: false, autoComplete: "off" };
  return (
    <Item field={field} lead={lead} form={form} {...(usual !== undefined && { usual })}>
      <TextField label={fieldWord(field)} hint={hint} error={form.errors[field]}>
        {(attributes) =>
          rows ? (
            <textarea
              className="input"
              rows={Math.min(Math.max(form.draft[field].split("\n").length, rows), 10)}
              onChange={(event) => form.change({ [field]: event.target.value })}
              {...shared}
              {...attributes}
            />
          ) : (
            <input
              className="input"
              onChange={(event) => form.change({ [field]: event.target.value })}
              {...(range && { type: "number", min: range[0], max: range[1], step: 1 })}
              {...shared}
              {...attributes}
            />
          )
        }
      </TextField>
      {after}
    </Item>
  );
}

function Boxes({
  field,
  keys,
  words,
  form,
}: {
  field: "methods" | "securityMails";
  keys: string[];
  words: (key: string) => { label: string; hint?: string };
  form: FormProps;
}) {
  const chosen = form.draft[field];
  const shown = [...keys, ...chosen.filter((each) => !keys.includes(each))];
  return (
    <fieldset className="choices">
      <legend className="sr">{fieldWord(field)}</legend>
      {shown.map((key) => {
        const { label, hint } = words(key);
        return (
          <label key={key} className="choice">
            <input
              type="checkbox"
              className="check"
              checked={chosen.includes(key)}
              onChange={(event) =>
                form.change({
                  [field]: shown.filter((each) => (each === key ? event.target.checked : chosen.includes(each))),
                })
              }
            />
            <span>
              <b>{label}</b>
              {hint && <small className="muted">{hint}</small>}
            </span>
          </label>
        );
      })}
      <Wrong>{form.errors[field]}</Wrong>
    </fieldset>
  );
}

export function Switch({
  field,
  label,
  form,
}: {
  field:
    | "requireMfa"
    | "requireSso"
    | "accountDeletion"
    | "organizationSetup"
    | "requireTerms"
    | "clientMetadataDocuments";
  label: string;
  form: FormProps;
}) {
  return (
    <>
      <label className="line">
        <input
          className="switch"
          type="checkbox"
          checked={form.draft[field]}
          onChange={(event) => form.change({ [field]: event.target.checked })}
        />
        {label}
      </label>
      <Wrong>{form.errors[field]}</Wrong>
    </>
  );
}

function Methods(form: FormProps) {
  return (
    <Section title={m.access_methods_title()}>
      <Item field="methods" lead={m.access_methods_lead()} usual={m.access_methods_default()} form={form}>
        <Boxes
          field="methods"
          keys={METHODS}
          words={(key) => ({ label: METHOD_WORDS[key]?.label() ?? key, hint: METHOD_WORDS[key]?.hint() ?? "" })}
          form={form}
        />
      </Item>
      <Item field="requireMfa" lead={m.access_mfa_lead()} form={form}>
        <Switch field="requireMfa" label={m.access_mfa_label()} form={form} />
      </Item>
      <TextItem
        field="rememberedDeviceDays"
        lead={m.access_devices_lead()}
        hint={m.access_devices_hint()}
        range={[1, 90]}
        usual={m.access_devices_default()}
        form={form}
      />
      <Item field="requireSso" lead={m.access_sso_lead()} form={form}>
        <Switch field="requireSso" label={m.access_sso_label()} form={form} />
      </Item>
      <TextItem
        field="pagesDomain"
        lead={m.access_pages_domain_lead()}
        hint={m.access_pages_domain_hint({ host: location.hostname })}
        placeholder="login.example.com"
        usual={m.access_pages_domain_default()}
        after={form.stored.pagesDomain && <PagesDomain key={form.stored.pagesDomain} name={form.stored.pagesDomain} />}
        form={form}
      />
      <TextItem
        field="passkeyDomain"
        lead={m.access_passkey_domain_lead()}
        placeholder={location.hostname}
        usual={m.access_passkey_domain_default()}
        form={form}
      />
    </Section>
  );
}

function Accounts(form: FormProps) {
  return (
    <Section title={m.access_accounts_title()}>
      <Item field="signUp" lead={m.access_sign_up_lead()} form={form}>
        <Choices
          legend={m.access_sign_up()}
          name="signUp"
          value={form.draft.signUp ? "open" : "closed"}
          onChange={(value) => form.change({ signUp: value === "open" })}
          options={[
            { value: "open", label: m.access_sign_up_open(), hint: m.access_sign_up_open_hint() },
            { value: "closed", label: m.access_sign_up_closed(), hint: m.access_sign_up_closed_hint() },
          ]}
        />
        <Wrong>{form.errors.signUp}</Wrong>
      </Item>
      <Item field="verifyEmail" lead={m.access_verify_lead()} form={form}>
        <Choices
          legend={m.access_verify()}
          name="verifyEmail"
          value={form.draft.verifyEmail}
          onChange={(verifyEmail) => form.change({ verifyEmail })}
          options={[
            { value: "REQUIRED", label: m.access_verify_required(), hint: m.access_verify_required_hint() },
            { value: "LATER", label: m.access_verify_later(), hint: m.access_verify_later_hint() },
          ]}
        />
        <Wrong>{form.errors.verifyEmail}</Wrong>
      </Item>
      <Item field="contacts" lead={m.access_contacts_lead()} form={form}>
        <Choices
          legend={m.access_contacts()}
          name="contacts"
          value={form.draft.contacts}
          onChange={(contacts) => form.change({ contacts })}
          options={[
            { value: "NONE", label: m.access_contacts_none(), hint: m.access_contacts_none_hint() },
            { value: "LINK", label: m.access_contacts_link(), hint: m.access_contacts_link_hint() },
            { value: "CREATE", label: m.access_contacts_create(), hint: m.access_contacts_create_hint() },
          ]}
        />
        <Wrong>{form.errors.contacts}</Wrong>
      </Item>
      <TextItem
        field="termsVersion"
        lead={m.access_terms_version_lead()}
        placeholder="2026-07-01"
        usual={m.access_terms_version_default()}
        form={form}
      />
      <Item field="requireTerms" lead={m.access_require_terms_lead()} form={form}>
        <Switch field="requireTerms" label={m.access_require_terms_label()} form={form} />
      </Item>
      <Item field="accountDeletion" lead={m.access_deletion_lead()} form={form}>
        <Switch field="accountDeletion" label={m.access_deletion_label()} form={form} />
      </Item>
      <Item field="organizationSetup" lead={m.access_organization_setup_lead()} form={form}>
        <Switch field="organizationSetup" label={m.access_organization_setup_label()} form={form} />
      </Item>
    </Section>
  );
}

function Places(form: FormProps) {
  return (
    <Section title={m.access_places_title()}>
      <TextItem
        field="redirectUrls"
        lead={m.access_redirects_lead()}
        hint={m.access_one_a_line()}
        placeholder="https://app.example.com/auth/callback"
        rows={3}
        form={form}
      />
      <TextItem
        field="allowedOrigins"
        lead={m.access_origins_lead()}
        hint={m.access_one_a_line()}
        placeholder="https://app.example.com"
        rows={2}
        form={form}
      />
    </Section>
  );
}

function Mail(form: FormProps) {
  return (
    <Section title={m.access_mail_title()}>
      <TextItem
        field="mailFrom"
        lead={m.access_mail_from_lead()}
        placeholder="hello@example.com"
        usual={m.access_mail_from_default()}
        form={form}
      />
      <Item field="securityMails" lead={m.access_mails_lead()} usual={m.access_mails_default()} form={form}>
        <Boxes
          field="securityMails"
          keys={SECURITY_MAILS}
          words={(key) => ({ label: MAIL_WORDS[key]?.() ?? key })}
          form={form}
        />
      </Item>
    </Section>
  );
}

function Claims(form: FormProps) {
  return (
    <Section title={m.access_claims_title()}>
      <TextItem
        field="customerClaims"
        lead={m.access_claims_customer_lead()}
        hint={m.access_one_a_line()}
        rows={2}
        form={form}
      />
      <TextItem
        field="organizationClaims"
        lead={m.access_claims_organization_lead()}
        hint={m.access_one_a_line()}
        rows={2}
        form={form}
      />
    </Section>
  );
}

/** The rules that hold in every project. */
function Fixed() {
  return (
    <Section title={m.access_fixed()} lead={m.access_fixed_lead()}>
      <dl className="facts">
        <dt>{m.access_fixed_password()}</dt>
        <dd>{m.access_fixed_password_rule()}</dd>
        <dt>{m.access_fixed_session()}</dt>
        <dd>{m.access_fixed_session_rule()}</dd>
        <dt>{m.access_fixed_token()}</dt>
        <dd>{m.access_fixed_token_rule()}</dd>
        <dt>{m.access_fixed_codes()}</dt>
        <dd>{m.access_fixed_codes_rule()}</dd>
        <dt>{m.access_fixed_attempts()}</dt>
        <dd>{m.access_fixed_attempts_rule()}</dd>
      </dl>
    </Section>
  );
}
