import { m } from "../../messages/messages.js";
import { Field } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { Choices, type Errors } from "../settings/pieces";
import { type AppDraft, AUTHENTICATIONS, ID_TOKEN_ALGORITHMS } from "./apps";
import { AUTHENTICATION_WORDS, idTokenWord } from "./appWords";

const URL_CHARACTERS = 2_000;

/** How an app proves that it is itself, and what its tokens are bound to. */
export function AppSecurity({
  draft,
  errors,
  set,
}: {
  draft: AppDraft;
  errors: Errors;
  set: (part: Partial<AppDraft>) => void;
}) {
  return (
    <div className="form">
      {!draft.isPublic && (
        <Choices
          legend={m.access_app_authentication()}
          isLegendShown
          name="authentication"
          value={draft.authentication}
          options={AUTHENTICATIONS.map((value) => ({
            value,
            label: AUTHENTICATION_WORDS[value].label(),
            hint: AUTHENTICATION_WORDS[value].hint(),
          }))}
          onChange={(authentication) => set({ authentication, jwks: draft.jwks, jwksUri: draft.jwksUri })}
        />
      )}
      {draft.authentication === "JWKS" ? (
        <Field label={m.access_app_jwks()} hint={m.access_app_jwks_hint()} error={errors.jwks}>
          {(attributes) => (
            <textarea
              className="input mono"
              rows={8}
              wrap="off"
              spellCheck={false}
              autoComplete="off"
              placeholder={'{ "keys": [{ "kty": "EC", "crv": "P-256", "x": "…", "y": "…" }] }'}
              value={draft.jwks}
              onChange={(event) => set({ jwks: event.target.value })}
              {...attributes}
            />
          )}
        </Field>
      ) : (
        draft.authentication === "SECRET" && <Wrong>{errors.jwks}</Wrong>
      )}
      {draft.authentication === "JWKS_URI" && (
        <Field
          label={m.access_app_jwks_uri()}
          type="url"
          maxLength={URL_CHARACTERS}
          autoComplete="off"
          placeholder="https://app.example.com/.well-known/jwks.json"
          error={errors.jwksUri ?? errors.jwks}
          value={draft.jwksUri}
          onChange={(event) => set({ jwksUri: event.target.value })}
        />
      )}
      <Switch
        label={m.access_app_dpop()}
        hint={m.access_app_dpop_hint()}
        checked={draft.requireDpop}
        onChange={(requireDpop) => set({ requireDpop })}
      />
      <Wrong>{errors.requireDpop}</Wrong>
      {!draft.isPublic && (
        <Switch
          label={m.access_app_fapi()}
          hint={m.access_app_fapi_hint()}
          checked={draft.isFapi}
          // The profile requires them.
          onChange={(isFapi) => set({ isFapi, ...(isFapi && { requireDpop: true, idTokenSigningAlg: "ES256" }) })}
        />
      )}
      <Wrong>{errors.isFapi}</Wrong>
      <Choices
        legend={m.access_app_id_tokens()}
        isLegendShown
        name="idTokenSigningAlg"
        value={draft.idTokenSigningAlg}
        options={ID_TOKEN_ALGORITHMS.map((value) => ({ value, ...idTokenWord(value) }))}
        onChange={(idTokenSigningAlg) => set({ idTokenSigningAlg })}
      />
      <Wrong>{errors.idTokenSigningAlg}</Wrong>
    </div>
  );
}

function Switch({
  label,
  hint,
  checked,
  onChange,
}: {
  label: string;
  hint: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label className="line">
      <input
        className="switch"
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        <small className="muted">{hint}</small>
      </span>
    </label>
  );
}
