#include "client/kubeconfig.h"

#include "api/codec/yaml.h"
#include "client/base64.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

namespace muster::client {
namespace {

using api::Json;

// One entry of `clusters`, `users` or `contexts`, and the file it came from.
struct Entry {
  Json value = Json::object();
  std::string file{};
  std::string path{};  // `clusters[2].cluster`
};

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) {
    return nullptr;
  }
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Error at(const Entry& entry, std::string_view key, std::string message) {
  return invalid(entry.file + ": " + std::move(message), entry.path + "." + std::string(key));
}

Result<std::string> text(const Entry& entry, std::string_view key) {
  const Json* value = member(entry.value, key);
  if (value == nullptr) {
    return std::string();
  }
  if (!value->is_string()) {
    return at(entry, key, "must be a string");
  }
  return value->get<std::string>();
}

// The files of one kubeconfig, merged by "first one wins".
class Kubeconfig {
 public:
  // False: there is no such file.
  Result<bool> add(const std::string& file) {
    std::error_code missing;
    if (!std::filesystem::exists(file, missing)) {
      return false;
    }
    MUSTER_TRY(content, net::from_file(file).read());
    auto documents = api::yaml_to_json(content);
    if (!documents.ok()) {
      return invalid(file + ": " + to_string(documents.error()));
    }
    if (documents->empty()) {
      return true;  // an empty file: kubectl takes it for an empty configuration
    }
    if (documents->size() > 1 || !documents->front().is_object()) {
      return invalid(file + ": one YAML object is expected");
    }
    files_.push_back({std::move(documents->front()), file});
    return true;
  }

  std::string current_context() const {
    for (const File& file : files_) {
      const Json* name = member(file.content, "current-context");
      if (name != nullptr && name->is_string() && !name->get_ref<const std::string&>().empty()) {
        return name->get<std::string>();
      }
    }
    return {};
  }

  // The first entry of that name in a list such as `clusters`, whose payload is under `key`.
  Result<Entry> find(std::string_view list, std::string_view key, std::string_view name) const {
    for (const File& file : files_) {
      const Json* entries = member(file.content, list);
      for (std::size_t i = 0; entries != nullptr && entries->is_array() && i < entries->size(); ++i) {
        const Json* entry_name = member((*entries)[i], "name");
        if (entry_name == nullptr || *entry_name != Json(std::string(name))) {
          continue;
        }
        Entry entry{.file = file.name, .path = std::string(list) + "[" + std::to_string(i) + "]." + std::string(key)};
        if (const Json* value = member((*entries)[i], key); value != nullptr) {
          entry.value = *value;
        }
        return entry;
      }
    }
    return Error{.code = ErrorCode::kNotFound,
                 .message = "the kubeconfig has no " + std::string(key) + " named \"" + std::string(name) + "\"",
                 .path = std::string(list)};
  }

 private:
  struct File {
    Json content{};
    std::string name{};
  };

