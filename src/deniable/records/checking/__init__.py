"""A look at a private file before it is released: what its columns hold, and what a release would leave as it
is.

All that is found is private: it is told to the owner of the file and goes nowhere else, neither into outputs
nor onto cards.

``fields`` reads every column of any format, ``languages`` tells scripts and languages, ``profile`` gathers
what is known of a column, ``check`` judges it. ``unknown`` is what a release says of words that its embedding
does not know.
"""
