"""What Databricks' own SDK makes of the mock workspace. Arguments: address, warehouse, token, and id and secret of a client.

It ends with an error where the SDK does not get what the protocol's documentation promises.
"""

import sys
import urllib.error
import urllib.request

import pyarrow
from databricks.sdk import WorkspaceClient
from databricks.sdk.core import Config
from databricks.sdk.errors import DatabricksError, NotFound, Unauthenticated
from databricks.sdk.service.sql import (
    Disposition,
    ExecuteStatementRequestOnWaitTimeout,
    Format,
    StatementState,
)

host, warehouse, token, client_id, client_secret = sys.argv[1:]
NUMBERS = "SELECT i, half FROM numbers ORDER BY i"


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r} instead of {wanted!r}")


def inline(statements):
    reply = statements.execute_statement(NUMBERS, warehouse, catalog="main", schema="shop", wait_timeout="30s")
    expect(reply.status.state, StatementState.SUCCEEDED, "state")
    expect((reply.manifest.total_row_count, reply.manifest.total_chunk_count), (2500, 3), "manifest")
    expect([column.name for column in reply.manifest.schema.columns], ["i", "half"], "columns")
    expect(reply.manifest.schema.columns[0].type_name.value, "LONG", "type")
    rows, chunk = list(reply.result.data_array), reply.result
    while chunk.next_chunk_index is not None:
        chunk = statements.get_statement_result_chunk_n(reply.statement_id, chunk.next_chunk_index)
        rows += chunk.data_array
    expect((len(rows), rows[0], rows[-1]), (2500, ["1", "0.5"], ["2500", "1250.0"]), "rows")
    cut = statements.execute_statement(NUMBERS, warehouse, row_limit=7)
    expect((cut.manifest.truncated, cut.manifest.total_row_count), (True, 7), "limit")


def external(statements):
    reply = statements.execute_statement(
        NUMBERS, warehouse, disposition=Disposition.EXTERNAL_LINKS, format=Format.ARROW_STREAM
    )
    link, count = reply.result.external_links[0], 0
    while True:
        request = urllib.request.Request(link.external_link, headers=link.http_headers or {})
        with urllib.request.urlopen(request) as response:
            count += pyarrow.ipc.open_stream(response.read()).read_all().num_rows
        if link.next_chunk_index is None:
            break
        link = statements.get_statement_result_chunk_n(reply.statement_id, link.next_chunk_index).external_links[0]
    expect(count, 2500, "rows behind links")
    request = urllib.request.Request(link.external_link, headers={"Authorization": "Bearer x"})
    try:
        urllib.request.urlopen(request)
        sys.exit("a link was answered although a token was sent to it")
    except urllib.error.HTTPError as error:
        expect(error.code, 400, "a link with a token")


def states(statements):
    failed = statements.execute_statement("SELECT nmae FROM customers", warehouse)
    expect(failed.status.state, StatementState.FAILED, "state of a wrong statement")
    if "UNRESOLVED_COLUMN" not in failed.status.error.message or failed.status.sql_state != "42703":
        sys.exit(f"error: {failed.status}")
    reply = statements.execute_statement("SELECT 'takes'", warehouse, wait_timeout="0s")
    seen = [reply.status.state]
    while seen[-1] in (StatementState.PENDING, StatementState.RUNNING):
        reply = statements.get_statement(reply.statement_id)
        seen.append(reply.status.state)
    expect((len(seen), seen[-1], reply.result.data_array), (4, StatementState.SUCCEEDED, [["takes"]]), "polling")
    hangs = statements.execute_statement(
        "SELECT 'hangs'", warehouse, wait_timeout="5s", on_wait_timeout=ExecuteStatementRequestOnWaitTimeout.CONTINUE
    )
    expect(hangs.status.state, StatementState.RUNNING, "state of a long statement")
    statements.cancel_execution(hangs.statement_id)
    expect(statements.get_statement(hangs.statement_id).status.state, StatementState.CANCELED, "cancelling")
    for call, kind in [
        (lambda: statements.execute_statement("SELECT 1", "other"), NotFound),
        (lambda: statements.get_statement("none"), NotFound),
        (lambda: statements.execute_statement("SELECT 1", warehouse, wait_timeout="3s"), DatabricksError),
    ]:
        try:
            call()
            sys.exit(f"no {kind.__name__}")
        except kind:
            pass


clients = [
    WorkspaceClient(config=Config(host=host, token=token, auth_type="pat")),
    WorkspaceClient(config=Config(host=host, client_id=client_id, client_secret=client_secret, auth_type="oauth-m2m")),
]
for client in clients:
    for part in (inline, external, states):
        part(client.statement_execution)
try:
    wrong = WorkspaceClient(config=Config(host=host, token="wrong", auth_type="pat"))
    wrong.statement_execution.execute_statement("SELECT 1", warehouse)
    sys.exit("a wrong token was accepted")
except Unauthenticated:
    pass
print("all as expected")
