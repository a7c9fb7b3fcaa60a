// Every case of sdk/vectors/prompts.json: `vectors TABLE`. The outputs there are those of the Rust SDK.

#include "values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS(X)                                               \
  X(number, share, 0.5, 0, 1, "A share.")                         \
  X(integer, count, 3, 1, 9, "A count, described in two lines.")  \
  X(boolean, switch_, true, "A switch.")                          \
  X(text, word, "x", "A word.")
SYRCH_SETTINGS(SETTINGS)

// The setting `switch` is a keyword in C, so that its row is written by hand.
struct syrch_settings syrch_settings;
static const syrch_setting_t declared[] = {
    {.name = "share", .offset = offsetof(struct syrch_settings, share), SYRCH_ROW_number(0.5, 0, 1, "A share.")},
    {.name = "count", .offset = offsetof(struct syrch_settings, count), SYRCH_ROW_integer(3, 1, 9, "A count, described in two lines.")},
    {.name = "switch", .offset = offsetof(struct syrch_settings, switch_), SYRCH_ROW_boolean(true, "A switch.")},
    {.name = "word", .offset = offsetof(struct syrch_settings, word), SYRCH_ROW_text("x", "A word.")},
};
const syrch_plugin_t syrch_plugin = {.name = "vectors", .version = "0", .summary = "", .declared = declared, .count = 4, .settings = &syrch_settings};

typedef void function(const syrch_json *in, syrch_writer *out);

static void put(syrch_writer *out, syrch_string_t text) { syrch_write_string(out, text); }

static void text_line(const syrch_json *in, syrch_writer *out) { put(out, syrch_line(text_of(in, "text"), whole_of(in, "limit"))); }
static void text_clip(const syrch_json *in, syrch_writer *out) { put(out, syrch_clip(text_of(in, "text"), whole_of(in, "bytes"))); }

static void text_count(const syrch_json *in, syrch_writer *out) {
  put(out, syrch_count(whole_of(in, "number"), syrch_c_string(text_of(in, "noun"))));
}

static void text_clamp01(const syrch_json *in, syrch_writer *out) {
  double value = 0;
  if (!syrch_json_number(syrch_json_get(in, "value"), &value)) value = strtod(syrch_c_string(text_of(in, "value")), NULL);
  syrch_write_number(out, syrch_clamp01(value));
}

static void names_quote(const syrch_json *in, syrch_writer *out) {
  syrch_syntax_t syntax = syntax_of(syrch_json_get(in, "syntax"));
  put(out, syrch_quote(&syntax, text_of(in, "name")));
}

static void names_quote_if_odd(const syrch_json *in, syrch_writer *out) {
  syrch_syntax_t syntax = syntax_of(syrch_json_get(in, "syntax"));
  put(out, syrch_quote_if_odd(&syntax, text_of(in, "name")));
}

static void names_shown(const syrch_json *in, syrch_writer *out) {
  syrch_syntax_t syntax = syntax_of(syrch_json_get(in, "syntax"));
  put(out, syrch_shown(&syntax, text_of(in, "name")));
}

static void names_from_name(const syrch_json *in, syrch_writer *out) {
  syrch_syntax_t syntax = syntax_of(syrch_json_get(in, "syntax"));
  syrch_table_t table = table_of(syrch_json_get(in, "table"));
  put(out, syrch_from_name(&syntax, &table));
}

static void names_literal(const syrch_json *in, syrch_writer *out) {
  syrch_syntax_t syntax = syntax_of(syrch_json_get(in, "syntax"));
  put(out, syrch_literal(&syntax, text_of(in, "text")));
}

static void prompt_catalog(const syrch_json *in, syrch_writer *out) {
  syrch_catalog_t catalog = catalog_of(syrch_json_get(in, "catalog"));
  put(out, syrch_prompt_catalog(&catalog, whole_of(in, "bytes")));
}

