// What the files of the plugin share: its settings, and the habits that are the same in every role.
#ifndef PLUGIN_H
#define PLUGIN_H

#include "syrch.h"

#define SETTINGS(X)                                                                                                              \
  X(word, habit, "echo", "echo raise fail loop large wrong ports parallel cancel", "What every role does.")                      \
  X(integer, size, 3, 0, 1000000, "The number of what the habit makes.")                                                         \
  X(text, text, "", "The text of what the habit makes.")                                                                         \
  X(number, share, 0.5, 0, 1, "The number in what the habit makes.")                                                             \
  X(boolean, flag, false, "A switch of the habit.")
SYRCH_SETTINGS(SETTINGS)

// Whether the case wants that habit.
bool has_habit(const char *habit);
// The habits with which no role returns a value: false after a failure.
bool returns(void);
// `size` times 1,024 letters.
syrch_string_t large_text(void);
// Calls every port once and notes what it gave, as JSON.
syrch_string_t call_ports(const syrch_solve_t *in);
// The request of the habits that call the model.
syrch_request_t generate_request(const syrch_problem_t *problem, uint32_t sample);

#endif
