#!/usr/bin/env bash
# install.sh BUILT: puts lightlag, lightlagd, lightlag-run and liblightlag from the folder BUILT under $DESTDIR$PREFIX.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$1
prefix=${PREFIX:-/usr/local}
case $prefix in /*) ;; *) echo "install: PREFIX=$prefix: it must begin with /" >&2; exit 2 ;; esac
to=${DESTDIR:-}$prefix
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
put() { install -D -m "$1" "$2" "$to/$3"; }
fill() { sed "s|@PREFIX@|$prefix|; s|@VERSION@|$version|" "$1" | install -D -m 644 /dev/stdin "$to/$2"; }
put 755 "$built/lightlag" bin/lightlag
put 755 "$built/lightlagd" bin/lightlagd
put 755 "$built/lightlag-run" bin/lightlag-run
put 755 "$built/liblightlag.so" "lib/liblightlag.so.${version%%.*}"
ln -sfn "liblightlag.so.${version%%.*}" "$to/lib/liblightlag.so"
put 644 "$built/liblightlag.a" lib/liblightlag.a
put 755 "$built/liblightlag_run.so" lib/lightlag/liblightlag_run.so
put 644 crates/socket/include/lightlag.h include/lightlag.h
put 644 crates/socket/man/lightlag.3 share/man/man3/lightlag.3
put 644 crates/run/man/lightlag-run.1 share/man/man1/lightlag-run.1
put 644 crates/daemon/man/lightlagd.8 share/man/man8/lightlagd.8
fill crates/socket/lightlag.pc.in lib/pkgconfig/lightlag.pc
fill systemd/lightlagd.service lib/systemd/system/lightlagd.service
put 644 systemd/lightlag.sysusers.conf lib/sysusers.d/lightlag.conf
