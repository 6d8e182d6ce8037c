import { useProfile, useProjectId } from "../session/profile";
import { createSignal } from "../session/signal";
import { type Progress, readProgress, START, writeProgress } from "./progress";

const KEPT = "postern.tour.";

/** What changed last: the browser keeps the progress, and pages follow it here. */
const changes = createSignal(0);

let isChanged = false;

/** Whether someone has changed the progress since this was asked last. */
export function takeChanged(): boolean {
  const was = isChanged;
  isChanged = false;
  return was;
}

/** The progress of the person who is signed in, in the project of the page, and a way to change it. */
export function useTour(): {
  progress: Progress | undefined;
  isOn: boolean;
  change: (progress: Progress) => void;
  start: () => void;
} {
  const projectId = useProjectId();
  const { id } = useProfile();
  changes.use();
  const key = `${KEPT}${projectId}.${id}`;
  const progress = readProgress(localStorage.getItem(key));
  const change = (next: Progress) => {
    localStorage.setItem(key, writeProgress(next));
    isChanged = true;
    changes.set(changes.get() + 1);
  };
  return {
    progress,
    isOn: progress !== undefined && progress.state !== "away",
    change,
    start: () => change(START),
  };
}
