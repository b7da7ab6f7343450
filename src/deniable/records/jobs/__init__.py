"""One file on its way into another: atomic, resumable, and every record released exactly once.

batches ──► released by workers ──► partial file + journal ──► output + receipt
            releasing.py            journal.py                 job.py
"""
