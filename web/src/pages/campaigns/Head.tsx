import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Campaign } from "@postern/sdk";
import { IconDots } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { ICON, Pill } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useUndo } from "../../parts/undo";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { campaignQuery, isRunning } from "./queries";
import { lookOf } from "./words";

export function Crumb({ name }: { name?: string }) {
  const projectId = useProjectId();
  return (
    <p className="crumb cut">
      <Link to="/projects/$projectId/campaigns" params={{ projectId }} activeOptions={{ exact: true }}>
        {m.campaigns()}
      </Link>
      {name && ` / ${name}`}
    </p>
  );
}

export function StatePill({ campaign }: { campaign: Campaign }) {
  const { shape, tone, word } = lookOf(campaign);
  if (isRunning(campaign))
    return (
      <span className="pill good">
        <span className="live" aria-hidden="true" />
        {word()}
      </span>
    );
  return (
    <Pill shape={shape} tone={campaign.status === "SENT" ? "good" : tone === "comp" ? "bad" : tone}>
      {word()}
    </Pill>
  );
}

/** What can be done with every campaign, beside the main action of its state. */
export function MoreActions({
  campaign,
  before,
  onTest,
}: {
  campaign: Campaign;
  /** Stores what is typed, first. False if that did not succeed. */
  before?: () => Promise<boolean>;
  onTest: () => void;
}) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const navigate = useNavigate();
  const client = useQueryClient();
  const undo = useUndo();
  const path = `/projects/${projectId}/campaigns/${campaign.id}`;
  const isUnsent = campaign.status === "DRAFT" || campaign.status === "SCHEDULED";
  const duplicate = async () => {
    try {
      if (before && !(await before())) return;
      const copy = await api(projectId).campaigns.duplicate(campaign.id);
      void client.invalidateQueries({ queryKey: ["campaigns", projectId, "list"] });
      await navigate({ to: "/projects/$projectId/campaigns/$campaignId", params: { projectId, campaignId: copy.id } });
      notifications.show({ message: m.campaigns_duplicated({ name: copy.name }) });
    } catch (error) {
      notifications.show({ message: m.campaigns_duplicate_failed({ reason: messageOf(error) }) });
    }
  };
  const remove = async () => {
    if (before) await before();
    await navigate({ to: "/projects/$projectId/campaigns", params: { projectId } });
    undo.start({
      id: campaign.id,
      said: m.campaigns_deleted({ name: campaign.name }),
      run: async () => {
        await api(projectId).campaigns.delete(campaign.id);
        client.removeQueries({ queryKey: campaignQuery(projectId, campaign.id).queryKey });
        await client.invalidateQueries({ queryKey: ["campaigns", projectId, "list"] });
      },
      failed: (error) => m.campaigns_delete_failed({ reason: messageOf(error) }),
    });
  };
  const exportSends = async () => {
    try {
      download(await api(projectId).campaigns.exportSends(campaign.id), `campaign-${campaign.id}.csv`, "text/csv");
    } catch (error) {
      notifications.show({ message: m.emails_export_failed({ reason: messageOf(error) }) });
    }
  };
  return (
    <Menu position="bottom-end" width={260} portalProps={{ target: "#menus" }} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <button className="btn more" type="button" aria-label={m.campaigns_more()}>
          <IconDots {...ICON} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {mayWrite && (
          <>
            <Menu.Item onClick={onTest}>{m.campaigns_test()}</Menu.Item>
            <Menu.Item onClick={() => void duplicate()}>{m.campaigns_duplicate()}</Menu.Item>
          </>
        )}
        {!isUnsent && <Menu.Item onClick={() => void exportSends()}>{m.campaigns_export()}</Menu.Item>}
        <Menu.Item onClick={() => void copyCurl({ method: "GET", path })}>{m.copy_as_curl()}</Menu.Item>
        {mayWrite && isUnsent && (
          <>
            <Menu.Item onClick={() => void copyCurl({ method: "POST", path: `${path}/send` })}>
              {m.campaigns_send_curl()}
            </Menu.Item>
            <Menu.Divider />
            <Menu.Item className="danger" onClick={() => void remove()}>
              {m.campaigns_delete()}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
