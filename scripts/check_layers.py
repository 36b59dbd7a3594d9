#!/usr/bin/env python3
"""Check that every #include is allowed where it stands.

Two tables decide: which of our folders a folder may include, and where each library has its home. An include that no
table allows is an error; so is a header that no table knows. `--selftest` proves that bad includes are refused.
"""
import argparse
import fnmatch
import os
import re
import sys
import tempfile

# folder -> what it may include of ours: a folder, or one header. A folder may always include itself.
FOLDERS = {
    "base": [],
    "vault": ["base"],
    "store": ["base", "vault"],
    "ai": ["base"],
    "jobs": ["base", "store"],
    "ops": ["base", "vault", "ai", "jobs"],
    "actors": ["base", "vault", "store", "ai", "jobs", "ops"],
    "http": ["base", "ops"],
    # Both surfaces on HTTP share one way to authenticate and to refuse.
    "mcp": ["base", "ops", "http/router.hpp", "http/rest.hpp"],
}
SHIPPED = list(FOLDERS) + ["cli"]
FOLDERS["cli"] = SHIPPED
FOLDERS["tests"] = FOLDERS["bench"] = SHIPPED + ["tests", "bench"]

# file pattern -> our folders that it must not include although its folder may
NARROWER = {
    "jobs/*.hpp": (["store"], "headers of jobs/ include no store header, so that ops/ sees no SQL through them"),
}

# (header pattern, files that may include it); the first pattern that fits a header decides
HOMES = [
    ("caf/*", ["actors/*", "tests/*", "bench/*"]),
    ("Poco/Net/HTTPServer*", ["http/*", "tests/*", "bench/*"]),
    ("Poco/Net/HTTPClient*", ["base/http_client*", "tests/*", "bench/*"]),
    ("Poco/Net/HTTPSClient*", ["base/http_client*", "tests/*", "bench/*"]),
    ("Poco/Net/*", ["http/*", "base/http_client*", "tests/*", "bench/*"]),
    ("Poco/Util/*", ["tests/*"]),
    ("Poco/JSON/*", ["tests/*"]),
    ("Poco/Crypto/*", ["base/*", "tests/*"]),
    ("Poco/*", ["base/*", "http/*", "tests/*", "bench/*"]),
    ("openssl/*", ["base/*", "tests/*"]),
    ("sqlite3.h", ["store/database.cpp", "store/fts5.hpp", "store/search_rank.cpp", "store/*tokenizer*.cpp", "tests/*", "bench/*"]),
    ("hnswlib/*", ["store/vector_index.cpp"]),  # it defines plain functions: a second file would not link
    ("cmark-gfm*", ["cli/markdown_view.cpp", "tests/*"]),
    ("libfyaml.h", ["vault/frontmatter*.cpp", "vault/yaml_tree.cpp", "tests/*"]),
    ("xxhash.h", ["base/hash*", "tests/*", "bench/*"]),
    ("utf8proc.h", ["base/unicode.cpp", "tests/*"]),
    ("nlohmann/*", ["base/json.hpp"]),
    ("valijson/*", ["ops/json_schema.cpp"]),
    ("re2/*", ["store/regex.cpp", "vault/base_regexp.cpp", "tests/*"]),
    ("prometheus/*", ["base/metrics.cpp"]),
    ("zstd.h", ["base/*", "store/*", "tests/*"]),
    ("catch2/*", ["tests/*"]),
]

STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits clocale
cmath compare complex concepts condition_variable csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar
cwchar cwctype deque exception execution filesystem forward_list fstream functional future initializer_list iomanip ios iosfwd
iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue
random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token
streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
unordered_set utility valarray variant vector version cxxabi.h
""".split())
# the C library and the kernel: allowed anywhere, blocking calls are a matter for a reader
SYSTEM = re.compile(r"^((sys|linux|netinet|net|arpa|bits|asm|ext)/.+|[a-z_0-9]*intrin|"
                    r"assert|ctype|dirent|dlfcn|endian|errno|execinfo|fcntl|fenv|float|fnmatch|getopt|glob|grp|inttypes|langinfo|"
                    r"libgen|limits|locale|malloc|math|netdb|poll|pthread|pwd|sched|semaphore|setjmp|signal|spawn|stdarg|stddef|"
                    r"stdint|stdio|stdlib|string|strings|syslog|termios|time|unistd|utime|wchar|wctype)\.h$")

SOURCES = (".cpp", ".hpp", ".cc", ".h", ".ipp", ".inc")
# one scan: what could hide or fake an include (comments, raw strings, strings, characters), or the include itself
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|'
                    r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?P<target>[^\n]*)|"(?:\\.|[^"\\\n])*"|'
                    r"(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])*'", re.S | re.M)


def includes(text):
    """The includes of a source text as (line, what stands after the word include)."""
    found = []
    for token in TOKENS.finditer(text):
        if token.group("target") is not None:
            found.append((text.count("\n", 0, token.start("target")) + 1, token.group("target").strip()))
    return found


def fits(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def fault_ours(path, header):
    if fnmatch.fnmatchcase(header, "generated/*_sql.hpp"):  # the embedded migrations
        return None if path.startswith("store/") else "embedded migrations are included only by store/*"
    folder, target = path.split("/")[0], header.split("/")[0]
    if ".." in header.split("/") or target not in FOLDERS or "/" not in header:
        return 'a header of ours is written with its folder, as in "base/error.hpp"'
    for pattern, (forbidden, rule) in NARROWER.items():
        if fnmatch.fnmatchcase(path, pattern) and target in forbidden:
            return rule
    allowed = FOLDERS[folder]
    if target == folder or target in allowed or header in allowed:
        return None
    return "%s/ may include %s" % (folder, ", ".join(allowed) if allowed else "nothing of ours")


def fault_library(path, header):
    if header in STANDARD or SYSTEM.match(header):
        return None
    for pattern, homes in HOMES:
        if fnmatch.fnmatchcase(header, pattern):
            return None if fits(path, homes) else "%s is included only by %s" % (pattern, ", ".join(homes))
    if header.split("/")[0] in FOLDERS:
        return "a header of ours stands in quotes"
    return "no rule knows this header; a new library gets a home in scripts/check_layers.py and an entry in docs/dependencies.md"


def fault(path, target):
    """Why the include is not allowed in the file, or None."""
    quoted, angled = re.match(r'"([^"]*)"', target), re.match(r"<([^>]*)>", target)
    if quoted:
        return fault_ours(path, quoted.group(1))
    if angled:
        return fault_library(path, angled.group(1))
    return "an include names its header; a macro hides it"


def source_files(root):
    """Paths of all sources of ours below root, relative to it."""
    for folder, children, names in os.walk(root):
        here = os.path.relpath(folder, root)
        children[:] = sorted(c for c in children if not c.startswith(".") and c not in ("build", "node_modules"))
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.normpath(os.path.join(here, name)).replace(os.sep, "/")


def check(root):
    """All faults below root as printable lines, and how many files were read."""
    faults, count = [], 0
    for path in source_files(root):
        count += 1
        if path.split("/")[0] not in FOLDERS:
            faults.append("%s:1: a source file stands in one of: %s" % (path, ", ".join(FOLDERS)))
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as src:
            for line, target in includes(src.read()):
                why = fault(path, target)
                if why:
                    faults.append("%s:%d: #include %s: %s" % (path, line, target, why))
    return faults, count


# ---------------------------------------------------------------- selftest
# file, source text, how many faults it must have
CASES = [
    ("base/a.cpp", '#include "base/a.hpp"\n#include <string>\n#include <sys/stat.h>\n', 0),
    ("base/a.cpp", '#include "vault/note_path.hpp"\n', 1),
    ("base/http_client.cpp", "#include <Poco/Net/HTTPSClientSession.h>\n#include <Poco/Net/SSLManager.h>\n", 0),
    ("base/log.cpp", "#include <Poco/Net/HTTPClientSession.h>\n", 1),
    ("base/config.cpp", "#include <Poco/Util/LayeredConfiguration.h>\n", 1),
    ("base/log.cpp", "#include <Poco/Util/Application.h>\n", 1),
    ("base/json.hpp", "#include <nlohmann/json.hpp>\n", 0),
    ("base/error.hpp", "#include <nlohmann/json_fwd.hpp>\n", 1),
    ("base/hash.cpp", "#include <xxhash.h>\n", 0),
    ("base/unicode.cpp", "#include <utf8proc.h>\n", 0),
    ("base/text.cpp", "#include <utf8proc.h>\n", 1),
    ("vault/a.cpp", '#include "base/error.hpp"\n#include "store/database.hpp"\n', 1),
    ("cli/markdown_view.cpp", "#include <cmark-gfm.h>\n#include <cmark-gfm-core-extensions.h>\n", 0),
    ("vault/chunk.cpp", "#include <cmark-gfm.h>\n", 1),
    ("vault/frontmatter_edit.cpp", "#include <libfyaml.h>\n", 0),
    ("vault/note_edit.cpp", "#include <libfyaml.h>\n", 1),
    ("vault/a.cpp", "#include <openssl/evp.h>\n", 1),
    ("store/database.cpp", "#include <sqlite3.h>\n", 0),
    ("store/fts_tokenizer.cpp", "#include <sqlite3.h>\n", 0),
    ("store/note_index.cpp", "#include <sqlite3.h>\n", 1),
    ("store/vector_index.cpp", "#include <hnswlib/hnswlib.h>\n", 0),
    ("tests/store/vector_index_test.cpp", "#include <hnswlib/hnswlib.h>\n", 1),
    ("store/a.cpp", '#include "jobs/job.hpp"\n', 1),
    ("ai/a.cpp", '#include "vault/note_path.hpp"\n', 1),
    ("ai/providers/x.cpp", '#include "base/http_client.hpp"\n#include "ai/provider.hpp"\n', 0),
    ("jobs/job_queue.cpp", '#include "store/database.hpp"\n', 0),
    ("jobs/job_queue.hpp", '#include "store/database.hpp"\n', 1),
    ("ops/ai/ai_tag.cpp", '#include "store/note_index.hpp"\n#include "ai/provider.hpp"\n#include "jobs/job.hpp"\n', 1),
    ("ops/a.cpp", "#include <caf/actor.hpp>\n", 1),
    ("ops/a.cpp", "#include <Poco/Timestamp.h>\n", 1),
    ("actors/a.cpp", '#include <caf/actor.hpp>\n#include "ops/context.hpp"\n', 0),
    ("actors/a.cpp", '#include "http/router.hpp"\n', 1),
    ("http/server.cpp", '#include <Poco/Net/HTTPServerRequestImpl.h>\n#include "ops/dispatch.hpp"\n', 0),
    ("http/a.cpp", '#include "vault/note_path.hpp"\n', 1),
    ("http/a.cpp", '#include "actors/engine.hpp"\n', 1),
    ("mcp/http_transport.cpp", '#include "http/router.hpp"\n', 0),
    ("mcp/http_transport.cpp", '#include "http/server.hpp"\n', 1),
    ("mcp/a.cpp", "#include <Poco/Net/HTTPServerRequest.h>\n", 1),
    ("cli/main.cpp", '#include "actors/engine.hpp"\n#include "http/server.hpp"\n', 0),
    ("cli/main.cpp", '#include "tests/support/temp_vault.hpp"\n', 1),
    ("cli/main.cpp", "#include <caf/actor_system.hpp>\n", 1),
    ("tests/actors/a_test.cpp", '#include <caf/actor.hpp>\n#include <catch2/catch.hpp>\n#include "cli/args.hpp"\n', 0),
    ("bench/index_bench.cpp", '#include <sqlite3.h>\n#include "store/note_index.hpp"\n', 0),
    ("base/a.cpp", "#include <catch2/catch.hpp>\n", 1),
    ("vault/a.cpp", '#include "note_path.hpp"\n', 1),
    ("vault/a.cpp", '#include "../base/error.hpp"\n', 1),
    ("vault/a.cpp", "#include <base/error.hpp>\n", 1),
    ("vault/a.cpp", "#include <boost/optional.hpp>\n", 1),
    ("vault/a.cpp", "#include INDX_HEADER\n", 1),
    ("vault/a.cpp", "  #  include   <caf/actor.hpp>\n", 1),
    ("vault/a.cpp", '// #include <caf/actor.hpp>\n/* \n#include "store/a.hpp"\n*/\n', 0),
    ("vault/a.cpp", 'auto s = R"(\n#include "store/a.hpp"\n)";\nauto t = "/*";\n#include "store/b.hpp"\nchar c = \'"\';\n', 1),
    ("vault/a.cpp", "int n = 1'000;\n#include <caf/actor.hpp>\nint m = 1'000;\n", 1),
    ("src/a.cpp", "#include <string>\n", 1),
    ("vault/b.cpp", "#include <string>\n#include <caf/a.hpp>\n#include <caf/b.hpp>\n", 2),
]


def selftest():
    wrong = []
    for path, text, expected in CASES:
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, os.path.dirname(path)))
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write(text)
            faults, _ = check(root)
        if len(faults) != expected:
            wrong.append("%s with %r: expected %d faults, got %s" % (path, text, expected, faults))
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "vault"))
        with open(os.path.join(root, "vault", "a.cpp"), "w", encoding="utf-8") as out:
            out.write("\n\n#include <caf/actor.hpp>\n")
        if not check(root)[0][0].startswith("vault/a.cpp:3: "):
            wrong.append("a fault names its file and line: %s" % check(root)[0])
    for line in wrong:
        print("FAIL " + line)
    print("selftest: %s" % ("%d wrong" % len(wrong) if wrong else "%d cases ok" % (len(CASES) + 1)))
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))), help="the repository")
    parser.add_argument("--selftest", action="store_true", help="prove on small sources that bad includes are refused")
    args = parser.parse_args()
    if args.selftest:
        return 0 if selftest() else 1
    faults, count = check(args.root)
    print("\n".join(faults + ["layers: %d files, %d faults" % (count, len(faults))]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
