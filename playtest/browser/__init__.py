"""The browser: finding one, starting it, holding its time, giving it input, and listening to it."""
