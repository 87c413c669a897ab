# shellcheck shell=bash
# kwok and its simulated nodes. The life of nodes and pods is described in kwok/stages.yaml.

start_kwok() {
  start kwok "$(binary kwok)" --kubeconfig="$STATE/admin.kubeconfig" --config="$PARTS/kwok/stages.yaml" \
    --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake --node-lease-duration-seconds=40 \
    --cidr=10.128.0.1/16 --node-ip=10.127.0.1 --server-address="127.0.0.1:$KWOK_PORT" --v=WARN
  wait_ready kwok 60 accepts_connections 127.0.0.1 "$KWOK_PORT"
  ((NODES > 0)) || return 0
  # Validation by the client costs most of the time, and these nodes are ours.
  simulated_nodes | kube create --validate=false -f - >/dev/null
  wait_ready kwok $((60 + NODES / 4)) all_nodes_ready
}

simulated_nodes() {
  local i
  for ((i = 0; i < NODES; i++)); do
    cat <<TEXT
apiVersion: v1
kind: Node
metadata:
  name: node-$i
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/hostname: node-$i, kubernetes.io/os: linux, kubernetes.io/arch: amd64, type: kwok}
status:
  allocatable: {cpu: "$NODE_CPU", memory: $NODE_MEMORY, pods: "110"}
  capacity: {cpu: "$NODE_CPU", memory: $NODE_MEMORY, pods: "110"}
---
TEXT
  done
}

# The server's own table is far smaller than a thousand nodes in JSON.
all_nodes_ready() {
  local ready
  ready="$(kube get nodes --selector type=kwok --no-headers | awk '$2 == "Ready"' | wc -l)"
  ((ready == NODES))
}
