// The SDK's own functions: memory, JSON, settings, replies and trials, and that hostile input does no harm.

#include "fakes.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTINGS(X)                                                                          \
  X(word, mode, "fast", "fast good", "One of two words.")                                    \
  X(document, steps, "[[0, 0.2]]", "{\"type\": \"array\"}", "Pairs.")                        \
  X(integer, rows, 100, 1, 1000000, "Rows.")
SYRCH_SETTINGS(SETTINGS)
SYRCH_PLUGIN("tests", "1.0.0", "tests of the SDK", SETTINGS)

static void memory(void) {
  syrch_list_u32_t list = {0};
  for (uint32_t i = 0; i < 1000; i++) syrch_push(&list, i);
  SYRCH_CHECK(list.len == 1000 && list.ptr[0] == 0 && list.ptr[999] == 999);
  // A copy of a list grows by itself.
  syrch_list_u32_t copy = list;
  syrch_push(&list, 7);
  syrch_push(&copy, 8);
  SYRCH_CHECK(list.ptr[1000] == 7 && copy.ptr[1000] == 8);
  // So does one that the SDK did not allocate.
  uint32_t fixed[] = {1, 2, 3};
  syrch_list_u32_t given = {.ptr = fixed, .len = 3};
  syrch_push(&given, 4);
  SYRCH_CHECK(given.ptr != fixed && given.ptr[2] == 3 && given.ptr[3] == 4);
  syrch_buffer buffer = {0};
  for (int i = 0; i < 10000; i++) syrch_puts(&buffer, "größer ");
  SYRCH_CHECK(buffer.len == 10000 * strlen("größer "));
  SYRCH_CHECK_TEXT(syrch_concat(syrch_text("a"), syrch_text(""), syrch_format("%d%s", 1, "b")), "a1b");
}

// Whether a function ends the process, and what it prints.
static bool panics(void (*run)(void), const char *expected) {
  int pipes[2];
  if (pipe(pipes) != 0) return false;
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], 2);
    run();
    _exit(0);
  }
  close(pipes[1]);
  char text[512] = {0};
  ssize_t length = read(pipes[0], text, sizeof text - 1);
  close(pipes[0]);
  int status;
  waitpid(child, &status, 0);
  bool is_there = length > 0 && strstr(text, expected) != NULL;
  if (!is_there) fprintf(stderr, "printed: %s\n", text);
  return is_there && WIFSIGNALED(status);
}

static void an_assertion(void) { assert(syrch_settings.rows == 0); }
static void beyond(void) {
  syrch_list_u32_t list = {0};
  *syrch_at(&list, 3) = 1;
}
static void too_much(void) { syrch_alloc_array(SIZE_MAX / 2, 16); }
static void long_message(void) { syrch_panic("%2000d", 7); }
static void dropped_twice(void) {
  syrch_results_t results = syrch_fake_results((syrch_page_t){0});
  syrch_results_drop(results);
  syrch_profile(results);
}

static void panic(void) {
  SYRCH_CHECK(panics(an_assertion, "syrch_settings.rows == 0"));
  SYRCH_CHECK(panics(beyond, "there is no element 3 in a list of 0"));
  SYRCH_CHECK(panics(too_much, "out of memory"));
  SYRCH_CHECK(panics(long_message, "   "));
  SYRCH_CHECK(panics(dropped_twice, "dropped"));
}

static void texts(void) {
  SYRCH_CHECK(syrch_contains(syrch_fold(syrch_text("GRÖSSE Ärger ŽENA ΣΑ ЖЁ")), syrch_fold(syrch_text("größe"))) == false);
  SYRCH_CHECK_TEXT(syrch_fold(syrch_text("Ärger ŽENA Σ ЖЁ")), "ärger žena σ жё");
  SYRCH_CHECK_TEXT(syrch_trim(syrch_text("\u00a0 a b \n")), "a b");
  SYRCH_CHECK_TEXT(syrch_replace(syrch_text("aXbXX"), "X", "--"), "a--b----");
  SYRCH_CHECK_TEXT(syrch_slice(syrch_text("abc"), 1, 99), "bc");
  SYRCH_CHECK_TEXT(syrch_slice(syrch_text("abc"), 9, 2), "");
  // What is no UTF-8 does no harm.
  const char bad[] = "\xff\xc3(\xe2\x82\xf0\x9f\xa6 x\xc3";
  SYRCH_CHECK(syrch_line((syrch_string_t){(uint8_t *)(uintptr_t)bad, sizeof bad - 1}, 80).len > 0);
  SYRCH_CHECK_TEXT(syrch_json_decimal(1e16), "1e16");
  SYRCH_CHECK_TEXT(syrch_json_decimal(1e15), "1000000000000000.0");
  SYRCH_CHECK_TEXT(syrch_json_decimal(-0.00001), "-0.00001");
  SYRCH_CHECK_TEXT(syrch_json_decimal(1.5e-7), "1.5e-7");
}

