#include "fakes.h"

#include <string.h>

static void answer(const char *sql, int64_t number, double confidence) {
  const syrch_value_t cells[] = {syrch_integer(number)};
  syrch_fake_sql(sql, confidence);
  syrch_fake_answer(sql, syrch_fake_column("n", 1, cells));
}

static syrch_outcome_t solved(void) {
  syrch_problem_t problem = {.question = syrch_text("How many?")};
  syrch_catalog_t catalog = {.database = syrch_text("shop")};
  syrch_task_t task = syrch_task(syrch_text("A"), problem.question);
  syrch_solve_t in = {.problem = &problem, .catalog = &catalog, .task = &task};
  syrch_outcome_t out = {0};
  SYRCH_CHECK(syrch_solve(&in, &out));
  return out;
}

static void check_log(const char *const *lines, size_t count) {
  SYRCH_CHECK(syrch_fake.log.len == count);
  for (size_t i = 0; i < count && i < syrch_fake.log.len; i++) SYRCH_CHECK_TEXT(syrch_fake.log.ptr[i], lines[i]);
}

static void most_votes_win(void) {
  syrch_fake_settings("{\"samples\": 5}");
  answer("SELECT 1", 1, 0.9);
  answer("SELECT 2", 2, 0.2);
  syrch_fake_sql("BAD", 0.9);
  answer("SELECT  2", 2, 0.3);
  syrch_fake_reply("no idea", NULL);
  syrch_outcome_t out = solved();
  SYRCH_CHECK(out.candidates.len == 2 && syrch_fake.requests.len == 5);
  SYRCH_CHECK(syrch_fake.requests.ptr[4].sample == 4 && syrch_fake.requests.ptr[4].temperature.val == 0.7f);
  SYRCH_CHECK_TEXT(out.candidates.ptr[0].id, "A.2");
  SYRCH_CHECK_TEXT(out.candidates.ptr[0].rationale.val, "2 of 3 results");
  SYRCH_CHECK(out.candidates.ptr[0].signals.agreeing == 2 && out.candidates.ptr[0].signals.samples == 3);
  const char *log[] = {"propose A.1: SELECT 1",       "propose A.2: SELECT 2",
                       "propose A.3: BAD",            "propose A.4: SELECT  2",
                       "discard A.1: 1 of 3 results", "keep A.2: 2 of 3 results",
                       "discard A.3: nothing is scripted for this statement", "discard A.4: the same result as A.2"};
  check_log(log, sizeof log / sizeof *log);
}

static void confidence_decides_between_equal_votes(void) {
  answer("SELECT 1", 1, 0.5);
  answer("SELECT 2", 2, 0.8);
  answer("SELECT 3", 3, 0.8);
  syrch_outcome_t out = solved();
  SYRCH_CHECK(out.candidates.len == 3);
  SYRCH_CHECK_TEXT(out.candidates.ptr[0].id, "A.2");
  SYRCH_CHECK_TEXT(out.candidates.ptr[2].id, "A.1");
}

static void no_statement_is_an_empty_outcome(void) {
  syrch_outcome_t out = solved();
  SYRCH_CHECK(out.candidates.len == 0);
  const char *log[] = {"warn: no statement: the model provider gave no answer: no reply is scripted for this call"};
  check_log(log, 1);
}

static void no_result_is_an_empty_outcome(void) {
  for (int i = 0; i < 3; i++) syrch_fake_sql("BAD", 0.5);
  syrch_outcome_t out = solved();
  SYRCH_CHECK(out.candidates.len == 0 && out.memo.is_some);
  SYRCH_CHECK_TEXT(syrch_fake.log.ptr[syrch_fake.log.len - 1], "warn: no statement ran: nothing is scripted for this statement");
}

int main(void) {
  void (*const tests[])(void) = {most_votes_win, confidence_decides_between_equal_votes, no_statement_is_an_empty_outcome, no_result_is_an_empty_outcome};
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    syrch_fake_reset();
    tests[i]();
  }
  syrch_reset();
  return syrch_failed != 0;
}
