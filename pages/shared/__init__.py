"""The furniture that every page uses."""
