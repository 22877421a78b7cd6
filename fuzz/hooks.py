"""What the document cannot say, because it depends on the deployment or on what other requests found; and a count of the answers."""

import atexit
import collections
import json
import os
import pathlib

import schemathesis

SITE = int(os.environ["FUZZ_SITE"])
STATUSES = pathlib.Path(os.environ["FUZZ_STATUSES"])

# What the demo data holds, so that requests meet something as often as nothing.
EXISTING = {
    "webForm": [1, 2],
    "field": [-2, -3, -7, -20, -400],
    "category": [1, 2, 3],
    "object": [1, 2, 3, 8],
    "path": ["notes", "notes/a.txt", "a.txt", "page.html", "Templates/a.html"],
}

statuses = collections.defaultdict(collections.Counter)


def operations(raw_schema):
    for path, methods in raw_schema["paths"].items():
        for operation in methods.values():
            yield path, operation


def drop(operation, *names):
    kept = [parameter for parameter in operation.get("parameters", []) if parameter["name"] not in names]
    operation["parameters"] = kept


def one_member_per_condition(schema):
    """A filter over every member multiplies into thousands of cases that differ in names alone."""
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
        # `cursor` and `skip` exclude each other, which OpenAPI has no words for: the lists of one path have one of them.
        drop(operation, "skip" if path.endswith("/sites/{site}/categories") else "cursor")
        # Items stand in the body or in the query: one of them must.
        drop(operation, "items")
        # One language for all lists: it is tried on one of them, where it has members of every type.
        if not path.endswith("/news"):
            drop(operation, "where")
        for parameter in operation["parameters"]:
            # Only the sites of the token can be had: which these are, the document does not know.
            if parameter["name"] == "site":
                parameter["schema"] = {"enum": ["current", SITE]}
            # A cursor is what the service gave out before; the empty one starts.
            if parameter["name"] == "cursor":
                parameter["schema"] = {"enum": [""]}
            if parameter["name"] in EXISTING:
                parameter["schema"] = {"anyOf": [{"enum": EXISTING[parameter["name"]]}, parameter["schema"]]}
    schemas = raw_schema["components"]["schemas"]
    # Hundreds of items with any members that one likes are larger than a body may be.
    for links in (schemas["NewLinks"]["properties"]["items"], schemas["UnlinkedItems"]["anyOf"][0]):
        links["maxItems"] = 20
    for name, schema in schemas.items():
        if name.endswith("Where"):
            one_member_per_condition(schema)


@schemathesis.hook
def filter_query(context, query):
    # A filter is bounded in its characters, which the schema of a JSON text cannot say.
    return not query or "where" not in query or len(json.dumps(query["where"], default=str)) < 3_000


@schemathesis.hook
def filter_body(context, body):
    # Members that could reach a prototype are refused on purpose, though other unknown members are let pass.
    return "__proto__" not in repr(body) and "'prototype'" not in repr(body)


@schemathesis.hook
def after_call(context, case, response):
    statuses[case.operation.label][response.status_code] += 1


@atexit.register
def write_statuses():
    STATUSES.write_text(json.dumps({label: dict(sorted(counts.items())) for label, counts in sorted(statuses.items())}))
