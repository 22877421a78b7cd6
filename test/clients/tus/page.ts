import Uppy from '@uppy/core'
import UppyTus from '@uppy/tus'
import type { Order } from './order.ts'

type ReportOffset = (offset: number) => void

/**
 * Uploads to the end with Uppy, whose uploads tus-js-client sends. `progress` receives the number of sent bytes, and
 * `resumed` the offset of an earlier upload.
 */
const upload = async ({ endpoint, token, name }: Order, progress: ReportOffset, resumed: ReportOffset) => {
  const uppy = new Uppy().use(UppyTus, {
    endpoint,
    headers: { Authorization: token },
    retryDelays: Array.from({ length: 60 }, () => 500),
    removeFingerprintOnSuccess: true,
    onAfterResponse(request, response) {
      if (request.getMethod() === 'HEAD') resumed(Number(response.getHeader('Upload-Offset')))
    },
  })
  uppy.on('upload-progress', (_, { bytesUploaded }) => progress(bytesUploaded || 0))
  const bytes = await (await fetch('/content')).blob()
  const data = new File([bytes], name, { type: 'application/octet-stream', lastModified: 1 })
  uppy.addFile({ name, type: data.type, data, meta: { filename: name } })
  const { failed = [] } = (await uppy.upload()) ?? {}
  if (failed.length > 0) throw new Error(failed.map(({ error }) => error).join())
}

Object.assign(window, { upload })
