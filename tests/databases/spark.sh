#!/bin/sh
# Installs the Spark Connect servers of the tests into the folder that SYRCH_TEST_DATABASES names: pysail's, which needs no Java, and Spark's own, which needs
# Java 17 or later at run time. Each gets a virtual environment of its own, since pysail looks for PySpark in its environment and refuses
# versions that it does not know. What is there already stays.
set -eu
folder=${SYRCH_TEST_DATABASES:?is the folder to install into}
python=${PYTHON:-python3}
install() {
    if [ -f "$folder/$1/.$2" ]; then
        return
    fi
    rm -rf "${folder:?}/$1"
    "$python" -m venv "$folder/$1"
    "$folder/$1/bin/pip" install --quiet --disable-pip-version-check "$2"
    touch "$folder/$1/.$2"
}
mkdir -p "$folder"
install sail pysail==0.7.2
# The server needs the jars of the package alone, and none of the Python packages of its clients.
install spark pyspark==4.3.0
command -v java >/dev/null || echo "spark.sh: there is no java: install Java 17, for example Debian's openjdk-17-jre-headless" >&2
