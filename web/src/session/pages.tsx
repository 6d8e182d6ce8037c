import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Mark } from "../look/glyphs";
import { m } from "../messages/messages.js";
import { Button } from "../parts/parts";
import { queries } from "./queries";
import { SignInForm } from "./SignInForm";
import { API } from "./server";

/** The sign-in page. Afterwards, the page that was asked for. */
export function SignInPage() {
  const navigate = useNavigate();
  const next = getRouteApi("/sign-in").useSearch().next;
  return (
    <div className="gatepage">
      <main>
        <Mark size={36} />
        <div className="intro">
          <h1>{m.sign_in()}</h1>
          <p>{m.sign_in_lead()}</p>
        </div>
        <SignInForm
          onSignedIn={() => {
            queries.clear();
            void navigate({ href: next ?? "/", replace: true });
          }}
        />
        <p className="muted">{m.forgot_password()}</p>
      </main>
    </div>
  );
}

/** The page of the one-time link that the server prints: the token is in the fragment, which no server logs. */
export function WelcomePage() {
  const navigate = useNavigate();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const token = location.hash.slice(1);
    history.replaceState(history.state, "", location.pathname);
    if (!token) return setFailed(true);
    void exchange(token).then((signedIn) => {
      if (!signedIn) return setFailed(true);
      queries.clear();
      void navigate({ to: "/", replace: true });
    });
  }, [navigate]);
  return (
    <div className="gatepage">
      <main>
        <Mark size={36} />
        {failed ? (
          <>
            <div className="intro">
              <h1>{m.welcome_failed_title()}</h1>
              <p>{m.welcome_failed_lead()}</p>
            </div>
            <Button className="full" kind="primary" onClick={() => navigate({ to: "/sign-in" })}>
              {m.to_sign_in()}
            </Button>
          </>
        ) : (
          <div className="intro" role="status">
            <h1>{m.welcome_title()}</h1>
          </div>
        )}
      </main>
    </div>
  );
}

/** React runs effects twice during development, and the token works once. */
const exchanges = new Map<string, Promise<boolean>>();

function exchange(token: string): Promise<boolean> {
  let running = exchanges.get(token);
  if (!running) {
    running = fetch(`${API}/welcome`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-postern-dashboard": "1" },
      body: JSON.stringify({ token }),
    }).then(
      (response) => response.ok,
      () => false,
    );
    exchanges.set(token, running);
  }
  return running;
}
