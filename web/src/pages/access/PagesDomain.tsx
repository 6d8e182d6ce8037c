import type { PagesDomainStatus } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { Button, Copy, Status } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { certificateLook, recordLook } from "../domains/words";

/** Milliseconds between two looks while something is missing. A project can make 30 requests in a minute. */
const WAITING_MS = 15_000;

const isReady = ({ record, inUse }: PagesDomainStatus) => inUse && (record === null || record.status === "VERIFIED");

/** What the saved host name of the pages needs: its DNS record, its certificate, and whether links have it. */
export function PagesDomain({ name }: { name: string }) {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["access", projectId, "pages-domain", name],
    queryFn: ({ signal }) => api(projectId).projects.getPagesDomain({ signal }),
    refetchInterval: ({ state }) => (state.data && isReady(state.data) ? false : WAITING_MS),
  });
  return (
    <section className="pagesdomain" aria-label={m.access_pages_state()} aria-busy={query.isPending}>
      {query.data && <Facts status={query.data} />}
      <Wrong>{query.error ? messageOf(query.error) : undefined}</Wrong>
      <Button size="small" busy={query.isFetching} onClick={() => void query.refetch()}>
        {m.access_pages_check()}
      </Button>
    </section>
  );
}

function Facts({ status }: { status: PagesDomainStatus }) {
  const { record, certificate } = status;
  const found = record && recordLook(record, true);
  const issued = certificate && certificateLook(certificate.status);
  return (
    <>
      <dl className="facts">
        {record && found && (
          <>
            <dt>{m.access_pages_record()}</dt>
            <dd>
              <Status shape={found.shape} tone={found.tone}>
                {found.word()}
              </Status>
              {record.status !== "VERIFIED" && record.reason && <small>{record.reason}</small>}
            </dd>
            <dt>{m.domains_type()}</dt>
            <dd>
              <span className="tag key">{record.type}</span>
            </dd>
            <dt>{m.domains_name()}</dt>
            <dd>
              <code>{record.name}</code>
              <Copy value={record.name} label={m.domains_copy_name({ record: record.type })} />
            </dd>
            <dt>{m.domains_value()}</dt>
            <dd>
              <code>{record.value}</code>
              <Copy value={record.value} label={m.domains_copy_value({ record: record.type })} />
            </dd>
          </>
        )}
        {certificate && issued && (
          <>
            <dt>{m.access_pages_certificate()}</dt>
            <dd>
              <Status shape={issued.shape} tone={issued.tone}>
                {issued.word()}
              </Status>
              {certificate.problem && <small>{certificate.problem}</small>}
            </dd>
          </>
        )}
      </dl>
      <p role="status">{sentence(status)}</p>
    </>
  );
}

/** What the states mean for the links. */
function sentence(status: PagesDomainStatus): string {
  const { record, domainVerified, certificate, inUse } = status;
  if (!domainVerified) return m.access_pages_unverified();
  if (!inUse) return certificate ? m.access_pages_waiting() : m.access_pages_soon();
  return record?.status === "PENDING" || record?.status === "WRONG" ? m.access_pages_broken() : m.access_pages_used();
}
