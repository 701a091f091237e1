"""Pictures and an HTML page of attnprof's result files: `python scripts/attnprof_report --help`."""
