# shellcheck shell=bash
# etcd, kube-apiserver, kube-controller-manager, kube-scheduler.

readonly SERVICE_CIDR=10.96.0.0/16
readonly API_CLUSTER_IP=10.96.0.1

start_etcd() {
  local client="http://127.0.0.1:$ETCD_PORT" peer="http://127.0.0.1:$ETCD_PEER_PORT"
  start etcd "$(binary etcd)" --name=default --data-dir="$STATE/etcd" --unsafe-no-fsync \
    --listen-client-urls="$client" --advertise-client-urls="$client" \
    --listen-peer-urls="$peer" --initial-advertise-peer-urls="$peer" --initial-cluster="default=$peer" \
    --quota-backend-bytes=8589934592 --log-level=warn
  wait_ready etcd 30 accepts_connections 127.0.0.1 "$ETCD_PORT"
}

api_server_flags() {
  local pki="$STATE/pki"
  printf '%s\n' \
    --etcd-servers="http://127.0.0.1:$ETCD_PORT" \
    --bind-address="$API_HOST" --advertise-address="$API_HOST" --secure-port="$API_PORT" \
    --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
    --client-ca-file="$pki/ca.crt" --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
    --kubelet-client-certificate="$pki/apiserver-kubelet-client.crt" \
    --kubelet-client-key="$pki/apiserver-kubelet-client.key" --kubelet-certificate-authority="$pki/ca.crt" \
    --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range="$SERVICE_CIDR" \
    --service-account-key-file="$pki/service-account.pub" \
    --service-account-signing-key-file="$pki/service-account.key" \
    --requestheader-client-ca-file="$pki/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
    --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$pki/front-proxy-client.crt" --proxy-client-key-file="$pki/front-proxy-client.key" \
    --enable-aggregator-routing=true --endpoint-reconciler-type=none --allow-privileged=true
}

start_control_plane() {
  start_etcd
  local flags
  mapfile -t flags < <(api_server_flags)
  start kube-apiserver "$(binary kube-apiserver)" "${flags[@]}"
  wait_ready kube-apiserver 90 kube get --raw /readyz
  start kube-controller-manager "$(binary kube-controller-manager)" \
    --kubeconfig="$STATE/controller-manager.kubeconfig" \
    --authentication-kubeconfig="$STATE/controller-manager.kubeconfig" \
    --authorization-kubeconfig="$STATE/controller-manager.kubeconfig" \
    --bind-address=127.0.0.1 --secure-port="$MANAGER_PORT" --leader-elect=false --use-service-account-credentials \
    --service-account-private-key-file="$STATE/pki/service-account.key" --root-ca-file="$STATE/pki/ca.crt" \
    --cluster-signing-cert-file="$STATE/pki/ca.crt" --cluster-signing-key-file="$STATE/pki/ca.key" \
    --kube-api-qps=200 --kube-api-burst=400
  # Pods need it, and only a working controller manager makes it.
  wait_ready kube-controller-manager 60 kube get serviceaccount default --namespace default
}

start_scheduler() {
  start kube-scheduler "$(binary kube-scheduler)" \
    --kubeconfig="$STATE/scheduler.kubeconfig" --authentication-kubeconfig="$STATE/scheduler.kubeconfig" \
    --authorization-kubeconfig="$STATE/scheduler.kubeconfig" --bind-address=127.0.0.1 \
    --secure-port="$SCHEDULER_PORT" --leader-elect=false --kube-api-qps=200 --kube-api-burst=400
  wait_ready kube-scheduler 60 accepts_connections 127.0.0.1 "$SCHEDULER_PORT"
}
