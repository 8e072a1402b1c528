"""What the conformal page shows: one module a picture, each with its settings and a function from them to a View."""
