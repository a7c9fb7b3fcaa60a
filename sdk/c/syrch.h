// What the author of a plugin in C needs: memory, texts, JSON, settings, ports, prompts and votes. The types of the contract, such as
// `syrch_candidate_t`, are in bindings.h.
//
// All memory belongs to the call: nothing is freed, and nothing survives. A text is a pointer with a length, in UTF-8, and may hold any
// byte; a list is a pointer with a length, too. What is zero is empty: `{0}` is a valid value of every record.
#ifndef SYRCH_H
#define SYRCH_H

// An assertion holds in every build: a call that ends with its text is better than a wrong answer. Zig sets NDEBUG otherwise.
#undef NDEBUG
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bindings.h"

#if defined(__GNUC__)
#define SYRCH_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))
#define SYRCH_NORETURN __attribute__((__noreturn__))
#else
#define SYRCH_PRINTF(at, first)
#define SYRCH_NORETURN
#endif

// ---- Memory

// Zeroed memory of the call. Without memory the call ends with a message.
void *syrch_alloc(size_t size);
// Zeroed memory of an array.
void *syrch_alloc_array(size_t count, size_t size);
// A zeroed value: `syrch_task_t *task = SYRCH_NEW(syrch_task_t);`
#define SYRCH_NEW(type) ((type *)syrch_alloc(sizeof(type)))
// Adds a value to the end of a list: `syrch_push(&verdicts, syrch_accepted(1, reason));`
#define syrch_push(list, ...) \
  ((list)->ptr = syrch_grow((list)->ptr, (list)->len, sizeof *(list)->ptr), (list)->ptr[(list)->len] = (__VA_ARGS__), (void)(list)->len++)
// Gives a list that many zeroed elements: `syrch_resize(&list, 3);`
#define syrch_resize(list, count) ((list)->ptr = syrch_alloc_array((count), sizeof *(list)->ptr), (list)->len = (count))
// The element at a place; beyond the end the call ends with a message: `syrch_at(&list, i)->name`.
#define syrch_at(list, place) (&(list)->ptr[syrch_checked((place), (list)->len, __FILE__, __LINE__)])
// Frees the memory of a call. Only tests need it.
void syrch_reset(void);

// Ends the call at once with a message, which the user sees after the trap. For what cannot happen; everything else is `syrch_fail`.
SYRCH_NORETURN void syrch_panic(const char *format, ...) SYRCH_PRINTF(1, 2);

void *syrch_grow(void *at, size_t length, size_t size);

// ---- Failures

// Notes why the role cannot do its work, and returns false: `return syrch_fail(SYRCH_FAILURE_KIND_UNSUPPORTED, "no rows");`
bool syrch_fail(uint8_t kind, const char *format, ...) SYRCH_PRINTF(2, 3);
// The same for a failure that is there already, such as `syrch_llm_failure(&error)`.
bool syrch_fail_with(syrch_failure_t failure);
// The failure that was noted last; of kind `internal` if there is none.
syrch_failure_t syrch_failure(void);

// The failure of a role that cannot go on without the model. An outage is of kind `model` and may pass.
syrch_failure_t syrch_llm_failure(const syrch_llm_error_t *error);
// The failure of a role that cannot go on after a statement's failure.
syrch_failure_t syrch_sql_failure(const syrch_sql_error_t *error);
// The failure of a role that cannot go on without that port.
syrch_failure_t syrch_port_failure(const syrch_port_error_t *error);
// A model error in words.
syrch_string_t syrch_llm_words(const syrch_llm_error_t *error);

// ---- Texts

// A text of a C string, without copying it.
syrch_string_t syrch_text(const char *text);
// A copy of bytes.
syrch_string_t syrch_copy(const void *bytes, size_t length);
// A copy that ends with a zero byte, for functions of C.
const char *syrch_c_string(syrch_string_t text);
// Formats as printf does. A text goes in as `%.*s` with `SYRCH_F(text)`.
syrch_string_t syrch_format(const char *format, ...) SYRCH_PRINTF(1, 2);
#define SYRCH_F(text) (int)(text).len, (const char *)(text).ptr
// Texts one after the other: `syrch_concat(name, syrch_text(": "), reason)`.
#define syrch_concat(...) \
  syrch_concat_all((const syrch_string_t[]){__VA_ARGS__}, sizeof((const syrch_string_t[]){__VA_ARGS__}) / sizeof(syrch_string_t))
syrch_string_t syrch_concat_all(const syrch_string_t *parts, size_t count);
// The texts with another between each two.
syrch_string_t syrch_join(const syrch_string_t *parts, size_t count, const char *between);

