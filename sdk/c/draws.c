// Several statements for one task: model calls are in flight concurrently, and each statement is tested as its reply arrives. Since never more
// than the voter still needs are in flight, no more draws are made than one after the other would take.

#include "syrch.h"

typedef struct call {
  uint32_t number;
  syrch_option_u32_t repairs;
  // How often the prompts had been made shorter before this request.
  uint32_t shortened;
  syrch_pending_t pending;
} call;

typedef struct calls {
  call *ptr;
  size_t len;
} calls;

struct syrch_drawing_t {
  const syrch_task_t *task;
  uint32_t most, started;
  // Draws are logged in the order of their numbers: how many were logged.
  uint32_t logged;
  uint32_t shortened;
  calls in_flight;
  // The numbers of draws whose prompts were too large and that are to be requested again, ascending.
  syrch_list_u32_t again;
  // The numbers of the draws that the voter was shown.
  syrch_list_u32_t seen;
  syrch_trials_t trials;
  syrch_pool_t pool;
};

syrch_drawing_t *syrch_drawing(const syrch_task_t *task, uint32_t most, uint64_t overflow_rows) {
  syrch_drawing_t *drawing = SYRCH_NEW(syrch_drawing_t);
  drawing->task = task;
  drawing->most = most;
  drawing->trials.overflow_rows = overflow_rows;
  return drawing;
}

syrch_pool_t *syrch_drawn(syrch_drawing_t *drawing) { return &drawing->pool; }
uint32_t syrch_started(const syrch_drawing_t *drawing) { return drawing->started; }

// The number of the draw to start next: one that is requested again, else a new one; 0 if all were started.
static uint32_t next_number(syrch_drawing_t *drawing) {
  if (drawing->again.len > 0) {
    uint32_t number = drawing->again.ptr[0];
    drawing->again.ptr++;
    drawing->again.len--;
    return number;
  }
  return drawing->started < drawing->most ? ++drawing->started : 0;
}

// The draw whose statement is the last of those that a repair is about.
static syrch_option_u32_t repaired(const syrch_pool_t *pool, const syrch_request_t *request) {
  if (request->purpose.tag != SYRCH_PURPOSE_REPAIR || request->subjects.len == 0) return (syrch_option_u32_t){0};
  syrch_string_t sql = request->subjects.ptr[request->subjects.len - 1];
  for (size_t i = pool->len; i > 0; i--) {
    if (syrch_equal(pool->ptr[i - 1].sql, sql)) return syrch_some_u32(pool->ptr[i - 1].number);
  }
  return (syrch_option_u32_t){0};
}

static void start(syrch_drawing_t *drawing, const syrch_voter_t *voter, uint32_t missing) {
  while (drawing->in_flight.len < missing) {
    uint32_t number = next_number(drawing);
    if (number == 0) return;
    syrch_request_t request = voter->request(voter->self, number, &drawing->pool);
    call made = {.number = number, .repairs = repaired(&drawing->pool, &request), .shortened = drawing->shortened};
    made.pending = syrch_start_reply(&request);
    syrch_push(&drawing->in_flight, made);
  }
}

static bool is_awaited(const syrch_drawing_t *drawing, uint32_t number) {
  for (size_t i = 0; i < drawing->again.len; i++) {
    if (drawing->again.ptr[i] == number) return true;
  }
  for (size_t i = 0; i < drawing->in_flight.len; i++) {
    if (drawing->in_flight.ptr[i].number == number) return true;
  }
  return false;
}

// Logs each statement after all with smaller numbers have ended, so that the log does not depend on which call was quicker.
static void report(syrch_drawing_t *drawing) {
  while (drawing->logged < drawing->started) {
    uint32_t number = drawing->logged + 1;
    const syrch_draw_t *draw = syrch_pool_draw(&drawing->pool, number);
    if (draw == NULL && is_awaited(drawing, number)) return;
    if (draw != NULL && draw->sql.len > 0) {
      syrch_candidate_t candidate = syrch_draw_candidate(&drawing->pool, drawing->task, draw, drawing->most);
      syrch_propose(&candidate);
      if (draw->ran == NULL) syrch_discard(candidate.id, draw->wrong);
    }
    drawing->logged = number;
  }
}

static void cancel(syrch_drawing_t *drawing) {
  for (size_t i = 0; i < drawing->in_flight.len; i++) {
    syrch_pending_cancel(drawing->in_flight.ptr[i].pending);
    syrch_pending_drop(drawing->in_flight.ptr[i].pending);
  }
  drawing->in_flight = (calls){0};
  drawing->again = (syrch_list_u32_t){0};
  report(drawing);
}

// Moves the calls that are ready out of those in flight. All count as ready if the wait returns none, so that it never waits for ever.
static calls wait_for_some(syrch_drawing_t *drawing) {
  syrch_list_u32_t tickets = {0};
  for (size_t i = 0; i < drawing->in_flight.len; i++) syrch_push(&tickets, syrch_pending_ticket(drawing->in_flight.ptr[i].pending));
  syrch_list_u32_t ready = syrch_wait(tickets);
  calls ended = {0}, waiting = {0};
  for (size_t i = 0; i < tickets.len; i++) {
    bool is_ready = ready.len == 0;
    for (size_t at = 0; at < ready.len; at++) is_ready |= ready.ptr[at] == tickets.ptr[i];
    syrch_push(is_ready ? &ended : &waiting, drawing->in_flight.ptr[i]);
  }
  drawing->in_flight = waiting;
  return ended;
}

