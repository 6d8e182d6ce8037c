import { Glyph } from "../../look/glyphs";

/** Says what went wrong, or what is wrong at a place that is no field of its own. */
export function Wrong({ id, children }: { id?: string; children: string }) {
  return (
    <p className="wrong" id={id} role="alert">
      <Glyph shape="failed" />
      <span>{children}</span>
    </p>
  );
}
