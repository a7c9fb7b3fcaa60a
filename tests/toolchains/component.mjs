// Makes a component of a core module: node component.mjs JCO_FOLDER CORE WIT|- OUT. `-`: the module has its component type already.
// `jco embed` does the same, but in 1.35.0 it finds no file, so the WIT goes in as one text with the contract as a nested package.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [jco, core, wit, out] = process.argv.slice(2);
const scope = join(jco, "node_modules/@bytecodealliance");
const load = (path) => import(pathToFileURL(join(scope, path)));

const { componentEmbed, componentNew } = await load("jco-transpile/dist/wasm-tools.js");

let binary = await readFile(core);
if (wit !== "-") binary = await componentEmbed({ binary, witSource: await oneText(wit), world: "both" });
// What Go and C call of preview 1; left out where nothing is called.
const preview1 = "wasi_snapshot_preview1";
const calls = WebAssembly.Module.imports(await WebAssembly.compile(binary)).some(({ module }) => module === preview1);
const adapters = calls ? [[preview1, await readFile(join(scope, "jco/lib/wasi_snapshot_preview1.reactor.wasm"))]] : [];
await writeFile(out, await componentNew(binary, adapters));

async function oneText(folder) {
  const contract = join(folder, "deps/syrch-plugin");
  const files = (await readdir(contract)).filter((name) => name.endsWith(".wit")).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(contract, name), "utf8")));
  const name = /^package (.+);$/m.exec(texts[0])[1];
  const bodies = texts.map((text) => text.replace(/^package .+;$/m, ""));
  return `${await readFile(join(folder, "world.wit"), "utf8")}\npackage ${name} {\n${bodies.join("\n")}\n}\n`;
}
