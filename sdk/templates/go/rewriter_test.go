package main

import (
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

func TestTheConditionIsDroppedOnce(t *testing.T) {
	mismatch := syrch.Trial{Kind: syrch.TrialMismatch}
	sql := "SELECT id FROM orders WHERE 1 = 1"
	proposals, err := syrchtest.Rewrites(with(t, ""), syrchtest.NewHost(), sql, syrch.Catalog{}, mismatch, mismatch)
	if err != nil || len(proposals) != 1 || proposals[0].SQL != "SELECT id FROM orders" {
		t.Errorf("got %+v, %v", proposals, err)
	}
}
