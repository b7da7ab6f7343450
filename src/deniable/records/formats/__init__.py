"""How records lie in files: one reader per format, which gives rows of texts and fields, and writes them
again when released.

path ──► source ──► lines ──► rows ──► batches
         source.py  lines.py  reader.py (plain text), delimited.py, json_records.py
                              folder.py, parquet.py, spreadsheet.py, whose files are put together at the end
                              and parsed in a process with limits (confined_parent.py, confined_child.py)

``opening`` finds source and reader; ``layout`` says how to read, ``columns`` finds columns and the fields in
them, and ``naming`` names the records of a keyed release.
"""
