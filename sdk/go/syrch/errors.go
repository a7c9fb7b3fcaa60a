package syrch

import (
	"errors"
	"fmt"
)

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
