// The exports of a component. `syrch-host plugin build` writes the file that calls this, with the ports of the plugin's world.

import * as contract from "./contract.js";
import { install, lead } from "./console.js";
import { failureOf } from "./errors.js";
import { scoped } from "./handles.js";
import { hostOf } from "./ports.js";
import { ROLES, checkedResult } from "./roles.js";
import { readSettings } from "./settings.js";

install();

/** The exports `about` and one for each role of the plugin. `ports`: the bindings of the world's imports by name. */
export function component(plugin, ports) {
  let config = "";
  const settings = () => {
    try {
      return readSettings(plugin.settings, config);
    } catch (error) {
      throw rawFailure(error, `${plugin.name}: `);
    }
  };
  const exported = {
    about: {
      describe: () => plugin.identity,
      configure(given) {
        config = given;
        settings();
      },
    },
  };
  for (const [role, functions] of Object.entries(ROLES)) {
    if (!plugin[role]) continue;
    exported[role] = {};
    for (const [name, one] of Object.entries(functions)) {
      exported[role][name] = (...raw) => call(plugin[role], name, one, settings(), ports, raw);
    }
  }
  return exported;
}

function call(role, name, one, settings, ports, raw) {
  return scoped(() => {
    const host = hostOf(ports);
    lead(host.trace ? host.trace.note : null);
    try {
      const args = { host, settings };
      Object.entries(one.takes).forEach(([field, shape], index) => (args[field] = shape.lift(raw[index])));
      return checkedResult(one, name, role[name] ? role[name](args) : one.otherwise(args));
    } catch (error) {
      if (host.trace && !(error?.name === "Failure")) host.trace.note("debug", stackOf(error));
      if (one.cannotFail) throw bare(error);
      throw rawFailure(error);
    } finally {
      lead(null);
    }
  });
}

/**
 * The exception of a role that has no failure. The host shows it as it is, so that it names the functions it came through instead of places in the
 * bundle.
 */
function bare(error) {
  const { message } = failureOf(error);
  const names = Array.from((error?.stack ?? "").matchAll(/^\s*at ([\w$.]+) /gm), ([, name]) => name);
  const own = names.slice(0, names.indexOf("scoped")).filter((name) => name !== "Failure" && name !== "call");
  return Object.defineProperty(new Error(own.length === 0 ? message : `${message}, in ${own.join(", called by ")}`), "stack", { value: "" });
}

const stackOf = (error) => (error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ""}`.trimEnd() : String(error));

function rawFailure(error, before = "") {
  const { kind, message, retryable } = failureOf(error);
  return contract.failure.lower({ kind, message: before + message, retryable }, "failure");
}
