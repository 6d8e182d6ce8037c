import { m } from "../messages/messages.js";
import type { LiveState } from "../session/live";

/** Whether new rows move into a list by themselves. */
export function LiveToggle({
  live,
  state,
  onLive,
}: {
  live: boolean;
  state: LiveState;
  onLive: (live: boolean) => void;
}) {
  const title = !live ? m.list_live_off() : state === "off" ? m.list_live_polling() : m.list_live_on();
  return (
    <button type="button" className="btn" aria-pressed={live} title={title} onClick={() => onLive(!live)}>
      <span className={live && state === "live" ? "live" : live ? "live still" : "live none"} />
      {m.list_live()}
    </button>
  );
}
