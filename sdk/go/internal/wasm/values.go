//go:build wasip1

package wasm

import "github.com/syrch/syrch-host/sdk/go/syrch"

// This file has the values that are others in Go than in the contract, and lists and options that roles return.

// Unit is the value of a result that has none.
func Unit(*Codec, *struct{}) {}

// Hits is a list of the type of the contract, as the other functions with plural names are.
func Hits(c *Codec, hits *[]syrch.Hit) { list(c, hits, Hit) }

// Questions is a list of the type of the contract.
func Questions(c *Codec, questions *[]syrch.Question) { list(c, questions, Question) }

// Verdicts is a list of the type of the contract.
func Verdicts(c *Codec, verdicts *[]syrch.Verdict) { list(c, verdicts, Verdict) }

// MaybeAnswer is the result of a function that may have none.
func MaybeAnswer(c *Codec, answer **syrch.Answer) { option(c, answer, Answer) }

// MaybeProposal is the result of a function that may have none.
func MaybeProposal(c *Codec, proposal **syrch.Proposal) { option(c, proposal, Proposal) }

// Verdict has the fields of its opinion.
func Verdict(c *Codec, verdict *syrch.Verdict) {
	const accepted, rejected, unavailable = 0, 1, 2
	kinds := [...]syrch.VerdictKind{accepted: syrch.Accepted, rejected: syrch.Rejected, unavailable: syrch.Unavailable}
	tag := uint8(unavailable)
	for at, kind := range kinds {
		if kind == verdict.Kind {
			tag = uint8(at)
		}
	}
	variant(c, &tag, func(c *Codec, tag uint8) {
		if tag == unavailable {
			text(c, &verdict.Reason)
			return
		}
		number(c, &verdict.Score)
		text(c, &verdict.Reason)
		list(c, &verdict.Checks, Check)
	}, accepted, unavailable)
	verdict.Kind = kinds[tag]
}

// Parent has the fields of its output.
func Parent(c *Codec, parent *syrch.Parent) {
	const relation, hits, failed, other = 0, 1, 2, 3
	record(c, &parent.Task, Task)
	var tag uint8
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch tag {
		case relation:
			of := &syrch.Relation{}
			Relation(c, of)
			if c.mode == lifting {
				parent.Relation = of
			}
		case hits:
			Hits(c, &parent.Hits)
		case failed:
			of := &syrch.Failure{}
			Failure(c, of)
			if c.mode == lifting {
				parent.Failure = of
			}
		default:
			text(c, &parent.Other)
		}
	}, relation, failed)
	option(c, &parent.Memo, text)
}
