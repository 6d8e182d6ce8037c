import { notifications } from "@mantine/notifications";
import type { Domain, SettingsChange } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Button, LoadingFailed, Status } from "../../parts/parts";
import { profileQuery, useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Certificates } from "./Certificates";
import { domainQuery, projectQuery } from "./queries";
import { PURPOSES, recordLook } from "./words";

/** The keys that sign, the tracking of links, and the end of a domain. */
export function DomainSettings({ domain, onDelete }: { domain: Domain; onDelete: () => void }) {
  const mayWrite = useMayWrite();
  return (
    <>
      <Keys domain={domain} />
      <Tracking domain={domain} />
      <Certificates domain={domain} />
      {mayWrite && (
        <section className="sec" aria-labelledby="end">
          <header>
            <h2 id="end">{m.domains_delete()}</h2>
          </header>
          <div className="rule setting">
            <p className="grow">{m.domains_delete_lead()}</p>
            <Button kind="danger" onClick={onDelete}>
              {m.domains_delete()}
            </Button>
          </div>
        </section>
      )}
    </>
  );
}

function Keys({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const [isRotating, setRotating] = useState(false);
  const keys = domain.records.filter((each) => each.purpose.startsWith("DKIM"));
  const next = keys.find((each) => each.purpose === "DKIM_NEXT");
  const isHosted = keys.some((each) => each.type === "CNAME");
  const isReady = domain.status === "VERIFIED" && next?.status === "VERIFIED";
  return (
    <section className="sec" aria-labelledby="keys">
      <header>
        <h2 id="keys">{m.domains_keys()}</h2>
        <p>{m.domains_keys_lead()}</p>
        {mayWrite && isReady && (
          <div className="acts">
            <Button size="small" onClick={() => setRotating(true)}>
              {m.domains_rotate()}
            </Button>
          </div>
        )}
      </header>
      <table className="table plain keys">
        <thead>
          <tr>
            <th scope="col">{m.domains_key()}</th>
            <th scope="col">{m.domains_selector()}</th>
            <th scope="col">{m.domains_state()}</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((record) => {
            const { shape, tone, word } = recordLook(record, domain.lastCheckedAt !== null);
            return (
              <tr key={record.purpose}>
                <th scope="row">{PURPOSES[record.purpose]?.what()}</th>
                <td>
                  <code>{record.name.split(".")[0]}</code>
                </td>
                <td>
                  <Status shape={shape} tone={tone}>
                    {word()}
                  </Status>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p className="muted after">
        {isHosted ? m.domains_rotates_itself() : isReady ? m.domains_rotate_when() : m.domains_rotate_first()}
      </p>
      {isRotating && (
        <ConfirmDialog
          title={m.domains_rotate_title()}
          deed={m.domains_rotate()}
          onClose={() => setRotating(false)}
          run={async () => {
            let rotated = await api(projectId).domains.rotateKeys(domain.id);
            // The results of the last check are by the use of a key, which is another one now.
            rotated = await api(projectId)
              .domains.verify(domain.id)
              .catch(() => rotated);
            client.setQueryData(domainQuery(projectId, domain.id).queryKey, rotated);
            notifications.show({ message: m.domains_rotated({ selector: rotated.dkimTokens[0] ?? "" }) });
          }}
        >
          <p>{m.domains_rotate_lead()}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

/** Tracking belongs to the project, so what is set here holds for all its domains; the page says so. */
function Tracking({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const query = useQuery(projectQuery(projectId));
  const [busy, setBusy] = useState("");
  /** What was chosen, shown until it is stored or refused. */
  const [chosen, setChosen] = useState<SettingsChange>({});
  const [error, setError] = useState("");
  const record = domain.records.find((each) => each.purpose === "TRACKING");
  const project = query.data;
  const store = async (name: string, settings: SettingsChange) => {
    setBusy(name);
    setError("");
    const { queryKey } = projectQuery(projectId);
    try {
      const changed = await api(projectId).projects.update({ settings }, { ifMatch: client.getQueryData(queryKey) });
      client.setQueryData(queryKey, changed);
      void client.invalidateQueries(profileQuery);
      notifications.show({ message: m.domains_saved() });
    } catch (caught) {
      if (caught instanceof APIError && caught.status === 412) {
        setError(m.domains_conflict());
        await query.refetch();
      } else setError(messageOf(caught));
    } finally {
      setBusy("");
      setChosen(({ [name as keyof SettingsChange]: _, ...others }) => others);
    }
  };
  // One after the other, each with the version of the settings that the one before has made.
  const last = useRef(Promise.resolve());
  const change = (name: keyof SettingsChange, settings: SettingsChange) => {
    setChosen((before) => ({ ...before, ...settings }));
    last.current = last.current.then(() => store(name, settings));
  };
  if (query.isError && !project) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  const settings = project?.settings;
  const host = record?.name;
  const isOwn = host !== undefined && settings?.trackingDomain === host;
  const box = (name: "trackOpens" | "trackClicks", label: string, hint: string) => (
    <label className="rule setting">
      <span className="grow">
        <b>{label}</b>
        <span className="muted">{hint}</span>
      </span>
      <input
        type="checkbox"
        className="switch"
        checked={chosen[name] ?? settings?.[name] ?? false}
        disabled={!mayWrite || !settings}
        onChange={(event) => change(name, { [name]: event.target.checked })}
      />
    </label>
  );
  return (
    <section className="sec" aria-labelledby="tracking">
      <header>
        <h2 id="tracking">{m.domains_tracking_title()}</h2>
        <p>{m.domains_tracking_lead()}</p>
      </header>
      {box("trackOpens", m.domains_track_opens(), m.domains_track_opens_hint())}
      {box("trackClicks", m.domains_track_clicks(), m.domains_track_clicks_hint())}
      <div className="rule setting">
        <p className="grow">
          <b>{m.domains_link_host()}</b>
          <span className="muted">
            {settings?.trackingDomain
              ? m.domains_link_host_is({ host: settings.trackingDomain })
              : m.domains_link_host_default()}{" "}
            {!record
              ? m.domains_link_host_no_record()
              : isOwn && record.status !== "VERIFIED"
                ? m.domains_link_host_broken({ host: record.name })
                : !isOwn && record.status !== "VERIFIED" && m.domains_link_host_first({ host: record.name })}
          </span>
        </p>
        {mayWrite && settings && isOwn && (
          <Button busy={busy === "trackingDomain"} onClick={() => change("trackingDomain", { trackingDomain: null })}>
            {m.domains_link_host_reset()}
          </Button>
        )}
        {mayWrite && settings && host && !isOwn && record?.status === "VERIFIED" && (
          <Button busy={busy === "trackingDomain"} onClick={() => change("trackingDomain", { trackingDomain: host })}>
            {m.domains_link_host_use({ host })}
          </Button>
        )}
        {record && record.status !== "VERIFIED" && (
          <Link to="." search={(before: object) => ({ ...before, tab: undefined }) as never} className="btn">
            {m.domains_show_record()}
          </Link>
        )}
      </div>
      {error && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}
