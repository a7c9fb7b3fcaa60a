"""The rows of an answer, for Arrow, for data frames and for notebooks."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pandas
import polars
import pyarrow
import pytest
from conftest import Scripted
from syrch_host import Data, Host, _native, errors, query


def rows_of(database: Path, sql: str) -> Data:
    return query("Which?", db=database, model=Scripted(sql), strategy="single").data


def test_arrow_reads_the_rows_without_a_copy(shop: Path) -> None:
    data = rows_of(shop, "SELECT id, name FROM customers ORDER BY id")
    first = pyarrow.table(data)
    second = pyarrow.table(data)
    assert first.num_rows == len(data) == 240
    assert first.schema.field("id").type == pyarrow.int64()
    buffers = [table.column("id").chunk(0).buffers()[1].address for table in (first, second)]
    assert buffers[0] == buffers[1]
    assert pyarrow.schema(data) == first.schema
    frame = polars.DataFrame(data)
    assert frame.shape == (240, 2) and frame["id"][239] == 240


def test_the_rows_outlive_the_answer_and_the_host(shop: Path) -> None:
    with Host(shop, model=Scripted("SELECT name FROM customers"), strategy="single") as host:
        table = pyarrow.table(host.ask("Which?").data)
    del host
    assert table.column("name").to_pylist()[0]


def test_data_frames_are_made_with_and_without_pyarrow(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = rows_of(shop, "SELECT country, COUNT(*) AS n FROM customers GROUP BY country")
    frame = data.to_pandas()
    assert list(frame.columns) == ["country", "n"] and frame["n"].sum() == 240
    monkeypatch.setattr(Data, "to_arrow", _fail)
    pandas.testing.assert_frame_equal(frame, data.to_pandas(), check_dtype=False)


def _fail(data: Data) -> None:
    raise ImportError("no pyarrow")


def test_the_rows_are_a_sequence_of_pythons_values(small: Path) -> None:
    data = rows_of(small, "SELECT name, height, photo, id FROM people ORDER BY id")
    assert len(data) == 3 and data[0] == ("Ann", 1.7, b"\x00\xff", 1)
    assert data[-1][3] == 3 and data[1][1] is None
    assert [row[3] for row in data] == [1, 2, 3]
    assert data.to_dicts()[0]["name"] == "Ann" and not data.truncated
    with pytest.raises(IndexError):
        data[3]


def test_the_rows_are_sliced_compared_copied_and_pickled(shop: Path) -> None:
    sql = "SELECT id, name, NULL AS blank FROM customers ORDER BY id"
    data = rows_of(shop, sql)
    rows = list(data)
    for place in (
        slice(None), slice(2, 5), slice(-3, None), slice(None, None, -1), slice(200, 10, -7),
        slice(5, 2), slice(1, 300, 50), slice(1000, None),
    ):  # fmt: skip
        assert data[place] == rows[place]
    assert data[-240] == rows[0] and list(reversed(data)) == rows[::-1] and rows[3] in data
    for place in (240, -241):
        with pytest.raises(IndexError):
            data[place]
    again = pickle.loads(pickle.dumps(data))
    assert data == again == rows_of(shop, sql) and pyarrow.table(again) == pyarrow.table(data)
    assert copy.copy(data) is data and copy.deepcopy(data) is data
    assert data != rows_of(shop, "SELECT id, name, 1 AS blank FROM customers ORDER BY id")
    assert data != rows_of(shop, "SELECT id AS number, name, NULL AS blank FROM customers")
    assert data != rows_of(shop, sql + " LIMIT 7") and data != rows
    assert repr(data) == "<Data: 240 rows of ['id', 'name', 'blank']>"
    with pytest.raises(ValueError):
        _native.Data.from_bytes(b"nonsense")


def test_an_answer_and_its_error_are_pickled(shop: Path) -> None:
    found = query("How many customers are there?", db=shop)
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.data[0] == (240,) and again.document == found.document
    with pytest.raises(errors.NoAnswer) as caught:
        query("Why?", db=shop, model=Scripted("I do not know."), strategy="single")
    error = pickle.loads(pickle.dumps(caught.value))
    assert (str(error), error.document) == (str(caught.value), caught.value.document)


def test_columns_of_one_name_are_kept(small: Path) -> None:
    data = rows_of(small, "SELECT id AS a, name AS a FROM people ORDER BY id")
    assert data.columns == ["a", "a"] and data[0] == (1, "Ann")
    assert pyarrow.table(data).num_columns == 2


def test_a_notebook_shows_nothing_of_a_cell_as_markup(small: Path) -> None:
    sql = "SELECT name AS \"<i>\" FROM people WHERE name <> '<img src=x>' ORDER BY id"
    found = query("<b>Who?</b>", db=small, model=Scripted(sql), strategy="single")
    shown = found._repr_html_()
    for part in ("<script", "<img", "<i>", "<b>", "\u202e"):
        assert part not in shown
    assert "&lt;script&gt;" in shown and "\\u{202e}" in shown and "confidence" in shown
    assert "&lt;img src=x&gt;" in shown
    assert (
        "NULL"
        in query(
            "Who?", db=small, model=Scripted("SELECT height, id FROM people"), strategy="single"
        )._repr_html_()
    )
    assert "\u202e" not in repr(found)


def test_many_rows_are_shown_in_part(shop: Path) -> None:
    data = rows_of(shop, "SELECT id FROM orders")
    assert "more rows" in data._repr_html_() and data._repr_html_().count("<tr>") == 21
    assert len(list(data)) == len(data) > 1_000
