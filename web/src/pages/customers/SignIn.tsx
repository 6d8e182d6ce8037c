import { notifications } from "@mantine/notifications";
import type { Customer, IdentityRequest } from "@postern/sdk";
import { IconMail, IconShieldLock } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { longTime } from "../../parts/format";
import { Button, ICON, LoadingFailed, Time } from "../../parts/parts";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { requestsQuery, useShowChanged } from "./queries";
import { methodIcon, methodWord, nameOf } from "./words";

/** The ways to sign in, the second factor, and accounts at providers that wait to be linked. */
export function SignIn({ customer }: { customer: Customer }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const showChanged = useShowChanged();
  const [isResetting, setResetting] = useState(false);
  const requests = useQuery(requestsQuery(projectId, customer.id));
  const name = nameOf(customer);
  return (
    <section className="sec" aria-labelledby="signin">
      <header>
        <h2 id="signin">{m.customers_how({ name })}</h2>
      </header>
      {requests.isError && !requests.data && (
        <LoadingFailed
          title={m.customers_requests_failed()}
          error={requests.error}
          onRetry={() => void requests.refetch()}
        />
      )}
      {requests.data?.map((each) => (
        <Request key={each.id} request={each} name={name} onDecided={() => showChanged(customer.id)} />
      ))}
      <ul className="list ruled">
        {customer.identities.length === 0 && (
          <li>
            <p className="muted">{m.customers_no_method_lead()}</p>
          </li>
        )}
        {customer.identities.map(({ provider, createdAt }) => {
          const Icon = methodIcon(provider);
          return (
            <li key={provider + createdAt}>
              <Icon {...ICON} />
              <div className="grow">
                <b>{methodWord(provider)}</b>
                <p className="muted">
                  {m.customers_method_since()} <Time at={createdAt} />
                </p>
              </div>
            </li>
          );
        })}
        {customer.otherEmails.map(({ email, verifiedAt }) => (
          <li key={email}>
            <IconMail {...ICON} />
            <div className="grow">
              <b className="breaks">{email}</b>
              <p className="muted">{verifiedAt ? m.customers_other_email() : m.customers_other_email_unconfirmed()}</p>
            </div>
          </li>
        ))}
        <li>
          <IconShieldLock {...ICON} />
          <div className="grow">
            <b>{m.customers_second_factor()}</b>
            <p className="muted">
              {customer.mfaEnabledAt ? (
                <>
                  {m.customers_factor_since()} <Time at={customer.mfaEnabledAt} />
                </>
              ) : (
                m.customers_no_factor()
              )}
            </p>
          </div>
          {mayWrite && customer.mfaEnabledAt && (
            <Button kind="bare" size="small" onClick={() => setResetting(true)}>
              {m.customers_reset()}
            </Button>
          )}
        </li>
      </ul>
      {isResetting && (
        <ConfirmDialog
          title={m.customers_reset_title({ name })}
          deed={m.customers_reset_deed()}
          onClose={() => setResetting(false)}
          run={async () => {
            await api(projectId).customers.resetMfa(customer.id);
            showChanged(customer.id);
            notifications.show({ message: m.customers_was_reset({ name }) });
          }}
        >
          <p>{m.customers_reset_lead()}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

/** An account at a provider that someone has signed in with and that is not linked yet. */
function Request({ request, name, onDecided }: { request: IdentityRequest; name: string; onDecided: () => void }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const [dialog, setDialog] = useState<"" | "approve" | "reject">("");
  const provider = methodWord(request.provider);
  const account = request.email ?? request.name ?? request.subject;
  const decide = async (deed: "approve" | "reject", said: string) => {
    await api(projectId).customers.identityRequests[deed](request.id);
    onDecided();
    notifications.show({ message: said });
  };
  return (
    <div className="note wait request">
      <Glyph shape="waiting" />
      <div>
        <p className="breaks">
          <b>{m.customers_held({ provider })}</b> {m.customers_held_lead({ provider, account })}{" "}
          <Time at={request.createdAt} format={longTime} />
        </p>
        {mayWrite && (
          <p className="line">
            <Button size="small" onClick={() => setDialog("approve")}>
              {m.customers_approve()}
            </Button>
            <Button size="small" onClick={() => setDialog("reject")}>
              {m.customers_reject()}
            </Button>
          </p>
        )}
      </div>
      {dialog === "approve" && (
        <ConfirmDialog
          title={m.customers_approve_title({ provider })}
          deed={m.customers_approve()}
          onClose={() => setDialog("")}
          run={() => decide("approve", m.customers_approved({ provider }))}
        >
          <p className="breaks">{m.customers_approve_lead({ account, name, provider })}</p>
        </ConfirmDialog>
      )}
      {dialog === "reject" && (
        <ConfirmDialog
          title={m.customers_reject_title({ provider })}
          deed={m.customers_reject()}
          onClose={() => setDialog("")}
          run={() => decide("reject", m.customers_rejected({ provider }))}
        >
          <p className="breaks">{m.customers_reject_lead({ account, name })}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
