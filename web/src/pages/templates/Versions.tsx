import { notifications } from "@mantine/notifications";
import { APIError, type Template, type TemplateVersion } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Button, LoadingFailed, Time } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { type DiffLine, excerpt, lineDiff } from "./diff";
import { Preview, useRendered } from "./Preview";
import { versionsQuery } from "./queries";
import { variablesOf } from "./sample";
import { sourceOf } from "./source";

const page = getRouteApi("/session/projects/$projectId/templates/$templateId");

/** The last versions of a template: what each changed, what it looks like, and the way back to it. */
export function Versions({ template, typed }: { template: Template; typed: Record<string, string> }) {
  const projectId = useProjectId();
  const { version: chosen } = page.useSearch();
  const query = useQuery(versionsQuery(projectId, template.id));
  usePageRequest({ method: "GET", path: `/projects/${projectId}/templates/${template.id}/versions` });
  if (query.isError && !query.data) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <p className="muted waits">{m.loading()}</p>;
  const versions = query.data;
  const shown = versions.find((each) => String(each.version) === chosen) ?? versions[0];
  if (!shown) return null;
  const before = versions.find((each) => each.version < shown.version);
  return (
    <div className="history">
      <nav aria-label={m.templates_versions()}>
        <ol>
          {versions.map((each) => (
            <li key={each.version}>
              <Link
                to="."
                search={(previous) => ({ ...previous, tab: "versions" as const, version: String(each.version) })}
                replace
                resetScroll={false}
                activeOptions={{ exact: true }}
                aria-current={each.version === shown.version ? "true" : undefined}
              >
                <b>{m.templates_version({ number: each.version })}</b>
                {each.version === template.version && <span className="tag">{m.templates_in_use()}</span>}
                <small className="muted">
                  <Time at={each.createdAt} format={longTime} />
                  {each.createdBy && <span className="cut">{each.createdBy}</span>}
                </small>
              </Link>
            </li>
          ))}
        </ol>
      </nav>
      <Version key={shown.version} version={shown} before={before} template={template} typed={typed} />
    </div>
  );
}

function Version({
  version,
  before,
  template,
  typed,
}: {
  version: TemplateVersion;
  before: TemplateVersion | undefined;
  template: Template;
  typed: Record<string, string>;
}) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const isCurrent = version.version === template.version;
  // What someone wants to know: what restoring would change, or what the last change was.
  const [against, setAgainst] = useState<"before" | "current">(isCurrent ? "before" : "current");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const { subject, html, text, engine } = version;
  const rendered = useRendered({ subject, html, text, engine, variables: variablesOf(template.variables, typed) }, 0);
  const lines =
    against === "current"
      ? lineDiff(sourceOf(template), sourceOf(version))
      : lineDiff(before ? sourceOf(before) : "", sourceOf(version));
  const restore = async () => {
    setBusy(true);
    setError("");
    try {
      const { number } = await restoreVersion(projectId, template, version);
      notifications.show({ message: m.templates_restored({ number: version.version, now: number }) });
    } catch (caught) {
      setError(
        caught instanceof APIError && caught.status === 412 ? m.templates_changed_meanwhile() : messageOf(caught),
      );
    }
    await client.invalidateQueries({ queryKey: ["template", projectId, template.id] });
    void client.invalidateQueries({ queryKey: ["templates", projectId] });
    setBusy(false);
  };
  return (
    <div className="version">
      <section aria-labelledby="version-diff">
        <header className="sechead">
          <h2 id="version-diff">{m.templates_version({ number: version.version })}</h2>
          <div className="acts">
            {!isCurrent && (
              <div className="seg" role="group" aria-label={m.templates_compare_with()}>
                <button type="button" aria-pressed={against === "current"} onClick={() => setAgainst("current")}>
                  {m.templates_against_current()}
                </button>
                <button type="button" aria-pressed={against === "before"} onClick={() => setAgainst("before")}>
                  {m.templates_against_before()}
                </button>
              </div>
            )}
            {!isCurrent && mayWrite && (
              <Button busy={isBusy} onClick={() => void restore()}>
                {m.templates_restore({ number: version.version })}
              </Button>
            )}
          </div>
        </header>
        {error && (
          <p className="wrong" role="alert">
            <Glyph shape="failed" />
            <span>{error}</span>
          </p>
        )}
        <Diff lines={lines} isFirst={against === "before" && !before} />
      </section>
      <Preview
        of={rendered.data}
        error={rendered.isError ? rendered.error : undefined}
        onRetry={() => void rendered.refetch()}
        title={m.templates_preview_of({ name: version.name })}
      />
    </div>
  );
}

/**
 * Store the content of a version again. HTML that was rendered from the document is rendered again; HTML of its own,
 * which differs from that, is stored as it was.
 */
async function restoreVersion(
  projectId: string,
  template: Template,
  version: TemplateVersion,
): Promise<{ number: number }> {
  const { name, subject, builderJson, html, text, engine } = version;
  const { update } = api(projectId).templates;
  const content = { name, subject, builderJson, text, engine, html: builderJson ? null : html };
  let restored = await update(template.id, content, { ifMatch: template });
  if (builderJson && restored.html !== html) restored = await update(template.id, { html }, { ifMatch: restored });
  return { number: restored.version };
}

function Diff({ lines, isFirst }: { lines: DiffLine[]; isFirst: boolean }) {
  if (lines.every((line) => line.kind === "same")) return <p className="muted">{m.templates_no_difference()}</p>;
  return (
    <>
      {isFirst && <p className="muted">{m.templates_first_version()}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
      <div className="code lines" role="group" aria-label={m.templates_differences()} tabIndex={0}>
        {excerpt(lines).map((line, index) =>
          line.kind === "gap" ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines do not move.
            <div key={index} className="gap">
              {line.count === 1 ? m.templates_lines_same_one() : m.templates_lines_same({ count: line.count })}
            </div>
          ) : line.kind === "same" ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <div key={index}>{line.text || " "}</div>
          ) : line.kind === "old" ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <del key={index}>{line.text || " "}</del>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <ins key={index}>{line.text || " "}</ins>
          ),
        )}
      </div>
    </>
  );
}
