#!/usr/bin/env python3
"""A long random life of a vault, compared with a model.

Several clients write, patch, move, delete and restore notes over REST; an editor beside them saves in all the ways that
editors do, renames folders and makes bursts; the server is killed (SIGKILL), stopped and started again. The model knows
what each file must hold: what was acknowledged, or, for a call that was cut off, the bytes before or after it. Every few
seconds everything stands still and is compared: all bytes of the vault, the target of every link, what a search finds,
and `indx doctor` must report no difference. A run is given by its seed, as far as threads allow.
"""
# rows: A11 A25 A30 A42
import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from demo_crash import Failed, Server, expect, request  # noqa: E402  one client for all crash runs

FOLDERS = ["", "a", "a/b", "Ünï cøde", "c d/e", "f"]
LINK = re.compile(rb"\[\[([^\]|#]*)\]\]")
BLOCK = re.compile(rb"---\nn: [^\n]*\n---\n")
CLIENTS = 4
MOST_FILES = 60  # of each client; more make the comparisons long and find no more


def owner_of(path):
    """Which client may change a file: its name says it, wherever the file lies."""
    return int(re.search(r"n(\d+)", path.split("/")[-1]).group(1)) % (CLIENTS + 1)


def quote(path):
    return urllib.parse.quote(path)


class Cut(Exception):
    """The server went away during a call; what it did is seen after its next start."""


class Vault:
    """What the files must hold, and who may change what just now."""

    def __init__(self, root):
        self.root = root
        self.files = {}                                 # path -> bytes
        self.past = collections.defaultdict(set)        # path -> bytes that it held
        self.lock = threading.Lock()
        self.gate = threading.Condition()
        self.sharing = 0
        self.alone = False
        self.number = 0
        self.counts = collections.Counter()

    @contextlib.contextmanager
    def shared(self):
        with self.gate:
            self.gate.wait_for(lambda: not self.alone)
            self.sharing += 1
        try:
            yield
        finally:
            with self.gate:
                self.sharing -= 1
                self.gate.notify_all()

    @contextlib.contextmanager
    def exclusive(self):
        with self.gate:
            self.gate.wait_for(lambda: not self.alone)
            self.alone = True
            self.gate.wait_for(lambda: self.sharing == 0)
        try:
            yield
        finally:
            with self.gate:
                self.alone = False
                self.gate.notify_all()

    def fresh_name(self, owner=0):
        with self.lock:
            self.number += 1
            return "n%d" % (self.number * (CLIENTS + 1) + owner)

    def set(self, path, data):
        with self.lock:
            if path in self.files:
                self.past[path].add(self.files[path])
            if data is None:
                self.files.pop(path, None)
            else:
                self.files[path] = data

    def get(self, path):
        with self.lock:
            return self.files.get(path)

    def paths(self, keep=lambda path: True):
        with self.lock:
            return sorted(path for path in self.files if keep(path))

    def disk(self, path):
        try:
            return (self.root / path).read_bytes()
        except FileNotFoundError:
            return None

    def on_disk(self):
        found = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if not f.startswith(".")]
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.root)
                expect(not name.startswith(".indx-"), f"{path}: a temp file is left")
                if not name.startswith("."):
                    found[path] = self.disk(path)
        return found


