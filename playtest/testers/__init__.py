"""The testers: whoever looks at the game and decides each step."""
