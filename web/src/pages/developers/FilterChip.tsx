import { IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { m } from "../../messages/messages.js";
import { ICON } from "../../parts/parts";

/** A filter that a list has now, with a button that removes it. */
export function FilterChip({ name, onRemove, children }: { name: string; onRemove: () => void; children: ReactNode }) {
  return (
    <span className="filter">
      <b className="value">
        <span>{name}</span> {children}
      </b>
      <button type="button" aria-label={m.developers_remove({ name })} onClick={onRemove}>
        <IconX {...ICON} />
      </button>
    </span>
  );
}
