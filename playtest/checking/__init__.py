"""The static check of a game's sources: what they call, and what should not be in them any more."""
