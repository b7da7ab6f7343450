"""The script that measures attackers and the one that writes their page go together."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from deniable.embeddings import store
from tests.audit.made_text import follow_one_another
from tests.support.strategies import random_embedding

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def test_what_is_measured_becomes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    import make_attackers_page
    import measure_attackers

    store.save(random_embedding(60, 3), "tiny", source="a test")
    documents = [" ".join(f"w{i}" for i in document) for document in follow_one_another(60, 150, 20, seed=1)]
    data, public = tmp_path / "text.jsonl", tmp_path / "public.txt"
    data.write_text("".join(json.dumps({"text": document}) + "\n" for document in documents[:20]), encoding="utf-8")
    public.write_text("\n".join(documents[20:]), encoding="utf-8")
    sizes = ["--places", "200", "--support", "60", "--directions", "60", "--words-per-band", "5", "--embedding", "tiny"]
    output = tmp_path / "attackers-made.json"
    measure_attackers.main([str(data), "--name", "made", "--public", str(public), "-e", "1.5", "-e", "3", *sizes, "-o", str(output)])
    monkeypatch.setattr(make_attackers_page, "FOLDER", tmp_path)
    make_attackers_page.main()
    page = (tmp_path / "attackers.md").read_text(encoding="utf-8")
    result = json.loads(output.read_text(encoding="utf-8"))
    assert str(tmp_path) not in page + result["command"]
    assert "| made | tiny | multivariate | 1.5 |" in page
    best = max(each["word"]["first"]["value"] for each in result["result"]["results"][0]["attackers"])
    assert f"**{100 * best:.1f} %**" in page
    assert np.isfinite(best)
    output.unlink()
    with pytest.raises(SystemExit, match="measure first"):
        make_attackers_page.main()
