// Runs the table of sdk/vectors in QuickJS, the engine of a component, instead of Node: node tests/quickjs.mjs NODE_MODULES
// NODE_MODULES has esbuild and componentize-qjs, such as the folder of a plugin's project. The module is evaluated while it is made a
// component, so that a case that fails ends the build with its name.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const own = fileURLToPath(new URL("..", import.meta.url));
const bin = (name) => join(resolve(process.argv[2]), ".bin", process.platform === "win32" ? `${name}.cmd` : name);
const run = (name, ...args) => execFileSync(bin(name), args, { stdio: ["ignore", "pipe", "inherit"], shell: process.platform === "win32" });

// What the test uses of Node, for QuickJS. `JSON.stringify` compares, with fields in one order; -0 is written as such in the table's text.
const STANDINS = {
  "test.js": `
    export const failed = [];
    export let passed = 0;
    export const test = (name, body) => { try { body(); passed += 1; } catch (error) { failed.push(name + ": " + error.message); } };`,
  "assert.js": `
    const sorted = (_, part) => part && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [two]) => (one < two ? -1 : 1))) : part;
    const equal = (one, two) => { if (one !== two) throw new Error(one + " is not " + two); };
    export default { equal, deepEqual: (one, two) => equal(JSON.stringify(one, sorted), JSON.stringify(two, sorted)) };`,
  "fs.js": `
    import table from "./prompts.json.txt";
    export const readFileSync = () => table;`,
  "url.js": "globalThis.URL ??= class {};",
  "main.js": `
    import "./url.js";
    import "./vectors.js";
    import { failed, passed } from "node:test";
    if (failed.length > 0 || passed === 0) throw new Error(passed + " passed, " + failed.length + " failed:\\n" + failed.join("\\n"));
    export const run = () => passed;`,
  "world.wit": "package local:vectors;\nworld vectors { export run: func() -> u32; }\n",
};

const folder = mkdtempSync(join(tmpdir(), "syrch-quickjs-"));
try {
  mkdirSync(join(folder, "wit"));
  for (const [name, text] of Object.entries(STANDINS)) writeFileSync(join(folder, name === "world.wit" ? "wit/world.wit" : name), text);
  writeFileSync(join(folder, "prompts.json.txt"), readFileSync(join(own, "../vectors/prompts.json")));
  const test = readFileSync(join(own, "tests/vectors.test.js"), "utf8").replaceAll('"../src/', `"${own.replaceAll("\\", "/")}src/`);
  writeFileSync(join(folder, "vectors.js"), test);
  const standIn = (module, name) => `--alias:${module}=${join(folder, name)}`;
  run(
    "esbuild", join(folder, "main.js"), "--bundle", "--format=esm", "--platform=neutral", "--target=es2023", "--charset=utf8",
    standIn("node:test", "test.js"), standIn("node:assert/strict", "assert.js"), standIn("node:fs", "fs.js"),
    '--define:import.meta.url="file:///vectors"', "--log-level=warning", `--outfile=${join(folder, "bundle.js")}`,
  );
  run("componentize-qjs", "--wit", join(folder, "wit"), "--js", join(folder, "bundle.js"), "--sync", "-o", join(folder, "vectors.wasm"));
  console.log("all cases of sdk/vectors pass in QuickJS");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
