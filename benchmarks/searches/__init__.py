"""The contestants, the data and the figure of the search benchmark."""
