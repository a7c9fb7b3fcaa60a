// Values of the table sdk/vectors/prompts.json, read and written.

#include "values.h"

#include <stdlib.h>
#include <string.h>

static const char *const PURPOSES[] = {"link", "plan", "generate", "repair", "judge", "select", "calibrate", "clarify", "summarise", "rewrite", NULL};
static const char *const LLM_ERRORS[] = {"budget", "denied", "refused", "too-large", "malformed", "unsupported", "cancelled", "unavailable", "other", NULL};
static const char *const PORT_ERRORS[] = {"denied", "unsupported", "unknown-name", "budget", "unavailable", "other", NULL};
static const char *const SQL_ERRORS[] = {"syntax", "unknown-table", "unknown-column", "ambiguous-name", "type-mismatch", "write-refused", "function-refused",
                                         "denied", "timeout",       "too-large",      "cancelled",      "budget",        "unavailable",   "other", NULL};
static const char *const FAILURES[] = {"input", "model", "database", "budget", "unsupported", "cancelled", "internal", NULL};
static const char *const CORPORA[] = {"tables", "columns", "cells", "notes", "examples", NULL};
static const char *const VALUES[] = {"null", "boolean", "integer", "real", "decimal", "text", "temporal", "bytes", "other", NULL};

// The place of a word; that of the end if it is none of them.
static uint8_t place(const char *const *words, syrch_string_t word) {
  uint8_t at = 0;
  while (words[at] != NULL && !syrch_is(word, words[at])) at++;
  return at;
}

// A case of a variant: a word, or an object with one member, whose value is `payload`.
static uint8_t case_of(const char *const *words, const syrch_json *value, const syrch_json **payload) {
  *payload = NULL;
  if (value == NULL) return 0;
  if (value->kind == SYRCH_JSON_STRING) return place(words, value->text);
  *payload = value->len > 0 ? &value->items[0] : NULL;
  return value->len > 0 ? place(words, value->keys[0]) : 0;
}

syrch_string_t text_of(const syrch_json *object, const char *key) {
  syrch_string_t text = {0};
  syrch_json_string(syrch_json_get(object, key), &text);
  return text;
}

uint64_t whole_of(const syrch_json *object, const char *key) {
  uint64_t number = 0;
  syrch_json_whole(syrch_json_get(object, key), &number);
  return number;
}

double number_of(const syrch_json *object, const char *key) {
  double number = 0;
  syrch_json_number(syrch_json_get(object, key), &number);
  return number;
}

static bool flag_of(const syrch_json *object, const char *key) {
  bool flag = false;
  syrch_json_boolean(syrch_json_get(object, key), &flag);
  return flag;
}

syrch_option_string_t option_of(const syrch_json *object, const char *key) {
  syrch_option_string_t text = {0};
  text.is_some = syrch_json_string(syrch_json_get(object, key), &text.val);
  return text;
}

syrch_option_f64_t number_option_of(const syrch_json *object, const char *key) {
  syrch_option_f64_t number = {0};
  number.is_some = syrch_json_number(syrch_json_get(object, key), &number.val);
  return number;
}

syrch_list_string_t texts_of(const syrch_json *list) {
  syrch_list_string_t texts = {0};
  for (size_t i = 0; i < syrch_json_length(list); i++) syrch_push(&texts, syrch_json_at(list, i)->text);
  return texts;
}

syrch_syntax_t syntax_of(const syrch_json *value) {
  syrch_option_string_t title = option_of(value, "title");
  return (syrch_syntax_t){.title = title.is_some ? title.val : syrch_text("SQL"),
                          .rules = text_of(value, "rules"),
                          .backticks = flag_of(value, "backticks"),
                          .folds_names = flag_of(value, "folds_names"),
                          .backslash_escapes = flag_of(value, "backslash_escapes")};
}

static syrch_column_t column_of(const syrch_json *value) {
  return (syrch_column_t){
      .name = text_of(value, "name"), .sql_type = text_of(value, "sql_type"), .nullable = flag_of(value, "nullable"), .comment = option_of(value, "comment")};
}

static syrch_foreign_key_t foreign_key_of(const syrch_json *value) {
  return (syrch_foreign_key_t){.columns = texts_of(syrch_json_get(value, "columns")),
                               .ref_table = text_of(value, "ref_table"),
                               .ref_columns = texts_of(syrch_json_get(value, "ref_columns"))};
}

