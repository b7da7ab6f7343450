"""Parquet: columns of texts are released, and all others pass.

Arrow trusts what it reads, and a crafted file can end the process or stand for gigabytes. So ``footer`` and ``pages`` are looked at here
first, and ``batches`` has rows in parts of bounded size. ``texts`` finds private texts in columns, structs and lists, ``partial`` is the
output while it grows, ``reader`` releases.
"""
