import { partLength } from './source.ts'
import { type SendFile, uploadResumably } from './upload.ts'
import { uploadInParts } from './upload-parts.ts'

export { cancelUpload } from './upload.ts'

/** Sends a large file in parts to the bucket if the service offers parts, otherwise by tus. */
export const uploadLarge: SendFile<void> = async (send, source, destination, options, limit) => {
  const mayHaveParts = source.size > partLength && !limit.hasNoParts
  if (mayHaveParts && (await uploadInParts(send, source, destination, options, limit))) return
  await uploadResumably(send, source, destination, options, limit)
}
