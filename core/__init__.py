"""Laurel's library: the methods of the eleven award papers of ICML 2025, without any user interface."""
