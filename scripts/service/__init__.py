"""Figures and pictures of the page of the service."""
