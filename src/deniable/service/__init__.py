"""Text released over HTTP: what programs in any language call, and a page for people who install nothing.

The operator's settings say what a client may ask for. Nothing here logs, counts or keeps a text, a word or an
id; the one place where text lies is the folder of a job, until its stated time is over.
"""
