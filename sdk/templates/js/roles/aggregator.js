// The aggregator: makes the answer from the task that the graph names.

import { count, sureness } from "syrch-plugin";

export default {
  aggregate({ settings, graph, finished }) {
    const last = finished.find(({ task }) => task.id === graph.answer);
    // Nothing here answers the question.
    if (!last) return null;
    const { rows } = last.results.profile;
    return {
      text: count(rows, "row"),
      task: last.task.id,
      candidate: last.candidate.id,
      sql: null, // or a statement that names finished tasks in FROM, as `last.name`
      confidence: sureness(last.candidate),
      basis: finished.map(({ task }) => task.text),
      caveats: rows > settings.most ? ["the result is long"] : [],
    };
  },
};
