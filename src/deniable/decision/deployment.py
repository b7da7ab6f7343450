"""The release as a draft for the Differential Privacy Deployments Registry of OpenDP.

The fields are those of the registry's ``deployments-schema.yaml`` (opendp/deployments-registry-data, commit
3e9c812a of July 2026). It is written as JSON, which is YAML too. What only the data holder knows is left in
brackets. The record tells nothing of the texts: it follows from the card and the names of kept columns.
"""

from __future__ import annotations

from typing import Any

from deniable.measures.accounting import Spent
from deniable.records.formats.layout import Roles
from deniable.release.privatizer import Privatizer
from deniable.release.proved import ProvedNumbers
from deniable.version import __version__


def deployment_record(
    private: Privatizer, numbers: ProvedNumbers, roles: Roles, public: tuple[str, ...], *, date: str
) -> dict[str, Any]:
    """Return the record; ``public`` are columns that are released unchanged though nobody named them."""
    mechanism, embedding = private.mechanism, private.mechanism.embedding
    kept = ", ".join((*roles.keep, *public, *(f"sheet {name}" for name in roles.keep_sheets)))
    loss: dict[str, Any] = {
        "privacy_unit": "One word of one text; words of a text and texts of a person add up.",
        "privacy_unit_details": "Texts with the same number of words are adjacent at the distance that the "
        "public embedding gives their words, added up.",
        "privacy_parameters_details": f"ε = {mechanism.epsilon:g} per unit of distance. "
        f"{mechanism.guarantee.statement}",
    }
    if (any_word := _any_word(numbers)) is not None:
        loss["privacy_parameters"] = {"epsilon": any_word.epsilon, "delta": any_word.delta}
        loss["privacy_parameters_details"] += (
            f" For any two words of the vocabulary: ε′ = {any_word.epsilon:.3g}, δ = {any_word.delta:g}."
        )
    return {
        "url_slug": "draft",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": "[name of the data product]",
                "data_curators": ["[who publishes it]"],
                "intended_use": "[what it is for]",
                "data_product_type": "Dataset",
                "data_product_region": "[region]",
                "description": "Texts in which each word was replaced by a word drawn around it in a public "
                "word embedding.",
                "publication_date": date,
            },
            "dp_variant": {
                "variant_name": "Custom",
                "data_domain": f"Texts of words of the embedding {embedding.name} ({len(embedding):,} words, "
                f"fingerprint {embedding.fingerprint}); all other words are one symbol.",
                "unprotected_quantities": "The number of words of each text, which texts are empty, and the "
                f"number and order of records{'' if not kept else f'; as they are: {kept}'}.",
            },
            "privacy_loss": loss,
            "deployment_model": {
                "model_name": "Central",
                "model_name_details": "The data holder reads the texts and adds noise to each word by "
                "itself, as in the local model; nothing is aggregated.",
                "actors": "The data holder keeps texts, receipt and key. Recipients may know everything "
                "else, and may work together.",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "None after the release. Recipients may decode it with its card.",
                "composition": "Sequential over the words of a text, the texts of a person and repeated "
                "releases.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": "ε follows from public word counts. Whether to "
                "release was decided by attacks on other draws of the same texts; what that decision tells "
                "is not accounted for.",
                "mechanisms": f"deniable {__version__}, {type(mechanism).__name__}, exact nearest word. "
                f"Randomness: {private.settings.randomness['generator']}. What leaves depends on released "
                "words and the public shape alone.",
                "justification": "[why this setting]",
            },
            "administrative": {
                "sources": "Feyisetan, Balle, Drake, Diethe: Privacy- and Utility-Preserving Textual "
                "Analysis via Calibrated Multivariate Perturbations, WSDM 2020.",
                "notes": " ".join(numbers.in_words()),
                "registry_authors": ["[who filled this in]"],
            },
        },
    }


def _any_word(numbers: ProvedNumbers) -> Spent | None:
    """Return the row for two texts that differ in one word, however far apart; None if nothing is proved."""
    rows = [row for row in numbers.accounting if row.words == 1 and row.distance == "largest"]
    return next((row for row in rows if row.epsilon is not None and row.epsilon != float("inf")), None)
