import { m } from "../messages/messages.js";
import { useMayWrite } from "../session/profile";
import { isUnfinished } from "./progress";
import { useTour } from "./state";
import "./tourlink.css";

/** Offers the tour where someone begins. Not while it runs, and not to a viewer, who cannot do what it shows. */
export function TourLink() {
  const { progress, isOn, change, start } = useTour();
  if (!useMayWrite() || isOn) return null;
  const isLeft = isUnfinished(progress);
  return (
    <p className="muted tourlink">
      {isLeft ? m.tour_left() : m.tour_new()}{" "}
      <button
        type="button"
        className="linkbtn"
        onClick={() => (isLeft && progress ? change({ ...progress, state: "open" }) : start())}
      >
        {isLeft ? m.tour_resume() : m.tour_take()}
      </button>
      {!isLeft && m.tour_length()}
    </p>
  );
}
