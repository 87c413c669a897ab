#!/usr/bin/env python3
"""Holds the dependency rule of docs/decisions/0002-tree.md: who may include whom, and which third-party header may
appear where. Prints each violation as file:line and exits 1 when there is one."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder (longest prefix wins) -> folders it may include.
ALLOWED = {
    "base": {"base"},
    "api": {"base", "api"},
    "framework": {"base", "api", "framework"},
    "plugins": {"base", "api", "framework"},
    "controllers": {"base", "api", "framework", "controllers"},
    "net": {"base", "net"},
    "client": {"base", "api", "net", "framework", "client"},
    "webhook": {"base", "api", "net", "client", "controllers/jobs", "controllers/options.h", "webhook"},
    "server": {"base", "api", "net", "client", "framework", "server"},
    "sim": {"base", "api", "framework", "plugins", "controllers", "webhook", "sim"},
    "cmd": {"base", "api", "framework", "plugins", "controllers", "net", "client", "webhook", "server", "sim", "cmd"},
    "bench": {"base", "api", "framework", "plugins", "controllers", "sim", "bench"},
    "examples": {"base", "api", "framework", "plugins", "cmd"},
}
# client sees effects and events, not the host.
CLIENT_FRAMEWORK = {"framework/effects.h", "framework/events.h", "framework/request.h"}
# Plugins see the contracts and the model, not the host's queue, cycle and core.
PLUGIN_FORBIDDEN = ("framework/queue/", "framework/cycle/", "framework/core.h")

# Third-party header -> folders in which it may appear (walls).
WALLS = {
    r"<nlohmann/(?!json_fwd)": ("api/", "framework/profile.cpp", "framework/registry", "plugins/", "controllers/",
                                "client/", "webhook/", "sim/", "server/", "cmd/", "examples/"),
    r"<yaml-cpp/": ("api/codec/",),
    r"<(cpprest|pplx)/": ("net/cpprest/",),
    r"<boost/": ("net/beast/", "net/cpprest/", "net/conformance"),
    r"<openssl/": ("net/",),
    r"<prometheus/": ("server/",),
    r"<spdlog/": ("cmd/", "server/"),
    r"<CLI/": ("cmd/",),
    r"<(thread|mutex|condition_variable|fstream|random)>": ("net/", "client/", "webhook/certs", "webhook/server", "server/",
                                                             "sim/", "cmd/"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def folder_of(path):
    return path.split("/", 1)[0]


def allowed(source, target):
    folder = folder_of(source)
    if folder == "plugins" and folder_of(target) == "plugins":
        own = source.split("/")[1] if source.count("/") > 1 else None
        other = target.split("/")[1] if target.count("/") > 1 else None
        return own is None or other in (own, "testing") or (other or "").startswith("common_")
    if folder == "plugins" and target.startswith(PLUGIN_FORBIDDEN):
        return False
    if folder == "client" and folder_of(target) == "framework":
        return target in CLIENT_FRAMEWORK
    return any(target == a or target.startswith(a + "/") for a in ALLOWED[folder])


def main():
    problems = []
    for path in sorted(ROOT.rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in (".h", ".cpp") or folder_of(name) not in ALLOWED:
            continue
        test_code = name.endswith("_test.cpp") or "/testing/" in name or "/conformance" in name
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, target = match.groups()
            if quote == '"':
                testing = "/testing/" in target
                if folder_of(target) not in ALLOWED:
                    continue
                if testing and not test_code:
                    problems.append(f"{name}:{number}: product code includes test code {target}")
                elif not testing and not test_code and not allowed(name, target):
                    problems.append(f"{name}:{number}: {folder_of(name)} must not include {target}")
            elif not test_code:
                for pattern, places in WALLS.items():
                    if re.match(pattern, f"<{target}>") and not name.startswith(places):
                        problems.append(f"{name}:{number}: <{target}> belongs behind a wall ({', '.join(places)})")
    for problem in problems:
        print(problem)
    print(f"check_layers: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
