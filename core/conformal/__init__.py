"""Conformal Prediction as Bayesian Quadrature (Snell and Griffiths, ICML 2025, arXiv 2502.13228)."""
