package syrch

// Weights are how much each signal takes off a confidence, as the built-in calibrator `signals` has it: the table of syrch 0.1.2. Embedded in a
// plugin's settings, they are settings of the same names.
type Weights struct {
	Syntax     float64 `setting:"syntax" default:"0.1" least:"0" most:"1" help:"Taken off when an attempt did not parse."`
	Schema     float64 `setting:"schema" default:"0.05" least:"0" most:"1" help:"Taken off when an attempt named what the catalog lacks."`
	Execution  float64 `setting:"execution" default:"0.1" least:"0" most:"1" help:"Taken off when an attempt failed while running."`
	Empty      float64 `setting:"empty" default:"0.15" least:"0" most:"1" help:"Taken off when the result has no rows."`
	NullColumn float64 `setting:"null_column" default:"0.05" least:"0" most:"1" help:"Taken off when a column of the result is NULL throughout."`
	Overflow   float64 `setting:"overflow" default:"0.05" least:"0" most:"1" help:"Taken off when the result is larger than expected."`
	Retry      float64 `setting:"retry" default:"0.05" least:"0" most:"1" help:"Taken off when the last allowed attempt was needed; earlier attempts lose their share of it."`
}

// Discounted returns the claim times 1 - weight for each signal that occurred, however often, between 0 and 1.
func (w *Weights) Discounted(raw float64, signals *Signals) float64 {
	confidence := Clamp01(raw)
	for _, signal := range []struct {
		occurred bool
		weight   float64
	}{
		{signals.SyntaxErrors > 0, w.Syntax},
		{signals.SchemaErrors > 0, w.Schema},
		{signals.ExecutionErrors > 0, w.Execution},
		{signals.EmptyResult, w.Empty},
		{signals.NullColumns > 0, w.NullColumn},
		{signals.Overflow, w.Overflow},
	} {
		if signal.occurred {
			confidence *= 1 - signal.weight
		}
	}
	// The conversion keeps the compiler from rounding once where others round twice.
	retries := float64(w.Retry * retryShare(signals.Attempts, signals.MaxAttempts))
	return Clamp01(confidence * (1 - retries))
}

// retryShare returns nothing for the first attempt, and nothing when only one is allowed.
func retryShare(attempts, most uint32) float64 {
	if most <= 1 {
		return 0
	}
	return float64(min(max(attempts, 1), most)-1) / float64(most)
}
