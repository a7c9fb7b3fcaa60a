package main

import (
	"reflect"
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func graph(t *testing.T, config string) syrch.Graph {
	t.Helper()
	tables, err := plugin.With(config)
	if err != nil {
		t.Fatal(err)
	}
	catalog := syrch.Catalog{Tables: []syrch.Table{{Name: "customers"}, {Name: "Orders"}, {Name: "notes"}}}
	graph, err := tables.Plan(syrchtest.NewHost(), syrch.Problem{Question: "Which customers have no orders?"}, catalog)
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

func TestThereIsOneTask(t *testing.T) {
	want := syrch.SingleTask(syrch.Task{ID: "A", Text: "Which customers have no orders?"})
	if got := graph(t, ""); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestEachTableOfTheQuestionHasATask(t *testing.T) {
	got := graph(t, `{"per_table": true}`)
	if len(got.Tasks) != 3 || got.Tasks[1].Text != "Which customers have no orders? (table Orders)" {
		t.Fatalf("got %+v", got.Tasks)
	}
	last := got.Tasks[2]
	if !reflect.DeepEqual(last.DependsOn, []string{"T1", "T2"}) || !last.Tolerant || got.Answer != "A" {
		t.Errorf("got %+v", last)
	}
}