syrch_table_t table_of(const syrch_json *value) {
  syrch_table_t table = {.schema_name = option_of(value, "schema_name"), .name = text_of(value, "name"), .comment = option_of(value, "comment")};
  table.primary_key = texts_of(syrch_json_get(value, "primary_key"));
  table.row_estimate.is_some = syrch_json_whole(syrch_json_get(value, "row_estimate"), &table.row_estimate.val);
  const syrch_json *columns = syrch_json_get(value, "columns"), *keys = syrch_json_get(value, "foreign_keys"), *extra = syrch_json_get(value, "extra");
  for (size_t i = 0; i < syrch_json_length(columns); i++) syrch_push(&table.columns, column_of(syrch_json_at(columns, i)));
  for (size_t i = 0; i < syrch_json_length(keys); i++) syrch_push(&table.foreign_keys, foreign_key_of(syrch_json_at(keys, i)));
  for (size_t i = 0; i < syrch_json_length(extra); i++) {
    const syrch_json *pair = syrch_json_at(extra, i);
    syrch_push(&table.extra, (syrch_pair_t){syrch_json_at(pair, 0)->text, syrch_json_at(pair, 1)->text});
  }
  return table;
}

syrch_catalog_t catalog_of(const syrch_json *value) {
  syrch_catalog_t catalog = {.database = text_of(value, "database"), .syntax = syntax_of(syrch_json_get(value, "syntax"))};
  const syrch_json *tables = syrch_json_get(value, "tables");
  for (size_t i = 0; i < syrch_json_length(tables); i++) syrch_push(&catalog.tables, table_of(syrch_json_at(tables, i)));
  return catalog;
}

static syrch_list_hit_t hits_of(const syrch_json *list) {
  syrch_list_hit_t hits = {0};
  for (size_t i = 0; i < syrch_json_length(list); i++) {
    const syrch_json *from = syrch_json_at(list, i), *name;
    syrch_hit_t hit = {.id = text_of(from, "id"), .path = text_of(from, "path"), .snippet = option_of(from, "snippet"), .score = number_of(from, "score")};
    hit.column = option_of(from, "column");
    hit.payload = option_of(from, "payload");
    hit.corpus.tag = case_of(CORPORA, syrch_json_get(from, "corpus"), &name);
    syrch_push(&hits, hit);
  }
  return hits;
}

static syrch_list_term_label_t labels_of(const syrch_json *list) {
  syrch_list_term_label_t labels = {0};
  for (size_t i = 0; i < syrch_json_length(list); i++) {
    const syrch_json *value = syrch_json_at(list, i);
    syrch_push(&labels, (syrch_term_label_t){.value = text_of(value, "value"), .words = texts_of(syrch_json_get(value, "words"))});
  }
  return labels;
}

static syrch_term_t term_of(const syrch_json *value) {
  static const char *const kinds[] = {"metric", "dimension", "other", NULL};
  const syrch_json *name;
  return (syrch_term_t){.kind = {.tag = case_of(kinds, syrch_json_get(value, "kind"), &name)},
                        .name = text_of(value, "name"),
                        .synonyms = texts_of(syrch_json_get(value, "synonyms")),
                        .definition = text_of(value, "definition"),
                        .description = option_of(value, "description"),
                        .labels = labels_of(syrch_json_get(value, "labels")),
                        .mentioned = flag_of(value, "mentioned")};
}

syrch_problem_t problem_of(const syrch_json *value) {
  syrch_problem_t problem = {.question = text_of(value, "question"), .evidence = option_of(value, "evidence"), .goal = option_of(value, "goal")};
  const syrch_json *answers = syrch_json_get(value, "answers");
  for (size_t i = 0; i < syrch_json_length(answers); i++) {
    const syrch_json *pair = syrch_json_at(answers, i);
    syrch_push(&problem.answers, (syrch_pair_t){syrch_json_at(pair, 0)->text, syrch_json_at(pair, 1)->text});
  }
  problem.hints = hits_of(syrch_json_get(value, "hints"));
  const syrch_json *terms = syrch_json_get(value, "terms");
  for (size_t i = 0; i < syrch_json_length(terms); i++) syrch_push(&problem.terms, term_of(syrch_json_at(terms, i)));
  return problem;
}

syrch_task_t task_of(const syrch_json *value) {
  syrch_task_t task = syrch_task(text_of(value, "id"), text_of(value, "text"));
  task.expected = option_of(value, "expected");
  task.context = option_of(value, "context");
  return task;
}

