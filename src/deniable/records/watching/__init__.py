"""A folder of files on their way into another, and the ledger of what was released of it."""
