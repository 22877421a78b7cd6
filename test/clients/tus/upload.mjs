import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { FileUrlStorage, Upload } from 'tus-js-client'

/**
 * Uploads a file with tus-js-client in Node, or continues an earlier upload that the file `memory` records. After a
 * number of bytes, `die` ends this process, and `kill` ends another process.
 */
const { values } = parseArgs({
  options: {
    endpoint: { type: 'string', default: '' },
    token: { type: 'string', default: '' },
    file: { type: 'string', default: '' },
    memory: { type: 'string', default: '' },
    chunk: { type: 'string' },
    die: { type: 'string' },
    kill: { type: 'string' },
    at: { type: 'string', default: 'Infinity' },
  },
})

let victim = values.die !== undefined ? process.pid : values.kill !== undefined ? Number(values.kill) : undefined
const at = Number(values.die ?? values.at)

const upload = new Upload(createReadStream(values.file), {
  endpoint: values.endpoint,
  headers: { Authorization: values.token },
  metadata: { filename: basename(values.file), filetype: 'application/octet-stream' },
  urlStorage: new FileUrlStorage(values.memory),
  removeFingerprintOnSuccess: true,
  ...(values.chunk !== undefined && { chunkSize: Number(values.chunk) }),
  retryDelays: Array.from({ length: 60 }, () => 500),
  onProgress(sent) {
    if (victim === undefined || sent < at) return
    process.kill(victim, 'SIGKILL')
    victim = undefined
  },
  onAfterResponse(request, response) {
    if (request.getMethod() === 'HEAD') console.log(`Goes on at ${response.getHeader('Upload-Offset')}`)
  },
  onError(error) {
    console.error(error)
    process.exitCode = 1
  },
})

const [earlier] = await upload.findPreviousUploads()
if (earlier) upload.resumeFromPreviousUpload(earlier)
upload.start()
