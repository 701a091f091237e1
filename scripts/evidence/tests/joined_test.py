"""joined.py and results_folder.py: files joined and split again are the files, and are read alike in either layout."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVIDENCE))
os.environ.setdefault("ATTNPROF", os.environ["ATTNPROF_BUILD_DIR"] + "/attnprof")  # whom it asks what columns mean

import joined  # noqa: E402
import shelve  # noqa: E402
from results_folder import Results  # noqa: E402


class JoinedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, *runs, meta=True, text="x,\"two, lines\nof it\""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("run,value,reason\n" + "".join(f"{run},{text}\n" for run in runs), encoding="utf-8")
        if meta:
            joined.write_meta(path, {run: {"started": f"at {run}", "ceilings": {"a": {"median": 1.5}}} for run in runs})
        return path

    def call(self, *arguments):
        return subprocess.run([sys.executable, EVIDENCE / "joined.py", *map(str, arguments)], capture_output=True, text=True,
                              check=False)

    def test_split_gives_the_files_again(self):
        files = [self.write("in/a_1.csv", "r1", "r2"), self.write("in/sub/b.csv", "r3", meta=False)]
        done = self.call("join", self.folder / "all.csv", *files, "--from", self.folder / "in")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.call("split", self.folder / "all.csv", "-o", self.folder / "out").returncode, 0)
        for path in (self.folder / "in").rglob("*.*"):
            self.assertEqual((self.folder / "out" / path.relative_to(self.folder / "in")).read_bytes(), path.read_bytes())
        self.assertFalse((self.folder / "out/sub/b.csv.meta.json").exists())

    def test_a_run_of_two_files_is_refused(self):
        files = [self.write("a.csv", "r1"), self.write("b.csv", "r1")]
        done = self.call("join", self.folder / "all.csv", *files)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("its run r1 is of a too", done.stderr)
        self.assertFalse((self.folder / "all.csv").exists())

    def test_other_columns_are_refused(self):
        other = self.folder / "b.csv"
        other.write_text("run,other\nr2,1\n", encoding="utf-8")
        self.assertIn("b.csv: its columns", self.call("join", self.folder / "all.csv", self.write("a.csv", "r1"), other).stderr)

    def test_columns_that_were_not_there_yet_are_empty(self):
        old = self.folder / "old.csv"
        old.write_text("run,value\nr1,5\n", encoding="utf-8")
        joined.join({"old": old, "new": self.write("new.csv", "r2")}, self.folder / "all.csv")
        self.assertEqual(joined.rows_by_part(self.folder / "all.csv")["old"], [{"run": "r1", "value": "5", "reason": ""}])

    def test_what_names_a_row_has_what_its_absence_means(self):
        own = "variant,pass,dtype,mask,batch,heads,kv_heads,q_len,kv_len,head_dim,page_size,tile,knobs,cache,run,disposition\n"
        cells = "flash2,fwd,fp16,full,1,{heads},{heads},64,64,64,0,auto,-,cold,{run},ok\n"
        new, old = self.folder / "new.csv", self.folder / "old.csv"
        new.write_text(own + cells.format(heads=4, run="r1"), encoding="utf-8")
        older = own.replace(",page_size", "").replace(",kv_heads", "")
        old.write_text(older + cells.format(heads=8, run="r2").replace(",64,0,", ",64,").replace(",8,8,", ",8,"), encoding="utf-8")
        self.assertEqual(self.call("join", self.folder / "all.csv", old, new).stderr, "")
        row = joined.rows_by_part(self.folder / "all.csv")["old"][0]
        self.assertEqual((row["page_size"], row["kv_heads"], row["heads"], row["variant"]), ("0", "8", "8", "flash2"))
        program = os.environ["ATTNPROF"]
        self.assertEqual(subprocess.run([program, "check-rows", self.folder / "all.csv"], check=False).returncode, 0)
        old.write_text(older.replace(",q_len", "") + "flash2,fwd,fp16,full,1,8,64,64,auto,-,cold,r2,ok\n", encoding="utf-8")
        done = self.call("join", self.folder / "all.csv", old, new)
        self.assertEqual((done.returncode, "old.csv: has no column q_len" in done.stderr), (2, True))

    def test_texts(self):
        texts = {"a.log": "one\n", "b/c.txt": "", "d.log": "==> no section\n"}
        self.assertEqual(joined.split_text(joined.join_texts(texts)), texts)
        self.assertEqual(joined.split_text("a log\n==> x <==\n"), {})
        for text in ("==> x <==\n", "no end"):
            with self.assertRaises(joined.Refusal):
                joined.join_texts({"a.log": text})

    def test_a_shelved_folder_reads_as_the_fresh_one(self):
        fresh, kept = self.folder / "fresh", self.folder / "kept"
        for name, run in (("correct_a", "r1"), ("correct_b", "r2"), ("forward", "r3"), ("gate/a_1_1", "r4"), ("trace/own_x", "r5")):
            self.write(f"fresh/{name}.csv", run)
        (fresh / "sanitizer_memcheck_x.log").write_text("clean\n", encoding="utf-8")
        (fresh / "trace/calls_plain.txt").write_text("flash,1\n", encoding="utf-8")
        shelve.shelve(fresh, kept)
        self.assertEqual(sorted(path.name for path in kept.rglob("*.csv")), ["correct.csv", "forward.csv", "gate.csv", "trace.csv"])
        before, after = Results(fresh), Results(kept)
        self.assertEqual(after.names(), before.names())
        for name in before.names():
            self.assertEqual(after.rows(name), before.rows(name))
        self.assertEqual(after.texts, before.texts)
        self.assertTrue(after.has_folder("gate") and not after.has_folder("own_kernel"))
        with tempfile.TemporaryDirectory() as scratch:
            alone = after.file("correct_b", scratch)
            self.assertEqual(alone.read_bytes(), (fresh / "correct_b.csv").read_bytes())
            self.assertEqual(json.loads(joined.meta_path(alone).read_text(encoding="utf-8"))["runs"]["r2"]["started"], "at r2")


if __name__ == "__main__":
    unittest.main()
