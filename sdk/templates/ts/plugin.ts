// The plugin `{{name}}`: its identity, its settings and its roles.

import { plugin } from "syrch-plugin";
// {{#roles}}
import {{role}} from "./roles/{{role}}.ts";
// {{/roles}}
import settings from "./settings.ts";

export default plugin({
  name: "{{name}}",
  version: "0.1.0",
  summary: "says in one line what the plugin does",
  settings,
  // {{#roles}}
  {{role}},
  // {{/roles}}
});
