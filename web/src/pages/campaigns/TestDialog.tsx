import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Campaign } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconTerminal2 } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field, ICON } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useProfile, useProject, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";

/** Sends one copy marked as a test, or one to each address of the project's seed list. */
export function TestDialog({
  campaign,
  before,
  onClose,
}: {
  campaign: Campaign;
  /** Stores what is typed, first. False if that did not succeed. */
  before?: () => Promise<boolean>;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const seeds = useProject()?.settings.seedList?.length ?? 0;
  const { email } = useProfile();
  const [to, setTo] = useState(email);
  const [isSeeds, setSeeds] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const path = `/projects/${projectId}/campaigns/${campaign.id}`;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!isSeeds && !to.trim()) return setError(m.campaigns_test_none());
    setBusy(true);
    setError("");
    try {
      if (before && !(await before())) throw new Error(m.campaigns_not_saved());
      if (isSeeds) {
        const { sent } = await api(projectId).campaigns.sendTestToSeedList(campaign.id);
        notifications.show({
          message: sent === 1 ? m.campaigns_test_sent_one() : m.campaigns_test_sent({ count: sent }),
        });
      } else {
        await api(projectId).campaigns.sendTest(campaign.id, { to: to.trim() });
        notifications.show({ message: m.campaigns_test_sent_to({ email: to.trim() }) });
      }
      onClose();
    } catch (caught) {
      setError(
        caught instanceof APIError && caught.code === "campaign_incomplete"
          ? `${m.campaigns_test_incomplete()} ${messageOf(caught)}`
          : messageOf(caught),
      );
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.campaigns_test()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        {seeds > 0 && (
          <div className="seg" role="group" aria-label={m.campaigns_test_to_whom()}>
            <button type="button" aria-pressed={!isSeeds} onClick={() => setSeeds(false)}>
              {m.campaigns_test_one()}
            </button>
            <button type="button" aria-pressed={isSeeds} onClick={() => setSeeds(true)}>
              {m.campaigns_test_seeds({ count: seeds })}
            </button>
          </div>
        )}
        {isSeeds ? (
          <>
            <p>{m.campaigns_test_seeds_lead()}</p>
            {error && (
              <p className="wrong" role="alert">
                {error}
              </p>
            )}
          </>
        ) : (
          <Field
            label={m.campaigns_test_to()}
            hint={m.campaigns_test_hint()}
            error={error}
            type="email"
            autoComplete="off"
            value={to}
            onChange={(event) => {
              setTo(event.target.value);
              setError("");
            }}
            data-autofocus
          />
        )}
        <div className="dialog-actions">
          <Button
            kind="bare"
            icon={<IconTerminal2 {...ICON} />}
            onClick={() =>
              void copyCurl(
                isSeeds
                  ? { method: "POST", path: `${path}/test-seed-list` }
                  : { method: "POST", path: `${path}/test`, body: { to: to.trim() } },
              )
            }
          >
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.campaigns_test_deed()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
