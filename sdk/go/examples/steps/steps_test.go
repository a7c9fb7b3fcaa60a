package main

import (
	"slices"
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func TestAClaimHasTheProbabilityOfItsStepLessItsErrors(t *testing.T) {
	steps, err := plugin.With("")
	if err != nil {
		t.Fatal(err)
	}
	got := steps.Calibrate([]syrch.Claim{
		{Confidence: 0.49}, {Confidence: 0.5}, {Confidence: 1}, {Confidence: 0.1, Signals: syrch.Signals{SyntaxErrors: 3}},
	})
	if want := []float64{0.2, 0.5, 0.8, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
