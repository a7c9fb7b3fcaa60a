package syrch_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

// scripted returns a host whose database gives one row for `SELECT 1` and none for `EMPTY`, does not know a column of `BAD`, and is gone when `GONE`
// is run.
func scripted() *syrchtest.Host {
	host := syrchtest.NewHost()
	host.Database.Answer("SELECT 1", syrchtest.Rows([]string{"n"}, []syrch.Value{syrch.IntegerValue(1)}))
	host.Database.Answer("EMPTY", syrchtest.Rows([]string{"n"}))
	host.Database.FailCheck("BAD", syrch.UnknownColumn, "no column x")
	host.Database.FailRun("GONE", syrch.SQLUnavailable, "locked")
	return host
}

func TestAStatementHasTheTokensOfItsCall(t *testing.T) {
	host := syrchtest.NewHost()
	host.Model.ReplySQL("SELECT 1", 0.5)
	statement, err := syrch.StatementOf(host.Complete(syrch.Ask(syrch.ForGenerating).SQL()))
	if err != nil || statement.SQL != "SELECT 1" || *statement.Confidence != 0.5 || statement.Tokens != 10 {
		t.Errorf("got %+v, %v", statement, err)
	}
}

func TestAReplyWithoutAStatementIsToldFromAModelThatFails(t *testing.T) {
	host := syrchtest.NewHost()
	host.Model.Fail(syrch.ForGenerating, syrch.ModelMalformed, "I cannot")
	host.Model.Fail(syrch.ForGenerating, syrch.ModelRefused, "no model")
	request := syrch.Ask(syrch.ForGenerating).SQL()
	_, err := syrch.StatementOf(host.Complete(request))
	var missing *syrch.NoStatement
	if !errors.As(err, &missing) || missing.Wrong != "the reply held no statement; it began: I cannot" {
		t.Errorf("got %v", err)
	}
	_, err = syrch.StatementOf(host.Complete(request))
	var failed *syrch.ModelError
	if !errors.As(err, &failed) || !failed.Abstains() {
		t.Errorf("got %v", err)
	}
}

func TestEachTextIsCheckedAndRunOnce(t *testing.T) {
	host, tester := scripted(), syrch.NewTester(1000)
	defer tester.Close()
	for _, texts := range [][]string{{"SELECT 1", "BAD", "SELECT 1"}, {"SELECT 1", "EMPTY"}} {
		if err := tester.Run(host, texts...); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(host.Database.Log, []string{"SELECT 1", "EMPTY"}) {
		t.Errorf("ran %v", host.Database.Log)
	}
	if bad := tester.Get("BAD"); bad.Ran != nil || bad.Wrong != "no column x" || bad.Signals.SchemaErrors != 1 {
		t.Errorf("got %+v", bad)
	}
	if doubts := tester.Get("EMPTY").Ran.Doubts; !reflect.DeepEqual(doubts, []string{"the result has no rows"}) {
		t.Errorf("got %v", doubts)
	}
}

func TestADatabaseThatIsGoneIsAFailure(t *testing.T) {
	host, tester := scripted(), syrch.NewTester(1000)
	defer tester.Close()
	failure := syrch.AsFailure(tester.Run(host, "SELECT 1", "GONE"))
	if failure.Kind != syrch.DatabaseFailure || !failure.Retryable || failure.Message != "locked" {
		t.Errorf("got %+v", failure)
	}
	if tester.Get("SELECT 1").Ran == nil || tester.Get("GONE").Stopped == nil {
		t.Errorf("got %+v, %+v", tester.Get("SELECT 1"), tester.Get("GONE"))
	}
}
