import { notifications } from "@mantine/notifications";
import { m } from "../messages/messages.js";
import { createSignal } from "../session/signal";

/** Milliseconds in which a deed can be taken back. */
const UNDO_MS = 8_000;

interface Deed {
  /** Id of the record that is hidden meanwhile. */
  id: string;
  /** What was done. */
  said: string;
  run: () => Promise<void>;
  failed: (error: unknown) => string;
}

const hidden = createSignal<ReadonlySet<string>>(new Set());
const waiting = new Map<string, () => void>();

function hide(id: string, isHidden: boolean): void {
  const ids = new Set(hidden.get());
  if (isHidden) ids.add(id);
  else ids.delete(id);
  hidden.set(ids);
}

// Who leaves the page has not taken it back.
addEventListener("pagehide", () => {
  for (const run of [...waiting.values()]) run();
});

function start({ id, said, run, failed }: Deed): void {
  hide(id, true);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const finish = () => {
    clearTimeout(timer);
    waiting.delete(id);
    notifications.hide(id);
  };
  const perform = () => {
    finish();
    run()
      .catch((error: unknown) => notifications.show({ message: failed(error) }))
      .finally(() => hide(id, false));
  };
  const undo = () => {
    finish();
    hide(id, false);
  };
  timer = setTimeout(perform, UNDO_MS);
  waiting.set(id, perform);
  notifications.show({
    id,
    autoClose: false,
    withCloseButton: false,
    message: (
      <span className="undo">
        <span className="grow">{said}</span>
        <button type="button" className="btn bare small" onClick={undo}>
          {m.undo()}
        </button>
      </span>
    ),
  });
}

/** Deeds that are done after a while, unless the person takes them back; `hidden` are the records meanwhile. */
export function useUndo(): { hidden: ReadonlySet<string>; start: (deed: Deed) => void } {
  return { hidden: hidden.use(), start };
}
