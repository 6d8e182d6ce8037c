import { Glyph } from "../look/glyphs";

/** Says what went wrong where no field of its own shows it; nothing without a text. */
export function Wrong({ id, children }: { id?: string; children: string | undefined }) {
  if (!children) return null;
  return (
    <p className="wrong" id={id} role="alert">
      <Glyph shape="failed" />
      <span>{children}</span>
    </p>
  );
}
