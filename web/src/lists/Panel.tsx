import { IconArrowLeft, IconChevronDown, IconChevronUp, IconX } from "@tabler/icons-react";
import { Link, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { m } from "../messages/messages.js";
import { ICON } from "../parts/parts";
import { useNeighbours } from "./neighbours";

/** What is open beside a list; on a small window it covers the list. */
export function Panel({
  label,
  actions,
  busy = false,
  children,
}: {
  label: string;
  actions: ReactNode;
  busy?: boolean;
  children: ReactNode;
}) {
  const { above, below, close } = useNeighbours();
  const panel = useRef<HTMLElement>(null);
  // What was opened with the keyboard goes on being read there. With a pointer, too: the next Tab is in the panel.
  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
  }, []);
  // The next one begins at its top.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the label changes with what is open.
  useEffect(() => {
    // It returns a promise in newer browsers.
    void panel.current?.scrollTo(0, 0);
  }, [label]);
  return (
    <section className="panel" aria-label={label} aria-busy={busy || undefined} ref={panel} tabIndex={-1}>
      <div className="panelbar">
        <button type="button" className="iconbtn back" aria-label={m.list_back()} onClick={close}>
          <IconArrowLeft {...ICON} />
        </button>
        <button
          type="button"
          className="iconbtn small desk"
          aria-label={m.list_above()}
          title={`${m.list_above()} (K)`}
          disabled={!above}
          onClick={above}
        >
          <IconChevronUp {...ICON} />
        </button>
        <button
          type="button"
          className="iconbtn small desk"
          aria-label={m.list_below()}
          title={`${m.list_below()} (J)`}
          disabled={!below}
          onClick={below}
        >
          <IconChevronDown {...ICON} />
        </button>
        <div className="acts">
          {actions}
          <button
            type="button"
            className="iconbtn small desk"
            aria-label={m.close()}
            title={`${m.close()} (Esc)`}
            onClick={close}
          >
            <IconX {...ICON} />
          </button>
        </div>
      </div>
      {children}
    </section>
  );
}

/** The parts of what is open, as tabs in the URL. */
export function PanelTabs({ tabs }: { tabs: [string | undefined, string][] }) {
  const { tab: current } = useSearch({ strict: false }) as { tab?: string };
  return (
    <nav className="tabs" aria-label={m.list_parts()}>
      {tabs.map(([tab, label]) => (
        <Link
          key={label}
          to="."
          search={(previous: object) => ({ ...previous, tab }) as never}
          replace
          resetScroll={false}
          activeOptions={{ exact: true, explicitUndefined: true }}
          aria-current={tab === current ? "page" : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
