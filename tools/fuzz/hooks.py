"""What the document cannot say, because it depends on the deployment or on what other requests found; and a count of the answers."""

import atexit
import collections
import json
import os
import pathlib

import schemathesis
from hypothesis import strategies as st

# The bytes of an append are bytes.
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")

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


# A member of each type, with what it may be compared with, for the filter of the news of a category.
COMPARABLE = {
    "objectId": st.integers(-(10**9), 10**9),
    "displayable": st.sampled_from([0, 1]),
    "news.subject": st.text(max_size=20),
    "news.enabled": st.booleans(),
    "releaseDate": st.dates().map(str),
}


def condition(operand):
    operand = operand | st.none()
    one_by_one = dict.fromkeys(["$eq", "$ne", "$neq", "$lt", "$lte", "$gt", "$gte"], operand)
    of_lists = dict.fromkeys(["$in", "$nin"], st.lists(operand, max_size=3))
    of_texts = dict.fromkeys(["$beginsWith", "$contains"], st.text(max_size=20))
    operators = st.fixed_dictionaries({}, optional={**one_by_one, **of_lists, **of_texts}).filter(bool)
    return operand | operators


members = st.fixed_dictionaries({}, optional={name: condition(operand) for name, operand in COMPARABLE.items()})
branches = st.lists(members, min_size=1, max_size=2)
nested = st.fixed_dictionaries({}, optional={"$and": branches, "$or": branches})
# A filter is bounded in its characters, and the address that it stands in.
filters = st.builds(lambda flat, deep: json.dumps({**flat, **deep}), members, nested).filter(lambda text: len(text) < 1_000)
schemathesis.openapi.format("news-filter", filters)


def name_codes(response):
    """All errors share a schema; which codes an answer has, stands beside it."""
    codes = response.get("x-codes")
    for media_type in response.get("content", {}).values():
        if codes:
            media_type["schema"] = {"allOf": [media_type["schema"], {"properties": {"code": {"enum": codes}}}]}


def adapt_parameter(operation, parameter):
    name, schema = parameter["name"], parameter["schema"]
    of_categories = "Categories" in operation["tags"]
    # Only the sites of the token can be had: which these are, the document does not know.
    if name == "site":
        parameter["schema"] = {"enum": ["current", SITE]}
    # Which texts are filters, OpenAPI has no words for. One language for all lists: it is tried on one.
    if name == "where":
        parameter["schema"] = {"type": "string", "format": "news-filter"}
    # The cursor of a list is what the service gave out before; the empty one starts. A wrong one is 400, like a wrong switch.
    if name == "cursor" and of_categories:
        parameter["schema"] = {"enum": [""]}
    # An empty switch counts as absent.
    if name in ("skip", "limit") and of_categories:
        parameter["schema"] = {"anyOf": [schema, {"enum": [""]}]}
    if name in EXISTING:
        parameter["schema"] = {"anyOf": [{"enum": EXISTING[name]}, schema]}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for path, operation in operations(raw_schema):
        if any(parameter["name"] == "items" for parameter in operation["parameters"]):
            # Items stand in the body or in the query: one of them must, and a body wins, for which OpenAPI has no words.
            drop(operation, "items")
            operation["requestBody"]["required"] = True
        if not path.endswith("/{category}/news"):
            drop(operation, "where")
        if operation["operationId"] == "putPath":
            # Without `meta` JSON is the content of a file, whatever it holds.
            json_body = operation["requestBody"]["content"]["application/json"]
            json_body["schema"] = {"anyOf": [json_body["schema"], {}]}
        for parameter in operation["parameters"]:
            adapt_parameter(operation, parameter)
        for response in operation["responses"].values():
            name_codes(response)
    for response in raw_schema["components"]["responses"].values():
        name_codes(response)


@schemathesis.hook
def map_case(context, case):
    query = case.query or {}
    # `cursor` and `skip` exclude each other, which OpenAPI has no words for. A `skip` that is wrong on purpose stays.
    if "cursor" in query and "skip" in query and case.meta.generation.mode.is_positive:
        del query["skip"]
    # Beside `meta` alone the switches of a folder's listing are looked at, which OpenAPI has no words for.
    if case.method == "GET" and "/storage" in case.path and ("limit" in query or "cursor" in query):
        query.pop("status", None)
        query["meta"] = ""
    # What creates a folder passes its body over, which OpenAPI has no words for.
    if case.method == "PUT" and "type" in query:
        del query["type"]
    return case


@schemathesis.hook
def filter_query(context, query):
    # Of a parameter that is given twice the first value counts, which OpenAPI has no words for.
    return not any(isinstance(value, list) and len(value) > 1 for value in (query or {}).values())


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
