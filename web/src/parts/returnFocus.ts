import { useEffect, useState } from "react";

/** After a dialog that is only mounted while it is open, give the focus back to what opened it. */
export function useReturnFocus(): void {
  const [opener] = useState(() => document.activeElement);
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
