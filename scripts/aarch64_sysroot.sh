#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Unpacks into a folder what programs for AArch64 are built with and run with: Debian's packages for arm64, of the
# release that this machine has. They are not installed: the machine's own packages stay as they are, and no root is
# needed.
#   scripts/aarch64_sysroot.sh FOLDER     does nothing if FOLDER is complete
set -euo pipefail
folder=${1:?folder}
packages=(
  libc6 libc6-dev linux-libc-dev libgcc-s1 libgcc-12-dev libstdc++6 libstdc++-12-dev
  libfmt9 libfmt-dev libsimdjson14 libsimdjson-dev zlib1g zlib1g-dev libminizip1 libminizip-dev libsqlite3-dev
  libxxhash-dev libcli11-dev)
wanted="${packages[*]}"
[[ -f $folder/.complete && $(<"$folder/.complete") == "$wanted" ]] && exit 0
rm -rf "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder" "$work"/lists/partial "$work"/cache/archives/partial "$work"/packages
touch "$work/status"
# A list of packages of its own, beside the machine's.
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
  -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache")
"${apt[@]}" update
(cd "$work/packages" && "${apt[@]}" download "${packages[@]}")
for package in "$work"/packages/*.deb; do
  dpkg-deb -x "$package" "$folder"
done
echo "$wanted" >"$folder/.complete"
