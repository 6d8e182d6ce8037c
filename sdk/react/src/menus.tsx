"use client";

import {
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { usePostern } from "./provider.js";
import { currentPath } from "./session.js";

/** The smallest distance of a menu from the edge of the window, in pixels. */
const EDGE = 12;
const HUES = 6;

/** A further entry of a menu. */
export interface MenuLink {
  label: string;
  href: string;
}

export interface UserButtonProps {
  /** Further entries of the menu, such as a page with the account's settings. */
  links?: readonly MenuLink[];
  /** Where the browser goes after sign-out. */
  signOutReturnTo?: string;
}

/** The customer's initials; opens a menu with name, address and sign-out. Shows nothing without a session. */
export function UserButton({ links = [], signOutReturnTo }: UserButtonProps): ReactNode {
  const { customer, organization, authPath, announceSignOut } = usePostern();
  if (!customer) return null;
  const title = customer.name ?? customer.email ?? "Your account";
  const detail = customer.name ? customer.email : organization?.name;
  return (
    <Menu
      label={`Account: ${title}`}
      align="end"
      className="postern-round"
      face={<Avatar id={customer.id} name={title} />}
    >
      <div className="postern-head" role="presentation">
        <Avatar id={customer.id} name={title} size="large" />
        <span className="postern-texts">
          <span className="postern-title">{title}</span>
          {detail ? <span className="postern-detail">{detail}</span> : null}
        </span>
      </div>
      <hr className="postern-line" />
      {links.map(({ label, href }) => (
        <a key={href} className="postern-item" role="menuitem" tabIndex={-1} href={href}>
          <SettingsIcon />
          {label}
        </a>
      ))}
      <form role="none" method="post" action={`${authPath}/sign-out`} onSubmit={announceSignOut}>
        {signOutReturnTo ? <input type="hidden" name="return_to" value={signOutReturnTo} /> : null}
        <button className="postern-item" type="submit" role="menuitem" tabIndex={-1}>
          <SignOutIcon />
          Sign out
        </button>
      </form>
    </Menu>
  );
}

export interface OrganizationSwitcherProps {
  /** The label of the entry that leaves the active organization; null hides it. Default `Personal account`. */
  personal?: string | null;
  /** Further entries of the menu, such as a page that creates an organization. */
  links?: readonly MenuLink[];
}

/** The active organization; opens a menu with all of the customer's organizations. Shows nothing without a session. */
export function OrganizationSwitcher({ personal = "Personal account", links = [] }: OrganizationSwitcherProps): ReactNode {
  const { customer, organization, organizations } = usePostern();
  if (!customer) return null;
  const title = organization?.name ?? personal ?? "Choose an organization";
  return (
    <Menu
      label={`Organization: ${title}`}
      align="start"
      className="postern-select"
      face={
        <>
          <Avatar id={organization?.id} name={title} shape="square" />
          <span className="postern-name">{title}</span>
          <ChevronIcon />
        </>
      }
    >
      <div className="postern-label" role="presentation">
        Organizations
      </div>
      {organizations.map(({ id, name, roles }) => (
        <Choice key={id} id={id} name={name} detail={roles.map(roleName).join(", ")} isActive={id === organization?.id} />
      ))}
      {personal === null ? null : <Choice id="" name={personal} detail="" isActive={organization === null} />}
      {links.length ? <hr className="postern-line" /> : null}
      {links.map(({ label, href }) => (
        <a key={href} className="postern-item" role="menuitem" tabIndex={-1} href={href}>
          {label}
        </a>
      ))}
    </Menu>
  );
}

interface ChoiceProps {
  /** Empty for no organization. */
  id: string;
  name: string;
  detail: string;
  isActive: boolean;
}

function Choice({ id, name, detail, isActive }: ChoiceProps): ReactNode {
  const { authPath, switchesInPlace, switchOrganization } = usePostern();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const field = event.currentTarget.elements.namedItem("return_to") as HTMLInputElement;
    field.value = currentPath();
    if (!switchesInPlace) return;
    event.preventDefault();
    void switchOrganization(id || null);
  };
  return (
    <form role="none" method="post" action={`${authPath}/switch-organization`} onSubmit={submit}>
      <input type="hidden" name="organization_id" value={id} />
      <input type="hidden" name="return_to" defaultValue="" />
      <button className="postern-item" type="submit" role="menuitemradio" aria-checked={isActive} tabIndex={-1}>
        <Avatar id={id || undefined} name={name} shape="square" size="large" />
        <span className="postern-texts">
          <span className="postern-title">{name}</span>
          {detail ? <span className="postern-detail">{detail}</span> : null}
        </span>
        {isActive ? <CheckIcon /> : null}
      </button>
    </form>
  );
}

