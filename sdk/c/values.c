// Failures, short makers for values, and the handles of the call.

#include "syrch.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static bool has_failed;
static syrch_failure_t noted;

bool syrch_fail(uint8_t kind, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = syrch_alloc(length < 0 ? 1 : (size_t)length + 1);
  if (length > 0) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return syrch_fail_with((syrch_failure_t){.kind = {.tag = kind}, .message = syrch_text(text)});
}

bool syrch_fail_with(syrch_failure_t failure) {
  has_failed = true;
  noted = failure;
  return false;
}

syrch_failure_t syrch_failure(void) {
  static const char none[] = "the role returned false without a failure";
  if (!has_failed) return (syrch_failure_t){.kind = {.tag = SYRCH_FAILURE_KIND_INTERNAL}, .message = syrch_text(none)};
  has_failed = false;
  return noted;
}

size_t syrch_checked(size_t place, size_t length, const char *file, int line) {
  if (place < length) return place;
  const char *name = file;
  for (const char *at = file; *at != 0; at++) {
    if (*at == '/' || *at == '\\') name = at + 1;
  }
  syrch_panic("%s:%d: there is no element %zu in a list of %zu", name, line, place, length);
}

syrch_string_t syrch_llm_words(const syrch_llm_error_t *error) {
  switch (error->tag) {
    case SYRCH_LLM_ERROR_BUDGET: return syrch_text("the model budget is used up");
    case SYRCH_LLM_ERROR_DENIED: return syrch_concat(syrch_text("the model call was denied: "), error->val.denied);
    case SYRCH_LLM_ERROR_REFUSED: return syrch_concat(syrch_text("the model provider gave no answer: "), error->val.refused);
    case SYRCH_LLM_ERROR_TOO_LARGE: return syrch_text("the prompt or the reply is over the limit");
    case SYRCH_LLM_ERROR_MALFORMED:
      return syrch_concat(syrch_text("the model's reply has another shape than asked for: "), syrch_line(error->val.malformed, 120));
    case SYRCH_LLM_ERROR_UNSUPPORTED: return syrch_concat(syrch_text("the model provider cannot do this: "), error->val.unsupported);
    case SYRCH_LLM_ERROR_CANCELLED: return syrch_text("the model call was cancelled");
    case SYRCH_LLM_ERROR_UNAVAILABLE: return syrch_concat(syrch_text("the model cannot be reached: "), error->val.unavailable);
    default: return error->val.other;
  }
}

syrch_failure_t syrch_llm_failure(const syrch_llm_error_t *error) {
  uint8_t kind = error->tag == SYRCH_LLM_ERROR_BUDGET        ? SYRCH_FAILURE_KIND_BUDGET
                 : error->tag == SYRCH_LLM_ERROR_CANCELLED   ? SYRCH_FAILURE_KIND_CANCELLED
                 : error->tag == SYRCH_LLM_ERROR_UNSUPPORTED ? SYRCH_FAILURE_KIND_UNSUPPORTED
                                                             : SYRCH_FAILURE_KIND_MODEL;
  return (syrch_failure_t){.kind = {.tag = kind}, .message = syrch_llm_words(error), .retryable = error->tag == SYRCH_LLM_ERROR_UNAVAILABLE};
}

syrch_failure_t syrch_sql_failure(const syrch_sql_error_t *error) {
  uint8_t kind = error->kind == SYRCH_SQL_ERROR_KIND_BUDGET      ? SYRCH_FAILURE_KIND_BUDGET
                 : error->kind == SYRCH_SQL_ERROR_KIND_CANCELLED ? SYRCH_FAILURE_KIND_CANCELLED
                                                                 : SYRCH_FAILURE_KIND_DATABASE;
  return (syrch_failure_t){.kind = {.tag = kind}, .message = error->message, .retryable = error->kind == SYRCH_SQL_ERROR_KIND_UNAVAILABLE};
}

