// How to reach the API server: kubeconfig files, or the service account of the pod we run in. Reads files once at the
// start (tokens and certificates given as files are re-read by net/). No global state: the process' environment is a
// value.
#pragma once

#include "base/result.h"
#include "net/tls.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

struct ClusterAccess {
  net::Credentials credentials{};
  std::string ns = "default";  // of the context, or of our own pod
  std::string context{};       // empty: in a cluster
};

// What of the process' surroundings matters here.
struct Environment {
  std::string kubeconfig{};    // $KUBECONFIG: files separated by colons
  std::string home{};          // $HOME
  std::string service_host{};  // $KUBERNETES_SERVICE_HOST
  std::string service_port{};  // $KUBERNETES_SERVICE_PORT
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string system_roots = "/etc/ssl/certs/ca-certificates.crt";
};

Environment process_environment();

struct AccessOptions {
  std::string kubeconfig{};  // --kubeconfig; wins over everything else
  std::string context{};     // --context; needs a kubeconfig
};

// Tries in this order: the file named by the options, $KUBECONFIG, the pod's service account, ~/.kube/config.
Result<ClusterAccess> find_access(const AccessOptions& options, const Environment& environment);

// Of several files the first to define a cluster, user, context or the current context wins, as with kubectl. Files
// that do not exist are skipped, unless none does. kInvalid names the file and the field.
Result<ClusterAccess> access_from_files(const std::vector<std::string>& files, std::string_view context,
                                        const Environment& environment);
Result<ClusterAccess> access_in_cluster(const Environment& environment);

}  // namespace muster::client
