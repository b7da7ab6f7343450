"""Presidio's anonymizer as a service, as its authors run it: Flask behind gunicorn, POST /anonymize, here
with the replace operator.

Run by service.py in the environment of the peers: ``gunicorn -w N -b 127.0.0.1:PORT
benchmarks.peers.presidio_service:app``.
"""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, jsonify, request  # type: ignore[import-not-found,unused-ignore]
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

app: Any = Flask(__name__)
engine = AnonymizerEngine()  # type: ignore[no-untyped-call,unused-ignore]


@app.get("/health")  # type: ignore[untyped-decorator,unused-ignore]
def health() -> str:
    """Say that the process answers."""
    return "ok"


@app.post("/anonymize")  # type: ignore[untyped-decorator,unused-ignore]
def anonymize() -> Response:
    """Replace what an analyzer found."""
    content = request.get_json()
    found = [RecognizerResult(**one) for one in content["analyzer_results"]]
    operators = {"DEFAULT": OperatorConfig("replace", {"new_value": "PRIVATE"})}
    return jsonify(
        text=engine.anonymize(text=content["text"], analyzer_results=found, operators=operators).text
    )
