"""Small models and metrics that the tasks, utility, comparison and audits share."""
