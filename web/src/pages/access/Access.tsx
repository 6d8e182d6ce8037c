import "../../lists/lists.css";
import "../settings/settings.css";
import "./access.css";
import { getRouteApi, Link } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { CopyRequest } from "../../parts/CopyRequest";
import { type ApiRequest, usePageRequest } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import { Apps } from "./Apps";
import { Hooks } from "./Hooks";
import { Keys } from "./Keys";
import { Mails } from "./Mails";
import { Pages } from "./Pages";
import { Plans } from "./Plans";
import { Providers } from "./Providers";
import { Roles } from "./Roles";
import { TABS, type Tab } from "./routes";
import { SignIn } from "./SignIn";
import { Texts } from "./Texts";
import { Why } from "./Why";

const page = getRouteApi("/session/projects/$projectId/access");

const WORDS: Record<Tab | "signIn", () => string> = {
  signIn: m.access_tab_sign_in,
  providers: m.access_tab_providers,
  pages: m.access_tab_pages,
  texts: m.access_pagetexts,
  mails: m.access_mailtexts,
  apps: m.access_tab_apps,
  hooks: m.access_tab_hooks,
  roles: m.access_tab_roles,
  why: m.access_tab_why,
  plans: m.access_tab_plans,
  keys: m.access_tab_keys,
};

const LEADS: Record<Tab | "signIn", () => string> = {
  signIn: m.access_lead_sign_in,
  providers: m.access_lead_providers,
  pages: m.access_lead_pages,
  texts: m.access_lead_pagetexts,
  mails: m.access_lead_mailtexts,
  apps: m.access_lead_apps,
  hooks: m.access_lead_hooks,
  roles: m.access_lead_roles,
  why: m.access_lead_why,
  plans: m.access_lead_plans,
  keys: m.access_lead_keys,
};

const PARTS: Record<Tab | "signIn", () => React.ReactNode> = {
  signIn: SignIn,
  providers: Providers,
  pages: Pages,
  texts: Texts,
  mails: Mails,
  apps: Apps,
  hooks: Hooks,
  roles: Roles,
  why: Why,
  plans: Plans,
  keys: Keys,
};

/** How customers sign in, what they may do, and what their organizations can use. */
export function Access() {
  const projectId = useProjectId();
  const { tab, customer, can, in: place, lang = "en" } = page.useSearch();
  const current = tab ?? "signIn";
  const root = `/projects/${projectId}`;
  const requests: Record<Tab | "signIn", ApiRequest> = {
    signIn: { method: "GET", path: root },
    providers: { method: "GET", path: `${root}/auth/providers` },
    pages: { method: "GET", path: root },
    texts: { method: "GET", path: `${root}/page-texts/${lang}` },
    mails: { method: "GET", path: `${root}/customer-mails` },
    apps: { method: "GET", path: `${root}/oauth-clients` },
    hooks: { method: "GET", path: `${root}/sign-in-hooks` },
    roles: { method: "GET", path: `${root}/access/roles` },
    why: {
      method: "POST",
      path: `${root}/access/check`,
      body: { permission: can ?? "posts:write", customerId: customer ?? "…", ...(place && { organizationId: place }) },
    },
    plans: { method: "GET", path: `${root}/b2b/plans` },
    keys: { method: "GET", path: `${root}/.well-known/jwks.json` },
  };
  usePageRequest(requests[current]);
  const Part = PARTS[current];
  return (
    <main id="main" className={`page access ${current}`}>
      <div className="head">
        <h1>{m.access()}</h1>
        <div className="acts">
          <CopyRequest request={requests[current]} icon />
        </div>
      </div>
      <nav className="tabs" aria-label={m.access_parts()}>
        {[undefined, ...TABS].map((each) => (
          <Link
            key={each ?? "signIn"}
            to="."
            search={each ? { tab: each } : {}}
            replace
            resetScroll={false}
            activeOptions={{ exact: true, explicitUndefined: true }}
            aria-current={each === tab ? "page" : undefined}
          >
            {WORDS[each ?? "signIn"]()}
          </Link>
        ))}
      </nav>
      <div className="settings body">
        <header className="parthead">
          <h2>{WORDS[current]()}</h2>
          <p className="muted">{LEADS[current]()}</p>
        </header>
        <Part key={projectId} />
      </div>
    </main>
  );
}
