# shellcheck shell=bash
# Stops the components and removes what they left on the machine.

# Containers and their shims outlive containerd, so they go first.
stop_containers() {
  [[ -f "$STATE/pids/containerd" ]] || return 0
  local bundle id pid sockets
  mapfile -t sockets < <(shim_sockets)
  if is_running containerd; then
    for id in $(container_tool tasks ls -q 2>/dev/null); do
      container_tool tasks rm --force "$id" >/dev/null 2>&1 || true
    done
  fi
  for pid in $(shim_pids); do
    kill -KILL "$pid" 2>/dev/null || true
  done
  wait_until 10 no_shims || die "container shims of $STATE can't be stopped: $(shim_pids)"
  # What is left here is left because containerd was dead.
  for bundle in "$STATE"/run/io.containerd.runtime.v2.task/k8s.io/*/; do
    [[ -d "$bundle" ]] || continue
    runc --root "$STATE/runc/k8s.io" delete --force "$(basename "$bundle")" 2>/dev/null || true
  done
  [[ ${#sockets[@]} == 0 ]] || rm -f "${sockets[@]}"
}

# They lie in a folder that all containerds of the machine share.
shim_sockets() {
  local file
  for file in "$STATE"/run/io.containerd.runtime.v2.task/k8s.io/*/bootstrap.json; do
    [[ ! -f "$file" ]] || jq -r '.address | select(startswith("unix:///")) | sub("^unix://"; "")' "$file"
  done
}

# Shims are known by the socket of their containerd, which lies in this run's state folder.
shim_pids() {
  local directory arguments
  for directory in /proc/[0-9]*; do
    arguments=$'\n'"$({ tr '\0' '\n' <"$directory/cmdline"; } 2>/dev/null)"$'\n' || continue
    if [[ "$arguments" == *containerd-shim* && "$arguments" == *$'\n'"$STATE/containerd.sock"$'\n'* ]]; then
      echo "${directory#/proc/}"
    fi
  done
}

no_shims() { [[ -z "$(shim_pids)" ]]; }

remove_mounts() {
  local mount_point
  # Inner mounts come later in the table: unmount in reverse order.
  awk -v prefix="$STATE/" 'index($2, prefix) == 1 { print $2 }' /proc/self/mounts | tac |
    while read -r mount_point; do
      umount --lazy "$mount_point" || log "can't unmount $mount_point"
    done
}

remove_network() {
  [[ -f "$STATE/bridge" ]] || return 0
  local bridge
  bridge="$(cat "$STATE/bridge")"
  remove_rules nat PREROUTING "$bridge"
  remove_rules filter INPUT "$bridge"
  remove_rules filter FORWARD "$bridge"
  ip link delete "$bridge" 2>/dev/null || true
  rm -f /var/lib/cni/results/"$bridge"-* "$STATE/bridge"
}

# remove_rules TABLE CHAIN BRIDGE: all rules of the chain for what comes from the bridge.
remove_rules() {
  local rule
  iptables -w -t "$1" -S "$2" | sed -n "/ -i $3 /s/^-A //p" |
    while read -ra rule; do
      iptables -w -t "$1" -D "${rule[@]}"
    done
}

# The kubelet's links to logs have a fixed place.
remove_log_links() {
  local link
  for link in /var/log/containers/*.log; do
    [[ "$(readlink "$link" 2>/dev/null)" != "$STATE"/* ]] || rm -f "$link"
  done
}

stop_all() {
  local name
  export PATH="$PATH:/usr/sbin:/sbin"
  stop kubelet
  stop_containers
  for name in containerd kwok kube-scheduler kube-controller-manager kube-apiserver etcd; do
    stop "$name"
  done
  remove_mounts
  remove_network
  remove_log_links
}

command_down() {
  if [[ ! -e "$STATE" ]]; then
    log "no cluster in $STATE"
    return
  fi
  [[ -f "$STATE/muster-cluster" ]] || die "$STATE is not a state folder of hack/cluster; it is left as it is"
  stop_all
  rm -rf --one-file-system "$STATE"
  log "stopped, $STATE is removed"
}
