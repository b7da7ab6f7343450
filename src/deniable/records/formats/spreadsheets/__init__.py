"""Spreadsheets: values, their types and the names of sheets go out; the cells of named columns in other
words.

A workbook repeats what stands in its cells in many places: last results of formulas, comments, charts,
filters, properties. So a new workbook is written from the values of cells alone, and results of formulas,
which may quote a private cell, are left empty.

``parser`` runs in a confined process: python-calamine reads the values, and the XML tells which cells are
formulas and what is hidden. ``workbook`` is what it sends, ``reader`` releases rows, ``writer`` writes them
by XlsxWriter.
"""