static void catalog_table_names(const syrch_json *in, syrch_writer *out) {
  syrch_catalog_t catalog = catalog_of(syrch_json_get(in, "catalog"));
  syrch_list_string_t names = {0};
  for (size_t i = 0; i < catalog.tables.len; i++) syrch_push(&names, syrch_table_name(&catalog, &catalog.tables.ptr[i]));
  write_texts(out, names);
}

static void catalog_place(const syrch_json *in, syrch_writer *out) {
  syrch_catalog_t catalog = catalog_of(syrch_json_get(in, "catalog"));
  const syrch_table_t *table = syrch_find_table(&catalog, text_of(in, "name"));
  if (table == NULL) {
    syrch_write_null(out);
  } else {
    syrch_write_whole(out, table - catalog.tables.ptr);
  }
}

static void prompt_problem(const syrch_json *in, syrch_writer *out) {
  syrch_problem_t problem = problem_of(syrch_json_get(in, "problem"));
  put(out, syrch_prompt_problem(&problem));
}

static void prompt_cell(const syrch_json *in, syrch_writer *out) {
  syrch_value_t cell = cell_of(syrch_json_get(in, "value"));
  put(out, syrch_prompt_cell(&cell));
}

static void prompt_rows(const syrch_json *in, syrch_writer *out) {
  syrch_page_t page = page_of(syrch_json_get(in, "page"));
  put(out, syrch_prompt_rows(&page));
}

static syrch_brief_t brief_of(const syrch_json *in) {
  syrch_catalog_t *catalog = SYRCH_NEW(syrch_catalog_t);
  *catalog = catalog_of(syrch_json_get(in, "catalog"));
  syrch_problem_t problem = problem_of(syrch_json_get(in, "problem"));
  syrch_task_t task = task_of(syrch_json_get(in, "task"));
  uint64_t granted;
  syrch_fake.granted_rows.is_some = syrch_json_whole(syrch_json_get(in, "granted_rows"), &granted);
  syrch_fake.granted_rows.val = syrch_fake.granted_rows.is_some ? (uint32_t)granted : 0;
  syrch_solve_t solve = {.problem = &problem, .catalog = catalog, .task = &task, .parents = parents_of(syrch_json_get(in, "parents"))};
  syrch_brief_t brief = syrch_brief(&solve, (uint32_t)whole_of(in, "catalog_bytes"), (uint32_t)whole_of(in, "parent_rows"));
  for (uint64_t i = 0; i < whole_of(in, "shortened"); i++) syrch_shorten(&brief);
  return brief;
}

static void brief_request(const syrch_json *in, syrch_writer *out) {
  syrch_brief_t brief = brief_of(in);
  syrch_request_t request = syrch_brief_request(&brief, tried_of(syrch_json_get(in, "tried")), (uint32_t)whole_of(in, "sample"));
  write_request(out, &request);
}

static void brief_setting(const syrch_json *in, syrch_writer *out) {
  syrch_brief_t brief = brief_of(in);
  put(out, syrch_brief_setting(&brief));
}

static void brief_instructions(const syrch_json *in, syrch_writer *out) {
  syrch_brief_t brief = brief_of(in);
  put(out, syrch_brief_instructions(&brief));
}

static void brief_feedback(const syrch_json *in, syrch_writer *out) { put(out, syrch_feedback(tried_of(syrch_json_get(in, "tried")))); }

static void draws_request(const syrch_json *in, syrch_writer *out) {
  syrch_brief_t brief = brief_of(in);
  syrch_option_f64_t temperature = {0};
  temperature.is_some = syrch_json_number(syrch_json_get(in, "temperature"), &temperature.val);
  syrch_request_t request = syrch_draw_request(&brief, tried_of(syrch_json_get(in, "tried")), (uint32_t)whole_of(in, "number"), temperature);
  write_request(out, &request);
}

