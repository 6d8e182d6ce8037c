// Writes dist/esm and dist/cjs: each module of src/ once as ESM and once as CommonJS, with its type declarations.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
rmSync("dist", { recursive: true, force: true });

const modules = readdirSync("src").map((name) => `src/${name}`);
for (const format of ["esm", "cjs"]) {
  await build({
    entryPoints: modules,
    outbase: "src",
    outdir: `dist/${format}`,
    format,
    target: "es2022",
    jsx: "automatic",
    logLevel: "error",
  });
}
// The nearest package.json says whether a .js file is a CommonJS module.
mkdirSync("dist/cjs", { recursive: true });
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');
const { STYLES } = await import(pathToFileURL("dist/esm/styles.js").href);
writeFileSync("dist/styles.css", STYLES);

execFileSync(process.execPath, ["node_modules/typescript/bin/tsc"], { stdio: "inherit" });
cpSync("dist/esm", "dist/cjs", { recursive: true, filter: (file) => !file.endsWith(".js") });
