//go:build wasip1

package wasm

import (
	"unsafe"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// This file has the values of wit/roles.wit, with the fields in its order.

// Identity is the type of the contract, as the other functions of this file are.
func Identity(c *Codec, identity *syrch.Identity) {
	text(c, &identity.Name)
	text(c, &identity.Version)
	text(c, &identity.Summary)
	text(c, &identity.ConfigSchema)
}

// Linked is the type of the contract.
func Linked(c *Codec, linked *syrch.Linked) {
	list(c, &linked.Tables, func(c *Codec, table *syrch.Relevant) {
		text(c, &table.Table)
		texts(c, &table.Columns)
		number(c, &table.Score)
		text(c, &table.Reason)
	})
	Hits(c, &linked.Hints)
}

func edit(c *Codec, edit *syrch.Edit) {
	tag := uint8(edit.Kind)
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch syrch.EditKind(tag) {
		case syrch.AddTask, syrch.UpdateTask:
			Task(c, &edit.Task)
		case syrch.CancelTask, syrch.SetAnswer:
			text(c, &edit.ID)
		}
	}, uint8(syrch.AddTask), uint8(syrch.CancelTask))
	edit.Kind = syrch.EditKind(tag)
}

// Step is the type of the contract.
func Step(c *Codec, step *syrch.Step) {
	list(c, &step.Edits, edit)
	option(c, &step.Memo, text)
}

// Parent is the type of the contract.
func Parent(c *Codec, parent *syrch.Parent) {
	const relation, hits, failed, other = 0, 1, 2, 3
	record(c, &parent.Task, Task)
	var tag uint8
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch tag {
		case relation:
			of := &syrch.Relation{}
			text(c, &of.Name)
			record(c, &of.Candidate, Candidate)
			results(c, &of.Results)
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

// Outcome is the type of the contract.
func Outcome(c *Codec, outcome *syrch.Outcome) {
	list(c, &outcome.Candidates, Candidate)
	list(c, &outcome.Subtasks, Task)
	option(c, &outcome.Ask, question)
	option(c, &outcome.Memo, text)
}

// Rival is the type of the contract.
func Rival(c *Codec, rival *syrch.Rival) {
	record(c, &rival.Candidate, Candidate)
	results(c, &rival.Results)
}

// Finished is the type of the contract.
func Finished(c *Codec, finished *syrch.Finished) {
	text(c, &finished.Name)
	record(c, &finished.Task, Task)
	record(c, &finished.Candidate, Candidate)
	list(c, &finished.Others, Candidate)
	results(c, &finished.Results)
}

// Answer is the type of the contract, as the result of a function that may have none.
func Answer(c *Codec, answer **syrch.Answer) {
	option(c, answer, func(c *Codec, answer *syrch.Answer) {
		text(c, &answer.Text)
		text(c, &answer.Task)
		option(c, &answer.Candidate, text)
		option(c, &answer.SQL, text)
		number(c, &answer.Confidence)
		texts(c, &answer.Basis)
		texts(c, &answer.Caveats)
	})
}

func trial(c *Codec, trial *syrch.Trial) {
	tag := uint8(trial.Kind)
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch syrch.TrialKind(tag) {
		case syrch.TrialAccepted, syrch.TrialSlower:
			number(c, &trial.Speed)
		case syrch.TrialRefused, syrch.TrialFailed, syrch.TrialOther:
			text(c, &trial.Text)
		}
	}, uint8(syrch.TrialAccepted), uint8(syrch.TrialRefused))
	trial.Kind = syrch.TrialKind(tag)
}

// Attempt is the type of the contract.
func Attempt(c *Codec, attempt *syrch.Attempt) {
	text(c, &attempt.SQL)
	text(c, &attempt.Family)
	record(c, &attempt.Trial, trial)
}

// Proposal is the type of the contract, as the result of a function that may have none.
func Proposal(c *Codec, proposal **syrch.Proposal) {
	option(c, proposal, func(c *Codec, proposal *syrch.Proposal) {
		text(c, &proposal.SQL)
		text(c, &proposal.Family)
		text(c, &proposal.Reason)
	})
}

// Arguments reads the arguments of a role's function, one after the other.
type Arguments struct{ codec Codec }

// NewArguments starts at that address.
func NewArguments(at uintptr) *Arguments {
	return &Arguments{Codec{mode: lifting, at: at}}
}

// Next reads the next argument.
func Next[T any](arguments *Arguments, one func(*Codec, *T)) T {
	var out T
	record(&arguments.codec, &out, one)
	return out
}

// List reads the next argument, a list.
func List[T any](arguments *Arguments, one func(*Codec, *T)) []T {
	return Next(arguments, func(c *Codec, values *[]T) { list(c, values, one) })
}

// Text reads the next argument, a text.
func Text(arguments *Arguments) string { return Next(arguments, text) }

// Number reads the next argument, a number.
func Number(arguments *Arguments) uint32 { return Next(arguments, number[uint32]) }

// Call calls a role, and writes what it returns. A panic and an error become a failure.
func Call[T any](one func(*Codec, *T), note func(syrch.Level, string), call func() (T, error)) uintptr {
	value, failure := syrch.Guard(note, call)
	return lowerResult(unsafe.Pointer(&value), erased(one), failure)
}

func lowerResult(value unsafe.Pointer, one pass, failure *syrch.Failure) uintptr {
	var tag uint8
	if failure != nil {
		tag = 1
	}
	return lower(value, func(c *Codec, value unsafe.Pointer) {
		variant(c, &tag, func(c *Codec, tag uint8) {
			switch {
			case tag == 0:
				within(c, value, one)
			case c.mode == measuring:
				Failure(c, &syrch.Failure{})
			default:
				Failure(c, failure)
			}
		}, 0, 1)
	})
}

// LowerNumbers writes a list of numbers as the result of a function.
func LowerNumbers(numbers []float64) uintptr {
	return Lower(numbers, func(c *Codec, numbers *[]float64) { list(c, numbers, number[float64]) })
}

// LiftClaims reads the argument of a calibrator.
func LiftClaims(at, length uint32) []syrch.Claim { return liftList(at, length, Claim) }
