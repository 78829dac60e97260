#!/bin/sh
# A Chromium for the browser tests: one that is there, Playwright's, or the system's package.
# Never fails: without a browser these tests are skipped, and say so.
python="${1:-python3}"
for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        echo "browser: $(command -v "$name")"
        exit 0
    fi
done
if timeout 300 "$python" -m playwright install chromium >/dev/null 2>&1; then
    echo "browser: Playwright's Chromium"
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 &&
    apt-get update -qq >/dev/null 2>&1 &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        chromium fonts-dejavu-core >/dev/null 2>&1; then
    echo "browser: $(command -v chromium)"
else
    echo "browser: none could be had; the tests of the report page in a browser will be skipped"
fi