class Life:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.vault = Vault(folder / "vault")
        self.vault.root.mkdir()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("INDX_", "OPENAI_"))}
        self.env["INDX_DURABILITY"] = "normal"
        self.log = open(folder / "server.log", "ab")
        self.server = None
        self.up = threading.Event()
        self.over = threading.Event()
        self.failure = None

    # ---- the server

    def start(self):
        self.server = Server(self.args.bin, self.vault.root, self.env, self.log)
        self.up.set()

    def call(self, method, path, body=None, headers=None):
        server = self.server
        try:
            status, answer = request(server.port, method, path, server.token, body, headers)
        except (OSError, http.client.HTTPException) as lost:
            self.wait_for_next(server)
            raise Cut() from lost
        if status == 503:
            self.wait_for_next(server)
            raise Cut()
        expect(status < 500, f"{method} {path} answered {status}: {answer}")
        return status, answer["data"] if isinstance(answer, dict) and answer.get("ok") else answer

    def wait_for_next(self, server):
        """A call that the server could not answer was cut off by its end, which the main thread is about to see."""
        while self.up.is_set() and self.server is server and not self.over.is_set():
            time.sleep(0.01)

    def wait_for_start(self):
        """After a call that was cut off: until the next start has settled what was open."""
        while not self.up.wait(0.1):
            if self.over.is_set():
                raise Cut()

    # ---- changes of one file by its owner

    def write(self, path, after, *call, allowed=(200, 201), refused=()):
        """A call that turns the file at `path` into `after`, or is refused and leaves it."""
        before = self.vault.get(path)
        try:
            status, answer = self.call(*call)
        except Cut:
            self.wait_for_start()
            now = self.vault.disk(path)
            expect(now in (before, after), f"{path}: after a cut-off {call[0]} it is neither as before nor as meant")
            self.vault.set(path, now)
            self.vault.counts["cut off"] += 1
            return None
        if status in refused:
            after = before
        else:
            expect(status in allowed, f"{call[0]} {path} answered {status}: {answer}")
        now = self.vault.disk(path)
        expect(now == after, f"{path}: {call[:3]} was answered with {status}, but the file holds {now!r} instead of {after!r}")
        self.vault.set(path, after)
        return status

    def text(self, rng, name):
        links = []
        others = self.vault.paths()
        for _ in range(rng.randrange(4)):
            if not others:
                break
            other = rng.choice(others)
            target = other[:-3] if other.endswith(".md") else other
            links.append("[[%s]]" % (target if rng.random() < 0.3 else target.split("/")[-1]))
        return ("# %s\n\nmarker%s %s %d\n" % (name, name, " ".join(links), rng.randrange(10**6))).encode()

    def api_step(self, rng, owner):
        vault = self.vault
        mine = vault.paths(lambda p: owner_of(p) == owner and p.endswith(".md"))
        alive = {p.split("/")[-1] for p in mine}  # a second note of one name would make its links mean either
        past = sorted(p for p in list(vault.past)
                      if owner_of(p) == owner and p.endswith(".md") and (p in mine or p.split("/")[-1] not in alive))
        kind = rng.choices(["create", "write", "append", "property", "delete", "restore", "stale"],
                           [3 if len(mine) < MOST_FILES else 0, 3, 4, 2, 1 if len(mine) < MOST_FILES else 4, 1, 1])[0]
        if kind == "restore" and not past:
            return
        path = rng.choice(past) if kind == "restore" else rng.choice(mine) if mine else None
        if kind == "create" or path is None:
            name = vault.fresh_name(owner)
            folder = rng.choice(FOLDERS)
            path = (folder + "/" if folder else "") + name + ".md"
            body = self.text(rng, name)
            self.write(path, body, "PUT", "/v1/notes/" + quote(path), {"body": body.decode()})
        elif kind == "restore":
            before = vault.get(path)
            try:
                status, answer = self.call("GET", "/v1/history/" + quote(path))
            except Cut:
                return
            versions = answer.get("versions", []) if status == 200 else []
            if not versions:
                return
            version = rng.choice(versions)
            kept = [data for data in vault.past[path] if len(data) == version["size"]]
            try:
                status, answer = self.call("POST", "/v1/notes/%s/restore" % quote(path), {"version": version["version"]})
            except Cut:
                self.wait_for_start()
                status = None
            now = vault.disk(path)
            expect(now == before or now in kept, f"{path}: restored bytes that it never held")
            expect(status is None or status in (200, 201), f"restore of {path} answered {status}: {answer}")
            vault.set(path, now)
        elif kind == "write":
            body = self.text(rng, pathlib.PurePath(path).stem)
            block = BLOCK.match(vault.get(path))
            self.write(path, (block.group(0) if block else b"") + body, "PUT", "/v1/notes/" + quote(path), {"body": body.decode()})
        elif kind == "append":
            line = "line %d" % rng.randrange(10**6)
            self.write(path, vault.get(path) + b"\n" + line.encode() + b"\n", "PATCH", "/v1/notes/" + quote(path),
                       {"ops": [{"op": "append_body", "markdown": line}]})
        elif kind == "property":
            value = "w%d" % rng.randrange(10**6)
            block = b"---\nn: %s\n---\n" % value.encode()
            self.write(path, block + BLOCK.sub(b"", vault.get(path), count=1), "PATCH", "/v1/notes/" + quote(path),
                       {"ops": [{"op": "set_frontmatter", "key": "n", "value": value}]})
        elif kind == "stale":
            self.write(path, None, "PATCH", "/v1/notes/" + quote(path), {"ops": [{"op": "append_body", "markdown": "no"}]},
                       {"If-Match": '"0000000000000000"'}, allowed=(), refused=(412,))
        elif kind == "delete":
            gone = vault.get(path)
            if self.write(path, None, "DELETE", "/v1/notes/" + quote(path)) == 200:
                kept = [p for p in (vault.root / ".trash").rglob("*") if p.is_file() and p.read_bytes() == gone]
                expect(kept, f"{path}: deleted, but not in the trash")
        vault.counts[kind] += 1

    # ---- the editor beside the server

    def edit_step(self, rng, owner):
        vault = self.vault
        mine = vault.paths(lambda p: owner_of(p) == owner)
        kinds = ["rename-save", "truncate", "append", "delete", "swap"]
        kind = rng.choice(kinds + (["new", "burst", "picture"] if len(mine) < MOST_FILES else ["delete"] * 4))
        path = rng.choice(mine) if mine else None
        if kind in ("new", "burst") or path is None:
            for _ in range(20 if kind == "burst" else 1):
                name = vault.fresh_name(owner)
                folder = rng.choice(FOLDERS)
                path = (folder + "/" if folder else "") + name + ".md"
                self.put(path, self.text(rng, name))
        elif kind == "picture":
            name = vault.fresh_name(owner) + ".png"
            self.put("f/" + name, bytes(rng.randrange(256) for _ in range(100)))
        elif not path.endswith(".md"):
            return
        elif kind == "delete":
            (vault.root / path).unlink()
            vault.set(path, None)
        elif kind == "append":
            self.put(path, vault.get(path) + b"edit %d\n" % rng.randrange(10**6), "ab")
        else:
            text = self.text(rng, pathlib.PurePath(path).stem)
            if kind == "truncate":
                self.put(path, text)
            elif kind == "rename-save":  # a new file takes the place of the old one
                aside = (vault.root / path).with_name("." + pathlib.PurePath(path).name + ".swp")
                aside.write_bytes(text)
                os.replace(aside, vault.root / path)
                vault.set(path, text)
            else:  # the old file is put aside first, as some editors do
                full = vault.root / path
                os.rename(full, full.with_name(full.name + "~"))
                full.write_bytes(text)
                full.with_name(full.name + "~").unlink()
                vault.set(path, text)
        vault.counts["edit " + kind] += 1

    def put(self, path, data, mode="wb"):
        full = self.vault.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        with open(full, mode) as out:
            out.write(data[len(self.vault.get(path)):] if mode == "ab" else data)
        self.vault.set(path, data)

    # ---- changes of many files

    def reached(self, target, files):
        """The file that a link reaches: names are unique, so a path decides only between that file and none."""
        for path in files:
            plain = path[:-3] if path.endswith(".md") else path
            if plain == target or plain.endswith("/" + target):
                return path
        return None

    def links(self, files):
        return {path: [self.reached(target.decode(), files) for target in LINK.findall(data)]
                for path, data in files.items() if path.endswith(".md")}

    def move(self, rng):
        """A note, picture or folder goes elsewhere over REST; every link follows."""
        vault = self.vault
        files = dict(vault.files)
        if not files:
            return
        kind = rng.choice(["folder", "name", "place"])
        one = rng.choice(sorted(files))
        if kind == "folder" and "/" in one:
            source = one.split("/")[0]
            target = "moved-%s" % vault.fresh_name()
            moves = {p: target + p[len(source):] for p in files if p.startswith(source + "/")}
        else:
            source = one
            base = one.split("/")[-1]
            suffix = pathlib.PurePath(base).suffix
            name = vault.fresh_name() + suffix if kind == "name" else base
            folder = rng.choice(FOLDERS)
            target = (folder + "/" if folder else "") + name
            moves = {source: target}
        if source == target:
            return
        self.settle()  # links of files that the index does not know yet cannot follow
        if rng.random() < 0.4:
            self.cut_off_move(rng, source, target)
            if set(vault.on_disk()) == set(files):
                vault.counts["move cut off before"] += 1
                return
            vault.counts["move cut off"] += 1
        else:
            status, answer = self.call("POST", "/v1/notes/%s/move" % quote(source), {"to": target})
            expect(status == 200, f"move of {source} to {target} answered {status}: {answer}")
            expect(not answer.get("partial"), f"move of {source} to {target} left links: {answer.get('failed')}")
        before = self.links(files)
        now = vault.on_disk()
        expect(set(now) == {moves.get(p, p) for p in files}, f"move of {source} to {target}: other files than meant")
        after = self.links(now)
        for path, data in files.items():
            new = now[moves.get(path, path)]
            expect(LINK.sub(b"[[]]", new) == LINK.sub(b"[[]]", data) if path.endswith(".md") else new == data,
                   f"{path}: a move changed more than links")
            wanted = [moves.get(t, t) for t in before.get(path, [])]
            for was, link in zip(wanted, after.get(moves.get(path, path), [])):
                expect(was is None or was == link, f"{path}: after the move of {source} to {target} a link reaches {link}, not {was}")
        for path, new in moves.items():  # histories go along
            vault.past[new] |= vault.past[path]
        for path in files:
            vault.past[moves.get(path, path)].add(files[path])
        vault.files.clear()
        vault.files.update(now)
        vault.counts["move " + kind] += 1

    def cut_off_move(self, rng, source, target):
        """The server dies somewhere in a move; the next one ends what had begun."""
        killer = threading.Timer(rng.random() * 0.06, self.server.kill)
        self.up.clear()
        killer.start()
        try:
            request(self.server.port, "POST", "/v1/notes/%s/move" % quote(source), self.server.token, {"to": target})
        except (OSError, http.client.HTTPException):
            pass
        killer.join()
        self.start()
        end = time.monotonic() + 60
        while True:
            status, answer = self.call("GET", "/v1/jobs?limit=100")
            expect(status == 200, f"the list of jobs answered {status}: {answer}")
            open_jobs = [job for job in answer["jobs"] if not job["finished_at"]]
            if not open_jobs:
                return
            expect(time.monotonic() < end, f"after a cut-off move jobs do not end: {open_jobs}")
            time.sleep(0.05)

    def rename_folder(self, rng):
        folders = sorted({p.split("/")[0] for p in self.vault.files if "/" in p})
        if not folders:
            return
        source, target = rng.choice(folders), "dir-" + self.vault.fresh_name()
        os.rename(self.vault.root / source, self.vault.root / target)
        for path in self.vault.paths(lambda p: p.startswith(source + "/")):
            new = target + path[len(source):]
            self.vault.past[new] |= self.vault.past[path]
            self.vault.files[new] = self.vault.files.pop(path)
        self.vault.counts["edit folder"] += 1

    # ---- standing still

    def settle(self):
        """Until the index has seen what is on disk."""
        end = time.monotonic() + 60
        while True:
            files = self.vault.files
            status, answer = self.call("GET", "/v1/vault/status")
            known = answer["counts"]["files"] if status == 200 else -1
            if known == len(files) and answer["indexing"]["state"] == "idle":
                newest = [p for p in files if p.endswith(".md")]
                stale = self.stale(newest)
                if not stale:
                    return
            expect(time.monotonic() < end, f"the index has {known} files instead of {len(files)} after 60 s")
            time.sleep(0.1)

    def stale(self, paths):
        """Whether the index has another version of a note than the disk."""
        cursor = None
        etags = {}
        while True:
            query = "/v1/notes?limit=500" + ("&cursor=" + urllib.parse.quote(cursor, safe="") if cursor else "")
            status, page = self.call("GET", query)
            expect(status == 200, f"note list answered {status}: {page}")
            rows = page["notes"]
            etags.update({row["path"]: (row.get("etag"), row.get("size")) for row in rows})
            cursor = page.get("next_cursor")
            if not cursor:
                break
        sizes = {p: len(self.vault.files[p]) for p in paths}
        wrong = [p for p in paths if p not in etags or (etags[p][1] is not None and etags[p][1] != sizes[p])]
        for path in ([] if wrong else paths):
            if etags[path][0] and path in self.checked and self.checked[path] == (etags[path][0], self.vault.files[path]):
                continue
            status, note = self.call("GET", "/v1/notes/" + quote(path))
            if status != 200 or note.get("etag") != etags[path][0]:
                return [path]
            self.checked[path] = (etags[path][0], self.vault.files[path])
        return wrong

    def compare(self):
        vault = self.vault
        now = vault.on_disk()
        for path in sorted(set(now) | set(vault.files)):
            expect(now.get(path) == vault.files.get(path),
                   f"{path}: the file holds {now.get(path)!r}, the model {vault.files.get(path)!r}")
        self.settle()
        self.doctor()
        notes = vault.paths(lambda p: p.endswith(".md"))
        wanted = self.links(vault.files)
        for path in notes if len(notes) < 60 else random.sample(notes, 60):
            status, answer = self.call("GET", "/v1/links/%s/forward?limit=100" % quote(path))
            expect(status == 200, f"links of {path} answered {status}: {answer}")
            reached = [link.get("path") if link["resolved"] else None for link in answer["links"]]
            expect(reached == wanted[path], f"{path}: links reach {reached} instead of {wanted[path]}")
        for path in notes if len(notes) < 20 else random.sample(notes, 20):
            word = re.search(rb"marker\w+", vault.files[path])
            status, answer = self.call("GET", "/v1/search?limit=5&q=" + word.group(0).decode())
            found = [hit["path"] for hit in answer["results"]]
            expect(path in found, f"a search for {word.group(0).decode()} finds {found}, not {path}")
        vault.counts["compared"] += 1

    def doctor(self):
        done = subprocess.run([self.args.bin, "doctor", "--vault", str(self.vault.root)], env=self.env, capture_output=True,
                              text=True, timeout=300, check=False)
        expect(done.returncode == 0, f"doctor ends with {done.returncode}: {done.stdout[:3000]} {done.stderr[:1000]}")
        self.vault.counts["doctor"] += 1

    # ---- the run

    def work(self, number):
        rng = random.Random(self.args.seed * 1000 + number)
        is_editor = number == 0
        try:
            while not self.over.is_set():
                if not is_editor and not self.up.wait(0.1):
                    continue
                with self.vault.shared():
                    if is_editor:
                        self.edit_step(rng, number)
                    else:
                        self.api_step(rng, number)
                if is_editor:
                    time.sleep(rng.random() * 0.05)
        except Cut:
            pass
        except Exception as error:  # noqa: BLE001  told by the main thread
            self.failure = self.failure or error
            self.over.set()

    def run(self):
        rng = random.Random(self.args.seed)
        self.checked = {}
        self.start()
        end = time.monotonic() + self.args.seconds
        threads = [threading.Thread(target=self.work, args=(i,)) for i in range(CLIENTS + 1)]
        for thread in threads:
            thread.start()
        try:
            while time.monotonic() < end and not self.over.is_set():
                time.sleep(0.2 + rng.random() * 1.5)
                kind = rng.choices(["kill", "stop", "move", "folder", "compare"], [3, 1, 4, 1, 2])[0]
                if kind in ("kill", "stop"):
                    self.up.clear()
                    self.server.kill() if kind == "kill" else self.server.stop()
                    time.sleep(rng.random() * 0.3)
                    self.start()
                    self.vault.counts[kind] += 1
                    continue
                with self.vault.exclusive():
                    if self.over.is_set():
                        break
                    try:
                        for _ in range(3 if kind == "move" else 1):
                            {"move": lambda: self.move(rng), "folder": lambda: self.rename_folder(rng),
                             "compare": self.compare}[kind]()
                    except Failed as failed:
                        self.failure = self.failure or failed  # before others go on with a model that no longer holds
                        self.over.set()
            self.over.set()
            for thread in threads:
                thread.join()
            if self.failure:
                raise self.failure
            self.compare()
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        self.server.stop()
        self.doctor()

    def close(self):
        if self.server and self.server.process.poll() is None:
            self.server.kill()
        self.log.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the program")
    parser.add_argument("--seconds", type=int, default=60, help="how long, without the last comparison (default 60)")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100000, help="default: another each time")
    args = parser.parse_args()
    args.bin = str(pathlib.Path(args.bin).resolve())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="indx-soak-"))
    life = Life(args, folder)
    started = time.monotonic()
    try:
        life.run()
    except (Failed, subprocess.TimeoutExpired) as failed:
        life.close()
        print(f"FAIL seed {args.seed} after {time.monotonic() - started:.0f} s: {life.failure or failed!r}\nkept: {folder}")
        return 1
    life.close()
    counts = ", ".join(f"{name} {count}" for name, count in sorted(life.vault.counts.items()))
    print(f"ok seed {args.seed}: {len(life.vault.files)} files after {time.monotonic() - started:.0f} s: {counts}")
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