static void ask(const syrch_json *in, syrch_writer *out) {
  syrch_string_t other = {0};
  syrch_request_t request = syrch_ask(purpose_of(syrch_json_get(in, "purpose"), &other));
  request.purpose.val.other = other;
  const syrch_json *messages = syrch_json_get(in, "messages"), *expect = syrch_json_get(in, "expect");
  for (size_t i = 0; i < syrch_json_length(messages); i++) {
    const syrch_json *message = syrch_json_at(messages, i);
    if (syrch_is(text_of(message, "speaker"), "system")) {
      syrch_system(&request, text_of(message, "text"));
    } else {
      syrch_user(&request, text_of(message, "text"));
    }
  }
  if (syrch_is(expect->text, "sql")) syrch_expect_sql(&request);
  if (syrch_is(expect->text, "plan")) syrch_expect_json(&request, syrch_plan_schema());
  if (syrch_is(expect->text, "verdict")) syrch_expect_json(&request, syrch_verdict_schema());
  if (syrch_json_get(expect, "choice") != NULL) syrch_expect_choice(&request, texts_of(syrch_json_get(expect, "choice")));
  request.model.is_some = syrch_json_string(syrch_json_get(in, "model"), &request.model.val);
  request.subjects = texts_of(syrch_json_get(in, "subjects"));
  request.sample = (uint32_t)whole_of(in, "sample");
  double temperature;
  uint64_t tokens;
  if (syrch_json_number(syrch_json_get(in, "temperature"), &temperature)) request.temperature = syrch_some_f32((float)temperature);
  if (syrch_json_whole(syrch_json_get(in, "max_tokens"), &tokens)) request.max_tokens = syrch_some_u32((uint32_t)tokens);
  write_request(out, &request);
}

static void plan_schema(const syrch_json *in, syrch_writer *out) {
  (void)in;
  put(out, syrch_plan_schema());
}

static void verdict_schema(const syrch_json *in, syrch_writer *out) {
  (void)in;
  put(out, syrch_verdict_schema());
}

static syrch_reply_t reply_of(const syrch_json *in) {
  syrch_reply_t reply = {0};
  reply.parsed.is_some = syrch_json_string(syrch_json_get(in, "parsed"), &reply.parsed.val);
  return reply;
}

static void sql_reply(const syrch_json *in, syrch_writer *out) {
  syrch_reply_t reply = reply_of(in);
  syrch_sql_reply_t read;
  if (!syrch_read_sql(&reply, &read)) {
    syrch_write_null(out);
    return;
  }
  syrch_write_object(out);
  write_member(out, "sql", read.sql);
  syrch_write_key(out, "confidence");
  write_number_option(out, read.confidence);
  syrch_write_end(out);
}

static void verdict_reply(const syrch_json *in, syrch_writer *out) {
  syrch_reply_t reply = reply_of(in);
  syrch_verdict_t verdict = syrch_read_verdict(&reply);
  write_verdict(out, &verdict);
}

static void plan_reply(const syrch_json *in, syrch_writer *out) {
  syrch_reply_t reply = reply_of(in);
  syrch_list_subtask_t plan;
  if (!syrch_read_plan(&reply, &plan)) {
    syrch_write_null(out);
    return;
  }
  syrch_write_array(out);
  for (size_t i = 0; i < plan.len; i++) {
    syrch_write_object(out);
    write_member(out, "id", plan.ptr[i].id);
    write_member(out, "description", plan.ptr[i].description);
    syrch_write_key(out, "depends_on");
    write_texts(out, plan.ptr[i].depends_on);
    syrch_write_key(out, "is_atomic");
    syrch_write_boolean(out, plan.ptr[i].is_atomic);
    write_option(out, "expected_output", plan.ptr[i].expected_output);
    syrch_write_key(out, "join_keys");
    write_keys(out, plan.ptr[i].join_keys);
    syrch_write_end(out);
  }
  syrch_write_end(out);
}

