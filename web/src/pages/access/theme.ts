import { contrast } from "../templates/contrast.ts";
import { COLORS, type ColorName, type Draft, type Scheme } from "./signIn.ts";

/** All colors of the light or of the dark theme. */
export type Palette = Record<ColorName | "onAccent", string>;

/** A theme with all its values, as postern/web/themes.py has it: what is not set follows from the rest. */
export interface Theme {
  light: Palette;
  dark: Palette;
  radius: number;
  font: string;
  headingFont: string;
}

/** The fonts of the hosted pages by their names in the API. */
export const FONTS: Record<string, string> = {
  SYSTEM: 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans JP",sans-serif',
  SERIF: 'Georgia,"Times New Roman","Hiragino Mincho ProN","Noto Serif JP",serif',
  HUMANIST: 'Seravek,"Gill Sans Nova",Ubuntu,Calibri,"Source Sans 3",sans-serif',
  GEOMETRIC: 'Avenir,Montserrat,Corbel,"URW Gothic",source-sans-pro,sans-serif',
  ROUNDED: 'ui-rounded,"Hiragino Maru Gothic ProN",Quicksand,Comfortaa,"Arial Rounded MT Bold",sans-serif',
  MONOSPACE: 'ui-monospace,"Cascadia Code",Menlo,Consolas,monospace',
};
/** SYSTEM on pages in Japanese: `system-ui` has Chinese forms of characters on devices that are set to Chinese. */
const JAPANESE_SYSTEM =
  '-apple-system,"Segoe UI",Roboto,"Hiragino Sans","Yu Gothic UI",Meiryo,"Noto Sans JP","Noto Sans CJK JP",sans-serif';
const RADIUS: Record<string, number> = { SQUARE: 0, SMALL: 4, MEDIUM: 10, LARGE: 18 };
/** Least contrast of the accent to what is around it (WCAG 2.2, 1.4.11). */
const ACCENT_CONTRAST = 3;
/** The share of the text's color in lines on a page with a color of its own. */
const LINE_SHARE = 0.15;
const DEFAULTS: Record<Scheme, Record<ColorName, string>> = {
  light: {
    accent: "#0d6472",
    page: "#ffffff",
    card: "#ffffff",
    ink: "#111a1c",
    muted: "#5a6567",
    line: "#e0e6e7",
  },
  dark: {
    accent: "#5cb6c6",
    page: "#0f1516",
    card: "#0f1516",
    ink: "#eef3f4",
    muted: "#98a3a5",
    line: "#232c2e",
  },
};

/** A color as the API stores it, or nothing for what is no color, such as one that is half typed. */
export function colorOf(value: string): string | undefined {
  const color = value.trim();
  return /^#[0-9a-f]{6}$/i.test(color) ? color.toLowerCase() : undefined;
}

/** The theme of what is typed. */
export function themeOf(draft: Draft): Theme {
  const colors = (scheme: Scheme) =>
    Object.fromEntries(COLORS.map((name) => [name, colorOf(draft[`theme/${scheme}/${name}`])])) as Partial<
      Record<ColorName, string>
    >;
  const [light, dark] = [colors("light"), colors("dark")];
  const chosen = light.accent ?? colorOf(draft.accentColor);
  const lightPalette = palette(light, DEFAULTS.light, chosen);
  const page = dark.page ?? DEFAULTS.dark.page;
  const darkAccent = dark.accent ?? (chosen && lightened(chosen, [page, dark.card ?? page]));
  return {
    light: lightPalette,
    dark: palette(dark, DEFAULTS.dark, darkAccent),
    radius: RADIUS[draft.corners] ?? 0,
    font: FONTS[draft.font] ?? "",
    headingFont: FONTS[draft.headingFont] ?? "",
  };
}

/** The style sheet that sets the values of a theme: the same as the server's. */
export function styleOf(theme: Theme): string {
  const { light, dark, radius, font, headingFont } = theme;
  const root = `${declarations(light)};--b-radius:${radius}px;--b-font:${font};--b-heading:${headingFont}`;
  const japanese = Object.entries({ font, heading: headingFont })
    .filter(([, stack]) => stack === FONTS.SYSTEM)
    .map(([name]) => `--b-${name}:${JAPANESE_SYSTEM}`)
    .join(";");
  return `:root{${root}}\n@media (prefers-color-scheme:dark){:root{${declarations(dark)}}}\n:root:lang(ja){${japanese}}\n`;
}

function declarations({ onAccent, ...colors }: Palette): string {
  const { accent, ...others } = colors;
  return Object.entries({ accent, "on-accent": onAccent, ...others })
    .map(([name, color]) => `--b-${name}:${color}`)
    .join(";");
}

function palette(
  own: Partial<Record<ColorName, string>>,
  usual: Record<ColorName, string>,
  chosen: string | undefined,
): Palette {
  const accent = chosen ?? usual.accent;
  const page = own.page ?? usual.page;
  const ink = own.ink ?? usual.ink;
  return {
    accent,
    page,
    card: own.card ?? page,
    ink,
    muted: own.muted ?? usual.muted,
    line: own.line ?? (own.page === undefined ? usual.line : mixed(ink, page, LINE_SHARE)),
    onAccent: ratio(accent, "#000000") >= ratio(accent, "#ffffff") ? "#000000" : "#ffffff",
  };
}

const ratio = (one: string, other: string) => contrast(one, other) ?? 0;

/** The color with as little white as the contrast on dark grounds needs. */
function lightened(color: string, grounds: string[]): string {
  for (let share = 0; share <= 100; share += 5) {
    const lighter = mixed("#ffffff", color, share / 100);
    if (grounds.every((ground) => ratio(lighter, ground) >= ACCENT_CONTRAST)) return lighter;
  }
  return color;
}

/** `share` (0 to 1) of one color in another one. */
function mixed(one: string, other: string, share: number): string {
  const part = (color: string, at: number) => Number.parseInt(color.slice(at, at + 2), 16);
  const parts = [1, 3, 5].map((at) => halfToEven(part(one, at) * share + part(other, at) * (1 - share)));
  return `#${parts.map((each) => each.toString(16).padStart(2, "0")).join("")}`;
}

/** Rounds like Python, so that the preview has the same colors. */
function halfToEven(value: number): number {
  const floor = Math.floor(value);
  return value - floor === 0.5 ? floor + (floor % 2) : Math.round(value);
}
