import { notifications } from "@mantine/notifications";
import type { Customer, CustomerSession } from "@postern/sdk";
import { IconDeviceLaptop, IconDeviceMobile, IconTerminal2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Button, ICON, Status, Time } from "../../parts/parts";
import { relative, useNow } from "../../parts/relative";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { deviceOf } from "./history";
import { useShowChanged } from "./queries";
import { methodsWord, nameOf } from "./words";

/** Where a customer is signed in now; `most` shortens the list. */
export function Sessions({ customer, most, onEndAll }: { customer: Customer; most?: number; onEndAll: () => void }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const showChanged = useShowChanged();
  const [ending, setEnding] = useState<CustomerSession>();
  const { sessions } = customer;
  const shown = sessions.slice(0, most);
  return (
    <section className="sec" aria-labelledby="sessions">
      <header>
        <h2 id="sessions">{m.customers_signed_in_on()}</h2>
        {mayWrite && !most && sessions.length > 0 && (
          <div className="acts">
            <Button size="small" onClick={onEndAll}>
              {m.customers_end_all()}
            </Button>
          </div>
        )}
      </header>
      <ul className="list ruled">
        {sessions.length === 0 && (
          <li>
            <p className="muted">{m.customers_no_sessions()}</p>
          </li>
        )}
        {shown.map((session) => (
          <Session key={session.id} session={session} onEnd={mayWrite ? () => setEnding(session) : undefined} />
        ))}
      </ul>
      {sessions.length > shown.length && (
        <p className="more">
          <Link to="." search={(before: object) => ({ ...before, tab: "sessions" }) as never} resetScroll={false}>
            {m.customers_all_sessions({ count: sessions.length })}
          </Link>
        </p>
      )}
      {ending && (
        <ConfirmDialog
          title={m.customers_end_title({ device: deviceWord(ending) })}
          deed={m.customers_end_deed()}
          onClose={() => setEnding(undefined)}
          run={async () => {
            await api(projectId).customers.sessions.revoke(customer.id, ending.id);
            showChanged(customer.id);
            notifications.show({ message: m.customers_ended({ device: deviceWord(ending) }) });
          }}
        >
          <p>{m.customers_end_lead({ name: nameOf(customer) })}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

/** A device in words: `Safari on iPhone`. */
export function deviceWord({ userAgent }: { userAgent: string }): string {
  const { browser, system } = deviceOf(userAgent);
  return browser && system ? m.customers_device({ browser, system }) : browser || m.customers_device_unknown();
}

function Session({ session, onEnd }: { session: CustomerSession; onEnd: (() => void) | undefined }) {
  const now = useNow();
  const { system, isPhone } = deviceOf(session.userAgent);
  const Icon = isPhone ? IconDeviceMobile : system ? IconDeviceLaptop : IconTerminal2;
  return (
    <li>
      <Icon {...ICON} />
      <div className="grow">
        <b title={session.userAgent}>{deviceWord(session)}</b>{" "}
        {session.impersonatedBy !== null && (
          <Status shape="attention" tone="wait">
            {m.customers_impersonated()}
          </Status>
        )}
        {session.impersonatedBy !== null && (
          <p className="breaks">
            {m.customers_impersonated_by({
              who: session.impersonatedBy,
              reason: session.impersonationReason ?? "",
            })}
          </p>
        )}
        <p className="muted">
          {[
            session.ipAddress,
            m.customers_active_at({ when: relative(session.lastUsedAt ?? session.createdAt, now) }),
            methodsWord(session.methods),
          ]
            .filter(Boolean)
            .join(" · ")}
        </p>
        <p className="muted">
          {m.customers_signed_in_at()} <Time at={session.createdAt} />, {m.customers_expires_at()}{" "}
          <Time at={session.expiresAt} />
        </p>
      </div>
      {onEnd && (
        <Button
          kind="bare"
          size="small"
          aria-label={m.customers_end_of({ device: deviceWord(session) })}
          onClick={onEnd}
        >
          {m.customers_end()}
        </Button>
      )}
    </li>
  );
}

/** Ends all sessions of a customer. */
export function EndAllDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const projectId = useProjectId();
  const showChanged = useShowChanged();
  const name = nameOf(customer);
  return (
    <ConfirmDialog
      title={m.customers_end_all_title({ name })}
      deed={m.customers_end_all()}
      onClose={onClose}
      run={async () => {
        await api(projectId).customers.sessions.revokeAll(customer.id);
        showChanged(customer.id);
        notifications.show({ message: m.customers_ended_all({ name }) });
      }}
    >
      <p>{m.customers_end_all_lead({ name })}</p>
    </ConfirmDialog>
  );
}
