package syrch

import (
	"errors"
	"slices"
	"sort"
)

// This file draws several statements for one task, with a stop as early as the strategy allows. A Drawing starts model calls concurrently, tests
// each statement as its reply arrives, and stores the draws in a Pool by their numbers, not by their arrival. Since never more draws are in
// flight than the strategy needs at least, no more are made than one after the other would take.

// A Sampler is what a strategy decides about a drawing. A type that also has the method `Seen(draw *Draw)` is shown each draw once after it ended,
// before the next call of Missing.
type Sampler interface {
	// Request returns the request of a draw. The pool has the draws that ended; earlier draws than this one may still be in flight.
	Request(number uint32, pool *Pool) Request
	// Missing returns the least number of further draws, those in flight included, after which the vote may be decided whatever they give; 0
	// if it is decided.
	Missing(pool *Pool) uint32
	// InRounds reports whether all draws in flight have to end before others start. If prompts contain earlier results, this keeps them
	// independent of which reply was the quickest.
	InRounds() bool
	// Shorten makes the prompts shorter, after one was too large; false if they cannot be.
	Shorten() bool
}

// DrawRequest returns the request of a draw: a repair of the statements in tried, or, if there are none, a fresh one at that temperature. Nil leaves
// the temperature to the host.
func DrawRequest(brief *Brief, tried []Tried, number uint32, temperature *float64) Request {
	request := brief.Request(tried, max(number, 1)-1)
	if request.Purpose == ForRepair {
		request.Sample -= min(request.Sample, uint32(len(request.Subjects)))
	} else if temperature != nil {
		request = request.Heat(*temperature)
	}
	return request
}

// DrawingHost has the ports that a drawing needs.
type DrawingHost interface {
	WaitPort
	LLMPort
	InspectPort
	SQLPort
	TracePort
}

// A Drawing has the draws in flight and those that ended.
type Drawing struct {
	// Pool has the draws that ended.
	Pool   Pool
	host   DrawingHost
	task   *Task
	most   uint32
	trials *Tester
	// Draws are logged in the order of their numbers: how many were started, and how many were logged.
	started, logged uint32
	inFlight        []*drawCall
	// The numbers of draws whose prompts were too large and that are to be requested again, ascending.
	again []uint32
	// How often the prompts were made shorter.
	shortened uint32
	// The numbers of the draws that the sampler was shown.
	seen map[uint32]bool
}

type drawCall struct {
	number, repairs, shortened uint32
	pending                    PendingReply
}

// NewDrawing returns a drawing of at most that many statements. More rows than overflowRows are a doubt.
func NewDrawing(host DrawingHost, task *Task, most uint32, overflowRows uint64) *Drawing {
	return &Drawing{host: host, task: task, most: most, trials: NewTester(overflowRows), seen: map[uint32]bool{}}
}

// Close gives the handles of all results back to the host.
func (d *Drawing) Close() { d.trials.Close() }

// Started returns how many draws were started.
func (d *Drawing) Started() uint32 { return d.started }

// Run draws until the sampler has enough. It can be called again, for example after a result was rejected. The error says why no more draws can be
// made: a *ModelError that abstains is no failure. If the model abstains or fails, the draws in flight are waited for, since they are charged
// anyway; if the database fails, they are cancelled. A prompt that is too large does not count as a draw: it is made shorter and requested
// again, once for each of its sizes.
func (d *Drawing) Run(sampler Sampler) error {
	var stopped error
	for {
		if stopped == nil && (len(d.inFlight) == 0 || !sampler.InRounds()) {
			missing := sampler.Missing(&d.Pool)
			if missing == 0 {
				d.cancel()
				return nil
			}
			d.start(sampler, int(missing))
		}
		if len(d.inFlight) == 0 {
			d.cancel()
			return stopped
		}
		err := d.receive(sampler, &stopped)
		if err != nil {
			d.cancel()
		}
		d.log()
		d.show(sampler)
		if err != nil {
			return err
		}
	}
}

// show shows the draws that ended to a sampler that likes to see them.
func (d *Drawing) show(sampler Sampler) {
	shown, isShown := sampler.(interface{ Seen(*Draw) })
	if !isShown {
		return
	}
	for _, draw := range d.Pool.draws {
		if !d.seen[draw.Number] {
			d.seen[draw.Number] = true
			shown.Seen(draw)
		}
	}
}

func (d *Drawing) start(sampler Sampler, missing int) {
	for len(d.inFlight) < missing {
		number := d.next()
		if number == 0 {
			return
		}
		request := sampler.Request(number, &d.Pool)
		d.inFlight = append(d.inFlight, &drawCall{number, d.repaired(&request), d.shortened, d.host.StartReply(request)})
	}
}

