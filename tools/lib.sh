# Sourced by the scripts in tools/ and .ci/. Not a command.

# The working tree, wherever the caller stands.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# step TEXT: one line about what happens now.
step() { printf '== %s\n' "$*"; }

# die TEXT: the reason on stderr, then exit 1.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# quietly COMMAND…: runs it without output; shows all of it if it fails.
quietly() {
  local log rc=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || rc=$?
  if ((rc != 0)); then
    cat "$log" >&2
    printf '%s: failed (%d): %s\n' "${0##*/}" "$rc" "$*" >&2
  fi
  rm -f "$log"
  return "$rc"
}

# build_jobs: compilers at once. One per core, but a file that includes Beast
# takes up to 2 GB, so memory sets a limit too. PURGATORY_JOBS overrides it.
build_jobs() {
  local cores memory
  if [[ -n ${PURGATORY_JOBS:-} ]]; then
    printf '%s\n' "$PURGATORY_JOBS"
    return
  fi
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2000000) }' /proc/meminfo)
  ((memory >= 1)) || memory=1
  printf '%s\n' "$((cores < memory ? cores : memory))"
}

# build PRESET [TARGET…]: configure and build. Ninja's own progress line on a
# terminal, silence elsewhere unless it fails. A subshell: the caller stays put.
build() (
  local preset=$1 targets=()
  shift
  (($# == 0)) || targets=(--target "$@")
  step "Build preset $preset"
  cd "$root"
  quietly cmake --preset "$preset"
  local command=(cmake --build --preset "$preset" -j "$(build_jobs)"
    "${targets[@]}")
  if [[ -t 1 ]]; then
    "${command[@]}"
  else
    quietly "${command[@]}"
  fi
)
