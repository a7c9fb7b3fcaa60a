// Several statements for one task: their requests, and the groups of equal results. Statements whose results have the same fingerprint agree
// (self-consistency, Wang et al. 2022).

/** The places of equal keys, ascending in each group: the largest group first, and of equally large ones that with the earliest member. */
export function groups(keys) {
  const found = new Map();
  keys.forEach((key, place) => found.set(key, [...(found.get(key) ?? []), place]));
  // The sort is stable, so that equally large groups stay in the order of their earliest members.
  return [...found.values()].sort((one, other) => other.length - one.length);
}

/**
 * The request of a draw: a repair of the statements in `tried`, or, if there are none, a fresh one at that temperature. Among draws that repair,
 * `sample` is the number of the draw, from 0, less the number of statements that the request repairs, so that two draws never share both.
 */
export function drawRequest(brief, tried, number, temperature = null) {
  const request = brief.request(tried, Math.max(0, number - 1));
  if (request.purpose === "repair") request.sample = Math.max(0, request.sample - request.subjects.length);
  else request.temperature = temperature;
  return request;
}
