import { notifications } from "@mantine/notifications";
import type { OwnSession } from "@postern/sdk";
import { IconDeviceLaptop, IconDeviceMobile, IconTerminal2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Button, ICON, LoadingFailed, Time } from "../../parts/parts";
import { queries } from "../../session/queries";
import { api, messageOf } from "../../session/server";
import { LoadingRows, Row, Section } from "./pieces";
import { browserOf } from "./userAgent";

const SESSIONS = ["account", "sessions"];

/** Where the developer is signed in, with the end of one or all others. */
export function Sessions() {
  const [ending, setEnding] = useState("");
  const [isAsking, setAsking] = useState(false);
  const query = useQuery({ queryKey: SESSIONS, queryFn: ({ signal }) => api().developers.sessions.list({ signal }) });
  // This browser first.
  const sessions = (query.data ?? []).toSorted((first, second) => Number(second.current) - Number(first.current));
  const end = async (session: OwnSession) => {
    setEnding(session.id);
    try {
      await api().developers.sessions.revoke(session.id);
      notifications.show({ message: m.settings_session_ended({ where: nameOf(session) }) });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
    await queries.invalidateQueries({ queryKey: SESSIONS });
    setEnding("");
  };
  return (
    <Section
      title={m.settings_sessions()}
      lead={m.settings_sessions_lead()}
      actions={
        sessions.length > 1 && (
          <Button size="small" onClick={() => setAsking(true)}>
            {m.settings_sessions_end_others()}
          </Button>
        )
      }
    >
      {query.error && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <LoadingRows count={2} />
      ) : (
        <ul className="rows">
          {sessions.map((session) => (
            <Row
              key={session.id}
              icon={<Device session={session} />}
              title={
                <>
                  {nameOf(session)} {session.current && <span className="tag">{m.settings_session_this()}</span>}
                </>
              }
              action={
                !session.current && (
                  <Button
                    size="small"
                    busy={ending === session.id}
                    aria-label={m.settings_session_end_in({ where: nameOf(session) })}
                    onClick={() => void end(session)}
                  >
                    {m.settings_session_end()}
                  </Button>
                )
              }
            >
              {session.ipAddress} · {methodsOf(session)} ·{" "}
              {session.current ? (
                m.settings_session_now()
              ) : (
                <>
                  {m.settings_session_used()} <Time at={session.lastUsedAt} />
                </>
              )}
            </Row>
          ))}
        </ul>
      )}
      {isAsking && (
        <ConfirmDialog
          title={m.settings_sessions_end_title()}
          deed={m.settings_sessions_end_others()}
          onClose={() => setAsking(false)}
          run={async () => {
            await api().developers.sessions.revokeOthers();
            await queries.invalidateQueries({ queryKey: SESSIONS });
            notifications.show({ message: m.settings_sessions_ended() });
          }}
        >
          <p>
            {sessions.length === 2
              ? m.settings_sessions_end_lead_one()
              : m.settings_sessions_end_lead({ count: sessions.length - 1 })}
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

function Device({ session }: { session: OwnSession }) {
  const { system, isPhone } = browserOf(session.userAgent);
  if (isPhone) return <IconDeviceMobile {...ICON} />;
  return system ? <IconDeviceLaptop {...ICON} /> : <IconTerminal2 {...ICON} />;
}

/** A browser and its system, or the program that signed in. */
function nameOf({ userAgent }: OwnSession): string {
  const { name, system } = browserOf(userAgent);
  if (name && system) return m.settings_session_on({ browser: name, system });
  return name ?? system ?? m.settings_session_unknown();
}

const METHODS: Record<string, () => string> = {
  pwd: m.settings_method_password,
  totp: m.settings_method_totp,
  recovery: m.settings_method_recovery,
  link: m.settings_method_link,
  hwk: m.settings_method_passkey,
};
/** That a passkey has verified its user is no way of its own. */
const NO_METHOD = "user";

function methodsOf({ methods }: OwnSession): string {
  const names = methods.filter((each) => each !== NO_METHOD).map((each) => METHODS[each]?.() ?? each);
  return m.settings_session_with({ methods: names.join(" + ") });
}
