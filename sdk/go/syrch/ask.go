package syrch

// A Speaker is who says a message.
type Speaker uint8

// The speakers.
const (
	System Speaker = iota
	User
	Assistant
)

// A Message is one of a request.
type Message struct {
	Speaker Speaker
	Text    string
}

// A Purpose is why a model call is made. A purpose that is none of the constants is one of the plugin's own.
type Purpose string

// The purposes.
const (
	ForLinking     Purpose = "link"
	ForPlanning    Purpose = "plan"
	ForGenerating  Purpose = "generate"
	ForRepair      Purpose = "repair"
	ForJudging     Purpose = "judge"
	ForSelecting   Purpose = "select"
	ForCalibrating Purpose = "calibrate"
	ForClarifying  Purpose = "clarify"
	ForSummarising Purpose = "summarise"
	ForRewriting   Purpose = "rewrite"
)

// A ShapeKind is the kind of a reply's shape.
type ShapeKind uint8

// The kinds of shapes.
const (
	TextShape ShapeKind = iota
	SQLShape
	JSONShape
	YAMLShape
	ChoiceShape
	OtherShape
)

// A Shape is what a reply must be. Text is the JSON schema of JSONShape or the name of OtherShape; Words are the keys of YAMLShape or the
// words of ChoiceShape.
type Shape struct {
	Kind  ShapeKind
	Text  string
	Words []string
}

// A Request is a request to a language model. The builder Ask makes one.
type Request struct {
	Purpose  Purpose
	Messages []Message
	Expect   Shape
	// Model is a name that the user configured; nil means the user's default for the purpose.
	Model *string
	// Subjects are the SQL texts that the call is about. They are never sent.
	Subjects    []string
	Temperature *float32
	TopP        *float32
	MaxTokens   *uint32
	Stop        []string
	LogProbs    bool
	// Sample is the number of this sample among several of the same prompt.
	Sample uint32
}

// Usage is what a call cost.
type Usage struct {
	InputTokens  uint32
	OutputTokens uint32
	CostMicros   *uint64
	Model        string
}

// A Reply is a model's reply. Parsed is JSON and follows Request.Expect; it is nil for the shape of a text.
type Reply struct {
	Text      string
	Parsed    *string
	Truncated bool
	LogProb   *float64
	Usage     Usage
}

// Ask begins a request for that purpose: syrch.Ask(syrch.ForGenerating).System("…").User("…").SQL().
func Ask(purpose Purpose) Request { return Request{Purpose: purpose} }

// System adds a message with instructions to the model.
func (r Request) System(text string) Request { return r.message(System, text) }

// User adds what the user says.
func (r Request) User(text string) Request { return r.message(User, text) }

// Assistant adds what the model said, as in an example of a reply.
func (r Request) Assistant(text string) Request { return r.message(Assistant, text) }

// About sets the SQL texts that the call is about, which are never sent.
func (r Request) About(subjects ...string) Request {
	r.Subjects = subjects
	return r
}

// Heat sets the sampling temperature, 0 to 2. Without it the host's configuration decides.
func (r Request) Heat(temperature float64) Request {
	r.Temperature = new(float32(temperature))
	return r
}

// Most sets the most output tokens.
func (r Request) Most(tokens uint32) Request {
	r.MaxTokens = &tokens
	return r
}

// Number sets which of several samples of the same prompt this is.
func (r Request) Number(sample uint32) Request {
	r.Sample = sample
	return r
}

// SQL asks for one statement, with a confidence if the model states one; see SQLOf.
func (r Request) SQL() Request {
	r.Expect = Shape{Kind: SQLShape}
	return r
}

// JSON asks for a document that matches this JSON schema.
func (r Request) JSON(schema string) Request {
	r.Expect = Shape{Kind: JSONShape, Text: schema}
	return r
}

// Choice asks for one of these words.
func (r Request) Choice(words ...string) Request {
	r.Expect = Shape{Kind: ChoiceShape, Words: words}
	return r
}

func (r Request) message(speaker Speaker, text string) Request {
	r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], Message{speaker, text})
	return r
}
