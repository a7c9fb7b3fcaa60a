// Lists the digests of the sources and of what was built from them. A test of the crate compares
// them with the files, so that the built files are never older than their sources.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// The policy of a page that stands alone: the built script and style sheet, and nothing else.
const source = (name) => `'sha256-${createHash("sha256").update(readFileSync(join("dist", name))).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${source("app.js")}`,
  `style-src ${source("app.css")}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];
writeFileSync(join("dist", "policy"), `${policy.join("; ")}\n`);

const files = [];
const walk = (path) => {
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path)) walk(join(path, name));
  } else if (path !== join("dist", "digests")) {
    files.push(path);
  }
};
for (const path of ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "digest.mjs", "src", "dist"]) {
  walk(path);
}
files.sort();
const lines = files.map((path) => `${createHash("sha256").update(readFileSync(path)).digest("hex")}  ${path}\n`);
writeFileSync(join("dist", "digests"), lines.join(""));
