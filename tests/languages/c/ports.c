// The habit `ports`: calls every port once and notes what it gave, the value as text, or the word of the error.

#include <inttypes.h>

#include "plugin.h"

static const char *const SQL_ERRORS[] = {"syntax",  "unknown-table", "unknown-column", "ambiguous-name", "type-mismatch", "write-refused", "function-refused",
                                         "denied",  "timeout",       "too-large",      "cancelled",      "budget",        "unavailable",   "other"};
static const char *const LLM_ERRORS[] = {"budget", "denied", "refused", "too-large", "malformed", "unsupported", "cancelled", "unavailable", "other"};
static const char *const PORT_ERRORS[] = {"denied", "unsupported", "unknown-name", "budget", "unavailable", "other"};
static const char *const VERDICTS[] = {"accepted", "rejected", "unavailable"};
#define WORD(words, tag) syrch_text((tag) < sizeof(words) / sizeof *(words) ? (words)[tag] : "other")

static void note(syrch_writer *to, const char *name, syrch_string_t value) {
  syrch_write_array(to);
  syrch_write_string(to, syrch_text(name));
  syrch_write_string(to, value);
  syrch_write_end(to);
}

static syrch_string_t hex(syrch_list_u8_t bytes) {
  syrch_buffer out = {0};
  for (size_t i = 0; i < bytes.len; i++) syrch_put(&out, syrch_format("%02x", bytes.ptr[i]));
  return syrch_built(&out);
}

static void write_cell(syrch_writer *to, const syrch_value_t *cell) {
  switch (cell->tag) {
    case SYRCH_VALUE_NULL: syrch_write_null(to); break;
    case SYRCH_VALUE_BOOLEAN: syrch_write_boolean(to, cell->val.boolean); break;
    case SYRCH_VALUE_INTEGER: syrch_write_whole(to, cell->val.integer); break;
    case SYRCH_VALUE_REAL: syrch_write_number(to, cell->val.real); break;
    case SYRCH_VALUE_BYTES: syrch_write_string(to, hex(cell->val.bytes)); break;
    default: syrch_write_string(to, cell->val.text); break;
  }
}

static syrch_string_t cells(const syrch_page_t *page) {
  syrch_writer to = {0};
  syrch_write_array(&to);
  for (size_t i = 0; i < page->rows.len; i++) {
    syrch_write_array(&to);
    for (size_t at = 0; at < page->rows.ptr[i].len; at++) write_cell(&to, &page->rows.ptr[i].ptr[at]);
    syrch_write_end(&to);
  }
  syrch_write_end(&to);
  return syrch_written(&to);
}

static void call_models(const syrch_solve_t *in, syrch_writer *to) {
  syrch_string_t setting;
  note(to, "run.current-policy", syrch_format("%" PRIu32, syrch_policy().max_attempts));
  if (!syrch_setting(syrch_c_string(syrch_settings.text), &setting)) setting = syrch_text("none");
  note(to, "run.setting", setting);
  note(to, "run.remaining", syrch_format("%" PRIu32, syrch_remaining().llm_calls));
  syrch_list_string_t models = syrch_models();
  note(to, "llm.models", syrch_join(models.ptr, models.len, ","));
  syrch_request_t request = generate_request(in->problem, 7);
  request.temperature = syrch_some_f32(0.5f);
  syrch_reply_t reply;
  syrch_llm_error_t error;
  note(to, "llm.complete", syrch_complete(&request, &reply, &error) ? reply.text : WORD(LLM_ERRORS, error.tag));
}

static void call_inspect(const syrch_solve_t *in, syrch_string_t table, syrch_list_string_t columns, syrch_writer *to) {
  syrch_sql_error_t error;
  syrch_port_error_t refused;
  syrch_facts_t facts;
  syrch_plan_t plan;
  syrch_list_column_stats_t stats;
  note(to, "inspect.check", syrch_check(in->task->text, &facts, &error) ? facts.normalized : WORD(SQL_ERRORS, error.kind));
  note(to, "inspect.explain", syrch_explain(in->task->text, &plan, &error) ? plan.format : WORD(SQL_ERRORS, error.kind));
  bool done = syrch_column_stats(table, columns, &stats, &refused);
  syrch_compiled_t compiled;
  note(to, "inspect.column-stats-of", done ? syrch_format("%zu", stats.len) : WORD(PORT_ERRORS, refused.tag));
  done = syrch_compile_metric(syrch_text("{}"), &compiled, &refused);
  note(to, "inspect.compile-metric", done ? compiled.sql : WORD(PORT_ERRORS, refused.tag));
}

