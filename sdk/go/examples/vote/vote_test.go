package main

import (
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func host() *syrchtest.Host {
	host := syrchtest.NewHost()
	rows := func(number int64) *syrchtest.Results {
		return syrchtest.Rows([]string{"n"}, []syrch.Value{syrch.IntegerValue(number)})
	}
	host.Database.Answer("SELECT 1", rows(1))
	host.Database.Answer("SELECT 2", rows(2))
	host.Database.Answer("SELECT 1 + 1", rows(2))
	return host
}

func solve(t *testing.T, host *syrchtest.Host) syrch.Outcome {
	t.Helper()
	vote, err := plugin.With("")
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := vote.Solve(
		host, syrch.Problem{Question: "How many?"}, syrch.Catalog{Dialect: syrch.SQLite}, syrch.Task{ID: "A", Text: "How many?"}, nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func TestTheResultOfMostDrawsWins(t *testing.T) {
	host := host()
	host.Model.ReplySQL("SELECT 1", 0.9)
	host.Model.ReplySQL("SELECT 2", 0.5)
	host.Model.ReplySQL("SELECT 1 + 1", 0.6)
	found := solve(t, host).Candidates
	if len(found) != 2 || found[0].SQL != "SELECT 2" || found[0].Signals.Agreeing != 2 {
		t.Errorf("got %+v", found)
	}
	if reason := host.Trace.Kept["A.2"]; reason != "2 of 3 results" {
		t.Errorf("got %q", reason)
	}
	if reason := host.Trace.Discarded["A.3"]; reason != "the same result as A.2" {
		t.Errorf("got %q", reason)
	}
}

func TestEquallyManyVotesAreDecidedByTheStatedConfidence(t *testing.T) {
	host := host()
	host.Model.ReplySQL("SELECT 1", 0.5)
	host.Model.ReplySQL("SELECT 2", 0.9)
	host.Model.ReplySQL("SELECT 3", 1)
	if found := solve(t, host).Candidates; found[0].SQL != "SELECT 2" {
		t.Errorf("got %+v", found)
	}
}

func TestWithoutAStatementThereIsAWarning(t *testing.T) {
	host := host()
	if found := solve(t, host).Candidates; len(found) != 0 {
		t.Errorf("got %+v", found)
	}
	if note := host.Trace.Notes[0]; note.Level != syrch.Warn || note.Message != "no statement: the model provider cannot do this: nothing scripted" {
		t.Errorf("got %+v", note)
	}
}
