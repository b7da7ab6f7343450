"""What a calibration found, for people: the findings, the figures, and one page."""
