import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { copyRequest, pageRequest } from "../parts/request";
import { useProjectId } from "../session/profile";
import { ENTRIES } from "./navigation";

/** Milliseconds between G and the letter of a page. */
const SEQUENCE_MS = 1200;

/** Whether keys are text at this place. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** The keys that work on every page: Ctrl K, G and a letter, /, C and ?. */
export function useKeys({
  onPalette,
  onHelp,
  onTypedAhead,
}: {
  onPalette: () => void;
  onHelp: () => void;
  /** Takes characters that are typed while the field for them is on its way. */
  onTypedAhead: ((key: string) => void) | undefined;
}): void {
  const navigate = useNavigate();
  const projectId = useProjectId();
  const afterG = useRef(-SEQUENCE_MS);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return onPalette();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (onTypedAhead) {
        if (event.key.length === 1) onTypedAhead(event.key);
        return;
      }
      // A dialog or a menu has its own keys.
      if (document.querySelector("[role=dialog], [role=menu]")) return;
      const entry = event.timeStamp - afterG.current < SEQUENCE_MS && ENTRIES.find((each) => each.key === event.key);
      afterG.current = event.key === "g" ? event.timeStamp : -SEQUENCE_MS;
      if (entry) {
        event.preventDefault();
        void navigate({ to: entry.to, params: { projectId } });
      } else if (event.key === "?") {
        onHelp();
      } else if (event.key === "/") {
        const filter = document.querySelector<HTMLElement>("main [type=search]");
        if (!filter) return;
        event.preventDefault();
        filter.focus();
      } else if (event.key === "c") {
        const request = pageRequest.get();
        if (request) void copyRequest(request);
      }
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [navigate, projectId, onPalette, onHelp, onTypedAhead]);
}
