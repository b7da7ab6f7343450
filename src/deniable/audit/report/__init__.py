"""The results of audits in plain words: sentences, tables, figures, and one page for all audits of a
release."""
