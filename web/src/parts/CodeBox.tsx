import type { ReactNode } from "react";

/** Code or other text that may be wider or longer than its box, which then scrolls. */
export function CodeBox({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys.
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}
