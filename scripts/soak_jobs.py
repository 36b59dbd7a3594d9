#!/usr/bin/env python3
"""Jobs under load, and SIGKILL at random moments.

Clients ask for jobs over single notes and over all of them, cancel, pause, resume and retry what they know; the server is
killed and started again. After each kill the database is read as it lies there: every accepted job is in it, finished or
waiting; no note was written twice for one step; counters and references are right; its integrity is whole. In the end
everything that was accepted comes to its end, and what was stored although its answer was lost as well. Whatever a client
did not expect ends the run. A run is given by its seed, as far as threads allow. A kill takes 1 to 3 s, on a machine that is
busy 8; a run that takes longer than a minute and 15 s a kill fails: 200 kills take 4 to 10 minutes, and never more than 51.
"""
# rows: E1 E5 E9
import argparse
import collections
import http.client
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from demo_crash import Failed, Server, expect, request  # noqa: E402  one client for all crash runs

NOTES = 40
CLIENTS = 4
MOST_LIVE = 60  # then nothing new is asked for, as more would only make the end long
FINAL = ("succeeded", "failed", "dead", "cancelled")
WAITING = ("scheduled", "ready", "running", "sleeping", "waiting", "paused")
KINDS = ("ai_tag", "tag_rename")  # that the clients ask for
WORDS = "compost heap garden worm soil leaf turn water carrot bean bread plan budget river stone".split()


class Load:
    """What was accepted, and the clients that ask."""

    def __init__(self, seed):
        self.seed = seed
        self.lock = threading.Lock()
        self.accepted = []
        self.live = []  # of them, at the last kill
        self.seen = 0  # how many were accepted by then
        self.cancelled = []
        self.retries = collections.Counter()  # by job
        self.done = collections.Counter()
        self.problems = []

    def fail(self, what):
        with self.lock:
            self.problems.append(what)

    def expect_well(self):
        """Tells all that the clients met, not only the first."""
        with self.lock:
            expect(not self.problems, f"{len(self.problems)} clients stopped: " + " | ".join(self.problems))

    def saw_live(self, jobs):
        """What the database says at a kill, when no client runs."""
        self.live, self.seen = jobs, len(self.accepted)

    def maybe_live(self):
        with self.lock:
            return self.live + self.accepted[self.seen:]

    def some_job(self, rng):
        jobs = self.maybe_live()
        with self.lock:
            jobs = jobs or self.accepted[-MOST_LIVE:]
        return rng.choice(jobs) if jobs else None

    def accept(self, what, answer):
        with self.lock:
            self.accepted.append(answer["data"]["job"]["id"])
            self.done[what] += 1

    def count(self, what):
        with self.lock:
            self.done[what] += 1

    def act(self, job, verb, server):
        if verb == "retry":  # before the call: it may be stored although its answer is lost
            with self.lock:
                self.retries[job] += 1
        status, answer = request(server.port, "POST", f"/v1/jobs/{job}/{verb}", server.token, {})
        if status == 503:
            self.count("busy")
            return
        expect(status in (200, 409), f"{verb} answered {status}: {answer}")
        with self.lock:
            self.done[verb if status == 200 else verb + " refused"] += 1
            if verb == "cancel" and status == 200 and answer["data"]["job"]["state"] != "succeeded":
                self.cancelled.append(job)

    def step(self, rng, server):
        what = rng.choices(["one", "all", "rename", "cancel", "pause", "resume", "retry"], [8, 1, 1, 3, 3, 4, 2])[0]
        if what in ("one", "all", "rename") and len(self.maybe_live()) >= MOST_LIVE:
            what = "resume"
        job = self.some_job(rng)
        if what == "retry" and self.cancelled:  # most others succeed
            job = rng.choice(self.cancelled)
        if what in ("cancel", "pause", "resume", "retry"):
            if job:
                self.act(job, what, server)
            return
        headers = {"Prefer": "respond-async"}
        if what == "rename":
            path, body = "/v1/tags/rename", {"from": rng.choice(WORDS), "to": rng.choice(WORDS)}
            if body["from"] == body["to"]:
                return
        else:
            scope = ({"kind": "glob", "path_glob": "**/*.md"} if what == "all" else
                     {"kind": "paths", "paths": [f"n{rng.randrange(NOTES)}.md"]})
            path, body = "/v1/ai/tag", {"scope": scope, "apply": True}
        status, answer = request(server.port, "POST", path, server.token, body, headers)
        if status == 503 or (status == 404 and what == "rename"):  # the server is full; no such tag now
            self.count("busy" if status == 503 else "rename of none")
            return
        expect(status == 202, f"{path} answered {status}: {answer}")
        self.accept(what, answer)
        if what != "one" and rng.random() < 0.5:  # while it still runs
            self.act(self.accepted[-1], "pause", server)

    def client(self, number, round_number, server, is_killed):
        """Asks until the server is gone, which only a kill may cause."""
        rng = random.Random(self.seed * 1000003 + round_number * 101 + number)
        try:
            while True:
                self.step(rng, server)
                time.sleep(rng.uniform(0, 0.1))
        except (OSError, http.client.HTTPException) as gone:
            if not is_killed.is_set():
                self.fail(f"client {number}: the server went away by itself: {gone!r}")
        except Failed as failed:
            self.fail(f"client {number}: {failed}")
        except Exception:  # a client that ends in silence would leave the run without a load
            self.fail(f"client {number} did not expect this: {traceback.format_exc()}")


