package syrch

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
