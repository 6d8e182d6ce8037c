import { useNavigate } from "@tanstack/react-router";
import { Mark } from "../look/glyphs";
import { m } from "../messages/messages.js";
import { NewProjectForm } from "./NewProject";

/** The start of a developer whose account has no project. */
export function NoProjects() {
  const navigate = useNavigate();
  return (
    <div className="gatepage">
      <main id="main">
        <Mark size={36} />
        <div className="intro">
          <h1>{m.no_projects_title()}</h1>
          <p>{m.no_projects_lead()}</p>
        </div>
        <NewProjectForm
          onCreated={(project) => navigate({ to: "/projects/$projectId", params: { projectId: project.id } })}
        />
      </main>
    </div>
  );
}
