"""A language model on loopback that remembers what it was sent, for the tests of prompts."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], str]


class Model:
    """What was sent, and what is answered: the last message, unless a test says otherwise."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.answer: Answer = lambda asked: f"You said: {asked['messages'][-1]['content']}"
        self.status = 200
        self.raw: bytes | None = None
        self.address = ""

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]

    def reply(self, body: bytes) -> tuple[str, bytes]:
        asked = json.loads(body)
        said = self.answer(asked)
        about = {"id": "1", "created": 1, "model": asked["model"]}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": said}
            choices: list[dict[str, Any]] = [{"index": 0, "message": message, "finish_reason": "stop"}]
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            whole = {**about, "object": "chat.completion", "choices": choices, "usage": usage}
            return "application/json", json.dumps(whole).encode()
        parts = [{"content": said[i : i + 3]} for i in range(0, len(said), 3)]
        events: list[dict[str, Any]] = [{"index": 0, "delta": part, "finish_reason": None} for part in parts]
        events.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        chunks = [{**about, "object": "chat.completion.chunk", "choices": [each]} for each in events]
        lines = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"
        return "text/event-stream", lines.encode()


@contextmanager
def serving_model() -> Iterator[Model]:
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            model.bodies.append(body)
            model.headers.append({name.lower(): value for name, value in self.headers.items()})
            kind, content = ("application/json", b"{}") if model.status != 200 else model.reply(body)
            content = content if model.raw is None else model.raw
            self.send_response(model.status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    model.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join(600)
