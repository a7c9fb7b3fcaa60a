"""A small OpenAI-compatible server over llama.cpp, for tests against a live model: loopback alone, one request at a time.

It serves /health, /props, /v1/models and /v1/chat/completions with temperature, top_p, seed, stop, max_tokens, and response_format, which the library
turns into a grammar. There are a few contexts, each with its last prompt: a request continues in the one that begins most alike. Each request is a
line of the log.
"""

import argparse
import json
import os
import select
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BATCH = 512
LARGEST_BODY = 4 << 20
SAMPLED = {"top_k": 40, "min_p": 0.05, "top_p": 0.95, "temperature": 0.8}


class Refused(Exception):
    """A request that the server does not take, with its status."""

    def __init__(self, message, status=400, kind="invalid_request_error"):
        super().__init__(message)
        self.status, self.kind = status, kind


class Quiet:
    """Sends what llama.cpp writes to stderr nowhere."""

    def __enter__(self):
        self.saved, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)

    def __exit__(self, *_):
        os.dup2(self.saved, 2)
        os.close(self.saved)


class Slot:
    """A context, the tokens in it, and when it was used last."""

    def __init__(self, context):
        self.context, self.tokens, self.used = context, [], 0.0

    def alike(self, tokens):
        """How many tokens of a prompt stand in the context already: all but the last at most, which has to be computed."""
        differs = (at for at, (old, new) in enumerate(zip(self.tokens, tokens[:-1])) if old != new)
        return next(differs, min(len(self.tokens), len(tokens) - 1))


