package main

import (
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestTheQuestionComesLast(t *testing.T) {
	catalog := syrch.Catalog{Tables: []syrch.Table{{Name: "orders"}}}
	graph, err := with(t, "").Plan(syrchtest.NewHost(), syrch.Problem{Question: "How many orders?"}, catalog)
	if err != nil || len(graph.Tasks) != 2 {
		t.Fatalf("got %+v, %v", graph, err)
	}
	if graph.Tasks[0].Text != "How many orders? (table orders)" || graph.Answer != "A" || graph.Tasks[1].DependsOn[0] != "T1" {
		t.Errorf("got %+v", graph)
	}
}
