"""A look at a private file before it is released: what its columns hold, and what would be released as it is.

The results are private: they go to the owner of the file alone, neither into outputs nor onto cards.

``languages`` tells scripts and languages, ``profile`` gathers what is known of a column, ``deciding``
refuses, ``check`` judges for ``deniable check``. ``unknown`` is about words that the embedding does not know.
"""
