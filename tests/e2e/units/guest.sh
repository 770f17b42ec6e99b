# What tools/units-test has a machine do in which systemd runs the units: each
# step is a function; a step that fails shows what the units wrote.
set -uo pipefail

export DEBIAN_FRONTEND=noninteractive HOME=/root SYSTEMD_COLORS=0
steps=0
ok=0

within() { # SECONDS COMMAND...: until it succeeds
    local until=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 0.2
    done
}
step() { # NAME: runs the function of that name
    steps=$((steps + 1))
    # Not as a condition: in one, set -e means nothing.
    (set -e; "$1") >/tmp/step.log 2>&1
    # shellcheck disable=SC2181
    if [ $? = 0 ]; then
        ok=$((ok + 1))
        echo "guest: $1: ok (at $SECONDS s)"
    else
        echo "guest: $1: failed"
        tail -n 40 /tmp/step.log
        journalctl --no-pager -n 40 -u berthd -u berth-executor -o cat
    fi
}
fails() { # COMMAND...: an "if", since set -e does not look at "!"
    if "$@"; then
        return 1
    fi
}
field() { systemctl show --value -p "$1" "$2"; }
job_id() { grep -oE '[0-9a-z]{26}' | head -n 1; }
is_running() { berthctl get jobs -q q | grep -qw running; }

packages_bring_running_units() {
    dpkg -i /packages/*.deb
    within 300 systemctl is-active berthd
    within 300 systemctl is-active berth-executor
    [ "$(field User berthd)" = berth ]
    # Its own filter goes on inside that of the unit.
    journalctl -u berthd -o cat >/tmp/berthd.log
    grep -q event=filter.on /tmp/berthd.log
    [ "$(stat -c %U "/proc/$(field MainPID berth-executor)")" = berth ]
    [ -z "$(systemctl --failed --no-legend)" ]
}
the_server_is_locked_in() {
    score=$(systemd-analyze security berthd --no-pager |
        sed -n 's/.*exposure level for berthd.service: \([0-9.]*\).*/\1/p')
    echo "score $score"
    awk -v s="$score" 'BEGIN { exit !(s != "" && s < 3) }'
}
a_job_succeeds() {
    berthctl create queue q
    berthctl run -q q --follow -- sh -c 'cat /proc/self/cgroup' | tee /tmp/job
    grep -q '/berth-' /tmp/job
}
a_wrong_configuration_is_not_taken_up() {
    cp /etc/berth/berth.yaml /tmp/berth.yaml
    echo 'nonsense: 1' >>/etc/berth/berth.yaml
    fails systemctl reload berthd
    systemctl is-active berthd
    berthctl get queues | grep -qw q
    cp /tmp/berth.yaml /etc/berth/berth.yaml
    systemctl reload berthd
}
a_wrong_configuration_is_not_tried_again() {
    echo 'nonsense: 1' >>/etc/berth/berth.yaml
    fails systemctl restart berthd
    [ "$(field NRestarts berthd)" = 0 ]
    cp /tmp/berth.yaml /etc/berth/berth.yaml
    systemctl reset-failed berthd
    systemctl start berthd
    berthctl get queues | grep -qw q
}
a_server_that_is_killed_comes_back() {
    before=$(field MainPID berthd)
    kill -KILL "$before"
    is_another() { [ "$(field MainPID berthd)" -gt 1 ] &&
        [ "$(field MainPID berthd)" != "$before" ]; }
    within 120 is_another
    within 120 systemctl is-active berthd
    within 60 berthctl get queues
}
a_job_outlives_its_executor() {
    job=$(berthctl run -q q -- sh -c \
        'until [ -e /srv/end ]; do sleep 0.2; done' | job_id)
    within 120 is_running
    systemctl restart berth-executor
    kill -KILL "$(field MainPID berth-executor)"
    within 120 systemctl is-active berth-executor
    is_running
}
a_job_outlives_an_upgrade() {
    dpkg -i /next/*.deb
    within 300 systemctl is-active berthd
    within 300 systemctl is-active berth-executor
    within 60 is_running
    touch /srv/end
    berthctl wait -q q --timeout 300s
}
the_journal_has_the_events() {
    journalctl -u berthd -o cat | grep -q event=server.ready
    journalctl -u berth-executor -o cat | grep -q event=
}
a_removal_ends_jobs_and_leaves_the_data() {
    berthctl run -q q -- sleep 100000
    within 120 is_running
    grep -qx sleep /proc/[0-9]*/comm
    dpkg --remove berth-client berth-server berth-executor
    is_gone() { ! grep -qx "$1" /proc/[0-9]*/comm; }
    within 60 is_gone berth-shim
    is_gone sleep
    [ -f /var/lib/berth/log.db ]
    fails systemctl is-active berthd
}
a_purge_leaves_nothing() {
    dpkg --purge berth-server berth-executor
    fails getent passwd berth
    [ ! -e /var/lib/berth ]
    [ ! -e /var/lib/berth-executor ]
    [ ! -e /etc/berth ]
    fails grep -i berth <<<"$(systemctl list-unit-files)"
}

for name in packages_bring_running_units the_server_is_locked_in \
    a_job_succeeds a_wrong_configuration_is_not_taken_up \
    a_wrong_configuration_is_not_tried_again \
    a_server_that_is_killed_comes_back a_job_outlives_its_executor \
    a_job_outlives_an_upgrade the_journal_has_the_events \
    a_removal_ends_jobs_and_leaves_the_data a_purge_leaves_nothing; do
    step "$name"
done
echo "guest: $ok of $steps ok"
