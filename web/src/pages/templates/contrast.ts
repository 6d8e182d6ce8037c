/** The contrast of two colours as `#rgb` or `#rrggbb`, from 1 to 21; undefined for other notations. */
export function contrast(one: string, other: string): number | undefined {
  const [a, b] = [luminance(one), luminance(other)];
  if (a === undefined || b === undefined) return undefined;
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** The relative luminance as WCAG 2 defines it. */
function luminance(color: string): number | undefined {
  const full = sixDigits(color);
  if (!full) return undefined;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(full.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A colour as `#rrggbb`, as the colour field of a browser takes it; undefined for other notations. */
export function sixDigits(color: string): string | undefined {
  if (/^#[0-9a-f]{6}$/i.test(color)) return color.toLowerCase();
  const [, short] = /^#([0-9a-f]{3})$/i.exec(color) ?? [];
  return short && `#${[...short].map((digit) => digit + digit).join("")}`.toLowerCase();
}
