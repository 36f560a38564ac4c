# shellcheck shell=sh disable=SC2154 # $work
# SPDX-License-Identifier: BSD-3-Clause
# Debian in a folder, for scripts/package and scripts/test-packages, which source it and set $work. Needs root. The
# mounts of a chroot are in a namespace of their own, which ends with the command.

# Makes a chroot with the Debian release of this machine, as a copy of a chroot that is made once.
chroot_make() { # FOLDER
    base=$work/chroot-base
    [ -e "$base/made" ] || chroot_make_base || return 1
    rm -rf "$1"
    cp -a --reflink=auto "$base" "$1"
}

chroot_make_base() {
    scripts/install-deps packages debootstrap
    rm -rf "$base"
    release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    debootstrap --variant=minbase "$release" "$base" http://deb.debian.org/debian >"$work/chroot.log" 2>&1 || {
        tail -5 "$work/chroot.log" >&2
        return 1
    }
    # Packages start no services, pull in no recommendations, and writes need not reach the disk.
    printf '#!/bin/sh\nexit 101\n' >"$base/usr/sbin/policy-rc.d"
    chmod 755 "$base/usr/sbin/policy-rc.d"
    printf 'APT::Install-Recommends "false";\nAcquire::Languages "none";\n' >"$base/etc/apt/apt.conf.d/99mli"
    echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/mli"
    touch "$base/made"
}

# Runs a command in a chroot.
chroot_run() { # FOLDER COMMAND...
    folder=$1
    shift
    # shellcheck disable=SC2016 # the inner shell expands these
    unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$folder" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
