"""The one error that a visitor may read: what is wrong, where, and what would be right."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """Bad input, in words for the person who supplied it.

    ``what`` is a sentence without its full stop. ``column`` is the name as the file has it, ``row`` counts
    data rows from 1 (a header does not count), ``remedy`` says what would be right.

    >>> str(InputError("the loss is missing", column="loss", row=3, remedy="Fill it in or remove the row."))
    "Column 'loss', row 3: the loss is missing. Fill it in or remove the row."
    """

    def __init__(self, what: str, *, column: str | None = None, row: int | None = None, remedy: str = "") -> None:
        self.what, self.column, self.row, self.remedy = what, column, row, remedy
        super().__init__(self._sentence())

    def within(self, column: str) -> InputError:
        """The same error with the name of the column in which it was found."""
        return InputError(self.what, column=column, row=self.row, remedy=self.remedy)

    def _sentence(self) -> str:
        places = [f"column {self.column!r}"] if self.column is not None else []
        places += [f"row {self.row:,}"] if self.row is not None else []
        text = f"{', '.join(places)}: {self.what}" if places else self.what
        return f"{text[0].upper()}{text[1:]}. {self.remedy}".rstrip()
