// A host for tests that run natively: a scripted model, the answers of a database, verdicts, and a record of what the plugin did. The
// functions below write the script; then a test calls the role's function, such as `syrch_judge`, like any other.
#ifndef SYRCH_FAKES_H
#define SYRCH_FAKES_H

#include "syrch.h"

#include <stdio.h>

// Forgets the script and the record, and frees the memory of the call. The settings get their defaults.
void syrch_fake_reset(void);
// Sets the settings as the host does: `syrch_fake_settings("{\"most_rows\": 2}")`. A text that does not fit ends the test.
void syrch_fake_settings(const char *json);

// What the ports `run` answer. Tests may change it.
typedef struct syrch_fake_t {
  syrch_policy_t policy;
  syrch_budget_t budget;
  uint64_t seed;
  // The milliseconds of all pauses, which take no time.
  uint64_t paused;
  // How many rows of a result a role may read; none: `rows.read` and `cells` answer `denied`.
  syrch_option_u32_t granted_rows;
  // The record: the requests to the model, the statements that ran, and the lines of the log, such as `keep A.1: 2 of 3 results`.
  syrch_list_request_t requests;
  syrch_list_string_t statements, log;
} syrch_fake_t;
extern syrch_fake_t syrch_fake;

// The next reply of the model: a statement with a confidence (below 0: none), any text with its parsed JSON (NULL: none), or an error.
// More calls than replies get `refused`.
void syrch_fake_sql(const char *sql, double confidence);
void syrch_fake_reply(const char *text, const char *parsed);
void syrch_fake_llm_error(uint8_t tag, const char *why);

// This statement passes its check and gives these rows. A statement without a script fails its check as `syntax`.
void syrch_fake_answer(const char *sql, syrch_page_t rows);
// A page of one column: `syrch_fake_column("n", 2, (const syrch_value_t[]){…})`, and the handle that a role gets of rows.
syrch_page_t syrch_fake_column(const char *name, size_t count, const syrch_value_t *cells);
syrch_results_t syrch_fake_results(syrch_page_t rows);
// This statement fails its check, or passes it and fails when it is run.
void syrch_fake_fail_check(const char *sql, syrch_sql_error_kind_t kind, const char *message);
void syrch_fake_fail_run(const char *sql, syrch_sql_error_kind_t kind, const char *message);
// The verdict on a statement; without one the judge is `unavailable`.
void syrch_fake_verdict(const char *sql, syrch_verdict_t verdict);
// A setting of the port `run`, and the hits of the next call of `retrieval.find` or `cells.find`.
void syrch_fake_setting(const char *name, const char *json);
void syrch_fake_hits(syrch_list_hit_t hits);

typedef struct syrch_list_proposal_t {
  syrch_proposal_t *ptr;
  size_t len;
} syrch_list_proposal_t;
// Calls a rewriter as the optimizer does: once for each of the trials, which are the outcomes of its proposals in order. An accepted proposal is the
// best statement from then on. The proposals are fewer than the trials if the rewriter had no more. False after a failure of the rewriter:
// `syrch_fake_rewrites(syrch_rewrite, "SELECT …", &catalog, 2, (const syrch_trial_t[]){…}, &proposals)`.
bool syrch_fake_rewrites(bool (*rewrite)(const syrch_rewrite_t *in, syrch_option_proposal_t *out), const char *original, const syrch_catalog_t *catalog,
                         size_t count, const syrch_trial_t *trials, syrch_list_proposal_t *proposals);

// How many handles are not dropped.
size_t syrch_fake_open(void);

static inline syrch_value_t syrch_integer(int64_t value) { return (syrch_value_t){.tag = SYRCH_VALUE_INTEGER, .val = {.integer = value}}; }
static inline syrch_value_t syrch_text_value(const char *text) { return (syrch_value_t){.tag = SYRCH_VALUE_TEXT, .val = {.text = syrch_text(text)}}; }

// A check of a test: it prints what failed, and `main` returns `syrch_failed != 0`.
extern int syrch_failed;
#define SYRCH_CHECK(condition) \
  ((condition) ? (void)0 : (void)(syrch_failed++, fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition)))
// A check of a text.
#define SYRCH_CHECK_TEXT(text, expected) syrch_check_text((text), (expected), __FILE__, __LINE__)
void syrch_check_text(syrch_string_t text, const char *expected, const char *file, int line);

#endif
