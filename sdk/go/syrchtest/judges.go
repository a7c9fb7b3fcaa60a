package syrchtest

import "github.com/syrch/syrch-host/sdk/go/syrch"

// Judges are a calibrator and a reward. Without a script each claim is calibrated to itself, and the reward is `unavailable`.
type Judges struct {
	// Calibrate is what calibration makes of a claim.
	Calibrate func(claim syrch.Claim) float64
	// CalibrateErr is why the calibrator cannot be asked, when it cannot.
	CalibrateErr error
	// Verdicts are those on statements.
	Verdicts map[string]syrch.Verdict
	// RewardErr is why the reward cannot be asked, when it cannot.
	RewardErr error
	// Asked has the statements that the reward was asked about, by call.
	Asked [][]string
}

func (j *Judges) calibrate(claims []syrch.Claim) ([]float64, error) {
	if j.CalibrateErr != nil {
		return nil, j.CalibrateErr
	}
	numbers := make([]float64, len(claims))
	for at, claim := range claims {
		numbers[at] = claim.Confidence
		if j.Calibrate != nil {
			numbers[at] = j.Calibrate(claim)
		}
	}
	return numbers, nil
}

func (j *Judges) judge(candidates []syrch.Candidate) ([]syrch.Verdict, error) {
	var asked []string
	var verdicts []syrch.Verdict
	for _, candidate := range candidates {
		asked = append(asked, candidate.SQL)
		verdict, isKnown := j.Verdicts[candidate.SQL]
		if !isKnown {
			verdict = syrch.CannotJudge("nothing scripted")
		}
		verdicts = append(verdicts, verdict)
	}
	j.Asked = append(j.Asked, asked)
	if j.RewardErr != nil {
		return nil, j.RewardErr
	}
	return verdicts, nil
}

// A Retrieval finds the hits of the test's script. Without vectors there is no model for embeddings.
type Retrieval struct {
	// Vectors are those of texts.
	Vectors map[string][]float32
	// Hits are those of queries by corpus and retriever, whatever the text.
	Hits map[syrch.Corpus]map[syrch.Retriever][]syrch.Hit
	// Queries are those that were made so far.
	Queries []syrch.RetrievalQuery
}

func (s *Retrieval) find(query syrch.RetrievalQuery) ([]syrch.Hit, error) {
	s.Queries = append(s.Queries, query)
	switch {
	case query.Corpus == syrch.CorpusCells:
		return nil, &syrch.PortError{Kind: syrch.PortDenied, Text: "the port `cells` has them"}
	case query.Retriever == syrch.Vector && s.Vectors == nil:
		return nil, &syrch.PortError{Kind: syrch.PortUnsupported}
	}
	hits := s.Hits[query.Corpus][query.Retriever]
	return hits[:min(len(hits), int(query.Limit))], nil
}

func (s *Retrieval) embed(texts []string) ([][]float32, error) {
	if s.Vectors == nil {
		return nil, &syrch.PortError{Kind: syrch.PortUnsupported}
	}
	var vectors [][]float32
	for _, text := range texts {
		vector, isKnown := s.Vectors[text]
		if !isKnown {
			return nil, &syrch.PortError{Kind: syrch.PortUnknownName, Text: text}
		}
		vectors = append(vectors, vector)
	}
	return vectors, nil
}

// Rewrites calls a rewriter as the optimizer does: once for each of trials, which are the outcomes of its proposals in order. An accepted proposal is
// the best statement from then on. The proposals are fewer than the trials if the rewriter had no more.
func Rewrites(
	plugin syrch.RewriterRole, host *Host, original string, catalog syrch.Catalog, trials ...syrch.Trial,
) ([]syrch.Proposal, error) {
	best := original
	var history []syrch.Attempt
	var proposals []syrch.Proposal
	for _, trial := range trials {
		plan, err := host.Explain(best)
		if err != nil {
			plan = syrch.Plan{Format: "text"}
		}
		proposal, err := plugin.Rewrite(host, original, best, plan, catalog, history)
		if proposal == nil || err != nil {
			return proposals, err
		}
		if trial.Kind == syrch.TrialAccepted {
			best = proposal.SQL
		}
		history = append(history, syrch.Attempt{SQL: proposal.SQL, Family: proposal.Family, Trial: trial})
		proposals = append(proposals, *proposal)
	}
	return proposals, nil
}