syrch_failure_t syrch_port_failure(const syrch_port_error_t *error) {
  uint8_t kind = SYRCH_FAILURE_KIND_INTERNAL;
  syrch_string_t message = error->val.other;
  switch (error->tag) {
    case SYRCH_PORT_ERROR_DENIED:
      kind = SYRCH_FAILURE_KIND_UNSUPPORTED;
      message = syrch_concat(syrch_text("denied: "), error->val.denied);
      break;
    case SYRCH_PORT_ERROR_UNSUPPORTED:
      kind = SYRCH_FAILURE_KIND_UNSUPPORTED;
      message = syrch_text("not supported here");
      break;
    case SYRCH_PORT_ERROR_UNKNOWN_NAME:
      kind = SYRCH_FAILURE_KIND_INPUT;
      message = syrch_concat(syrch_text("unknown name `"), error->val.unknown_name, syrch_text("`"));
      break;
    case SYRCH_PORT_ERROR_BUDGET:
      kind = SYRCH_FAILURE_KIND_BUDGET;
      message = syrch_text("the budget is used up");
      break;
    case SYRCH_PORT_ERROR_UNAVAILABLE:
      kind = SYRCH_FAILURE_KIND_DATABASE;
      message = error->val.unavailable;
      break;
    default: break;
  }
  return (syrch_failure_t){.kind = {.tag = kind}, .message = message};
}

syrch_verdict_t syrch_accepted(double score, syrch_string_t reason) {
  return (syrch_verdict_t){.tag = SYRCH_VERDICT_ACCEPTED, .val = {.accepted = {.score = score, .reason = reason}}};
}

syrch_verdict_t syrch_rejected(double score, syrch_string_t reason) {
  return (syrch_verdict_t){.tag = SYRCH_VERDICT_REJECTED, .val = {.rejected = {.score = score, .reason = reason}}};
}

syrch_verdict_t syrch_unavailable(syrch_string_t reason) {
  return (syrch_verdict_t){.tag = SYRCH_VERDICT_UNAVAILABLE, .val = {.unavailable = reason}};
}

syrch_task_t syrch_task(syrch_string_t id, syrch_string_t text) { return (syrch_task_t){.id = id, .text = text}; }

syrch_graph_t syrch_single(syrch_task_t task) {
  syrch_graph_t graph = {.answer = task.id};
  syrch_push(&graph.tasks, task);
  return graph;
}

const syrch_task_t *syrch_find_task(const syrch_graph_t *graph, syrch_string_t id) {
  for (size_t i = 0; i < graph->tasks.len; i++) {
    if (syrch_equal(graph->tasks.ptr[i].id, id)) return &graph->tasks.ptr[i];
  }
  return NULL;
}

double syrch_sureness(const syrch_candidate_t *candidate) {
  double value = candidate->confidence.is_some ? candidate->confidence.val : candidate->raw_confidence.is_some ? candidate->raw_confidence.val : 0;
  return isfinite(value) ? value : 0;
}

uint64_t syrch_hash(syrch_string_t text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < text.len; i++) hash = (hash ^ text.ptr[i]) * 0x100000001b3u;
  return hash;
}

syrch_string_t syrch_candidate_id(syrch_string_t task, uint32_t number) {
  syrch_string_t end = syrch_format(".%" PRIu32, number);
  if (task.len + end.len <= 64) return syrch_concat(task, end);
  // Two tasks may have the same head: a hash of the whole id distinguishes them.
  return syrch_concat(syrch_slice(task, 0, 32), syrch_format(".%016" PRIx64, syrch_hash(task)), end);
}

syrch_proposal_t syrch_proposal(syrch_string_t sql, const char *family, syrch_string_t reason) {
  return (syrch_proposal_t){.sql = sql, .family = syrch_text(family), .reason = reason};
}

typedef struct owned {
  int32_t handle;
  void (*drop)(int32_t);
} owned;

static struct {
  owned *ptr;
  size_t len;
} handles;

void syrch_own(int32_t handle, void (*drop)(int32_t)) { syrch_push(&handles, (owned){.handle = handle, .drop = drop}); }

void syrch_disown(int32_t handle, void (*drop)(int32_t)) {
  for (size_t i = handles.len; i > 0; i--) {
    owned *at = &handles.ptr[i - 1];
    if (at->handle == handle && at->drop == drop) {
      at->drop = NULL;
      return;
    }
  }
}

void syrch_drop_all(void) {
  for (size_t i = handles.len; i > 0; i--) {
    if (handles.ptr[i - 1].drop != NULL) handles.ptr[i - 1].drop(handles.ptr[i - 1].handle);
  }
  handles.ptr = NULL;
  handles.len = 0;
}
