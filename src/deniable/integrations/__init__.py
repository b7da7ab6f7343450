"""Where text already is: scikit-learn, pandas, Polars, Hugging Face datasets, Presidio and Spark, one thin
file each."""
