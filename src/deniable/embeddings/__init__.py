"""Embeddings: public words with vectors, read from public formats and kept in a store on disk."""
