"""The Value of Prediction in Identifying the Worst-Off (Fischer-Abaigar and others, ICML 2025, arXiv 2501.19334)."""
