# shellcheck shell=bash
# Starts, watches and stops the components. pids/NAME holds "PID STARTTIME": a reused pid is never taken for ours.

# start_time PID: when the process started, in clock ticks since boot.
start_time() {
  local stat
  stat="$(cat "/proc/$1/stat" 2>/dev/null)" || return 1
  # The second field is the command's name in parentheses and may hold spaces.
  read -ra stat <<<"${stat##*) }"
  [[ "${stat[0]}" != Z ]] || return 1
  echo "${stat[19]}"
}

# start NAME COMMAND...: in the background, with a log and a pid file of its own.
start() {
  local name="$1" pid
  shift
  setsid "$@" >"$STATE/logs/$name.log" 2>&1 </dev/null &
  pid=$!
  echo "$pid $(start_time "$pid" || true)" >"$STATE/pids/$name"
}

pid_of() { cut -d' ' -f1 "$STATE/pids/$1"; }

is_running() {
  local pid started
  read -r pid started <"$STATE/pids/$1"
  [[ -n "$started" && "$(start_time "$pid")" == "$started" ]]
}

# wait_ready NAME SECONDS COMMAND...: until COMMAND succeeds; ends the run if NAME dies or is late.
wait_ready() {
  local name="$1" deadline=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    is_running "$name" || fail_component "$name" "ended during its start"
    ((SECONDS < deadline)) || fail_component "$name" "was not ready in time"
    sleep 0.1
  done
}

fail_component() {
  {
    echo "cluster: error: $1 $2; the end of $STATE/logs/$1.log:"
    tail -n 20 "$STATE/logs/$1.log"
  } >&2
  exit 1
}

is_stopped() { ! is_running "$1"; }

stop() {
  local name="$1"
  if [[ ! -f "$STATE/pids/$name" ]] || is_stopped "$name"; then
    return 0
  fi
  kill "$(pid_of "$name")" 2>/dev/null || true
  wait_until 10 is_stopped "$name" && return 0
  log "$name does not stop, killing it"
  kill -KILL "$(pid_of "$name")" 2>/dev/null || true
  wait_until 5 is_stopped "$name" || die "$name (pid $(pid_of "$name")) can't be stopped"
}

accepts_connections() { (: <"/dev/tcp/$1/$2") 2>/dev/null; }
