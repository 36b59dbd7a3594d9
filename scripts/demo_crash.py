#!/usr/bin/env python3
"""The work of demo_crash.sh, which says what it is for."""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANES = 8


class Failed(Exception):
    """Something that must hold does not; the text says what."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def request(port, method, path, token=None, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    all_headers = dict(headers or {})
    if token:
        all_headers["Authorization"] = "Bearer " + token
    if body is not None:
        all_headers["Content-Type"] = "application/json"
    connection.request(method, path, json.dumps(body) if body is not None else None, all_headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    try:
        return response.status, json.loads(text)
    except ValueError:
        return response.status, text


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def unpack_vault(folder):
    """The pack of real notes, or the sample vault where the packs are absent."""
    shared = pathlib.Path(os.environ.get("INDX_SHARED", ROOT.parent / "shared"))
    pack = shared / "vaults" / "d1-tasks-docs.tar.gz"
    if pack.exists():
        with tarfile.open(pack) as archive:
            archive.extractall(folder, filter="data")
        return folder / "d1-tasks-docs" / "vault"
    print("pack absent: using the sample vault")
    shutil.copytree(ROOT / "docs" / "sample-vault", folder / "vault")
    return folder / "vault"


def notes_of(vault):
    return {str(p.relative_to(vault)): p.read_bytes() for p in vault.rglob("*.md")
            if not any(part.startswith(".") for part in p.relative_to(vault).parts)}


def body_of(data):
    """What stands after the property block."""
    found = re.match(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:.*?\r?\n)??---[ \t]*(?:\r?\n|$)", data, re.S)
    return data[found.end():] if found else data.removeprefix(b"\xef\xbb\xbf")


class Server:
    def __init__(self, binary, vault, env, log):
        self.port = free_port()
        self.vault = vault
        self.process = subprocess.Popen([binary, "serve", "--vault", str(vault), "--port", str(self.port)],
                                        env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            self.wait_ready()
        except BaseException:  # nobody else knows of it yet
            self.process.kill()
            self.process.wait()
            raise
        self.token = (vault / ".indx" / "token").read_text().strip()

    def wait_ready(self):
        end = time.monotonic() + 30
        while True:
            expect(self.process.poll() is None, "the server ended by itself; see server.log")
            expect(time.monotonic() < end, "the server is not ready after 30 s")
            try:
                if request(self.port, "GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.02)

    def get(self, path):
        status, answer = request(self.port, "GET", path, self.token)
        expect(status == 200, f"GET {path} answered {status}: {answer}")
        return answer["data"]

    def wait_indexed(self):
        end = time.monotonic() + 60
        while self.get("/v1/vault/status")["indexing"]["state"] != "idle":
            expect(time.monotonic() < end, "indexing does not end")
            time.sleep(0.05)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=10)


def wait_for_end(server, job_id):
    end = time.monotonic() + 120
    while True:
        job = server.get("/v1/jobs/" + job_id)
        job = job.get("job", job)
        if job["state"] in ("succeeded", "failed", "dead", "cancelled"):
            return job
        expect(time.monotonic() < end, f"the job is still {job['state']} after 120 s")
        time.sleep(0.05)


def wait_for_moment(server, job_id, moments, last):
    """A moment spread over the work itself up to `last`: 1 is the end of `suggest`, 2 that of `apply`."""
    target = moments.uniform(0, last)
    while True:
        job = server.get("/v1/jobs/" + job_id)
        job = job.get("job", job)
        progress = job["progress"]
        share = progress["done"] / progress["total"] if progress.get("total") else 0
        if job["finished_at"] or (progress.get("phase") == "apply") + share >= target:
            break
        time.sleep(0.005)
    time.sleep(moments.uniform(0, 0.25 if target < 1 else 0.02))  # the record is told every 250 ms
    return job


def check(vault, before, job, counts, kills):
    """Everything that must hold afterwards; gives the figures."""
    expect(job["state"] == "succeeded", f"the job ended as {job['state']}: {job.get('error')}")
    result = job["result"]
    applied = {entry["path"]: entry for entry in result["applied"]}
    after = notes_of(vault)
    expect(set(after) == set(before), "notes appeared or vanished")
    changed = {path for path in before if before[path] != after[path]}
    expect(changed == set(applied), f"files changed {len(changed)}, job says {len(applied)}: {sorted(changed ^ set(applied))[:5]}")
    for path, entry in applied.items():
        expect(body_of(after[path]) == body_of(before[path]), f"{path}: the body changed")
        text = after[path].decode()
        for tag in entry["tags_added"]:
            found = re.findall(r"^[ \t]*-[ \t]*[\"']?%s[\"']?[ \t]*$|[\[,][ \t]*[\"']?%s[\"']?[ \t]*[,\]]" % (re.escape(tag), re.escape(tag)),
                               text.split("\n---", 1)[0], re.M)
            expect(len(found) == 1, f"{path}: tag {tag} stands {len(found)} times in the properties")

    events = [json.loads(line) for line in (vault / ".indx" / "events.log").read_text().splitlines()]
    ids = [event["id"] for event in events]
    expect(len(ids) == len(set(ids)), "an event is twice in events.log")
    writes = collections.Counter(e["path"] for e in events if e["kind"] == "note.updated" and e.get("job_id") == job["id"])
    expect(set(writes) == set(applied), "events and applied notes differ")
    expect(all(n == 1 for n in writes.values()), f"tagged twice: {[p for p, n in writes.items() if n > 1][:5]}")
    finished = [e for e in events if e["kind"] == "job.finished" and e.get("job_id") == job["id"]]
    expect(len(finished) == 1, f"{len(finished)} job.finished events")

    state = sqlite3.connect(f"file:{vault}/.indx/state.db?mode=ro", uri=True)
    rows = state.execute("SELECT item, status FROM usage_log WHERE job_id = ?", (job["id"],)).fetchall()
    intents = state.execute("SELECT count(*) FROM intents").fetchone()[0]
    versions = dict(state.execute("SELECT path, count(*) FROM versions GROUP BY path").fetchall())
    state.close()
    expect(intents == 0, f"{intents} write intents are open")
    expect(all(versions.get(path) == 1 for path in applied), "a changed note has not exactly one before-image")
    started = collections.Counter(item for item, _ in rows)
    lost = collections.Counter(item for item, status in rows if status == "interrupted")
    succeeded = collections.Counter(item for item, status in rows if status == "succeeded")
    expect(all(n == 1 for n in succeeded.values()), "a committed model call was repeated")
    repeated = {item: n - 1 for item, n in started.items() if n > 1}
    expect(all(lost[item] >= n for item, n in repeated.items()), f"a repeated call is not explained by a lost one: {repeated}")
    expect(sum(lost.values()) <= LANES * kills, f"{sum(lost.values())} calls lost with {LANES} lanes and {kills} kills")
    expect(len(rows) - sum(lost.values()) <= counts["calls"] <= len(rows), f"the model server counted {counts['calls']} calls, usage has {len(rows)} rows")
    if job["crashes"] != kills:
        raise TooLate(f"the job saw {job['crashes']} crashes of {kills} kills")
    return {"notes": len(before), "tagged": len(applied), "calls": counts["calls"], "lost": sum(lost.values()),
            "crashes": job["crashes"]}


class TooLate(Exception):
    """All is well, but a kill came when the job had ended: that proves nothing."""


def run(options, last):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="indx-crash-"))
    moments = random.Random(options.seed)
    model = server = None
    log = open(folder / "server.log", "ab")
    try:
        vault = unpack_vault(folder)
        before = notes_of(vault)
        model_binary = options.bin.parent.parent / "tests" / "support" / "model_server"
        model = subprocess.Popen([model_binary, "--port", "0", "--delay-ms", "50"], stdout=subprocess.PIPE, text=True)
        model_port = int(model.stdout.readline().split()[-1])
        env = {k: v for k, v in os.environ.items() if not k.startswith("INDX_")}
        env |= {"INDX_AI_PROVIDER": "openai", "INDX_AI_MODEL": "test-model", "INDX_OPENAI_API_KEY": "test-key",
                "INDX_OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/v1"}
        server = Server(options.bin, vault, env, log)
        server.wait_indexed()
        status, answer = request(server.port, "POST", "/v1/ai/tag", server.token,
                                 {"scope": {"kind": "glob", "path_glob": "**/*.md"}, "apply": True},
                                 {"Prefer": "respond-async"})
        expect(status == 202, f"the job was not accepted: {status} {answer}")
        job_id = answer["data"]["job"]["id"]
        killed_at = []
        for _ in range(options.kills):
            job = wait_for_moment(server, job_id, moments, last)
            progress = job.get("job", job)["progress"]
            killed_at.append(f"{progress.get('phase') or 'start'} {progress.get('done')}/{progress.get('total')}")
            server.kill()
            server = Server(options.bin, vault, env, log)
        job = wait_for_end(server, job_id)
        server.stop()
        counts = request(model_port, "GET", "/count")[1]
        figures = check(vault, before, job, counts, options.kills)
        print(f"ok seed {options.seed}: killed at {', '.join(killed_at)}; " + ", ".join(f"{k} {v}" for k, v in figures.items()))
        return True
    except Failed as failure:
        print(f"FAIL seed {options.seed}: {failure} (kept: {folder})")
        options.keep = True
        return False
    finally:
        for process in (server and server.process, model):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        log.close()
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="One crash run; see demo_crash.sh.")
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    for last in (2, 1.4, 1.1, 0.9, 0.7):
        try:
            return 0 if run(options, last) else 1
        except TooLate as late:
            print(f"again with an earlier moment: {late}")
    print(f"FAIL seed {options.seed}: every kill came too late")
    return 1


if __name__ == "__main__":
    sys.exit(main())
