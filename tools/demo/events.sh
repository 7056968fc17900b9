# Sourced by tools/demo/run: keys and signed events, by our own signer.

identifier=demo

# sign SECRET KIND TAGS: one signed event, as one line of JSON.
sign() {
  printf '{"kind":%d,"created_at":%d,"tags":%s,"content":""}\n' "$2" "$(date +%s)" "$3" \
    | "$bin/purgatoryd-sign" event --secret "$1"
}

# id_of EVENT
id_of() { field id "$1"; }

# make_events: sets announcement_id, state_id, pr_id; writes events.jsonl.
make_events() {
  local owner contributor owner_key first second fork announcement state pr
  owner=$("$bin/purgatoryd-sign" key)
  contributor=$("$bin/purgatoryd-sign" key)
  owner_key=$(field pubkey "$owner")
  first=http://$first_host:$port/demo.git
  second=http://$second_host:$port/demo.git
  fork=http://$second_host:$port/fork.git

  announcement=$(sign "$(field secret "$owner")" 30617 \
    "[[\"d\",\"$identifier\"],[\"name\",\"Demo\"],[\"clone\",\"$first\",\"$second\"]]")
  state=$(sign "$(field secret "$owner")" 30618 \
    "[[\"d\",\"$identifier\"],[\"refs/heads/main\",\"$main_tip\"],[\"refs/heads/dev\",\"$dev_tip\"],[\"HEAD\",\"ref: refs/heads/main\"]]")
  pr=$(sign "$(field secret "$contributor")" 1618 \
    "[[\"a\",\"30617:$owner_key:$identifier\"],[\"p\",\"$owner_key\"],[\"subject\",\"Add a feature\"],[\"c\",\"$feature_tip\"],[\"clone\",\"$fork\"]]")

  announcement_id=$(id_of "$announcement")
  state_id=$(id_of "$state")
  pr_id=$(id_of "$pr")
  printf '%s\n' "$announcement" "$state" "$pr" >"$work/events.jsonl"
  say "announcement $(short "$announcement_id") names both servers"
  say "state        $(short "$state_id") main and dev; each server has one of them"
  say "pull request $(short "$pr_id") its commit is only in the fork"
}
