"""Parquet, read a little at a time and written as a whole.

Arrow trusts what it reads, and a crafted file can end the process or stand for gigabytes. So ``parser`` runs
in a confined process, and ``rows`` is what it sends. ``reader`` releases rows, ``texts`` finds texts inside
objects and lists, ``partial`` is an output that grows.
"""
