/** What a user agent tells of a browser and its system; names are those of products and the same in all languages. */
export interface Browser {
  name: string | undefined;
  system: string | undefined;
  isPhone: boolean;
}

const NAMES: [RegExp, string][] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];
/** A program that names itself first: `curl/8.5.0`. */
const PROGRAM = /^([A-Za-z][\w.-]{0,30})\/[\d.]/;

export function browserOf(userAgent: string): Browser {
  const find = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const program = PROGRAM.exec(userAgent)?.[1];
  return {
    name: find(NAMES) ?? (program === "Mozilla" ? undefined : program),
    system: find(SYSTEMS),
    isPhone: /\b(iPhone|Android)\b/.test(userAgent),
  };
}
