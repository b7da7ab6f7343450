"""How records lie in files: one reader per format, each of which gives batches of texts and writes them again when released.

path ──► source ──► lines ──► rows ──► batches
         source.py (files), streams.py     reader.py (plain text), delimited.py, jsonlines.py, parquet.py

``opening`` finds source and reader; ``layout`` says how to read and ``naming`` names the records of a keyed release.
"""