static void put_option(syrch_writer *out, syrch_option_string_t text) {
  if (text.is_some) {
    put(out, text.val);
  } else {
    syrch_write_null(out);
  }
}

static void join_context(const syrch_json *in, syrch_writer *out) { put_option(out, syrch_join_context(keys_of(syrch_json_get(in, "keys")))); }
static void plan_context(const syrch_json *in, syrch_writer *out) { put_option(out, syrch_plan_context(texts_of(syrch_json_get(in, "steps")))); }

static void join_keys_of(const syrch_json *in, syrch_writer *out) {
  syrch_task_t task = task_of(syrch_json_get(in, "task"));
  write_keys(out, syrch_join_keys_of(&task));
}

static void plan_of(const syrch_json *in, syrch_writer *out) {
  syrch_task_t task = task_of(syrch_json_get(in, "task"));
  write_texts(out, syrch_plan_of(&task));
}

static void attempt_words(const syrch_json *in, syrch_writer *out) {
  syrch_sql_error_t error = sql_error_of(syrch_json_get(in, "error"));
  syrch_signals_t signals = {0};
  syrch_string_t words = {0};
  syrch_error_words(&error, &signals, &words);
  put(out, words);
}

static void attempt_failed(const syrch_json *in, syrch_writer *out) {
  syrch_sql_error_t error = sql_error_of(syrch_json_get(in, "error"));
  syrch_signals_t signals = {0};
  syrch_string_t words = {0};
  syrch_write_object(out);
  if (syrch_error_words(&error, &signals, &words)) {
    write_member(out, "words", words);
    syrch_write_key(out, "signals");
    write_signals(out, &signals);
  } else {
    syrch_failure_t failure = syrch_sql_failure(&error);
    syrch_write_key(out, "failure");
    write_failure(out, &failure);
  }
  syrch_write_end(out);
}

static void attempt_doubts(const syrch_json *in, syrch_writer *out) {
  syrch_profile_t profile = profile_of(syrch_json_get(in, "profile"));
  syrch_signals_t signals = {0};
  syrch_list_string_t doubts = syrch_doubts(whole_of(in, "overflow_rows"), &profile, &signals);
  syrch_write_object(out);
  syrch_write_key(out, "doubts");
  write_texts(out, doubts);
  syrch_write_key(out, "signals");
  write_signals(out, &signals);
  syrch_write_end(out);
}

static void candidate_id(const syrch_json *in, syrch_writer *out) { put(out, syrch_candidate_id(text_of(in, "task"), (uint32_t)whole_of(in, "number"))); }

static void failure_llm(const syrch_json *in, syrch_writer *out) {
  syrch_llm_error_t error = llm_error_of(syrch_json_get(in, "error"));
  syrch_failure_t failure = syrch_llm_failure(&error);
  write_failure(out, &failure);
}

static void failure_sql(const syrch_json *in, syrch_writer *out) {
  syrch_sql_error_t error = sql_error_of(syrch_json_get(in, "error"));
  syrch_failure_t failure = syrch_sql_failure(&error);
  write_failure(out, &failure);
}

static void failure_port(const syrch_json *in, syrch_writer *out) {
  syrch_port_error_t error = port_error_of(syrch_json_get(in, "error"));
  syrch_failure_t failure = syrch_port_failure(&error);
  write_failure(out, &failure);
}

