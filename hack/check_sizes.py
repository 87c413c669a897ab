#!/usr/bin/env python3
"""Holds the hard limits on file length: headers 300 lines, sources 500, tests 600. Exits 1 when one is over."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("base", "api", "framework", "plugins", "controllers", "net", "client", "webhook", "server", "sim", "cmd",
           "bench", "examples")


def limit(path):
    if path.name.endswith("_test.cpp"):
        return 600
    return 300 if path.suffix == ".h" else 500


def main():
    over = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                lines = len(path.read_text().splitlines())
                if lines > limit(path):
                    over.append(f"{path.relative_to(ROOT)}: {lines} lines, limit {limit(path)}")
    for line in over:
        print(line)
    print(f"check_sizes: {len(over)} files over their limit")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
