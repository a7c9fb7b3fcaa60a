// The calibrator steps reads the probability of a claim from a list of steps.
package main

import (
	"github.com/syrch/syrch-host/sdk/go/role/calibrator"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// Settings are what the user may set.
type Settings struct {
	Steps [][2]float64 `setting:"steps" default:"[[0.0, 0.2], [0.5, 0.5], [0.9, 0.8]]" help:"Pairs of a claim and the probability from there on, ascending."`
}

// Steps is the plugin.
type Steps struct{ Settings }

var plugin = syrch.New("steps", "1.0.0", "reads probabilities from a list of steps", func(settings Settings) Steps {
	return Steps{settings}
})

func init() { calibrator.Export(plugin) }

func main() {}

// Calibrate returns the probability of each claim's step, less a tenth for each failed attempt.
func (s Steps) Calibrate(claims []syrch.Claim) []float64 {
	probabilities := make([]float64, len(claims))
	for at, claim := range claims {
		for _, step := range s.Settings.Steps {
			if step[0] <= claim.Confidence {
				probabilities[at] = step[1]
			}
		}
		errors := claim.Signals.SyntaxErrors + claim.Signals.SchemaErrors + claim.Signals.ExecutionErrors
		probabilities[at] = syrch.Clamp01(probabilities[at] - 0.1*float64(errors))
	}
	return probabilities
}
