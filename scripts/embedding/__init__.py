"""The built-in embedding: how it is made, calibrated and measured."""