bool syrch_equal(syrch_string_t a, syrch_string_t b);
bool syrch_is(syrch_string_t text, const char *other);
// Less than, equal to or greater than 0, by bytes.
int syrch_compare(syrch_string_t a, syrch_string_t b);
bool syrch_starts_with(syrch_string_t text, syrch_string_t start);
bool syrch_contains(syrch_string_t text, syrch_string_t part);
// The bytes from one place up to another, as far as the text has them.
syrch_string_t syrch_slice(syrch_string_t text, size_t from, size_t to);
syrch_string_t syrch_replace(syrch_string_t text, const char *old, const char *by);
// Without white space at both ends.
syrch_string_t syrch_trim(syrch_string_t text);
// With the letters A to Z as small ones.
syrch_string_t syrch_lower(syrch_string_t text);
// For comparing without the case of letters: Latin, Greek and Cyrillic.
syrch_string_t syrch_fold(syrch_string_t text);
// One line of at most `limit` characters: white space and control characters become single spaces, and an ellipsis at the end shows that
// something was cut. For text from a database or a model before it becomes a part of a prompt.
syrch_string_t syrch_line(syrch_string_t text, size_t limit);
// At most that many bytes, cut between characters.
syrch_string_t syrch_clip(syrch_string_t text, size_t bytes);
// `1 row`, `2 rows`.
syrch_string_t syrch_count(uint64_t number, const char *noun);
// The shortest digits that give the number again, without an exponent: `0.5`, `2`.
syrch_string_t syrch_decimal(double value);
// A number between 0 and 1; not-a-number becomes 0.
double syrch_clamp01(double value);

// A number for a text (FNV-1a): the same on every machine and in every run.
uint64_t syrch_hash(syrch_string_t text);

// A text that grows.
typedef struct syrch_buffer {
  uint8_t *ptr;
  size_t len, capacity;
} syrch_buffer;
void syrch_put(syrch_buffer *buffer, syrch_string_t text);
void syrch_puts(syrch_buffer *buffer, const char *text);
void syrch_put_char(syrch_buffer *buffer, uint32_t code);
// The text so far.
syrch_string_t syrch_built(const syrch_buffer *buffer);

// The character at a byte, and the place of the next one. A byte that begins no character counts as U+FFFD.
size_t syrch_next_char(syrch_string_t text, size_t at, uint32_t *code);
bool syrch_is_space(uint32_t code);
bool syrch_is_control(uint32_t code);

// Options.
static inline syrch_option_string_t syrch_some(syrch_string_t text) { return (syrch_option_string_t){.is_some = true, .val = text}; }
static inline syrch_option_f64_t syrch_some_f64(double value) { return (syrch_option_f64_t){.is_some = true, .val = value}; }
static inline syrch_option_f32_t syrch_some_f32(float value) { return (syrch_option_f32_t){.is_some = true, .val = value}; }
static inline syrch_option_u32_t syrch_some_u32(uint32_t value) { return (syrch_option_u32_t){.is_some = true, .val = value}; }

size_t syrch_checked(size_t place, size_t length, const char *file, int line);

// ---- JSON

// The most levels of a document that is read or written.
#define SYRCH_JSON_DEPTH 128

typedef enum syrch_json_kind {
  SYRCH_JSON_NULL,
  SYRCH_JSON_BOOLEAN,
  SYRCH_JSON_NUMBER,
  SYRCH_JSON_STRING,
  SYRCH_JSON_ARRAY,
  SYRCH_JSON_OBJECT,
} syrch_json_kind;

// A value. `whole` is set if the number is written without a fraction and fits; `text` is the string, or the number as written.
typedef struct syrch_json {
  syrch_json_kind kind;
  bool boolean, is_whole;
  double number;
  uint64_t whole;
  syrch_string_t text;
  struct syrch_json *items;
  syrch_string_t *keys;
  size_t len;
} syrch_json;

// The value of a text. NULL if it is no JSON; `wrong`, which may be NULL, then says why.
const syrch_json *syrch_json_read(syrch_string_t text, syrch_string_t *wrong);
// A member of an object, or an element of an array; NULL if it is not there. `NULL` goes in as a value without members.
const syrch_json *syrch_json_get(const syrch_json *object, const char *key);
const syrch_json *syrch_json_at(const syrch_json *array, size_t place);
size_t syrch_json_length(const syrch_json *value);
// Reads a value of that type into `out`; false, with `out` as it was, for NULL and for another type.
bool syrch_json_string(const syrch_json *value, syrch_string_t *out);
bool syrch_json_number(const syrch_json *value, double *out);
bool syrch_json_whole(const syrch_json *value, uint64_t *out);
bool syrch_json_boolean(const syrch_json *value, bool *out);
// The value as text.
syrch_string_t syrch_json_text(const syrch_json *value);
// A number as JSON has it: `1.0`, `1e30`, and `null` for one that is not finite.
syrch_string_t syrch_json_decimal(double value);

