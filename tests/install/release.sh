#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# dist/release in a clone of this checkout: it refuses a version, a tree and a tag that do not fit,
# and makes a tarball and an SPDX list with checksums and with signatures by a key that is made here.
# The page's packages come from npm; without them only the refusals are tried.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
for p in git gpg jq xz; do command -v "$p" >/dev/null || skip "$p is not installed"; done
git -C "$here" rev-parse --git-dir >/dev/null 2>&1 || skip "not a checkout"
unset MAKEFLAGS MAKELEVEL
export GIT_AUTHOR_NAME=Release GIT_AUTHOR_EMAIL=release@example.invalid
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL

clone=$work/clone
git clone -q "$here" "$clone"
# Scripts as they are now, also if they are not committed.
cp "$here/dist/release" "$clone/dist/release"
git -C "$clone" commit -qam "dist/release: as it is" 2>/dev/null
version=$(sed -n '1s/^Saguaro //p' "$here/NEWS")
release() { "$clone/dist/release" "$@" >"$work/release.log" 2>&1; }
# shellcheck disable=SC2317 # called by refuses
undo() { git -C "$clone" checkout -q .; }
# refused WHY WORDS: the release is refused with these words.
refused() {
	if release "${@:3}"; then fail "$1 is refused"; else has "$1 is refused" "$(cat "$work/release.log")" "$2"; fi
}

holds "--check" release --check
for file in NEWS dist/saguaro.spec dist/debian/changelog; do
	sed -i "s/$version/9.9.9/" "$clone/$file"
	refused "another version in $file" "$file names version '9.9.9'" --check
	undo
done
refused "an unknown word" "usage: dist/release" --what
refused "a commit without a tag" "there is no tag v$version"
git -C "$clone" tag "v$version" HEAD~1
refused "a tag of another commit" "is another commit"
git -C "$clone" tag -f "v$version" >/dev/null
echo >>"$clone/NEWS"
refused "a changed tree" "not committed"
undo

export GNUPGHOME=$work/gnupg
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key release@example.invalid ed25519 sign never 2>"$work/gpg.log" || fail "a key is made"
release --key release@example.invalid
status=$?
[ $status = 0 ] || ! grep -qi 'npm.*\(ENOTFOUND\|EAI_AGAIN\|network\)' "$work/release.log" || { echo "npm does not reach its registry"; finish; }
same "a release" 0 $status
[ $status = 0 ] || finish
grep -E 'release/|saguaro-' "$work/release.log"
cd "$clone/release" || exit 1
for file in saguaro-$version.tar.xz saguaro-$version.spdx.json; do
	holds "$file: checksum" sha256sum --quiet -c "$file.sha256"
	holds "$file: signature" gpg --batch --verify "$file.asc" "$file"
	cp "$file" changed && printf x >>changed
	refuses "$file: signature of other bytes" gpg --batch --verify "$file.asc" changed
done
same "the tarball names its version" "Saguaro $version" "$(tar -xOf "saguaro-$version.tar.xz" "saguaro-$version/NEWS" | head -n 1)"
same "the list has what the spec declares" \
	"$(sed -nE 's/^Provides: *bundled\(npm\((.*)\)\) = (.*)$/\1 \2/p' "$here/dist/saguaro.spec" | sort)" \
	"$(jq -r '.packages[] | select(.name != "saguaro-web") | "\(.name) \(.versionInfo)"' "saguaro-$version.spdx.json" | sort)"
same "in SPDX 2.3" SPDX-2.3 "$(jq -r .spdxVersion "saguaro-$version.spdx.json")"
same "each package with licence and checksum" "" \
	"$(jq -r '.packages[] | select(.licenseDeclared == null or .licenseDeclared == "NOASSERTION" or (.checksums | length) == 0) | .name' "saguaro-$version.spdx.json")"
finish
