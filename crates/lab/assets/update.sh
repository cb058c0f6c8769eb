#!/bin/sh
# Refreshes the libraries that reports embed, from the npm registry, with their licences.
# Usage: crates/lab/assets/update.sh [vega version] [vega-lite version] [vega-embed version]
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() { # package version
    archive=$(cd "$work" && npm pack --silent "$1@$2")
    mkdir "$work/$1"
    tar xzf "$work/$archive" -C "$work/$1" --strip-components 1
    cp "$work/$1/build/$1.min.js" .
    found=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$work/$1/package.json")
    {
        echo "== $1 $found"
        echo
        cat "$work/$1/LICENSE"
        echo
    } >>"$work/licences"
}

fetch vega "${1:-6}"
fetch vega-lite "${2:-6}"
fetch vega-embed "${3:-7}"
mv "$work/licences" LICENCES.txt
