"""A visual playtest agent for HTML5 mini-games: it plays by sight and returns a verdict with evidence."""

__version__ = "0.1.0"
