"""What analysts ask of released text: how often words are used, what the text may have said, features to
learn from."""

from deniable.analysis.decoded_files import decode_file
from deniable.analysis.receiving import Received, receive
from deniable.analysis.word_use import WordUseFindings, measure_word_use
from deniable.decoding.decoder import Candidate, Decoder

__all__ = [
    "Candidate",
    "Decoder",
    "Received",
    "WordUseFindings",
    "decode_file",
    "measure_word_use",
    "receive",
]