def check_state(vault, load, at_rest):
    """Reads state.db as it lies there; gives the accepted jobs that are live."""
    db = sqlite3.connect(f"file:{vault}/.indx/state.db", uri=True)
    try:
        one = lambda sql: db.execute(sql).fetchone()[0]  # noqa: E731
        expect(one("PRAGMA integrity_check") == "ok", "the integrity of state.db is broken")
        expect(not db.execute("PRAGMA foreign_key_check").fetchall(), "a row of state.db refers to none")
        states = dict(db.execute("SELECT id, state FROM jobs").fetchall())
        lost = [job for job in load.accepted if job not in states]
        expect(not lost, f"accepted jobs are lost: {lost[:5]}")
        expect(len(set(load.accepted)) == len(load.accepted), "an id was given twice")
        finished = [job for job in load.accepted if states[job] in FINAL]
        waiting = [job for job in load.accepted if states[job] in WAITING]
        expect(len(finished) + len(waiting) == len(load.accepted),
               f"{len(load.accepted)} accepted, {len(finished)} finished, {len(waiting)} waiting: "
               f"{collections.Counter(states[job] for job in load.accepted)}")
        counted = {(kind, state): n for kind, state, n in db.execute("SELECT kind, state, count FROM job_counts") if n}
        real = {(kind, state): n for kind, state, n in db.execute("SELECT kind, state, count(*) FROM jobs GROUP BY 1, 2")}
        expect(counted == real, f"counters and jobs differ: {counted} and {real}")
        # A retry may write once more what the try before it undid.
        twice = [(job, path, n) for job, path, n in db.execute(
            "SELECT job_id, json_extract(data, '$.path'), count(*) FROM events WHERE kind = 'note.updated' AND "
            "job_id IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1") if n > 1 + load.retries[job]]
        expect(not twice, f"a note was written twice by one job: {twice[:5]}")
        ends = [(job, n) for job, n in db.execute(
            "SELECT job_id, count(*) FROM events WHERE kind = 'job.finished' GROUP BY 1 HAVING count(*) > 1")
            if n > 1 + load.retries[job]]
        expect(not ends, f"a job ended twice: {ends[:5]}")
        if at_rest:
            expect(one("SELECT count(*) FROM intents") == 0, "write intents are open")
            expect(not waiting, f"{len(waiting)} accepted jobs did not end")
            left = live_jobs(db)
            expect(not left, f"jobs did not end whose answer was lost: {left[:5]}")
        return waiting
    finally:
        db.close()


