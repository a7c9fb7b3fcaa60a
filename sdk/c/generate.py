"""Makes one set of bindings of what wit-bindgen writes: python3 generate.py HEADER SOURCE FOLDER.

wit-bindgen gives each interface lists and options of its own, and functions that free values. Here equal types become one, types lose the
name of their interface, what frees goes (the memory of a call is an arena), and each role's exports stand under a macro of their own.
"""

import re
import sys
from pathlib import Path

PORTS = "run wait llm inspect sql rows cells evaluate search trace".split()
ROLES = "linker planner solver calibrator reward clarifier aggregator rewriter".split()
# Short names for what has none in the contract. A document is a text, so that a text and a document are a pair of texts.
SHORT = {
    "tuple2_string_json": "pair",
    "tuple2_string_string": "pair",
    "tuple2_f64_signals": "claim",
    "tuple2_string_bool": "named_check",
    "tuple2_string_f64": "named_number",
    "tuple2_value_u64": "counted_value",
    "result_own_result_set_sql_error": "run_result",
    "result_reply_llm_error": "reply_result",
    "result_list_verdict_port_error": "verdicts_result",
    "result_list_hit_port_error": "hits_result",
}
NOTE = "// Written by generate.sh from wit/; change it there.\n"


def without_functions(text):
    """Leaves out what frees or copies values, and the canonical ABI's own functions, which arena.c has."""
    text = re.sub(r"__attribute__\(\(__weak__, __export_name__\(\"[^\n]*\n[^\n]*\{\n.*?^\}\n\n?", "", text, flags=re.S | re.M)
    text = re.sub(r"^(?:void|extern void) \w+_(?:free|string_set|string_dup|string_dup_n|drop_borrow)\([^\n]*\{\n.*?^\}\n\n?", "", text, flags=re.S | re.M)
    text = re.sub(r"^// Ensure that the \*_component_type.*\Z", "", text, flags=re.S | re.M)
    return text


def without_prototypes(text):
    names = r"\w+_(?:free|string_set|string_dup|string_dup_n|drop_borrow)"
    return re.sub(rf"^(?:// [^\n]*\n)*(?:extern )?void {names}\([^\n]*;\n\n?", "", text, flags=re.M)


def plain_names(text):
    """Types and constants without the name of the interface that they come from."""
    found = set(re.findall(r"\b((?:exports_)?syrch_\w+_t)\b", text)) | set(re.findall(r"\b((?:EXPORTS_)?SYRCH_\w+)\b", text))
    renames = {}
    for name in found:
        low = name.lower()
        for prefix in [f"exports_syrch_{role}_" for role in [*ROLES, "about"]] + [f"syrch_{port}_" for port in PORTS]:
            # `sql_error` is a type that all share, not one of the port `sql`.
            if low.startswith(prefix) and not low.startswith("syrch_sql_error"):
                plain = "syrch_" + low[len(prefix):]
                renames[name] = plain.upper() if name.isupper() else plain
                break
    return renames


def renamed(text, renames):
    return re.sub(r"\b\w+\b", lambda word: renames.get(word[0], word[0]), text)


DEFINITION = re.compile(
    r"(?P<doc>(?:^// [^\n]*\n)*)^typedef (?:(?P<old>\w+) (?P<alias>\w+);|struct (?P<tag>\w+ )?\{\n(?P<body>.*?)^\} (?P<name>\w+);)\n\n?", re.S | re.M
)


def merged(header, source):
    """Aliases stand for what they mean, and of equal definitions the first one stays."""
    while True:
        known, again, kept = {}, {}, set()

        def once(match, known=known, again=again, kept=kept):
            if match["alias"]:
                if match["old"].endswith("_t") and not match["old"].startswith("uint"):
                    if match["old"] != match["alias"]:
                        again[match["alias"]] = match["old"]
                    return ""
                return match[0] if not seen(("alias", match["old"], match["alias"]), match["alias"], known, kept) else ""
            body = re.sub(r"\s+", " ", match["body"])
            # A record is equal to no other; a list, an option or a result is equal to one of the same parts.
            key = ("record", match["name"], body) if match["tag"] else ("shape", body)
            if key in known:
                if known[key] != match["name"]:
                    again[match["name"]] = known[key]
                return ""
            if match["name"] in kept:
                raise SystemExit(f"two types have the name {match['name']}")
            known[key] = match["name"]
            kept.add(match["name"])
            return match[0]

        def seen(key, name, known, kept):
            is_known = key in known
            known[key] = name
            kept.add(name)
            return is_known

        header = DEFINITION.sub(once, header)
        if not again:
            return header, source
        header, source = renamed(header, again), renamed(source, again)


def guarded(source):
    """The exports of each role under `#ifdef SYRCH_ROLE_…`."""
    for role in ROLES:
        export = rf"^__attribute__\(\(__export_name__\(\"syrch:plugin/{role}@[^\n]*\n[^\n]*\{{\n.*?^\}}\n"
        macro = f"SYRCH_ROLE_{role.upper()}"
        source, count = re.subn(export, lambda match: f"#ifdef {macro}\n{match[0]}#endif\n", source, flags=re.S | re.M)
        assert count > 0, role
    return source


def tidy(header):
    header = re.sub(r"^(  (?:  )?\w+) {2,}(\*?)", r"\1 \2", header, flags=re.M)
    header = re.sub(r"^    (\w+) {2,}", r"    \1 ", header, flags=re.M)
    # A constant that stands in two interfaces stands once.
    lines, constants = [], set()
    for line in header.replace("uint8_t*ptr", "uint8_t *ptr").splitlines():
        if line.startswith("#define SYRCH_"):
            if line in constants:
                continue
            constants.add(line)
        lines.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def main(header_file, source_file, folder):
    header, source = Path(header_file).read_text(), Path(source_file).read_text()
    header, source = without_prototypes(header), without_functions(source)
    header = re.sub(r"^// Helper Functions\n\n?", "", header, flags=re.M)
    names = plain_names(header)
    header, source = merged(renamed(header, names), renamed(source, names))
    for long, short in SHORT.items():
        header, source = header.replace(long, short), source.replace(long, short)
    first, rest = header.split("\n", 1)
    header = tidy(f"{first}\n{NOTE}{rest}".replace("__BINDINGS_SYRCH_H", "SYRCH_BINDINGS_H"))
    first, rest = guarded(source).split("\n", 1)
    rest = rest.replace('#include "syrch.h"\n', '#ifdef __wasm__\n#include "bindings.h"\n')
    folder = Path(folder)
    (folder / "bindings.h").write_text(header)
    (folder / "bindings.c").write_text(re.sub(r"\n{3,}", "\n\n", f"{first}\n{NOTE}{rest}\n#endif\n"))


main(*sys.argv[1:])
