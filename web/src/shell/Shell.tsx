import { Menu, Modal } from "@mantine/core";
import { IconDots, IconMenu2, IconSearch, IconSelector } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { Glyph } from "../look/glyphs";
import { m } from "../messages/messages.js";
import { initials } from "../parts/format";
import { ICON } from "../parts/parts";
import { countStuck, readinessQuery, stuckQuery } from "../session/health";
import { useMayWrite, useProfile, useProject, useProjectId } from "../session/profile";
import { queries } from "../session/queries";
import { SignInForm } from "../session/SignInForm";
import { api, reachable, resume, signedOut } from "../session/server";
import { useTour } from "../tour/state";
import { NotFound } from "./failures";
import { useKeys } from "./keys";
import { MENU } from "./navigation";
import { PreferenceItems } from "./preferences";

const Palette = lazy(() => import("./Palette"));
const Keys = lazy(() => import("./Keys"));
const NewProjectForm = lazy(async () => ({ default: (await import("./NewProject")).NewProjectForm }));
const Tour = lazy(() => import("../tour/Tour"));

/** The frame of all pages of a project: menu, search, notices, and the dialog to sign in again. */
export function Shell() {
  const project = useProject();
  const [dialog, setDialog] = useState<"" | "palette" | "keys" | "project">("");
  const [search, setSearch] = useState("");
  const navigate = useNavigate();
  const tour = useTour();
  const mayWrite = useMayWrite();
  const openPalette = () => {
    setSearch("");
    setDialog("palette");
  };
  useKeys({
    onPalette: openPalette,
    onHelp: () => setDialog("keys"),
    // Keys between Ctrl K and the moment when the palette has the focus.
    onTypedAhead: dialog === "palette" ? (key) => setSearch((text) => text + key) : undefined,
  });
  const close = () => setDialog("");
  if (!project) return <NotFound />;
  return (
    <div className="app">
      <a className="skip" href="#main">
        {m.skip_to_content()}
      </a>
      <ConnectionBanner />
      <header className="side">
        <ProjectMenu onNew={() => setDialog("project")} />
        <button type="button" className="find" onClick={openPalette}>
          <IconSearch {...ICON} />
          <span className="grow">{m.search_or_jump()}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <Navigation />
        <div className="foot">
          <Health />
          <AccountMenu onKeys={() => setDialog("keys")} />
        </div>
      </header>
      <PhoneBar name={project.name} onSearch={openPalette} onNew={() => setDialog("project")} />
      <Outlet />
      <PhoneTabs onKeys={() => setDialog("keys")} />
      <Suspense>
        {dialog === "palette" && (
          <Palette text={search} onText={setSearch} onClose={close} onKeys={() => setDialog("keys")} />
        )}
        {dialog === "keys" && <Keys onClose={close} />}
      </Suspense>
      <Suspense>{mayWrite && tour.isOn && <Tour key={project.id} />}</Suspense>
      <Modal
        opened={dialog === "project"}
        onClose={close}
        title={m.new_project()}
        closeButtonProps={{ "aria-label": m.close() }}
      >
        <Suspense>
          <NewProjectForm
            onCreated={(created) => {
              close();
              void navigate({ to: "/projects/$projectId", params: { projectId: created.id } });
            }}
          />
        </Suspense>
      </Modal>
      <section id="menus" aria-label={m.menus()} />
      <SignInAgain />
    </div>
  );
}

/** Where open menus are: in a landmark of the page, and not clipped by the column of the menu. */
const MENUS = { target: "#menus" } as const;

