#!/usr/bin/env bash
# install.sh BUILT [PART...]: puts what was built into the folder BUILT under $DESTDIR$PREFIX: all, or the parts lightlag (the
# laboratory), lightlagd, run (lightlag-run) and library (liblightlag).
set -euo pipefail
cd "$(dirname "$0")/.."
built=$1
shift
prefix=${PREFIX:-/usr/local}
case $prefix in /*) ;; *) echo "install: PREFIX=$prefix: it must begin with /" >&2; exit 2 ;; esac
to=${DESTDIR:-}$prefix
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
put() { install -D -m "$1" "$2" "$to/$3"; }
fill() { sed "s|@PREFIX@|$prefix|; s|@VERSION@|$version|" "$1" | install -D -m 644 /dev/stdin "$to/$2"; }
complete() { "$built/$1" completions "$2" | install -D -m 644 /dev/stdin "$to/share/$3"; }
program() {
  put 755 "$built/$1" "bin/$1"
  complete "$1" bash "bash-completion/completions/$1"
  complete "$1" zsh "zsh/site-functions/_$1"
  complete "$1" fish "fish/vendor_completions.d/$1.fish"
}
lightlag() {
  program lightlag
  put 644 crates/cli/man/lightlag.1 share/man/man1/lightlag.1
  for example in examples/*.toml scenarios/earth_mars.toml scenarios/places/earth_mars.contacts; do
    put 644 "$example" "share/doc/lightlag/examples/${example#*/}"
  done
}
lightlagd() {
  program lightlagd
  put 644 crates/daemon/man/lightlagd.8 share/man/man8/lightlagd.8
  fill systemd/lightlagd.service lib/systemd/system/lightlagd.service
  put 644 systemd/lightlag.sysusers.conf lib/sysusers.d/lightlag.conf
}
run() {
  put 755 "$built/lightlag-run" bin/lightlag-run
  put 755 "$built/liblightlag_run.so" lib/lightlag/liblightlag_run.so
  put 644 crates/run/man/lightlag-run.1 share/man/man1/lightlag-run.1
}
library() {
  put 755 "$built/liblightlag.so" "lib/liblightlag.so.${version%%.*}"
  ln -sfn "liblightlag.so.${version%%.*}" "$to/lib/liblightlag.so"
  put 644 "$built/liblightlag.a" lib/liblightlag.a
  put 644 crates/socket/include/lightlag.h include/lightlag.h
  put 644 crates/socket/man/lightlag.3 share/man/man3/lightlag.3
  fill crates/socket/lightlag.pc.in lib/pkgconfig/lightlag.pc
}
[ $# -gt 0 ] || set -- lightlag lightlagd run library
for part in "$@"; do
  case $part in
    lightlag | lightlagd | run | library) "$part" ;;
    *) echo "install: $part: expected lightlag, lightlagd, run or library" >&2; exit 2 ;;
  esac
done
