#!/bin/sh
# Runs a command in a Slurm cluster of this one machine, which is made for it and ends with it: a controller, a node of four processors, and the
# service by which they know each other, all of the user who calls this, who need not be root. `tests/cluster/install.sh` installs them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
installed=${SYRCH_TEST_CLUSTER:-$here/../../target/cluster}/debian
root=$(cd "$installed" && pwd)/usr
libraries=$root/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)
LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm
PATH=$root/bin:$PATH
export LD_LIBRARY_PATH PATH
# The path of a socket is short.
folder=$(mktemp -d /tmp/slurm-XXXXXX)
# Munge wants its socket where all users can reach it.
chmod 755 "$folder"
services=
# shellcheck disable=SC2317,SC2086
finish() {
	timeout 5 scancel --full --signal=KILL --user="$(id -un)" 2>/dev/null || :
	test -z "$services" || kill -KILL $services 2>/dev/null || :
	rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP
mkdir "$folder/state" "$folder/spool"
head -c 1024 /dev/urandom >"$folder/key"
chmod 600 "$folder/key"
host=$(hostname -s)
# Two free ports.
ports=$(python3 -c 'import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))')
cat >"$folder/slurm.conf" <<END
ClusterName=syrch
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/munge
SlurmctldPort=${ports%% *}
SlurmdPort=${ports##* }
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
PluginDir=$libraries/slurm-wlm
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
SLURM_CONF=$folder/slurm.conf
export SLURM_CONF
"$root/sbin/munged" --foreground --key-file="$folder/key" --socket="$folder/munge" --pid-file="$folder/munged.pid" \
	--log-file="$folder/munged.log" --seed-file="$folder/munged.seed" --num-threads=2 >"$folder/munged.out" 2>&1 &
services="$services $!"
for _ in $(seq 100); do
	test ! -S "$folder/munge" || break
	sleep 0.1
done
"$root/sbin/slurmctld-wlm" -D -c >"$folder/slurmctld.out" 2>&1 &
services="$services $!"
"$root/sbin/slurmd-wlm" -D -N "$host" -d "$root/sbin/slurmstepd-wlm" >"$folder/slurmd.out" 2>&1 &
services="$services $!"
state() {
	timeout 2 sinfo --noheader --format=%T 2>/dev/null || :
}
for _ in $(seq 100); do
	test "$(state)" != idle || break
	sleep 0.2
done
if test "$(state)" != idle; then
	echo "Slurm does not start:" >&2
	tail -n 5 "$folder"/*.out >&2
	exit 1
fi
"$@"
