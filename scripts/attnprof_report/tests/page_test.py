"""`attnprof_report page` as a person runs it: what the page holds, how it treats odd cells, what it refuses, which exit codes."""

import base64
import collections
import contextlib
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SCRIPTS))

from attnprof_report import page_rows  # noqa: E402
from attnprof_report import page_summary  # noqa: E402
import result_file  # noqa: E402
from attnprof_report.__main__ import main  # noqa: E402
from attnprof_report.page_findings import findings_of  # noqa: E402

Done = collections.namedtuple("Done", "returncode stdout stderr")
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def measured(rows):
    return [row | {"backend": "gpu", "device": "NVIDIA H200"} for row in rows]


def ending(disposition, reason, n=1024, **changes):
    """A flash1 case that gave no number."""
    row = measured([result_file.row("flash1", n, 64, disposition=disposition, reason=reason, verified="")])[0]
    return row | result_file.empty() | changes


def explained(file, line=2, **changes):
    """What explain writes of one flash2 case."""
    case = {"file": str(file), "line": line, "identity": {"variant": "flash2", "q_len": "4096", "head_dim": "64"},
            "latency_ns": 4e5, "binds": "tensor", "idle_share": 0.21, "waves": 1.94, "occupancy_pct": None,
            "sentences": ["The tensor cores bind."], "missing": ["smem"],
            "tiles": [{"tile": "64x64", "predicted_ns": 5e5, "speedup": 0.8}],
            "resources": [{"name": "tensor", "ns": 2e5, "share": 0.5, "columns": ["executed_tensor_flops"],
                           "rate_source": "nominal tensor_16bit_tflops"}],
            "against": {"line": 3, "variant": "naive", "speedup": 7.1, "remainder": 1.02,
                        "factors": [{"name": "fewer_bytes", "factor": 3.2, "columns": ["hbm_bytes"], "text": "reads S never"}]}}
    return {"schema": 1, "cases": [case | changes], "left_out": [{"reason": "skipped", "count": 3}], "notices": ["A notice."]}


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "report.html"

    def write(self, rows, name="rows.csv"):
        return result_file.write(self.folder / name, rows)

    def text(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def run_on(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()) as out:
            code = main(["page", *map(str, arguments), "-o", str(self.output)])
        return Done(code, out.getvalue(), errors.getvalue())

    def page(self, *arguments):
        done = self.run_on(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.output.read_text(encoding="utf-8")

    def data(self, page, name):
        return json.loads(re.search(rf'id="{name}">(.*?)</script>', page, re.DOTALL)[1])

    def refuses(self, code, sentence, *arguments):
        done = self.run_on(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"\Aattnprof_report page: [^\n]*\n\Z")
        self.assertIn(sentence, done.stderr)
        self.assertFalse(self.output.exists())


class Page(ReportTest):
    def test_every_row_and_every_plot_of_a_sweep(self):
        rows = measured(result_file.default_sweep())
        page = self.page(self.write(rows + [rows[0] | {"tile": f"{br}x64", "br": br} for br in (64, 128)]))
        self.assertEqual(len(self.data(page, "table-data")["rows"]), 34)
        keys = {key.rsplit("-", 1)[0] for key in self.data(page, "figure-data")}
        self.assertEqual(keys, {"roofline", "sweep_latency", "sweep_hbm_bytes", "sweep_sm_bytes", "sweep_tflops", "tiles_latency",
                                "tiles_sm_bytes", "model"})
        self.assertNotIn("Not drawn", page)

    def test_points_are_the_rows(self):
        rows = measured([result_file.row("flash2", n, 64) for n in (512, 1024, 2048)])
        figure = self.data(self.page(self.write(rows)), "figure-data")["sweep_latency-0"]
        self.assertEqual(figure["data"][0]["x"], [512, 1024, 2048])
        for drawn, row in zip(figure["data"][0]["y"], rows):
            self.assertAlmostEqual(drawn, 1e-6 * float(row["latency_median_ns"]), places=6)

    def test_holds_all_it_needs(self):
        page = self.page(self.write(result_file.default_sweep()))
        self.assertEqual(re.findall(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=(?!\"data:)", page.split("<script>")[0]), [])
        self.assertLess(len(page), 6e6)

    def test_peers_rows_say_why_there_are_no_bytes(self):
        path = result_file.write_peers(self.folder / "peers.csv")
        page = self.page(path, self.write(measured(result_file.default_sweep())))
        self.assertIn("<b>torch_flash bf16</b>", json.dumps(self.data(page, "figure-data")))
        page = self.page(path)
        self.assertIn("Not drawn: no correct row has hbm_bytes.", page)
        self.assertIn("Not drawn: of 2 rows, 2 without a time or bytes.", page)
        self.assertIn("peers.csv has no .meta.json beside it", page)

    def test_simulated_rows_are_no_evidence_for_the_model(self):
        self.assertIn("Not drawn: all rows are simulated", self.page(self.write(result_file.default_sweep())))


class Marked(ReportTest):
    def test_every_case_without_a_number_is_named_with_its_reason(self):
        rows = measured(result_file.default_sweep())[:8]
        rows += [ending("skipped", f"reason {i}", n=8192 + i) for i in range(9)] + [ending("failed", "a fault", n=5000)]
        rows[1] |= {"verified": "no"}
        page = self.page(self.write(rows))
        for words in [*(f"reason {i}" for i in range(9)), "a fault", "1 incorrect", "9 skipped", "1 failed"]:
            self.assertIn(words, page)
        table = self.data(page, "table-data")
        status = [row[table["columns"].index("status")] for row in table["rows"]]
        self.assertEqual(collections.Counter(status), {"ok": 7, "incorrect": 1, "skipped": 9, "failed": 1})
        marks = [trace for trace in self.data(page, "figure-data")["sweep_latency-0"]["data"] if trace.get("yaxis") == "y2"]
        self.assertEqual(sorted(len(trace["x"]) for trace in marks), [1, 1, 9])

    def test_rows_alone_without_any_number_are_still_a_report(self):
        page = self.page(self.write([ending("skipped", "needs 9 GB, 1 GB is free")]))
        self.assertEqual(self.data(page, "figure-data"), {})
        self.assertIn("needs 9 GB, 1 GB is free", page)

    def test_an_older_row_of_a_case_is_marked_so(self):
        old = measured([result_file.row("flash2", 512, 64, run="20260101T000000Z-1")])
        new = measured([result_file.row("flash2", 512, 64, run="20260102T000000Z-0")])
        table = self.data(self.page(self.write(new, "new.csv"), self.write(old, "old.csv")), "table-data")
        self.assertEqual([row[table["columns"].index("status")] for row in table["rows"]], ["ok", "ok, old"])
        self.assertIn("file", table["first"])

    def test_cells_are_text(self):
        page = self.page(self.write(measured(result_file.default_sweep())[:8] + [ending("skipped", EVIL, variant="<b>" + EVIL)]))
        self.assertNotIn("<script>alert", page)
        self.assertNotIn("<img src=x", page)
        self.assertIn("&lt;script&gt;alert(1)", page)
        self.assertIn(EVIL, json.dumps(self.data(page, "table-data")))

    def test_only_the_pages_own_scripts_may_run(self):
        page = self.page(self.write(result_file.default_sweep()))
        scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        hashes = ["'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'" for script in scripts]
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
        self.assertEqual(policy.split("script-src ")[1].split(), hashes)
        self.assertIn("default-src 'none'", policy)


class Environment(ReportTest):
    def meta(self, run):
        return self.text("rows.csv.meta.json", {"schema": "1", "runs": {"r1": run}})

    def test_ceilings_stand_beside_what_is_nominal(self):
        file = self.write(result_file.default_sweep())
        self.meta({"command_line": "attnprof sweep <x>", "environment": {"driver": "580.1"}, "peaks": {"hbm_gbps": 4800.0},
                   "ceilings": {"hbm_read_gbps": {"median": 4320.0, "spread_pct": 0.4, "samples": 20, "nominal": 4800.0}}})
        page = self.page(file)
        for words in ("attnprof sweep &lt;x&gt;", "580.1", "hbm_read_gbps", "4320", "90 %"):
            self.assertIn(words, page)

    def test_a_run_that_is_not_known_is_said_so(self):
        file = self.write(result_file.default_sweep())
        self.text("rows.csv.meta.json", {"runs": {"other": {}}})
        self.assertIn("rows.csv.meta.json does not know the run r1", self.page(file))

    def test_a_meta_file_that_is_no_json(self):
        file = self.write(result_file.default_sweep())
        self.text("rows.csv.meta.json", "{")
        self.refuses(2, "is no attnprof meta file: it is no JSON", file)


class Findings(ReportTest):
    def test_are_told_and_joined_to_their_row(self):
        file = self.write(measured(result_file.default_sweep()))
        page = self.page(file, "--explain", self.text("explain.json", explained("elsewhere/rows.csv", line=3)))
        for words in ("flash2, N = 4k, d = 64", "The tensor cores bind.", "7.1x the speed of naive", "fewer bytes",
                      "reads S never", "3 rows not explained: skipped", "A notice.", "not known: smem", "idle share 21 %"):
            self.assertIn(words, page)
        self.assertEqual([i for i, place in enumerate(self.data(page, "table-data")["findings"]) if place], [1])

    def test_of_two_files_of_one_name_only_the_one_named_is_joined(self):
        (self.folder / "other").mkdir()
        files = [self.write([result_file.row("flash2", 512, 64)], name) for name in ("rows.csv", "other/rows.csv")]
        findings = findings_of(self.text("explain.json", explained(files[1])), None, files)
        self.assertEqual(list(findings.places(page_rows.read_files(files))), [("other/rows.csv", 2)])
        findings = findings_of(self.text("explain.json", explained("gone/rows.csv")), None, files)
        self.assertEqual(findings.places(page_rows.read_files(files)), {})

    def test_none_is_said_so(self):
        self.assertIn("No findings: neither --explain nor", self.page(self.write(result_file.default_sweep())))

    def test_what_explain_did_not_write_is_refused(self):
        file = self.write(result_file.default_sweep())
        for content, sentence in (("{", "is no JSON"), ([], "has no list of cases"), ({"cases": [3]}, "has no list of cases"),
                                  (explained(file) | {"schema": 2}, "has schema 2"),
                                  (explained(file, sentences=5), "case 1: sentences is no list"),
                                  (explained(file, against={"factors": ["x"]}), "case 1: factors is no list")):
            self.refuses(2, sentence, file, "--explain", self.text("explain.json", content))
        self.refuses(2, "cannot be read: No such file", file, "--explain", self.folder / "none.json")

    def test_absent_parts_are_left_out(self):
        content = {"schema": 1, "cases": [{"file": "rows.csv", "line": 2, "identity": None, "binds": None, "against": None}]}
        page = self.page(self.write(result_file.default_sweep()), "--explain", self.text("explain.json", content))
        self.assertIn("unknown binds", page)

    def program(self, body):
        path = self.text("attnprof", f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def test_of_a_program(self):
        file = self.write(result_file.default_sweep())
        answer = self.text("answer.json", explained(file))
        asked_for_roofs = f'case $1 in roofline | list | check-rows) exec {shlex.quote(os.environ["ATTNPROF"])} "$@" ;; esac\n'
        body = asked_for_roofs + f'[ "$1 $3 $4 $5" = "explain --format json -o" ] && cp {answer} "$6"'
        page = self.page(file, "--attnprof", self.program(body))
        self.assertIn("The tensor cores bind.", page)
        page = self.page(file, "--attnprof", self.program(asked_for_roofs + "echo 'attnprof: no row is ok.' >&2; exit 3"))
        self.assertIn("No findings: attnprof: no row is ok.", page)
        self.output.unlink()
        program = self.program(asked_for_roofs + "echo unknown command >&2; exit 2")
        self.refuses(2, "ended with exit code 2: unknown command", file, "--attnprof", program)
        self.refuses(3, "cannot be run: No such file", file, "--attnprof", self.folder / "none")


class Refused(ReportTest):
    def test_nothing_to_show(self):
        self.refuses(3, "there are no rows", self.write([]))

    def test_unreadable(self):
        self.refuses(2, "cannot be read", self.folder / "none.csv")
        self.refuses(2, "column variant is missing", self.text("bad.csv", "a,b\n1,2\n"))
        self.refuses(2, "has no whole line", self.text("empty.csv", ""))
        row = result_file.row("flash2", 512, 64)
        self.refuses(2, "line 2, column sm_bytes: 'many' is not a whole number", self.write([row | {"sm_bytes": "many"}]))
        self.refuses(2, "'fine' is none of ok, skipped, incorrect, failed", self.write([row | {"disposition": "fine"}]))

    def test_unwritable(self):
        self.output = self.folder / "none" / "report.html"
        self.refuses(3, "cannot be written", self.write(result_file.default_sweep()))

    def test_deep_files(self):
        file = self.write(result_file.default_sweep())
        self.refuses(2, "is no JSON", file, "--explain", self.text("explain.json", '{"cases": ' + "[" * 100000))
        self.text("rows.csv.meta.json", '{"runs": {"r1": ' + '{"a": ' * 100000)
        self.refuses(2, "is no attnprof meta file", file)
        self.refuses(2, "/dev/zero: cannot be read", "/dev/zero")

    def test_rows_without_a_length(self):
        row = result_file.row("flash2", 512, 64, q_len=0, kv_len=0, batch=0, heads=0, kv_heads=0, head_dim=0)
        self.assertIn("no row has a length N", self.page(self.write([row])))


class Summary(ReportTest):
    def test_speed_is_the_geometric_mean_over_common_cases(self):
        rows = measured([result_file.row("naive", n, 64, latency_median_ns=8000) for n in (512, 1024)])
        rows += measured([result_file.row("flash2", n, 64, latency_median_ns=time)
                          for n, time in ((512, 4000), (1024, 500), (2048, 9))])
        rows += measured([result_file.row("flash2", 512, 64, tile="16x16", latency_median_ns=7000)])
        summary = page_summary.summary_of(page_rows.sweep_of(page_rows.read_files([self.write(rows)])))
        lines = {line["name"]: line for line in summary["lines"]}
        self.assertAlmostEqual(lines["flash2"]["speed"], (2 * 16) ** 0.5)
        self.assertEqual(lines["flash2"]["cases"], 2)
        self.assertNotIn("speed", lines["naive"])
        self.assertEqual(summary["base"], "naive")


if __name__ == "__main__":
    unittest.main()