def live_jobs(db):
    """Id and state of each job of the clients that did not end, accepted or not."""
    return [(job, state) for job, kind, state in db.execute("SELECT id, kind, state FROM jobs")
            if kind in KINDS and state not in FINAL]


def wait_for_rest(server, vault, load):
    """Resumes what is paused and waits for the end of everything."""
    end = time.monotonic() + 180
    db = sqlite3.connect(f"file:{vault}/.indx/state.db?mode=ro", uri=True)
    try:
        while left := live_jobs(db):
            for job, state in left:
                if state == "paused":
                    load.act(job, "resume", server)
            expect(time.monotonic() < end, f"{len(left)} jobs do not end: {left[:5]}")
            time.sleep(0.2)
    finally:
        db.close()


def run(options, folder):
    vault = folder / "vault"
    vault.mkdir()
    rng = random.Random(options.seed)
    for i in range(NOTES):
        words = " ".join(rng.choice(WORDS) for _ in range(30))
        (vault / f"n{i}.md").write_text(f"# Note {i}\n\n{words}.\n\n#{rng.choice(WORDS)} #{rng.choice(WORDS)}\n")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("INDX_", "OPENAI_"))}
    env |= {"INDX_AI_PROVIDER": "builtin", "INDX_RATE_LIMIT_PER_MINUTE": "0", "INDX_DURABILITY": "normal",
            # A job that is unlucky three times is no job that kills its process.
            "INDX_JOBS_MAX_CRASHES": "1000"}
    load = Load(options.seed)
    latest = time.monotonic() + 60 + 15 * options.kills
    server = None
    with open(folder / "server.log", "ab") as log:
        try:
            for kill in range(options.kills):
                server = Server(options.bin, vault, env, log)
                is_killed = threading.Event()
                clients = [threading.Thread(target=load.client, args=(n, kill, server, is_killed), daemon=True)
                           for n in range(CLIENTS)]
                for client in clients:
                    client.start()
                time.sleep(rng.uniform(0.05, 0.9))
                is_killed.set()
                server.kill()
                for client in clients:
                    client.join(timeout=40)  # a request gives up after 30
                    expect(not client.is_alive(), "a client does not hear of the end of its server")
                load.expect_well()
                live = check_state(vault, load, False)
                load.saw_live(live)
                expect(time.monotonic() < latest, f"{kill + 1} kills took too long")
                if (kill + 1) % 20 == 0:
                    print(f"{kill + 1} kills, {len(load.accepted)} jobs accepted, {len(live)} live", flush=True)
            server = Server(options.bin, vault, env, log)
            wait_for_rest(server, vault, load)
            server.stop()
            check_state(vault, load, True)
            for what in ("one", "all", "rename", "cancel", "pause", "resume", "retry"):
                expect(options.kills < 10 or load.done[what] > 0, f"no {what} ever succeeded: {dict(load.done)}")
        finally:
            if server and server.process.poll() is None:
                server.process.kill()
                server.process.wait()
    return load


def main():
    parser = argparse.ArgumentParser(description="Kills under a load of jobs; see the head of the file.")
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--keep", action="store_true", help="leave the vault and the log")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server ends too
    folder = pathlib.Path(tempfile.mkdtemp(prefix="indx-jobs-"))
    began = time.monotonic()
    try:
        load = run(options, folder)
        done = ", ".join(f"{what} {n}" for what, n in sorted(load.done.items()))
        print(f"ok seed {options.seed}: {options.kills} kills, {len(load.accepted)} jobs accepted and ended "
              f"in {time.monotonic() - began:.0f} s; {done}")
        return 0
    except Failed as failure:
        options.keep = True
        print(f"FAIL seed {options.seed}: {failure} (kept: {folder})")
        return 1
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
