from __future__ import annotations

import dataclasses

from deniable.release.fields import FIELDS
from deniable.release.release import Release


def test_the_table_has_every_field_of_a_release_in_order() -> None:
    assert list(FIELDS) == [field.name for field in dataclasses.fields(Release)]


def test_every_option_is_spelt_once() -> None:
    flags = [flag for field in FIELDS.values() for flag in field.flags]
    assert len(flags) == len(set(flags))


def test_nothing_of_a_key_or_of_this_machine_is_public() -> None:
    private = {field.name for field in FIELDS.values() if not field.on_card}
    assert private == {"key_file", "key"}
    assert not any(field.by_client for field in FIELDS.values() if field.keyed or not field.on_card)
