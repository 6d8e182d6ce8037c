import { notifications } from "@mantine/notifications";
import type { Customer, OAuthConsent } from "@postern/sdk";
import { IconAppWindow } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Button, ICON, LoadingFailed, Time } from "../../parts/parts";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { scopeWord } from "../access/appWords";
import { consentsQuery, useShowChanged } from "./queries";
import { nameOf } from "./words";

/** The apps that a customer has allowed something. With `isQuiet`, nothing while there is none. */
export function Apps({ customer, isQuiet = false }: { customer: Customer; isQuiet?: boolean }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const showChanged = useShowChanged();
  const query = useQuery(consentsQuery(projectId, customer.id));
  const [revoking, setRevoking] = useState<OAuthConsent>();
  const name = nameOf(customer);
  if (isQuiet && !query.data?.length && !query.isError) return null;
  return (
    <section className="sec" aria-labelledby="apps">
      <header>
        <h2 id="apps">{m.customers_apps()}</h2>
      </header>
      {query.isError && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <ul className="list ruled" aria-busy={query.isPending || undefined}>
          {query.data?.length === 0 && (
            <li>
              <p className="muted">{m.customers_apps_none({ name })}</p>
            </li>
          )}
          {query.data?.map((consent) => (
            <li key={consent.clientId}>
              <IconAppWindow {...ICON} />
              <div className="grow">
                <b>
                  <Link
                    className="quiet"
                    to="/projects/$projectId/access/apps/$clientId"
                    params={{ projectId, clientId: consent.clientId }}
                  >
                    {consent.clientName}
                  </Link>
                </b>{" "}
                {consent.firstParty && <span className="tag">{m.customers_app_own()}</span>}
                <p className="muted">
                  {m.customers_app_may({
                    scopes: consent.scopes.map((scope) => scopeWord(scope) ?? scope).join(", "),
                  })}
                  {" · "}
                  {m.customers_app_since()} <Time at={consent.updatedAt} />
                </p>
              </div>
              {mayWrite && (
                <Button
                  kind="bare"
                  size="small"
                  aria-label={m.customers_app_revoke_of({ app: consent.clientName })}
                  onClick={() => setRevoking(consent)}
                >
                  {m.customers_app_revoke()}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {revoking && (
        <ConfirmDialog
          title={m.customers_app_revoke_title({ app: revoking.clientName })}
          deed={m.customers_app_revoke_deed()}
          onClose={() => setRevoking(undefined)}
          run={async () => {
            await api(projectId).customers.revokeConsent(customer.id, revoking.clientId);
            showChanged(customer.id);
            notifications.show({ message: m.customers_app_revoked({ app: revoking.clientName }) });
          }}
        >
          <p className="breaks">{m.customers_app_revoke_lead({ app: revoking.clientName, name })}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
