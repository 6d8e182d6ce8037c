import {
  type Icon,
  IconAddressBook,
  IconBuilding,
  IconCode,
  IconHome2,
  IconKey,
  IconLayout,
  IconMail,
  IconRoute,
  IconSettings,
  IconSpeakerphone,
  IconUsers,
  IconWorld,
} from "@tabler/icons-react";
import { m } from "../messages/messages.js";

/** An entry of the menu. `key` is the letter after G that leads there. */
export interface Entry {
  to:
    | "/projects/$projectId"
    | "/projects/$projectId/emails"
    | "/projects/$projectId/campaigns"
    | "/projects/$projectId/automations"
    | "/projects/$projectId/templates"
    | "/projects/$projectId/contacts"
    | "/projects/$projectId/customers"
    | "/projects/$projectId/organizations"
    | "/projects/$projectId/access"
    | "/projects/$projectId/domains"
    | "/projects/$projectId/developers"
    | "/projects/$projectId/settings";
  label: () => string;
  icon: Icon;
  key: string;
}

/** The menu, in groups with their titles. */
export const MENU: { title?: () => string; entries: Entry[] }[] = [
  { entries: [{ to: "/projects/$projectId", label: m.overview, icon: IconHome2, key: "o" }] },
  {
    title: m.nav_email,
    entries: [
      { to: "/projects/$projectId/emails", label: m.emails, icon: IconMail, key: "e" },
      { to: "/projects/$projectId/campaigns", label: m.campaigns, icon: IconSpeakerphone, key: "m" },
      { to: "/projects/$projectId/automations", label: m.automations, icon: IconRoute, key: "a" },
      { to: "/projects/$projectId/templates", label: m.templates, icon: IconLayout, key: "t" },
      { to: "/projects/$projectId/contacts", label: m.contacts, icon: IconAddressBook, key: "c" },
    ],
  },
  {
    title: m.nav_people,
    entries: [
      { to: "/projects/$projectId/customers", label: m.customers, icon: IconUsers, key: "u" },
      { to: "/projects/$projectId/organizations", label: m.organizations, icon: IconBuilding, key: "r" },
      { to: "/projects/$projectId/access", label: m.access, icon: IconKey, key: "i" },
    ],
  },
  {
    title: m.nav_setup,
    entries: [
      { to: "/projects/$projectId/domains", label: m.domains, icon: IconWorld, key: "d" },
      { to: "/projects/$projectId/developers", label: m.developers, icon: IconCode, key: "v" },
      { to: "/projects/$projectId/settings", label: m.settings_nav, icon: IconSettings, key: "s" },
    ],
  },
];

export const ENTRIES = MENU.flatMap((group) => group.entries);
