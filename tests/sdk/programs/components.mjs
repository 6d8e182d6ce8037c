// Pages with the components of @postern/react, rendered on the server and continued in the browser.
import { build } from "esbuild";
import { createElement as h } from "react";
import { renderToString } from "react-dom/server";
import { Page } from "./components_page.mjs";

const CLIENT = `
import { createElement } from "react";
import { hydrateRoot } from "react-dom/client";
import { Page } from "./components_page.mjs";
const report = (error) => console.error("hydration: " + error.message);
hydrateRoot(document, createElement(Page, JSON.parse(document.documentElement.dataset.props)), { onRecoverableError: report });
`;

/** Adds `/components` to an Express application; its parameters `theme` and `inPlace` are properties of the page. */
export async function addComponents(app) {
  const { outputFiles } = await build({
    stdin: { contents: CLIENT, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "esm",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  app.get("/client.js", (_, response) => response.type("text/javascript").send(outputFiles[0].text));
  app.get("/components", (request, response) => {
    const props = { theme: request.query.theme ?? "auto", inPlace: request.query.inPlace === "1" };
    response.type("text/html").send(`<!doctype html>${renderToString(h(Page, props))}`);
  });
}
