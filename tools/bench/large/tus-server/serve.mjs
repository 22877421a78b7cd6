import { FileStore } from '@tus/file-store'
import { Server } from '@tus/server'

/** The reference for large uploads on one machine is the server of the tus project with its file store. */
const directory = process.argv[2]
const server = new Server({ path: '/files', datastore: new FileStore({ directory }) })
const listening = server.listen({ host: '127.0.0.1', port: 0 }, () => {
  console.log(JSON.stringify({ baseUrl: `http://127.0.0.1:${listening.address().port}` }))
})
process.on('SIGTERM', () => process.exit(0))
