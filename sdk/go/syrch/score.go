package syrch

// AmbiguityWeights are the weights of the four parts of Ambiguity: how far the best confidence is from certainty; the population variance of the
// confidences, when there are at least two; an error, which counts 0.5; and an empty result without an error, which counts 0.3.
type AmbiguityWeights struct{ Doubt, Variance, Error, Empty float64 }

// DefaultAmbiguity returns the weights of the default strategy.
func DefaultAmbiguity() AmbiguityWeights {
	return AmbiguityWeights{Doubt: 0.35, Variance: 0.15, Error: 0.30, Empty: 0.20}
}

// Ambiguity returns how unclear a task is after its attempts, 0 to 1: nothing found at all is 1. The clarifier of the default strategy asks by it, and
// the aggregator discounts by it.
func (w AmbiguityWeights) Ambiguity(confidences []float64, isError, isEmpty bool) float64 {
	if len(confidences) == 0 {
		return 1
	}
	best := 0.0
	for _, confidence := range confidences {
		best = max(best, Clamp01(confidence))
	}
	// The conversions keep the compiler from rounding once where others round twice.
	score := float64(w.Doubt * (1 - best))
	if len(confidences) >= 2 {
		score += float64(w.Variance * min(variance(confidences), 1))
	}
	if isError {
		score += float64(w.Error * 0.5)
	} else if isEmpty {
		score += float64(w.Empty * 0.3)
	}
	return Clamp01(score)
}

// AmbiguityOf returns the score of an observed task. It is false for a task that never ran because of another one, or was cancelled: that one is not
// unclear itself.
func (w AmbiguityWeights) AmbiguityOf(seen *Observation) (float64, bool) {
	if seen.Ending.Kind == Skipped || seen.Ending.Kind == Cancelled {
		return 0, false
	}
	confidences := make([]float64, len(seen.Candidates))
	for at := range seen.Candidates {
		confidences[at] = seen.Candidates[at].Sureness()
	}
	isError := seen.Ending.Kind == Failed
	return w.Ambiguity(confidences, isError, !isError && seen.HasNoRows()), true
}

// HasNoRows reports whether a task ended with a result that has no rows.
func (o *Observation) HasNoRows() bool {
	return o.Ending.Kind == Empty || o.Profile != nil && o.Profile.Rows == 0
}

// variance returns the population variance.
func variance(values []float64) float64 {
	count, sum := float64(len(values)), 0.0
	for _, value := range values {
		sum += Clamp01(value)
	}
	mean, squares := sum/count, 0.0
	for _, value := range values {
		distance := Clamp01(value) - mean
		squares += float64(distance * distance)
	}
	return squares / count
}
