import { notifications } from "@mantine/notifications";
import type { SignInHook } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { exactTime, longTime } from "../../parts/format";
import { Button, LoadingFailed, Status, Time } from "../../parts/parts";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { LoadingRows, ReadOnly, Section, useMay } from "../settings/pieces";
import { EditHook, NewHook, RotateHook } from "./hookDialogs";
import { HOOK_KINDS, HOOK_WORDS, type HookKind, hooksQuery } from "./hookQueries";

type Dialog = { kind: HookKind; deed: "create" | "edit" | "rotate" | "delete" };

/** The URLs of the project's server that take part in sign-ups and sign-ins: at most one of each kind. */
export function Hooks() {
  const projectId = useProjectId();
  const query = useQuery(hooksQuery(projectId));
  const client = useQueryClient();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  if (query.isPending) return <LoadingRows count={3} />;
  if (query.data === undefined) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  const hooks = query.data;
  return (
    <>
      <ReadOnly what="projects" />
      {HOOK_KINDS.map((kind) => (
        <Hook
          key={kind}
          kind={kind}
          hook={hooks.find((each) => each.kind === kind)}
          onDeed={(deed) => setDialog({ kind, deed })}
        />
      ))}
      <p className="muted">
        <a href="/guide/sign-in-hooks" target="_blank" rel="noreferrer">
          {m.access_hooks_guide()}
        </a>
      </p>
      {dialog?.deed === "create" && <NewHook kind={dialog.kind} onClose={close} />}
      {dialog?.deed === "edit" && <EditHook kind={dialog.kind} onClose={close} />}
      {dialog?.deed === "rotate" && <RotateHook kind={dialog.kind} onClose={close} />}
      {dialog?.deed === "delete" && (
        <TypedConfirm
          title={m.access_hook_delete_title({ name: HOOK_WORDS[dialog.kind].label() })}
          name={dialog.kind}
          deed={m.access_delete()}
          onClose={close}
          run={async () => {
            await api(projectId).signInHooks.delete(dialog.kind);
            await client.invalidateQueries(hooksQuery(projectId));
            notifications.show({ message: m.access_deleted({ name: HOOK_WORDS[dialog.kind].label() }) });
          }}
        >
          <p>{HOOK_WORDS[dialog.kind].without()}</p>
        </TypedConfirm>
      )}
    </>
  );
}

function Hook({
  kind,
  hook,
  onDeed,
}: {
  kind: HookKind;
  hook: SignInHook | undefined;
  onDeed: (deed: Dialog["deed"]) => void;
}) {
  const mayWrite = useMay("projects");
  const { label, lead } = HOOK_WORDS[kind];
  return (
    <Section
      title={label()}
      lead={lead()}
      actions={
        mayWrite &&
        (hook ? (
          <>
            <Button size="small" aria-label={m.access_hook_edit({ name: label() })} onClick={() => onDeed("edit")}>
              {m.access_edit()}
            </Button>
            <Button
              size="small"
              aria-label={m.access_hook_rotate_of({ name: label() })}
              onClick={() => onDeed("rotate")}
            >
              {m.access_app_rotate()}
            </Button>
            <Button
              kind="danger"
              size="small"
              aria-label={m.access_hook_delete_of({ name: label() })}
              onClick={() => onDeed("delete")}
            >
              {m.access_delete()}
            </Button>
          </>
        ) : (
          <Button size="small" aria-label={m.access_hook_new_of({ name: label() })} onClick={() => onDeed("create")}>
            {m.access_hook_new()}
          </Button>
        ))
      }
    >
      {hook ? <Facts hook={hook} mayTest={mayWrite} /> : <p className="muted">{m.access_hook_none()}</p>}
    </Section>
  );
}

function Facts({ hook, mayTest }: { hook: SignInHook; mayTest: boolean }) {
  const { url, onFailure, timeoutMs, previousSecretExpiresAt, recentFailures } = hook;
  return (
    <>
      <dl className="facts">
        <dt>{m.access_hook_state()}</dt>
        <dd>
          <State hook={hook} />
        </dd>
        <dt>{m.access_hook_url()}</dt>
        <dd>
          <code>{url}</code>
        </dd>
        <dt>{m.access_hook_on_failure()}</dt>
        <dd>{onFailure === "REFUSE" ? m.access_hook_refuse() : m.access_hook_continue()}</dd>
        <dt>{m.access_hook_timeout()}</dt>
        <dd>{m.access_hook_ms({ count: timeoutMs })}</dd>
        {previousSecretExpiresAt && (
          <>
            <dt>{m.access_hook_old_secret()}</dt>
            <dd>
              {m.access_hook_until()} <Time at={previousSecretExpiresAt} format={longTime} />
            </dd>
          </>
        )}
      </dl>
      {mayTest && <Test hook={hook} />}
      {recentFailures.length > 0 && (
        <details className="endpoints">
          <summary>{m.access_hook_failures({ count: recentFailures.length })}</summary>
          <ul className="rows">
            {recentFailures.map((each) => (
              <li key={`${each.at} ${each.reason}`}>
                <div className="what">
                  <p className="breaks">{each.reason}</p>
                  <p className="muted small">
                    {[
                      exactTime(each.at),
                      each.status !== null && m.access_hook_status({ status: each.status }),
                      each.responseTime !== null && m.access_hook_ms({ count: Math.round(each.responseTime) }),
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function State({ hook }: { hook: SignInHook }) {
  if (!hook.active) return <Status shape="off">{m.access_hook_off()}</Status>;
  if (hook.pausedUntil)
    return (
      <Status shape="failed" tone="fail">
        {m.access_hook_paused({ when: longTime(hook.pausedUntil) })}
      </Status>
    );
  if (hook.failingSince)
    return (
      <Status shape="attention" tone="bad">
        {m.access_hook_failing({ when: longTime(hook.failingSince), count: hook.failures })}
      </Status>
    );
  return <Status shape="yes">{m.access_hook_on()}</Status>;
}

/** Calls the hook with example data, and shows what became of it. */
function Test({ hook }: { hook: SignInHook }) {
  const projectId = useProjectId();
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<{ ok: boolean; words: string; answer?: string }>();
  const run = async () => {
    setBusy(true);
    setResult(undefined);
    try {
      const { ok, status, responseTime, reason, answer } = await api(projectId).signInHooks.test(hook.kind);
      const time = m.access_hook_ms({ count: Math.round(responseTime) });
      setResult({
        ok,
        words: ok
          ? m.access_hook_test_ok({ time })
          : [m.access_hook_test_failed({ reason: reason ?? String(status) }), time].join(" · "),
        ...(answer && { answer: JSON.stringify(answer, null, 2) }),
      });
    } catch (error) {
      setResult({ ok: false, words: messageOf(error) });
    }
    setBusy(false);
  };
  return (
    <div className="hooktest">
      <Button
        size="small"
        busy={isBusy}
        aria-label={m.access_hook_test_of({ name: HOOK_WORDS[hook.kind as HookKind].label() })}
        onClick={() => void run()}
      >
        {m.access_hook_test()}
      </Button>
      <div aria-live="polite">
        {result && (
          <Status shape={result.ok ? "yes" : "failed"} tone={result.ok ? "" : "fail"}>
            {result.words}
          </Status>
        )}
        {result?.answer && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
          <pre className="code" tabIndex={0}>
            {result.answer}
          </pre>
        )}
      </div>
    </div>
  );
}
