#!/usr/bin/env bash
# Compiles the peer, Karpenter's own scheduler behind the plan's formats, from Go modules.
#   build.sh [FILE]     FILE defaults to ~/.cache/joinery/peer/<digest of the sources>/peer; prints it. A few minutes on 2 cores the first time, then nothing.
# Needs Go >= 1.21 (which fetches the toolchain named below) and the Go module proxy.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
digest=$(cat "$here/main.go" "$here/go.mod" "$here/go.sum" | sha256sum | cut -c1-12)
out=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/joinery/peer/$digest/peer}
if [ ! -x "$out" ] || [ "$here/main.go" -nt "$out" ]; then
  mkdir -p "$(dirname "$out")"
  (cd "$here" && GOTOOLCHAIN=go1.27.3 go build -trimpath -ldflags "-s -w" -o "$out.part" .)
  mv "$out.part" "$out"
fi
echo "$out"
