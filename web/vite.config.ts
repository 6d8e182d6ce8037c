import { paraglideVitePlugin } from "@inlang/paraglide-js";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** A server to develop against: `POSTERN_URL=http://127.0.0.1:8025 npm run dev`. */
const server = process.env.POSTERN_URL ?? "http://127.0.0.1:8025";

export default defineConfig({
  // The files refer to each other by relative URLs: the server puts them under a path with the build's id.
  base: "./",
  plugins: [
    react(),
    paraglideVitePlugin({
      project: "./project.inlang",
      outdir: "./src/messages",
      strategy: ["localStorage", "preferredLanguage", "baseLocale"],
      emitGitIgnore: false,
      emitPrettierIgnore: false,
    }),
  ],
  resolve: { alias: { "@postern/sdk": new URL("../sdk/typescript/src/index.ts", import.meta.url).pathname } },
  build: {
    outDir: "../postern/web/dashboard",
    emptyOutDir: true,
    target: "es2023",
    // The first browsers with light-dark(): what it is translated to for older ones ignores Mantine's color scheme.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // A data: URL would not be allowed for fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The limit of what the first page loads is in tests/size.spec.ts.
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name].[ext]",
      },
    },
  },
  server: { proxy: { "/dashboard/api": { target: server, headers: { origin: server } } } },
});