static void json(void) {
  syrch_string_t wrong = {0};
  const char *valid[] = {"null", " [1, 2.5e3, -0, \"a\\u00e4\\ud83e\\udd80\\n\"] ", "{\"a\": {\"b\": []}, \"a\": 7}", "\"\"", "1e-400"};
  for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) SYRCH_CHECK(syrch_json_read(syrch_text(valid[i]), &wrong) != NULL);
  const char *invalid[] = {"",      "{",       "[1,]",     "{\"a\"}", "{\"a\":1,}", "01",   "1.",        "1e",       "+1",       ".5",   "nul", "truefalse",
                           "\"a",   "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\n\"", "[1 2]", "{1: 2}",   "1e999",    "\"a\" b",  "]",    "- 1", "\"\\"};
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
    if (syrch_json_read(syrch_text(invalid[i]), &wrong) != NULL) fprintf(stderr, "read: %s\n", invalid[i]);
    SYRCH_CHECK(syrch_json_read(syrch_text(invalid[i]), &wrong) == NULL && wrong.len > 0);
  }
  const syrch_json *value = syrch_json_read(syrch_text(valid[1]), NULL);
  SYRCH_CHECK_TEXT(syrch_json_text(value), "[1,2.5e3,-0,\"aä🦀\\n\"]");
  uint64_t whole = 0;
  value = syrch_json_read(syrch_text(valid[2]), NULL);
  SYRCH_CHECK(syrch_json_whole(syrch_json_get(value, "a"), &whole) && whole == 7);
  SYRCH_CHECK(syrch_json_get(syrch_json_at(NULL, 3), "a") == NULL && !syrch_json_boolean(value, NULL));
  // A document that is too deep is refused, and does not use up the stack.
  syrch_string_t deep = {.ptr = syrch_alloc(100000), .len = 100000};
  memset(deep.ptr, '[', deep.len);
  SYRCH_CHECK(syrch_json_read(deep, &wrong) == NULL);
  SYRCH_CHECK_TEXT(syrch_slice(wrong, 0, 14), "it is too deep");
}

// Pseudo-random numbers from a seed: one of that many, from 0.
static size_t one_of(uint32_t *seed, size_t sides) {
  *seed = *seed * 1664525u + 1013904223u;
  return (size_t)(((uint64_t)*seed * sides) >> 32);
}

// Documents with random changes are read or refused, and never more than that.
static void changed_json(void) {
  static const char document[] =
      "{\"sql\": \"SELECT \\u00e4\", \"confidence\": 0.9, \"subtasks\": [{\"id\": \"A\", \"description\": \"x\", \"depends_on\": [null, \"B\"], "
      "\"join_keys\": [{\"left\": \"A\", \"left_col\": \"id\", \"right\": \"B\", \"right_col\": \"id\", \"how\": \"full\"}]}], \"accepted\": true}";
  uint32_t seed = 7;
  for (int turn = 0; turn < 3000; turn++) {
    syrch_string_t text = syrch_copy(document, sizeof document - 1);
    for (size_t change = 0; change <= one_of(&seed, 4); change++) {
      text.ptr[one_of(&seed, text.len)] = "\"\\{}[],:0e.-ux\x80\xff\n"[one_of(&seed, 18)];
    }
    text.len -= one_of(&seed, 3) == 0 ? one_of(&seed, text.len) : 0;
    syrch_reply_t reply = {.parsed = syrch_some(text)};
    syrch_sql_reply_t sql;
    syrch_list_subtask_t plan;
    syrch_read_sql(&reply, &sql);
    syrch_read_plan(&reply, &plan);
    syrch_read_verdict(&reply);
    syrch_string_t wrong;
    syrch_read_settings(&syrch_plugin, text, &wrong);
    const syrch_json *value = syrch_json_read(text, &wrong);
    if (value != NULL) SYRCH_CHECK(syrch_json_read(syrch_json_text(value), &wrong) != NULL);
    if (turn % 100 == 0) syrch_fake_reset();
  }
}

