import { notifications } from "@mantine/notifications";
import { APIError, Postern } from "@postern/sdk";
import { IconCopy, IconFileImport, IconKey, IconSend, IconUsers, IconWorld } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { Button, ICON } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useMayWrite, useProfile } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { TourLink } from "../../tour/TourLink";
import { useTestKey } from "./key";
import { recentQuery } from "./queries";
import { type OverviewSearch, useOverviewSearch } from "./search";
import { FROM, KEY_PLACEHOLDER, masked, snippetOf, WAYS, type Way } from "./snippets";
import "./onboarding.css";

/** Milliseconds between two looks for the first e-mail. */
const LOOK_MS = 2_000;

const WAY_NAMES: Record<Way, string> = { curl: "curl", typescript: "TypeScript", python: "Python" };

/** The first steps of a project that never sent anything, until its first e-mail is there. */
export function Onboarding({ projectId, onDone }: { projectId: string; onDone: () => void }) {
  const { way = "curl" } = useOverviewSearch();
  const { email } = useProfile();
  const mayWrite = useMayWrite();
  const testKey = useTestKey(projectId);
  // Where the browser does not let pages write to the clipboard, the key is shown to be copied by hand.
  const [revealed, setRevealed] = useState(false);
  const message = { to: email, subject: m.overview_first_subject(), text: m.overview_first_text() };
  const snippet = (key: string) => snippetOf(way, { url: location.origin, projectId, key, ...message });
  usePageRequest({
    method: "POST",
    path: `/projects/${projectId}/emails`,
    body: { from: FROM, to: [email], subject: message.subject, text: message.text },
  });

  const copy = async () => {
    const key = testKey.key ?? (await testKey.create());
    if (!key) return;
    try {
      await navigator.clipboard.writeText(snippet(key));
      notifications.show({ message: m.overview_copied() });
    } catch {
      setRevealed(true);
    }
  };

  const shownKey = testKey.key ? (revealed ? testKey.key : masked(testKey.key)) : KEY_PLACEHOLDER;
  return (
    <main id="main" className="page onboarding">
      <div className="welcome">
        <h1 className="sr">{m.overview()}</h1>
        <h2>{m.overview_first_title()}</h2>
        <p className="lead">{m.overview_first_lead()}</p>

        <nav className="ways" aria-label={m.overview_ways()}>
          <div className="seg">
            {WAYS.map((each) => (
              <Link
                key={each}
                to="."
                search={(before: OverviewSearch) => ({ ...before, way: each === "curl" ? undefined : each })}
                replace
                activeOptions={{ exact: true }}
                activeProps={{}}
                aria-current={each === way ? "true" : undefined}
              >
                {WAY_NAMES[each]}
              </Link>
            ))}
          </div>
          {mayWrite && (
            <a className="bare-link" href="#listen">
              {m.overview_no_code()}
            </a>
          )}
        </nav>
        <div className="snippet">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the box is read by scrolling it. */}
          <pre className="code" role="group" tabIndex={0} aria-label={m.overview_snippet({ way: WAY_NAMES[way] })}>
            <Code text={snippet(shownKey)} />
          </pre>
          {mayWrite && (
            <Button size="small" icon={<IconCopy {...ICON} />} busy={testKey.busy} onClick={() => void copy()}>
              {testKey.key ? m.overview_copy_with_key() : m.overview_create_and_copy()}
            </Button>
          )}
        </div>
        {testKey.error && (
          <p className="wrong" role="alert">
            <Glyph shape="failed" />
            <span>{testKey.error}</span>
          </p>
        )}
        <p className="keynote">
          <IconKey {...ICON} className="i s" />
          <span>
            {!mayWrite
              ? m.overview_key_of_others()
              : revealed
                ? m.overview_key_shown()
                : testKey.key
                  ? m.overview_key_made()
                  : m.overview_key_note()}
          </span>
        </p>
        <Listen projectId={projectId} message={message} createKey={testKey.create} onDone={onDone} />
      </div>
      <AfterThat projectId={projectId} />
    </main>
  );
}

/** Words with which a line of the examples begins that are part of the language. */
const KEYWORDS = /^(curl|import|from|const|console|print|postern|sent)\b/;

