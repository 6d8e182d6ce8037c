import { IconDeviceDesktop, IconDeviceMobile, IconExternalLink, IconMoon, IconSun } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { m } from "../../messages/messages.js";
import { Empty, Field, ICON, LoadingFailed } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { Section } from "../settings/pieces";
import { MailFrame } from "../templates/MailFrame";
import { accentStyle, type Brand, hostedPath, inScheme } from "./preview";
import { type AccessSearch, HOSTED_PAGES, type HostedPage } from "./routes";
import { type FormProps, SettingsForm } from "./SettingsForm";
import { Item, TextItem } from "./SignIn";
import { BRAND, linesOf } from "./signIn";
import { fieldWord } from "./words";

const page = getRouteApi("/session/projects/$projectId/access");
const ACCENT = "#0d6472";
/** A code challenge that belongs to no verifier: who signs in on an opened page gets a code that nobody can use. */
const NO_VERIFIER = "dashboard-preview".padEnd(43, "0");

/** The hosted pages with the brand of the project, and the brand. */
export function Pages() {
  return (
    <SettingsForm label={m.access_tab_pages()} fields={BRAND}>
      {(form) => (
        <div className="branding">
          <Section title={m.access_brand()}>
            <TextItem
              field="appName"
              lead={m.access_app_name_lead()}
              placeholder="Acme"
              usual={m.access_app_name_default()}
              form={form}
            />
            <TextItem
              field="logoUrl"
              lead={m.access_logo_lead()}
              placeholder="https://example.com/logo.png"
              form={form}
            />
            <Accent {...form} />
          </Section>
          <Preview {...form} />
        </div>
      )}
    </SettingsForm>
  );
}

function Accent(form: FormProps) {
  const { accentColor } = form.draft;
  return (
    <Item field="accentColor" lead={m.access_accent_lead()} usual={ACCENT} form={form}>
      <Field label={fieldWord("accentColor")} error={form.errors.accentColor}>
        {(attributes) => (
          <span className="color">
            <input
              type="color"
              aria-label={m.access_accent_pick()}
              value={/^#[0-9a-f]{6}$/i.test(accentColor) ? accentColor : ACCENT}
              onChange={(event) => form.change({ accentColor: event.target.value })}
            />
            <input
              className="input"
              spellCheck={false}
              autoComplete="off"
              placeholder={ACCENT}
              value={accentColor}
              onChange={(event) => form.change({ accentColor: event.target.value })}
              {...attributes}
            />
          </span>
        )}
      </Field>
    </Item>
  );
}

const PAGE_WORDS: Record<HostedPage, () => string> = {
  "sign-in": m.access_page_sign_in,
  "sign-up": m.access_page_sign_up,
  forgot: m.access_page_forgot,
};

function Preview({ stored, draft }: FormProps) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const { page: shown = "sign-in", look, scheme } = page.useSearch();
  const path = hostedPath(projectId, shown, linesOf(stored.redirectUrls)[0], NO_VERIFIER);
  const query = useQuery({
    queryKey: ["access", projectId, "preview", path],
    queryFn: ({ signal }) => loadPage(path ?? "", signal),
    enabled: path !== undefined,
  });
  const { appName, logoUrl, accentColor } = draft;
  const isNamed = appName !== stored.appName;
  const html = useMemo(
    () =>
      query.data && framed(query.data, { appName: isNamed ? appName : "", logoUrl, accentColor }, scheme === "dark"),
    [query.data, isNamed, appName, logoUrl, accentColor, scheme],
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
              {PAGE_WORDS[each]()}
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
          <MailFrame html={html} title={PAGE_WORDS[shown]()} look={scheme ?? "computer"} />
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

/**
 * The document for the sandboxed frame of the server: the styles within it, no scripts, and nothing that leads
 * anywhere. It is parsed in a document of its own, in which nothing is run or loaded.
 */
function framed({ html, css }: Loaded, brand: Brand, isDark: boolean): string {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const each of page.querySelectorAll("script, link, base, meta[http-equiv]")) each.remove();
  for (const each of page.querySelectorAll("[href], [action], [formaction]"))
    for (const name of ["href", "action", "formaction"]) each.removeAttribute(name);
  // A script of the page shows them in browsers that have passkeys.
  page.querySelector("#passkeys")?.removeAttribute("hidden");
  const name = page.querySelector(".logo span");
  if (name && brand.appName.trim()) name.textContent = brand.appName.trim();
  page.querySelector(".logo img")?.remove();
  if (/^https:\/\/[^\s"'<>;]+$/.test(brand.logoUrl)) {
    const logo = page.createElement("img");
    logo.src = brand.logoUrl;
    logo.alt = "";
    page.querySelector(".logo")?.prepend(logo);
  }
  // As text: within an element of this document, styles would be subject to the policy of the dashboard.
  const styles = inScheme(`${css}\n${accentStyle(brand.accentColor)}\n${LINKS}`, isDark);
  return `<!doctype html>${page.documentElement.outerHTML.replace("</head>", () => `<style>${styles}</style></head>`)}`;
}