// Names and texts of random bytes, as a prompt shows them: one line each, and no access beyond their ends.
static void changed_texts(void) {
  uint32_t seed = 11;
  for (int turn = 0; turn < 2000; turn++) {
    syrch_string_t text = {.ptr = syrch_alloc(24), .len = one_of(&seed, 24)};
    for (size_t i = 0; i < text.len; i++) text.ptr[i] = (uint8_t)one_of(&seed, 256);
    syrch_syntax_t syntax = {.backticks = one_of(&seed, 2), .folds_names = one_of(&seed, 2), .backslash_escapes = one_of(&seed, 2)};
    syrch_catalog_t catalog = {.syntax = syntax};
    syrch_table_t table = {.name = text, .comment = syrch_some(text), .schema_name = {.is_some = one_of(&seed, 2) == 1, .val = text}};
    syrch_push(&table.columns, (syrch_column_t){.name = text, .sql_type = text, .comment = syrch_some(text)});
    syrch_push(&catalog.tables, table);
    syrch_string_t prompt = syrch_prompt_catalog(&catalog, one_of(&seed, 300));
    size_t lines = 0;
    for (size_t i = 0; i < prompt.len; i++) lines += prompt.ptr[i] == '\n';
    SYRCH_CHECK(lines <= 2);
    SYRCH_CHECK(syrch_find_table(&catalog, text) != NULL);
    syrch_literal(&syntax, syrch_fold(syrch_clip(text, one_of(&seed, 30))));
    SYRCH_CHECK(syrch_line(text, 1 + one_of(&seed, 8)).len <= 32);
    if (turn % 100 == 0) syrch_fake_reset();
  }
}

static void settings(void) {
  syrch_string_t wrong = {0};
  SYRCH_CHECK(syrch_is(syrch_settings.mode, "fast") && syrch_settings.rows == 100 && syrch_json_length(syrch_settings.steps) == 1);
  syrch_fake_settings("{\"mode\": \"good\", \"steps\": [1, 2], \"rows\": 7}");
  SYRCH_CHECK(syrch_is(syrch_settings.mode, "good") && syrch_settings.rows == 7 && syrch_json_length(syrch_settings.steps) == 2);
  SYRCH_CHECK(!syrch_read_settings(&syrch_plugin, syrch_text("{\"mode\": \"slow\"}"), &wrong));
  SYRCH_CHECK_TEXT(wrong, "`mode` must be one of fast, good, not \"slow\"");
  SYRCH_CHECK(!syrch_read_settings(&syrch_plugin, syrch_text("{"), &wrong));
  SYRCH_CHECK_TEXT(syrch_slice(wrong, 0, 21), "settings are not JSON");
  const syrch_json *schema = syrch_json_read(syrch_settings_schema(&syrch_plugin), NULL);
  const syrch_json *properties = syrch_json_get(schema, "properties");
  SYRCH_CHECK_TEXT(syrch_json_text(syrch_json_get(syrch_json_get(properties, "mode"), "enum")), "[\"fast\",\"good\"]");
  SYRCH_CHECK_TEXT(syrch_json_text(syrch_json_get(syrch_json_get(properties, "steps"), "type")), "\"array\"");
}

static void failures(void) {
  SYRCH_CHECK(!syrch_fail(SYRCH_FAILURE_KIND_UNSUPPORTED, "no %s", "rows"));
  syrch_failure_t failure = syrch_failure();
  SYRCH_CHECK(failure.kind.tag == SYRCH_FAILURE_KIND_UNSUPPORTED && syrch_is(failure.message, "no rows"));
  SYRCH_CHECK_TEXT(syrch_failure().message, "the role returned false without a failure");
}

static void trials(void) {
  const syrch_value_t cells[] = {syrch_integer(7)};
  syrch_fake_answer("SELECT 7", syrch_fake_column("n", 1, cells));
  syrch_fake_fail_check("BAD", SYRCH_SQL_ERROR_KIND_SYNTAX, "cannot parse");
  syrch_fake_fail_run("GONE", SYRCH_SQL_ERROR_KIND_UNAVAILABLE, "gone");
  syrch_trials_t all = {.overflow_rows = 10};
  syrch_string_t texts[] = {syrch_text("SELECT 7"), syrch_text("BAD"), syrch_text("SELECT 7")};
  SYRCH_CHECK(syrch_try(&all, texts, 3) && syrch_try(&all, texts, 3));
  SYRCH_CHECK(all.len == 2 && syrch_fake.statements.len == 1);
  SYRCH_CHECK(syrch_tried_as(&all, texts[0])->ran->profile.rows == 1);
  SYRCH_CHECK_TEXT(syrch_tried_as(&all, texts[1])->wrong, "cannot parse");
  syrch_string_t gone = syrch_text("GONE");
  SYRCH_CHECK(!syrch_try(&all, &gone, 1));
  SYRCH_CHECK(syrch_failure().retryable);
  SYRCH_CHECK(syrch_fake_open() == 1);
  syrch_drop_all();
  SYRCH_CHECK(syrch_fake_open() == 0);
}

