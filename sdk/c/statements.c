// From a model's reply to the statement in it, and from a statement to a candidate.

#include "syrch.h"

syrch_statement_t syrch_statement_of(const syrch_reply_result_t *reply) {
  syrch_statement_t out = {.how = SYRCH_WROTE_NOTHING, .why = syrch_text("the reply held no statement")};
  if (!reply->is_err) {
    const syrch_reply_t *from = &reply->val.ok;
    syrch_sql_reply_t read;
    if (!syrch_read_sql(from, &read)) return out;
    double tokens = (double)from->usage.input_tokens + from->usage.output_tokens;
    return (syrch_statement_t){.how = SYRCH_WROTE_STATEMENT, .sql = read.sql, .confidence = read.confidence, .logprob = from->logprob, .tokens = tokens};
  }
  const syrch_llm_error_t *error = &reply->val.err;
  out.failure = syrch_llm_failure(error);
  switch (error->tag) {
    case SYRCH_LLM_ERROR_MALFORMED:
      out.why = syrch_concat(syrch_text("the reply held no statement; it began: "), syrch_line(error->val.malformed, 200));
      return out;
    case SYRCH_LLM_ERROR_TOO_LARGE: out.how = SYRCH_WROTE_TOO_LARGE; break;
    case SYRCH_LLM_ERROR_REFUSED:
    case SYRCH_LLM_ERROR_UNSUPPORTED: out.how = SYRCH_WROTE_ABSTAINED; break;
    default: out.how = SYRCH_WROTE_FAILED; break;
  }
  out.why = out.failure.message;
  return out;
}

syrch_statement_t syrch_ask_statement(const syrch_request_t *request) {
  syrch_reply_result_t reply;
  syrch_reply_t made;
  syrch_llm_error_t error;
  reply.is_err = !syrch_complete(request, &made, &error);
  if (reply.is_err) {
    reply.val.err = error;
  } else {
    reply.val.ok = made;
  }
  return syrch_statement_of(&reply);
}

syrch_candidate_t syrch_statement_candidate(const syrch_statement_t *statement, syrch_string_t id, const char *origin, syrch_signals_t signals) {
  signals.logprob = statement->logprob;
  syrch_push(&signals.extra, (syrch_named_number_t){syrch_text("tokens"), statement->tokens});
  return (syrch_candidate_t){
      .id = id, .origin = syrch_text(origin), .sql = statement->sql, .raw_confidence = statement->confidence, .signals = signals};
}
