"""What your own labelled texts are still good for after a release: a classifier, with and without perturbation.

labelled texts ──► versions ──► learner ──► scores ──► curve and page
texts.py           version.py   linear.py, bilstm.py   measurement.py, findings.py, page.py
"""
