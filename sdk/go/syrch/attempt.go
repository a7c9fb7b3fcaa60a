package syrch

import (
	"errors"
	"fmt"
	"strings"
)

// This file goes from a model's reply to a statement, and through check and run to a candidate.

// A Statement is one that a model wrote, with the confidence that it stated, the log probability of the reply, and the tokens of the call.
type Statement struct {
	SQL        string
	Confidence *float64
	LogProb    *float64
	Tokens     float64
}

// NoStatement is the error of a reply without a statement, which counts as an attempt. Wrong explains it to a model.
type NoStatement struct{ Wrong string }

// Error returns what was wrong.
func (e *NoStatement) Error() string { return e.Wrong }

// StatementOf reads the reply to a request of the shape SQL. The error is a *NoStatement, or the *ModelError of the call; see
// ModelError.Abstains.
func StatementOf(reply Reply, err error) (Statement, error) {
	var failed *ModelError
	if errors.As(err, &failed) && failed.Kind == ModelMalformed {
		return Statement{}, &NoStatement{"the reply held no statement; it began: " + Line(failed.Text, 200)}
	}
	if err != nil {
		return Statement{}, err
	}
	sql, confidence := SQLOf(&reply)
	if sql == "" {
		return Statement{}, &NoStatement{"the reply held no statement"}
	}
	tokens := float64(reply.Usage.InputTokens) + float64(reply.Usage.OutputTokens)
	return Statement{SQL: sql, Confidence: confidence, LogProb: reply.LogProb, Tokens: tokens}, nil
}

// Candidate returns the candidate of this statement. The log probability and the tokens are added to the signals.
func (s Statement) Candidate(id string, parents []string, origin string, signals Signals) Candidate {
	signals.LogProb = s.LogProb
	signals.Extra = append(signals.Extra[:len(signals.Extra):len(signals.Extra)], Measure{"tokens", s.Tokens})
	return Candidate{ID: id, Parents: parents, Origin: origin, SQL: s.SQL, RawConfidence: s.Confidence, Signals: signals}
}

// The most columns that a doubt names, and the length of the longest id that the host allows.
const (
	namedColumns = 20
	longestID    = 64
)

// CountError counts an error of a check or a run in the signals, and returns the message about it for a model. The failure is not nil if no
// statement can run any more; then there is no message.
func CountError(err *SQLError, signals *Signals) (string, *Failure) {
	if err.IsOver() {
		return "", err.failure()
	}
	switch err.Kind {
	case SyntaxError:
		signals.SyntaxErrors++
	case UnknownTable, UnknownColumn, AmbiguousName, SQLDenied:
		signals.SchemaErrors++
	default:
		signals.ExecutionErrors++
	}
	return ErrorWords(err), nil
}

// ErrorWords returns an error in words for a model: the message, the position, and the nearest names.
func ErrorWords(err *SQLError) string {
	out := Line(err.Message, 400)
	if err.Position != nil {
		out += fmt.Sprintf(", at byte %d", *err.Position)
	}
	var near []string
	for _, name := range err.Suggestions[:min(len(err.Suggestions), 5)] {
		near = append(near, Line(name, 80))
	}
	if len(near) > 0 {
		out += "; near: " + strings.Join(near, ", ")
	}
	return out
}

// Doubts returns what a good answer would not look like, a sentence for each sign in the shape of a result: no rows, columns of NULL, more rows
// than overflowRows. The signs are counted in the signals.
func Doubts(overflowRows uint64, profile *Profile, signals *Signals) []string {
	var doubts []string
	signals.EmptyResult = profile.Rows == 0
	if signals.EmptyResult {
		doubts = append(doubts, "the result has no rows")
	}
	var nulls []string
	for _, column := range profile.Columns {
		if profile.Rows > 0 && column.Nulls >= profile.Rows {
			nulls = append(nulls, Line(column.Column.Name, 80))
		}
	}
	signals.NullColumns = uint32(len(nulls))
	if len(nulls) > 0 {
		are, more := "columns are", ""
		if len(nulls) == 1 {
			are = "a column is"
		}
		if left := len(nulls) - namedColumns; left > 0 {
			nulls, more = nulls[:namedColumns], fmt.Sprintf(" and %d more", left)
		}
		doubts = append(doubts, fmt.Sprintf("%s NULL in all rows: %s%s", are, strings.Join(nulls, ", "), more))
	}
	signals.Overflow = profile.Truncated || profile.Rows > overflowRows
	if signals.Overflow {
		cut := ""
		if profile.Truncated {
			cut = " and was cut"
		}
		doubts = append(doubts, fmt.Sprintf("the result has %s%s, where at most %d are expected", Count(profile.Rows, "row"), cut, overflowRows))
	}
	return doubts
}

