package main

import (
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestTheStatementOfTheModelIsTheCandidate(t *testing.T) {
	const sql = "SELECT count(*) FROM orders"
	host := syrchtest.NewHost()
	host.Model.ReplySQL(sql, 0.9)
	results := syrchtest.Rows([]string{"n"}, []syrch.Value{syrch.IntegerValue(7)})
	host.Database.Answer(sql, results)
	problem, task := syrch.Problem{Question: "How many orders?"}, syrch.Task{ID: "A", Text: "How many orders?"}
	outcome, err := with(t, "").Solve(host, problem, syrch.Catalog{Dialect: syrch.SQLite}, task, nil)
	if err != nil || outcome.Candidates[0].SQL != sql {
		t.Fatalf("got %+v, %v", outcome, err)
	}
	if host.Trace.Kept["A.1"] != "it ran" || results.Closed != 1 {
		t.Errorf("got %+v", host.Trace)
	}
}
