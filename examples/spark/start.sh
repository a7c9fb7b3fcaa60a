#!/bin/sh
# Starts a Spark Connect server on this machine alone (127.0.0.1:15002), with 1 GB of memory and a table `sales` that is larger than that.
# FOLDER holds PySpark, the table and the catalog; the first run takes some minutes and about 3 GB of disk. It needs python3 and Java 17.
#   sh examples/spark/start.sh FOLDER            Ctrl-C ends it
# ROWS (default 100 million) is the number of rows of the table, PORT (default 15002) the port.
set -eu
folder=${1:?usage: start.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
rows=${ROWS:-100000000}
port=${PORT:-15002}
if [ ! -x "$folder/python/bin/spark-submit" ]; then
    python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install --quiet pyspark==4.3.0
fi
SPARK_HOME=$(echo "$folder"/python/lib/python3.*/site-packages/pyspark)
export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1
cd "$folder"
# The first argument is the program.
spark() {
    program=$1
    shift
    set -- --master 'local[*]' --driver-memory 1g \
        --conf spark.ui.enabled=false --conf spark.driver.bindAddress=127.0.0.1 --conf spark.driver.host=127.0.0.1 \
        --conf spark.sql.catalogImplementation=hive --conf "spark.sql.warehouse.dir=$folder/warehouse" \
        --conf "spark.local.dir=$folder/tmp" "$@"
    "$SPARK_HOME/bin/$program" "$@"
}
if [ ! -e "$folder/made" ]; then
    echo "making the table \`sales\` with $rows rows"
    spark spark-sql -e "
        DROP TABLE IF EXISTS sales;
        CREATE TABLE sales USING parquet COMMENT 'one row for each sale' AS
        SELECT id, CAST(rand(1) * 200000 AS INT) AS customer, element_at(array('north', 'east', 'south', 'west'), CAST(1 + rand(2) * 4 AS INT)) AS region,
               CAST(rand(3) * 1000 AS DECIMAL(10,2)) AS amount, uuid() AS receipt
        FROM range(0, $rows, 1, 32)" >"$folder/made.log" 2>&1
    touch "$folder/made"
fi
du -sh "$folder/warehouse/sales"
spark spark-submit --class org.apache.spark.sql.connect.service.SparkConnectServer \
    --conf spark.connect.grpc.binding.address=127.0.0.1 --conf "spark.connect.grpc.binding.port=$port" spark-internal
