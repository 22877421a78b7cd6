import type { StorageSettings } from '../config.ts'
import type { Downloads, LinkTo } from '../deps.ts'
import type { Stores } from '../stores.ts'
import { createDirectoryStores } from './directory-stores.ts'
import { createDocumentClient } from './dynamodb.ts'
import { createFileStores } from './file-stores.ts'
import { createUploadProgress } from './upload-progress.ts'
import { createUploadRecords } from './upload-records.ts'

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
