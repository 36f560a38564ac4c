#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mlid as a process: start, stop, second instance, stale socket, options and exit statuses.
#
#   test_mlid.sh MLID CALL     (the programs under test; CALL is call.c)
set -eu

mlid=$1
call=$2
dir=$(mktemp -d)
sock=$dir/mlid.sock
pid=
failures=0

cleanup() {
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
    rm -rf "$dir"
}
trap cleanup EXIT

check() { # NAME COMMAND...: the command must succeed
    name=$1
    shift
    if "$@"; then
        echo "ok: $name"
    else
        echo "FAILED: $name: $*"
        failures=$((failures + 1))
    fi
}

exits() { # STATUS COMMAND...: the command must exit so
    want=$1
    shift
    got=0
    "$@" >"$dir/out" 2>"$dir/err" || got=$?
    [ "$got" = "$want" ] || {
        echo "exit status $got, $want wanted: $(cat "$dir/err")"
        return 1
    }
}

answers() {
    "$call" "$sock" '{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}' | grep -q '"pong":true'
}

start() { # OPTION...: starts mlid and waits until it answers
    "$mlid" --socket "$sock" "$@" 2>>"$dir/log" &
    pid=$!
    tries=0
    until answers 2>/dev/null; do
        tries=$((tries + 1))
        if [ "$tries" -gt 400 ] || ! kill -0 "$pid" 2>/dev/null; then
            echo "mlid does not answer: $(cat "$dir/log")"
            exit 1
        fi
        sleep 0.05
    done
}

ends_with() { # STATUS: waits for mlid
    got=0
    wait "$pid" || got=$?
    pid=
    [ "$got" = "$1" ] || {
        echo "mlid exited with $got, $1 wanted: $(cat "$dir/log")"
        return 1
    }
}

no_socket() {
    [ ! -e "$sock" ]
}

says() { # WORD FILE
    grep -q -e "$1" "$2"
}

# Options
check "--help" exits 0 "$mlid" --help
check "--help goes to stdout" says "--socket PATH" "$dir/out"
check "--version" exits 0 "$mlid" --version
check "--version says it" says "^mlid [0-9]" "$dir/out"
check "unknown option" exits 2 "$mlid" --nonsense
check "argument" exits 2 "$mlid" nonsense
check "bad --channels" exits 2 "$mlid" --channels 0 --check
check "bad --channels again" exits 2 "$mlid" --channels 17 --check
check "--channels is not a number" exits 2 "$mlid" --channels 4x --check
check "bad --log-level" exits 2 "$mlid" --log-level loud --check
check "empty --socket" exits 2 "$mlid" --socket "" --check
check "long --socket" exits 2 "$mlid" --socket "/$(printf '%0200d' 0)" --check

# Configuration
echo '{"channels": 2, "log_level": "debug", "drain_ms": 0}' >"$dir/good.json"
echo '{"chanels": 2}' >"$dir/bad.json"
check "--check accepts" exits 0 "$mlid" --config "$dir/good.json" --check
check "--check refuses" exits 2 "$mlid" --config "$dir/bad.json" --check
check "the complaint names file and key" says "bad.json.*chanels" "$dir/err"
check "no such file" exits 2 "$mlid" --config "$dir/none.json" --check
mkfifo "$dir/fifo.json"
check "a pipe is not a configuration" exits 2 timeout 10 "$mlid" --config "$dir/fifo.json" --check
check "and says what is wanted" says "fifo.json: a regular file is required" "$dir/err"
check "a bad configuration does not start" exits 2 "$mlid" --config "$dir/bad.json" --socket "$sock"
check "options and file are checked together" exits 2 "$mlid" --config "$dir/good.json" \
    --channels 99 --check

# Engines
check "--engine" exits 0 "$mlid" --engine fault:threads,seed=7,fail_pct=3 --check
check "no such engine" exits 2 "$mlid" --engine turbo --check
check "the library says so" says "mlid: engine: .*not an engine" "$dir/err"
check "no such option" exits 2 "$mlid" --engine threads:size=3 --check
check "and where" says "mlid: engine: .*character" "$dir/err"
check "long --engine" exits 2 "$mlid" --engine "threads:tiny=$(printf '%0200d' 0)" --check
check "a device has what it has" exits 2 "$mlid" --engine mock --channels 16 --check
check "that is said too" says "the engine has 0 to" "$dir/err"
echo '{"engine": "inline:tiny"}' >"$dir/engine.json"
check "the file's engine is checked" exits 2 "$mlid" --config "$dir/engine.json" --check
check "--engine goes before the file's" exits 0 "$mlid" --config "$dir/engine.json" \
    --engine inline --check
