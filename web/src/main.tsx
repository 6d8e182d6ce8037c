import "@fontsource-variable/hanken-grotesk";
import "@fontsource-variable/geist-mono";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./look/tokens.css";
import "./look/parts.css";
import "./look/mantine.css";
import { MantineProvider } from "@mantine/core";
import { useNotifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense, useRef } from "react";
import { createRoot } from "react-dom/client";
import { cssVariablesResolver, theme } from "./look/theme";
import { getLocale } from "./messages/runtime.js";
import { router } from "./router";
import { queries } from "./session/queries";

/**
 * The nonce of this response, which Mantine gives to the style elements that it inserts. Only they have it: with a new
 * nonce at every script, which the policy permits without one, browsers would compile all scripts again for each page.
 */
const nonce = document.querySelector<HTMLMetaElement>("meta[name=style-nonce]")?.nonce ?? "";

// Where the library that keeps the page still behind a dialog looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce });

document.documentElement.lang = getLocale();

const Notices = lazy(() => import("./parts/Notices"));

/** Notices, which the first page loads without: few pages show one at once. */
function LoadedNotices() {
  const { notifications } = useNotifications();
  const hadNotice = useRef(false);
  hadNotice.current ||= notifications.length > 0;
  return <Suspense>{hadNotice.current && <Notices />}</Suspense>;
}

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <LoadedNotices />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
