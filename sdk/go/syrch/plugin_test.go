package syrch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestARowIsReadAsFarAsItIsGranted(t *testing.T) {
	host := syrchtest.NewHost()
	one := []syrch.Value{syrch.IntegerValue(1)}
	results := syrchtest.Rows([]string{"n"}, one, one, one, one)
	if page, err := host.Read(results, 1, 10); err != nil || len(page.Rows) != 2 || !page.Clipped {
		t.Errorf("got %v, %v", page, err)
	}
	host.Database.GrantedRows = nil
	if _, err := host.Read(results, 0, 1); syrch.ErrorKind(err) != "denied" {
		t.Errorf("got %v", err)
	}
}

func TestAPanicBecomesAFailureWithItsText(t *testing.T) {
	var notes []string
	note := func(_ syrch.Level, message string) { notes = append(notes, message) }
	_, failure := syrch.Guard(note, func() (int, error) {
		var graph *syrch.Graph
		return len(graph.Tasks), nil
	})
	if failure == nil || failure.Kind != syrch.InternalFailure || !strings.Contains(failure.Message, "nil pointer") {
		t.Errorf("got %+v", failure)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "panicked at ") || !strings.Contains(strings.SplitN(notes[0], "\n", 2)[0], "plugin_test.go:") {
		t.Errorf("got %q", notes)
	}
	_, failure = syrch.Guard(note, func() (int, error) {
		return 0, fmt.Errorf("reading: %w", syrch.Fail(syrch.UnsupportedFailure, "not here"))
	})
	if failure.Kind != syrch.UnsupportedFailure || failure.Message != "not here" {
		t.Errorf("got %+v", failure)
	}
}
