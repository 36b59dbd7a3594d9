#!/usr/bin/env python3
"""Refuse INDX_TRY inside of braces behind another element.

The macro may return from the middle of an expression. What was made before it in a braced list is then not destroyed (both
GCC 12 and Clang 14 forget it), so that each error leaks. Arguments of functions are destroyed. `--selftest` proves it.
"""
import re
import subprocess
import sys

OPENS_BLOCK = re.compile(r"(?:[;{})]|\b(?:else|try|do|const|override|noexcept)|->\s*[\w:<>, *&]+)$")


def is_behind_element(text, at):
    """Whether the brackets around a place are braces with an element before it, at any depth up to the statement."""
    depth, is_behind = 0, False
    for i in range(at - 1, -1, -1):
        char = text[i]
        if char in ")]}":
            depth += 1
        elif depth > 0:
            depth -= char in "([{"
        elif char == ";":
            return False
        elif char == ",":
            is_behind = True
        elif char in "([":
            is_behind = False
        elif char == "{":
            if is_behind:
                return True
            if OPENS_BLOCK.search(text[max(0, i - 80):i].rstrip()):
                return False
    return False


def faults_in(name, text):
    for found in re.finditer(r"\bINDX_TRY\(", text):
        if is_behind_element(text, found.start()):
            yield "%s:%d: INDX_TRY in braces behind another element leaks it: take the value first" % (
                name, text.count("\n", 0, found.start()) + 1)


def selftest():
    bad = ["x = {name(), INDX_TRY(f())};", "rows.push_back({a, {b, INDX_TRY(f())}});", 'Json j{{"a", 1}, {"b", INDX_TRY(f(1, 2))}};',
           "return Role{a(b, c),\n  cast(INDX_TRY(f()).dim)};"]
    good = ["f(a, INDX_TRY(g()));", "x = {INDX_TRY(f()), a};", "if (a) { INDX_TRY(f()); }", "int f(A a, B b) {\n  return {g(a, INDX_TRY(f()))};",
            "void f(int a, int b) { INDX_TRY(g()); }", "auto f = [a, b](int c) { return INDX_TRY(g()); };"]
    wrong = [text for text in bad if not list(faults_in("", text))] + [text for text in good if list(faults_in("", text))]
    print("\n".join(["wrong about: " + text for text in wrong] + ["selftest: %d texts, %d wrong" % (len(bad + good), len(wrong))]))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--selftest"]:
        return selftest()
    files = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp"], check=True, capture_output=True, text=True).stdout.split()
    faults = []
    for name in files:
        with open(name, encoding="utf-8") as src:
            faults += faults_in(name, src.read())
    print("\n".join(faults + ["INDX_TRY: %d files, %d faults" % (len(files), len(faults))]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
