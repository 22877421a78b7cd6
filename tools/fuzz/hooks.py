"""Corrections for rules that the document cannot express, because they depend on the deployment or on other requests; and a count of answers."""

import atexit
import collections
import json
import os
import pathlib

import schemathesis
from hypothesis import strategies as st

# The body of an append is raw bytes.
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")

SITE = int(os.environ["FUZZ_SITE"])
TALLY = pathlib.Path(os.environ["FUZZ_TALLY"])

# Values of the demo data, so that requests find existing objects as often as missing ones.
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


# A member of each type with values to compare, for the filter of the news of a category.
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
# The lengths of a filter and of an address are limited.
filters = st.builds(lambda flat, deep: json.dumps({**flat, **deep}), members, nested).filter(lambda text: len(text) < 1_000)
schemathesis.openapi.format("news-filter", filters)


def name_codes(response):
    """All errors share a schema. The codes of an answer are in its `x-codes`."""
    codes = response.get("x-codes")
    for media_type in response.get("content", {}).values():
        if codes:
            media_type["schema"] = {"allOf": [media_type["schema"], {"properties": {"code": {"enum": codes}}}]}


def adapt_parameter(operation, parameter):
    name, schema = parameter["name"], parameter["schema"]
    of_categories = "Categories" in operation["tags"]
    # Only the sites of the token exist, and the document does not know them.
    if name == "site":
        parameter["schema"] = {"enum": ["current", SITE]}
    # OpenAPI cannot describe filters. All lists share one language, so one list tests it.
    if name == "where":
        parameter["schema"] = {"type": "string", "format": "news-filter"}
    # A cursor comes from the service, and an empty cursor starts a list. A wrong cursor answers 400, like any wrong parameter.
    if name == "cursor" and of_categories:
        parameter["schema"] = {"enum": [""]}
    # An empty parameter counts as absent.
    if name in ("skip", "limit") and of_categories:
        parameter["schema"] = {"anyOf": [schema, {"enum": [""]}]}
    if name in EXISTING:
        parameter["schema"] = {"anyOf": [{"enum": EXISTING[name]}, schema]}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for path, operation in operations(raw_schema):
        if any(parameter["name"] == "items" for parameter in operation["parameters"]):
            # Items must be in the body or in the query, and the body wins. OpenAPI cannot express this.
            drop(operation, "items")
            operation["requestBody"]["required"] = True
        if not path.endswith("/{category}/news"):
            drop(operation, "where")
        if operation["operationId"] == "listChanges":
            # An accepted value delays its answer by up to 20 seconds.
            drop(operation, "wait")
        if operation["operationId"] == "putPath":
            # Without `meta`, any JSON is the content of a file.
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
    # `cursor` and `skip` exclude each other, which OpenAPI cannot express. An intentionally wrong `skip` stays.
    if "cursor" in query and "skip" in query and case.meta.generation.mode.is_positive:
        del query["skip"]
    # The parameters of a folder listing count only with `meta`, which OpenAPI cannot express.
    if case.method == "GET" and "/storage" in case.path and {"limit", "cursor", "recursive"} & query.keys():
        query.pop("status", None)
        query["meta"] = ""
    # The creation of a folder ignores its body, which OpenAPI cannot express.
    if case.method == "PUT" and "type" in query:
        del query["type"]
    return case


@schemathesis.auth()
class Token:
    """The token of the run must stay valid, so a request that revokes the token that it sends has another one."""

    def get(self, case, context):
        return os.environ["FUZZ_TOKEN"]

    def set(self, case, data, context):
        ends_token = case.method == "DELETE" and case.path.endswith("/tokens")
        case.headers["Authorization"] = "0" * 64 if ends_token else data


@schemathesis.hook
def filter_query(context, query):
    # The first value of a repeated parameter counts, which OpenAPI cannot express.
    return not any(isinstance(value, list) and len(value) > 1 for value in (query or {}).values())


@schemathesis.hook
def filter_body(context, body):
    # Members that could reach a prototype are refused, although other unknown members are accepted.
    return "__proto__" not in repr(body) and "'prototype'" not in repr(body)


@schemathesis.hook
def after_call(context, case, response):
    statuses[case.operation.label][response.status_code] += 1
    # Counts the requested examples; other phases follow the schemas and the links.
    if case.meta is not None and case.meta.phase.name.value == "fuzzing":
        examples[case.operation.label] += 1


@atexit.register
def write_tally():
    tally = {
        label: {"examples": examples[label], "statuses": dict(sorted(counts.items()))}
        for label, counts in sorted(statuses.items())
    }
    TALLY.write_text(json.dumps(tally))
