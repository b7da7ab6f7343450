"""What docs/sizing.md is computed from: memory, workers, Spark, and reading a release back."""
