package syrch_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

// agree stops when that many results are equal.
type agree struct {
	most   int
	rounds bool
	// How often the prompts may be made shorter.
	shorter int
}

func (a *agree) Request(number uint32, _ *syrch.Pool) syrch.Request {
	return syrch.Ask(syrch.ForGenerating).User(fmt.Sprintf("draw %d", number)).Number(number - 1).SQL()
}

func (a *agree) Missing(pool *syrch.Pool) uint32 {
	largest := 0
	if clusters := pool.Clusters(false); len(clusters) > 0 {
		largest = len(clusters[0].Members)
	}
	return uint32(max(a.most-largest, 0))
}

func (a *agree) InRounds() bool { return a.rounds }

func (a *agree) Shorten() bool {
	a.shorter--
	return a.shorter >= 0
}

func (a *agree) Standings(pool *syrch.Pool) []syrch.Standing {
	var standings []syrch.Standing
	for _, cluster := range pool.Clusters(false) {
		reason := fmt.Sprintf("%d of %s", len(cluster.Members), syrch.Count(uint64(pool.Ran()), "result"))
		standings = append(standings, syrch.Standing{Cluster: cluster, Confidence: 0.5, Reason: reason})
	}
	return standings
}

// scripted returns a host whose model draws these results in turn: `SELECT n` gives n, `EMPTY` no rows, and `BAD` fails its check.
func scripted(draws ...string) *syrchtest.Host {
	host := syrchtest.NewHost()
	for _, sql := range draws {
		host.Model.ReplySQL(sql, 0.7)
		switch number := strings.TrimPrefix(sql, "SELECT "); {
		case sql == "EMPTY":
			host.Database.Answer(sql, syrchtest.Rows([]string{"n"}))
		case number == sql:
			host.Database.FailCheck(sql, syrch.SyntaxError, "cannot parse")
		default:
			host.Database.Answer(sql, syrchtest.Rows([]string{"n"}, []syrch.Value{syrch.TextValue(strings.Fields(number)[0])}))
		}
	}
	return host
}

func TestADrawingStopsWhenEnoughAgree(t *testing.T) {
	host := scripted("SELECT 1", "SELECT 2", "SELECT 1 --", "SELECT 3")
	drawing := syrch.NewDrawing(host, &syrch.Task{ID: "A"}, 5, 1000)
	if err := drawing.Run(&agree{most: 2}); err != nil {
		t.Fatal(err)
	}
	if drawing.Started() != 3 || !reflect.DeepEqual(drawing.Pool.Clusters(false)[0].Members, []uint32{1, 3}) {
		t.Errorf("started %d: %v", drawing.Started(), drawing.Pool.Clusters(false))
	}
	if got := len(host.Trace.Proposed); got != 3 || host.Trace.Proposed[2].Signals.Attempts != 3 {
		t.Errorf("proposed %d: %+v", got, host.Trace.Proposed)
	}
}

// watchful is a sampler that is shown its draws.
type watchful struct {
	agree
	seen []uint32
}

func (w *watchful) Seen(draw *syrch.Draw) { w.seen = append(w.seen, draw.Number) }

