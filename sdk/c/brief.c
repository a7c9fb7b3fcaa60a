// The prompt of a statement and of its repair: the catalog, the task, its plan, what its dependencies found, and what was tried before.

#include "syrch.h"

#include <inttypes.h>

// Enough to repair by, and a bound on what a hostile reply can put into the next prompt.
#define STATEMENT 4000u
#define TASK 2000u
#define COLUMNS 50u
// The most bytes of all solved examples before the question.
#define EXAMPLES 6000u
// The fewest bytes to which the catalog is shortened.
#define LEAST 500u

static void put_line(syrch_buffer *out, const char *label, syrch_string_t text) {
  syrch_puts(out, label);
  syrch_put(out, text);
  syrch_puts(out, "\n");
}

static void put_plan(syrch_buffer *out, const syrch_task_t *task) {
  syrch_list_string_t steps = syrch_plan_of(task);
  if (steps.len > 0) syrch_puts(out, "A plan of the statement:\n");
  for (size_t i = 0; i < steps.len; i++) {
    syrch_put(out, syrch_format("%zu. ", i + 1));
    put_line(out, "", syrch_line(steps.ptr[i], 600));
  }
}

static syrch_string_t hit_text(const syrch_hit_t *hit) {
  syrch_string_t path = syrch_line(hit->path, 120);
  syrch_string_t snippet = hit->snippet.is_some ? syrch_trim(hit->snippet.val) : syrch_text("");
  return snippet.len == 0 ? path : syrch_concat(path, syrch_text(" ("), syrch_line(snippet, syrch_hit_most(hit)), syrch_text(")"));
}

static void put_relation(syrch_buffer *out, uint32_t parent_rows, const syrch_syntax_t *syntax, const syrch_relation_t *relation, syrch_string_t reported) {
  syrch_profile_t profile = syrch_profile(relation->results);
  syrch_list_string_t columns = {0};
  for (size_t i = 0; i < profile.columns.len && i < COLUMNS; i++) syrch_push(&columns, syrch_shown(syntax, profile.columns.ptr[i].column.name));
  if (profile.columns.len > COLUMNS) syrch_push(&columns, syrch_format("and %zu more", profile.columns.len - COLUMNS));
  syrch_put(out, syrch_concat(syrch_text("The result of \""), reported, syrch_text("\" can stand in FROM as "), syrch_shown(syntax, relation->name),
                              syrch_text(" ("), syrch_join(columns.ptr, columns.len, ", "), syrch_text("), "), syrch_count(profile.rows, "row"),
                              syrch_text(".\n")));
  if (parent_rows == 0 || profile.rows == 0) return;
  syrch_page_t page;
  syrch_port_error_t error;
  // Without the grant there is only the shape.
  if (!syrch_read(relation->results, 0, parent_rows, &page, &error)) return;
  syrch_puts(out, "Its first rows:\n");
  syrch_put(out, syrch_prompt_rows(&page));
}

static void put_found(syrch_buffer *out, uint32_t parent_rows, const syrch_syntax_t *syntax, const syrch_parent_t *parent) {
  syrch_string_t reported = syrch_line(parent->task.text, 300);
  syrch_list_string_t hits = {0};
  switch (parent->output.tag) {
    case SYRCH_OUTPUT_RELATION: put_relation(out, parent_rows, syntax, &parent->output.val.relation, reported); break;
    case SYRCH_OUTPUT_HITS:
      for (size_t i = 0; i < parent->output.val.hits.len && i < 20; i++) syrch_push(&hits, hit_text(&parent->output.val.hits.ptr[i]));
      syrch_put(out, syrch_concat(syrch_text("Found for \""), reported, syrch_text("\": "), syrch_join(hits.ptr, hits.len, ", "), syrch_text("\n")));
      break;
    case SYRCH_OUTPUT_FAILED:
      syrch_put(out, syrch_concat(syrch_text("There is no result for \""), reported, syrch_text("\": "),
                                  syrch_line(parent->output.val.failed.message, 300), syrch_text("\n")));
      break;
    default: break;
  }
}