check "a bad engine does not start" exits 2 "$mlid" --engine turbo --socket "$sock"
check "and leaves no socket" no_socket

# Life
start --config "$dir/good.json"
check "the mode is 0600" test "$(stat -c %a "$sock")" = 600
"$call" "$sock" '{"jsonrpc":"2.0","id":1,"method":"daemon.info"}' >"$dir/info"
check "the file is obeyed" says '"channels":2,' "$dir/info"
check "lines carry time and level" says '^[0-9-]*T[0-9:.]*Z info listening' "$dir/log"
check "clients are logged with their uid" says "Z info client connected client=.* uid=$(id -u)" "$dir/log"
check "a second instance is refused" exits 1 "$mlid" --socket "$sock"
check "and says why" says "Address already in use" "$dir/err"
check "the first one lives on" answers
kill -TERM "$pid"
check "SIGTERM is a clean end" ends_with 0
check "the socket is removed" no_socket

start --channels 3
kill -INT "$pid"
check "SIGINT is a clean end" ends_with 0
check "the socket is removed again" no_socket

# A killed mlid leaves its socket behind
start
kill -KILL "$pid"
check "killed" ends_with 137
check "the socket stays" test -S "$sock"
start
check "a stale socket is replaced" answers
kill -TERM "$pid"
check "and removed in the end" ends_with 0
check "there is no socket left" no_socket

# mlid leaves a file that is not a socket as it is
echo precious >"$sock"
check "a file is not a socket" exits 1 "$mlid" --socket "$sock"
check "the complaint says why" says "the path is a file, and not a socket" "$dir/err"
check "the file stays" says precious "$sock"
rm "$sock"
check "a directory that is not there" exits 1 "$mlid" --socket "$dir/none/sock"

# A loop without work sleeps, even with a device that has to be polled
for engine in threads mock; do
    start --engine "$engine"
    "$call" "$sock" '{"jsonrpc":"2.0","id":1,"method":"daemon.info"}' >"$dir/info"
    check "$engine: daemon.info tells" says "\"engine\":\"$engine\"" "$dir/info"
    sleep 0.2
    before=$(awk '{print $14 + $15}' "/proc/$pid/stat")
    switches=$(awk '/^voluntary/ {print $2}' "/proc/$pid/status")
    sleep 1
    check "$engine, idle: no processor time" \
        test "$(awk '{print $14 + $15}' "/proc/$pid/stat")" = "$before"
    check "$engine, idle: no wakeups" \
        test "$(awk '/^voluntary/ {print $2}' "/proc/$pid/status")" = "$switches"
    kill -TERM "$pid"
    check "$engine: a clean end" ends_with 0
done
start

# A client has sent half a line: mlid ends without waiting for the rest of the line
"$call" "$sock" --half '{"jsonrpc":' &
half=$!
sleep 0.2
kill -TERM "$pid"
check "half a line does not delay the end" ends_with 0
wait "$half" || true

# After a second signal mlid ends at once, even if a client does not read
start
"$call" "$sock" --deaf '{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}' >"$dir/deaf" &
deaf=$!
tries=0
until [ -s "$dir/deaf" ] || [ "$tries" -gt 400 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
kill -TERM "$pid"
sleep 0.3
check "the first signal waits for the client" kill -0 "$pid"
check "the socket is gone already" no_socket
kill -TERM "$pid"
check "the second one ends it at once" ends_with 1
wait "$deaf" || true

# Standard error is closed: nothing can read the log
"$mlid" --socket "$sock" --log-level debug 2>&- &
pid=$!
tries=0
until answers 2>/dev/null || [ "$tries" -gt 400 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
check "stderr may be closed" answers
kill -TERM "$pid"
check "and the end is clean" ends_with 0

[ "$failures" = 0 ] || {
    echo "$failures failed"
    exit 1
}
