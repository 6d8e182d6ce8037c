import { APIError, type Developer, type DeveloperSignInResult } from "@postern/sdk";
import { IconFingerprint } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { m } from "../messages/messages.js";
import { Button, Field, ICON } from "../parts/parts";
import { api, messageOf } from "./server";

/** Sign in with password and, if the account has a second factor, its code; or with a passkey. */
export function SignInForm({ email = "", onSignedIn }: { email?: string; onSignedIn: (developer: Developer) => void }) {
  const [needsCode, setNeedsCode] = useState(false);
  const [busy, setBusy] = useState<"" | "password" | "passkey">("");
  const [error, setError] = useState("");

  const signIn = async (kind: "password" | "passkey", run: () => Promise<DeveloperSignInResult>) => {
    setBusy(kind);
    setError("");
    try {
      onSignedIn((await run()).developer);
    } catch (caught) {
      if (caught instanceof APIError && caught.code === "mfa_required") setNeedsCode(true);
      // The person closed the browser's own dialog.
      else if (!(caught instanceof DOMException && caught.name === "NotAllowedError")) setError(messageOf(caught));
    } finally {
      setBusy("");
    }
  };

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "");
    const code = needsCode ? text("code").replaceAll(" ", "") : undefined;
    void signIn("password", () => api().developers.signIn({ email: text("email"), password: text("password"), code }));
  };

  const signInWithPasskey = () =>
    signIn("passkey", async () => {
      const begun = await api().developers.passkeys.beginSignIn();
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.options as never);
      const credential = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
      return api().developers.passkeys.signIn({
        challengeId: begun.challengeId,
        credential: credential.toJSON() as never,
      });
    });

  return (
    <div className="form">
      <form className="form" onSubmit={submit}>
        <Field
          label={m.email_address()}
          name="email"
          type="email"
          autoComplete="username"
          defaultValue={email}
          required
        />
        <Field label={m.password()} name="password" type="password" autoComplete="current-password" required />
        {needsCode && (
          <Field
            label={m.code()}
            name="code"
            inputMode="text"
            autoComplete="one-time-code"
            hint={m.code_hint()}
            autoFocus
            required
          />
        )}
        {error && (
          <p className="wrong" role="alert">
            <span>{error}</span>
          </p>
        )}
        <Button className="full" kind="primary" type="submit" busy={busy === "password"}>
          {m.sign_in()}
        </Button>
      </form>
      {"PublicKeyCredential" in window && (
        <>
          <p className="or">{m.or()}</p>
          <Button
            className="full"
            icon={<IconFingerprint {...ICON} />}
            busy={busy === "passkey"}
            onClick={signInWithPasskey}
          >
            {m.use_a_passkey()}
          </Button>
        </>
      )}
    </div>
  );
}
