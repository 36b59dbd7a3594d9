"""What the real application said of a vault, compared with what indx says of it; a part of compare_oracles.

oracle-obsidian-cache.json.gz holds, for the vault that it names: `files` (for a note: its text `fileContents`, the
metadata cache `cachedMetadata`, `getAllTags`, and `resolveLinkToPath`: link -> path or null) and the maps
`resolvedLinks` and `unresolvedLinks` (source -> target -> count). The application counts lines and columns from 0, columns
in UTF-16 units; indx from 1, columns in bytes. docs/oracle-differences.md says what differs and why.
"""
import collections
import gzip
import json
import os
import re
import unicodedata
import urllib.parse

CACHE = "oracle-obsidian-cache.json.gz"
# Links that were written into a source after the application wrote its link map, by vault.
ADDED = {"d1-tasks-demo": {"How To/Find tasks in notes with particular tag.md": {"Test Data/yaml_all_property_types_populated.md": 1}}}
PARTS = ("outline", "tags", "links", "blocks", "tasks", "frontmatter", "raw")


def load(folder):
    """The cache in a folder of packs, or None."""
    path = os.path.join(folder, CACHE)
    if not os.path.exists(path):
        return None
    with gzip.open(path, "rt", encoding="utf-8") as src:
        return json.load(src)


def fold_tag(tag):
    return unicodedata.normalize("NFC", tag.lstrip("#")).casefold()


def byte_place(text, start):
    """A place of the application as (line, byte column), both from 1."""
    line = text.split("\n")[start["line"]]
    before = line.encode("utf-16-le")[:2 * start["col"]].decode("utf-16-le")
    return start["line"] + 1, len(before.encode()) + 1


def display_of(link):
    """The text shown instead of the target, where the note spells one; the application makes one up where not."""
    spelled = re.match(r"!?\[\[[^|]+\||!?\[(?!\[)", link["original"])
    return link["displayText"] if spelled else None


def app_facts(entry):
    """Of a note's cache: field -> list of what was found."""
    meta, text = entry["cachedMetadata"], entry["fileContents"]

    def links(field):
        return [(*byte_place(text, one["position"]["start"]), one["link"], display_of(one)) for one in meta.get(field) or []]

    return {
        "text": [text],
        "headings": [(h["position"]["start"]["line"] + 1, h["level"], h["heading"]) for h in meta.get("headings") or []],
        "tags": sorted({fold_tag(tag) for tag in entry.get("getAllTags") or []}),
        "links": links("links"),
        "embeds": links("embeds"),
        # The application numbers the items of a list: `list.0`.
        "property-links": [(re.sub(r"(\.\d+)+$", "", one["key"]), one["link"], display_of(one)) for one in meta.get("frontmatterLinks") or []],
        "tasks": [(one["position"]["start"]["line"] + 1, one["task"]) for one in meta.get("listItems") or [] if "task" in one],
        "blocks": [(one["id"], one["position"]["start"]["line"] + 1, one["position"]["end"]["line"] + 1)
                   for one in (meta.get("blocks") or {}).values()],
        "properties": [json.dumps(meta.get("frontmatter") or {}, ensure_ascii=False, sort_keys=True)],
    }


def whole_target(link):
    return link["target"] + ("#" + link["subpath"] if link.get("subpath") is not None else "")


def our_facts(note):
    """The same of an answer of `GET /v1/notes/{path}` with all of PARTS."""
    inside = [link for link in note["links"] if not link.get("external")]  # the application lists no others

    def links(kind):
        return [(one["line"], one["column"], whole_target(one), one.get("display")) for one in inside if one["kind"] == kind]

    return {
        "text": [note["raw"]],
        "headings": [(h["line"], h["level"], h["text"]) for h in note["outline"]],
        "tags": sorted({fold_tag(tag) for tag in note["tags"]}),
        "links": links("link"),
        "embeds": links("embed"),
        "property-links": [(one["key"], whole_target(one), one.get("display")) for one in inside if one["kind"] == "property"],
        "tasks": [(one["line"], one["status"]) for one in note["tasks"]],
        "blocks": [(one["id"], one["line"], one["end_line"]) for one in note["blocks"]],
        "properties": [json.dumps(note.get("frontmatter") or {}, ensure_ascii=False, sort_keys=True)],
    }


def differences(field, expected, got):
    """Missing and extra things of two lists in any order, as (field, text)."""
    expected, got = collections.Counter(expected), collections.Counter(got)
    return ([("app." + field, "missing %r" % (one,)) for one in (expected - got).elements()] +
            [("app." + field, "extra %r" % (one,)) for one in (got - expected).elements()])


def quoted(path):
    return urllib.parse.quote(path, safe="/")


def forward_links(server, path):
    """The rows of `link_forward` that stay in the vault, or None where there is no such file."""
    rows, cursor = [], None
    while True:
        query = {"limit": 1000, **({"cursor": cursor} if cursor else {})}
        status, data = server.get("/v1/links/%s/forward?%s" % (quoted(path), urllib.parse.urlencode(query)))
        if status != 200:
            return None
        rows += [row for row in data["links"] if not row.get("external")]
        cursor = data.get("next_cursor")
        if not cursor:
            return rows


def compare_cached_note(server, path, entry):
    """Differences of one note as (field, text)."""
    status, note = server.get("/v1/notes/%s?%s" % (quoted(path), "&".join("include=" + part for part in PARTS)))
    rows = forward_links(server, path)
    if status != 200 or rows is None:
        return [("app.text", "cannot be read: status %d" % status)]
    expected, got = app_facts(entry), our_facts(note)
    found = [one for field in expected for one in differences(field, expected[field], got[field])]
    # Where a link leads; the application was not asked for embeds.
    asked = entry.get("resolveLinkToPath") or {}
    reached = {(whole_target(row), row.get("path")) for row in rows if whole_target(row) in asked}
    return found + differences("resolution", asked.items(), reached)


def compare_source(server, path, resolved, unresolved):
    """Differences of one source of the link maps as (field, text)."""
    rows = forward_links(server, path)
    if rows is None:
        return [("app.graph", "has no links: it cannot be read")]
    got_resolved = collections.Counter(row["path"] for row in rows if row.get("path"))
    got_unresolved = collections.Counter(row["target"] for row in rows if not row.get("path"))
    found = []
    for what, expected, got in (("", collections.Counter(resolved), got_resolved), ("unresolved ", collections.Counter(unresolved), got_unresolved)):
        found += [("app.graph", "missing %s%r, %d times" % (what, *one)) for one in sorted((expected - got).items())]
        found += [("app.graph", "extra %s%r, %d times" % (what, *one)) for one in sorted((got - expected).items())]
    return found


def compare_app(server, cache):
    """Differences between the application and indx in one vault as (field, path, text)."""
    found = []
    for entry in cache["files"].values():
        path = entry["filePath"]
        found += [(field, path, text) for field, text in compare_cached_note(server, path, entry)]
    added = ADDED.get(cache["vault"], {})
    for path, resolved in cache["resolvedLinks"].items():
        resolved = collections.Counter(resolved) + collections.Counter(added.get(path, {}))
        found += [(field, path, text) for field, text in compare_source(server, path, resolved, cache["unresolvedLinks"].get(path, {}))]
    return found
