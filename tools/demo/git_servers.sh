# Sourced by tools/demo/run: repositories made by git, served by Apache.

# The same commits on every machine and every day.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME='Demo Author' GIT_AUTHOR_EMAIL='author@demo.example'
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'

# Two servers. What they may be asked counts per host, so each has an address
# of its own; all of 127.0.0.0/8 is this machine.
first_host=127.10.1.1
second_host=127.20.1.1

# commit_on BRANCH FILE TEXT: one more commit on that branch of the work tree.
commit_on() {
  git -C "$work/tree" checkout -q "$1"
  printf '%s\n' "$3" >"$work/tree/$2"
  git -C "$work/tree" add "$2"
  git -C "$work/tree" commit -q -m "$3"
}

# publish BRANCH FOLDER: that branch alone, as a bare repository.
publish() {
  git init -q --bare -b "$1" "$work/served/$2"
  git -C "$work/tree" push -q "$work/served/$2" "$1"
}

# make_repositories: `main` lives only on the first server, `dev` only on the
# second, `feature` only in the contributor's fork.
make_repositories() {
  git init -q -b main "$work/tree"
  printf 'Hello\n' >"$work/tree/README"
  git -C "$work/tree" add README
  git -C "$work/tree" commit -q -m 'Say hello'
  git -C "$work/tree" branch dev
  git -C "$work/tree" branch feature
  commit_on main CHANGELOG 'Release 1.0'
  commit_on dev PLAN 'Plan the next release'
  commit_on dev PLAN 'Plan it better'
  commit_on feature FEATURE 'Add a feature'
  main_tip=$(git -C "$work/tree" rev-parse main)
  dev_tip=$(git -C "$work/tree" rev-parse dev)
  feature_tip=$(git -C "$work/tree" rev-parse feature)
  mkdir -p "$work/served/first" "$work/served/second"
  publish main first/demo.git
  publish dev second/demo.git
  publish feature second/fork.git
}

# answers HOST PORT: somebody accepts connections there.
answers() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# virtual_host HOST FOLDER: one server of the Apache configuration.
virtual_host() {
  cat <<END
Listen $1:$port
<VirtualHost $1:$port>
  ServerName $1
  SetEnv GIT_PROJECT_ROOT $work/served/$2
  ScriptAlias / $(git --exec-path)/git-http-backend/
</VirtualHost>
END
}

apache_configuration() {
  local modules=/usr/lib/apache2/modules module
  for module in mpm_event authz_core alias env setenvif cgid; do
    printf 'LoadModule %s_module %s/mod_%s.so\n' "$module" "$modules" "$module"
  done
  cat <<END
ServerName localhost
PidFile $work/apache.pid
ScriptSock $work/cgid.sock
ErrorLog $work/apache.log
LogFormat "%t %A %m %U%q %>s" access
CustomLog $work/access.log access
Mutex file:$work
SetEnv GIT_HTTP_EXPORT_ALL 1
SetEnv GIT_CONFIG_GLOBAL /dev/null
SetEnvIf Git-Protocol ".*" GIT_PROTOCOL=\$0
END
  # Apache never serves as root; git serves only what its own user owns.
  ((EUID != 0)) || printf 'User www-data\nGroup www-data\n'
  virtual_host "$first_host" first
  virtual_host "$second_host" second
}

# start_servers: sets port and apache_pid. Another process may take the port
# between look and use, hence several tries.
start_servers() {
  local try
  if ((EUID == 0)); then
    chmod 755 "$work"
    chown -R www-data:www-data "$work/served"
  fi
  for ((try = 0; try < 10; try++)); do
    port=$((20000 + RANDOM % 12000))
    ! answers "$first_host" "$port" && ! answers "$second_host" "$port" || continue
    apache_configuration >"$work/apache.conf"
    apache2 -d "$work" -f "$work/apache.conf" -DFOREGROUND 2>>"$work/apache.log" &
    apache_pid=$!
    wait_for "$apache_pid" answers "$second_host" "$port" && return
    kill "$apache_pid" 2>/dev/null || true
    wait "$apache_pid" 2>/dev/null || true
  done
  tail -n 5 "$work/apache.log" >&2
  return 1
}
