"""Pages under the framework's own test driver: open one by its link, read what it says, upload to it."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
TABS = ("Explore", "Your data", "Reproduce", "Method")


def opened(page: str, **link: str) -> AppTest:
    """The page as a link opens it; it draws without an exception."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for key, text in link.items():
        app.query_params[key] = text
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def text(app: AppTest) -> str:
    """All that the page says, without the backslashes that keep a visitor's text from being markup."""
    return raw_text(app).replace("\\", "")


def raw_text(app: AppTest) -> str:
    """All that the page says, as it is handed to the browser."""
    return " ".join(element.value for element in (*app.markdown, *app.warning, *app.error, *app.caption))


def uploaded(app: AppTest, data: str | bytes, name: str = "mine.csv") -> AppTest:
    """The page once a file was given to its first uploader."""
    app.file_uploader[0].upload(name, data.encode() if isinstance(data, str) else data, "text/csv").run()
    assert not app.exception, app.exception
    return app
