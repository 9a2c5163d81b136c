#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# run.sh CORPORA TARGET...: each fuzz target for FUZZ_SECONDS, from its corpus on. New inputs
# stay in fuzz-NAME/, findings in fuzz-NAME/finding-*, what libFuzzer said in fuzz-NAME.log.
# Fails when there was a finding.
set -u
corpora=$1
shift
failed=0
for target; do
	name=${target##*fuzz_}
	mkdir -p "fuzz-$name"
	"./$target" -max_total_time="${FUZZ_SECONDS:-900}" -timeout=25 -rss_limit_mb=2048 \
		-artifact_prefix="fuzz-$name/finding-" -print_final_stats=1 \
		"fuzz-$name" "$corpora/$name" >"fuzz-$name.log" 2>&1
	ret=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "fuzz-$name.log")
	cov=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "fuzz-$name.log" | tail -n 1)
	echo "$name: ${runs:-?} inputs, ${cov:-?} edges, $( [ $ret = 0 ] && echo 'no finding' || echo "FINDING, see fuzz-$name.log")"
	[ $ret = 0 ] || failed=1
done
exit $failed
