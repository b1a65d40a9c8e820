"""Pictures as arrays: what differs, where, and whether two are one screen."""

import io

import numpy as np
import pytest
from PIL import Image

from playtest.pictures import (
    TILE,
    bounds,
    changed_pixels,
    changed_tiles,
    decode,
    distance,
    distinct_colours,
    picture_hash,
    signature,
    spread,
)


def png_of(pixels: np.ndarray, mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(out, "PNG")
    return out.getvalue()


def picture(pixels: np.ndarray, game_ms: float = 0):
    return decode(png_of(pixels), game_ms)


@pytest.fixture
def blank() -> np.ndarray:
    return np.full((844, 390, 3), 40, dtype=np.uint8)


def test_one_changed_pixel_is_found_in_its_tile(blank):
    after = blank.copy()
    after[432, 217] = (200, 40, 40)
    counts = changed_pixels(picture(blank), picture(after))
    assert counts.sum() == 1
    assert counts[43, 21] == 1
    assert bounds(changed_tiles(picture(blank), picture(after))) == (210, 430, TILE, TILE)


def test_the_last_row_and_column_belong_to_a_tile_too(blank):
    after = blank.copy()
    after[843, 389] = 255
    counts = changed_pixels(picture(blank), picture(after))
    assert counts.shape == (85, 39)
    assert counts[84, 38] == 1


def test_a_faint_step_is_dithering_and_a_clear_one_is_not(blank):
    faint, clear = blank.copy(), blank.copy()
    faint += 10
    clear[:, :, 2] += 11
    assert changed_pixels(picture(blank), picture(faint)).sum() == 0
    assert changed_pixels(picture(blank), picture(clear)).sum() == 844 * 390
    assert changed_pixels(picture(clear), picture(blank)).sum() == 844 * 390, "darker counts as well as lighter"


def test_another_size_is_another_screen(blank):
    assert (changed_pixels(picture(blank), picture(blank[:400])) == TILE * TILE).all()


@pytest.mark.parametrize("mode", ["RGBA", "L", "P"])
def test_pictures_of_other_modes_are_read(blank, mode):
    assert decode(png_of(blank, mode), 5).pixels.shape == (844, 390, 3)


@pytest.mark.parametrize("data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 40])
def test_what_is_no_picture_is_an_error_that_is_caught(data):
    with pytest.raises((OSError, SyntaxError)):
        decode(data, 0)


def test_a_hash_tells_pictures_apart_and_sizes_too(blank):
    other = blank.copy()
    other[0, 0, 0] += 1
    assert picture_hash(blank) == picture_hash(blank.copy())
    assert len({picture_hash(blank), picture_hash(other), picture_hash(blank.reshape(390, 844, 3))}) == 3
    assert len(picture_hash(blank)) == 16


def test_spreading_reaches_the_eight_neighbours_and_no_further():
    counts = np.zeros((6, 6), dtype=np.int16)
    counts[2, 2], counts[5, 5] = 7, 3
    wide = spread(counts)
    assert (wide[1:4, 1:4] == 7).all()
    assert wide[4, 4] == 3
    assert wide[0, 0] == wide[0, 3] == 0
    assert bounds(np.zeros((6, 6), dtype=bool)) is None


def test_screens_are_told_apart_and_small_motion_is_not(blank):
    moved, other = blank.copy(), blank.copy()
    moved[300:320, 100:120] = 255
    other[:, :200] = 250
    assert distance(signature(blank), signature(moved)) < 2
    assert distance(signature(blank), signature(other)) > 50
    assert distinct_colours(blank) == 1
    assert distinct_colours(other) == 2
    noise = np.random.default_rng(1).integers(0, 255, blank.shape, dtype=np.uint8)
    assert distinct_colours(noise) == 64
