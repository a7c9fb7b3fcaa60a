#!/usr/bin/env python3
"""Makes the suites of this folder from drafts: `make.py TABLES < drafts.jsonl`, where TABLES is the folder that `install.sh` fills.

A draft is a question with the statements that are meant by it, of which any is right, or a text that must not be answered:

    {"id": "tips-01", "db": "tips.csv.gz", "question": "How many bills are there?", "meant": ["SELECT count(*) FROM tips"]}
    {"id": "tips-no-01", "db": "tips.csv.gz", "text": "which was the best night", "kind": "ambiguous"}

The statements run in DuckDB over the files themselves, whose types are those of `TABLES` below. Their rows are the expected ones; so a file that
is read wrongly is seen. The lines of the suites are drafts themselves, and `cat shown*.jsonl kept*.jsonl | make.py TABLES` writes them again.
"""

import json
import random
import re
import sys
from collections import defaultdict
from pathlib import Path

import duckdb

SEED = 20261128
ROWS = 200
# The columns that hold numbers, by file; all others hold texts. `NA` is no number.
TABLES = {
    "flights.csv": "year month day dep_time sched_dep_time dep_delay arr_time sched_arr_time arr_delay flight air_time distance hour minute",
    "planes.csv": "year engines seats speed",
    "penguins.csv": "bill_length_mm bill_depth_mm flipper_length_mm body_mass_g year",
    "seattle-weather.csv": "precipitation temp_max temp_min wind",
    "gapminder.csv.gz": "year lifeExp pop gdpPercap iso_num centroid_lon centroid_lat",
    "tips.csv.gz": "total_bill tip size",
    "SampleSuperstore.csv.gz": "Sales Quantity Discount Profit",
}
HERE = Path(__file__).parent



def view(connection, folder, name):
    """Makes the view of a file, called as the program calls its table."""
    path = folder / name
    read = f"read_csv('{path}', header = true, all_varchar = true, delim = ',', quote = '\"')"
    columns = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {read}").fetchall()]
    numbers = set(TABLES[name].split())
    assert numbers <= set(columns), numbers - set(columns)
    cells = []
    for column in columns:
        cell = f'"{column}"'
        if column in numbers:
            cell = f"CAST(NULLIF({cell}, 'NA') AS DOUBLE)"
        elif column == "date":
            cell = f"replace({cell}, '/', '-')"
        cells.append(f'{cell} AS "{column}"')
    table = re.sub(r"\W", "_", name.split(".")[0])
    connection.execute(f"CREATE VIEW {table} AS SELECT {', '.join(cells)} FROM {read}")


def literal(cell):
    """A cell as SQL writes it."""
    if cell is None:
        return "NULL"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, (int, float)):
        return repr(cell)
    return "'" + str(cell).replace("'", "''") + "'"


def expected(connection, question, statement):
    """The rows of a statement, as a statement that needs no table."""
    rows = connection.execute(statement).fetchall()
    assert 0 < len(rows) <= ROWS, f"{question['id']}: {len(rows)} rows of {statement}"
    if not question.get("ordered"):
        rows.sort(key=repr)
    return "VALUES " + ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


def answer(connections, question):
    """The question with its expected rows, each kind once."""
    connection = connections[question["db"]]
    golds = []
    for statement in question["meant"]:
        rows = expected(connection, question, statement)
        # A date may stay as the file writes it.
        for gold in (rows, re.sub(r"'(\d{4})-(\d\d)-(\d\d)'", r"'\1/\2/\3'", rows)):
            if gold not in golds:
                golds.append(gold)
    line = {key: question[key] for key in ("id", "db", "question", "ordered", "meant") if key in question}
    line["gold_sql"] = golds[0]
    if golds[1:]:
        line["gold_alternatives"] = golds[1:]
    return line


def split(drafts):
    """Half of each table's drafts, drawn with the seed; `True` holds those that are kept."""
    tables = defaultdict(list)
    for draft in drafts:
        tables[draft["db"], "text" in draft].append(draft["id"])
    chance = random.Random(SEED)
    kept = set()
    for key in sorted(tables):
        ids = sorted(tables[key])
        # Of an odd number the larger half is kept.
        kept.update(chance.sample(ids, (len(ids) + 1) // 2))
    return kept


def main():
    folder = Path(sys.argv[1])
    drafts = [json.loads(line) for line in sys.stdin if line.strip()]
    assert len({draft["id"] for draft in drafts}) == len(drafts), "an id occurs twice"
    kept = split(drafts)
    connections = {}
    for name in TABLES:
        connections[name] = duckdb.connect()
        connections[name].execute("SET threads = 1")
        view(connections[name], folder, name)
    files = defaultdict(list)
    for draft in sorted(drafts, key=lambda draft: draft["id"]):
        half = "kept" if draft["id"] in kept else "shown"
        if "text" in draft:
            files[f"{half}_unanswerable.jsonl"].append(draft)
        else:
            files[f"{half}.jsonl"].append(answer(connections, draft))
    for name, lines in files.items():
        (HERE / name).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        print(f"{name}: {len(lines)}")


main()
