"""Pages and figures for people: one self-contained HTML file, and figures in one style, for every part that
reports.

>>> from deniable.report.figure import new_figure, apply_style
>>> from deniable.report.page import Page
>>> @apply_style
... def line():
...     figure, axes = new_figure()
...     axes.plot([1, 2, 3], [1, 4, 9])
...     return figure
>>> page = Page("A title", lead="The answer, in one sentence.")
>>> page.add_section("What was found", "A paragraph. Words such as <script> are only ever shown.")
>>> page.add_figure(line(), caption="What it shows.", alt="A curve that rises from 1 to 9.")
>>> page.add_table(["word", "share"], [["fox", "12 %"]])
>>> html = page.html()  # or page.write(path)
"""