// The number of rows, and whether the same statement gives the same fingerprint again.
static syrch_string_t run_again(syrch_results_t first, syrch_string_t sql) {
  syrch_results_t second;
  syrch_sql_error_t error;
  syrch_string_t one, other;
  bool is_equal = syrch_run(sql, &second, &error) && syrch_fingerprint(second, SYRCH_EQUALITY_BAG, &other) &&
                  syrch_fingerprint(first, SYRCH_EQUALITY_BAG, &one) && syrch_equal(one, other);
  return syrch_format("%" PRIu64 " %s", syrch_profile(first).rows, is_equal ? "true" : "false");
}

static void call_sql(const syrch_solve_t *in, syrch_writer *to) {
  syrch_sql_error_t error;
  syrch_results_t first;
  if (!syrch_run(in->task->text, &first, &error)) {
    note(to, "sql.run", WORD(SQL_ERRORS, error.kind));
    note(to, "rows.read", syrch_text("skipped"));
    return;
  }
  syrch_page_t page;
  syrch_port_error_t refused;
  bool is_read = syrch_read(first, 0, (uint32_t)syrch_settings.size, &page, &refused);
  note(to, "sql.run", run_again(first, in->task->text));
  note(to, "rows.read", is_read ? cells(&page) : WORD(PORT_ERRORS, refused.tag));
}

static void call_retrieval(const syrch_solve_t *in, syrch_string_t table, syrch_list_string_t columns, syrch_writer *to) {
  syrch_port_error_t error;
  syrch_list_sample_t samples;
  bool done = syrch_samples(table, columns, 2, &samples, &error);
  note(to, "cells.samples", done ? syrch_format("%zu", samples.len) : WORD(PORT_ERRORS, error.tag));
  syrch_list_string_t phrases = {0}, ids = {0};
  syrch_push(&phrases, in->problem->question);
  syrch_list_list_hit_t found;
  size_t count = 0;
  done = syrch_find_cells(phrases, SYRCH_MATCH_NGRAM, 3, &found, &error);
  for (size_t i = 0; done && i < found.len; i++) count += found.ptr[i].len;
  note(to, "cells.find", done ? syrch_format("%zu", count) : WORD(PORT_ERRORS, error.tag));
  syrch_retrieval_query_t query = {
      .corpus = {.tag = SYRCH_CORPUS_TABLES}, .retriever = {.tag = SYRCH_RETRIEVER_LEXICAL}, .text = in->problem->question, .limit = 5};
  syrch_list_hit_t hits;
  done = syrch_retrieve(&query, &hits, &error);
  for (size_t i = 0; done && i < hits.len; i++) syrch_push(&ids, hits.ptr[i].id);
  note(to, "retrieval.find", done ? syrch_join(ids.ptr, ids.len, ",") : WORD(PORT_ERRORS, error.tag));
}

static void call_evaluate(const syrch_solve_t *in, syrch_writer *to) {
  syrch_port_error_t error;
  syrch_list_claim_t claims = {0};
  syrch_push(&claims, (syrch_claim_t){.f0 = syrch_settings.share});
  syrch_list_f64_t confidences;
  bool done = syrch_calibrated(claims, &confidences, &error);
  syrch_list_string_t numbers = {0}, cases = {0};
  for (size_t i = 0; done && i < confidences.len; i++) syrch_push(&numbers, syrch_decimal(confidences.ptr[i]));
  note(to, "evaluate.calibrate", done ? syrch_join(numbers.ptr, numbers.len, ",") : WORD(PORT_ERRORS, error.tag));
  syrch_list_candidate_t candidates = {0};
  syrch_push(&candidates, (syrch_candidate_t){.id = syrch_text("only"), .origin = syrch_text("conformance"), .sql = in->task->text});
  syrch_list_verdict_t verdicts;
  done = syrch_judged(candidates, &verdicts, &error);
  for (size_t i = 0; done && i < verdicts.len; i++) syrch_push(&cases, WORD(VERDICTS, verdicts.ptr[i].tag));
  note(to, "evaluate.reward", done ? syrch_join(cases.ptr, cases.len, ",") : WORD(PORT_ERRORS, error.tag));
}

syrch_string_t call_ports(const syrch_solve_t *in) {
  syrch_writer to = {0};
  syrch_string_t table = syrch_text("");
  syrch_list_string_t columns = {0};
  if (in->catalog->tables.len > 0) {
    const syrch_table_t *first = &in->catalog->tables.ptr[0];
    table = first->name;
    for (size_t i = 0; i < first->columns.len; i++) syrch_push(&columns, first->columns.ptr[i].name);
  }
  syrch_write_array(&to);
  call_models(in, &to);
  call_inspect(in, table, columns, &to);
  call_sql(in, &to);
  call_retrieval(in, table, columns, &to);
  call_evaluate(in, &to);
  syrch_note(SYRCH_LEVEL_INFO, syrch_settings.text);
  syrch_event(NULL, "ports", syrch_format("{\"n\":%" PRIu64 "}", syrch_settings.size));
  syrch_write_end(&to);
  return syrch_written(&to);
}
