// What the user may set, such as `-P {{role}}.most=20`.

import { setting } from "syrch-plugin";

export default {
  most: setting.integer(10, "The most rows, tables, attempts, questions or proposals that count as usual.", { least: 1, most: 1_000_000 }),
};
