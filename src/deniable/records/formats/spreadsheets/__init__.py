"""Spreadsheets: the cells of named columns are released, and of all else only what cannot quote them.

A workbook repeats what stands in its cells in many places: tables of shared texts, last results of formulas, filters, comments, charts,
thumbnails, properties. So the output is put together anew, from lists of what may pass (``xlsx_parts``, ``ods_parts``): cells, formulas
without their results, formats, sheets. Whatever is not on a list is left out; what holds copies that cannot be told from cells (pivot
tables, links to other workbooks, recorded changes) is refused.

``archive`` and ``xml`` read and write the containers, ``xlsx`` and ``ods`` know where rows and cells stand, ``reader`` releases them.
"""
