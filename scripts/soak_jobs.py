#!/usr/bin/env python3
"""Jobs under load, and SIGKILL at random moments.

Clients ask for jobs over single notes and over all of them, cancel, pause, resume and retry what they know; the server is
killed and started again. After each kill the database is read as it lies there: every accepted job is in it, finished or
waiting; no note was written twice for one step; counters and references are right; its integrity is whole. In the end
everything that was accepted comes to its end. A run is given by its seed, as far as threads allow.
"""
# rows: E1 E5 E9
import argparse
import collections
import http.client
import os
import pathlib
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from demo_crash import Failed, Server, expect, request  # noqa: E402  one client for all crash runs

NOTES = 40
CLIENTS = 4
MOST_LIVE = 60  # of accepted jobs that nobody saw end; more would only make the end long
FINAL = ("succeeded", "failed", "dead", "cancelled")
WORDS = "compost heap garden worm soil leaf turn water carrot bean bread plan budget river stone".split()


class Load:
    """What was accepted, and the clients that ask."""

    def __init__(self, seed):
        self.seed = seed
        self.lock = threading.Lock()
        self.accepted = []
        self.cancelled = []
        self.retried = set()
        self.done = collections.Counter()
        self.failure = None

    def some_job(self, rng):
        with self.lock:
            return rng.choice(self.accepted[-MOST_LIVE:]) if self.accepted else None

    def accept(self, what, answer):
        with self.lock:
            self.accepted.append(answer["data"]["job"]["id"])
            self.done[what] += 1

    def act(self, job, verb, server):
        if verb == "retry":  # before the call: it may be stored although its answer is lost
            with self.lock:
                self.retried.add(job)
        status, answer = request(server.port, "POST", f"/v1/jobs/{job}/{verb}", server.token, {})
        if status == 503:
            return
        expect(status in (200, 409), f"{verb} answered {status}: {answer}")
        with self.lock:
            self.done[verb if status == 200 else verb + " refused"] += 1
            if verb == "cancel" and status == 200 and answer["data"]["job"]["state"] != "succeeded":
                self.cancelled.append(job)

    def step(self, rng, server):
        what = rng.choices(["one", "all", "rename", "cancel", "pause", "resume", "retry"], [8, 1, 1, 3, 3, 4, 2])[0]
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
        if status in (404, 503):  # no such tag now; the server is full
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
        except (OSError, http.client.HTTPException):
            if not is_killed.is_set():
                self.failure = "the server went away by itself"
        except Failed as failed:
            self.failure = str(failed)


def check_state(vault, load, at_rest):
    """Reads state.db as it lies there; gives how many jobs are live."""
    db = sqlite3.connect(f"file:{vault}/.indx/state.db", uri=True)
    try:
        one = lambda sql: db.execute(sql).fetchone()[0]  # noqa: E731
        expect(one("PRAGMA integrity_check") == "ok", "the integrity of state.db is broken")
        expect(not db.execute("PRAGMA foreign_key_check").fetchall(), "a row of state.db refers to none")
        states = dict(db.execute("SELECT id, state FROM jobs").fetchall())
        lost = [job for job in load.accepted if job not in states]
        expect(not lost, f"accepted jobs are lost: {lost[:5]}")
        waiting = sum(states[job] not in FINAL for job in load.accepted)
        expect(len(set(load.accepted)) == len(load.accepted), "an id was given twice")
        counted = {(kind, state): n for kind, state, n in db.execute("SELECT kind, state, count FROM job_counts") if n}
        real = {(kind, state): n for kind, state, n in db.execute("SELECT kind, state, count(*) FROM jobs GROUP BY 1, 2")}
        expect(counted == real, f"counters and jobs differ: {counted} and {real}")
        twice = [(job, path, n) for job, path, n in db.execute(
            "SELECT job_id, json_extract(data, '$.path'), count(*) FROM events WHERE kind = 'note.updated' AND "
            "job_id IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1") if job not in load.retried]
        expect(not twice, f"a note was written twice by one job: {twice[:5]}")
        ends = [row for row in db.execute(
            "SELECT job_id, count(*) FROM events WHERE kind = 'job.finished' GROUP BY 1 HAVING count(*) > 1")
            if row[0] not in load.retried]
        expect(not ends, f"a job ended twice: {ends[:5]}")
        if at_rest:
            expect(one("SELECT count(*) FROM intents") == 0, "write intents are open")
            expect(waiting == 0, f"{waiting} accepted jobs did not end")
        return sum(state not in FINAL for state in states.values())
    finally:
        db.close()


def wait_for_rest(server, load):
    """Resumes what is paused and waits for the end of everything."""
    end = time.monotonic() + 180
    while True:
        left = 0
        for job in list(load.accepted):
            record = server.get("/v1/jobs/" + job)
            record = record.get("job", record)
            if record["state"] in FINAL:
                continue
            left += 1
            if record["state"] == "paused":
                load.act(job, "resume", server)
        if left == 0:
            return
        expect(time.monotonic() < end, f"{left} jobs do not end")
        time.sleep(0.2)


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
    server = None
    with open(folder / "server.log", "ab") as log:
        try:
            for kill in range(options.kills):
                server = Server(options.bin, vault, env, log)
                is_killed = threading.Event()
                clients = [threading.Thread(target=load.client, args=(n, kill, server, is_killed)) for n in range(CLIENTS)]
                for client in clients:
                    client.start()
                time.sleep(rng.uniform(0.05, 0.9))
                is_killed.set()
                server.kill()
                for client in clients:
                    client.join()
                expect(load.failure is None, load.failure)
                live = check_state(vault, load, False)
                if (kill + 1) % 20 == 0:
                    print(f"{kill + 1} kills, {len(load.accepted)} jobs accepted, {live} live", flush=True)
            server = Server(options.bin, vault, env, log)
            wait_for_rest(server, load)
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
    folder = pathlib.Path(tempfile.mkdtemp(prefix="indx-jobs-"))
    try:
        load = run(options, folder)
        done = ", ".join(f"{what} {n}" for what, n in sorted(load.done.items()))
        print(f"ok seed {options.seed}: {options.kills} kills, {len(load.accepted)} jobs accepted and ended; {done}")
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
