"""What several papers share: errors, exact numbers, progress, settings, tables, pictures."""
