"use client";

export { SignedIn, SignedOut, SignInButton, type SignInButtonProps, SignOutButton, type SignOutButtonProps, SignUpButton } from "./buttons.js";
export { ImpersonationBanner, type ImpersonationBannerProps } from "./banner.js";
export { type MenuLink, OrganizationSwitcher, type OrganizationSwitcherProps, UserButton, type UserButtonProps } from "./menus.js";
export { type CustomerState, PosternProvider, type PosternProviderProps, type Theme, useCustomer } from "./provider.js";
export type { ActiveOrganization, Customer, OrganizationSummary, SessionDocument } from "./session.js";
export { STYLES } from "./styles.js";
