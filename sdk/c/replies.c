// Requests, the schemas of replies, and their readers. They forgive what models get wrong without harm.

#include "syrch.h"

#include <string.h>

syrch_request_t syrch_ask(uint8_t purpose) { return (syrch_request_t){.purpose = {.tag = purpose}, .expect = {.tag = SYRCH_SHAPE_TEXT}}; }

static void add(syrch_request_t *request, syrch_speaker_t speaker, syrch_string_t text) {
  syrch_push(&request->messages, (syrch_message_t){.speaker = speaker, .text = text});
}

void syrch_system(syrch_request_t *request, syrch_string_t text) { add(request, SYRCH_SPEAKER_SYSTEM, text); }
void syrch_user(syrch_request_t *request, syrch_string_t text) { add(request, SYRCH_SPEAKER_USER, text); }
void syrch_assistant(syrch_request_t *request, syrch_string_t text) { add(request, SYRCH_SPEAKER_ASSISTANT, text); }
void syrch_expect_sql(syrch_request_t *request) { request->expect.tag = SYRCH_SHAPE_SQL; }

void syrch_expect_json(syrch_request_t *request, syrch_string_t schema) {
  request->expect.tag = SYRCH_SHAPE_JSON;
  request->expect.val.json = schema;
}

void syrch_expect_choice(syrch_request_t *request, syrch_list_string_t words) {
  request->expect.tag = SYRCH_SHAPE_CHOICE;
  request->expect.val.choice = words;
}

#define HEAD "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
#define STRING "{\"type\":\"string\"}"

syrch_string_t syrch_plan_schema(void) {
  return syrch_text(HEAD
                    "\"title\":\"syrch-plan\",\"type\":\"object\",\"properties\":{\"subtasks\":{\"type\":\"array\",\"minItems\":1,\"items\":"
                    "{\"type\":\"object\",\"properties\":{\"id\":" STRING ",\"description\":" STRING
                    ",\"depends_on\":{\"type\":\"array\",\"items\":" STRING "},\"is_atomic\":{\"type\":\"boolean\"},\"expected_output\":" STRING
                    ",\"join_keys\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"left\":" STRING ",\"left_col\":" STRING
                    ",\"right\":" STRING ",\"right_col\":" STRING ",\"how\":{\"type\":\"string\",\"enum\":[\"inner\",\"left\",\"right\",\"outer\"]}},"
                    "\"required\":[\"left\",\"left_col\",\"right\",\"right_col\"]}}},\"required\":[\"id\",\"description\"]}}},"
                    "\"required\":[\"subtasks\"]}");
}

syrch_string_t syrch_verdict_schema(void) {
  return syrch_text(HEAD
                    "\"title\":\"syrch-verdict\",\"type\":\"object\",\"properties\":{\"accepted\":{\"type\":\"boolean\"},"
                    "\"score\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},\"reason\":" STRING "},\"required\":[\"accepted\",\"score\"]}");
}

static const syrch_json *parsed(const syrch_reply_t *reply) { return reply->parsed.is_some ? syrch_json_read(reply->parsed.val, NULL) : NULL; }

bool syrch_read_sql(const syrch_reply_t *reply, syrch_sql_reply_t *out) {
  const syrch_json *document = parsed(reply);
  *out = (syrch_sql_reply_t){0};
  if (!syrch_json_string(syrch_json_get(document, "sql"), &out->sql)) return false;
  out->sql = syrch_trim(out->sql);
  out->confidence.is_some = syrch_json_number(syrch_json_get(document, "confidence"), &out->confidence.val);
  out->confidence.val = syrch_clamp01(out->confidence.val);
  return out->sql.len > 0;
}

syrch_verdict_t syrch_read_verdict(const syrch_reply_t *reply) {
  const syrch_json *document = parsed(reply);
  bool accepted;
  if (!syrch_json_boolean(syrch_json_get(document, "accepted"), &accepted)) return syrch_unavailable(syrch_text("the judge said neither yes nor no"));
  double score = accepted ? 1 : 0;
  syrch_string_t reason = {0};
  syrch_json_number(syrch_json_get(document, "score"), &score);
  syrch_json_string(syrch_json_get(document, "reason"), &reason);
  return accepted ? syrch_accepted(syrch_clamp01(score), reason) : syrch_rejected(syrch_clamp01(score), reason);
}

// A text that is not empty, without white space at its ends.
static bool read_text(const syrch_json *object, const char *key, syrch_string_t *out) {
  syrch_string_t text;
  if (!syrch_json_string(syrch_json_get(object, key), &text)) return false;
  text = syrch_trim(text);
  if (text.len > 0) *out = text;
  return text.len > 0;
}

