// Lists the digests of the sources and of what was built from them. A test of the crate compares
// them with the files, so that the built files are never older than their sources.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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
