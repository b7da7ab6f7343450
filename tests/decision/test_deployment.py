"""The draft for the registry of deployments has the registry's fields, and tells nothing of the texts."""

from __future__ import annotations

from typing import Any

import pytest

from deniable import Release
from deniable.decision.deployment import deployment_record
from deniable.records.formats.layout import Roles
from deniable.release.proved import proved_numbers

# The fields of deployments-schema.yaml that are used, a tuple where it lists the values that are allowed.
FIELDS: dict[str, Any] = {
    "url_slug": str,
    "status": ("Converted", "Draft", "Pending", "Changes Required", "Approved"),
    "tier": (1, 2, 3),
    "deployment": {
        "basic": {
            "name": str,
            "data_curators": [str],
            "intended_use": str,
            "data_product_type": (
                "Summary statistics",
                "Machine learning model",
                "Dataset",
                "Synthetic data",
            ),
            "data_product_region": str,
            "description": str,
            "publication_date": str,
        },
        "dp_variant": {
            "variant_name": ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
            "data_domain": str,
            "unprotected_quantities": str,
        },
        "privacy_loss": {
            "privacy_unit": str,
            "privacy_unit_details": str,
            "privacy_parameters": {"epsilon": float, "delta": float},
            "privacy_parameters_details": str,
        },
        "deployment_model": {
            "model_name": ("Local", "Central", "Shuffle", "Federated", "Varies"),
            "model_name_details": str,
            "actors": str,
            "release_type": ("One release", "Many releases"),
            "data_source_type": ("Static", "Dynamic"),
            "access_type": ("Interactive", "Non-interactive"),
        },
        "accounting": {"post_processing": str, "composition": str},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": str,
            "mechanisms": str,
            "justification": str,
        },
        "administrative": {"sources": str, "notes": str, "registry_authors": [str]},
    },
}


def check(found: Any, field: Any) -> None:
    if isinstance(field, dict):
        assert set(found) == set(field)
        for name, inner in field.items():
            check(found[name], inner)
    elif isinstance(field, list):
        assert found
        assert all(isinstance(each, field[0]) for each in found)
    elif isinstance(field, tuple):
        assert found in field
    else:
        assert isinstance(found, field)


@pytest.mark.parametrize("mechanism", ["multivariate", "gaussian"])
def test_the_draft_has_the_fields_of_the_registry(mechanism: str) -> None:
    private = Release(epsilon=3.0, mechanism=mechanism).make()
    numbers = proved_numbers(private.mechanism)
    record = deployment_record(private, numbers, Roles(keep=("ward",)), ("stars",), date="2026-07-01")
    check(record, FIELDS)
    unprotected = record["deployment"]["dp_variant"]["unprotected_quantities"]
    assert "ward" in unprotected
    assert "stars" in unprotected
    parameters = record["deployment"]["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] == max(row.epsilon or 0.0 for row in numbers.accounting if row.words == 1)
