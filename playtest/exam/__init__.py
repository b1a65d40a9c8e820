"""The exam: games of known truth, and how a tester fares on them."""
