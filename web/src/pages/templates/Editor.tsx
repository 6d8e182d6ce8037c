import "./templates.css";
import "./editor.css";
import { APIError } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { Empty, LoadingFailed } from "../../parts/parts";
import { useMayWrite, useProjectId } from "../../session/profile";
import { BlockEditor } from "./BlockEditor";
import { hasBlocks } from "./kinds";
import { templateQuery } from "./queries";
import { SourceEditor } from "./SourceEditor";

const page = getRouteApi("/session/projects/$projectId/templates/$templateId/edit");

/** Edits a template: as blocks if it is made of them, otherwise as source. */
export function Editor() {
  const projectId = useProjectId();
  const { templateId } = page.useParams();
  const mayWrite = useMayWrite();
  const query = useQuery(templateQuery(projectId, templateId));
  if (!mayWrite)
    return <Navigate to="/projects/$projectId/templates/$templateId" params={{ projectId, templateId }} replace />;
  if (query.data)
    return hasBlocks(query.data) ? (
      <BlockEditor key={templateId} template={query.data} />
    ) : (
      <SourceEditor key={templateId} template={query.data} />
    );
  return (
    <main id="main" className="page" aria-busy={query.isPending || undefined}>
      {query.isError &&
        (query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.templates_missing_title()} lead={m.templates_missing_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={() => void query.refetch()} />
        ))}
    </main>
  );
}
