import { m } from "../../messages/messages.js";

/** The roles of members in words. */
export const ROLE_WORDS: Record<string, () => string> = {
  OWNER: m.settings_role_owner,
  ADMIN: m.settings_role_admin,
  DEVELOPER: m.settings_role_developer,
  VIEWER: m.settings_role_viewer,
};

export const ROLE_HINTS: Record<string, () => string> = {
  ADMIN: m.settings_role_admin_hint,
  DEVELOPER: m.settings_role_developer_hint,
  VIEWER: m.settings_role_viewer_hint,
};

/** The roles that can be given; there is one owner. */
export const INVITED_ROLES = ["ADMIN", "DEVELOPER", "VIEWER"];
