import { ServiceError } from './service-error.ts'
import { partLength } from './source.ts'
import { cancelUpload, type SendFile, uploadResumably } from './upload.ts'
import { uploadInParts } from './upload-parts.ts'

export { cancelUpload } from './upload.ts'

// In milliseconds: how long a failed upload may delay its failure.
const longestEnd = 5000

export const uploadLarge: SendFile<void> = async (send, source, destination, given, limit) => {
  let unknown: string | undefined
  const note = (address: string) => {
    unknown = address
  }
  const options = { ...given, onBegun: given.onBegun ?? note }
  try {
    const mayHaveParts = source.size > partLength && (given.resume !== undefined || !limit.hasNoParts)
    if (mayHaveParts && (await uploadInParts(send, source, destination, options, limit))) return
    await uploadResumably(send, source, destination, options, limit)
  } catch (error) {
    // Parts may be refused for the same reason, such as too many open uploads (U-17).
    if (error instanceof ServiceError && error.code === 104000) limit.hasNoParts = false
    // Nobody else knows the address, so nobody can continue this upload. An open upload counts in the quota of the site.
    const ending = { signal: AbortSignal.timeout(longestEnd), isFinal: true }
    if (unknown) await cancelUpload(send, destination.uploads, unknown, ending).catch(() => {})
    throw error
  }
}
