"""Uploads a file with tuspy, or continues an earlier upload from the file `memory`."""

import os
import signal
import sys

from tusclient.client import TusClient
from tusclient.storage.filestorage import FileStorage

endpoint, token, path, memory, die = sys.argv[1:]

client = TusClient(endpoint, headers={"Authorization": token})
uploader = client.uploader(
    path,
    chunk_size=4 * 1024 * 1024,
    metadata={"filename": os.path.basename(path)},
    store_url=True,
    url_storage=FileStorage(memory),
    retries=10,
    retry_delay=1,
)
print(f"Goes on at {uploader.offset}")
while uploader.offset < uploader.get_file_size():
    uploader.upload_chunk()
    if int(die) and uploader.offset >= int(die):
        os.kill(os.getpid(), signal.SIGKILL)
