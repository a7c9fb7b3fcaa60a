"""Checks an SBOM against the schema of CycloneDX and the lock file: check_sbom.py FILE LOCK."""

import json
import re
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1]) as file:
    text = file.read()
bill = json.loads(text)
mistake = JsonStrictValidator(SchemaVersion.from_version(bill["specVersion"])).validate_str(text)
assert mistake is None, mistake
assert bill["metadata"]["component"]["name"] == "syrch-host", bill["metadata"]["component"]
with open(sys.argv[2]) as file:
    locked = set(re.findall(r'^name = "(.+)"\nversion = "(.+)"$', file.read(), re.MULTILINE))
found = {(part["name"], part["version"]) for part in bill["components"]}
assert found <= locked, f"not in the lock file: {sorted(found - locked)}"
names = {name for name, _ in found}
missing = {"wasmtime", "rusqlite", "tokio", "syrch-core"} - names
assert not missing and len(found) > 200, f"{len(found)} parts, without {missing}"
unlicensed = [part["name"] for part in bill["components"] if not part.get("licenses")]
assert not unlicensed, f"no licence is known of {unlicensed}"
assert "file://" not in text, "the SBOM names folders of the machine that made it"
