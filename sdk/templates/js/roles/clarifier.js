// The clarifier: asks about the tasks that failed.

import { failedWith } from "syrch-plugin";

export default {
  assess({ settings, graph, seen }) {
    const questions = seen.flatMap((observation) => {
      const failure = failedWith(observation);
      const text = graph.tasks.find(({ id }) => id === observation.task)?.text ?? observation.task;
      // Without `choices` any answer is possible.
      return failure ? [{ text: `"${text}" failed: ${failure.message}. How else can it be said?`, ambiguity: 0.5 }] : [];
    });
    return questions.slice(0, settings.most);
  },
};