// The relation of that parent; NULL if it has none.
static const syrch_relation_t *relation_of(syrch_list_parent_t parents, syrch_string_t id) {
  for (size_t i = 0; i < parents.len; i++) {
    if (!syrch_equal(parents.ptr[i].task.id, id)) continue;
    return parents.ptr[i].output.tag == SYRCH_OUTPUT_RELATION ? &parents.ptr[i].output.val.relation : NULL;
  }
  return NULL;
}

static void put_join_hints(syrch_buffer *out, const syrch_syntax_t *syntax, const syrch_task_t *task, syrch_list_parent_t parents) {
  syrch_list_join_key_t keys = syrch_join_keys_of(task);
  for (size_t i = 0; i < keys.len; i++) {
    const syrch_join_key_t *key = &keys.ptr[i];
    const syrch_relation_t *left = relation_of(parents, key->left), *right = relation_of(parents, key->right);
    syrch_string_t left_col = syrch_shown(syntax, key->left_col), right_col = syrch_shown(syntax, key->right_col), dot = syrch_text(".");
    if (left == NULL && right == NULL) continue;
    syrch_puts(out, "Join hint: ");
    if (left != NULL && right != NULL) {
      syrch_put(out, syrch_concat(syrch_shown(syntax, left->name), dot, left_col, syrch_text(" = "), syrch_shown(syntax, right->name), dot, right_col,
                                  syrch_text(" ("), syrch_text(key->how), syrch_text(")\n")));
    } else if (left != NULL) {
      syrch_put(out, syrch_concat(syrch_shown(syntax, left->name), dot, left_col, syrch_text(" matches "), right_col, syrch_text("\n")));
    } else {
      syrch_put(out, syrch_concat(syrch_shown(syntax, right->name), dot, right_col, syrch_text(" matches "), left_col, syrch_text("\n")));
    }
  }
}

syrch_brief_t syrch_brief(const syrch_solve_t *in, uint32_t catalog_bytes, uint32_t parent_rows) {
  const syrch_task_t *task = in->task;
  const syrch_syntax_t *syntax = &in->catalog->syntax;
  syrch_buffer out = {0};
  syrch_problem_t plain = *in->problem, asked = *in->problem;
  syrch_list_hit_t facts = {0}, known = {0}, others = {0};
  syrch_list_example_t examples = {0};
  for (size_t i = 0; i < in->problem->hints.len; i++) {
    const syrch_hit_t *hit = &in->problem->hints.ptr[i];
    syrch_example_t example;
    if (syrch_is_fact(hit)) {
      syrch_push(&facts, *hit);
      continue;
    }
    syrch_push(&known, *hit);
    if (hit->corpus.tag != SYRCH_CORPUS_EXAMPLES) {
      syrch_push(&others, *hit);
    } else if (syrch_example_of(hit, &example)) {
      syrch_push(&examples, example);
    }
  }
  plain.hints.ptr = known.ptr;
  plain.hints.len = known.len;
  asked.hints.ptr = others.ptr;
  asked.hints.len = others.len;
  if (!syrch_equal(syrch_trim(task->text), syrch_trim(in->problem->question))) {
    put_line(&out, "The question above is the setting. Your task is this part of it: ", syrch_line(task->text, TASK));
  }
  if (task->expected.is_some) put_line(&out, "The result should be: ", syrch_line(task->expected.val, 400));
  put_plan(&out, task);
  for (size_t i = 0; i < in->parents.len; i++) put_found(&out, parent_rows, syntax, &in->parents.ptr[i]);
  put_join_hints(&out, syntax, task, in->parents);
  return (syrch_brief_t){
      .catalog = in->catalog,
      .catalog_bytes = catalog_bytes,
      .facts = syrch_prompt_hints(facts),
      .problem = syrch_prompt_problem(&plain),
      .asked = syrch_prompt_problem(&asked),
      .examples = examples,
      .rest = syrch_built(&out),
      .metric_request = syrch_metric_request(in->problem),
  };
}

static syrch_string_t tables(const syrch_brief_t *brief) {
  return syrch_concat(syrch_text("Tables:\n"), syrch_prompt_catalog(brief->catalog, brief->catalog_bytes), brief->facts);
}

