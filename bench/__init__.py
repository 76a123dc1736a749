"""Owns the benchmarks: what recording costs beside no recording and beside scaly.viz, in one run."""
