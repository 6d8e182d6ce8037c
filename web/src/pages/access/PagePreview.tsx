import { IconDeviceDesktop, IconDeviceMobile, IconExternalLink, IconMoon, IconSun } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { m } from "../../messages/messages.js";
import { Empty, ICON, LoadingFailed } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { MailFrame } from "../templates/MailFrame";
import type { Language } from "./mailText";
import { textOfPage } from "./pageTexts";
import { PAGE_WORDS } from "./pageWords";
import { hostedPath, inScheme } from "./preview";
import { type AccessSearch, HOSTED_PAGES, type HostedPage } from "./routes";
import type { FormProps } from "./SettingsForm";
import { type Draft, linesOf, type TextName } from "./signIn";
import { styleOf, themeOf } from "./theme";

const page = getRouteApi("/session/projects/$projectId/access");
/** A code challenge that belongs to no verifier: who signs in on an opened page gets a code that nobody can use. */
const NO_VERIFIER = "dashboard-preview".padEnd(43, "0");

const PAGE_NAMES: Record<HostedPage, () => string> = {
  "sign-in": m.access_page_sign_in,
  "sign-up": m.access_page_sign_up,
  forgot: m.access_page_forgot,
};

/** The hosted page of the server, with what is typed. */
export function PagePreview({ stored, draft, language }: FormProps & { language: Language }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const { page: shown = "sign-in", look, scheme } = page.useSearch();
  const path = hostedPath(projectId, shown, linesOf(stored.redirectUrls)[0], NO_VERIFIER, language);
  const query = useQuery({
    queryKey: ["access", projectId, "preview", path],
    queryFn: ({ signal }) => loadPage(path ?? "", signal),
    enabled: path !== undefined,
  });
  const html = useMemo(
    () => query.data && framed(query.data, { stored, draft, language, shown, isDark: scheme === "dark" }),
    [query.data, stored, draft, language, shown, scheme],
  );
  const set = (change: Partial<AccessSearch>) =>
    void navigate({
      to: ".",
      search: ((before: object) => ({ ...before, ...change })) as never,
      replace: true,
      resetScroll: false,
    });
  const choose = (each: HostedPage) => set({ page: each === "sign-in" ? undefined : each } as Partial<AccessSearch>);
  return (
    <section className="block pagepreview" aria-label={m.access_preview()}>
      <header>
        <h3>{m.access_preview()}</h3>
        <div className="acts">
          <fieldset className="seg">
            <legend className="sr">{m.access_preview_width()}</legend>
            <LookButton on={look !== "phone"} label={m.access_computer()} onClick={() => set(without("look"))}>
              <IconDeviceDesktop {...ICON} />
            </LookButton>
            <LookButton on={look === "phone"} label={m.access_phone()} onClick={() => set({ look: "phone" })}>
              <IconDeviceMobile {...ICON} />
            </LookButton>
          </fieldset>
          <fieldset className="seg">
            <legend className="sr">{m.access_preview_scheme()}</legend>
            <LookButton on={!scheme} label={m.light()} onClick={() => set(without("scheme"))}>
              <IconSun {...ICON} />
            </LookButton>
            <LookButton on={scheme === "dark"} label={m.dark()} onClick={() => set({ scheme: "dark" })}>
              <IconMoon {...ICON} />
            </LookButton>
          </fieldset>
        </div>
      </header>
      <div className="pagebar">
        <fieldset className="seg">
          <legend className="sr">{m.access_preview_page()}</legend>
          {HOSTED_PAGES.map((each) => (
            <button key={each} type="button" aria-pressed={each === shown} onClick={() => choose(each)}>
              {PAGE_NAMES[each]()}
            </button>
          ))}
        </fieldset>
        {path && (
          <a href={path} target="_blank" rel="noreferrer">
            {m.access_preview_open()} <IconExternalLink {...ICON} size={14} />
          </a>
        )}
      </div>
      {path === undefined ? (
        <Empty title={m.access_preview_needs()} lead={m.access_preview_needs_lead()}>
          <Link className="btn" to="." search={{}}>
            {m.access_preview_needs_act()}
          </Link>
        </Empty>
      ) : query.isError && !query.data ? (
        <LoadingFailed title={m.access_preview_failed()} error={query.error} onRetry={() => void query.refetch()} />
      ) : html ? (
        <div className={`hosted ${look === "phone" ? "narrow" : ""}`}>
          <MailFrame html={html} title={PAGE_NAMES[shown]()} look={scheme ?? "computer"} />
        </div>
      ) : (
        <div className="hosted" aria-busy="true" />
      )}
      <p className="muted small">{m.access_preview_note()}</p>
    </section>
  );
}

function without(name: "look" | "scheme"): Partial<AccessSearch> {
  return { [name]: undefined };
}

