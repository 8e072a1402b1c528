"""Tabs too long for their page's file."""
