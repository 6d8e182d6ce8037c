import type { HostedPage } from "./routes";

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
  language: string,
): string | undefined {
  const path = `/projects/${encodeURIComponent(projectId)}/auth/pages/${page}`;
  if (redirectUrl) return `${path}?${new URLSearchParams({ redirectUrl, codeChallenge, lang: language })}`;
  return page === "forgot" ? `${path}?${new URLSearchParams({ lang: language })}` : undefined;
}
