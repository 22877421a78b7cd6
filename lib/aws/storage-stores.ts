import type { StorageSettings } from '../config/config.ts'
import type { Downloads, LinkTo } from '../service/deps.ts'
import type { Stores } from '../service/stores.ts'
import { createDirectoryStores } from './dynamodb/directory-stores.ts'
import { createDocumentClient } from './dynamodb/dynamodb.ts'
import { createUploadProgress } from './dynamodb/upload-progress.ts'
import { createUploadRecords } from './dynamodb/upload-records.ts'
import { createFileStores } from './file-stores.ts'

/** Everything that the operations on files work on. */
export const createStorageStores = (
  settings: StorageSettings,
): {
  readonly stores: Omit<Stores, 'webForms' | 'contents' | 'links'>
  readonly downloads: Downloads
  readonly linkTo: LinkTo
} => {
  const dynamodb = createDocumentClient()
  const { downloads, linkTo, ...fileStores } = createFileStores({ dynamodb, ...settings })
  const stores = {
    ...createDirectoryStores({ dynamodb, ...settings }),
    ...fileStores,
    progress: createUploadProgress({ dynamodb, table: settings.uploadsTable }),
    uploadRecords: createUploadRecords({ dynamodb, table: settings.uploadsTable }),
  }
  return { stores, downloads, linkTo }
}