static void insert(syrch_pool_t *pool, syrch_draw_t draw) {
  syrch_push(pool, draw);
  size_t at = pool->len - 1;
  for (; at > 0 && pool->ptr[at - 1].number > draw.number; at--) pool->ptr[at] = pool->ptr[at - 1];
  pool->ptr[at] = draw;
}

static void request_again(syrch_drawing_t *drawing, uint32_t number) {
  syrch_list_u32_t again = {0};
  bool is_in = false;
  for (size_t i = 0; i < drawing->again.len; i++) {
    if (!is_in && drawing->again.ptr[i] >= number) {
      syrch_push(&again, number);
      is_in = true;
    }
    syrch_push(&again, drawing->again.ptr[i]);
  }
  if (!is_in) syrch_push(&again, number);
  drawing->again = again;
}

// Whether a prompt that was too large may be requested again: it was made shorter since, by another draw of its size, or is now.
static bool shorten(syrch_drawing_t *drawing, const syrch_voter_t *voter, uint32_t size) {
  if (size == drawing->shortened && voter->shorten != NULL && voter->shorten(voter->self)) drawing->shortened++;
  return size < drawing->shortened;
}

static void stop(syrch_stopped_t *stopped, syrch_stop how, const syrch_statement_t *why) {
  if (stopped->how == SYRCH_STOP_DONE) *stopped = (syrch_stopped_t){.how = how, .why = why->why, .failure = why->failure};
}

typedef struct statements {
  syrch_draw_t *ptr;
  size_t len;
} statements;

static void read_reply(syrch_drawing_t *drawing, const syrch_voter_t *voter, const call *from, statements *out, syrch_stopped_t *stopped) {
  syrch_reply_result_t reply;
  // A call that is ready without a reply counts as cancelled.
  if (!syrch_pending_get(from->pending, &reply)) reply = (syrch_reply_result_t){.is_err = true, .val = {.err = {.tag = SYRCH_LLM_ERROR_CANCELLED}}};
  syrch_pending_drop(from->pending);
  syrch_statement_t read = syrch_statement_of(&reply);
  syrch_draw_t draw = {.number = from->number, .repairs = from->repairs, .sql = read.sql, .confidence = read.confidence, .wrong = read.why};
  switch (read.how) {
    case SYRCH_WROTE_STATEMENT:
      draw.signals.logprob = read.logprob;
      syrch_push(&draw.signals.extra, (syrch_named_number_t){syrch_text("tokens"), read.tokens});
      syrch_push(out, draw);
      break;
    case SYRCH_WROTE_NOTHING:
      draw.signals.syntax_errors = 1;
      insert(&drawing->pool, draw);
      break;
    case SYRCH_WROTE_TOO_LARGE:
      if (shorten(drawing, voter, from->shortened)) {
        request_again(drawing, from->number);
      } else {
        stop(stopped, SYRCH_STOP_FAILED, &read);
      }
      break;
    case SYRCH_WROTE_ABSTAINED: stop(stopped, SYRCH_STOP_ABSTAINED, &read); break;
    case SYRCH_WROTE_FAILED: stop(stopped, SYRCH_STOP_FAILED, &read); break;
  }
}

// Waits for replies and tests their statements together. False after a failure of the database, which is noted.
static bool receive(syrch_drawing_t *drawing, const syrch_voter_t *voter, syrch_stopped_t *stopped) {
  calls ended = wait_for_some(drawing);
  statements drawn = {0};
  syrch_list_string_t texts = {0};
  for (size_t i = 0; i < ended.len; i++) read_reply(drawing, voter, &ended.ptr[i], &drawn, stopped);
  for (size_t i = 0; i < drawn.len; i++) syrch_push(&texts, drawn.ptr[i].sql);
  bool tested = syrch_try(&drawing->trials, texts.ptr, texts.len);
  for (size_t i = 0; i < drawn.len; i++) {
    syrch_draw_t *draw = &drawn.ptr[i];
    const syrch_trial_run_t *trial = syrch_tried_as(&drawing->trials, draw->sql);
    if (trial == NULL) continue;
    syrch_signals_t signals = trial->signals;
    signals.logprob = draw->signals.logprob;
    signals.extra = draw->signals.extra;
    draw->signals = signals;
    draw->ran = trial->ran;
    draw->wrong = trial->wrong;
    insert(&drawing->pool, *draw);
  }
  return tested;
}

static void show(syrch_drawing_t *drawing, const syrch_voter_t *voter) {
  if (voter->seen == NULL) return;
  for (size_t i = 0; i < drawing->pool.len; i++) {
    const syrch_draw_t *draw = &drawing->pool.ptr[i];
    bool is_new = true;
    for (size_t at = 0; at < drawing->seen.len; at++) is_new &= drawing->seen.ptr[at] != draw->number;
    if (!is_new) continue;
    syrch_push(&drawing->seen, draw->number);
    voter->seen(voter->self, draw);
  }
}

syrch_stopped_t syrch_draw(syrch_drawing_t *drawing, const syrch_voter_t *voter) {
  syrch_stopped_t stopped = {.how = SYRCH_STOP_DONE};
  for (;;) {
    if (stopped.how == SYRCH_STOP_DONE && (drawing->in_flight.len == 0 || !voter->in_rounds)) {
      uint32_t missing = voter->missing(voter->self, &drawing->pool);
      if (missing == 0) break;
      start(drawing, voter, missing);
    }
    if (drawing->in_flight.len == 0) break;
    bool tested = receive(drawing, voter, &stopped);
    if (!tested) {
      cancel(drawing);
      show(drawing, voter);
      return (syrch_stopped_t){.how = SYRCH_STOP_FAILED, .failure = syrch_failure()};
    }
    report(drawing);
    show(drawing, voter);
  }
  cancel(drawing);
  return stopped;
}
