// What an author declares: the identity, the settings and the roles of a plugin.

import { schemaOf } from "./settings.js";
import { ROLES } from "./roles.js";

const KNOWN = ["name", "version", "summary", "settings", ...Object.keys(ROLES)];

/** Declares a plugin. It is checked when it is loaded, which is while it is built. */
export function plugin(declared) {
  const unknown = Object.keys(declared).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined) throw new TypeError(`plugin: unknown field \`${unknown}\`; known are ${KNOWN.join(", ")}`);
  const { name, version = "0.1.0", summary = "", settings = {} } = declared;
  if (typeof name !== "string" || name === "") throw new TypeError("plugin: `name` must be a text");
  const roles = Object.keys(ROLES).filter((role) => declared[role] !== undefined);
  if (roles.length === 0) throw new TypeError(`plugin ${name}: it has no role; a role is one of ${Object.keys(ROLES).join(", ")}`);
  for (const role of roles) {
    for (const [called, { otherwise }] of Object.entries(ROLES[role])) {
      if (typeof declared[role][called] !== "function" && !otherwise) {
        throw new TypeError(`plugin ${name}: the role ${role} needs the function \`${called}\``);
      }
    }
  }
  const identity = { name, version, summary, configSchema: JSON.stringify(schemaOf(settings)) };
  return Object.freeze({ ...declared, version, summary, settings, identity: Object.freeze(identity) });
}
