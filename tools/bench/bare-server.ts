/**
 * A minimal server for comparisons. Without an argument it answers a constant, for rates. With a folder it stores each
 * body in a file, for uploads. With a second argument `on` it flushes each file to the disk.
 */
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const body = Buffer.from('{"status":"ok"}')
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length }

const answerConstant: RequestListener = (_request, response) => {
  response.writeHead(200, headers).end(body)
}

const keepBody = (folder: string, fsync: string | undefined): RequestListener => {
  // Always the same file, as in the measurement of the service. Many files would fill the write cache and slow down
  // both servers.
  const path = join(folder, 'upload')
  return async (request, response) => {
    await pipeline(request, createWriteStream(path))
    if (fsync === 'on') {
      const file = await open(path, 'r+')
      await file.datasync()
      await file.close()
    }
    response.end()
  }
}

const [folder, fsync] = process.argv.slice(2)
const server = createServer(folder === undefined ? answerConstant : keepBody(folder, fsync))
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
process.on('SIGTERM', () => process.exit(0))
