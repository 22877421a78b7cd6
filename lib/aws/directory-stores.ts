import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Stores } from '../stores.ts'
import { createDocumentClient } from './dynamodb.ts'
import { createGrants } from './grants.ts'
import { createSiteDirectory } from './site-directory.ts'

interface Settings {
  readonly sitesTable: string
  readonly tokensTable: string
  /** Where the directory is, when that is not the region of who reads it. */
  readonly directoryRegion?: string
}

/** The directory that all data centres share: reached by the client that is given, unless it is in another region. */
export const createDirectoryStores = (
  { sitesTable, tokensTable, directoryRegion }: Settings,
  documents: DynamoDBDocumentClient,
): Pick<Stores, 'sites' | 'grants'> => {
  const directory = directoryRegion === undefined ? documents : createDocumentClient({ region: directoryRegion })
  return { sites: createSiteDirectory(directory, sitesTable), grants: createGrants(directory, tokensTable) }
}
