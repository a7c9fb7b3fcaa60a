#!/bin/sh
# Installs what `make test-databases` tests with, each engine by a script of its own, into the folder that SYRCH_TEST_DATABASES names, else into
# target/databases. What is there already is not fetched again. With names as arguments, those engines alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
SYRCH_TEST_DATABASES=${SYRCH_TEST_DATABASES:-$here/../../target/databases}
export SYRCH_TEST_DATABASES
mkdir -p "$SYRCH_TEST_DATABASES"
for part in "$here"/*.sh; do
	name=$(basename "$part" .sh)
	test "$name" != install || continue
	case " ${*:-$name} " in
	*" $name "*) sh "$part" ;;
	esac
done