func TestASamplerSeesEachDrawOnce(t *testing.T) {
	host := scripted("SELECT 1", "BAD", "SELECT 2", "SELECT 1 --")
	drawing, sampler := syrch.NewDrawing(host, &syrch.Task{ID: "A"}, 5, 1000), &watchful{agree: agree{most: 2}}
	for range 2 {
		if err := drawing.Run(sampler); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(sampler.seen, []uint32{1, 2, 3, 4}) {
		t.Errorf("seen: %v", sampler.seen)
	}
}

func TestTheLogHasTheOrderOfTheDrawsWhicheverReplyIsTheQuickest(t *testing.T) {
	host := scripted("SELECT 1", "BAD", "SELECT 2")
	host.Order = func(tickets []uint32) []uint32 { return tickets[len(tickets)-1:] }
	drawing := syrch.NewDrawing(host, &syrch.Task{ID: "A"}, 3, 1000)
	if err := drawing.Run(&agree{most: 3}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, candidate := range host.Trace.Proposed {
		ids = append(ids, candidate.ID)
	}
	if !reflect.DeepEqual(ids, []string{"A.1", "A.2", "A.3"}) || host.Trace.Discarded["A.2"] != "cannot parse" {
		t.Errorf("got %v, %v", ids, host.Trace.Discarded)
	}
}

func TestAPromptThatIsTooLargeIsMadeShorter(t *testing.T) {
	host := syrchtest.NewHost()
	host.Model.Fail(syrch.ForGenerating, syrch.ModelTooLarge, "")
	host.Model.ReplySQL("SELECT 1", 1)
	host.Database.Answer("SELECT 1", syrchtest.Rows([]string{"n"}, []syrch.Value{syrch.IntegerValue(1)}))
	drawing := syrch.NewDrawing(host, &syrch.Task{ID: "A"}, 1, 1000)
	if err := drawing.Run(&agree{most: 1, shorter: 1}); err != nil || drawing.Pool.Ran() != 1 || drawing.Started() != 1 {
		t.Errorf("got %v, %d of %d", err, drawing.Pool.Ran(), drawing.Started())
	}
}

func TestAVoteIsElectedAndSaysWhy(t *testing.T) {
	host := scripted("SELECT 1", "SELECT 2", "SELECT 2 --")
	outcome, err := syrch.Elect(host, &syrch.Task{ID: "A"}, 3, 1000, &agree{most: 3})
	if err != nil {
		t.Fatal(err)
	}
	best := outcome.Candidates[0]
	if best.ID != "A.2" || best.Signals.Samples != 3 || best.Signals.Agreeing != 2 {
		t.Errorf("got %+v", best)
	}
	want := map[string]string{"A.1": "1 of 3 results, where A.2 has 2 of 3 results", "A.3": "the same result as A.2"}
	if host.Trace.Kept["A.2"] != "2 of 3 results" || !reflect.DeepEqual(host.Trace.Discarded, want) {
		t.Errorf("got %v, %v", host.Trace.Kept, host.Trace.Discarded)
	}
}

func TestARejectedResultIsDrawnAgain(t *testing.T) {
	host := scripted("SELECT 1", "SELECT 2")
	host.Judges.Verdicts = map[string]syrch.Verdict{"SELECT 1": syrch.Reject(0, "too small"), "SELECT 2": syrch.Accept(0.9, "fine")}
	outcome, err := syrch.Elect(host, &syrch.Task{ID: "A"}, 3, 1000, &agree{most: 1})
	if err != nil || len(outcome.Candidates) != 1 {
		t.Fatalf("got %+v, %v", outcome, err)
	}
	if best := outcome.Candidates[0]; best.SQL != "SELECT 2" || *best.Score != 0.9 {
		t.Errorf("got %+v", best)
	}
	if reason := host.Trace.Discarded["A.1"]; reason != "rejected: too small" {
		t.Errorf("got %q", reason)
	}
}

func TestWithoutAResultTheOutcomeIsEmptyOrTheCallFails(t *testing.T) {
	host := scripted("BAD")
	outcome, err := syrch.Elect(host, &syrch.Task{ID: "A"}, 1, 1000, &agree{most: 1})
	if err != nil || len(outcome.Candidates) != 0 {
		t.Errorf("got %+v, %v", outcome, err)
	}
	if note := host.Trace.Notes[0].Message; note != "no statement did after 1 of 1 attempts: cannot parse" {
		t.Errorf("got %q", note)
	}
	host = syrchtest.NewHost()
	host.Model.Fail(syrch.ForGenerating, syrch.ModelUnavailable, "no network")
	_, err = syrch.Elect(host, &syrch.Task{ID: "A"}, 1, 1000, &agree{most: 1})
	if failure := syrch.AsFailure(err); failure.Kind != syrch.ModelFailure || !failure.Retryable {
		t.Errorf("got %+v", failure)
	}
}

func TestARowIsReadAsFarAsItIsGranted(t *testing.T) {
	host := syrchtest.NewHost()
	one := []syrch.Value{syrch.IntegerValue(1)}
	results := syrchtest.Rows([]string{"n"}, one, one, one, one)
	if page, err := host.Read(results, 1, 10); err != nil || len(page.Rows) != 2 || !page.Clipped {
		t.Errorf("got %v, %v", page, err)
	}
	host.Database.GrantedRows = nil
	if _, err := host.Read(results, 0, 1); syrch.ErrorKind(err) != "denied" {
		t.Errorf("got %v", err)
	}
}

func TestAPanicBecomesAFailureWithItsText(t *testing.T) {
	var notes []string
	note := func(_ syrch.Level, message string) { notes = append(notes, message) }
	_, failure := syrch.Guard(note, func() (int, error) {
		var graph *syrch.Graph
		return len(graph.Tasks), nil
	})
	if failure == nil || failure.Kind != syrch.InternalFailure || !strings.Contains(failure.Message, "nil pointer") {
		t.Errorf("got %+v", failure)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "panicked at ") || !strings.Contains(strings.SplitN(notes[0], "\n", 2)[0], "draws_test.go:") {
		t.Errorf("got %q", notes)
	}
	_, failure = syrch.Guard(note, func() (int, error) {
		return 0, fmt.Errorf("reading: %w", syrch.Fail(syrch.UnsupportedFailure, "not here"))
	})
	if failure.Kind != syrch.UnsupportedFailure || failure.Message != "not here" {
		t.Errorf("got %+v", failure)
	}
}