function LookButton({
  on,
  label,
  onClick,
  children,
}: {
  on: boolean;
  label: string;
  onClick: () => void;
  children: React.ReactNode;
}) {
  return (
    <button type="button" aria-pressed={on} aria-label={label} title={label} onClick={onClick}>
      {children}
    </button>
  );
}

/** Links lead nowhere in the preview, but look like links. */
const LINKS = "a:not(.button) { color: var(--accent-text); text-decoration: underline; }";

interface Loaded {
  html: string;
  css: string;
}

/** A hosted page as a visitor gets it, with its styles. The pages themselves refuse to be framed. */
async function loadPage(path: string, signal: AbortSignal): Promise<Loaded> {
  const read = async (url: string) => {
    const response = await fetch(url, { signal, credentials: "omit", headers: { accept: "text/html,text/css" } });
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    return response.text();
  };
  const html = await read(path);
  const links = new DOMParser().parseFromString(html, "text/html").querySelectorAll("link[rel=stylesheet]");
  const sheets = [...links].map((link) => read(link.getAttribute("href") ?? ""));
  return { html, css: (await Promise.all(sheets)).join("\n") };
}

interface Shown {
  stored: Draft;
  draft: Draft;
  language: Language;
  shown: HostedPage;
  isDark: boolean;
}

/**
 * The document for the sandboxed frame of the server: the styles within it, no scripts, and nothing that leads
 * anywhere. It is parsed in a document of its own, in which nothing is run or loaded.
 */
function framed({ html, css }: Loaded, { stored, draft, language, shown, isDark }: Shown): string {
  const page = new DOMParser().parseFromString(html, "text/html");
  write(page, { stored, draft, language, shown, isDark });
  for (const each of page.querySelectorAll("script, link, base, meta[http-equiv]")) each.remove();
  for (const each of page.querySelectorAll("[href], [action], [formaction]"))
    for (const name of ["href", "action", "formaction"]) each.removeAttribute(name);
  // A script of the page shows them in browsers that have passkeys.
  page.querySelector("#passkeys")?.removeAttribute("hidden");
  // As text: within an element of this document, styles would be subject to the policy of the dashboard.
  const styles = inScheme(`${css}\n${styleOf(themeOf(draft))}\n${LINKS}`, isDark);
  return `<!doctype html>${page.documentElement.outerHTML.replace("</head>", () => `<style>${styles}</style></head>`)}`;
}

/** Write what is typed in place of what is stored. */
function write(page: Document, { stored, draft, language, shown }: Shown): void {
  const element = (tag: string, text: string) => Object.assign(page.createElement(tag), { textContent: text });
  const picture = (url: string) => Object.assign(page.createElement("img"), { src: url, alt: "" });
  const isNew = (name: TextName) => textOfPage(stored, name, language) !== textOfPage(draft, name, language);
  const isPicture = (url: string) => /^https:\/\/[^\s"'<>;]+$/.test(url);
  const name = page.querySelector(".logo span");
  if (name && draft.appName.trim() && draft.appName !== stored.appName) name.textContent = draft.appName.trim();
  page.querySelector(".logo img")?.remove();
  if (isPicture(draft.logoUrl)) page.querySelector(".logo")?.prepend(picture(draft.logoUrl));
  page.querySelector(".art")?.remove();
  page.body.classList.toggle("pictured", isPicture(draft.pictureUrl));
  const foot = page.querySelector(".pagefoot");
  if (isPicture(draft.pictureUrl)) {
    const art = element("div", "");
    art.className = "art";
    art.append(picture(draft.pictureUrl));
    foot?.before(art);
  }
  const part = shown === "sign-in" ? "signIn" : shown === "sign-up" ? "signUp" : undefined;
  if (part) {
    const title = page.querySelector("h1");
    if (title && isNew(`${part}Title`)) title.textContent = textOfPage(draft, `${part}Title`, language);
    const lead = textOfPage(draft, `${part}Lead`, language);
    if (isNew(`${part}Lead`)) {
      if (textOfPage(stored, `${part}Lead`, language)) title?.nextElementSibling?.remove();
      if (lead) title?.after(element("p", lead));
    }
    const button = page.querySelector("main form:not(#passkeys) button");
    if (button && isNew(`${part}Button`)) button.textContent = textOfPage(draft, `${part}Button`, language);
  }
  if (!foot) return;
  if (isNew("footer")) {
    foot.querySelector(":scope > p")?.remove();
    const footer = textOfPage(draft, "footer", language);
    if (footer) foot.prepend(element("p", footer));
  }
  for (const each of foot.querySelectorAll(":scope > a")) each.remove();
  const words = PAGE_WORDS[language];
  const links = [
    [draft.privacyUrl, words.privacy],
    [draft.termsUrl, words.terms],
    [draft.helpUrl, words.help],
  ] as const;
  const switcher = foot.querySelector(":scope > details");
  for (const [url, word] of links) {
    if (!url.trim()) continue;
    const link = element("a", word);
    if (switcher) switcher.before(link);
    else foot.append(link);
  }
}
