# shellcheck shell=bash
# The cluster's certificates and kubeconfigs, made by openssl for each run.

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$STATE/pki/$1.key"; }

new_ca() {
  new_key "$1"
  openssl req -x509 -new -key "$STATE/pki/$1.key" -subj "/CN=$1" -days 3650 -out "$STATE/pki/$1.crt" \
    -addext "keyUsage=critical,keyCertSign,cRLSign"
}

# new_certificate NAME CA SUBJECT [ALTERNATIVE_NAMES]
new_certificate() {
  local name="$1" ca="$2" subject="$3" names="${4:-}" extensions
  extensions=$'basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth,serverAuth'
  [[ -z "$names" ]] || extensions+=$'\n'"subjectAltName=$names"
  new_key "$name"
  openssl req -new -key "$STATE/pki/$name.key" -subj "$subject" |
    openssl x509 -req -CA "$STATE/pki/$ca.crt" -CAkey "$STATE/pki/$ca.key" -set_serial "0x$(openssl rand -hex 8)" \
      -days 3650 -extfile <(echo "$extensions") -out "$STATE/pki/$name.crt" 2>/dev/null
}

write_kubeconfig() {
  local name="$1"
  cat >"$STATE/$name.kubeconfig" <<TEXT
apiVersion: v1
kind: Config
clusters:
- name: muster
  cluster:
    server: https://$API_HOST:$API_PORT
    certificate-authority-data: $(base64 -w0 "$STATE/pki/ca.crt")
users:
- name: $name
  user:
    client-certificate-data: $(base64 -w0 "$STATE/pki/$name.crt")
    client-key-data: $(base64 -w0 "$STATE/pki/$name.key")
contexts:
- name: muster
  context: {cluster: muster, user: $name}
current-context: muster
TEXT
}

# new_client NAME SUBJECT
new_client() {
  new_certificate "$1" ca "$2"
  write_kubeconfig "$1"
}

create_certificates() {
  new_ca ca
  new_ca front-proxy-ca
  local names="DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
  names+=",DNS:kubernetes.default.svc.cluster.local,IP:127.0.0.1,IP:$API_CLUSTER_IP"
  [[ "$API_HOST" == 127.0.0.1 ]] || names+=",IP:$API_HOST"
  new_certificate apiserver ca /CN=kube-apiserver "$names"
  new_certificate apiserver-kubelet-client ca /O=system:masters/CN=kube-apiserver-kubelet-client
  new_certificate front-proxy-client front-proxy-ca /CN=front-proxy-client
  openssl genrsa -out "$STATE/pki/service-account.key" 2048 2>/dev/null
  openssl rsa -in "$STATE/pki/service-account.key" -pubout -out "$STATE/pki/service-account.pub" 2>/dev/null
  new_client admin /O=system:masters/CN=kubernetes-admin
  new_client controller-manager /CN=system:kube-controller-manager
  new_client scheduler /CN=system:kube-scheduler
}
