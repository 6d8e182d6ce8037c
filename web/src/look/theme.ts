// The Postern theme for Mantine 9.7.3. Tokens (var(--…)) come from the first part of look.css.
import {
  ActionIcon,
  Button,
  Checkbox,
  type CSSVariablesResolver,
  createTheme,
  Input,
  Menu,
  Modal,
  Notification,
  Skeleton,
  Switch,
  Table,
  Tabs,
  Text,
  Tooltip,
} from "@mantine/core";
import { m } from "../messages/messages.js";

const filled = (p: { variant?: string; color?: string }) => !p.color && (!p.variant || p.variant === "filled");
export const theme = createTheme({
  colors: {
    petrol: [
      "#effafc",
      "#daf2f7",
      "#bae3ec",
      "#91cedb",
      "#5cb6c6",
      "#3799ab",
      "#1b7d8e",
      "#0d6472",
      "#0b5560",
      "#07343c",
    ],
    gray: [
      "#f4f7f7",
      "#f0f4f4",
      "#e6ecec",
      "#e0e6e7",
      "#c9d2d3",
      "#a3adaf",
      "#879294",
      "#5a6567",
      "#2d383b",
      "#111a1c",
    ],
    dark: [
      "#eef3f4",
      "#cdd5d7",
      "#98a3a5",
      "#667275",
      "#364245",
      "#232c2e",
      "#182022",
      "#0f1516",
      "#0c1112",
      "#090e0f",
    ],
    red: ["#fbeaea", "#f7d5d6", "#f4b9bb", "#f39fa2", "#f2868a", "#e05f64", "#c43238", "#9c1414", "#7d0f0f", "#5a0a0a"],
  },
  primaryColor: "petrol",
  primaryShade: { light: 7, dark: 4 },
  black: "#111a1c",
  fontFamily: '"Hanken Grotesk Variable", system-ui, sans-serif',
  fontFamilyMonospace: '"Geist Mono Variable", ui-monospace, monospace',
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  lineHeights: { xs: "16px", sm: "18px", md: "20px", lg: "22px", xl: "26px" },
  headings: {
    fontWeight: "600",
    textWrap: "balance",
    sizes: {
      h1: { fontSize: "20px", lineHeight: "26px" },
      h2: { fontSize: "16px", lineHeight: "22px" },
      h3: { fontSize: "14px", lineHeight: "20px" },
    },
  },
  spacing: { xs: "4px", sm: "8px", md: "12px", lg: "16px", xl: "24px" },
  radius: { xs: "3px", sm: "4px", md: "6px", lg: "10px", xl: "12px" },
  defaultRadius: "md",
  shadows: { xs: "none", sm: "none", md: "var(--float)", lg: "var(--float)", xl: "var(--float)" },
  breakpoints: { xs: "24em", sm: "45em", md: "69em", lg: "80em", xl: "100em" },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Button: Button.extend({
      defaultProps: { size: "md" },
      vars: (_, p) => ({
        root: {
          "--button-height": p.size === "xs" ? "var(--h-small)" : "var(--h-button)",
          "--button-padding-x": "12px",
          "--button-fz": "14px",
          ...(filled(p) && {
            "--button-bg": "var(--accent)",
            "--button-hover": "var(--accent-hover)",
            "--button-color": "var(--on-accent)",
          }),
          ...(p.color === "red" &&
            (!p.variant || p.variant === "filled") && { "--button-color": "light-dark(#fff, #2a0709)" }),
        },
      }),
      styles: { label: { fontWeight: 500 } },
    }),
    ActionIcon: ActionIcon.extend({
      defaultProps: { variant: "subtle", color: "gray" },
      vars: () => ({ root: { "--ai-size": "var(--h-button)" } }),
    }),
    Input: Input.extend({
      vars: (_, p) => ({
        wrapper: {
          "--input-height": "var(--h-input)",
          "--input-fz": "14px",
          "--input-padding": "10px",
          "--input-bg": "var(--paper)",
          ...(!p.error && { "--input-bd": "var(--control)" }),
        },
      }),
    }),
    InputWrapper: Input.Wrapper.extend({
      styles: { label: { fontSize: 13, marginBottom: 4 }, error: { fontSize: 13 }, description: { fontSize: 13 } },
    }),
    Checkbox: Checkbox.extend({ defaultProps: { iconColor: "var(--on-accent)" } }),
    Switch: Switch.extend({ defaultProps: { withThumbIndicator: false } }),
    Text: Text.extend({ defaultProps: { size: "md" } }),
    Table: Table.extend({
      defaultProps: {
        fz: 14,
        verticalSpacing: 0,
        horizontalSpacing: 16,
        highlightOnHover: true,
        highlightOnHoverColor: "var(--hover)",
        borderColor: "var(--line)",
        tabularNums: true,
      },
      styles: {
        th: { height: 34, fontSize: 13, fontWeight: 500, color: "var(--muted)" },
        td: { height: "var(--row)" },
      },
    }),
    Tabs: Tabs.extend({
      defaultProps: { color: "var(--ink)" },
      styles: { list: { gap: 24 }, tab: { padding: "0", height: 40, fontSize: 14, fontWeight: 500 } },
    }),
    Modal: Modal.extend({
      defaultProps: {
        radius: "xl",
        centered: true,
        transitionProps: { duration: 180, transition: "fade" },
        // Else the header of a dialog counts as a second banner of the page.
        attributes: { header: { role: "presentation" } },
      },
    }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { "aria-label": m.close() } } }),
    Menu: Menu.extend({ defaultProps: { shadow: "md", transitionProps: { duration: 120 } } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 400 } }),
    Skeleton: Skeleton.extend({ defaultProps: { animate: false, radius: "xs" } }),
  },
});

const roles = {
  "--mantine-color-body": "var(--paper)",
  "--mantine-color-text": "var(--body)",
  "--mantine-color-dimmed": "var(--muted)",
  "--mantine-color-placeholder": "var(--muted)",
  "--mantine-color-anchor": "var(--accent-text)",
  "--mantine-color-error": "var(--failed-text)",
  "--mantine-color-default": "var(--paper)",
  "--mantine-color-default-hover": "var(--hover)",
  "--mantine-color-default-color": "var(--ink)",
  "--mantine-color-default-border": "var(--line-strong)",
  "--mantine-primary-color-contrast": "var(--on-accent)",
};
export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables: {}, light: roles, dark: roles });
