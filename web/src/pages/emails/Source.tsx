import type { EmailLogEntryDetail, HeaderField } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { bytes } from "../../parts/format";
import { Button, Copy, Empty, LoadingFailed } from "../../parts/parts";
import { curlOf } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";

/** Characters of a source that are shown; the file has all of them. */
const SHOWN_CHARACTERS = 200_000;

interface Raw {
  text: string;
  octets: Uint8Array;
}

function useRaw(sendId: string) {
  const projectId = useProjectId();
  return useQuery({
    queryKey: ["send", projectId, sendId, "raw"],
    queryFn: async ({ signal }): Promise<Raw> => {
      const octets = await api(projectId).emails.getRaw(sendId, { signal });
      return { text: new TextDecoder().decode(octets), octets };
    },
    staleTime: 60_000,
  });
}

/** The header fields of the message of a send. */
export function Headers({ sendId }: { sendId: string }) {
  const raw = useRaw(sendId);
  const fields = useMemo(() => headerFields(raw.data?.text ?? ""), [raw.data]);
  return (
    <RawState query={raw}>
      <HeaderList fields={fields} />
    </RawState>
  );
}

/** The fields in their order; signatures, which nobody reads, come last. */
export function HeaderList({ fields }: { fields: HeaderField[] }) {
  const isSignature = ({ name }: HeaderField) => /-signature$/i.test(name);
  return (
    <dl className="headers">
      {[...fields.filter((each) => !isSignature(each)), ...fields.filter(isSignature)].map(
        ({ name, value }, number) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a field may be there twice, and their order never changes.
          <div key={number}>
            <dt>{name}</dt>
            <dd>
              <code>{value}</code>
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** Names and values of the header (RFC 5322 §2.2), with continued lines joined. Values stay encoded. */
function headerFields(message: string): HeaderField[] {
  const header = message.split(/\r?\n\r?\n/, 1)[0] ?? "";
  return header
    .replace(/\r?\n(?=[ \t])/g, "")
    .split(/\r?\n/)
    .flatMap((line) => {
      const colon = line.indexOf(":");
      return colon > 0 ? [{ name: line.slice(0, colon), value: line.slice(colon + 1).trim() }] : [];
    });
}

/** The message as it went over the wire. */
export function Source({ sendId }: { sendId: string }) {
  const raw = useRaw(sendId);
  return <RawState query={raw}>{raw.data && <SourceText raw={raw.data} filename={`${sendId}.eml`} />}</RawState>;
}

export function SourceText({ raw: { text, octets }, filename }: { raw: Raw; filename: string }) {
  return (
    <section className="source">
      <div className="sechead">
        <p>{bytes(octets.length)}</p>
        <div className="acts">
          <Copy value={text} label={m.emails_copy_source()} />
          <Button size="small" onClick={() => download(octets, filename, "message/rfc822")}>
            {m.emails_save_eml()}
          </Button>
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys. */}
      <pre className="code" tabIndex={0} role="region" aria-label={m.emails_part_source()}>
        {text.slice(0, SHOWN_CHARACTERS)}
      </pre>
      {text.length > SHOWN_CHARACTERS && <p className="muted">{m.emails_source_cut()}</p>}
    </section>
  );
}

/** Loading, failed, and "no longer stored" of a message. */
function RawState({ query, children }: { query: ReturnType<typeof useRaw>; children: ReactNode }) {
  if (query.isSuccess) return children;
  if (query.isPending) return <p className="sr">{m.loading()}</p>;
  const { error } = query;
  if (error instanceof APIError && error.status === 404)
    return <Empty title={m.emails_message_gone()} lead={error.detail} />;
  return <LoadingFailed title={m.emails_source_failed()} error={error} onRetry={query.refetch} />;
}

/** How the API gives this e-mail: the request and its response. */
export function RequestTab({ path, record }: { path: string; record: EmailLogEntryDetail | undefined }) {
  const curl = curlOf({ method: "GET", path });
  const response = JSON.stringify(record, null, 2);
  return (
    <section className="source">
      <div className="sechead">
        <h3>{m.emails_request()}</h3>
        <div className="acts">
          <Copy value={curl} label={m.copy_as_curl()} />
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys. */}
      <pre className="code" tabIndex={0} role="region" aria-label={m.emails_request()}>
        {curl}
      </pre>
      <div className="sechead">
        <h3>{m.emails_response()}</h3>
        <div className="acts">{response && <Copy value={response} />}</div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: as above. */}
      <pre className="code" tabIndex={0} role="region" aria-label={m.emails_response()}>
        {response}
      </pre>
    </section>
  );
}
