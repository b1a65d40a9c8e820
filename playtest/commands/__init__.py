"""One module for each subcommand; each takes plain arguments and returns an exit code."""