class Model:
    """A model with its contexts."""

    def __init__(self, options):
        sys.path.insert(0, options.lib)
        import _llama_cpp_cpu as native

        self.lib, self.ffi, self.size = native.lib, native.ffi, options.ctx
        lib, ffi = self.lib, self.ffi
        with Quiet():
            lib.llama_backend_init()
            params = lib.llama_model_default_params()
            params.n_gpu_layers = 0
            self.model = lib.llama_model_load_from_file(options.model.encode(), params)
            if self.model == ffi.NULL:
                sys.exit(f"server.py: cannot load {options.model}")
            context = lib.llama_context_default_params()
            context.n_ctx, context.n_batch, context.n_ubatch = options.ctx, BATCH, BATCH
            context.n_threads = context.n_threads_batch = options.threads
            self.slots = [Slot(lib.llama_init_from_model(self.model, context)) for _ in range(options.slots)]
        if any(slot.context == ffi.NULL for slot in self.slots):
            sys.exit("server.py: cannot make a context of that size")
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.batch = lib.llama_batch_init(BATCH, 0, 1)
        template = lib.llama_model_chat_template(self.model, ffi.NULL)
        self.template = b"chatml" if template == ffi.NULL else ffi.string(template)

    def prompt(self, messages):
        """The tokens of a conversation."""
        ffi, lib = self.ffi, self.lib
        texts = [(ffi.new("char[]", role.encode()), ffi.new("char[]", text.encode())) for role, text in messages]
        array = ffi.new("struct llama_chat_message[]", len(texts))
        for one, (role, text) in zip(array, texts):
            one.role, one.content = role, text
        size = 2 * sum(len(text) for _, text in texts) + 4096
        buffer = ffi.new("char[]", size)
        count = lib.llama_chat_apply_template(self.template, array, len(texts), True, buffer, size)
        if count < 0:
            count = lib.llama_chat_apply_template(b"chatml", array, len(texts), True, buffer, size)
        raw = ffi.buffer(buffer, count)[:]
        most = len(raw) + 8
        tokens = ffi.new("llama_token[]", most)
        return list(tokens[0 : lib.llama_tokenize(self.vocab, raw, len(raw), tokens, most, True, True)])

    def piece(self, token):
        """The bytes of a token."""
        buffer = self.ffi.new("char[]", 256)
        return self.ffi.buffer(buffer, self.lib.llama_token_to_piece(self.vocab, token, buffer, 256, 0, False))[:]

    def slot(self, tokens):
        """The context for a prompt: that with most of it, unless another one would be lost for little."""
        best = max(self.slots, key=lambda slot: slot.alike(tokens))
        if 2 * best.alike(tokens) < min(len(tokens), len(best.tokens)):
            best = min(self.slots, key=lambda slot: slot.used)
        best.used = time.monotonic()
        return best

    def decode(self, slot, tokens, past):
        """Computes tokens behind the `past` ones; the position behind them."""
        batch = self.batch
        for start in range(0, len(tokens), BATCH):
            part = tokens[start : start + BATCH]
            for at, token in enumerate(part):
                batch.token[at], batch.pos[at], batch.n_seq_id[at] = token, past + at, 1
                batch.seq_id[at][0] = 0
                batch.logits[at] = start + at == len(tokens) - 1
            batch.n_tokens = len(part)
            if self.lib.llama_decode(slot.context, batch) != 0:
                raise Refused("the model could not be evaluated", 500, "server_error")
            past += len(part)
        return past

    def sampler(self, body):
        """The chain by which a request's tokens are drawn."""
        ffi, lib = self.ffi, self.lib
        grammar = self.grammar(body.get("response_format") or {})
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        if grammar:
            with Quiet():
                rules = lib.llama_sampler_init_grammar(self.vocab, grammar, ffi.new("char[]", b"root"))
            if rules == ffi.NULL:
                lib.llama_sampler_free(chain)
                raise Refused("failed to parse grammar")
            lib.llama_sampler_chain_add(chain, rules)
        temperature = float(body.get("temperature", SAMPLED["temperature"]))
        if temperature <= 0:
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
            return chain
        for sampler in (
            lib.llama_sampler_init_top_k(SAMPLED["top_k"]),
            lib.llama_sampler_init_top_p(float(body.get("top_p", SAMPLED["top_p"])), 1),
            lib.llama_sampler_init_min_p(SAMPLED["min_p"], 1),
            lib.llama_sampler_init_temp(temperature),
            lib.llama_sampler_init_dist(int(body.get("seed") or 0) & 0xFFFFFFFF),
        ):
            lib.llama_sampler_chain_add(chain, sampler)
        return chain

    def grammar(self, form):
        """The grammar of a requested format; nothing for text."""
        kind = form.get("type", "text")
        if kind == "text":
            return None
        if kind not in ("json_object", "json_schema"):
            raise Refused("response_format.type must be one of text, json_object, json_schema")
        schema = form.get("json_schema", {}).get("schema", {}) if kind == "json_schema" else {"type": "object"}
        with Quiet():
            grammar = self.lib.llama_json_schema_to_grammar(self.ffi.new("char[]", json.dumps(schema).encode()))
        if grammar == self.ffi.NULL:
            raise Refused("failed to parse the JSON schema of response_format")
        return grammar

    def complete(self, body, is_gone):
        """The text of a reply, why it ends, and what it took."""
        tokens = self.prompt(body["messages"])
        room = self.size - len(tokens)
        if room < 1:
            message = f"the request exceeds the available context size ({len(tokens)} tokens, context {self.size})"
            raise Refused(message, 400, "exceed_context_size_error")
        limit = min(int(body.get("max_completion_tokens") or body.get("max_tokens") or room), room)
        stops = body.get("stop") or []
        stops = [stops] if isinstance(stops, str) else stops
        began = time.monotonic()
        chain = self.sampler(body)
        try:
            slot = self.slot(tokens)
            cached = slot.alike(tokens)
            self.lib.llama_kv_self_seq_rm(slot.context, 0, cached, -1)
            slot.tokens = tokens[:cached]
            past = self.decode(slot, tokens[cached:], cached)
            slot.tokens = list(tokens)
            read = time.monotonic()
            text, count, finish = self.generate(slot, chain, past, limit, stops, is_gone)
        finally:
            self.lib.llama_sampler_free(chain)
        now = time.monotonic()
        times = {"prompt_s": round(read - began, 3), "reply_s": round(now - read, 3)}
        return text, finish, {"prompt": len(tokens), "cached": cached, "reply": count, **times}

    def generate(self, slot, chain, past, limit, stops, is_gone):
        """Draws tokens until the model, a stop, the limit or the client ends it."""
        raw, count = b"", 0
        while count < limit:
            token = self.lib.llama_sampler_sample(chain, slot.context, -1)
            count += 1
            if self.lib.llama_vocab_is_eog(self.vocab, token):
                return raw.decode(errors="replace"), count, "stop"
            raw += self.piece(token)
            text = raw.decode(errors="replace")
            ends = [text.find(stop) for stop in stops if stop and stop in text]
            if ends:
                return text[: min(ends)], count, "stop"
            if count % 8 == 0 and is_gone():
                return text, count, "cancelled"
            if past < self.size - 1:
                past = self.decode(slot, [token], past)
                slot.tokens.append(token)
            else:
                break
        return raw.decode(errors="replace"), count, "length"