static syrch_failure_t failure_of(const syrch_json *value) {
  const syrch_json *name;
  return (syrch_failure_t){.kind = {.tag = case_of(FAILURES, syrch_json_get(value, "kind"), &name)}, .message = text_of(value, "message")};
}

syrch_list_parent_t parents_of(const syrch_json *list) {
  static const char *const outputs[] = {"relation", "hits", "failed", "other", NULL};
  syrch_list_parent_t parents = {0};
  for (size_t i = 0; i < syrch_json_length(list); i++) {
    const syrch_json *from = syrch_json_at(list, i), *payload;
    syrch_parent_t parent = {.task = task_of(syrch_json_get(from, "task"))};
    parent.output.tag = case_of(outputs, syrch_json_get(from, "output"), &payload);
    switch (parent.output.tag) {
      case SYRCH_OUTPUT_RELATION:
        parent.output.val.relation.name = text_of(payload, "name");
        parent.output.val.relation.results = syrch_fake_results(page_of(syrch_json_get(payload, "results")));
        break;
      case SYRCH_OUTPUT_HITS: parent.output.val.hits = hits_of(payload); break;
      case SYRCH_OUTPUT_FAILED: parent.output.val.failed = failure_of(payload); break;
      default: break;
    }
    syrch_push(&parents, parent);
  }
  return parents;
}

syrch_value_t cell_of(const syrch_json *value) {
  const syrch_json *payload = syrch_json_get(value, "value");
  syrch_value_t cell = {.tag = place(VALUES, text_of(value, "type"))};
  switch (cell.tag) {
    case SYRCH_VALUE_NULL: break;
    case SYRCH_VALUE_BOOLEAN: syrch_json_boolean(payload, &cell.val.boolean); break;
    case SYRCH_VALUE_INTEGER: cell.val.integer = strtoll(syrch_c_string(payload->text), NULL, 10); break;
    case SYRCH_VALUE_REAL: cell.val.real = strtod(syrch_c_string(payload->text), NULL); break;
    case SYRCH_VALUE_BYTES:
      for (size_t i = 0; i < payload->len; i++) syrch_push(&cell.val.bytes, (uint8_t)payload->items[i].whole);
      break;
    default: cell.val.text = payload->text; break;
  }
  return cell;
}

syrch_page_t page_of(const syrch_json *value) {
  syrch_page_t page = {.columns = texts_of(syrch_json_get(value, "columns"))};
  const syrch_json *rows = syrch_json_get(value, "rows");
  for (size_t i = 0; i < syrch_json_length(rows); i++) {
    syrch_list_value_t row = {0};
    const syrch_json *from = syrch_json_at(rows, i);
    for (size_t at = 0; at < syrch_json_length(from); at++) syrch_push(&row, cell_of(syrch_json_at(from, at)));
    syrch_push(&page.rows, row);
  }
  return page;
}

syrch_profile_t profile_of(const syrch_json *value) {
  syrch_profile_t profile = {.rows = whole_of(value, "rows"), .truncated = flag_of(value, "truncated")};
  const syrch_json *columns = syrch_json_get(value, "columns");
  for (size_t i = 0; i < syrch_json_length(columns); i++) {
    const syrch_json *from = syrch_json_at(columns, i);
    syrch_push(&profile.columns, (syrch_column_profile_t){.column = column_of(syrch_json_get(from, "column")), .nulls = whole_of(from, "nulls")});
  }
  return profile;
}

syrch_list_tried_t tried_of(const syrch_json *list) {
  syrch_list_tried_t tried = {0};
  for (size_t i = 0; i < syrch_json_length(list); i++) {
    const syrch_json *from = syrch_json_at(list, i);
    syrch_push(&tried, (syrch_tried_t){text_of(from, "sql"), text_of(from, "wrong")});
  }
  return tried;
}

syrch_sql_error_t sql_error_of(const syrch_json *value) {
  uint64_t position;
  syrch_sql_error_t error = {.kind = place(SQL_ERRORS, text_of(value, "kind")), .message = text_of(value, "message")};
  if (syrch_json_whole(syrch_json_get(value, "position"), &position)) error.position = syrch_some_u32((uint32_t)position);
  error.suggestions = texts_of(syrch_json_get(value, "suggestions"));
  return error;
}

syrch_llm_error_t llm_error_of(const syrch_json *value) {
  const syrch_json *why;
  syrch_llm_error_t error = {.tag = case_of(LLM_ERRORS, value, &why)};
  if (why != NULL) error.val.other = why->text;
  return error;
}

