package syrchtest

import "github.com/syrch/syrch-host/sdk/go/syrch"

// A Model has replies by purpose, each used once and in order. A purpose without a reply left is `unsupported`, as of a provider without a
// model.
type Model struct {
	// Names are those that a request may have.
	Names []string
	// Requests are those that were made so far.
	Requests []syrch.Request
	script   map[syrch.Purpose][]syrch.Result[syrch.Reply]
}

// Reply returns a reply with that text and that parsed document, of ten tokens. Without a document it is nil.
func Reply(text string, parsed any) syrch.Reply {
	reply := syrch.Reply{Text: text, Usage: syrch.Usage{InputTokens: 6, OutputTokens: 4, Model: "fake"}}
	if parsed != nil {
		reply.Parsed = new(syrch.JSON(parsed))
	}
	return reply
}

// Script sets the next reply for a purpose.
func (m *Model) Script(purpose syrch.Purpose, reply syrch.Reply) {
	m.add(purpose, syrch.Result[syrch.Reply]{Value: reply})
}

// Fail sets the next reply for a purpose to an error.
func (m *Model) Fail(purpose syrch.Purpose, kind syrch.ModelErrorKind, text string) {
	m.add(purpose, syrch.Result[syrch.Reply]{Err: &syrch.ModelError{Kind: kind, Text: text}})
}

// ReplySQL sets the next statement for ForGenerating, with the confidence that the model states.
func (m *Model) ReplySQL(sql string, confidence float64) {
	m.Script(syrch.ForGenerating, Reply(sql, map[string]any{"sql": sql, "confidence": confidence}))
}

// RepairSQL sets the next statement for ForRepair, with the confidence that the model states.
func (m *Model) RepairSQL(sql string, confidence float64) {
	m.Script(syrch.ForRepair, Reply(sql, map[string]any{"sql": sql, "confidence": confidence}))
}

// Prompt returns the whole text of one request's messages.
func (m *Model) Prompt(at int) string {
	text := ""
	for place, message := range m.Requests[at].Messages {
		if place > 0 {
			text += "\n"
		}
		text += message.Text
	}
	return text
}

func (m *Model) add(purpose syrch.Purpose, result syrch.Result[syrch.Reply]) {
	if m.script == nil {
		m.script = map[syrch.Purpose][]syrch.Result[syrch.Reply]{}
	}
	m.script[purpose] = append(m.script[purpose], result)
}

func (m *Model) answer(request syrch.Request) (syrch.Reply, error) {
	m.Requests = append(m.Requests, request)
	left := m.script[request.Purpose]
	if len(left) == 0 {
		return syrch.Reply{}, &syrch.ModelError{Kind: syrch.ModelUnsupported, Text: "nothing scripted"}
	}
	m.script[request.Purpose] = left[1:]
	return left[0].Value, left[0].Err
}
