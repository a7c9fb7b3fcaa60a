package main

import (
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestFailuresAreAskedAbout(t *testing.T) {
	graph := syrch.SingleTask(syrch.Task{ID: "A", Text: "the sums"})
	failed := syrch.Ending{Kind: syrch.Failed, Failure: syrch.Failure{Kind: syrch.ModelFailure, Message: "no idea"}}
	seen := []syrch.Observation{{Task: "A", Ending: failed}}
	questions, err := with(t, "").Assess(syrchtest.NewHost(), syrch.Problem{}, syrch.Catalog{}, graph, seen)
	if err != nil || questions[0].Text != "\"the sums\" failed: no idea. How else can it be said?" {
		t.Errorf("got %+v, %v", questions, err)
	}
}
