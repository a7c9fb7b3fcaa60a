// The rewriter: drops a condition that always holds.

export default {
  rewrite({ settings, best, history }) {
    const sql = best.replace(" WHERE 1 = 1", "");
    const isNew = sql !== best && history.every((attempt) => attempt.sql !== sql);
    // Null ends the optimization.
    if (!isNew || history.length >= settings.most) return null;
    return { sql, family: "drop-condition", reason: "the condition always holds" };
  },
};
