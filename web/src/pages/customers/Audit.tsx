import type { AuditEntry, Customer, Page } from "@postern/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Button, Empty, LoadingFailed, SkeletonRows, Time } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { HISTORY_ENTRIES } from "./queries";
import { detailOf, happened } from "./words";

/** What developers and keys have changed about a customer, newest first. */
export function Audit({ customer }: { customer: Customer }) {
  const projectId = useProjectId();
  const query = useInfiniteQuery({
    queryKey: ["customers", projectId, "audit", customer.id],
    queryFn: ({ pageParam, signal }) =>
      pageParam
        ? pageParam.next()
        : api(projectId).customers.listAuditLog(customer.id, { limit: HISTORY_ENTRIES }, { signal }),
    initialPageParam: undefined as Page<AuditEntry> | undefined,
    getNextPageParam: (last) => (last?.hasNext ? last : undefined),
    structuralSharing: false,
  });
  usePageRequest({
    method: "GET",
    path: `/projects/${projectId}/customers/${customer.id}/audit-log?limit=${HISTORY_ENTRIES}`,
  });
  const entries = query.data?.pages.flatMap((each) => each?.data ?? []) ?? [];
  return (
    <section className="sec" aria-labelledby="audit">
      <header>
        <h2 id="audit">{m.customers_audit_title()}</h2>
        <p>{m.customers_audit_lead()}</p>
      </header>
      {query.isError && entries.length === 0 ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data && entries.length === 0 ? (
        <Empty title={m.customers_audit_empty()} lead={m.customers_audit_empty_lead()} />
      ) : (
        <table className="table plain audit" aria-busy={query.isPending || undefined}>
          <thead>
            <tr>
              <th scope="col">{m.customers_audit_what()}</th>
              <th scope="col">{m.customers_audit_who()}</th>
              <th scope="col">{m.customers_audit_detail()}</th>
              <th scope="col" className="num">
                {m.customers_audit_when()}
              </th>
            </tr>
          </thead>
          {query.isPending ? (
            <SkeletonRows rows={4} widths={[160, 140, 140, 80]} />
          ) : (
            <tbody>
              {entries.map((entry) => (
                <tr key={entry.id}>
                  <th scope="row">{happened({ type: entry.action, title: entry.action }).word()}</th>
                  <td>
                    {entry.actorEmail ?? m.customers_audit_key()}
                    {entry.impersonatedByStaffEmail && (
                      <span className="muted"> {m.customers_by({ who: entry.impersonatedByStaffEmail })}</span>
                    )}
                  </td>
                  <td>{detailOf({ type: entry.action, data: entry.metadata })}</td>
                  <td className="num">
                    <Time at={entry.createdAt} format={longTime} />
                  </td>
                </tr>
              ))}
            </tbody>
          )}
        </table>
      )}
      {query.hasNextPage && (
        <p className="more">
          <Button size="small" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {m.older()}
          </Button>
        </p>
      )}
    </section>
  );
}
