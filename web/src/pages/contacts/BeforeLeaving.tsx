import { useBlocker } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";

/** Asks before the page is left, or another record opened, while something would be lost. */
export function BeforeLeaving({
  isUnsaved,
  title = m.contacts_unsaved(),
  lead = m.contacts_unsaved_lead(),
  deed = m.contacts_discard(),
  keep = m.contacts_keep_editing(),
  onLeave,
}: {
  isUnsaved: () => boolean;
  title?: string;
  lead?: string;
  deed?: string;
  keep?: string;
  /** The person gave up what is unsaved. */
  onLeave?: () => void;
}) {
  const blocker = useBlocker({ shouldBlockFn: isUnsaved, enableBeforeUnload: isUnsaved, withResolver: true });
  if (blocker.status !== "blocked") return null;
  return (
    <ConfirmDialog
      title={title}
      deed={deed}
      keep={keep}
      onClose={() => blocker.reset()}
      run={async () => {
        onLeave?.();
        blocker.proceed();
      }}
    >
      <p>{lead}</p>
    </ConfirmDialog>
  );
}
