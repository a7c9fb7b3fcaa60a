// A planner that may look at each table of the question by itself first.

import { plugin, setting } from "syrch-plugin";

export default plugin({
  name: "tables",
  version: "1.0.0",
  summary: "plans one task, or one for each table of the question",
  settings: {
    perTable: setting.boolean(false, "Whether each table that the question names gets a task of its own."),
  },
  planner: {
    plan({ settings, problem, catalog }) {
      const tasks = settings.perTable ? tableTasks(problem.question, catalog) : [];
      const answer = { id: "A", text: problem.question, dependsOn: tasks.map(({ id }) => id), tolerant: tasks.length > 0 };
      return { tasks: [...tasks, answer], answer: "A" };
    },
  },
});

function tableTasks(question, { tables }) {
  const folded = question.toLowerCase();
  const named = tables.filter(({ name }) => folded.includes(name.toLowerCase()));
  return named.map(({ name }, place) => ({ id: `T${place + 1}`, text: `${question} (table ${name})` }));
}
