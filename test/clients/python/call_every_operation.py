"""Calls every operation of a running service with the client that openapi-python-client generated from its document.

Arguments: the document, the address of the service, a token of its demo site, the id of that site. Ends with status 1 at the first
answer whose status or type is another, or that could not be parsed, and when an operation of the document has not been called.
"""

import importlib
import io
import json
import pathlib
import pkgutil
import sys

from site_admin_client import AuthenticatedClient, api, models
from site_admin_client.models.field_type_number import FieldTypeNumber
from site_admin_client.models.force import Force
from site_admin_client.models.get_reference_asset_asset import GetReferenceAssetAsset
from site_admin_client.types import File

DOCUMENT, BASE_URL, TOKEN, SITE = sys.argv[1:]
client = AuthenticatedClient(base_url=BASE_URL, token=TOKEN, prefix="", auth_header_name="Authorization")

modules = {
    name.rpartition(".")[2].replace("_", ""): name
    for _, name, is_package in pkgutil.walk_packages(api.__path__, f"{api.__name__}.")
    if not is_package
}
called = set()


def call(operation, status, kind, /, *path, **given):
    """Calls an operation by its id. The parsed answer has the given kind, or is None without a body."""
    called.add(operation)
    module = importlib.import_module(modules[operation.lower()])
    response = module.sync_detailed(*path, client=client, **given)
    assert response.status_code == status, f"{operation}: {response.status_code}, not {status}: {response.content[:500]}"
    expected = type(None) if kind is None else kind
    assert isinstance(response.parsed, expected), f"{operation}: {response.parsed!r} is no {expected.__name__}"
    return response.parsed


def one_file(content, name):
    return File(payload=io.BytesIO(content), file_name=name, mime_type="text/plain")


# Information about the service.
assert call("getHealth", 200, models.Health).status == "ok"
assert [link.rel for link in call("getRoot", 200, models.Root).links] == ["console", "docs", "openapi"]
assert call("getOpenApi", 200, models.OpenApi).openapi.startswith("3.1")
assert "<!doctype html>" in call("getReference", 200, str)
assert len(call("getReferenceAsset", 200, str, GetReferenceAssetAsset.SWAGGER_UI_CSS)) > 100_000
assert "<!doctype html>" in call("getConsole", 200, str)
assert b"preact" in call("getConsoleAsset", 200, File, "licenses.txt").payload.read()

# Web forms and their fields.
assert call("listSites", 200, models.SitePage).items[0].id == int(SITE)
assert call("listFieldTypes", 200, models.FieldTypePage, "current").total_items_count > 30
form = call("listWebForms", 200, models.WebFormPage, "current").items[0].id
assert call("getWebForm", 200, models.WebForm, "current", form).id == form
before = call("listFields", 200, models.FieldPage, "current", form)
day_of_birth = models.FieldCreation(type_=models.FieldCreationType(id=FieldTypeNumber(-7)), mandatory=True)
created = call("createField", 201, models.CreatedField, "current", form, body=day_of_birth)
call("updateField", 200, None, int(SITE), form, created.id, body=models.FieldChange(mandatory=False))
field = call("getField", 200, models.Field, "current", form, created.id)
assert (field.type_.name, field.mandatory, field.order) == ("CustomerDOB", False, before.total_items_count + 1)
call("deleteField", 200, None, "current", form, created.id)
gone = call("getField", 404, models.Error, "current", form, created.id)
assert gone.code == 115002 and gone.request_id

# Categories and their objects.
assert call("listSiteUrls", 200, models.SiteUrlPage, "current").items[0].url == BASE_URL
assert call("listCategories", 200, models.CategoryPage, "current", where="{name: {$beginsWith: 'comp'}}").items[0].name == "Company"
assert call("getCategory", 200, models.Category, "current", 1).id == 1
assert call("listNews", 200, models.NewsItemPage, "current", limit=2).items[0].subject
assert call("listBlogs", 200, models.BlogPage, "current", limit=2).items[0].blog_name
assert "where" in call("listNews", 400, models.Error, "current", where="{colour: 1}").message
for kind, page in [("News", models.NewsAssociationPage), ("Blogs", models.BlogAssociationPage)]:
    list_all = lambda: call(f"list{kind}OfCategory", 200, page, "current", 1, where="{objectId: {$in: [1, 2]}}")
    call(f"link{kind}", 201, None, "current", 1, body=models.ItemLinks(items=[models.LinkedItem(object_id=1), models.LinkedItem(object_id=2)]))
    assert [item.object_id for item in list_all().items] == [1, 2]
    call(f"unlink{kind}", 204, None, "current", 1, body=models.ItemUnlinks(items=[models.UnlinkedItem(object_id=1)]))
    call(f"unlink{kind}", 204, None, "current", 1, items="[2]")
    assert list_all().total_items_count == 0
for kind in ["News", "Blog"]:
    links = models.CategoryLinks(items=[models.LinkedCategory(category_id=1), models.LinkedCategory(category_id=2)])
    call(f"linkCategoriesOf{kind}", 201, None, "current", 1, body=links)
    assert {1, 2} <= {item.id for item in call(f"listCategoriesOf{kind}", 200, models.CategoryPage, "current", 1).items}
    call(f"unlinkCategoriesOf{kind}", 204, None, "current", 1, body=models.CategoryUnlinks(items=[models.UnlinkedCategory(category_id=1)]))
    call(f"unlinkCategoriesOf{kind}", 204, None, "current", 1, items="[2]")

