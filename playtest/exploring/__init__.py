"""The explorer's decisions: what is on the screen, what came of an input, what to do next, and when to judge."""