syrch_port_error_t port_error_of(const syrch_json *value) {
  const syrch_json *why;
  syrch_port_error_t error = {.tag = case_of(PORT_ERRORS, value, &why)};
  if (why != NULL) error.val.other = why->text;
  return error;
}

syrch_list_join_key_t keys_of(const syrch_json *list) {
  syrch_list_join_key_t keys = {0};
  for (size_t i = 0; i < syrch_json_length(list); i++) {
    const syrch_json *from = syrch_json_at(list, i);
    syrch_push(&keys, (syrch_join_key_t){text_of(from, "left"), text_of(from, "left_col"), text_of(from, "right"), text_of(from, "right_col"),
                                         syrch_c_string(text_of(from, "how"))});
  }
  return keys;
}

syrch_signals_t signals_of(const syrch_json *value) {
  return (syrch_signals_t){
      .attempts = (uint32_t)whole_of(value, "attempts"),
      .max_attempts = (uint32_t)whole_of(value, "max_attempts"),
      .syntax_errors = (uint32_t)whole_of(value, "syntax_errors"),
      .schema_errors = (uint32_t)whole_of(value, "schema_errors"),
      .execution_errors = (uint32_t)whole_of(value, "execution_errors"),
      .empty_result = flag_of(value, "empty_result"),
      .null_columns = (uint32_t)whole_of(value, "null_columns"),
      .overflow = flag_of(value, "overflow"),
      .samples = (uint32_t)whole_of(value, "samples"),
  };
}

uint8_t purpose_of(const syrch_json *value, syrch_string_t *other) {
  const syrch_json *name;
  uint8_t tag = case_of(PURPOSES, value, &name);
  if (name != NULL) *other = name->text;
  return tag;
}

void write_member(syrch_writer *to, const char *key, syrch_string_t text) {
  syrch_write_key(to, key);
  syrch_write_string(to, text);
}

void write_option(syrch_writer *to, const char *key, syrch_option_string_t text) {
  syrch_write_key(to, key);
  if (text.is_some) {
    syrch_write_string(to, text.val);
  } else {
    syrch_write_null(to);
  }
}

void write_texts(syrch_writer *to, syrch_list_string_t list) {
  syrch_write_array(to);
  for (size_t i = 0; i < list.len; i++) syrch_write_string(to, list.ptr[i]);
  syrch_write_end(to);
}

void write_number_option(syrch_writer *to, syrch_option_f64_t number) {
  if (number.is_some) {
    syrch_write_number(to, number.val);
  } else {
    syrch_write_null(to);
  }
}

static void write_whole(syrch_writer *to, const char *key, uint64_t number) {
  syrch_write_key(to, key);
  syrch_write_whole(to, (int64_t)number);
}

static void write_case(syrch_writer *to, const char *const *words, uint8_t tag, syrch_string_t other) {
  if (words[tag] != NULL) {
    syrch_write_string(to, syrch_text(words[tag]));
    return;
  }
  syrch_write_object(to);
  write_member(to, "other", other);
  syrch_write_end(to);
}

static void write_shape(syrch_writer *to, const syrch_shape_t *shape) {
  syrch_write_key(to, "expect");
  if (shape->tag == SYRCH_SHAPE_TEXT || shape->tag == SYRCH_SHAPE_SQL) {
    syrch_write_string(to, syrch_text(shape->tag == SYRCH_SHAPE_SQL ? "sql" : "text"));
    return;
  }
  syrch_write_object(to);
  if (shape->tag == SYRCH_SHAPE_JSON) {
    write_member(to, "json", shape->val.json);
  } else {
    syrch_write_key(to, "choice");
    write_texts(to, shape->val.choice);
  }
  syrch_write_end(to);
}

void write_request(syrch_writer *to, const syrch_request_t *request) {
  static const char *const speakers[] = {"system", "user", "assistant"};
  syrch_write_object(to);
  syrch_write_key(to, "purpose");
  write_case(to, PURPOSES, request->purpose.tag, request->purpose.val.other);
  syrch_write_key(to, "messages");
  syrch_write_array(to);
  for (size_t i = 0; i < request->messages.len; i++) {
    syrch_write_object(to);
    write_member(to, "speaker", syrch_text(speakers[request->messages.ptr[i].speaker]));
    write_member(to, "text", request->messages.ptr[i].text);
    syrch_write_end(to);
  }
  syrch_write_end(to);
  write_shape(to, &request->expect);
  write_option(to, "model", request->model);
  syrch_write_key(to, "subjects");
  write_texts(to, request->subjects);
  syrch_write_key(to, "temperature");
  write_number_option(to, (syrch_option_f64_t){request->temperature.is_some, request->temperature.val});
  syrch_write_key(to, "top_p");
  write_number_option(to, (syrch_option_f64_t){request->top_p.is_some, request->top_p.val});
  syrch_write_key(to, "max_tokens");
  write_number_option(to, (syrch_option_f64_t){request->max_tokens.is_some, request->max_tokens.val});
  syrch_write_key(to, "stop");
  write_texts(to, request->stop);
  syrch_write_key(to, "logprobs");
  syrch_write_boolean(to, request->logprobs);
  write_whole(to, "sample", request->sample);
  syrch_write_end(to);
}

