package main

import (
	"slices"
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func TestManyAttemptsHalveAClaim(t *testing.T) {
	claim := func(attempts uint32) syrch.Claim {
		return syrch.Claim{Confidence: 0.5, Signals: syrch.Signals{Attempts: attempts}}
	}
	got := with(t, `{"most": 2}`).Calibrate([]syrch.Claim{claim(2), claim(3)})
	if want := []float64{0.5, 0.25}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
