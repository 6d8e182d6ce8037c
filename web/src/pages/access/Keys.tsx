import { notifications } from "@mantine/notifications";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { CodeBox } from "../../parts/CodeBox";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Button, Copy, LoadingFailed } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { LoadingRows, ReadOnly, Row, Section, useMay } from "../settings/pieces";

/** A public key of the document (RFC 7517), as far as it is shown. */
interface PublicKey {
  kid: string;
  alg: string;
}

function jwksPath(projectId: string): string {
  return `/projects/${projectId}/.well-known/jwks.json`;
}

function keysQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "keys"],
    // The document is public and not part of what the dashboard's session may call.
    queryFn: async ({ signal }) => {
      const response = await fetch(jwksPath(projectId), { signal, credentials: "omit", cache: "no-store" });
      if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
      return ((await response.json()) as { keys: PublicKey[] }).keys;
    },
    refetchInterval: 60_000,
  });
}

/** The keys that sign the access tokens of customers, and what an application needs to verify these. */
export function Keys() {
  const projectId = useProjectId();
  const mayWrite = useMay("projects");
  const client = useQueryClient();
  const query = useQuery(keysQuery(projectId));
  const [isRotating, setRotating] = useState(false);
  const issuer = `${location.origin}/projects/${projectId}`;
  const url = location.origin + jwksPath(projectId);
  const environment = `POSTERN_URL=${location.origin}
POSTERN_PROJECT=${projectId}
POSTERN_KEY=sk_…`;
  return (
    <>
      <ReadOnly what="projects" />
      <Section title={m.access_verify_tokens()} lead={m.access_verify_tokens_lead()}>
        <dl className="facts">
          {(
            [
              [m.access_jwks_url(), url, m.access_jwks_copy()],
              [m.access_issuer(), issuer, m.access_issuer_copy()],
              [m.access_audience(), projectId, m.access_audience_copy()],
              [m.access_algorithm(), "ES256", m.access_algorithm_copy()],
            ] as const
          ).map(([name, value, label]) => (
            <div key={name} className="fact">
              <dt>{name}</dt>
              <dd>
                <code>{value}</code> <Copy value={value} label={label} />
              </dd>
            </div>
          ))}
        </dl>
        <div className="command">
          <p className="label">{m.access_environment()}</p>
          <div>
            <CodeBox label={m.access_environment()}>{environment}</CodeBox>
            <Copy value={environment} label={m.access_environment_copy()} />
          </div>
        </div>
        <p className="muted">
          {m.access_environment_lead()}{" "}
          <a href="/guide/customers#verify-tokens" target="_blank" rel="noreferrer">
            {m.access_verify_guide()}
          </a>
        </p>
      </Section>
      <Section
        title={m.access_signing_keys()}
        lead={m.access_signing_keys_lead()}
        actions={
          mayWrite && (
            <Button size="small" onClick={() => setRotating(true)}>
              {m.access_rotate()}
            </Button>
          )
        }
      >
        {query.isPending ? (
          <LoadingRows count={1} />
        ) : query.data === undefined ? (
          <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <ul className="rows" aria-label={m.access_signing_keys()}>
            {query.data.map(({ kid, alg }) => (
              <Row key={kid} title={<code>{kid}</code>} action={<Copy value={kid} label={m.access_key_copy()} />}>
                {alg}
              </Row>
            ))}
          </ul>
        )}
      </Section>
      {isRotating && (
        <ConfirmDialog
          title={m.access_rotate_title()}
          deed={m.access_rotate()}
          onClose={() => setRotating(false)}
          run={async () => {
            await api(projectId).signingKeys.rotate();
            await client.invalidateQueries(keysQuery(projectId));
            notifications.show({ message: m.access_rotated() });
          }}
        >
          <p>{m.access_rotate_lead()}</p>
          <p>{m.access_rotate_cache()}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