def text_of(content):
    """The text of a message, which may come in parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


class Handler(BaseHTTPRequestHandler):
    """The addresses of the server."""

    protocol_version = "HTTP/1.1"
    timeout = 600

    def log_message(self, *_):
        pass

    def send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def fail(self, error):
        self.send(error.status, {"error": {"message": str(error), "type": error.kind, "code": error.status}})

    def is_gone(self):
        """Whether the client has hung up."""
        try:
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def do_GET(self):
        server = self.server
        if self.path == "/v1/models":
            model = {"id": server.name, "object": "model", "owned_by": "local", "meta": {"n_ctx": server.model.size}}
            self.send(200, {"object": "list", "data": [model]})
        elif self.path == "/props":
            self.send(200, {"default_generation_settings": {"n_ctx": server.model.size}, "total_slots": 1})
        elif self.path == "/health":
            self.send(200, {"status": "ok"})
        else:
            self.fail(Refused("there is no such address", 404, "not_found_error"))

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if self.path != "/v1/chat/completions" or length > LARGEST_BODY:
            self.close_connection = True
            return self.fail(Refused("there is no such address, or the request is too large", 404, "not_found_error"))
        try:
            body = json.loads(self.rfile.read(length))
            body["messages"] = [(one["role"], text_of(one["content"])) for one in body["messages"]]
        except (ValueError, KeyError, TypeError) as error:
            return self.fail(Refused(f"the request is no chat: {error}"))
        came = time.time()
        with self.server.lock:
            waited = round(time.time() - came, 3)
            if self.is_gone():
                return
            line = {"time": came, "wait_s": waited, "form": (body.get("response_format") or {}).get("type", "text")}
            try:
                text, finish, took = self.server.model.complete(body, self.is_gone)
            except Refused as error:
                self.server.write({**line, "error": str(error)})
                return self.fail(error)
            self.server.write({**line, **took, "finish": finish, "messages": body["messages"], "text": text})
        if finish == "cancelled":
            return
        usage = {
            "prompt_tokens": took["prompt"],
            "completion_tokens": took["reply"],
            "total_tokens": took["prompt"] + took["reply"],
            "prompt_tokens_details": {"cached_tokens": took["cached"]},
        }
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
        reply = {"id": f"chat-{time.time_ns()}", "object": "chat.completion", "created": int(came), "model": self.server.name}
        try:
            self.send(200, {**reply, "choices": [choice], "usage": usage})
        except OSError:
            pass


class Server(ThreadingHTTPServer):
    """A server of one model on this machine's own address."""

    daemon_threads = True

    def __init__(self, options):
        self.model, self.name, self.lock = Model(options), options.name, threading.Lock()
        self.log = open(options.log, "a", buffering=1) if options.log else None
        super().__init__(("127.0.0.1", options.port), Handler)

    def write(self, line):
        if self.log:
            self.log.write(json.dumps(line) + "\n")


def main():
    options = argparse.ArgumentParser(description="Serves a GGUF model on 127.0.0.1.")
    options.add_argument("--lib", required=True, help="the folder with _llama_cpp_cpu.so")
    options.add_argument("--model", required=True, help="a GGUF file")
    options.add_argument("--name", default="live")
    options.add_argument("--port", type=int, default=0, help="0: a free one, which is printed")
    options.add_argument("--ctx", type=int, default=4096, help="tokens of the context")
    options.add_argument("--slots", type=int, default=3, help="contexts; requests are answered one after the other")
    options.add_argument("--threads", type=int, default=1, help="threads of the computation; more than free cores make it slower")
    options.add_argument("--log", help="a line of JSON for each request")
    server = Server(options.parse_args())
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