function ProjectMenu({ onNew, small = false }: { onNew: () => void; small?: boolean }) {
  const { projects } = useProfile();
  const project = useProject();
  const name = project?.name ?? "";
  const many = projects.length === 1 ? m.projects_count_one() : m.projects_count({ count: projects.length });
  const label = m.switch_project({ name });
  return (
    <Menu position="bottom-start" width={260} portalProps={MENUS} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        {small ? (
          <button type="button" className="iconbtn" aria-label={label}>
            <span className="chip" aria-hidden="true">
              {initials(name)[0]}
            </span>
          </button>
        ) : (
          <button type="button" className="project">
            <span className="sr">{label}</span>
            <span className="chip" aria-hidden="true">
              {initials(name)[0]}
            </span>
            <span className="grow" aria-hidden="true">
              <b className="cut">{name}</b>
              <small>{many}</small>
            </span>
            <IconSelector {...ICON} />
          </button>
        )}
      </Menu.Target>
      <Menu.Dropdown>
        {projects.map((each) => (
          <Menu.Item
            key={each.id}
            renderRoot={(props) => <Link {...props} to="/projects/$projectId" params={{ projectId: each.id }} />}
            aria-current={each.id === project?.id || undefined}
          >
            <span className="cut">{each.name}</span>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={onNew}>{m.new_project()}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Navigation() {
  const projectId = useProjectId();
  return (
    <nav aria-label={m.nav_main()}>
      {MENU.map(({ title, entries }) => (
        <div key={entries[0]?.to}>
          {title && <h2>{title()}</h2>}
          <ul>
            {entries.map(({ to, label, icon: Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  params={{ projectId }}
                  activeOptions={{ exact: to === "/projects/$projectId", includeSearch: false }}
                >
                  <Icon {...ICON} />
                  <span>{label()}</span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Whether the server runs and something is stuck; it leads to what that is. */
function Health() {
  const projectId = useProjectId();
  const up = reachable.use();
  const readiness = useQuery(readinessQuery);
  const emails = useQuery(stuckQuery(projectId));
  const state = up ? m.running() : m.server_down();
  const count = countStuck(readiness.data, emails.data?.total);
  const isKnown = up && readiness.isSuccess && emails.isSuccess;
  const text = !isKnown
    ? state
    : count === 0
      ? m.health_well({ state })
      : count === 1
        ? m.health_stuck_one({ state })
        : m.health_stuck({ state, count });
  return (
    <Link className="health" to="/projects/$projectId/settings/instance" params={{ projectId }}>
      <Glyph shape={!up ? "waiting" : isKnown && count ? "attention" : "yes"} />
      <span>{text}</span>
    </Link>
  );
}

async function signOut(): Promise<void> {
  await api().developers.signOut();
  queries.clear();
  location.assign("/dashboard/sign-in");
}

function AccountMenu({ onKeys }: { onKeys: () => void }) {
  const profile = useProfile();
  const name = profile.name || profile.email;
  return (
    <Menu position="top-start" width={240} portalProps={MENUS} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <button type="button" className="me">
          <span className="face" aria-hidden="true">
            {initials(name)}
          </span>
          <span className="grow cut">{name}</span>
          <IconDots {...ICON} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <AccountItems onKeys={onKeys} />
      </Menu.Dropdown>
    </Menu>
  );
}

function AccountItems({ onKeys }: { onKeys: () => void }) {
  const projectId = useProjectId();
  return (
    <>
      <Menu.Item
        renderRoot={(props) => <Link {...props} to="/projects/$projectId/settings/profile" params={{ projectId }} />}
      >
        {m.profile()}
      </Menu.Item>
      <Menu.Divider />
      <PreferenceItems />
      <Menu.Divider />
      <Menu.Item component="a" href="/docs" target="_blank">
        {m.api_reference()}
      </Menu.Item>
      <Menu.Item onClick={onKeys}>{m.keyboard_shortcuts()}</Menu.Item>
      <Menu.Divider />
      <Menu.Item onClick={() => void signOut()}>{m.sign_out()}</Menu.Item>
    </>
  );
}

function PhoneBar({ name, onSearch, onNew }: { name: string; onSearch: () => void; onNew: () => void }) {
  return (
    <header className="phonebar">
      <ProjectMenu small onNew={onNew} />
      <b>{name}</b>
      <button type="button" className="iconbtn" aria-label={m.search()} onClick={onSearch}>
        <IconSearch {...ICON} />
      </button>
    </header>
  );
}

/** The tabs at the bottom of a phone: the first four entries, and the rest behind "More". */
function PhoneTabs({ onKeys }: { onKeys: () => void }) {
  const projectId = useProjectId();
  const entries = MENU.flatMap((group) => group.entries);
  return (
    <nav className="phonetabs" aria-label={m.nav_main()}>
      {entries.slice(0, 4).map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          params={{ projectId }}
          activeOptions={{ exact: to === "/projects/$projectId", includeSearch: false }}
        >
          <Icon {...ICON} />
          <span>{label()}</span>
        </Link>
      ))}
      <Menu position="top-end" width={240} portalProps={MENUS} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <button type="button">
            <IconMenu2 {...ICON} />
            <span>{m.more()}</span>
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          {entries.slice(4).map(({ to, label }) => (
            <Menu.Item key={to} renderRoot={(props) => <Link {...props} to={to} params={{ projectId }} />}>
              {label()}
            </Menu.Item>
          ))}
          <AccountItems onKeys={onKeys} />
        </Menu.Dropdown>
      </Menu>
    </nav>
  );
}

/** Says that the server does not answer, until it does. */
function ConnectionBanner() {
  const up = reachable.use();
  return (
    <div aria-live="polite" style={{ display: "contents" }}>
      {!up && (
        <p className="banner">
          <Glyph shape="waiting" />
          {m.not_reachable()}
        </p>
      )}
    </div>
  );
}

/**
 * Over the page when the session has ended. After the sign-in, the requests that wait are sent, unless it was someone
 * else who has signed in: what one person has written is not sent in the name of another.
 */
function SignInAgain() {
  const open = signedOut.use();
  const profile = useProfile();
  return (
    <Modal
      opened={open}
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title={m.sign_in_again()}
      zIndex={400}
    >
      <p className="muted">{m.sign_in_again_lead()}</p>
      <SignInForm
        email={profile.email}
        onSignedIn={({ id }) => (id === profile.id ? resume() : location.assign("/dashboard"))}
      />
    </Modal>
  );
}
