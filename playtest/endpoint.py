"""Where a model is asked, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from playtest.errors import UsageError
from playtest.metering import Tariff
from playtest.presets import Preset


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and how to ask. Times are in seconds.

    `read_timeout_s` waits for one answer; `total_deadline_s` bounds one call with all its tries and pauses.
    Raises UsageError for an address or a key that can't be sent.
    """

    base_url: str
    api_key: SecretStr
    model: str
    preset: Preset
    tariff: Tariff
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 180.0
    total_deadline_s: float = 300.0
    max_attempts: int = 5
    requests_per_minute: int = 200

    def __post_init__(self) -> None:
        try:
            url = urlsplit(self.base_url)
            host, _port = url.hostname, url.port
        except ValueError as error:
            raise UsageError(f"the base URL is not an address: {error}") from error
        if url.scheme not in ("http", "https") or not host or "@" in url.netloc or url.query or url.fragment:
            # A user, password or query could hold a secret and would be shown in errors.
            raise UsageError("the base URL must read http(s)://host/path, without user, password, query or fragment")
        key = self.api_key.get_secret_value()
        if not key.isascii() or any(char.isspace() or not char.isprintable() for char in key):
            raise UsageError("the API key has characters that no key has (a line end, a space?)")

    def url(self, path: str) -> str:
        """The address of one of the endpoint's resources."""
        return f"{self.base_url.rstrip('/')}/{path}"
