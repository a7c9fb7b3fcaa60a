package main

import (
	"github.com/syrch/syrch-host/sdk/go/role/calibrator"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func init() { calibrator.Export(plugin) }

// Calibrate halves what is claimed after more attempts than usual.
func (p Plugin) Calibrate(claims []syrch.Claim) []float64 {
	probabilities := make([]float64, len(claims))
	for at, claim := range claims {
		probabilities[at] = claim.Confidence
		if claim.Signals.Attempts > p.Most {
			probabilities[at] /= 2
		}
	}
	return probabilities
}
