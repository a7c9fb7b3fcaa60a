package main

import (
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestManyRowsAreRejected(t *testing.T) {
	rivals := []syrch.Rival{{Results: syrchtest.Rows([]string{"n"}).Counted(3)}}
	plugin := with(t, `{"most": 2}`)
	verdicts, err := plugin.Judge(syrchtest.NewHost(), syrch.Problem{}, syrch.Catalog{}, syrch.Task{}, rivals)
	if err != nil || verdicts[0].Kind != syrch.Rejected || verdicts[0].Reason != "3 rows are too many" {
		t.Errorf("got %+v, %v", verdicts, err)
	}
}