function Code({ text }: { text: string }) {
  return text.split("\n").map((line, number) => {
    const word = KEYWORDS.exec(line)?.[0] ?? "";
    const comment = /^(#|\/\/) /.test(line);
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other identity.
      <span key={number} className={comment ? "c" : undefined}>
        {number > 0 && "\n"}
        {word && <span className="k">{word}</span>}
        {line.slice(word.length)}
      </span>
    );
  });
}

interface Message {
  to: string;
  subject: string;
  text: string;
}

/** Waits for the first e-mail, or sends one. */
function Listen({
  projectId,
  message,
  createKey,
  onDone,
}: {
  projectId: string;
  message: Message;
  createKey: () => Promise<string | undefined>;
  onDone: () => void;
}) {
  const recent = useQuery({ ...recentQuery(projectId), refetchInterval: LOOK_MS });
  const mayWrite = useMayWrite();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const arrived = recent.data?.data[0];
  const send = async () => {
    setBusy(true);
    setError("");
    try {
      await sendFirst(projectId, message, createKey);
      await recent.refetch();
    } catch (caught) {
      setError(messageOf(caught));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="listen" id="listen" role="status">
      {arrived ? (
        <>
          <Glyph shape="yes" />
          <p className="grow">
            <b>{m.overview_arrived()}</b>
            <br />
            <span className="muted">
              {m.overview_arrived_lead({ subject: arrived.subject, to: arrived.to[0] ?? "" })}
            </span>
          </p>
          <Link
            className="btn small primary"
            to="/projects/$projectId/emails/$sendId"
            params={{ projectId, sendId: arrived.id }}
          >
            {m.overview_show_email()}
          </Link>
          <Button size="small" onClick={onDone}>
            {m.overview_go_on()}
          </Button>
        </>
      ) : (
        <>
          <span className="live" />
          <p className="grow">
            <b>{m.overview_waiting_first()}</b>
            <br />
            <span className="muted">{error || m.overview_waiting_first_lead()}</span>
          </p>
          {mayWrite && (
            <Button size="small" busy={busy} data-tour="email" onClick={() => void send()}>
              {m.overview_send_for_me()}
            </Button>
          )}
        </>
      )}
    </div>
  );
}

/** Send the message as the developer. Where that needs a verified domain, send it with a TEST key, which does not. */
async function sendFirst(
  projectId: string,
  { to, subject, text }: Message,
  createKey: () => Promise<string | undefined>,
): Promise<void> {
  const email = { from: FROM, to: [to], subject, text };
  try {
    await api(projectId).emails.send(email);
  } catch (error) {
    if (!(error instanceof APIError && error.code === "domain_not_verified")) throw error;
    const key = await createKey();
    if (!key) throw error;
    await new Postern({ url: location.origin, key, project: projectId, insecure: true }).emails.send(email);
  }
}

/** What comes next, with the guide of each. */
function AfterThat({ projectId }: { projectId: string }) {
  const mayWrite = useMayWrite();
  const steps = [
    { icon: IconWorld, title: m.overview_next_domain(), lead: m.overview_next_domain_lead(), guide: "domains" },
    { icon: IconSend, title: m.overview_next_transport(), lead: m.overview_next_transport_lead(), guide: "operations" },
    { icon: IconUsers, title: m.overview_next_sign_in(), lead: m.overview_next_sign_in_lead(), guide: "customers" },
    { icon: IconFileImport, title: m.overview_next_import(), lead: m.overview_next_import_lead(), guide: "audiences" },
  ];
  return (
    <section className="next" aria-labelledby="next">
      <header className="sechead">
        <h2 id="next">{m.overview_next()}</h2>
        <p>{m.overview_next_order()}</p>
      </header>
      <ol className="path">
        {steps.map(({ icon: Icon, title, lead, guide }) => (
          <li key={guide}>
            <Icon {...ICON} />
            <div>
              <h3>{title}</h3>
              <p>
                {lead}{" "}
                <a href={`/guide/${guide}`} target="_blank" rel="noreferrer" aria-label={m.overview_how_to({ title })}>
                  {m.overview_how()}
                </a>
              </p>
            </div>
            {guide === "domains" && mayWrite && (
              <Link
                className="btn small"
                to="/projects/$projectId/domains"
                params={{ projectId }}
                search={{ add: "1" }}
              >
                {m.overview_next_add_domain()}
              </Link>
            )}
          </li>
        ))}
      </ol>
      <TourLink />
    </section>
  );
}
