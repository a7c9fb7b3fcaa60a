// The linker: selects the tables that the question names.

import { tableNames } from "syrch-plugin";

export default {
  link({ settings, problem, catalog }) {
    const question = problem.question.toLowerCase();
    const names = tableNames(catalog).filter((_, place) => question.includes(catalog.tables[place].name.toLowerCase()));
    // Without a table the catalog stays as it is.
    return { tables: names.slice(0, settings.most).map((table) => ({ table, reason: "the question names it" })) };
  },
};
