"""Presets: which model is asked how."""

import pytest

from playtest.errors import UsageError
from playtest.presets import GENERIC, MINIMAX_M3, PRESETS, preset_for
from playtest.protocol.coordinates import CoordinateSpace


@pytest.mark.parametrize(
    ("model", "name", "space"),
    [
        ("MiniMax-M3", "minimax-m3", "norm1000"),
        ("minimax/MiniMax-M3", "minimax-m3", "norm1000"),
        ("qwen3-vl-235b-a22b-instruct", "qwen-vl", "norm1000"),
        ("Qwen/Qwen2.5-VL-72B-Instruct", "qwen2.5-vl", "css"),
        ("glm-4.5v", "glm-v", "norm1000"),
        ("google/gemini-2.5-pro", "gemini", "norm1000"),
        ("gpt-5-mini", "gpt", "css"),
        ("o4-mini", "gpt", "css"),
        ("anthropic/claude-sonnet-4.5", "claude", "css"),
        ("somebodys-own-model", "generic", "norm1000"),
        ("qwen3-coder", "generic", "norm1000"),
        ("glm-4.6", "generic", "norm1000"),
    ],
)
def test_a_models_family_decides(model, name, space):
    preset = preset_for(model)
    assert (preset.name, preset.coordinate_space) == (name, CoordinateSpace(space))


def test_a_name_overrides_the_family():
    assert preset_for("MiniMax-M3", "gpt") is PRESETS["gpt"]


def test_an_unknown_name_is_the_callers_mistake_and_says_what_there_is():
    with pytest.raises(UsageError) as caught:
        preset_for("MiniMax-M3", "minimaks")
    assert "minimaks" in caught.value.message
    assert "minimax-m3" in caught.value.hint


def test_what_minimax_is_sent():
    assert MINIMAX_M3.request_fields() == {
        "max_completion_tokens": 2048,
        "temperature": 0.1,
        "thinking": {"type": "disabled"},
        "reasoning_split": True,
    }
    assert MINIMAX_M3.image_detail == "default"
    assert (MINIMAX_M3.max_pictures, MINIMAX_M3.max_picture_bytes) == (10, 5_000_000)


def test_an_unknown_model_is_sent_only_what_every_gateway_knows():
    assert GENERIC.request_fields(77) == {"max_tokens": 77, "temperature": 0.1}
    assert GENERIC.image_detail is None


def test_gpt_is_left_its_own_temperature():
    assert PRESETS["gpt"].request_fields() == {"max_completion_tokens": 2048}


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_no_preset_asks_for_a_response_format_or_leaves_the_valid_ranges(preset):
    fields = preset.request_fields()
    assert "response_format" not in fields
    assert preset.temperature is None or 0 < preset.temperature <= 2
    assert preset.max_pictures <= 10


@pytest.mark.parametrize(("size", "tokens"), [((390, 844), 420), ((780, 1688), 1680), ((390, 872), 434), ((1, 1), 1)])
def test_minimax_counts_squares_of_28_px(size, tokens):
    assert MINIMAX_M3.tokens_per_picture(*size) == tokens


def test_an_unknown_models_pictures_take_an_unknown_number_of_tokens():
    assert GENERIC.tokens_per_picture(390, 872) == 0
