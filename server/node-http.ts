/** Importing `node:http` by name also loads WebSocket and undici, 40 ms of every start. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
