package syrch

import "sort"

// This file has what a solver needs that draws several statements for one task: their requests, and the groups of equal results. Statements whose
// results have the same fingerprint agree (self-consistency, Wang et al. 2022).

// DrawRequest returns the request of a draw: a repair of the statements in tried, or, if there are none, a fresh one at that temperature. Nil leaves
// the temperature to the host.
func DrawRequest(brief *Brief, tried []Tried, number uint32, temperature *float64) Request {
	request := brief.Request(tried, max(number, 1)-1)
	if request.Purpose == ForRepair {
		request.Sample -= min(request.Sample, uint32(len(request.Subjects)))
	} else if temperature != nil {
		request = request.Heat(*temperature)
	}
	return request
}

// Groups returns the places of equal keys, ascending in each group: the largest group first, and of equally large ones that with the earliest
// member.
func Groups[K comparable](keys []K) [][]int {
	var groups [][]int
	group := map[K]int{}
	for place, key := range keys {
		at, isKnown := group[key]
		if !isKnown {
			at, group[key] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], place)
	}
	sort.SliceStable(groups, func(one, other int) bool { return len(groups[one]) > len(groups[other]) })
	return groups
}
