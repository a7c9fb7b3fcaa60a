package syrch

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// A Plugin is what a component is made of: its name, version and summary, its settings, and a function that makes a value with the methods of
// its roles. A value is made for each role call, and nothing survives the call.
type Plugin[P any] struct {
	identity Identity
	make     func(config string) (P, error)
}

// NoSettings is for a plugin without settings.
type NoSettings struct{}

// New declares a plugin with its name, its version, a line on what it does, and the function that makes it from the user's settings. S is a
// struct whose fields have the tag `setting`; see ReadSettings. A role is exported by the function Export of its package:
//
//	var plugin = syrch.New("short", "0.1.0", "likes short results", func(settings Settings) *Short {
//		return &Short{settings}
//	})
//
//	func init() { reward.Export(plugin) }
func New[S, P any](name, version, summary string, make func(settings S) P) *Plugin[P] {
	schema := SettingsSchema[S]()
	read := func(config string) (P, error) {
		settings, err := ReadSettings[S](config)
		if err != nil {
			var none P
			return none, Fail(InputFailure, name+": "+err.Error())
		}
		return make(settings), nil
	}
	return &Plugin[P]{Identity{Name: name, Version: version, Summary: summary, ConfigSchema: schema}, read}
}

// Identity returns what `plugin inspect` shows.
func (p *Plugin[P]) Identity() Identity { return p.identity }

// With returns the plugin for a test, made from settings in JSON; an empty text stands for the defaults.
func (p *Plugin[P]) With(config string) (P, error) { return p.make(config) }

// Guard calls a role. A panic becomes a failure of the kind `internal` with its text. A line with its place and its text, and then the stack, are
// passed to note, if there is one.
func Guard[T any](note func(Level, string), call func() (T, error)) (value T, failure *Failure) {
	defer func() {
		if thrown := recover(); thrown != nil {
			failure = &Failure{Kind: InternalFailure, Message: panicText(thrown)}
			if note != nil {
				note(Debug, fmt.Sprintf("panicked at %s: %s\n%s", panicPlace(), failure.Message, debug.Stack()))
			}
		}
	}()
	value, err := call()
	if err != nil {
		return value, AsFailure(err)
	}
	return value, nil
}

// panicPlace returns the file and the line that panicked: those of the first function below the runtime's.
func panicPlace() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for panicked := false; ; {
		frame, more := frames.Next()
		isRuntime := strings.HasPrefix(frame.Function, "runtime.")
		if panicked && !isRuntime {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		panicked = panicked || isRuntime
		if !more {
			return "an unknown place"
		}
	}
}

func panicText(thrown any) string {
	switch thrown := thrown.(type) {
	case error:
		return thrown.Error()
	case string:
		return thrown
	default:
		return fmt.Sprint(thrown)
	}
}
