"""How records lie in files: one reader per format, each of which gives batches of texts and writes them again when released.

source ──► lines ──► rows ──► batches
source.py  lines.py  delimited.py, jsonlines.py, parquet.py
"""