// Writes a document from its beginning to its end; commas come by themselves. `syrch_writer to = {0};`
typedef struct syrch_writer {
  syrch_buffer text;
  unsigned depth;
  bool after_key;
  uint8_t levels[SYRCH_JSON_DEPTH + 1];
} syrch_writer;
void syrch_write_object(syrch_writer *to);
void syrch_write_array(syrch_writer *to);
void syrch_write_end(syrch_writer *to);
void syrch_write_key(syrch_writer *to, const char *key);
void syrch_write_key_text(syrch_writer *to, syrch_string_t key);
void syrch_write_string(syrch_writer *to, syrch_string_t text);
void syrch_write_number(syrch_writer *to, double number);
void syrch_write_whole(syrch_writer *to, int64_t number);
void syrch_write_boolean(syrch_writer *to, bool value);
void syrch_write_null(syrch_writer *to);
// A text that is JSON already.
void syrch_write_json(syrch_writer *to, syrch_string_t json);
void syrch_write_value(syrch_writer *to, const syrch_json *value);
// The document.
syrch_string_t syrch_written(const syrch_writer *writer);

// ---- The plugin and its settings

/* Settings are declared once, in a list of `X(type, name, default, …, description)`:

     #define SETTINGS(X)                                                                      \
       X(integer, most_rows, 100, 1, 1000000, "Results with more rows are rejected.")         \
       X(number, share, 0.5, 0, 1, "A share.")                                                \
       X(boolean, ask, false, "Whether to ask the model.")                                    \
       X(text, greeting, "hello", "A text.")                                                  \
       X(word, mode, "fast", "fast good", "One of two words.")                                \
       X(document, steps, "[[0, 0.2]]", "{\"type\": \"array\"}", "JSON, with its schema.")
     SYRCH_SETTINGS(SETTINGS)
     SYRCH_PLUGIN("short", "0.1.0", "likes short results", SETTINGS)

   `syrch_settings.most_rows` is then what the user set, or the default. In a plugin of several files the list and SYRCH_SETTINGS stand in a
   header, and SYRCH_PLUGIN in one of the files. A plugin without settings has `SYRCH_NO_SETTINGS` for the list. */
#define SYRCH_SETTINGS(LIST)    \
  struct syrch_settings {       \
    char none;                  \
    LIST(SYRCH_FIELD_)          \
  };                            \
  extern struct syrch_settings syrch_settings;

#define SYRCH_PLUGIN(plugin_name, plugin_version, plugin_summary, LIST)                 \
  struct syrch_settings syrch_settings;                                                 \
  static const syrch_setting_t syrch_declared[] = {LIST(SYRCH_ROW_){.name = NULL}};     \
  const syrch_plugin_t syrch_plugin = {                                                 \
      .name = plugin_name,                                                              \
      .version = plugin_version,                                                        \
      .summary = plugin_summary,                                                        \
      .declared = syrch_declared,                                                       \
      .count = sizeof syrch_declared / sizeof *syrch_declared - 1,                      \
      .settings = &syrch_settings,                                                      \
  };

#define SYRCH_NO_SETTINGS(X)

#define SYRCH_FIELD_(type, name, ...) SYRCH_TYPE_##type name;
#define SYRCH_TYPE_integer uint64_t
#define SYRCH_TYPE_number double
#define SYRCH_TYPE_boolean bool
#define SYRCH_TYPE_text syrch_string_t
#define SYRCH_TYPE_word syrch_string_t
#define SYRCH_TYPE_document const syrch_json *

#define SYRCH_ROW_(type, field, ...) {.name = #field, .offset = offsetof(struct syrch_settings, field), SYRCH_ROW_##type(__VA_ARGS__)},
#define SYRCH_ROW_integer(value, low, high, about) .type = SYRCH_SETTING_INTEGER, .number = value, .least = low, .greatest = high, .description = about
#define SYRCH_ROW_number(value, low, high, about) .type = SYRCH_SETTING_NUMBER, .number = value, .least = low, .greatest = high, .description = about
#define SYRCH_ROW_boolean(value, about) .type = SYRCH_SETTING_BOOLEAN, .number = value, .description = about
#define SYRCH_ROW_text(value, about) .type = SYRCH_SETTING_TEXT, .text = value, .description = about
#define SYRCH_ROW_word(value, all, about) .type = SYRCH_SETTING_WORD, .text = value, .words = all, .description = about
#define SYRCH_ROW_document(value, schema, about) .type = SYRCH_SETTING_DOCUMENT, .text = value, .words = schema, .description = about

typedef enum syrch_setting_type {
  SYRCH_SETTING_INTEGER,
  SYRCH_SETTING_NUMBER,
  SYRCH_SETTING_BOOLEAN,
  SYRCH_SETTING_TEXT,
  SYRCH_SETTING_WORD,
  SYRCH_SETTING_DOCUMENT,
} syrch_setting_type;

