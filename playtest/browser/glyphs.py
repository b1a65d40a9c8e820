"""Which scripts this machine has letters for: a game shown as boxes is no fault of the game's."""

from __future__ import annotations

from playwright.async_api import Page

# A sign for each script that games are written in; `NEEDED` are those that briefs and menus use.
SAMPLES = {"Chinese": "国", "Japanese": "あ", "Korean": "한", "emoji": "\N{GRINNING FACE}", "Thai": "ก", "Arabic": "ع"}
NEEDED = ("Chinese", "Japanese", "Korean", "emoji")
# A sign that no font has is drawn as a box. U+0378 is no character, so it shows what the box looks like.
GLYPHS = """samples => {
    const canvas = document.createElement('canvas'); canvas.width = canvas.height = 48;
    const pen = canvas.getContext('2d', {willReadFrequently: true}); pen.font = '32px sans-serif';
    const drawn = text => { pen.clearRect(0, 0, 48, 48); pen.fillText(text, 4, 38);
        return pen.getImageData(0, 0, 48, 48).data.join(); };
    const nothing = drawn(' '), box = drawn('\\u0378');
    return Object.fromEntries(Object.entries(samples).map(
        ([name, text]) => { const seen = drawn(text); return [name, seen !== box && seen !== nothing]; })); }"""


async def missing_on(page: Page) -> list[str]:
    """The scripts that games need and that this page would show as boxes."""
    seen: dict[str, bool] = await page.evaluate(GLYPHS, SAMPLES)
    return [name for name in NEEDED if not seen[name]]


_known: dict[str, list[str]] = {}


async def missing_here(page: Page, browser: str) -> list[str]:
    """The same, asked once for each browser: fonts stay as they are while we run, and games are opened often."""
    if browser not in _known:
        _known[browser] = await missing_on(page)
    return _known[browser]