// What a request for a statement gives. Without a reply the model abstains, which is no failure.
static void replies(void) {
  syrch_request_t request = syrch_ask(SYRCH_PURPOSE_GENERATE);
  syrch_expect_sql(&request);
  syrch_fake_sql("SELECT 7", 0.5);
  syrch_fake_reply("I cannot", NULL);
  syrch_fake_llm_error(SYRCH_LLM_ERROR_TOO_LARGE, "");
  syrch_fake_llm_error(SYRCH_LLM_ERROR_BUDGET, "");
  syrch_statement_t made = syrch_ask_statement(&request);
  SYRCH_CHECK(made.how == SYRCH_WROTE_STATEMENT && made.confidence.val == 0.5 && made.tokens == 110);
  SYRCH_CHECK_TEXT(made.sql, "SELECT 7");
  made = syrch_ask_statement(&request);
  SYRCH_CHECK(made.how == SYRCH_WROTE_NOTHING);
  SYRCH_CHECK_TEXT(made.why, "the reply held no statement");
  SYRCH_CHECK(syrch_ask_statement(&request).how == SYRCH_WROTE_TOO_LARGE);
  made = syrch_ask_statement(&request);
  SYRCH_CHECK(made.how == SYRCH_WROTE_FAILED && made.failure.kind.tag == SYRCH_FAILURE_KIND_BUDGET);
  SYRCH_CHECK(syrch_ask_statement(&request).how == SYRCH_WROTE_ABSTAINED);
}

// Appends a letter to the best statement, three times at most.
static bool longer(const syrch_rewrite_t *in, syrch_option_proposal_t *out) {
  if (in->history.len == 3) return true;
  out->is_some = true;
  out->val = syrch_proposal(syrch_concat(in->best, syrch_format("%c", (int)('a' + in->history.len))), "longer",
                            syrch_concat(in->original, syrch_text(": "), in->plan->text));
  return true;
}

static bool no_rewriter(const syrch_rewrite_t *in, syrch_option_proposal_t *out) {
  (void)in, (void)out;
  return syrch_fail(SYRCH_FAILURE_KIND_UNSUPPORTED, "not today");
}

static void rewrites(void) {
  // Only one of the statements has a plan.
  syrch_fake_answer("xb", syrch_fake_column("n", 0, NULL));
  const syrch_trial_t outcomes[] = {
      {.tag = SYRCH_TRIAL_MISMATCH}, {.tag = SYRCH_TRIAL_ACCEPTED, .val = {.accepted = 2}}, {.tag = SYRCH_TRIAL_SLOWER}, {.tag = SYRCH_TRIAL_MISMATCH}};
  const syrch_catalog_t catalog = {0};
  syrch_list_proposal_t proposals;
  SYRCH_CHECK(syrch_fake_rewrites(longer, "x", &catalog, 4, outcomes, &proposals));
  SYRCH_CHECK(proposals.len == 3);
  SYRCH_CHECK_TEXT(proposals.ptr[0].sql, "xa");
  SYRCH_CHECK_TEXT(proposals.ptr[1].sql, "xb");
  SYRCH_CHECK_TEXT(proposals.ptr[2].sql, "xbc");
  SYRCH_CHECK_TEXT(proposals.ptr[0].reason, "x: ");
  SYRCH_CHECK_TEXT(proposals.ptr[2].reason, "x: SCAN");
  SYRCH_CHECK(!syrch_fake_rewrites(no_rewriter, "x", &catalog, 4, outcomes, &proposals) && proposals.len == 0);
  SYRCH_CHECK_TEXT(syrch_failure().message, "not today");
}

int main(void) {
  void (*const tests[])(void) = {memory, panic, texts, json, changed_json, changed_texts, settings, failures, trials, replies, rewrites};
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    syrch_fake_reset();
    tests[i]();
  }
  syrch_reset();
  printf("%zu tests, %d checks failed\n", sizeof tests / sizeof *tests, syrch_failed);
  return syrch_failed != 0;
}