bool syrch_shorten(syrch_brief_t *brief) {
  if (brief->problem.len > brief->asked.len) {
    brief->examples.len = 0;
    brief->problem = brief->asked;
    return true;
  }
  if (brief->facts.len > 0) {
    brief->facts.len = 0;
    return true;
  }
  size_t before = tables(brief).len;
  while (brief->catalog_bytes >= 2 * LEAST && tables(brief).len == before) brief->catalog_bytes /= 2;
  return tables(brief).len < before;
}

// The solved examples that fit, the most like the question first.
static syrch_list_example_t shown_examples(const syrch_brief_t *brief) {
  syrch_list_example_t shown = {0};
  size_t left = EXAMPLES;
  for (size_t i = 0; i < brief->examples.len; i++) {
    size_t bytes = brief->examples.ptr[i].question.len + brief->examples.ptr[i].sql.len;
    if (bytes > left) continue;
    left -= bytes;
    syrch_push(&shown, brief->examples.ptr[i]);
  }
  return shown;
}

syrch_request_t syrch_brief_request(const syrch_brief_t *brief, syrch_list_tried_t tried, uint32_t sample) {
  syrch_list_string_t subjects = {0};
  for (size_t i = 0; i < tried.len; i++) {
    if (tried.ptr[i].sql.len > 0) syrch_push(&subjects, tried.ptr[i].sql);
  }
  syrch_request_t request = syrch_ask(subjects.len == 0 ? SYRCH_PURPOSE_GENERATE : SYRCH_PURPOSE_REPAIR);
  syrch_list_example_t examples = shown_examples(brief);
  if (examples.len == 0) {
    syrch_system(&request, syrch_brief_instructions(brief));
    syrch_user(&request, syrch_concat(syrch_brief_setting(brief), syrch_feedback(tried)));
  } else {
    syrch_system(&request, syrch_concat(syrch_brief_instructions(brief), syrch_text("\n\n"), tables(brief)));
    for (size_t i = examples.len; i-- > 0;) {
      syrch_user(&request, syrch_concat(syrch_text("Question: "), examples.ptr[i].question, syrch_text("\n")));
      syrch_assistant(&request, syrch_concat(syrch_text("```sql\n"), examples.ptr[i].sql, syrch_text("\n```\nConfidence: 0.95")));
    }
    syrch_user(&request, syrch_concat(brief->asked, brief->rest, syrch_feedback(tried)));
  }
  syrch_expect_sql(&request);
  request.subjects = subjects;
  request.sample = sample;
  return request;
}

syrch_string_t syrch_brief_setting(const syrch_brief_t *brief) {
  return syrch_concat(tables(brief), syrch_text("\n"), brief->problem, brief->rest);
}

syrch_string_t syrch_brief_instructions(const syrch_brief_t *brief) {
  syrch_string_t name = brief->catalog->syntax.title;
  return syrch_concat(
      syrch_text("You answer questions with one "), name,
      syrch_text(" SELECT statement (WITH is fine). Nothing may be changed.\n"
                 "- Use only the tables, columns and task results that are listed, and quote names as they are written there.\n"
                 "- Select exactly what is asked for: no further columns, and no rows that nobody asked about.\n"
                 "- Give computed columns short names.\n"
                 "Rules of "),
      name, syrch_text(":\n"), brief->catalog->syntax.rules,
      syrch_text("Write the statement in a ```sql fence, then a line `Confidence: ` with a number from 0 to 1: how likely it is right."),
      brief->metric_request);
}

syrch_string_t syrch_feedback(syrch_list_tried_t tried) {
  syrch_buffer out = {0};
  if (tried.len > 0) syrch_puts(&out, "\nEarlier attempts, none of which did. Do not repeat them.\n");
  for (size_t i = 0; i < tried.len; i++) {
    syrch_string_t sql = tried.ptr[i].sql.len == 0 ? syrch_text("(no statement)") : syrch_clip(tried.ptr[i].sql, STATEMENT);
    syrch_put(&out, syrch_concat(syrch_format("Attempt %zu:\n", i + 1), sql, syrch_text("\nWhat was wrong: "), tried.ptr[i].wrong, syrch_text("\n")));
  }
  return syrch_built(&out);
}
