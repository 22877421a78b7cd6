// TEMPORARY STUB

import { ServiceError } from '../../lib/errors.ts'
import type { ObjectStore } from '../../lib/storage/object-store.ts'
export const openObjectStore = async (_o: object): Promise<ObjectStore> => {
  const no = async () => {
    throw new ServiceError('unavailable')
  }
  return { find: no, read: no, exists: no, list: no, stage: no, place: no, remove: no }
}
