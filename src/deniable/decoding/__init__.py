"""What a released word came from: Bayes' rule on the channel."""
