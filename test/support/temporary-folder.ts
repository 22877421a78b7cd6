import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const memory = '/dev/shm'

/** In memory, if enough is free, because tests make and remove thousands of data directories. */
export const temporaryFolder = (): string => {
  const { bavail, bsize } = existsSync(memory) ? statfsSync(memory) : { bavail: 0, bsize: 0 }
  return bavail * bsize > 4 * 1024 ** 3 ? memory : tmpdir()
}
