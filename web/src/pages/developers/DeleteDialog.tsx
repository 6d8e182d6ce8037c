import type { ReactNode } from "react";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { TypedConfirm } from "../../parts/TypedConfirm";

/** Asks whether to delete something that cannot be restored; what is in use by typing its name. */
export function DeleteDialog({
  name,
  keep,
  ...dialog
}: {
  title: string;
  deed: string;
  keep: string;
  /** What is to be typed; undefined for what nothing uses. */
  name: string | undefined;
  run: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}) {
  return name === undefined ? <ConfirmDialog {...dialog} keep={keep} /> : <TypedConfirm {...dialog} name={name} />;
}
