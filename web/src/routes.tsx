import { APIError } from "@postern/sdk";
import { createRootRoute, createRoute, lazyRouteComponent, Outlet, redirect } from "@tanstack/react-router";
import { lastProject, profileQuery, rememberProject } from "./session/profile";
import { queries } from "./session/queries";
import { sessionStarted } from "./session/server";
import { NotFound, PageFailed } from "./shell/failures";

/** A path of this dashboard to go on to: nothing that leads to another site. */
function localPath(value: unknown): string | undefined {
  return typeof value === "string" && /^\/(?![/\\])/.test(value) ? value : undefined;
}

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
});

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: (search): { next?: string } => {
    const next = localPath(search.next);
    return next ? { next } : {};
  },
  component: lazyRouteComponent(() => import("./session/pages"), "SignInPage"),
});

export const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/welcome",
  component: lazyRouteComponent(() => import("./session/pages"), "WelcomePage"),
});

/** All pages that need a session. Without one, the way leads over the sign-in back to the page. */
export const sessionRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "session",
  beforeLoad: async ({ location }) => {
    try {
      await queries.ensureQueryData(profileQuery);
      sessionStarted();
    } catch (error) {
      if (error instanceof APIError && error.status === 401) {
        throw redirect({ to: "/sign-in", search: location.pathname === "/" ? {} : { next: location.href } });
      }
      throw error;
    }
  },
  component: Outlet,
});

/** The start: the project of the last visit. */
export const homeRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: "/",
  beforeLoad: async () => {
    const { projects } = await queries.ensureQueryData(profileQuery);
    const project = lastProject(projects);
    if (project) throw redirect({ to: "/projects/$projectId", params: { projectId: project.id }, replace: true });
  },
  component: lazyRouteComponent(() => import("./shell/NoProjects"), "NoProjects"),
});

/** The pages of one project, within the menu. */
export const projectRoute = createRoute({
  getParentRoute: () => sessionRoute,
  path: "/projects/$projectId",
  beforeLoad: ({ params }) => rememberProject(params.projectId),
  component: lazyRouteComponent(() => import("./shell/Shell"), "Shell"),
});
