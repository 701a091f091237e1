"""What results/ and README say is computed anew from the committed rows, and is the same."""

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
SIZES = {"ns": 1, "us": 1e3, "ms": 1e6, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TFLOP/s": 1, "%": 1}
sys.path.insert(0, str(EVIDENCE))

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
        """Cells of README's example, as {heading: text}."""
        example = (ROOT / "README.md").read_text(encoding="utf-8").split("## An example")[1].split("\n## ")[0]
        table = [re.split(r"  +", line.strip()) for line in example.splitlines() if re.match(r"    [a-z]", line)]
        return [dict(zip(table[0], cells)) for cells in table[1:]]

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
            for heading, column in (("latency", "latency_median_ns"), ("rate", "useful_tflops_per_s"), ("HBM", "hbm_bytes"),
                                    ("SM", "sm_bytes"), ("of roof", "roof_pct")):
                self.near(line[heading], float(row[column]))

    def test_its_figures_are_in_the_evidence(self):
        readme = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))
        figures, explained = committed("evidence/figures.txt"), committed("evidence/explain_evidence.txt")
        for claim, evidence, text in (
                ("0.99 times PyTorch's FlashAttention-2 (geometric mean of 36, lowest 0.86)", "geometric mean 0.994 of 36", figures),
                ("1.10 times cuDNN 9.19 (36, lowest 1.00)", "geometric mean 1.099 of 36", figures),
                ("1.01 times FlashAttention-3 (36, lowest 0.90 at d = 64 causal N = 16k)", "geometric mean 1.015 of 36", figures),
                ("in all 600 cases of naive, flash1 and flash2", "worst 0.000 % of 200 rows at naive", figures),
                ("to 0.2 % in 60 of flash3", "worst 0.161 % of 60 rows at flash3", figures),
                ("HBM bytes are within 5 % of the model", "worst 4.484 % of 84 rows", figures),
                ("bottleneck it names in 33", "33 of 40 cases agree", figures),
                ("within 15 % on 20 of 20 pairs", "within 15 %: 20 of 20 pairs", explained)):
            self.assertIn(claim, readme)
            self.assertIn(evidence, text)

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