static void chain(const syrch_json *in, syrch_writer *out) {
  syrch_chain_t chain = syrch_chain((uint32_t)whole_of(in, "max_attempts"));
  const syrch_json *steps = syrch_json_get(in, "steps");
  syrch_write_object(out);
  syrch_write_key(out, "candidates");
  syrch_write_array(out);
  for (size_t i = 0; i < syrch_json_length(steps); i++) {
    const syrch_json *step = syrch_json_at(steps, i), *fail = syrch_json_get(step, "fail"), *of = syrch_json_get(step, "candidate");
    if (fail != NULL) {
      syrch_chain_fail(&chain, text_of(fail, "sql"), text_of(fail, "wrong"));
    } else if (of == NULL) {
      syrch_chain_fail_without_statement(&chain, text_of(step, "no_statement"));
    } else {
      const syrch_json *given = syrch_json_get(of, "statement");
      syrch_statement_t statement = {.sql = text_of(given, "sql"),
                                     .confidence = number_option_of(given, "confidence"),
                                     .logprob = number_option_of(given, "logprob"),
                                     .tokens = number_of(given, "tokens")};
      syrch_option_string_t named = option_of(of, "origin");
      const char *origin = named.is_some ? syrch_c_string(named.val) : syrch_chain_origin(&chain);
      syrch_signals_t own = signals_of(syrch_json_get(of, "signals"));
      syrch_candidate_t candidate = syrch_chain_candidate(&chain, text_of(of, "id"), origin, &statement, &own);
      syrch_write_object(out);
      write_candidate(out, &candidate);
      syrch_write_end(out);
    }
  }
  syrch_write_end(out);
  syrch_write_key(out, "tried");
  syrch_write_array(out);
  for (size_t i = 0; i < chain.tried.len; i++) {
    syrch_write_object(out);
    write_member(out, "sql", chain.tried.ptr[i].sql);
    write_member(out, "wrong", chain.tried.ptr[i].wrong);
    syrch_write_end(out);
  }
  syrch_write_end(out);
  write_member(out, "origin", syrch_text(syrch_chain_origin(&chain)));
  syrch_write_key(out, "statements");
  syrch_write_whole(out, (int64_t)syrch_chain_statements(&chain));
  syrch_write_key(out, "signals");
  write_signals(out, &chain.signals);
  syrch_write_end(out);
}

static void draws_groups(const syrch_json *in, syrch_writer *out) {
  syrch_groups_t groups = syrch_groups(texts_of(syrch_json_get(in, "keys")));
  syrch_write_array(out);
  for (size_t i = 0; i < groups.len; i++) {
    syrch_write_array(out);
    for (size_t at = 0; at < groups.ptr[i].len; at++) syrch_write_whole(out, groups.ptr[i].ptr[at]);
    syrch_write_end(out);
  }
  syrch_write_end(out);
}

static void fnv1a(const syrch_json *in, syrch_writer *out) { put(out, syrch_format("%" PRIu64, syrch_hash(text_of(in, "text")))); }

static void settings_schema(const syrch_json *in, syrch_writer *out) {
  (void)in;
  syrch_write_json(out, syrch_settings_schema(&syrch_plugin));
}

static void settings_read(const syrch_json *in, syrch_writer *out) {
  syrch_string_t wrong = {0};
  syrch_write_object(out);
  if (syrch_read_settings(&syrch_plugin, text_of(in, "config"), &wrong)) {
    syrch_write_key(out, "settings");
    syrch_write_object(out);
    syrch_write_key(out, "share");
    syrch_write_number(out, syrch_settings.share);
    syrch_write_key(out, "count");
    syrch_write_whole(out, (int64_t)syrch_settings.count);
    syrch_write_key(out, "switch");
    syrch_write_boolean(out, syrch_settings.switch_);
    write_member(out, "word", syrch_settings.word);
    syrch_write_end(out);
  } else {
    write_member(out, "error", wrong);
  }
  syrch_write_end(out);
}

