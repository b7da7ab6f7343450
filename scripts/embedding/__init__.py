"""The built-in embedding: how it is made, calibrated and measured. Its page and figure in docs/ are those of
``deniable calibrate --report docs/reports/default.html --figures FOLDER``."""
