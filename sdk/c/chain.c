// A statement and its repairs.

#include "syrch.h"

syrch_chain_t syrch_chain(uint32_t max_attempts) { return (syrch_chain_t){.signals = {.max_attempts = max_attempts}}; }

size_t syrch_chain_statements(const syrch_chain_t *chain) {
  size_t count = 0;
  for (size_t i = 0; i < chain->tried.len; i++) count += chain->tried.ptr[i].sql.len > 0;
  return count;
}

const char *syrch_chain_origin(const syrch_chain_t *chain) { return syrch_chain_statements(chain) > 0 ? "repair" : "generate"; }

void syrch_chain_fail(syrch_chain_t *chain, syrch_string_t sql, syrch_string_t wrong) { syrch_push(&chain->tried, (syrch_tried_t){sql, wrong}); }

void syrch_chain_fail_without_statement(syrch_chain_t *chain, syrch_string_t wrong) {
  chain->signals.syntax_errors++;
  syrch_chain_fail(chain, syrch_text(""), wrong);
}

syrch_candidate_t syrch_chain_candidate(syrch_chain_t *chain, syrch_string_t id, const char *origin, const syrch_statement_t *statement,
                                        const syrch_signals_t *own) {
  chain->signals.syntax_errors += own->syntax_errors;
  chain->signals.schema_errors += own->schema_errors;
  chain->signals.execution_errors += own->execution_errors;
  syrch_signals_t signals = chain->signals;
  signals.empty_result = own->empty_result;
  signals.null_columns = own->null_columns;
  signals.overflow = own->overflow;
  syrch_candidate_t candidate = syrch_statement_candidate(statement, id, origin, signals);
  if (chain->last_id.is_some) syrch_push(&candidate.parents, chain->last_id.val);
  chain->last_id = syrch_some(id);
  return candidate;
}
