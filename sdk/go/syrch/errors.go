package syrch

import (
	"errors"
	"fmt"
)

// A FailureKind says what a failure is about.
type FailureKind string

// The kinds of failures. A kind that is none of these is one that this version does not know.
const (
	InputFailure       FailureKind = "input"
	ModelFailure       FailureKind = "model"
	DatabaseFailure    FailureKind = "database"
	BudgetFailure      FailureKind = "budget"
	UnsupportedFailure FailureKind = "unsupported"
	CancelledFailure   FailureKind = "cancelled"
	InternalFailure    FailureKind = "internal"
)

// A Failure is the error with which a role ends its call. Message is shown to the user as the plugin's own words. Retryable means that the
// cause may pass. Any other error becomes a failure by AsFailure.
type Failure struct {
	Kind      FailureKind
	Message   string
	Retryable bool
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Fail returns a failure of that kind which trying again does not mend.
func Fail(kind FailureKind, message string) error {
	return &Failure{Kind: kind, Message: message}
}

// Failf is Fail with a formatted message.
func Failf(kind FailureKind, format string, values ...any) error {
	return &Failure{Kind: kind, Message: fmt.Sprintf(format, values...)}
}

// AsFailure returns the failure that an error stands for: a Failure is itself, the errors of ports have kinds of their own, and anything
// else is `internal` with its text.
func AsFailure(err error) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	var model *ModelError
	if errors.As(err, &model) {
		return model.failure()
	}
	var statement *SQLError
	if errors.As(err, &statement) {
		return statement.failure()
	}
	var port *PortError
	if errors.As(err, &port) {
		return port.failure()
	}
	return &Failure{Kind: InternalFailure, Message: err.Error()}
}

// A ModelErrorKind says why a model call gave no reply; see `llm-error` in wit/ports.wit.
type ModelErrorKind string

// The kinds of model errors.
const (
	ModelBudget      ModelErrorKind = "budget"
	ModelDenied      ModelErrorKind = "denied"
	ModelRefused     ModelErrorKind = "refused"
	ModelTooLarge    ModelErrorKind = "too-large"
	ModelMalformed   ModelErrorKind = "malformed"
	ModelUnsupported ModelErrorKind = "unsupported"
	ModelCancelled   ModelErrorKind = "cancelled"
	ModelUnavailable ModelErrorKind = "unavailable"
	ModelOther       ModelErrorKind = "other"
)

// A ModelError is the error of a model call. Text is the reason, or the beginning of a malformed reply.
type ModelError struct {
	Kind ModelErrorKind
	Text string
}

// Error returns the error in words.
func (e *ModelError) Error() string {
	switch e.Kind {
	case ModelBudget:
		return "the model budget is used up"
	case ModelDenied:
		return "the model call was denied: " + e.Text
	case ModelRefused:
		return "the model provider gave no answer: " + e.Text
	case ModelTooLarge:
		return "the prompt or the reply is over the limit"
	case ModelMalformed:
		return "the model's reply has another shape than asked for: " + Line(e.Text, 120)
	case ModelUnsupported:
		return "the model provider cannot do this: " + e.Text
	case ModelCancelled:
		return "the model call was cancelled"
	case ModelUnavailable:
		return "the model cannot be reached: " + e.Text
	default:
		return e.Text
	}
}

// Abstains reports whether the provider has no answer to this request, which is not a failure: it refused, or it cannot do this.
func (e *ModelError) Abstains() bool {
	return e.Kind == ModelRefused || e.Kind == ModelUnsupported
}

func (e *ModelError) failure() *Failure {
	kind := ModelFailure
	switch e.Kind {
	case ModelBudget:
		kind = BudgetFailure
	case ModelCancelled:
		kind = CancelledFailure
	case ModelUnsupported:
		kind = UnsupportedFailure
	}
	return &Failure{Kind: kind, Message: e.Error(), Retryable: e.Kind == ModelUnavailable}
}

