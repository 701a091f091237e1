"""What results/ and README say is computed anew from the committed rows, and is the same."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
ROOT = EVIDENCE.parents[1]
H200 = ROOT / "results/h200"
PROGRAM = os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof"
MOST_FILES = 110
SIZES = {"us": 1e3, "MB": 1e6, "TFLOP/s": 1, "%": 1}
FIGURES = {"latency": "latency_median_ns", "rate": "useful_tflops_per_s", "HBM": "hbm_bytes", "SM": "sm_bytes", "roof": "roof_pct"}
sys.path.insert(0, str(EVIDENCE))

import joined  # noqa: E402
from results_folder import Results  # noqa: E402


def printed(script, *arguments):
    done = subprocess.run([sys.executable, EVIDENCE / script, *arguments], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def committed(name):
    return (H200 / name).read_text(encoding="utf-8")


class Recomputed(unittest.TestCase):
    maxDiff = None

    def test_figures(self):
        self.assertEqual(printed("check_figures.py", PROGRAM, H200), (committed("evidence/figures.txt"), ""))

    def test_findings(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "findings.md"
            self.assertEqual(printed("findings.py", H200 / "sweeps", "-o", output), ("", ""))
            self.assertEqual(output.read_text(encoding="utf-8"), committed("pages/findings.md"))

    def test_tables(self):
        self.assertEqual(printed("hbm_scatter.py", "--analyse", H200), (committed("evidence/hbm_scatter.txt"), ""))
        self.assertEqual(printed("trace_table.py", H200), (committed("evidence/trace.txt"), ""))
        for change in ("house", "passes"):
            self.assertEqual(printed("house_figures.py", PROGRAM, H200, change), (committed(f"evidence/{change}.txt"), ""))

    def test_what_explain_is_worth(self):
        self.assertEqual(printed("explain_evidence.py", PROGRAM, H200, "--all"), (committed("evidence/explain_evidence.txt"), ""))
        with tempfile.TemporaryDirectory() as folder:
            explained = pathlib.Path(folder) / "explain.json"
            subprocess.run([PROGRAM, "explain", H200 / "sweeps/forward.csv", "--format", "json", "-o", explained], check=True,
                           capture_output=True)
            self.assertEqual(printed("ncu_agreement.py", "compare", H200 / "evidence/ncu.csv", explained),
                             (committed("evidence/ncu_agreement.txt"), ""))


    def test_what_the_gate_is_worth(self):
        texts = joined.split_text(committed("evidence/gate.log"))
        for part, name in (("gate", "gate_evidence.json"), ("gate_one_place", "gate_one_place.json")):
            with tempfile.TemporaryDirectory() as folder:
                files, regressions, output = parts_of("gate", folder), pathlib.Path(folder) / "regressions.txt", pathlib.Path(folder) / name
                regressions.write_text(texts[f"{part}/regressions.txt"], encoding="utf-8")
                runs = [path for part_name, path in files.items() if part_name.startswith(f"{part}/a_")]
                _, said = printed("gate_evidence.py", PROGRAM, *runs, "-o", output, "--regressions", regressions)
                self.assertEqual((said, output.read_text(encoding="utf-8")), ("", committed(f"evidence/{name}")))

    def test_made_regressions(self):
        """What the log of the runs says the gate found, it finds in their rows."""
        with tempfile.TemporaryDirectory() as folder:
            files, report = parts_of("gate", folder), pathlib.Path(folder) / "gate.json"
            for line in joined.split_text(committed("evidence/gate.log"))["gate/regressions.txt"].splitlines():
                name, _, seen, _ = (part.strip() for part in line.split(" | "))
                done = subprocess.run([PROGRAM, "gate", files["gate/a_1_1"], files[f"gate/r_{name}"], "--run", "newest", "--allow-missing",
                                       "--json", report], capture_output=True, check=False)
                rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
                worse = collections.Counter(metric["column"] for row in rows for metric in row["metrics"] if metric["verdict"] == "worse")
                found = ", ".join(f"{column} x{count}" for column, count in sorted(worse.items()))
                self.assertEqual(f"exit {done.returncode}, worse: {found}", seen, name)

    def test_the_newcomers_gate(self):
        """Today's gate finds what it told the newcomer then, a line a value."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "gate.json"
            done = subprocess.run([PROGRAM, "gate", "base.csv", "worse.csv", "--json", report], cwd=H200 / "evidence/newcomer",
                                  capture_output=True, check=False)
            rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
        found = collections.Counter((metric["verdict"], metric["column"]) for row in rows for metric in row["metrics"] if metric["verdict"] != "same")
        told = counts(committed("evidence/newcomer/gate.txt"))
        del told["better", "registers"]  # one of 128 less: since then registers count where an SM holds other blocks by them
        self.assertEqual((done.returncode, found), (1, told))
        self.assertEqual(found["worse", "sm_bytes"], 6)

    def test_the_simulators_default_sweep(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "defaults.csv"
            subprocess.run([PROGRAM, "sweep", "--backend", "sim", "-o", output], check=True, capture_output=True)
            columns = ("variant", "q_len", "head_dim", "verified", "hbm_bytes", "sm_bytes", "executed_tensor_flops", "bound")
            self.assertEqual(*([[row[column] for column in columns] for row in joined.read_csv(path)[1]]
                               for path in (output, ROOT / "results/sim/defaults.csv")))
        done = subprocess.run([PROGRAM, "sweep", "--backend", "sim"], check=True, capture_output=True, text=True)
        self.assertEqual(table_of(done.stdout), table_of((ROOT / "results/sim/defaults.txt").read_text(encoding="utf-8")))

    def test_every_sentence(self):
        done = subprocess.run([sys.executable, EVIDENCE / "claims.py", PROGRAM], capture_output=True, text=True, check=False)
        wrong = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
        self.assertEqual((done.returncode, wrong, done.stderr), (0, [], ""))


def parts_of(name, folder):
    """{part: its rows as a file in `folder`} of a joined file of evidence/."""
    source = H200 / f"evidence/{name}.csv"
    files = {part: pathlib.Path(folder) / f"{part}.csv" for part in joined.rows_by_part(source)}
    for part, path in files.items():
        joined.write_part(source, part, path)
    return files


def table_of(text):
    """Rows of a printed table; the line below it tells how many columns there are in all."""
    return [line for line in text.splitlines() if "columns hidden" not in line]


def counts(text):
    """How often the gate's text says each verdict of each column."""
    return collections.Counter(re.findall(r"^(\w+) .*: (\w+) \S+.* -> ", text, re.MULTILINE))


class Page(unittest.TestCase):
    """The page that is made where it is wanted, and not kept."""

    def test_of_the_forward_sweep(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "forward.html"
            done = subprocess.run([sys.executable, ROOT / "scripts/attnprof_report", "page", H200 / "sweeps/forward.csv", "-o", page,
                                   "--attnprof", PROGRAM], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = page.read_text(encoding="utf-8")
        table = json.loads(re.search(r'id="table-data">(.*?)</script>', text, re.DOTALL)[1])
        self.assertEqual((len(table["rows"]), sum(map(bool, table["findings"]))), (240, 240))


class Readme(unittest.TestCase):
    def lines(self):
        """Cells of README's example, as {heading: text}; those under a unit have it behind them."""
        example = (ROOT / "README.md").read_text(encoding="utf-8").split("## An example")[1].split("\n## ")[0]
        titles, units, *rows = [line.split() for line in example.splitlines() if line.startswith("    ")]
        units = dict(zip(FIGURES, units))
        return [{title: f"{cell} {units[title]}" if title in units else cell for title, cell in zip(titles, cells)} for cells in rows]

    def near(self, text, value):
        """`text` is the value in three digits."""
        shown, unit = text.split()
        self.assertLessEqual(abs(float(shown) * SIZES[unit] / value - 1), 0.006, f"{text} against {value}")

    def test_the_example_is_in_the_rows(self):
        rows = {(row["variant"], row["q_len"]): row for row in Results(H200).rows("forward")
                if (row["batch"], row["head_dim"], row["mask"]) == ("1", "128", "full")}
        self.assertEqual(len(self.lines()), 10)
        for line in self.lines():
            row = rows[line["variant"], line["N"]]
            tile = f"{row['br']}x{row['bc']}" if row["br"] else "-"
            self.assertEqual((line["tile"], line["bound"], line["verified"], line["flags"]),
                             (tile, row["bound"], row["verified"], row["flags"] or "-"))
            for heading, column in FIGURES.items():
                self.near(line[heading], float(row[column]))

    def test_pictures_and_files_it_names_are_there(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        named = re.findall(r"\]\(((?:results|src|scripts)/[^)]*)\)", readme)
        self.assertGreaterEqual(len(named), 4)
        for name in named:
            self.assertTrue((ROOT / name).exists(), name)


class Layout(unittest.TestCase):
    def test_few_files(self):
        kept = [path for path in (ROOT / "results").rglob("*") if path.is_file()
                and path.relative_to(ROOT / "results").parts[0] not in ("demo", "tmp")]
        self.assertLessEqual(len(kept), MOST_FILES)

    def test_every_file_is_told_of(self):
        """Each stem in one of the two READMEs."""
        told = (ROOT / "results/README.md").read_text(encoding="utf-8") + (EVIDENCE / "README.md").read_text(encoding="utf-8")
        for path in H200.rglob("*.*"):
            stem = path.relative_to(H200).parts[1] if path.parent.parent != H200 else path.name.split(".")[0]
            known = stem in told or any(f"{stem[:length]}*" in told for length in range(3, len(stem)))
            self.assertTrue(known, f"{path} is in neither README")


if __name__ == "__main__":
    unittest.main()