// next returns the number of the draw to start next: one that is requested again, else a new one; 0 if all were started.
func (d *Drawing) next() uint32 {
	if len(d.again) > 0 {
		number := d.again[0]
		d.again = d.again[1:]
		return number
	}
	if d.started >= d.most {
		return 0
	}
	d.started++
	return d.started
}

// repaired returns the draw whose statement is the last of those that a repair is about.
func (d *Drawing) repaired(request *Request) uint32 {
	if request.Purpose != ForRepair || len(request.Subjects) == 0 {
		return 0
	}
	last := request.Subjects[len(request.Subjects)-1]
	for _, draw := range slices.Backward(d.Pool.draws) {
		if draw.SQL == last {
			return draw.Number
		}
	}
	return 0
}

func (d *Drawing) cancel() {
	for _, call := range d.inFlight {
		call.pending.Cancel()
		call.pending.Close()
	}
	d.inFlight, d.again = nil, nil
	d.log()
}

// log reports each statement after all with smaller numbers have ended, so that the log does not depend on which call was quicker. The reason of
// a failed one follows at once.
func (d *Drawing) log() {
	for ; d.logged < d.started; d.logged++ {
		number := d.logged + 1
		draw := d.Pool.Draw(number)
		if draw == nil && d.isAwaited(number) {
			return
		}
		if draw == nil || draw.SQL == "" {
			continue
		}
		candidate := d.Pool.Candidate(d.task, draw, d.most)
		d.host.Propose(candidate)
		if draw.Ran == nil {
			d.host.Discard(candidate.ID, draw.Wrong)
		}
	}
}

func (d *Drawing) isAwaited(number uint32) bool {
	inFlight := slices.ContainsFunc(d.inFlight, func(call *drawCall) bool { return call.number == number })
	return inFlight || slices.Contains(d.again, number)
}

// wait returns the calls that are ready. If none is, all are, so that no wait is endless.
func (d *Drawing) wait() []*drawCall {
	tickets := make([]uint32, len(d.inFlight))
	for at, call := range d.inFlight {
		tickets[at] = call.pending.Ticket()
	}
	ready := d.host.WaitAny(tickets)
	var calls, waiting []*drawCall
	for at, call := range d.inFlight {
		if len(ready) == 0 || slices.Contains(ready, tickets[at]) {
			calls = append(calls, call)
		} else {
			waiting = append(waiting, call)
		}
	}
	d.inFlight = waiting
	return calls
}

// receive waits for replies and tests their statements together. The error is the database's; the pool has all draws that ended then, too.
func (d *Drawing) receive(sampler Sampler, stopped *error) error {
	var calls []*drawCall
	var statements []Statement
	var texts []string
	for _, call := range d.wait() {
		result, isReady := call.pending.Get()
		if !isReady {
			result.Err = &ModelError{Kind: ModelCancelled}
		}
		call.pending.Close()
		statement, err := StatementOf(result.Value, result.Err)
		if err == nil {
			calls, statements, texts = append(calls, call), append(statements, statement), append(texts, statement.SQL)
			continue
		}
		if d.settle(sampler, call, err) && *stopped == nil {
			*stopped = err
		}
	}
	err := d.trials.Run(d.host, texts...)
	for at, call := range calls {
		d.insert(call, statements[at])
	}
	return err
}

// settle ends a call without a statement. It reports whether no more draws can be made.
func (d *Drawing) settle(sampler Sampler, call *drawCall, err error) bool {
	var missing *NoStatement
	if errors.As(err, &missing) {
		d.Pool.insert(&Draw{Number: call.number, Repairs: call.repairs, Wrong: missing.Wrong, signals: Signals{SyntaxErrors: 1}})
		return false
	}
	var failed *ModelError
	if errors.As(err, &failed) && failed.Kind == ModelTooLarge && d.shorten(sampler, call.shortened) {
		d.again = append(d.again, call.number)
		sort.Slice(d.again, func(one, other int) bool { return d.again[one] < d.again[other] })
		return false
	}
	return true
}

// shorten reports whether a prompt that was too large may be requested again: it was made shorter since, by another draw of its size, or is now.
func (d *Drawing) shorten(sampler Sampler, size uint32) bool {
	if size == d.shortened && sampler.Shorten() {
		d.shortened++
	}
	return size < d.shortened
}

func (d *Drawing) insert(call *drawCall, statement Statement) {
	trial := d.trials.Get(statement.SQL)
	if trial == nil {
		return
	}
	signals := trial.Signals
	signals.LogProb, signals.Extra = statement.LogProb, []Measure{{"tokens", statement.Tokens}}
	d.Pool.insert(&Draw{
		Number: call.number, Repairs: call.repairs, SQL: statement.SQL, Confidence: statement.Confidence, Ran: trial.Ran, Wrong: trial.Wrong,
		signals: signals,
	})
}
