//go:build wasip1

package wasm

import (
	"unsafe"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// This file has the values of wit/ports.wit, with the fields in its order.

var (
	purposes = []syrch.Purpose{
		syrch.ForLinking, syrch.ForPlanning, syrch.ForGenerating, syrch.ForRepair, syrch.ForJudging, syrch.ForSelecting,
		syrch.ForCalibrating, syrch.ForClarifying, syrch.ForSummarising, syrch.ForRewriting,
	}
	modelErrorKinds = []syrch.ModelErrorKind{
		syrch.ModelBudget, syrch.ModelDenied, syrch.ModelRefused, syrch.ModelTooLarge, syrch.ModelMalformed, syrch.ModelUnsupported,
		syrch.ModelCancelled, syrch.ModelUnavailable, syrch.ModelOther,
	}
	matches    = []syrch.Match{syrch.Exact, syrch.NGram, syrch.Fuzzy, syrch.VectorMatch}
	equalities = []syrch.Equality{syrch.Bag, syrch.Set, syrch.Ordered}
)

func policy(c *Codec, policy *syrch.Policy) {
	number(c, &policy.HighConfidence)
	number(c, &policy.MaxAttempts)
	number(c, &policy.MaxDepth)
	number(c, &policy.MaxParallel)
	number(c, &policy.MaxRounds)
}

func budget(c *Codec, budget *syrch.Budget) {
	number(c, &budget.Tokens)
	number(c, &budget.LLMCalls)
	number(c, &budget.SQLRuns)
	option(c, &budget.CostMicros, number[uint64])
	number(c, &budget.Time)
}

func request(c *Codec, request *syrch.Request) {
	words(c, &request.Purpose, purposes)
	list(c, &request.Messages, func(c *Codec, message *syrch.Message) {
		number(c, &message.Speaker)
		text(c, &message.Text)
	})
	shape(c, &request.Expect)
	option(c, &request.Model, text)
	texts(c, &request.Subjects)
	option(c, &request.Temperature, number[float32])
	option(c, &request.TopP, number[float32])
	option(c, &request.MaxTokens, number[uint32])
	texts(c, &request.Stop)
	boolean(c, &request.LogProbs)
	number(c, &request.Sample)
}

func shape(c *Codec, shape *syrch.Shape) {
	tag := uint8(shape.Kind)
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch syrch.ShapeKind(tag) {
		case syrch.JSONShape, syrch.OtherShape:
			text(c, &shape.Text)
		case syrch.YAMLShape, syrch.ChoiceShape:
			texts(c, &shape.Words)
		}
	}, uint8(syrch.JSONShape), uint8(syrch.YAMLShape))
}

func reply(c *Codec, reply *syrch.Reply) {
	text(c, &reply.Text)
	option(c, &reply.Parsed, text)
	boolean(c, &reply.Truncated)
	option(c, &reply.LogProb, number[float64])
	record(c, &reply.Usage, func(c *Codec, usage *syrch.Usage) {
		number(c, &usage.InputTokens)
		number(c, &usage.OutputTokens)
		option(c, &usage.CostMicros, number[uint64])
		text(c, &usage.Model)
	})
}

func modelError(c *Codec, failed *syrch.ModelError) {
	tag, _ := wordTag(failed.Kind, modelErrorKinds)
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch modelErrorKinds[tag] {
		case syrch.ModelBudget, syrch.ModelTooLarge, syrch.ModelCancelled:
		default:
			text(c, &failed.Text)
		}
	}, 1)
	if c.mode == lifting {
		failed.Kind = modelErrorKinds[tag]
	}
}

func facts(c *Codec, facts *syrch.Facts) {
	texts(c, &facts.Tables)
	texts(c, &facts.Columns)
	texts(c, &facts.Functions)
	list(c, &facts.Literals, func(c *Codec, literal *syrch.Literal) {
		option(c, &literal.Table, text)
		option(c, &literal.Column, text)
		text(c, &literal.Text)
	})
	texts(c, &facts.Subqueries)
	texts(c, &facts.Tasks)
	boolean(c, &facts.Ordered)
	text(c, &facts.Normalized)
	text(c, &facts.Skeleton)
}

