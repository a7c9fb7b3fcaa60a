// Several statements for one task: their requests, and the groups of equal results.

#include "syrch.h"

syrch_request_t syrch_draw_request(const syrch_brief_t *brief, syrch_list_tried_t tried, uint32_t number, syrch_option_f64_t temperature) {
  syrch_request_t request = syrch_brief_request(brief, tried, number == 0 ? 0 : number - 1);
  if (request.purpose.tag == SYRCH_PURPOSE_REPAIR) {
    // A repair of draw n is the n-th sample again, and two draws never share both prompt and sample.
    request.sample = request.sample > request.subjects.len ? request.sample - (uint32_t)request.subjects.len : 0;
  } else if (temperature.is_some) {
    request.temperature = syrch_some_f32((float)temperature.val);
  }
  return request;
}

syrch_groups_t syrch_groups(syrch_list_string_t keys) {
  syrch_groups_t groups = {0};
  for (size_t i = 0; i < keys.len; i++) {
    size_t at = 0;
    while (at < groups.len && !syrch_equal(keys.ptr[groups.ptr[at].ptr[0]], keys.ptr[i])) at++;
    if (at == groups.len) syrch_push(&groups, (syrch_list_u32_t){0});
    syrch_push(&groups.ptr[at], (uint32_t)i);
  }
  // Equally large groups stay in the order of their earliest members.
  for (size_t i = 1; i < groups.len; i++) {
    syrch_list_u32_t moved = groups.ptr[i];
    size_t at = i;
    for (; at > 0 && groups.ptr[at - 1].len < moved.len; at--) groups.ptr[at] = groups.ptr[at - 1];
    groups.ptr[at] = moved;
  }
  return groups;
}
