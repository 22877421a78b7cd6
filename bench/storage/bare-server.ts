/** The measure for uploads: a server that writes each request's body into a file and does nothing else. */
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const [folder = '.', fsync] = process.argv.slice(2)
// Always the same file, as the service is sent the same one: files that pile up would wait to be taken to the disk, and hold up both.
const path = join(folder, 'upload')

const server = createServer(async (request, response) => {
  await pipeline(request, createWriteStream(path))
  if (fsync === 'on') {
    const file = await open(path, 'r+')
    await file.datasync()
    await file.close()
  }
  response.end()
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
process.on('SIGTERM', () => process.exit(0))
