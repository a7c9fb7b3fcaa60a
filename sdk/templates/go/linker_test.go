package main

import (
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestNamedTablesAreSelected(t *testing.T) {
	catalog := syrch.Catalog{Tables: []syrch.Table{{Name: "customers"}, {Name: "orders"}}}
	linked, err := with(t, "").Link(syrchtest.NewHost(), syrch.Problem{Question: "How many Orders?"}, catalog)
	if err != nil || len(linked.Tables) != 1 || linked.Tables[0].Table != "orders" {
		t.Errorf("got %+v, %v", linked, err)
	}
}