static const char *join_how(syrch_string_t name) {
  syrch_string_t word = syrch_lower(syrch_trim(name));
  if (syrch_is(word, "left")) return "left";
  if (syrch_is(word, "right")) return "right";
  return syrch_is(word, "outer") || syrch_is(word, "full") || syrch_is(word, "full outer") ? "outer" : "inner";
}

static syrch_list_join_key_t read_keys(const syrch_json *list) {
  syrch_list_join_key_t keys = {0};
  for (size_t i = 0; i < syrch_json_length(list); i++) {
    const syrch_json *from = syrch_json_at(list, i);
    syrch_join_key_t key = {0};
    syrch_string_t how = syrch_text("inner");
    bool is_whole = read_text(from, "left", &key.left) && read_text(from, "left_col", &key.left_col) && read_text(from, "right", &key.right) &&
                    read_text(from, "right_col", &key.right_col);
    if (!is_whole) continue;
    read_text(from, "how", &how);
    key.how = join_how(how);
    syrch_push(&keys, key);
  }
  return keys;
}

static void read_dependencies(const syrch_json *list, syrch_list_string_t *out) {
  for (size_t i = 0; i < syrch_json_length(list); i++) {
    syrch_string_t id;
    if (!syrch_json_string(syrch_json_at(list, i), &id)) continue;
    id = syrch_trim(id);
    bool is_known = id.len == 0;
    for (size_t at = 0; at < out->len; at++) is_known |= syrch_equal(out->ptr[at], id);
    if (!is_known) syrch_push(out, id);
  }
}

bool syrch_read_plan(const syrch_reply_t *reply, syrch_list_subtask_t *out) {
  const syrch_json *subtasks = syrch_json_get(parsed(reply), "subtasks");
  *out = (syrch_list_subtask_t){0};
  for (size_t i = 0; i < syrch_json_length(subtasks); i++) {
    const syrch_json *from = syrch_json_at(subtasks, i);
    syrch_subtask_t subtask = {.is_atomic = true};
    if (!read_text(from, "id", &subtask.id) || !read_text(from, "description", &subtask.description)) continue;
    read_dependencies(syrch_json_get(from, "depends_on"), &subtask.depends_on);
    syrch_json_boolean(syrch_json_get(from, "is_atomic"), &subtask.is_atomic);
    subtask.expected_output.is_some = read_text(from, "expected_output", &subtask.expected_output.val);
    subtask.join_keys = read_keys(syrch_json_get(from, "join_keys"));
    syrch_push(out, subtask);
  }
  return out->len > 0;
}

static void write_member(syrch_writer *to, const char *key, syrch_string_t text) {
  syrch_write_key(to, key);
  syrch_write_string(to, text);
}

syrch_option_string_t syrch_join_context(syrch_list_join_key_t keys) {
  if (keys.len == 0) return (syrch_option_string_t){0};
  syrch_writer to = {0};
  syrch_write_object(&to);
  syrch_write_key(&to, "join_keys");
  syrch_write_array(&to);
  for (size_t i = 0; i < keys.len; i++) {
    syrch_write_object(&to);
    write_member(&to, "left", keys.ptr[i].left);
    write_member(&to, "left_col", keys.ptr[i].left_col);
    write_member(&to, "right", keys.ptr[i].right);
    write_member(&to, "right_col", keys.ptr[i].right_col);
    write_member(&to, "how", syrch_text(join_how(syrch_text(keys.ptr[i].how == NULL ? "" : keys.ptr[i].how))));
    syrch_write_end(&to);
  }
  syrch_write_end(&to);
  syrch_write_end(&to);
  return syrch_some(syrch_written(&to));
}

syrch_option_string_t syrch_plan_context(syrch_list_string_t steps) {
  if (steps.len == 0) return (syrch_option_string_t){0};
  syrch_writer to = {0};
  syrch_write_object(&to);
  syrch_write_key(&to, "plan");
  syrch_write_array(&to);
  for (size_t i = 0; i < steps.len; i++) syrch_write_string(&to, steps.ptr[i]);
  syrch_write_end(&to);
  syrch_write_end(&to);
  return syrch_some(syrch_written(&to));
}

static const syrch_json *context_of(const syrch_task_t *task) { return task->context.is_some ? syrch_json_read(task->context.val, NULL) : NULL; }

syrch_list_join_key_t syrch_join_keys_of(const syrch_task_t *task) { return read_keys(syrch_json_get(context_of(task), "join_keys")); }

syrch_list_string_t syrch_plan_of(const syrch_task_t *task) {
  const syrch_json *plan = syrch_json_get(context_of(task), "plan");
  syrch_list_string_t steps = {0};
  for (size_t i = 0; i < syrch_json_length(plan); i++) {
    syrch_string_t step;
    if (syrch_json_string(syrch_json_at(plan, i), &step)) syrch_push(&steps, step);
  }
  return steps;
}