// Plan is the type of the contract.
func Plan(c *Codec, plan *syrch.Plan) {
	text(c, &plan.Format)
	text(c, &plan.Text)
	option(c, &plan.Cost, number[float64])
	option(c, &plan.Rows, number[float64])
}

func columnStats(c *Codec, stats *[]syrch.ColumnStats) {
	list(c, stats, func(c *Codec, stats *syrch.ColumnStats) {
		text(c, &stats.Column)
		option(c, &stats.Distinct, number[float64])
		option(c, &stats.NullFraction, number[float64])
		option(c, &stats.Correlation, number[float64])
		option(c, &stats.AverageWidth, number[uint32])
	})
}

func page(c *Codec, page *syrch.Page) {
	texts(c, &page.Columns)
	list(c, &page.Rows, func(c *Codec, row *[]syrch.Value) { list(c, row, value) })
	boolean(c, &page.Clipped)
}

func samples(c *Codec, samples *[]syrch.Sample) {
	list(c, samples, func(c *Codec, sample *syrch.Sample) {
		text(c, &sample.Column)
		value(c, &sample.Least)
		value(c, &sample.Greatest)
		list(c, &sample.Frequent, func(c *Codec, frequent *syrch.Frequent) {
			value(c, &frequent.Value)
			number(c, &frequent.Count)
		})
	})
}

func numbers(c *Codec, values *[]float64) { list(c, values, number[float64]) }

func vectors(c *Codec, values *[][]float32) {
	list(c, values, func(c *Codec, vector *[]float32) { list(c, vector, number[float32]) })
}

func hitLists(c *Codec, lists *[][]syrch.Hit) { list(c, lists, Hits) }

// answer is the result of a port whose error has the type E.
func answer[T, E any, P interface {
	*E
	error
}](one func(*Codec, *T), fail func(*Codec, *E)) func(*Codec, *syrch.Result[T]) {
	return func(c *Codec, result *syrch.Result[T]) {
		failed := new(E)
		if isFailure(c, unsafe.Pointer(&result.Value), erased(one), unsafe.Pointer(failed), erased(fail)) {
			result.Err = P(failed)
		}
	}
}

func isFailure(c *Codec, value unsafe.Pointer, one pass, failed unsafe.Pointer, fail pass) bool {
	var tag uint8
	variant(c, &tag, func(c *Codec, tag uint8) {
		if tag == 0 {
			within(c, value, one)
		} else {
			fail(c, failed)
		}
	}, 0, 1)
	return tag == 1
}

// answers are the results of concurrent calls.
func answers[T any](one func(*Codec, *syrch.Result[T])) func(*Codec, *[]syrch.Result[T]) {
	return func(c *Codec, results *[]syrch.Result[T]) { list(c, results, one) }
}

// ended is the result of a call that may be in flight.
func ended[T any](one func(*Codec, *syrch.Result[T])) func(*Codec, **syrch.Result[T]) {
	return func(c *Codec, result **syrch.Result[T]) { option(c, result, one) }
}

// receive makes a call that writes its result, and reads it.
func receive[T any](one func(*Codec, *T), call func(area uintptr)) T {
	return Lift(called(erased(one), call), one)
}

func called(one pass, call func(area uintptr)) uintptr {
	size, _ := layout(one)
	area := allocate(size)
	call(area)
	return area
}

// optional receives a text that there may not be.
func optional(call func(area uintptr)) *string {
	return receive(func(c *Codec, value **string) { option(c, value, text) }, call)
}

// pair splits a result.
func pair[T any](result syrch.Result[T]) (T, error) { return result.Value, result.Err }

// taken splits the result of a call that may be in flight.
func taken[T any](result *syrch.Result[T]) (syrch.Result[T], bool) {
	return syrch.Or(result, syrch.Result[T]{}), result != nil
}
