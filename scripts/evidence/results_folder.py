"""The rows and texts of a folder of results by the names that their scripts gave them: as files of a fresh OUT_DIR, or as
parts of the joined files of results/. Standard library only."""

import fnmatch
import pathlib

import joined

SHELVES = ("sweeps", "evidence", "pages")  # folders of results/h200 that are no part of a name


def name_of(path, folder):
    parts = path.relative_to(folder).parts
    return "/".join(parts[1:] if parts[0] in SHELVES and len(parts) > 1 else parts)


class Results:
    """`rows(name)`: of NAME.csv. `text(name)`: of a log or table. Names keep their folder: own_kernel/plugin."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.files, self.parts, self.texts = {}, {}, {}  # name -> path; part -> path of the joined file; name -> text
        for path in sorted(self.folder.rglob("*")) if self.folder.is_dir() else ():
            if path.is_file():
                self._add(path)
        self._read = {}

    def _add(self, path):
        name = name_of(path, self.folder)
        if path.suffix == ".csv":
            parts = dict.fromkeys(joined.parts_of(path).values())
            self.parts.update((part, path) for part in parts)
            if not parts:
                self.files[name.removesuffix(".csv")] = path
        elif path.suffix in (".log", ".txt", ".md"):
            text = path.read_text(encoding="utf-8", errors="replace")
            self.texts.update(joined.split_text(text) or {name: text})

    def names(self, pattern="*"):
        """Sorted names of CSVs that match."""
        return sorted(fnmatch.filter([*self.files, *self.parts], pattern))

    def text_names(self, pattern):
        return sorted(fnmatch.filter(self.texts, pattern))

    def has_folder(self, name):
        return (self.folder / name).is_dir() or bool(self.names(f"{name}/*"))

    def text(self, name):
        """The text, or None."""
        return self.texts.get(name)

    def rows(self, name):
        """The rows of NAME.csv, or None where there is none."""
        path = self.files.get(name) or self.parts.get(name)
        if path is None:
            return None
        if path not in self._read:
            self._read[path] = joined.rows_by_part(path) if name in self.parts else {name: joined.read_csv(path)[1]}
        return self._read[path][name]

    def path(self, name):
        """Of the CSV that holds NAME's rows, which may be a joined one; None where there is none."""
        return self.files.get(name) or self.parts.get(name)

    def file(self, name, scratch):
        """A CSV with the rows of NAME and no others, its .meta.json beside it: a part is written into `scratch`."""
        if name in self.files:
            return self.files[name]
        output = pathlib.Path(scratch) / f"{name}.csv"
        if not output.exists():
            joined.write_part(self.parts[name], name, output)
        return output
