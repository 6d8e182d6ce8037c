import { notifications } from "@mantine/notifications";
import type { EmailLogEntry, Page } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback } from "react";
import { useNeighboursOf } from "../../lists/neighbours";
import { PAGE_ROWS } from "../../lists/rows";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { count } from "../../parts/format";
import { Empty } from "../../parts/parts";
import { queryString } from "../../parts/request";
import { useLive } from "../../session/live";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Frame } from "./Frame";
import { SendRows } from "./Log";

/** Scheduled e-mails that are read, to be sorted by their time: the API lists the last accepted first. */
const MOST = 1_000;
const POLL_MS = 10_000;
/** Events after which other e-mails may be scheduled. */
const TYPES = ["email.scheduled", "email.sent", "email.delivered", "email.failed", "email.cancelled", "email.expired"];

/** The e-mails that wait for their time, soonest first. */
export function Scheduled() {
  const projectId = useProjectId();
  const { sendId } = useParams({ strict: false });
  const navigate = useNavigate();
  const client = useQueryClient();
  const queryKey = ["emails", projectId, "scheduled"];
  const live = useLive(projectId, TYPES, () => void client.invalidateQueries({ queryKey }));
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      let page: Page<EmailLogEntry> | undefined = await api(projectId).emails.list(
        { status: ["SCHEDULED"], limit: PAGE_ROWS },
        { signal },
      );
      const total = page.total ?? 0;
      const rows: EmailLogEntry[] = [];
      for (; page && rows.length < MOST; page = await page.next()) rows.push(...page.data);
      return { rows: rows.sort((a, b) => (a.scheduledAt ?? "").localeCompare(b.scheduledAt ?? "")), total };
    },
    refetchInterval: live === "off" ? POLL_MS : false,
  });
  const rows = query.data?.rows ?? NONE;
  const open = useCallback(
    (send: EmailLogEntry) =>
      void navigate({
        to: "/projects/$projectId/emails/scheduled/$sendId",
        params: { projectId, sendId: send.id },
        search: true,
        replace: sendId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, sendId],
  );
  const close = useCallback(
    () => void navigate({ to: "/projects/$projectId/emails/scheduled", params: { projectId }, resetScroll: false }),
    [navigate, projectId],
  );
  const patch = useCallback(
    () => void client.invalidateQueries({ queryKey: ["emails", projectId, "scheduled"] }),
    [client, projectId],
  );
  const neighbours = useNeighboursOf(rows, sendId, open, close, patch);
  const onExport = async () => {
    try {
      download(await api(projectId).emails.export({ status: ["SCHEDULED"] }), "scheduled.csv", "text/csv");
    } catch (error) {
      notifications.show({ message: m.emails_export_failed({ reason: messageOf(error) }) });
    }
  };
  const total = query.data?.total;
  return (
    <Frame
      tab="scheduled"
      request={{
        method: "GET",
        path: `/projects/${projectId}/emails/logs${queryString({ status: "SCHEDULED", limit: PAGE_ROWS })}`,
      }}
      onExport={onExport}
      neighbours={neighbours}
      panel={sendId && <Outlet />}
    >
      {total !== undefined && total > MOST && (
        <p className="muted lead">{m.emails_scheduled_part({ shown: count(MOST), total: count(total) })}</p>
      )}
      <SendRows
        list={{
          rows,
          total,
          isPending: query.isPending,
          isStale: false,
          error: query.isError ? query.error : undefined,
          retry: () => void query.refetch(),
        }}
        openId={sendId}
        onOpen={open}
        onClose={close}
        empty={<Empty title={m.emails_scheduled_empty()} lead={m.emails_scheduled_empty_lead()} />}
        scheduled
        to="/projects/$projectId/emails/scheduled/$sendId"
      />
    </Frame>
  );
}

const NONE: EmailLogEntry[] = [];
