/** A value of the URL as text: the router reads `?q=123` as a number. */
export function text(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.join(",") || undefined;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value) || undefined
    : undefined;
}
