package main

import (
	"reflect"
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestLongResultsAreRejected(t *testing.T) {
	short, err := plugin.With(`{"most_rows": 20}`)
	if err != nil {
		t.Fatal(err)
	}
	rivals := []syrch.Rival{
		{Results: syrchtest.Rows([]string{"n"}).Counted(20)},
		{Results: syrchtest.Rows([]string{"n"}).Counted(21)},
	}
	verdicts, err := short.Judge(syrchtest.NewHost(), syrch.Problem{}, syrch.Catalog{}, syrch.Task{}, rivals)
	want := []syrch.Verdict{syrch.Accept(1, "20 rows"), syrch.Reject(0, "21 rows are too many")}
	if err != nil || !reflect.DeepEqual(verdicts, want) {
		t.Errorf("got %v, %v", verdicts, err)
	}
}
