package main

import (
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestALongResultHasACaveat(t *testing.T) {
	task := syrch.Task{ID: "A", Text: "Who?"}
	finished := []syrch.Finished{{
		Name: "t_A", Task: task, Candidate: syrch.Candidate{Confidence: new(0.75)}, Results: syrchtest.Rows([]string{"n"}).Counted(3),
	}}
	plugin := with(t, `{"most": 2}`)
	answer, err := plugin.Aggregate(syrchtest.NewHost(), syrch.Problem{}, syrch.SingleTask(task), finished, nil)
	if err != nil || answer.Text != "3 rows" || answer.Confidence != 0.75 || answer.Caveats[0] != "the result is long" {
		t.Errorf("got %+v, %v", answer, err)
	}
}