// A declared setting. `text`: the default of a text, a word or a document. `words`: those of a word, or the schema of a document.
typedef struct syrch_setting_t {
  const char *name;
  size_t offset;
  syrch_setting_type type;
  double number, least, greatest;
  const char *text, *words, *description;
} syrch_setting_t;

typedef struct syrch_plugin_t {
  const char *name, *version, *summary;
  const syrch_setting_t *declared;
  size_t count;
  void *settings;
} syrch_plugin_t;

// What SYRCH_PLUGIN declared.
extern const syrch_plugin_t syrch_plugin;

// The JSON Schema of the settings.
syrch_string_t syrch_settings_schema(const syrch_plugin_t *plugin);
// Sets the settings; what is not given has its default. False if they do not fit, and `wrong` says why.
bool syrch_read_settings(const syrch_plugin_t *plugin, syrch_string_t config, syrch_string_t *wrong);

// ---- Roles: an author defines the functions of the roles that plugin.yml names. Each returns true with `*out` filled in, which is zero
// before, or false after `syrch_fail`. What a role gets and returns is described in wit/roles.wit.

typedef struct syrch_link_t {
  const syrch_problem_t *problem;
  const syrch_catalog_t *catalog;
} syrch_link_t;
bool syrch_link(const syrch_link_t *in, syrch_linked_t *out);

typedef syrch_link_t syrch_first_plan_t;
bool syrch_plan(const syrch_first_plan_t *in, syrch_graph_t *out);

typedef struct syrch_next_t {
  const syrch_problem_t *problem;
  const syrch_catalog_t *catalog;
  const syrch_graph_t *graph;
  syrch_list_observation_t seen;
  size_t fresh;
} syrch_next_t;
// Without a definition the graph stays as it is.
bool syrch_next(const syrch_next_t *in, syrch_step_t *out);

typedef struct syrch_solve_t {
  const syrch_problem_t *problem;
  const syrch_catalog_t *catalog;
  const syrch_task_t *task;
  syrch_list_parent_t parents;
} syrch_solve_t;
bool syrch_solve(const syrch_solve_t *in, syrch_outcome_t *out);

// A claim: `f0` is the raw confidence, and `f1` has the signals.
typedef struct syrch_calibrate_t {
  syrch_list_claim_t claims;
} syrch_calibrate_t;
bool syrch_calibrate(const syrch_calibrate_t *in, syrch_list_f64_t *out);

typedef struct syrch_judge_t {
  const syrch_problem_t *problem;
  const syrch_catalog_t *catalog;
  const syrch_task_t *task;
  syrch_list_rival_t rivals;
} syrch_judge_t;
bool syrch_judge(const syrch_judge_t *in, syrch_list_verdict_t *out);

typedef struct syrch_assess_t {
  const syrch_problem_t *problem;
  const syrch_catalog_t *catalog;
  const syrch_graph_t *graph;
  syrch_list_observation_t seen;
} syrch_assess_t;
bool syrch_assess(const syrch_assess_t *in, syrch_list_question_t *out);

typedef struct syrch_aggregate_t {
  const syrch_problem_t *problem;
  const syrch_graph_t *graph;
  syrch_list_finished_t finished;
  syrch_list_observation_t seen;
} syrch_aggregate_t;
bool syrch_aggregate(const syrch_aggregate_t *in, syrch_option_answer_t *out);

typedef struct syrch_rewrite_t {
  syrch_string_t original, best;
  const syrch_plan_t *plan;
  const syrch_catalog_t *catalog;
  syrch_list_attempt_t history;
} syrch_rewrite_t;
bool syrch_rewrite(const syrch_rewrite_t *in, syrch_option_proposal_t *out);

// ---- Values

// A verdict with a score of 0 to 1 and the reason.
syrch_verdict_t syrch_accepted(double score, syrch_string_t reason);
syrch_verdict_t syrch_rejected(double score, syrch_string_t reason);
syrch_verdict_t syrch_unavailable(syrch_string_t reason);
// A task for the solver, without dependencies.
syrch_task_t syrch_task(syrch_string_t id, syrch_string_t text);
// A graph of one task, which gives the answer.
syrch_graph_t syrch_single(syrch_task_t task);
// The task of that id; NULL if there is none.
const syrch_task_t *syrch_find_task(const syrch_graph_t *graph, syrch_string_t id);
// How sure one may be of a candidate: the calibrated confidence, else what the model claimed, else 0.
double syrch_sureness(const syrch_candidate_t *candidate);
// The id of a task's numbered candidate: `TASK.NUMBER`, shortened if the host would not allow it.
syrch_string_t syrch_candidate_id(syrch_string_t task, uint32_t number);
syrch_proposal_t syrch_proposal(syrch_string_t sql, const char *family, syrch_string_t reason);

#include "ports.h"
#include "strategy.h"

#endif
