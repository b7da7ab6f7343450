"""Presidio: an anonymizer operator that perturbs what was detected, or a whole text.

>>> from presidio_anonymizer import AnonymizerEngine
>>> from presidio_anonymizer.entities import OperatorConfig, RecognizerResult
>>> from deniable.integrations.presidio import Deniable
>>> engine = AnonymizerEngine()
>>> engine.add_anonymizer(Deniable)
>>> found = [RecognizerResult(entity_type="PERSON", start=0, end=5, score=0.9)]
>>> operators = {"DEFAULT": OperatorConfig("deniable", {"epsilon": 6})}
>>> released = engine.anonymize("Maria called", found, operators).text

The guarantee covers the words that are perturbed. Where only detected entities are, everything else is
released as it is, and a name that was not detected with it: perturb the whole text (``whole_text``) if that
is not acceptable.
"""

from __future__ import annotations

from typing import Any

from deniable.errors import InvalidParameter, MissingExtra
from deniable.release.fields import FIELDS
from deniable.release.release import Release

try:
    from presidio_anonymizer.entities import RecognizerResult
    from presidio_anonymizer.operators import Operator, OperatorType
except ImportError as error:
    raise MissingExtra("the Presidio operator", "presidio") from error

# Presidio hands over one entity at a time: a budget per text would be spent once for each.
_SETTINGS = FIELDS.keys() - {"record_epsilon"}
_FROM_PRESIDIO = frozenset({"entity_type"})


class Deniable(Operator):
    """The operator ``deniable``: its parameters are those of ``Privatizer`` and its mechanism, such as
    ``{"epsilon": 6}``."""

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Return the entity's text with every word replaced."""
        return _release(params).shared_privatizer()(text)

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Check that the parameters are allowed.

        :raises InvalidParameter: otherwise.
        """
        _release(params)

    def operator_name(self) -> str:
        """Return the name that configurations use."""
        return "deniable"

    def operator_type(self) -> OperatorType:
        """Return that this anonymizes."""
        return OperatorType.Anonymize


def whole_text(text: str, entity_type: str = "TEXT") -> list[RecognizerResult]:
    """Return the finding that all of the text is to be perturbed."""
    return [RecognizerResult(entity_type=entity_type, start=0, end=len(text), score=1.0)]


def _release(params: dict[str, Any] | None) -> Release:
    settings = {name: value for name, value in (params or {}).items() if name not in _FROM_PRESIDIO}
    if unknown := sorted(settings.keys() - _SETTINGS):
        problem = f"is no setting of the deniable operator; there are {', '.join(sorted(_SETTINGS))}"
        raise InvalidParameter("params", unknown[0], problem)
    return Release(**settings)
