// The planner: first a task for each table that the question names, then the question itself.

import type { PlannerRole } from "syrch-plugin";
import type { Settings } from "../settings.ts";

export default {
  plan({ settings, problem: { question }, catalog }) {
    const named = catalog.tables.filter(({ name }) => question.toLowerCase().includes(name.toLowerCase()));
    const tasks = named.slice(0, settings.most).map(({ name }, place) => ({ id: `T${place + 1}`, text: `${question} (table ${name})` }));
    // A tolerant task runs although a dependency failed.
    const answer = { id: "A", text: question, dependsOn: tasks.map(({ id }) => id), tolerant: true };
    return { tasks: [...tasks, answer], answer: "A" };
  },

  // `next({ graph, seen, fresh, … })` is called after each observation and may change the graph. Without it the graph stays as it is.
} satisfies PlannerRole<Settings>;
