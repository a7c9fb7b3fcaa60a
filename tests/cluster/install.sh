#!/bin/sh
# Installs what `make test-cluster` tests with into the folder that SYRCH_TEST_CLUSTER names, else into target/cluster. Slurm, its authentication
# service and Redis are Debian's packages of the machine's own release, checked by apt, which are unpacked and not installed. Ray and the schemas of
# Kubernetes are from PyPI, of fixed versions. What is there already is not fetched again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${SYRCH_TEST_CLUSTER:-$here/../../target/cluster}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python='ray==2.60.0 kubernetes-validate==1.37.0'
debian='slurm-client slurmctld slurmd slurm-wlm-basic-plugins munge libmunge2 libhwloc15 redis-tools redis-server libjemalloc2 liblzf1'
if [ "$(cat "$folder/python/installed" 2>/dev/null)" != "$python" ]; then
	rm -rf "${folder:?}/python"
	python3 -m venv "$folder/python"
	# shellcheck disable=SC2086
	"$folder/python/bin/pip" install --quiet --disable-pip-version-check $python
	echo "$python" >"$folder/python/installed"
fi
if [ "$(cat "$folder/debian/installed" 2>/dev/null)" != "$debian" ]; then
	if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
		echo "there are no packages of Debian for this machine: Slurm and Redis are not tested" >&2
		exit
	fi
	rm -rf "${folder:?}/debian"
	mkdir -p "$folder/debian/parts"
	cd "$folder/debian/parts"
	# Without root, apt cannot change to its own user, which it would do to download.
	# shellcheck disable=SC2086
	apt-get download -q -o APT::Sandbox::User="$(id -un)" $debian >/dev/null
	for package in ./*.deb; do
		dpkg -x "$package" "$folder/debian"
	done
	cd "$folder/debian"
	rm -rf parts
	# The server is a program of the tools, by another name.
	test -e usr/bin/redis-server || ln -s redis-check-rdb usr/bin/redis-server
	echo "$debian" >installed
fi
