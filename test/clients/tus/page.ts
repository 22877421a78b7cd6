import Uppy from '@uppy/core'
import UppyTus from '@uppy/tus'
import { Upload } from 'tus-js-client'
import type { Order } from './order.ts'

type ReportOffset = (offset: number) => void

const chosen = async (name: string): Promise<File> => {
  const bytes = await (await fetch('/content')).blob()
  return new File([bytes], name, { type: 'application/octet-stream', lastModified: 1 })
}

const options = ({ endpoint, token }: Order) => ({
  endpoint,
  headers: { Authorization: token },
  retryDelays: Array.from({ length: 60 }, () => 500),
  removeFingerprintOnSuccess: true,
})

const continues =
  (reported: ReportOffset): NonNullable<Upload['options']['onAfterResponse']> =>
  (request, response) => {
    if (request.getMethod() === 'HEAD') reported(Number(response.getHeader('Upload-Offset')))
  }

const withTusJsClient = async (order: Order, progress: ReportOffset, resumed: ReportOffset): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const upload = new Upload(await chosen(order.name), {
    ...options(order),
    metadata: { filename: order.name },
    onProgress: progress,
    onAfterResponse: continues(resumed),
    onSuccess: () => resolve(),
    onError: reject,
  })
  const [earlier] = await upload.findPreviousUploads()
  if (earlier) upload.resumeFromPreviousUpload(earlier)
  upload.start()
  return promise
}

const withUppy = async (order: Order, progress: ReportOffset, resumed: ReportOffset): Promise<void> => {
  const uppy = new Uppy().use(UppyTus, { ...options(order), onAfterResponse: continues(resumed) })
  uppy.on('upload-progress', (_, { bytesUploaded }) => progress(bytesUploaded || 0))
  const data = await chosen(order.name)
  uppy.addFile({ name: order.name, type: data.type, data, meta: { filename: order.name } })
  const { failed = [] } = (await uppy.upload()) ?? {}
  if (failed.length > 0) throw new Error(failed.map(({ error }) => error).join())
}

/** Uploads to the end. `progress` receives the number of sent bytes, and `resumed` the offset of an earlier upload. */
const upload = (order: Order, progress: ReportOffset, resumed: ReportOffset): Promise<void> =>
  order.client === 'Uppy' ? withUppy(order, progress, resumed) : withTusJsClient(order, progress, resumed)

Object.assign(window, { upload })