  std::vector<File> files_{};
};

// `<key>-data` (base64) or `<key>` (a file, relative to the kubeconfig's folder).
Result<net::TextSource> source(const Entry& entry, const std::string& key) {
  MUSTER_TRY(data, text(entry, key + "-data"));
  if (!data.empty()) {
    auto decoded = decode_base64(data);
    if (!decoded.ok()) {
      return at(entry, key + "-data", decoded.error().message);
    }
    return net::from_text(*std::move(decoded));
  }
  MUSTER_TRY(file, text(entry, key));
  if (file.empty()) {
    return net::TextSource{};
  }
  return net::from_file((std::filesystem::path(entry.file).parent_path() / file).string());
}

Status refuse_fields(const Entry& entry, std::initializer_list<std::pair<const char*, const char*>> fields) {
  for (const auto& [key, why] : fields) {
    const Json* value = member(entry.value, key);
    const bool harmless = value == nullptr || *value == Json(false) || *value == Json("") || value->empty();
    if (!harmless) {
      return at(entry, key, why);
    }
  }
  return {};
}

Status read_cluster(const Entry& cluster, const Environment& environment, net::Credentials& credentials) {
  MUSTER_RETURN_IF_ERROR(refuse_fields(
      cluster, {{"insecure-skip-tls-verify", "is not supported: give the cluster's certificate-authority instead"},
                {"proxy-url", "proxies are not supported"}}));
  MUSTER_TRY(server, text(cluster, "server"));
  if (!server.starts_with("https://") && !server.starts_with("http://")) {
    return at(cluster, "server", "must be an http or https URL");
  }
  while (server.ends_with('/')) {
    server.pop_back();
  }
  credentials.base_url = std::move(server);
  MUSTER_TRY(server_name, text(cluster, "tls-server-name"));
  credentials.tls_server_name = std::move(server_name);
  MUSTER_TRY(ca, source(cluster, "certificate-authority"));
  credentials.ca = std::move(ca);
  if (credentials.ca.empty() && credentials.base_url.starts_with("https://")) {
    credentials.ca = net::from_file(environment.system_roots);
  }
  return {};
}

Status read_user(const Entry& user, net::Credentials& credentials) {
  MUSTER_RETURN_IF_ERROR(refuse_fields(user, {{"exec", "exec credential plugins are not supported yet"},
                                              {"auth-provider", "auth providers are not supported"},
                                              {"username", "basic authentication is not supported"},
                                              {"as", "impersonation is not supported"}}));
  MUSTER_TRY(certificate, source(user, "client-certificate"));
  MUSTER_TRY(key, source(user, "client-key"));
  if (certificate.empty() != key.empty()) {
    return at(user, certificate.empty() ? "client-certificate" : "client-key",
              "client certificate and key must be given together");
  }
  credentials.client_certificate = std::move(certificate);
  credentials.client_key = std::move(key);
  MUSTER_TRY(token, text(user, "token"));
  MUSTER_TRY(token_file, text(user, "tokenFile"));
  if (!token_file.empty()) {  // wins over the token, as with client-go
    credentials.token = net::from_file((std::filesystem::path(user.file).parent_path() / token_file).string());
  } else if (!token.empty()) {
    credentials.token = net::from_text(std::move(token));
  }
  return {};
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) {
      parts.push_back(list.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return parts;
}

std::string trimmed(std::string text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.erase(text.find_last_not_of(kSpace) + 1);
  text.erase(0, text.find_first_not_of(kSpace));
  return text;
}

std::string getenv_or_empty(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Environment process_environment() {
  return {.kubeconfig = getenv_or_empty("KUBECONFIG"),
          .home = getenv_or_empty("HOME"),
          .service_host = getenv_or_empty("KUBERNETES_SERVICE_HOST"),
          .service_port = getenv_or_empty("KUBERNETES_SERVICE_PORT")};
}

Result<ClusterAccess> access_from_files(const std::vector<std::string>& files, std::string_view context,
                                        const Environment& environment) {
  Kubeconfig config;
  bool any = false;
  std::string names;
  for (const std::string& file : files) {
    MUSTER_TRY(exists, config.add(file));
    any = any || exists;
    names += (names.empty() ? "" : ", ") + file;
  }
  if (!any) {
    return Error{.code = ErrorCode::kNotFound, .message = "no kubeconfig: " + names};
  }
  ClusterAccess access{.context = context.empty() ? config.current_context() : std::string(context)};
  if (access.context.empty()) {
    return invalid(names + ": no context is chosen", "current-context");
  }
  MUSTER_TRY(chosen, config.find("contexts", "context", access.context));
  MUSTER_TRY(cluster_name, text(chosen, "cluster"));
  MUSTER_TRY(user_name, text(chosen, "user"));
  MUSTER_TRY(ns, text(chosen, "namespace"));
  access.ns = ns.empty() ? access.ns : ns;
  MUSTER_TRY(cluster, config.find("clusters", "cluster", cluster_name));
  MUSTER_RETURN_IF_ERROR(read_cluster(cluster, environment, access.credentials));
  if (!user_name.empty()) {
    MUSTER_TRY(user, config.find("users", "user", user_name));
    MUSTER_RETURN_IF_ERROR(read_user(user, access.credentials));
  }
  return access;
}

Result<ClusterAccess> access_in_cluster(const Environment& environment) {
  if (environment.service_host.empty() || environment.service_port.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .message = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"};
  }
  const std::string& folder = environment.service_account;
  ClusterAccess access;
  // The HTTP library can't connect to IPv6 literals; the Service's name is in the API server's certificate as well.
  const bool is_ipv6 = environment.service_host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "kubernetes.default.svc" : environment.service_host;
  access.credentials.base_url = "https://" + host + ":" + environment.service_port;
  access.credentials.ca = net::from_file(folder + "/ca.crt");
  access.credentials.token = net::from_file(folder + "/token");
  MUSTER_TRY(token, access.credentials.token.read());
  if (trimmed(token).empty()) {
    return Error{.code = ErrorCode::kUnauthenticated, .message = folder + "/token is empty"};
  }
  if (auto ns = net::from_file(folder + "/namespace").read(); ns.ok() && !trimmed(*ns).empty()) {
    access.ns = trimmed(*ns);
  }
  return access;
}

Result<ClusterAccess> find_access(const AccessOptions& options, const Environment& environment) {
  if (!options.kubeconfig.empty()) {
    return access_from_files({options.kubeconfig}, options.context, environment);
  }
  if (const auto files = split_list(environment.kubeconfig); !files.empty()) {
    return access_from_files(files, options.context, environment);
  }
  if (options.context.empty() && !environment.service_host.empty()) {
    return access_in_cluster(environment);
  }
  if (environment.home.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .message = "no kubeconfig: neither --kubeconfig, KUBECONFIG, a service account nor HOME is given"};
  }
  return access_from_files({environment.home + "/.kube/config"}, options.context, environment);
}

}  // namespace muster::client
