import { useInViewport } from "@mantine/hooks";
import type { Template } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Time } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { MailFrame } from "./MailFrame";
import { templateQuery } from "./queries";
import { withNames } from "./sample";

/** The templates as pictures of what they look like. */
export function Cards({ rows, total, onMore }: { rows: Template[]; total: number | undefined; onMore: () => void }) {
  const projectId = useProjectId();
  return (
    <>
      <ul className="cards">
        {rows.map((row) => (
          <li key={row.id}>
            <Picture template={row} />
            <Link
              className="cut"
              to="/projects/$projectId/templates/$templateId"
              params={{ projectId, templateId: row.id }}
            >
              {row.name}
            </Link>
            <span className="muted">
              <Time at={row.updatedAt} />
            </span>
          </li>
        ))}
      </ul>
      {total !== undefined && total > rows.length && (
        <p className="more">
          <Button onClick={onMore}>{m.templates_more()}</Button>
        </p>
      )}
    </>
  );
}

/** What a template looks like. Its content is read when it comes into view. */
function Picture({ template }: { template: Template }) {
  const projectId = useProjectId();
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const [isSeen, setSeen] = useState(false);
  if (inViewport && !isSeen) setSeen(true);
  const { data } = useQuery({ ...templateQuery(projectId, template.id), enabled: isSeen });
  return (
    <div ref={ref} className="picture" aria-hidden="true" inert>
      {data?.html ? (
        <MailFrame html={withNames(data.html)} title="" look="computer" />
      ) : (
        data?.text && <p>{data.text.slice(0, 400)}</p>
      )}
    </div>
  );
}
