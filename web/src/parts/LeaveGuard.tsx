import { useBlocker } from "@tanstack/react-router";
import { m } from "../messages/messages.js";
import { ConfirmDialog } from "./ConfirmDialog";

interface Place {
  pathname: string;
  search: object;
}

/** Asks before a page with typed changes is left. */
export function LeaveGuard({
  active,
  leaves = (from, to) => from.pathname !== to.pathname,
}: {
  active: boolean;
  /** Whether going from one place to another leaves the page. */
  leaves?: (from: Place, to: Place) => boolean;
}) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => active && leaves(current, next),
    enableBeforeUnload: active,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <ConfirmDialog
      title={m.settings_leave_title()}
      deed={m.settings_leave_deed()}
      keep={m.settings_leave_keep()}
      onClose={() => blocker.reset()}
      run={async () => blocker.proceed()}
    >
      <p>{m.settings_leave_lead()}</p>
    </ConfirmDialog>
  );
}
