import { Link, useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useProjectId } from "../../session/profile";

/** The pages of other parts of the dashboard that are linked where they exist. */
const ROUTES = {
  contact: "/projects/$projectId/contacts/$id",
  contacts: "/projects/$projectId/contacts",
  audience: "/projects/$projectId/contacts/audiences/$id",
  audiences: "/projects/$projectId/contacts/audiences",
  template: "/projects/$projectId/templates/$id",
  templates: "/projects/$projectId/templates",
} as const;
type Place = keyof typeof ROUTES;

/** The path of a page of this dashboard, if it has one: with the names of its parameters left open. */
function routeOf(paths: string[], place: Place): string | undefined {
  const open = (path: string) => path.replace(/\$(?!projectId)\w+/, "$id");
  return paths.find((each) => open(each) === ROUTES[place]);
}

export function useHasPage(place: Place): boolean {
  return routeOf(Object.keys(useRouter().routesByPath), place) !== undefined;
}

/** A link to another part of the dashboard; only the text where that part does not exist. */
export function Elsewhere({
  to,
  id,
  className,
  children,
}: {
  to: Place;
  id?: string;
  className?: string;
  children: ReactNode;
}) {
  const projectId = useProjectId();
  const path = routeOf(Object.keys(useRouter().routesByPath), to);
  if (!path) return <span className={className === "btn small" ? "muted" : className}>{children}</span>;
  const name = /\$(?!projectId)(\w+)/.exec(path)?.[1];
  const params = { projectId, ...(name && id && { [name]: id }) };
  // These routes are of other pages, which the types here do not know.
  return (
    <Link className={className} to={path as "/projects/$projectId"} params={params}>
      {children}
    </Link>
  );
}
