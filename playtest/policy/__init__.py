"""The runner's rules, each pure: budget, progress, repeated taps, refusals, the canary."""
