# shellcheck shell=bash
# Builds the binaries from the modules pinned in go/*/go.mod and keeps them in the user's cache.

# name: folder below go/, then the package. Versions stand in go.mod and nowhere else.
declare -rA PACKAGE=(
  [etcd]="etcd go.etcd.io/etcd/server/v3"
  [kube-apiserver]="kubernetes k8s.io/kubernetes/cmd/kube-apiserver"
  [kube-controller-manager]="kubernetes k8s.io/kubernetes/cmd/kube-controller-manager"
  [kube-scheduler]="kubernetes k8s.io/kubernetes/cmd/kube-scheduler"
  [kubelet]="kubernetes k8s.io/kubernetes/cmd/kubelet"
  [kubectl]="kubernetes k8s.io/kubernetes/cmd/kubectl"
  [kwok]="kwok sigs.k8s.io/kwok/cmd/kwok"
  [containerd]="containerd github.com/containerd/containerd/v2/cmd/containerd"
  [containerd-shim-runc-v2]="containerd github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"
  [ctr]="containerd github.com/containerd/containerd/v2/cmd/ctr"
)
declare -rA MODULE=(
  [etcd]=go.etcd.io/etcd/server/v3
  [kubernetes]=k8s.io/kubernetes
  [kwok]=sigs.k8s.io/kwok
  [containerd]=github.com/containerd/containerd/v2
)

# version_of FOLDER: the pinned version of the folder's main module.
version_of() {
  awk -v module="${MODULE[$1]}" '$1 == "require" { sub(/^require /, "") } $1 == module { print $2; exit }' \
    "$PARTS/go/$1/go.mod"
}

KUBERNETES_VERSION="$(version_of kubernetes)"
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/muster/$KUBERNETES_VERSION"
KUBECTL="$(command -v kubectl || echo "$CACHE/kubectl")"

# binary NAME: its path; a user's own etcd and kube-apiserver win over ours.
binary() {
  local own="${KUBEBUILDER_ASSETS:-}/$1"
  if [[ "$1" == etcd || "$1" == kube-apiserver ]] && [[ -x "$own" ]]; then
    echo "$own"
  else
    echo "$CACHE/$1"
  fi
}

ensure_go() {
  local wanted have
  wanted="$(awk '$1 == "go" { print $2 }' "$PARTS/go/kubernetes/go.mod")"
  local hint="Debian: apt-get install golang-go gives 1.19; take a current release from the Go project's \
download page, unpack it to /usr/local/go and put /usr/local/go/bin on PATH"
  command -v go >/dev/null || die "Go $wanted or newer is needed to build the control plane. $hint"
  have="$(cd "$PARTS/go/kubernetes" && go env GOVERSION 2>/dev/null)" || have="$(GOTOOLCHAIN=local go env GOVERSION)"
  have="${have#go}"
  [[ "$(printf '%s\n' "$wanted" "${have%%-*}" | sort -V | head -n 1)" == "$wanted" ]] ||
    die "Go $wanted or newer is needed, here is $have. $hint"
}

linker_flags() {
  local folder="$1" version package=k8s.io/component-base/version
  version="$(version_of "$folder")"
  local flags="-s -w"
  case "$folder" in
    kubernetes)
      IFS=. read -r major minor _ <<<"${version#v}"
      flags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor" ;;
    containerd) flags+=" -X github.com/containerd/containerd/v2/version.Version=$version" ;;
  esac
  echo "$flags"
}

# The text that must stand in NAME.version for the cached binary to be taken.
stamp_of() { echo "${MODULE[$1]}@$(version_of "$1")"; }

is_built() {
  local folder
  read -r folder _ <<<"${PACKAGE[$1]}"
  [[ -x "$CACHE/$1" && "$(cat "$CACHE/$1.version" 2>/dev/null)" == "$(stamp_of "$folder")" ]]
}

build_binary() {
  local name="$1" folder package started=$SECONDS
  read -r folder package <<<"${PACKAGE[$name]}"
  log "building $name $(version_of "$folder") (minutes when the Go cache is cold)"
  (cd "$PARTS/go/$folder" && CGO_ENABLED=0 GOFLAGS="" nice go build -trimpath -buildvcs=false -mod=readonly \
    -ldflags "$(linker_flags "$folder")" -o "$CACHE/$name.new" "$package") || die "building $name failed"
  mv "$CACHE/$name.new" "$CACHE/$name"
  stamp_of "$folder" >"$CACHE/$name.version"
  log "built $name in $((SECONDS - started)) s"
}

needed_binaries() {
  local name
  for name in etcd kube-apiserver; do
    [[ "$(binary "$name")" != "$CACHE/$name" ]] || echo "$name"
  done
  echo kube-controller-manager
  [[ "$KUBECTL" != "$CACHE/kubectl" ]] || echo kubectl
  [[ ${WITH[scheduler]} == 0 ]] || echo kube-scheduler
  [[ ${WITH[kwok]} == 0 ]] || echo kwok
  [[ ${WITH[kubelet]} == 0 ]] || printf '%s\n' kubelet containerd containerd-shim-runc-v2 ctr
}

# build_missing NAME...: one build at a time on a machine, however many runs start at once.
build_missing() {
  local name todo=()
  for name in "$@"; do
    is_built "$name" || todo+=("$name")
  done
  [[ ${#todo[@]} -gt 0 ]] || return 0
  ensure_go
  mkdir -p "$CACHE"
  (
    flock 9
    for name in "${todo[@]}"; do
      is_built "$name" || build_binary "$name"
    done
  ) 9>"$CACHE/lock"
}

ensure_binaries() {
  local names
  mapfile -t names < <(needed_binaries)
  build_missing "${names[@]}"
}

ensure_kubectl() { [[ "$KUBECTL" != "$CACHE/kubectl" ]] || build_missing kubectl; }
