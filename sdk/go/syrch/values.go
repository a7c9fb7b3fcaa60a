package syrch

import "math"

// Accept returns a verdict that accepts the candidate, with a score of 0 to 1 and the reason.
func Accept(score float64, reason string) Verdict {
	return Verdict{Kind: Accepted, Score: score, Reason: reason}
}

// Reject returns a verdict that rejects the candidate, with a score of 0 to 1 and the reason.
func Reject(score float64, reason string) Verdict {
	return Verdict{Kind: Rejected, Score: score, Reason: reason}
}

// CannotJudge returns a verdict that counts neither as acceptance nor as rejection.
func CannotJudge(reason string) Verdict {
	return Verdict{Kind: Unavailable, Reason: reason}
}

// Or returns the value that a pointer refers to, or the other value for nil.
func Or[T any](value *T, other T) T {
	if value == nil {
		return other
	}
	return *value
}

// SingleTask returns a graph of one task, which gives the answer.
func SingleTask(task Task) Graph {
	return Graph{Tasks: []Task{task}, Answer: task.ID}
}

// Task returns the task of that id, or nil.
func (g *Graph) Task(id string) *Task {
	for at := range g.Tasks {
		if g.Tasks[at].ID == id {
			return &g.Tasks[at]
		}
	}
	return nil
}

// IsSuccess reports whether the task has a result.
func (o *Observation) IsSuccess() bool {
	return o.Ending.Kind == Solved || o.Ending.Kind == Empty
}

// Sureness returns the calibrated confidence, or else what the model claimed, or else 0.
func (c *Candidate) Sureness() float64 {
	sure := c.Confidence
	if sure == nil {
		sure = c.RawConfidence
	}
	if sure == nil || math.IsNaN(*sure) || math.IsInf(*sure, 0) {
		return 0
	}
	return *sure
}

// Tokens returns the tokens that the statement cost, as its solver reported them under `tokens`; 0 if it did not.
func (c *Candidate) Tokens() float64 {
	for _, measure := range c.Signals.Extra {
		if measure.Name == "tokens" {
			return measure.Value
		}
	}
	return 0
}

// NullValue and the functions after it make cells.
func NullValue() Value { return Value{} }

// BooleanValue returns a cell that is true or false.
func BooleanValue(value bool) Value { return Value{Kind: KindBoolean, Boolean: value} }

// IntegerValue returns a cell that is a whole number.
func IntegerValue(value int64) Value { return Value{Kind: KindInteger, Integer: value} }

// RealValue returns a cell that is a floating-point number.
func RealValue(value float64) Value { return Value{Kind: KindReal, Real: value} }

// TextValue returns a cell that is a text.
func TextValue(value string) Value { return Value{Kind: KindText, Text: value} }
