import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'

export const checksumAlgorithms = ['sha256', 'sha1', 'md5'] as const
type ChecksumAlgorithm = (typeof checksumAlgorithms)[number]

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm
  readonly value: Buffer
}

/** Lets the bytes of an append pass, and fails behind the last one when they are other ones. Errors: chunkMismatch. */
export async function* checked(
  content: AsyncIterable<Uint8Array>,
  { algorithm, value }: Checksum,
): AsyncGenerator<Uint8Array, void> {
  const hash = createHash(algorithm)
  for await (const chunk of content) {
    hash.update(chunk)
    yield chunk
  }
  if (!hash.digest().equals(value)) throw new ServiceError('chunkMismatch')
}
