"""What measures the figures of docs/, and what writes them there: a folder for each page."""