interface MenuProps {
  label: string;
  /** The side of the button with which the menu is aligned. */
  align: "start" | "end";
  className: string;
  /** What the button shows. */
  face: ReactNode;
  children: ReactNode;
}

/** A menu button (WAI-ARIA Authoring Practices). */
function Menu({ label, align, className, face, children }: MenuProps): ReactNode {
  const { theme } = usePostern();
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
    };
  }, [isOpen]);

  const press = (event: KeyboardEvent) => {
    const items = [...(root.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const target: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const next = target[event.key];
    if (event.key === "Escape") {
      setOpen(false);
      button.current?.focus();
    } else if (event.key === "Tab") {
      setOpen(false);
      return;
    } else if (next !== undefined) {
      items.at(next % items.length)?.focus();
    } else if (/^\S$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const later = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      later.find((item) => item.innerText.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <div className="postern" data-theme={theme} ref={root}>
      <button
        ref={button}
        className={className}
        type="button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {face}
      </button>
      {isOpen ? (
        <OpenMenu id={id} label={label} align={align} onKeyDown={press}>
          {children}
        </OpenMenu>
      ) : null}
    </div>
  );
}

interface OpenMenuProps {
  id: string;
  label: string;
  align: "start" | "end";
  onKeyDown: (event: KeyboardEvent) => void;
  children: ReactNode;
}

function OpenMenu({ id, label, align, onKeyDown, children }: OpenMenuProps): ReactNode {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = menu.current;
    if (!element) return;
    const { left, right } = element.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const shift = right > width - EDGE ? width - EDGE - right : left < EDGE ? EDGE - left : 0;
    if (shift) element.style.translate = `${shift}px`;
    const items = element.querySelectorAll<HTMLElement>("[role^=menuitem]");
    const active = element.querySelector<HTMLElement>("[aria-checked=true]");
    (active ?? items[0])?.focus({ preventScroll: true });
  }, []);
  return (
    <div ref={menu} id={id} className="postern-menu" data-align={align} role="menu" aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
      {children}
    </div>
  );
}

interface AvatarProps {
  /** Of the customer or organization; determines the color. */
  id: string | undefined;
  name: string;
  shape?: "circle" | "square";
  size?: "normal" | "large";
}

function Avatar({ id, name, shape = "circle", size = "normal" }: AvatarProps): ReactNode {
  let sum = 0;
  for (const character of id ?? "") sum = (sum * 31 + character.charCodeAt(0)) % 9_973;
  return (
    <span className="postern-avatar" data-shape={shape} data-size={size} data-hue={id ? sum % HUES : "none"} aria-hidden="true">
      {initials(name, shape === "circle" ? 2 : 1)}
    </span>
  );
}

/** The first letters of the first and last word; of an address, of the words before the `@`. */
function initials(name: string, count: number): string {
  const words = (name.includes("@") ? name.slice(0, name.indexOf("@")) : name).split(/[\s._+-]+/).filter(Boolean);
  const chosen = count > 1 && words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return chosen.map((word) => [...(word ?? "?")][0]).join("").toUpperCase();
}

/** `BILLING_ADMIN` as `Billing admin`. */
function roleName(key: string): string {
  const words = key.replace(/[_-]+/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function ChevronIcon(): ReactNode {
  return (
    <svg className="postern-icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
      <path d="m5 6 3-3 3 3M5 10l3 3 3-3" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

function CheckIcon(): ReactNode {
  return (
    <svg className="postern-icon postern-check" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden="true">
      <path d="m3 8.5 3.5 3.5L13 4.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

function SettingsIcon(): ReactNode {
  return (
    <svg className="postern-icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
      <path d="M2 5h6m4 0h2M2 11h2m4 0h6" strokeLinecap="round" />
      <circle cx="10" cy="5" r="2" />
      <circle cx="6" cy="11" r="2" />
    </svg>
  );
}

function SignOutIcon(): ReactNode {
  return (
    <svg className="postern-icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
      <path d="M6 2.5H3.5v11H6M10 5l3 3-3 3M13 8H6.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
