/** The measure for rates: a server that answers a constant and does nothing else. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const body = Buffer.from('{"status":"ok"}')
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length }

const server = createServer((_request, response) => response.writeHead(200, headers).end(body))
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
process.on('SIGTERM', () => process.exit(0))
