from __future__ import annotations

from typing import Any

import pytest
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

from deniable import InvalidParameter
from deniable.integrations.presidio import Deniable, whole_text

TEXT = "Call Maria Lopez on word7, please."


def anonymize(text: str, found: list[RecognizerResult], **settings: Any) -> str:
    engine: Any = AnonymizerEngine()  # type: ignore[no-untyped-call]
    engine.add_anonymizer(Deniable)
    return str(engine.anonymize(text, found, {"DEFAULT": OperatorConfig("deniable", settings)}).text)


def result(part: str) -> RecognizerResult:
    start = TEXT.index(part)
    return RecognizerResult(entity_type="PERSON", start=start, end=start + len(part), score=0.8)


def test_a_detected_entity_is_perturbed_and_the_rest_is_as_it_was(name: str) -> None:
    released = anonymize(TEXT, [result("Maria Lopez")], epsilon=1e-3, embedding=name)
    assert released.startswith("Call ")
    assert released.endswith(" on word7, please.")
    assert "Maria" not in released
    assert "Lopez" not in released
    assert len(released.removeprefix("Call ").removesuffix(" on word7, please.").split()) == 2


def test_a_known_word_goes_through_the_mechanism_with_the_settings_given(name: str) -> None:
    assert anonymize(TEXT, [result("word7")], epsilon=1e6, embedding=name) == TEXT
    assert "[redacted] [redacted]" in anonymize(
        TEXT, [result("Maria Lopez")], epsilon=1e6, embedding=name, unknown="redact"
    )


def test_the_mechanism_is_a_setting_like_others(name: str) -> None:
    # Sensitive words are perturbed at a small ε, others are kept where p is 0: no other mechanism leaves
    # them.
    drawing: dict[str, Any] = {
        "mechanism": "santext-plus",
        "mechanism_options": {"sensitive": ["soup"], "p": 0.0},
    }
    assert anonymize(TEXT, [result("word7")], epsilon=1e-3, embedding=name, **drawing) == TEXT


def test_the_whole_text_can_be_perturbed(name: str) -> None:
    released = anonymize(TEXT, whole_text(TEXT), epsilon=1e-3, embedding=name)
    assert len(released.split()) == 6
    assert "Maria" not in released
    assert "," not in released


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"epsilon": 0},
        {"epsilon": 6, "epsilom": 6},
        {"epsilon": 6, "unknown": "keep"},
        {"record_epsilon": 6},
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        anonymize(TEXT, [result("Maria Lopez")], **settings)
