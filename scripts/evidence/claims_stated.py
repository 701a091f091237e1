"""Which documents claims.py reads, and which of their figures are no measurements of ours. Standard library only."""

NOTES, FORWARD = "results/h200/pages/notes.md", "results/h200/pages/notes-forward.md"

# document -> whether figures in its tables need claims too. README's tables are of thresholds, and its example and columns are
# held by results_test.py and update_readme.py; those of notes-forward.md are a log and the spills, which results_test.py holds.
DOCUMENTS = {"README.md": False, "results/README.md": True, NOTES: True, FORWARD: False, "scripts/README.md": True,
             "scripts/evidence/README.md": True, "scripts/evidence/regressions/README.md": True, "src/README.md": True,
             "src/published/README.md": True, "src/testing/rows/README.md": True}
COMPUTED = {"results/h200/pages/findings.md"}  # whole, by a script

# (document, heading) of sections that say themselves that no rows of theirs are kept.
LOGS = {(NOTES, "Seen while building"), (FORWARD, "flash3"), (FORWARD, "Next")}

# (document, phrase, why it is no claim)
STATED = [
    ("README.md", "Simulating takes less than 2 GB whatever the sizes", "a limit the simulator keeps (model/predict.cpp)"),
    ("README.md", "`sweep` counts such cases up to 24 times", "a setting of sweep"),
    ("README.md", "`--precision 0.2%` leaves half a percent of the ratio open", "an option's value"),
    ("results/README.md", "One NVIDIA H200 (141 GB, 132 SMs, driver 580.159.04", "the card's data sheet and the driver's name"),
    ("results/README.md", "(6 MB, so it is made, not kept)", "the size of a file that is not kept"),
    (FORWARD, "128x128 with 32 rows a warp", "a setting of flash2"),
    ("scripts/evidence/README.md", "SM bytes within 1 % and HBM bytes within 10 % of the model", "the limits, which figures.txt holds"),
    ("scripts/evidence/README.md", "HBM bytes are within 10 % of the L2 model where", "the limit, which figures.txt holds"),
    ("src/published/README.md", "H100 SXM5 80 GB", "the card of others' figures"),
    ("src/published/README.md", "(backward 2.5 times that)", "a convention"),
    ("src/testing/rows/README.md", "`sweeps/forward`: 15 rows in the columns", "what a test's file holds"),
    ("scripts/evidence/README.md", "the gate passes at `--latency 2%`", "an option's value"),
]
