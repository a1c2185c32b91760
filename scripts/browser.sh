#!/usr/bin/env sh
# Install what the tests of the studio use beside Python: chromium, if this is root on Debian, and axe-core, if there is
# npm. What cannot be installed is reported, and the tests that need it are skipped: this script never fails.
cd "$(dirname "$0")/.." || exit 0

if ! command -v chromium >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	{ timeout 300 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 300 \
		apt-get install -qq -y --no-install-recommends chromium; } >/dev/null 2>&1 </dev/null
fi
command -v chromium >/dev/null || echo "there is no chromium: the tests that need a browser are skipped"

# The version is that of the last run whose result is known.
if [ ! -e build/node/node_modules/axe-core ] && command -v npm >/dev/null; then
	mkdir -p build/node && timeout 120 npm install --prefix build/node --silent --no-save --no-audit --no-fund \
		--ignore-scripts axe-core@4.14.0 >/dev/null 2>&1 </dev/null
fi
[ -e build/node/node_modules/axe-core ] || echo "there is no axe-core: the tests that need it are skipped"
exit 0
