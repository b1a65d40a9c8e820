"""All settings, in one frozen object. Flags > environment > playtest.toml > defaults.

This is the only module that reads the environment. A setting that can't be understood is an error that names the
setting and where it came from; nothing falls back silently.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from playtest.errors import UsageError

FILE = "playtest.toml"
# Variables that other tools know too; every other setting is PLAYTEST_<NAME>.
SHARED_VARIABLES = {"api_key": "MINIMAX_API_KEY", "base_url": "MINIMAX_BASE_URL", "model": "MINIMAX_MODEL"}
PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/150.0.0.0 Mobile Safari/537.36"
)
ClockName = Literal["auto", "frames", "js", "realtime"]


def _listed(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Listed = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Settings(BaseModel):
    """The effective settings. Times carry their unit in the name; money is in `currency`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    games_root: Path = Path("games")
    """Where `--gid` is looked up: `<games_root>/<gid>/index.html`."""
    evidence: Path = Path("evidence")
    """The evidence root."""
    tester: str = "minimax"
    """`minimax`, `explorer` or `scripted:FILE`."""
    model: str = "MiniMax-M3"
    """The model's id at the endpoint, case-sensitive."""
    base_url: str = "https://api.minimax.io/v1"
    """The endpoint, up to and without `/chat/completions`."""
    api_key: SecretStr | None = None
    """The endpoint's key."""
    preset: str | None = None
    """How to ask the model; by default the preset of its family."""
    language: Literal["auto", "zh", "en"] = "auto"
    """The language spoken to the tester; `auto` is the brief's."""
    seed: int | None = Field(default=None, ge=0, lt=2**53)
    """The first roll's seed; chosen and recorded when not given."""
    steps: int = Field(default=14, ge=1, le=500)
    """Steps of a roll."""
    max_steps: int = Field(default=24, ge=1, le=1000)
    """Steps of a roll that makes progress."""
    explorer_steps: int = Field(default=40, ge=1, le=500)
    """Steps of a roll for the explorer, whose steps cost nothing."""
    explorer_max_steps: int = Field(default=120, ge=1, le=2000)
    """Steps of a roll for the explorer when it makes progress."""
    rolls: int = Field(default=2, ge=1, le=2)
    """2 confirms a fail by a second roll."""
    clock: ClockName = "auto"
    """How game time is held."""
    timeout_s: float = Field(default=1800, gt=0, le=86_400)
    """The whole run's limit in wall time."""
    hang_s: float = Field(default=10, gt=0, le=600)
    """How long a page may not answer before it is taken to hang."""
    boot_s: float = Field(default=20, gt=0, le=600)
    """How long a page may load before it is played as it is."""
    settle_ms: float = Field(default=1500, ge=100, le=60_000)
    """Game time that the screen gets to settle after an input."""
    reaction_ms: float = Field(default=0, ge=0, le=10_000)
    """Game time that passes before each input, as a person's reaction would."""
    film_first_play: bool = True
    """Play a roll's beginning again, frame by frame, to tell exactly when it was playable (clock `frames`)."""
    playable_limit_ms: float = Field(default=2000, gt=0)
    """Game time within which a game should be playable."""
    feedback_limit_ms: float = Field(default=100, gt=0)
    """Game time within which the first input should be answered."""
    loop_limit_ms: float = Field(default=60_000, gt=0)
    """Game time within which the core loop should be closed."""
    history_pictures: int = Field(default=3, ge=1, le=5)
    """Pictures that stay in the model's conversation."""
    max_cost: float | None = Field(default=None, gt=0)
    """The most that a whole run may cost; by default 1.5 where the price is known."""
    max_cost_per_roll: float = Field(default=0.5, gt=0)
    """The most that one roll may cost."""
    currency: str = Field(default="CNY", pattern=r"^[A-Z]{3}$")
    """The currency of all caps and costs."""
    usd_rate: float = Field(default=7.1, gt=0)
    """How much of `currency` one US dollar buys."""
    usd_rate_date: str = "2026-09-29"
    """When that rate was set; a round figure, to be replaced by your own."""
    read_timeout_s: float = Field(default=180, gt=0)
    """How long one answer of the endpoint may take."""
    request_deadline_s: float = Field(default=300, gt=0)
    """How long one request may take, retries included."""
    requests_per_minute: int = Field(default=200, ge=1)
    """The endpoint's limit."""
    chromium: str | None = None
    """The browser's binary; searched for when not given."""
    headed: bool = False
    """Show the browser's window (clock `js` or `realtime`)."""
    user_agent: str = PHONE
    """What the page is told of the browser."""
    timezone: str = "Asia/Shanghai"
    """The page's time zone."""
    engine_calls: Listed = ()
    """What a game's calls to its engine and plugins begin with (`audio.`), for `playtest check`.
    In the environment with commas between."""
    red_words: Path | None = None
    """A file of words that no game may have in it, one a line, for `playtest check`."""
    start_date: str = "2026-01-15T02:00:00+00:00"
    """The instant at which every game's clock starts, ISO 8601 with its offset."""


DEFAULT_RUN_CAP = 1.5


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and for each where it came from."""

    settings: Settings
    origins: dict[str, str]


def load(flags: Mapping[str, Any], environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Loaded:
    """The effective settings. `flags` with the value None were not given.

    Raises UsageError naming the setting and its origin.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.model_fields, "default")
    file = (folder or Path.cwd()) / FILE
    given = {name: value for name, value in flags.items() if value is not None}
    for origin, layer in (
        (str(file), _from_file(file)),
        ("environment", _from_environment(environment)),
        ("flag", given),
    ):
        for name, value in layer.items():
            values[name] = value
            origins[name] = f"environment ({variable_of(name)})" if origin == "environment" else origin
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        name = str(problem["loc"][0])
        raise UsageError(f"setting {name} from {origins.get(name, 'flag')}: {problem['msg']}", _hint(name)) from error
    if settings.max_steps < settings.steps:
        if origins["max_steps"] != "default":
            raise UsageError(f"max_steps ({settings.max_steps}) is below steps ({settings.steps})", "raise --max-steps")
        settings = settings.model_copy(update={"max_steps": settings.steps})
    return Loaded(settings, origins)


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return SHARED_VARIABLES.get(name, f"PLAYTEST_{name.upper()}")


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name in Settings.model_fields:
        value = environment.get(variable_of(name), "")
        if value.strip():
            found[name] = value.strip()
    return found


def _from_file(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"the settings file {file} can't be read: {error}", "mend it or move it away") from error
    if "api_key" in values:
        raise UsageError(f"{file} holds an API key", f"keys belong in the environment: {variable_of('api_key')}")
    unknown = sorted(set(values) - set(Settings.model_fields))
    if unknown:
        raise UsageError(f"{file} has unknown settings: {', '.join(unknown)}", "`playtest config` shows all there are")
    return values


def _hint(name: str) -> str:
    if name not in Settings.model_fields:
        return "see `playtest config` for what there is"
    return f"{name}: {Settings.model_fields[name].description}"
