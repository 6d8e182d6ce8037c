import { useDebouncedValue } from "@mantine/hooks";
import type { AudiencePreview, Rules } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";

/** Milliseconds after the last change until the contacts are counted. */
const TYPING_MS = 400;
const NOTHING = "null";

export interface RulePreview {
  data: AudiencePreview | undefined;
  /** Why the rules as they are now could not be counted. */
  error: unknown;
  /** The data is that of earlier rules. */
  isStale: boolean;
  isFetching: boolean;
}

/** The contacts that rules choose, counted when the person pauses. Without rules, nothing is counted. */
export function useRulePreview(rules: unknown): RulePreview {
  const projectId = useProjectId();
  const now = rules === undefined ? NOTHING : JSON.stringify(rules);
  const [counted] = useDebouncedValue(now, TYPING_MS);
  const query = useQuery({
    queryKey: ["contacts", projectId, "preview", counted],
    queryFn: ({ signal }) => api(projectId).audiences.preview({ rules: JSON.parse(counted) as Rules }, { signal }),
    enabled: counted !== NOTHING,
    placeholderData: (previous) => previous,
    retry: false,
    staleTime: 0,
  });
  const isCurrent = counted === now;
  return {
    data: query.data,
    error: isCurrent && query.isError ? query.error : undefined,
    isStale: !isCurrent || query.isPlaceholderData,
    isFetching: query.isFetching,
  };
}

/** How many contacts the rules choose now, and the newest of them. */
export function WhoMatches({
  preview: { data, error, isStale, isFetching },
  isComplete,
  isMarked,
}: {
  preview: RulePreview;
  /** Every condition has its value. */
  isComplete: boolean;
  /** What is wrong is marked at a condition. */
  isMarked: boolean;
}) {
  return (
    <section className="sec chosenby" aria-labelledby="preview-title" aria-busy={isFetching || undefined}>
      <header>
        <h2 id="preview-title">{m.contacts_who_matches()}</h2>
      </header>
      {!isComplete ? (
        <p className="muted">{m.contacts_preview_incomplete()}</p>
      ) : error !== undefined ? (
        isMarked ? (
          <p className="muted">{m.contacts_preview_refused()}</p>
        ) : (
          <Wrong>{messageOf(error)}</Wrong>
        )
      ) : data ? (
        <Found total={data.count} contacts={data.contacts} isStale={isStale} />
      ) : (
        <p className="muted">{m.loading()}</p>
      )}
    </section>
  );
}

function Found({
  total,
  contacts,
  isStale,
}: {
  total: number;
  contacts: { id: string; email: string }[];
  isStale: boolean;
}) {
  const projectId = useProjectId();
  return (
    <div className={isStale ? "stale" : ""}>
      <p className="figure" aria-live="polite">
        {total === 1 ? m.contacts_total_one() : m.contacts_total({ count: count(total) })}
      </p>
      {contacts.length > 0 && (
        <>
          <p className="muted">
            {total > contacts.length ? m.contacts_sample({ count: contacts.length }) : m.contacts_sample_all()}
          </p>
          <ul className="list">
            {contacts.map((each) => (
              <li key={each.id}>
                <Link
                  className="cut"
                  to="/projects/$projectId/contacts/$contactId"
                  params={{ projectId, contactId: each.id }}
                >
                  {each.email}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