void write_signals(syrch_writer *to, const syrch_signals_t *signals) {
  syrch_write_object(to);
  write_whole(to, "attempts", signals->attempts);
  write_whole(to, "max_attempts", signals->max_attempts);
  write_whole(to, "syntax_errors", signals->syntax_errors);
  write_whole(to, "schema_errors", signals->schema_errors);
  write_whole(to, "execution_errors", signals->execution_errors);
  syrch_write_key(to, "empty_result");
  syrch_write_boolean(to, signals->empty_result);
  write_whole(to, "null_columns", signals->null_columns);
  syrch_write_key(to, "overflow");
  syrch_write_boolean(to, signals->overflow);
  write_whole(to, "samples", signals->samples);
  write_whole(to, "agreeing", signals->agreeing);
  syrch_write_key(to, "logprob");
  write_number_option(to, signals->logprob);
  syrch_write_key(to, "reward");
  write_number_option(to, signals->reward);
  syrch_write_key(to, "extra");
  syrch_write_array(to);
  syrch_write_end(to);
  syrch_write_end(to);
}

// The members of a candidate. Its further numbers stand apart from its signals.
void write_candidate(syrch_writer *to, const syrch_candidate_t *candidate) {
  write_member(to, "id", candidate->id);
  syrch_write_key(to, "parents");
  write_texts(to, candidate->parents);
  write_member(to, "origin", candidate->origin);
  write_member(to, "sql", candidate->sql);
  syrch_write_key(to, "raw_confidence");
  write_number_option(to, candidate->raw_confidence);
  syrch_write_key(to, "signals");
  write_signals(to, &candidate->signals);
  syrch_write_key(to, "numbers");
  syrch_write_array(to);
  for (size_t i = 0; i < candidate->signals.extra.len; i++) {
    syrch_write_array(to);
    syrch_write_string(to, candidate->signals.extra.ptr[i].f0);
    syrch_write_number(to, candidate->signals.extra.ptr[i].f1);
    syrch_write_end(to);
  }
  syrch_write_end(to);
}

void write_failure(syrch_writer *to, const syrch_failure_t *failure) {
  syrch_write_object(to);
  syrch_write_key(to, "kind");
  write_case(to, FAILURES, failure->kind.tag, failure->kind.val.other);
  write_member(to, "message", failure->message);
  syrch_write_key(to, "retryable");
  syrch_write_boolean(to, failure->retryable);
  syrch_write_end(to);
}

void write_verdict(syrch_writer *to, const syrch_verdict_t *verdict) {
  syrch_write_object(to);
  if (verdict->tag == SYRCH_VERDICT_UNAVAILABLE) {
    write_member(to, "unavailable", verdict->val.unavailable);
  } else {
    syrch_write_key(to, verdict->tag == SYRCH_VERDICT_ACCEPTED ? "accepted" : "rejected");
    syrch_write_object(to);
    syrch_write_key(to, "score");
    syrch_write_number(to, verdict->val.accepted.score);
    write_member(to, "reason", verdict->val.accepted.reason);
    syrch_write_key(to, "checks");
    syrch_write_array(to);
    syrch_write_end(to);
    syrch_write_end(to);
  }
  syrch_write_end(to);
}

void write_keys(syrch_writer *to, syrch_list_join_key_t keys) {
  syrch_write_array(to);
  for (size_t i = 0; i < keys.len; i++) {
    syrch_write_object(to);
    write_member(to, "left", keys.ptr[i].left);
    write_member(to, "left_col", keys.ptr[i].left_col);
    write_member(to, "right", keys.ptr[i].right);
    write_member(to, "right_col", keys.ptr[i].right_col);
    write_member(to, "how", syrch_text(keys.ptr[i].how));
    syrch_write_end(to);
  }
  syrch_write_end(to);
}
