/**
 * Node's `http`. An import by name loads all that the module can give, a client for WebSockets with the whole of undici among it: that takes
 * 40 ms of each start.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
