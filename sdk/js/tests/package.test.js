// The package as npm makes it: packed, installed into a folder of its own, and used from there.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const own = fileURLToPath(new URL("..", import.meta.url));
const npm = (folder, ...args) => execFileSync("npm", args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });

test("the package can be packed, installed and used", () => {
  const folder = mkdtempSync(join(tmpdir(), "syrch-plugin-"));
  try {
    npm(own, "pack", "--pack-destination", folder, "--silent");
    const [packed] = readdirSync(folder);
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    npm(folder, "install", "--offline", "--no-audit", "--no-fund", "--silent", `./${packed}`);
    const installed = readdirSync(join(folder, "node_modules/syrch-plugin"));
    assert.deepEqual(installed.sort(), ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json", "src"]);
    writeFileSync(
      join(folder, "use.js"),
      `import { accepted, plugin } from "syrch-plugin";
       import { component } from "syrch-plugin/component";
       import { call, results } from "syrch-plugin/fakes";
       const made = plugin({ name: "used", reward: { judge: ({ rivals }) => rivals.map(() => accepted(1)) } });
       const rival = { candidate: { id: "a", sql: "SELECT 1" }, results: results(["n"], [[1]]) };
       console.log(component(made, {}).about.describe().name, call(made, "reward", { rivals: [rival] })[0].accepted.score);`,
    );
    assert.equal(execFileSync(process.execPath, ["use.js"], { cwd: folder, encoding: "utf8" }), "used 1\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
