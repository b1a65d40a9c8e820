"""What happens on a page while it is played: console, errors, dialogs, windows, downloads, other addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import ConsoleMessage, Dialog, Download, Page, Request, Response, Worker
from playwright.async_api import Error as PlaywrightError

from playtest.browser.console import Recorder
from playtest.browser.facts import PageFacts
from playtest.browser.thrown import Thrown

MAX_DIALOGS = 20
PROMPT_NAME = "Player"
# Kinds of requests without which a game is still there, if less pretty.
DISPENSABLE = frozenset({"stylesheet", "font", "ping", "cspviolationreport", "manifest", "preflight", "texttrack"})
# Asked for by the browser, not by the game.
FAVICON = "/favicon.ico"


class PageEvents:
    """Listens to one page, answers its dialogs, closes its windows, and records each as a fact.

    `home` is the game's own address once it has booted; until then a page may go where it likes.
    """

    def __init__(
        self,
        page: Page,
        recorder: Recorder,
        unseeded: list[str],
        facts: PageFacts,
        *,
        lets_through: Callable[[str], bool],
        thrown: Thrown,
    ) -> None:
        self._page = page
        self._recorder = recorder
        self._unseeded = unseeded
        self._facts = facts
        self._lets_through = lets_through
        self._dialogs = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.home = ""
        page.on("console", self._on_console)
        page.on("pageerror", thrown.on_error)
        page.on("dialog", lambda dialog: self._later(self._on_dialog(dialog)))
        page.on("download", lambda download: self._later(self._on_download(download)))
        page.on("worker", self._on_worker)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.context.on("page", lambda popup: self._later(self._on_popup(popup)))

    async def close(self) -> None:
        """Leave what is still being answered."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def on_document(self, event: dict[str, Any]) -> None:
        """Take `Page.frameNavigated`: a new document, not a mere change of the address."""
        frame = event["frame"]
        if "parentId" in frame or not self.home:
            return
        url = frame.get("unreachableUrl") or frame["url"]
        if page_of(url) != self.home:
            self._recorder.fault("left_game", f"the page went to {url[:200]}", url=url[:500])
        else:
            self._facts.reloaded()

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_console(self, message: ConsoleMessage) -> None:
        where = message.location
        place = f"{where.get('url', '')}:{where.get('lineNumber', 0) + 1}" if where.get("url") else ""
        self._recorder.log(message.type, message.text, place)

    async def _on_dialog(self, dialog: Dialog) -> None:
        self._dialogs += 1
        if self._dialogs <= MAX_DIALOGS:
            self._recorder.fault("dialog", f"{dialog.type}: {dialog.message[:200]}", dialog=dialog.type)
        with suppress(PlaywrightError):
            if self._dialogs > MAX_DIALOGS:
                await dialog.dismiss()
            elif dialog.type == "prompt":
                await dialog.accept(PROMPT_NAME)
            else:
                await dialog.accept()

    async def _on_download(self, download: Download) -> None:
        self._recorder.fault("download", f"the game offered a download: {download.suggested_filename[:100]}")
        with suppress(PlaywrightError):
            await download.cancel()

    def _on_request(self, request: Request) -> None:
        top = request.is_navigation_request() and request.frame is self._page.main_frame
        if not top and request.resource_type not in DISPENSABLE and not self._lets_through(request.url):
            self._facts.cannot_reach(urlsplit(request.url).netloc, request.resource_type, request.url)

    def _on_response(self, response: Response) -> None:
        path = urlsplit(response.url).path
        missing = response.status >= HTTPStatus.BAD_REQUEST and self._lets_through(response.url)
        if missing and path != FAVICON and response.request.frame.url != response.url:
            self._facts.has_not(path, response.status)

    def _on_worker(self, worker: Worker) -> None:
        name = f"worker {worker.url[:100]}"
        if name not in self._unseeded:
            self._unseeded.append(name)

    async def _on_popup(self, popup: Page) -> None:
        if popup is self._page:
            return
        self._recorder.fault("popup", f"the game opened a window: {popup.url[:200]}", url=popup.url[:500])
        with suppress(PlaywrightError):
            await popup.close()


def page_of(url: str) -> str:
    """An address without what may change within one page."""
    return url.split("#", maxsplit=1)[0].split("?", maxsplit=1)[0]
