"""Drivers: fixed ways to play a game by what its PlaySpec says. Real inputs only; nothing of the page is written."""
