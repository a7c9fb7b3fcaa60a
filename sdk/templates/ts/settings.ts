// What the user may set, such as `-P {{role}}.most=20`.

import { setting, type ValuesOf } from "syrch-plugin";

const settings = {
  most: setting.integer(10, "The most rows, tables, attempts, questions or proposals that count as usual.", { least: 1, most: 1_000_000 }),
};

export default settings;
export type Settings = ValuesOf<typeof settings>;