static const struct {
  const char *name;
  function *run;
} functions[] = {
    {"text.line", text_line},
    {"text.clip", text_clip},
    {"text.count", text_count},
    {"text.clamp01", text_clamp01},
    {"names.quote", names_quote},
    {"names.quote_if_odd", names_quote_if_odd},
    {"names.shown", names_shown},
    {"names.from_name", names_from_name},
    {"names.literal", names_literal},
    {"prompt.catalog", prompt_catalog},
    {"catalog.table_names", catalog_table_names},
    {"catalog.place", catalog_place},
    {"prompt.problem", prompt_problem},
    {"prompt.cell", prompt_cell},
    {"prompt.rows", prompt_rows},
    {"brief.request", brief_request},
    {"brief.setting", brief_setting},
    {"brief.instructions", brief_instructions},
    {"brief.feedback", brief_feedback},
    {"draws.request", draws_request},
    {"ask", ask},
    {"replies.plan_schema", plan_schema},
    {"replies.verdict_schema", verdict_schema},
    {"replies.sql_reply", sql_reply},
    {"replies.verdict_reply", verdict_reply},
    {"replies.plan_reply", plan_reply},
    {"replies.join_context", join_context},
    {"replies.plan_context", plan_context},
    {"replies.join_keys_of", join_keys_of},
    {"replies.plan_of", plan_of},
    {"attempt.words", attempt_words},
    {"attempt.failed", attempt_failed},
    {"attempt.doubts", attempt_doubts},
    {"attempt.candidate_id", candidate_id},
    {"attempt.chain", chain},
    {"failure.llm", failure_llm},
    {"failure.sql", failure_sql},
    {"failure.port", failure_port},
    {"draws.groups", draws_groups},
    {"random.fnv1a", fnv1a},
    {"settings.schema", settings_schema},
    {"settings.read", settings_read},
};

// Whether two values are equal. The order of members does not matter.
static bool is_same(const syrch_json *a, const syrch_json *b) {
  if (a == NULL || b == NULL || a->kind != b->kind || a->len != b->len) return false;
  if (a->kind == SYRCH_JSON_BOOLEAN) return a->boolean == b->boolean;
  if (a->kind == SYRCH_JSON_NUMBER) return a->number == b->number;
  if (a->kind == SYRCH_JSON_STRING) return syrch_equal(a->text, b->text);
  for (size_t i = 0; i < a->len; i++) {
    const syrch_json *other = a->kind == SYRCH_JSON_OBJECT ? syrch_json_get(b, syrch_c_string(a->keys[i])) : &b->items[i];
    if (!is_same(&a->items[i], other)) return false;
  }
  return true;
}

static void run_case(const syrch_json *one) {
  syrch_string_t name = text_of(one, "function");
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (!syrch_is(name, functions[i].name)) continue;
    syrch_writer out = {0};
    functions[i].run(syrch_json_get(one, "input"), &out);
    syrch_string_t wrong = {0}, text = syrch_written(&out);
    if (is_same(syrch_json_read(text, &wrong), syrch_json_get(one, "output"))) return;
    syrch_failed++;
    fprintf(stderr, "%.*s, %.*s:\n  is       %.*s\n  expected %.*s\n", SYRCH_F(name), SYRCH_F(text_of(one, "name")), SYRCH_F(text),
            SYRCH_F(syrch_json_text(syrch_json_get(one, "output"))));
    return;
  }
  syrch_failed++;
  fprintf(stderr, "no function here is `%.*s`\n", SYRCH_F(name));
}

int main(int count, char **arguments) {
  FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (file == NULL) {
    fprintf(stderr, "usage: vectors sdk/vectors/prompts.json\n");
    return 2;
  }
  // Each line has one case, so that the memory of each can be freed.
  char *line = NULL;
  size_t capacity = 0, cases = 0;
  for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;) {
    while (length > 0 && strchr(",\n", line[length - 1]) != NULL) length--;
    syrch_fake_reset();
    const syrch_json *one = syrch_json_read((syrch_string_t){(uint8_t *)line, (size_t)length}, NULL);
    if (syrch_json_get(one, "function") == NULL) continue;
    run_case(one);
    cases++;
  }
  free(line);
  fclose(file);
  syrch_reset();
  printf("%zu cases, %d failed\n", cases, syrch_failed);
  return syrch_failed != 0 || cases == 0;
}
