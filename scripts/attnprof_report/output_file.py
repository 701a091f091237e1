"""The one rule for outputs, for every script. Standard library only.

A regular file is replaced by a new one beside it under its name, so that a reader sees the old text or the new one, and
it keeps its mode and owner; a new file has the umask's. Links are followed and stay. Devices, pipes and descriptors
(/dev/stdout, /dev/fd/3) are written through. What a script reads is never written over.
"""

import contextlib
import errno
import os
import secrets
import stat
import sys

MOST_LINKS = 40  # as many as the kernel follows


class Refusal(Exception):
    """A sentence for the user, and the exit code."""

    def __init__(self, sentence, code=2):
        super().__init__(sentence)
        self.code = code


def _error(number, path):
    return OSError(number, os.strerror(number), str(path))


class _Place:
    """Where the name of an output leads: `folder` (a descriptor) and `name` of a file, after all links, or a stream."""

    def __init__(self, path):
        self.path, self.folder, self.descriptor, self.through_proc = path, None, None, False
        rest = os.fspath(path)
        try:
            for _ in range(MOST_LINKS + 1):
                rest = self._enter(rest)
                if rest is None:
                    return self._settle()
            raise _error(errno.ELOOP, path)
        except BaseException:
            self.close()
            raise

    def _enter(self, rest):
        """Into the folder of `rest`, by the kernel's own rules; what a link there points to, or None at the end."""
        folder, self.name = os.path.split(rest)
        before, self.folder = self.folder, os.open(folder or ".", os.O_PATH | os.O_DIRECTORY, dir_fd=self.folder)
        if before is not None:
            os.close(before)
        if not self.name:
            raise _error(errno.EISDIR, self.path)
        try:
            target = os.readlink(self.name, dir_fd=self.folder)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOENT):
                raise
            return None
        if os.fstat(self.folder).st_dev == os.stat("/proc").st_dev:  # what it says is no path
            self.through_proc = True
            return None
        self._check_may_follow()
        return target

    def _check_may_follow(self):
        """The kernel's fs.protected_symlinks: where everybody may write, links of others are not followed."""
        folder, link = os.fstat(self.folder), os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        shared = stat.S_ISVTX | stat.S_IWOTH
        if folder.st_mode & shared == shared and link.st_uid not in (os.geteuid(), folder.st_uid):
            raise _error(errno.EACCES, self.path)

    def _settle(self):
        if self.through_proc:
            here = os.readlink(f"/proc/self/fd/{self.folder}")
            if here.startswith(f"/proc/{os.readlink('/proc/self')}/") and here.endswith("/fd"):
                self.descriptor = int(self.name)
        try:
            self.status = os.stat(self.name, dir_fd=self.folder, follow_symlinks=self.through_proc)
        except FileNotFoundError:
            if self.through_proc:
                raise
            self.status = None

    def is_stream(self):
        """Device, pipe, socket, or a descriptor of this process."""
        return self.status is not None and (self.through_proc or not stat.S_ISREG(self.status.st_mode))

    def identity(self):
        """Which file it is, by whatever name."""
        if self.status is None:
            folder = os.fstat(self.folder)
            return folder.st_dev, folder.st_ino, self.name
        return self.status.st_dev, self.status.st_ino, ""

    def check_writable(self):
        if self.status is not None and stat.S_ISDIR(self.status.st_mode):
            raise _error(errno.EISDIR, self.path)
        checks = [(self.name, os.W_OK)] if self.status is not None and self.descriptor is None else []
        checks += [] if self.is_stream() else [(".", os.W_OK | os.X_OK)]
        for name, rights in checks:
            if not os.access(name, rights, dir_fd=self.folder, effective_ids=True):
                raise _error(errno.EACCES, self.path)

    def open_stream(self):
        if self.descriptor is None:
            return os.open(self.name, os.O_WRONLY | os.O_NOCTTY, dir_fd=self.folder)
        sys.stdout.flush()  # it may be the same file: in the order it was printed
        return os.dup(self.descriptor)

    def close(self):
        if self.folder is not None:
            os.close(self.folder)
            self.folder = None


def _keep_owner_and_mode(file, old):
    made = os.fstat(file)
    kept = (made.st_uid, made.st_gid) == (old.st_uid, old.st_gid)
    for owner in (() if kept else (old.st_uid, -1)):
        with contextlib.suppress(OSError):
            os.chown(file, owner, old.st_gid)
            kept = True
            break
    os.chmod(file, stat.S_IMODE(old.st_mode) & (0o7777 if kept else 0o707))  # what a group may is not for another


def _replace(place, data):
    temporary = f"{place.name[:200]}.{secrets.token_hex(8)}"
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=place.folder)
    try:
        with os.fdopen(file, "wb") as stream:
            if place.status is not None:
                _keep_owner_and_mode(file, place.status)
            stream.write(data)
        os.rename(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        os.unlink(temporary, dir_fd=place.folder)
        raise


def replace_file(path, data):
    """Bytes, or text as UTF-8, as the whole of an output. Returns whether it is a file, which lies there now.

    Throws OSError; an older file is whole then."""
    data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    with contextlib.closing(_Place(path)) as place:
        place.check_writable()
        if not place.is_stream():
            _replace(place, data)
            return True
        with os.fdopen(place.open_stream(), "wb") as stream:
            stream.write(data)
        return False


def open_rows(path, mode):
    """A text file for rows that are added as they are measured: mode `x`, `w` or `a` of open(). Throws OSError."""
    flags = {"x": os.O_EXCL, "w": os.O_TRUNC, "a": os.O_APPEND}[mode] | os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
    with contextlib.closing(_Place(path)) as place:
        place.check_writable()
        file = (place.open_stream() if place.is_stream() else os.open(place.name, flags, 0o666, dir_fd=place.folder))
    return os.fdopen(file, "w", newline="", encoding="utf-8")


def _is_null(place):
    return place.status is not None and stat.S_ISCHR(place.status.st_mode) and place.status.st_rdev == os.makedev(1, 3)


def _holds_data(status):
    return status is not None and (stat.S_ISREG(status.st_mode) or stat.S_ISBLK(status.st_mode))


def with_meta(paths):
    """Result files and what lies beside them."""
    return [name for path in paths for name in (path, f"{path}.meta.json")]


def check_distinct(outputs, inputs):
    """Refuses an output that is an input or another output, by whatever name: links, hard links, /dev/fd/N.

    What cannot be looked at is passed over: opening it says why."""
    read, written = {}, {}
    for path in inputs:
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(path)
            read.setdefault((status.st_dev, status.st_ino, ""), path)
    for path in outputs:
        with contextlib.suppress(OSError, ValueError), contextlib.closing(_Place(path)) as place:
            same = read.get(place.identity())
            if same is not None and _holds_data(place.status):
                also = "" if str(same) == str(path) else f"{same}, "
                raise Refusal(f"-o {path}: is {also}one of the files to read; give another name.")
            if not _is_null(place) and written.setdefault(place.identity(), path) is not path:
                raise Refusal(f"{path}: is named for two outputs, or is the same file as another; give each its own name.")

