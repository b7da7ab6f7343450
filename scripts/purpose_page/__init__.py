"""The parts of docs/experiments/purpose.md, which scripts/make_purpose_page.py writes."""
