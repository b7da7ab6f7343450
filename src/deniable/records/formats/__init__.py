"""How records lie in files: one reader per format, each of which gives batches of texts and writes them again
when released.

path ──► source ──► lines ──► rows ──► batches
         source.py (files), streams.py     reader.py (plain text), delimited.py, jsonlines.py, json_array.py
                                           folder.py, parquet_files/, spreadsheets/, whose files are put
                                           together at the end and parsed by confined/, a process with limits

``opening`` finds source and reader; ``layout`` says how to read and ``naming`` names the records of a keyed
release.
"""
