import { useEffect, useState } from "react";

/** What had the focus last. A button that is disabled while it works loses the focus before the dialog opens. */
let last: EventTarget | null = null;
document.addEventListener("focusin", ({ target }) => {
  last = target;
});

/** After a dialog that is only mounted while it is open, give the focus back to what opened it. */
export function useReturnFocus(): void {
  const [opener] = useState(() => {
    const now = document.activeElement;
    return now && now !== document.body ? now : last;
  });
  useEffect(
    () => () => {
      // The dialog's own elements are removed after this.
      requestAnimationFrame(() => {
        const isLost = !document.activeElement || document.activeElement === document.body;
        if (isLost && opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
      });
    },
    [opener],
  );
}
