"""Presidio's anonymizer as a service, as its authors run it: Flask behind gunicorn, POST /anonymize, here
with the replace operator.

Run by service.py in the environment of the peers: ``gunicorn -w N -b 127.0.0.1:PORT
benchmarks.peers.presidio_service:app``.
"""

from __future__ import annotations

from functools import lru_cache
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


@app.post("/guard")  # type: ignore[untyped-decorator,unused-ignore]
def guard() -> Response:
    """Find by patterns, without a language model, and replace."""
    text = request.get_json()["text"]
    found = analyzer().analyze(text=text, language="en")
    operators = {"DEFAULT": OperatorConfig("replace", {"new_value": "PRIVATE"})}
    return jsonify(text=engine.anonymize(text=text, analyzer_results=found, operators=operators).text)


@lru_cache(maxsize=1)
def analyzer() -> Any:
    """Return Presidio's analyzer over a pipeline that only splits words."""
    import spacy
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    nlp = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
    nlp.nlp = {"en": spacy.blank("en")}
    return AnalyzerEngine(nlp_engine=nlp)
