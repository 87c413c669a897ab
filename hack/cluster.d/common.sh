# shellcheck shell=bash
# Messages, deadlines, packages, ports, the state folder.

log() { echo "cluster: $*" >&2; }

die() {
  echo "cluster: error: $*" >&2
  exit 1
}

# wait_until SECONDS COMMAND...: runs COMMAND until it succeeds; fails when the time is over.
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# Debian package of each command that the chosen options need and that is missing.
missing_packages() {
  local -A package=([openssl]=openssl [jq]=jq [flock]=util-linux [python3]=python3)
  if [[ ${WITH[kubelet]} == 1 ]]; then
    package+=([runc]=runc [iptables]=iptables [ip]=iproute2 [busybox]=busybox-static
      [mount]=mount [ldd]=libc-bin)
    [[ -x /usr/lib/cni/bridge ]] || echo containernetworking-plugins
  fi
  local name
  for name in "${!package[@]}"; do
    command -v "$name" >/dev/null || echo "${package[$name]}"
  done
}

ensure_packages() {
  export PATH="$PATH:/usr/sbin:/sbin"
  local missing
  mapfile -t missing < <(missing_packages | sort -u)
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID != 0 ]] || ! command -v apt-get >/dev/null; then
    die "missing Debian packages: ${missing[*]}; install them (apt-get install ${missing[*]}) and try again"
  fi
  log "installing ${missing[*]}"
  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y "${missing[@]}"; } >&2 ||
    die "apt-get could not install ${missing[*]}"
}

# free_ports N: N ports that nothing listens on, outside of the range that outgoing connections use.
free_ports() {
  python3 - "$1" <<'PYTHON'
import random, socket, sys
held = []
while len(held) < int(sys.argv[1]):
    s = socket.socket()
    try:
        s.bind(("0.0.0.0", random.randint(20000, 29999)))
        held.append(s)
    except OSError:
        s.close()
print(*(s.getsockname()[1] for s in held))
PYTHON
}

create_state() {
  # containerd's socket lies below; a Unix socket's path has at most 107 characters.
  ((${#STATE} <= 60)) || die "the path of the state folder is too long (at most 60 characters): $STATE"
  [[ ! -e "$STATE" || -z "$(ls -A "$STATE")" ]] || die "$STATE exists; run: hack/cluster down --state $STATE"
  mkdir -p "$STATE"
  chmod 700 "$STATE"
  mkdir "$STATE/pids" "$STATE/logs" "$STATE/pki"
  touch "$STATE/muster-cluster"
  read -r ETCD_PORT ETCD_PEER_PORT API_PORT MANAGER_PORT SCHEDULER_PORT KUBELET_PORT KUBELET_HEALTH_PORT \
    KWOK_PORT <<<"$(free_ports 8)"
  API_HOST=127.0.0.1
  write_env
}

write_env() {
  cat >"$STATE/env" <<TEXT
export KUBECONFIG='$STATE/admin.kubeconfig'
export KUBEBUILDER_ASSETS='$(dirname "$(binary kube-apiserver)")'
export MUSTER_CLUSTER_STATE='$STATE'
TEXT
  # A kubectl of our own build is offered only to those who have none.
  command -v kubectl >/dev/null || echo "export PATH=\"\$PATH:$CACHE\"" >>"$STATE/env"
}

kube() { "$KUBECTL" --kubeconfig "$STATE/admin.kubeconfig" "$@"; }

check_existing() {
  ensure_kubectl
  "$KUBECTL" --request-timeout=10s get --raw /readyz >/dev/null ||
    die "the cluster of KUBECONFIG=${KUBECONFIG:-(default)} does not answer"
  log "the cluster of KUBECONFIG=${KUBECONFIG:-(default)} answers"
}