# Files with every byte value, in each kind of upload and download.
content = bytes(range(256)) * 4
upload = models.Files(file=[one_file(content, "a.bin"), one_file(b'{"json": true}', "b.json")])
call("uploadToFolder", 200, models.Stored, "current", "clients/below", body=upload)
call("uploadToFolder", 400, models.Error, "current", "clients/below", body=models.Files(file=[]))
call("uploadToRoot", 200, models.Stored, "current", body=models.Files(file=[one_file(content, "at-the-root.bin")]))
call("putRoot", 200, models.Stored, "current", body=models.Files(file=[one_file(content, "by-put.bin")]))
call("putPath", 200, models.Stored, "current", "clients/raw.bin", body=File(payload=io.BytesIO(content)))
call("putPath", 200, models.Stored, "current", "clients/raw.bin", meta="", body=models.RenamePath(name="renamed.bin"))
call("putPath", 200, models.Stored, "current", "clients/renamed.bin", meta="", body=models.CopyPath(copy_to="/clients/copies/one.bin"))
call("putPath", 200, models.Stored, "current", "clients/copies/one.bin", meta="", body=models.MovePath(path="clients/below/moved.bin"))
call("putPath", 200, models.Stored, "current", "clients/empty", type_="folder")
for path in ["clients/below/a.bin", "clients/below/moved.bin", "at-the-root.bin", "by-put.bin", "clients/renamed.bin"]:
    assert call("readPath", 200, File, "current", path).payload.read() == content
assert call("readPath", 200, File, "current", "clients/below/b.json").payload.read() == b'{"json": true}'
assert call("readPath", 206, File, "current", "at-the-root.bin", range_="bytes=1-3").payload.read() == content[1:4]
call("readPath", 404, models.Error, "current", "clients/raw.bin")
# The generator knows only the first of several types of an answer, so this document arrives as bytes too.
described = call("readPath", 200, File, "current", "clients", meta="")
assert [entry.name for entry in models.Entry.from_dict(json.load(described.payload)).contents] == ["below", "copies", "empty", "renamed.bin"]
assert call("readRoot", 200, models.Progress, "current", status="").percent == 100
# The request that creates a resumable upload has no body, so it is sent by hand.
in_tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "11", "Upload-Metadata": "filename bGFyZ2UudHh0"}
begun = client.get_httpx_client().post("/api/v2/admin/sites/current/storage/clients", headers=in_tus)
upload_id = begun.headers["Location"].rpartition("/")[2]
piece = File(payload=io.BytesIO(b"Hello "))
call("appendToUpload", 204, None, "current", upload_id, body=piece, tus_resumable="1.0.0", upload_offset="0")
call("describeUpload", 200, None, "current", upload_id, tus_resumable="1.0.0")
call("readUpload", 200, models.UploadState, "current", upload_id)
call("cancelUpload", 204, None, "current", upload_id, tus_resumable="1.0.0")
assert {"clients", "by-put.bin"} <= {entry.name for entry in call("readRoot", 200, models.Entry, "current", meta="").contents}
call("deletePath", 403, models.Error, "current", "clients", force=Force.FALSE)
call("deletePath", 200, None, "current", "clients")
call("deleteRoot", 400, models.Error, "current")
changes = call("listChanges", 200, models.ChangePage, "current", after="", limit=2)
assert len(changes.items) == 2 and changes.next_ == changes.items[-1].id

# People. The demo token belongs to no person, and has no right to people.
credentials = models.SignIn(username="nobody", password="wrong")
for operation in ["signIn", "signInV1"]:
    assert call(operation, 401, models.Error, body=credentials).code == 101001
call("listIssuers", 200, models.SignInIssuers)
call("beginExternalSignIn", 404, models.Error, "nobody", challenge="c" * 43)
call("finishExternalSignIn", 404, models.Error, "nobody")
unknown = models.Acceptance(invitation="nobody", password="correct horse battery")
assert call("acceptInvitation", 404, models.Error, body=unknown).code == 101003
assert call("getMe", 200, models.Me).kind == "token"
call("changePassword", 401, models.Error, body=models.PasswordChange(password="new one", old_password="old one"))
call("createSiteToken", 401, models.Error, "current")
call("listUsers", 403, models.Error, "current")
call("addUser", 403, models.Error, "current", body=models.UserCreation(name="bob", rights=[]))
call("getUser", 403, models.Error, "current", "bob")
call("changeUser", 403, models.Error, "current", "bob", body=models.UserChange(rights=[]))
call("removeUser", 403, models.Error, "current", "bob")
call("listKeys", 403, models.Error, "current")
call("createKey", 403, models.Error, "current", body=models.KeyCreation(name="Backup", rights=["files:read"]))
call("deleteKey", 403, models.Error, "current", "0" * 64)
# Webhooks. The demo token has no right to them.
call("listWebhooks", 403, models.Error, "current")
call("createWebhook", 403, models.Error, "current", body=models.WebhookCreation(target_url="https://example.com/hooks"))
call("changeWebhook", 403, models.Error, "current", "whk_1", body=models.WebhookChange(rotate=True))
for operation in ["getWebhook", "testWebhook", "listDeliveries", "removeWebhook"]:
    call(operation, 403, models.Error, "current", "whk_1")
call("repeatDelivery", 403, models.Error, "current", "whk_1", "dlv_1")

# The first sign-out revokes the token.
call("signOutOfSite", 200, None, "current")
call("signOutV1", 401, models.Error)
call("signOut", 401, models.Error)

paths = json.loads(pathlib.Path(DOCUMENT).read_text())["paths"]
operations = {operation["operationId"] for methods in paths.values() for operation in methods.values()}
assert called == operations, f"Not called: {sorted(operations - called)}; not in the document: {sorted(called - operations)}"
print(f"{len(called)} operations called with the Python client.")
