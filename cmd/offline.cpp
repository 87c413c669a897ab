#include "cmd/offline.h"

#include "cmd/files.h"
#include "cmd/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

namespace muster::cmd {
namespace {

constexpr const char* kManagerNamespace = "kueue-system";

// A folder's manifests in name order, subfolders left out.
Result<std::vector<std::string>> manifest_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::set<std::string> kExtensions = {".yaml", ".yml", ".json"};
    if (it->is_regular_file(error) && kExtensions.contains(it->path().extension().string())) {
      files.push_back(it->path().string());
    }
  }
  if (error) {
    return Error{.code = ErrorCode::kUnavailable, .message = path + ": " + error.message()};
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    return invalid(path + ": no .yaml, .yml or .json file in this folder");
  }
  return files;
}

}  // namespace

void complain(std::string_view level, const std::string& message) {
  fmt::print(stderr, "{}: {}\n", level, message);
}

Result<std::string> read_input(const std::string& path) {
  if (path != "-") {
    return read_file(path);
  }
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

Status read_manifest_files(const std::vector<std::string>& paths, sim::Manifests& out) {
  for (const std::string& path : paths) {
    MUSTER_TRY(files, manifest_files(path));
    for (const std::string& file : files) {
      MUSTER_TRY(text, read_input(file));
      MUSTER_RETURN_IF_ERROR(sim::read_manifests(text, file == "-" ? "stdin" : file, out));
    }
  }
  return {};
}

Result<Duration> duration_flag(const char* flag, const std::string& text) {
  auto duration = parse_duration(text);
  if (!duration.ok() || *duration < Duration::zero()) {
    return invalid(fmt::format("{}: not a duration such as 90s or 1h30m: \"{}\"", flag, text));
  }
  return *duration;
}

Result<CoreSetup> read_setup(const OfflineFiles& files) {
  CoreSetup setup{.own_namespace = kManagerNamespace};
  if (!files.config_file.empty()) {
    MUSTER_TRY(text, read_file(files.config_file));
    setup.configuration = std::move(text);
  }
  if (!files.profile_file.empty()) {
    MUSTER_TRY(text, read_file(files.profile_file));
    setup.profile = std::move(text);
  }
  return setup;
}

Status configure(const OfflineFiles& files, const framework::Registry& registry, sim::SimulatorOptions& options) {
  MUSTER_TRY(setup, read_setup(files));
  MUSTER_TRY(parts, make_parts(setup, registry, {.configuration = files.config_file, .profile = files.profile_file}));
  for (const std::string& note : unsupported(parts.configuration)) {
    complain("warning", note);
  }
  options.manager.core = parts.core;
  options.manager.controllers = parts.controllers;
  options.manager.plugins = plugin_deps(parts.configuration);
  options.manager.profile = setup.profile;
  options.webhooks = webhook::options_from(parts.configuration, parts.own_namespace);
  return {};
}

}  // namespace muster::cmd
