"""Two private texts of the same public shape, released with the same key, cannot be told apart by anything
that leaves the data holder.

Every format, compression, engine and policy is asked, what is printed, and the service over HTTP; Spark in
``tests/integrations/test_spark_noninterference.py``. A new way out joins here. The bar of progress is not
compared: it counts bytes of the input on the data holder's own terminal, or for the sender of a job, and is
not part of a release.
"""
