import { contrast } from "../templates/contrast.ts";
import type { HostedPage } from "./routes";

/** What the preview shows of a project's brand: what is typed, before it is saved. */
export interface Brand {
  appName: string;
  logoUrl: string;
  accentColor: string;
}

/** The styles that the server gives hosted pages for an accent colour; none for a value that is no colour. */
export function accentStyle(color: string): string {
  if (!/^#[0-9a-f]{6}$/i.test(color)) return "";
  const text = (contrast(color, "#000000") ?? 0) > (contrast(color, "#ffffff") ?? 0) ? "#000000" : "#ffffff";
  return `:root{--b-accent:${color};--b-on-accent:${text}}`;
}

/** Styles as they are in light or dark, whatever the browser prefers: the preview can show both. */
export function inScheme(css: string, isDark: boolean): string {
  return css
    .replace(/@media\s*\(\s*prefers-color-scheme\s*:\s*dark\s*\)/g, isDark ? "@media all" : "@media not all")
    .replace(/color-scheme:\s*light dark/g, `color-scheme: ${isDark ? "dark" : "light"}`);
}

/** The path of a hosted page; undefined if it needs a redirect URL and the project has none. */
export function hostedPath(
  projectId: string,
  page: HostedPage,
  redirectUrl: string | undefined,
  codeChallenge: string,
): string | undefined {
  const path = `/projects/${encodeURIComponent(projectId)}/auth/pages/${page}`;
  if (redirectUrl) return `${path}?${new URLSearchParams({ redirectUrl, codeChallenge })}`;
  return page === "forgot" ? path : undefined;
}