// A SQLErrorKind says why a statement failed.
type SQLErrorKind string

// The kinds of errors of statements; see `sql-error-kind` in wit/types.wit.
const (
	SyntaxError     SQLErrorKind = "syntax"
	UnknownTable    SQLErrorKind = "unknown-table"
	UnknownColumn   SQLErrorKind = "unknown-column"
	AmbiguousName   SQLErrorKind = "ambiguous-name"
	TypeMismatch    SQLErrorKind = "type-mismatch"
	WriteRefused    SQLErrorKind = "write-refused"
	FunctionRefused SQLErrorKind = "function-refused"
	SQLDenied       SQLErrorKind = "denied"
	SQLTimeout      SQLErrorKind = "timeout"
	SQLTooLarge     SQLErrorKind = "too-large"
	SQLCancelled    SQLErrorKind = "cancelled"
	SQLBudget       SQLErrorKind = "budget"
	SQLUnavailable  SQLErrorKind = "unavailable"
	OtherSQLError   SQLErrorKind = "other"
)

// A SQLError is the error of a statement. Position is the byte at which the parser stopped, if it reports one, and Suggestions are the
// nearest names.
type SQLError struct {
	Kind        SQLErrorKind
	Message     string
	Position    *uint32
	Suggestions []string
}

// Error returns the message.
func (e *SQLError) Error() string { return e.Message }

// IsOver reports whether no statement can run any more after this error.
func (e *SQLError) IsOver() bool {
	return e.Kind == SQLBudget || e.Kind == SQLCancelled || e.Kind == SQLUnavailable
}

func (e *SQLError) failure() *Failure {
	kind := DatabaseFailure
	switch e.Kind {
	case SQLBudget:
		kind = BudgetFailure
	case SQLCancelled:
		kind = CancelledFailure
	}
	return &Failure{Kind: kind, Message: e.Message, Retryable: e.Kind == SQLUnavailable}
}

// A PortErrorKind says why a port gave nothing.
type PortErrorKind string

// The kinds of errors of the ports rows, cells, search, inspect and evaluate.
const (
	PortDenied      PortErrorKind = "denied"
	PortUnsupported PortErrorKind = "unsupported"
	PortUnknownName PortErrorKind = "unknown-name"
	PortBudget      PortErrorKind = "budget"
	PortUnavailable PortErrorKind = "unavailable"
	PortOther       PortErrorKind = "other"
)

// A PortError is the error of one of those ports. Text is the reason, or the unknown name.
type PortError struct {
	Kind PortErrorKind
	Text string
}

// Error returns the error in words.
func (e *PortError) Error() string {
	switch e.Kind {
	case PortDenied:
		return "denied: " + e.Text
	case PortUnsupported:
		return "not supported here"
	case PortUnknownName:
		return "unknown name `" + e.Text + "`"
	case PortBudget:
		return "the budget is used up"
	default:
		return e.Text
	}
}

func (e *PortError) failure() *Failure {
	kind := InternalFailure
	switch e.Kind {
	case PortDenied, PortUnsupported:
		kind = UnsupportedFailure
	case PortUnknownName:
		kind = InputFailure
	case PortBudget:
		kind = BudgetFailure
	case PortUnavailable:
		kind = DatabaseFailure
	}
	return &Failure{Kind: kind, Message: e.Error()}
}

// ErrorKind returns the word by which the contract calls an error of a port or a failure, such as `denied` or `unknown-table`; it is empty for
// any other error.
func ErrorKind(err error) string {
	var model *ModelError
	var statement *SQLError
	var port *PortError
	var failure *Failure
	switch {
	case errors.As(err, &model):
		return string(model.Kind)
	case errors.As(err, &statement):
		return string(statement.Kind)
	case errors.As(err, &port):
		return string(port.Kind)
	case errors.As(err, &failure):
		return string(failure.Kind)
	}
	return ""
}
