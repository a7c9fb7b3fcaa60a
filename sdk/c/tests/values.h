// Values of the table sdk/vectors/prompts.json, read and written.
#ifndef VALUES_H
#define VALUES_H

#include "fakes.h"

double number_of(const syrch_json *object, const char *key);
syrch_option_string_t option_of(const syrch_json *object, const char *key);
syrch_option_f64_t number_option_of(const syrch_json *object, const char *key);
// The text of a member; empty if it is not there.
syrch_string_t text_of(const syrch_json *object, const char *key);
uint64_t whole_of(const syrch_json *object, const char *key);
syrch_list_string_t texts_of(const syrch_json *list);
syrch_syntax_t syntax_of(const syrch_json *value);
syrch_table_t table_of(const syrch_json *value);
syrch_catalog_t catalog_of(const syrch_json *value);
syrch_problem_t problem_of(const syrch_json *value);
syrch_task_t task_of(const syrch_json *value);
syrch_list_parent_t parents_of(const syrch_json *list);
syrch_value_t cell_of(const syrch_json *value);
syrch_page_t page_of(const syrch_json *value);
syrch_profile_t profile_of(const syrch_json *value);
syrch_list_tried_t tried_of(const syrch_json *list);
syrch_sql_error_t sql_error_of(const syrch_json *value);
syrch_llm_error_t llm_error_of(const syrch_json *value);
syrch_port_error_t port_error_of(const syrch_json *value);
syrch_list_join_key_t keys_of(const syrch_json *list);
syrch_signals_t signals_of(const syrch_json *value);
uint8_t purpose_of(const syrch_json *value, syrch_string_t *other);

void write_member(syrch_writer *to, const char *key, syrch_string_t text);
void write_option(syrch_writer *to, const char *key, syrch_option_string_t text);
void write_texts(syrch_writer *to, syrch_list_string_t list);
void write_request(syrch_writer *to, const syrch_request_t *request);
void write_candidate(syrch_writer *to, const syrch_candidate_t *candidate);
void write_signals(syrch_writer *to, const syrch_signals_t *signals);
void write_failure(syrch_writer *to, const syrch_failure_t *failure);
void write_verdict(syrch_writer *to, const syrch_verdict_t *verdict);
void write_keys(syrch_writer *to, syrch_list_join_key_t keys);
void write_number_option(syrch_writer *to, syrch_option_f64_t number);

#endif
