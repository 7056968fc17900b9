# Sourced by tools/demo/run: what the reader sees.

title() { printf '\n== %s\n' "$*"; }
say() { printf '  %s\n' "$*"; }

# One line that moves, on a terminal only.
progress_frame=0
show_progress() {
  [[ -t 1 ]] || return 0
  local frames='|/-\'
  progress_frame=$(((progress_frame + 1) % 4))
  printf '\r\033[K  %s %s' "${frames:progress_frame:1}" "$1"
}
show_progress_end() { [[ ! -t 1 ]] || printf '\r\033[K'; }

# field NAME LINE: that field of one JSON line, still escaped.
field() {
  local text="\"$1\":\"((\\\\.|[^\"\\\\])*)\"" number="\"$1\":([0-9]+)"
  if [[ $2 =~ $text || $2 =~ $number ]]; then
    printf '%s' "${BASH_REMATCH[1]}"
  fi
}

kind_name() {
  case $1 in
    30617) printf 'announcement' ;;
    30618) printf 'state' ;;
    1618) printf 'pull request' ;;
    *) printf 'kind %s' "$1" ;;
  esac
}

fact() {
  [[ ! -t 1 ]] || printf '\r\033[K'
  printf '  %-9s %s\n' "$1" "$2"
}

# show_fact LINE: one line of the daemon's log in words; silent about others.
show_fact() {
  local name url
  name=$(kind_name "$(field kind "$1")")
  url=$(field url "$1")
  case $(field message "$1") in
    'Event held')
      fact held "$name $(short "$(field event_id "$1")") until its git data is here"
      ;;
    'Fetch started')
      fact hunting "$url for $(field wants "$1") object(s)"
      ;;
    'Fetch succeeded')
      fact fetched "$url had $(field oids_fetched "$1") of them"
      ;;
    'Fetch failed')
      fact failed "$url: $(field error "$1")"
      ;;
    'Refs aligned')
      fact aligned "$(field identifier "$1"): $(field changed "$1") ref(s) moved"
      ;;
    'Event released')
      fact released "$name $(short "$(field event_id "$1")")"
      ;;
  esac
}

short() { printf '%.12s…' "$1"; }
