"""The protocol `playtest/1`: the tester's reply, transcript lines, the run's result, exit codes."""
