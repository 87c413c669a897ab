# shellcheck shell=bash
# One real node: a bridge for the pods, containerd, a kubelet.

readonly NODE=real-0
readonly CNI_BIN=/usr/lib/cni
readonly PAUSE_IMAGE=docker.io/library/muster-pause:dev

# Each run takes a bridge muster0, muster1, ... with the pods' addresses 10.200.0.0/24, 10.200.1.0/24, ...
create_network() {
  [[ -x "$CNI_BIN/bridge" ]] || die "the CNI plugins are missing in $CNI_BIN"
  local i
  for ((i = 0; i < 32; i++)); do
    # Fails if another run has the name: adding a link is the lock.
    ip link add "muster$i" type bridge 2>/dev/null && break
  done
  ((i < 32)) || die "no free bridge name muster0 to muster31 (ip link add failed: is this root in its own network?)"
  BRIDGE="muster$i"
  echo "$BRIDGE" >"$STATE/bridge"
  POD_SUBNET="10.200.$i.0/24"
  API_HOST="10.200.$i.1"
  ip address add "$API_HOST/24" dev "$BRIDGE"
  ip link set "$BRIDGE" up
  # Pods are given the kubernetes Service's cluster address; without kube-proxy this rule leads it to the API server.
  iptables -w -t nat -I PREROUTING -i "$BRIDGE" -d "$API_CLUSTER_IP/32" -p tcp --dport 443 \
    -j DNAT --to-destination "$API_HOST:$API_PORT"
  # Where the machine's own firewall drops what it does not know.
  iptables -w -t filter -I INPUT -i "$BRIDGE" -p tcp --dport "$API_PORT" -j ACCEPT
  iptables -w -t filter -I FORWARD -i "$BRIDGE" -o "$BRIDGE" -j ACCEPT
}

write_containerd_config() {
  cat >"$STATE/containerd.toml" <<TEXT
version = 3
root = "$STATE/containerd"
state = "$STATE/run"

[grpc]
address = "$STATE/containerd.sock"

[ttrpc]
address = "$STATE/containerd.sock.ttrpc"

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "$PAUSE_IMAGE"

[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
disable_apparmor = true
netns_mounts_under_state_dir = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ["$CNI_BIN"]
conf_dir = "$STATE/cni"
use_internal_loopback = true

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
SystemdCgroup = false
Root = "$STATE/runc"
TEXT
  mkdir -p "$STATE/cni"
  # The bridge has its address already: isGateway would also switch on the machine's IP forwarding.
  cat >"$STATE/cni/10-bridge.conflist" <<TEXT
{"cniVersion": "0.4.0", "name": "$BRIDGE", "plugins": [{
  "type": "bridge", "bridge": "$BRIDGE", "isGateway": false, "ipMasq": false, "hairpinMode": true,
  "ipam": {"type": "host-local", "dataDir": "$STATE/ipam", "ranges": [[{"subnet": "$POD_SUBNET"}]],
           "routes": [{"dst": "0.0.0.0/0"}]}}]}
TEXT
}

write_kubelet_config() {
  # There is no cluster DNS: at the bridge's address nothing answers, so that a look-up fails at once.
  echo "nameserver $API_HOST" >"$STATE/resolv.conf"
  cat >"$STATE/kubelet.yaml" <<TEXT
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $API_HOST
port: $KUBELET_PORT
readOnlyPort: 0
healthzBindAddress: 127.0.0.1
healthzPort: $KUBELET_HEALTH_PORT
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $STATE/pki/ca.crt}
authorization: {mode: Webhook}
tlsCertFile: $STATE/pki/node.crt
tlsPrivateKeyFile: $STATE/pki/node.key
containerRuntimeEndpoint: unix://$STATE/containerd.sock
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
evictionHard: {}
imageGCHighThresholdPercent: 100
makeIPTablesUtilChains: false
oomScoreAdj: 0
resolvConf: $STATE/resolv.conf
clusterDomain: cluster.local
clusterDNS: [$API_HOST]
podLogsDir: $STATE/pod-logs
volumePluginDir: $STATE/volume-plugins
TEXT
}

node_is_ready() {
  kube get node "$NODE" -o json |
    jq -e 'any(.status.conditions[]; .type == "Ready" and .status == "True")'
}

container_tool() { "$(binary ctr)" --address "$STATE/containerd.sock" --namespace k8s.io "$@"; }

start_real_node() {
  new_certificate node ca "/O=system:nodes/CN=system:node:$NODE" "DNS:$NODE,IP:$API_HOST,IP:127.0.0.1"
  write_kubeconfig node
  write_containerd_config
  write_kubelet_config
  PATH="$CACHE:$PATH" start containerd "$(binary containerd)" --config "$STATE/containerd.toml"
  wait_ready containerd 30 container_tool version
  load_base_images
  start kubelet "$(binary kubelet)" --config="$STATE/kubelet.yaml" --kubeconfig="$STATE/node.kubeconfig" \
    --hostname-override="$NODE" --node-ip="$API_HOST" --root-dir="$STATE/kubelet" --cert-dir="$STATE/pki" \
    --node-labels=type=real
  wait_ready kubelet 60 node_is_ready
}

# Made on the spot, as no registry may be at hand: busybox:dev with its commands, and the sandbox's process.
load_base_images() {
  local busybox commands
  busybox="$(command -v busybox)"
  mapfile -t commands < <("$busybox" --list | grep -vx busybox | sed 's|^|--link=/bin/|')
  "$PARTS/../image" "$busybox" "$STATE/busybox.tar" --name busybox:dev --path /bin/busybox "${commands[@]}" \
    --entrypoint "" --cmd sh
  "$PARTS/../image" "$busybox" "$STATE/pause.tar" --name muster-pause:dev --path /bin/busybox \
    --entrypoint "/bin/busybox sleep 2147483647"
  load_image "$STATE/busybox.tar"
  load_image "$STATE/pause.tar"
  rm "$STATE/busybox.tar" "$STATE/pause.tar"
}

load_image() {
  container_tool images import --local "$1" >>"$STATE/logs/images.log" 2>&1 ||
    die "loading $1 failed, see $STATE/logs/images.log"
}

command_load_image() {
  [[ $# == 1 ]] || usage_error "load-image needs one file"
  [[ -r "$1" ]] || die "can't read $1"
  if [[ ! -f "$STATE/pids/containerd" ]] || is_stopped containerd; then
    die "no real node in $STATE; run: hack/cluster up --kubelet --state $STATE"
  fi
  load_image "$1"
  log "loaded $1"
}
