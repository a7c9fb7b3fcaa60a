// The solver: asks the model for one statement and runs it.

import { Brief, Trials, candidateId, nothing, settle, statementCandidate, written, type SolverRole } from "syrch-plugin";
import type { Settings } from "../settings.ts";

export default {
  solve({ host, settings, problem, catalog, task, parents }) {
    // The prompt has the tables, the question, the task, and the rows of the tasks on which this one depends.
    const request = new Brief(host, {}, { problem, catalog, task, parents }).request();
    const outcome = settle(() => host.llm.complete(request));
    const { statement, noStatement, abstained } = written(outcome);
    // An outcome without a candidate is valid, for example if a provider without a model abstains.
    const why = noStatement ?? abstained;
    if (why !== undefined) return nothing(host, why);
    if (!statement) throw outcome.error;

    // Checks and runs the statement. More rows than usual count as a sign against it.
    const { ran, wrong, signals } = new Trials(settings.most).one(host, statement.sql);
    const candidate = statementCandidate(statement, { id: candidateId(task.id, 1), origin: "generate", signals: { ...signals, maxAttempts: 1 } });
    host.trace.propose(candidate);
    if (!ran) {
      host.trace.discard(candidate.id, wrong ?? "");
      return nothing(host, wrong ?? "");
    }
    host.trace.keep(candidate.id, "it ran");
    return { candidates: [candidate] };
  },
} satisfies SolverRole<Settings>;
