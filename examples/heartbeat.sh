#!/bin/sh
# A heartbeat from cron. In the owner's crontab:
#
#   */15 * * * *  $HOME/daimon/examples/heartbeat.sh
#
# The key names the quarter of an hour, so a second run in the same quarter is the same event and is not worked on again. Where no
# gateway runs, the event is on disk and is worked on at the next `daimon up`.
set -eu
daimon="${DAIMON:-$(dirname "$0")/../daimon}"
quarter=$(($(date +%s) / 900))
printf '{"type": "heartbeat", "job": "read-feed", "conversation": "feeds", "key": "read-feed-%s"}\n' "$quarter" | "$daimon" inject
