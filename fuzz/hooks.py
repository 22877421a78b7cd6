"""What the document cannot say, because it depends on the deployment or on what other requests found; and a count of the answers."""

import atexit
import collections
import json
import os
import pathlib

import schemathesis

SITE = int(os.environ["FUZZ_SITE"])
TALLY = pathlib.Path(os.environ["FUZZ_TALLY"])

# What the demo data holds, beside whatever else is tried, so that requests meet something as often as nothing.
EXISTING = {
    "webForm": [1, 2],
    "field": [-2, -3, -7, -20, -400],
    "category": [1, 2, 3],
    "object": [1, 2, 3, 8],
    "path": ["notes", "notes/a.txt", "a.txt", "page.html", "Templates/a.html"],
}

statuses = collections.defaultdict(collections.Counter)
examples = collections.Counter()


def operations(raw_schema):
    for path, methods in raw_schema["paths"].items():
        for operation in methods.values():
            yield path, operation


def drop(operation, name):
    operation["parameters"] = [parameter for parameter in operation["parameters"] if parameter["name"] != name]


def one_member_per_condition(schema):
    """A filter over every member multiplies into 22,000 cases for each list that differ in names alone, and take eight minutes."""
    members = {}
    for name, member in schema["properties"].items():
        if "$ref" in member:
            members[member["$ref"]] = (name, member)
    plain = dict(members.values())
    flat = {"type": "object", "properties": plain, "additionalProperties": False}
    branches = {"type": "array", "minItems": 1, "items": flat}
    schema["properties"] = {**plain, "$and": branches, "$or": branches}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for path, operation in operations(raw_schema):
        # Items stand in the body or in the query: one of them must, and a body wins, for which OpenAPI has no words.
        drop(operation, "items")
        # One language for all lists, whose conditions make thousands of cases: it is tried on one, with members of every type.
        if not path.endswith("/{category}/news"):
            drop(operation, "where")
        for parameter in operation["parameters"]:
            # Only the sites of the token can be had: which these are, the document does not know.
            if parameter["name"] == "site":
                parameter["schema"] = {"enum": ["current", SITE]}
            # The cursor of a list is what the service gave out before; the empty one starts. A wrong one is 400, like a wrong switch.
            if parameter["name"] == "cursor" and "Categories" in operation["tags"]:
                parameter["schema"] = {"enum": [""]}
            if parameter["name"] in EXISTING:
                parameter["schema"] = {"anyOf": [{"enum": EXISTING[parameter["name"]]}, parameter["schema"]]}
    for name, schema in raw_schema["components"]["schemas"].items():
        if name.endswith("Where"):
            one_member_per_condition(schema)


@schemathesis.hook
def map_case(context, case):
    query = case.query or {}
    # `cursor` and `skip` exclude each other, which OpenAPI has no words for.
    if "cursor" in query and "skip" in query:
        del query["skip"]
    # Beside `meta` alone the switches of a folder's listing are looked at, which OpenAPI has no words for.
    if case.method == "GET" and "/storage" in case.path and ("limit" in query or "cursor" in query):
        query.pop("status", None)
        query["meta"] = ""
    return case


@schemathesis.hook
def filter_query(context, query):
    # A filter is bounded in its characters, and the address that it stands in, which the schema of a JSON text cannot say.
    return not query or "where" not in query or len(json.dumps(query["where"], default=str)) < 3_000


@schemathesis.hook
def filter_body(context, body):
    # Members that could reach a prototype are refused on purpose, though other unknown members are let pass.
    return "__proto__" not in repr(body) and "'prototype'" not in repr(body)


@schemathesis.hook
def after_call(context, case, response):
    statuses[case.operation.label][response.status_code] += 1
    # The examples that were asked for; other phases send what the schemas and the links call for.
    if case.meta is not None and case.meta.phase.name.value == "fuzzing":
        examples[case.operation.label] += 1


@atexit.register
def write_tally():
    tally = {
        label: {"examples": examples[label], "statuses": dict(sorted(counts.items()))}
        for label, counts in sorted(statuses.items())
    }
    TALLY.write_text(json.dumps(tally))
