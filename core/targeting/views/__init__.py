"""What the page shows, one module a picture: its settings, its figure, its View."""
