import type { Finding } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconListCheck } from "@tabler/icons-react";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { Findings, findingsInWords } from "../../parts/Findings";
import { Button, ICON } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";

/** What a check found, and in which version of the campaign. */
export interface Checked {
  findings: Finding[];
  version: string;
}

/** Check the message of a stored campaign, of an A/B test that of each variant, for what large providers object to. */
export async function preflight(projectId: string, id: string, checkLinks: boolean): Promise<Checked> {
  const { campaigns } = api(projectId);
  const { abTestEnabled, variants, updatedAt } = await campaigns.get(id);
  const ids = abTestEnabled && variants.length ? variants.map((each) => each.id) : [null];
  const results = await Promise.all(ids.map((variantId) => campaigns.preflight(id, { variantId, checkLinks })));
  const findings = new Map(
    results.flatMap((each) => each.findings).map((each) => [`${each.code} ${each.path} ${each.message}`, each]),
  );
  return { findings: [...findings.values()], version: updatedAt };
}

/** The parts of a message as the paths of findings name them. */
const PLACES: Record<string, () => string> = {
  subject: m.campaigns_subject,
  html: m.campaigns_in_message,
  text: m.campaigns_in_text,
  from: m.campaigns_sender,
  fromEmail: m.campaigns_sender,
};

/** Where a finding is: a part of the message, or the name of a DNS record. */
export function placeOf(path: string): string | undefined {
  return path.startsWith("/") ? PLACES[path.split("/")[1] ?? ""]?.() : path;
}

/** Checks the message on demand, and shows what receivers and filters would object to. */
export function PreflightPanel({
  id,
  checked,
  isOutdated,
  before,
  onChecked,
}: {
  id: string;
  checked: Checked | undefined;
  /** The draft has changed since. */
  isOutdated: boolean;
  /** Stores what is typed. False if that did not succeed. */
  before: () => Promise<boolean>;
  onChecked: (checked: Checked) => void;
}) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const [checkLinks, setCheckLinks] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const check = async () => {
    setBusy(true);
    setError("");
    try {
      if (await before()) onChecked(await preflight(projectId, id, checkLinks));
      else setError(m.campaigns_not_saved());
    } catch (caught) {
      setError(
        caught instanceof APIError && caught.code === "campaign_incomplete"
          ? m.campaigns_preflight_incomplete()
          : messageOf(caught),
      );
    } finally {
      setBusy(false);
    }
  };
  if (!mayWrite) return null;
  return (
    <section className="checks preflight" aria-labelledby="preflight">
      <h2 id="preflight">{m.campaigns_preflight()}</h2>
      <p className="muted" role="status">
        {!checked
          ? m.campaigns_preflight_lead()
          : isOutdated
            ? m.campaigns_preflight_outdated()
            : findingsInWords(checked.findings) || m.campaigns_preflight_none()}
      </p>
      {checked && checked.findings.length > 0 && (
        <Findings findings={checked.findings} label={m.campaigns_preflight()} placeOf={placeOf} />
      )}
      <Wrong>{error}</Wrong>
      <div className="line">
        <Button size="small" busy={isBusy} icon={<IconListCheck {...ICON} />} onClick={() => void check()}>
          {checked ? m.campaigns_preflight_again() : m.campaigns_preflight_run()}
        </Button>
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={checkLinks}
            onChange={(event) => setCheckLinks(event.target.checked)}
          />
          {m.campaigns_preflight_links()}
        </label>
      </div>
    </section>
  );
}
