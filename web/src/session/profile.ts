import type { AccountProfile, Project } from "@postern/sdk";
import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { api } from "./server";

/** The developer who is signed in, with account, role and projects. */
export const profileQuery = queryOptions({
  queryKey: ["profile"],
  queryFn: ({ signal }) => api().account.get({ signal }),
  staleTime: 60_000,
});

export function useProfile(): AccountProfile {
  return useSuspenseQuery(profileQuery).data;
}

/** The id of the project in the address of the page. */
export function useProjectId(): string {
  return useParams({ strict: false }).projectId ?? "";
}

/** The project in the address of the page. */
export function useProject(): Project | undefined {
  const id = useProjectId();
  return useQuery(profileQuery).data?.projects.find((each) => each.id === id);
}

/** Whether the developer may change something: a viewer may not. */
export function useMayWrite(): boolean {
  return useProfile().role !== "VIEWER";
}

const LAST_PROJECT = "postern.project";

/** Keep the project for the next visit, and read it then. */
export function rememberProject(id: string): void {
  localStorage.setItem(LAST_PROJECT, id);
}
export function lastProject(projects: Project[]): Project | undefined {
  const id = localStorage.getItem(LAST_PROJECT);
  return projects.find((each) => each.id === id) ?? projects[0];
}
