// Writing a model request in one expression.

import * as contract from "./contract.js";

/** A request under construction: `ask("generate").system("…").user("…").sql()`. The last call finishes it. */
export class Ask {
  #request;
  constructor(purpose) {
    this.#request = { purpose, messages: [] };
  }
  /** Adds a message with instructions to the model. */
  system(text) {
    return this.#say("system", text);
  }
  /** Adds what the user says. */
  user(text) {
    return this.#say("user", text);
  }
  /** Adds an earlier reply of the model. */
  assistant(text) {
    return this.#say("assistant", text);
  }
  /** The SQL texts that the call is about, which are never sent. */
  subjects(subjects) {
    return this.#with({ subjects });
  }
  /** The name of a configured model. */
  model(model) {
    return this.#with({ model });
  }
  /** The sampling temperature, 0 to 2. Without it the host's configuration decides. */
  temperature(temperature) {
    return this.#with({ temperature });
  }
  /** The most output tokens. */
  maxTokens(maxTokens) {
    return this.#with({ maxTokens });
  }
  /** Which of several samples of the same prompt. */
  sample(sample) {
    return this.#with({ sample });
  }
  /** Finishes it: any text will do. */
  text() {
    return this.#finish("text");
  }
  /** Finishes it: one statement, with a confidence if the model states one; see `sqlReply`. */
  sql() {
    return this.#finish("sql");
  }
  /** Finishes it: a document that matches this JSON schema. */
  json(schema) {
    return this.#finish({ json: schema });
  }
  /** Finishes it: one of these words. */
  choice(words) {
    return this.#finish({ choice: words });
  }
  #say(speaker, text) {
    this.#request.messages.push({ speaker, text });
    return this;
  }
  #with(fields) {
    Object.assign(this.#request, fields);
    return this;
  }
  #finish(expect) {
    return contract.request.full({ ...this.#request, expect });
  }
}

/** A request for that purpose, with no message yet. */
export const ask = (purpose) => new Ask(purpose);