// CandidateID returns the id of a task's numbered candidate: `TASK.NUMBER`, or a shortened id of the task if that is too long for the host.
func CandidateID(task string, number uint32) string {
	id := fmt.Sprintf("%s.%d", task, number)
	if len(id) <= longestID {
		return id
	}
	// Two tasks may have the same head: a hash of the whole id distinguishes them.
	head := []rune(task)
	return fmt.Sprintf("%s.%016x.%d", string(head[:min(len(head), 32)]), FNV1a(task), number)
}

// FNV1a returns the FNV-1a hash of a text, 64 bits: the same on every machine and in every run, and not for secrets.
func FNV1a(text string) uint64 {
	hash := uint64(0xcbf29ce484222325)
	for _, c := range []byte(text) {
		hash = (hash ^ uint64(c)) * 0x0100000001b3
	}
	return hash
}

// A Ran is a statement that ran: its names and literals, the handle and the shape of its rows, and what a good answer would not look like. The
// fingerprint is equal for results with the same multiset of rows; if the host has no fingerprints, each text has its own.
type Ran struct {
	Facts       Facts
	Results     ResultSet
	Profile     Profile
	Doubts      []string
	Fingerprint string
}

// A Tested is a statement that was checked and run once: Ran is nil if it failed, and Wrong explains then to a model why. Signals has its own
// counts. Stopped is the failure after which no statement can run any more, if that is why this one failed.
type Tested struct {
	Ran     *Ran
	Wrong   string
	Signals Signals
	Stopped *Failure
}

// A Tester has the statements that were tested so far, by their texts.
type Tester struct {
	overflowRows uint64
	known        map[string]*Tested
}

// NewTester returns no statement yet. More rows than overflowRows are a doubt.
func NewTester(overflowRows uint64) *Tester {
	return &Tester{overflowRows, map[string]*Tested{}}
}

// Get returns the test of a text; nil before Run was called with it.
func (t *Tester) Get(sql string) *Tested { return t.known[sql] }

// Close gives the handles of all results back to the host.
func (t *Tester) Close() {
	for _, trial := range t.known {
		if trial.Ran != nil {
			trial.Ran.Results.Close()
		}
	}
}

// Run checks the texts that are not known yet, and runs those that pass concurrently. The error is the first failure after which no statement
// can run any more (a used-up budget, an unavailable database). Every text has a test then, too.
func (t *Tester) Run(host interface {
	InspectPort
	SQLPort
}, texts ...string) error {
	var stopped *Failure
	var passed []string
	facts := map[string]Facts{}
	for _, sql := range texts {
		if _, isPassed := facts[sql]; isPassed || t.known[sql] != nil {
			continue
		}
		if stopped != nil {
			t.known[sql] = &Tested{Wrong: stopped.Message, Stopped: stopped}
			continue
		}
		found, err := host.Check(sql)
		if err != nil {
			stopped = t.fail(sql, err, stopped)
			continue
		}
		passed, facts[sql] = append(passed, sql), found
	}
	if len(passed) > 0 {
		for at, result := range host.RunAll(passed) {
			if result.Err != nil {
				stopped = t.fail(passed[at], result.Err, stopped)
			} else {
				t.known[passed[at]] = t.ran(facts[passed[at]], result.Value)
			}
		}
	}
	if stopped != nil {
		return stopped
	}
	return nil
}

func (t *Tester) ran(facts Facts, results ResultSet) *Tested {
	trial := &Tested{Ran: &Ran{Facts: facts, Results: results, Profile: results.Profile()}}
	trial.Ran.Doubts = Doubts(t.overflowRows, &trial.Ran.Profile, &trial.Signals)
	trial.Ran.Fingerprint = Or(results.Fingerprint(Bag), facts.Normalized)
	return trial
}

// fail records an error, and returns the first failure after which nothing can run.
func (t *Tester) fail(sql string, err error, stopped *Failure) *Failure {
	trial := &Tested{}
	t.known[sql] = trial
	var failed *SQLError
	if errors.As(err, &failed) {
		trial.Wrong, trial.Stopped = CountError(failed, &trial.Signals)
	} else {
		trial.Stopped = AsFailure(err)
	}
	if trial.Stopped != nil {
		trial.Wrong = trial.Stopped.Message
		if stopped == nil {
			stopped = trial.Stopped
		}
	}
	return stopped
}

// Nothing returns the outcome of a task without a candidate. The reason becomes a warning, since the host shows the last one to the user, and
// the memo, which the clarifier reads.
func Nothing(host TracePort, why string) Outcome {
	host.Note(Warn, why)
	return Outcome{Memo: new(JSON(map[string]string{"reason": Line(why, 600)}))}
}

// addErrors adds the errors that are counted in own.
func (s *Signals) addErrors(own *Signals) {
	s.SyntaxErrors += own.SyntaxErrors
	s.SchemaErrors += own.SchemaErrors
	s.ExecutionErrors += own.ExecutionErrors
}
