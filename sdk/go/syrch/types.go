package syrch

// This file has the verdict, in which Go has the fields of its opinion; contract.go has the other values.

// A VerdictKind is the kind of a verdict.
type VerdictKind uint8

// The kinds of verdicts. Unavailable never counts as acceptance or rejection.
const (
	Unavailable VerdictKind = iota
	Accepted
	Rejected
)

// A Verdict is what a reward says of a candidate. Score, 0 to 1, and Checks are left out of one that is unavailable.
type Verdict struct {
	Kind   VerdictKind
	Score  float64
	Reason string
	Checks []Check
}
