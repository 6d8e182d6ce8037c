import { useDebouncedValue } from "@mantine/hooks";
import { APIError, type MailTextContent } from "@postern/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { MailFrame } from "../templates/MailFrame";
import { type View, Views } from "../templates/Preview";
import { faultsOf } from "./mailText";

/** Milliseconds without a change until the server renders. */
const PAUSE_MS = 400;

/** A mail with sample values, as it is typed: on a computer, on a phone, dark, or as plain text. */
export function MailPreview({
  mail,
  language,
  content,
  title,
}: {
  mail: string;
  language: string;
  content: MailTextContent;
  title: string;
}) {
  const projectId = useProjectId();
  const [view, setView] = useState<View>("computer");
  const [settled] = useDebouncedValue(JSON.stringify(content), PAUSE_MS);
  const query = useQuery({
    queryKey: ["customer-mail-preview", projectId, mail, language, settled],
    queryFn: ({ signal }) =>
      api(projectId).customerMails.preview(
        mail,
        language,
        { content: JSON.parse(settled) as MailTextContent },
        { signal },
      ),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
  const wrong =
    query.error instanceof APIError ? Object.values(faultsOf(query.error))[0] : query.error && messageOf(query.error);
  return (
    <section className="rendered" aria-label={m.access_preview()}>
      <header className="sechead">
        {query.isLoading ? (
          <i className="skel" style={{ width: 220 }} />
        ) : (
          <h3 className="cut">{query.data?.subject || m.access_preview()}</h3>
        )}
        <div className="acts">
          <Views view={view} onView={setView} />
        </div>
      </header>
      {wrong && (
        <p className="wrong" role="alert">
          {wrong}
        </p>
      )}
      {query.data &&
        (view === "text" ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
          <pre className="code plain" tabIndex={0}>
            {query.data.text}
          </pre>
        ) : (
          <div className={`hosted ${view === "phone" ? "narrow" : ""}`}>
            <MailFrame html={query.data.html} title={title} look={view} />
          </div>
        ))}
    </section>
  );
}
