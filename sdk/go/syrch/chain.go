package syrch

// A Chain has the attempts at one statement: the first one and its repairs.
type Chain struct {
	// Tried has the earlier statements and what was wrong with them, the oldest first.
	Tried []Tried
	// Signals are the counts over all attempts of the chain.
	Signals Signals
	lastID  string
}

// NewChain returns a chain of at most that many attempts.
func NewChain(maxAttempts uint32) Chain { return Chain{Signals: Signals{MaxAttempts: maxAttempts}} }

// Statements returns how many of the earlier replies had a statement.
func (c *Chain) Statements() int {
	count := 0
	for _, tried := range c.Tried {
		if tried.SQL != "" {
			count++
		}
	}
	return count
}

// Origin returns the origin of the chain's next candidate.
func (c *Chain) Origin() string {
	if c.Statements() > 0 {
		return "repair"
	}
	return "generate"
}

// Fail adds what was wrong with a statement, which the next request is to repair.
func (c *Chain) Fail(sql, wrong string) { c.Tried = append(c.Tried, Tried{sql, wrong}) }

// FailWithoutStatement adds a reply without a statement.
func (c *Chain) FailWithoutStatement(wrong string) {
	c.Signals.SyntaxErrors++
	c.Fail("", wrong)
}

// Candidate returns the candidate of the chain's next statement, a child of the one before. The errors of its own counts are added to those of the
// chain, while the shape of the result stays its own.
func (c *Chain) Candidate(id, origin string, statement Statement, own Signals) Candidate {
	c.Signals.addErrors(&own)
	signals := c.Signals
	signals.EmptyResult, signals.NullColumns, signals.Overflow = own.EmptyResult, own.NullColumns, own.Overflow
	var parents []string
	if c.lastID != "" {
		parents = []string{c.lastID}
	}
	c.lastID = id
	return statement.Candidate(id, parents, origin, signals)
}
