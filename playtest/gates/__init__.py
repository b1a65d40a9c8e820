"""What the gates decide: facts in, a judgement out."""
