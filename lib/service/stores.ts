import type { Grants } from '../access/grants.ts'
import type { Issuers, KeyedValues } from '../access/issuers/issuers.ts'
import type { People } from '../access/people.ts'
import type { SignInAttempts } from '../access/sign-in-limits.ts'
import type { CategoryLinks } from '../categories/category-links.ts'
import type { Contents } from '../categories/contents.ts'
import type { WebForms } from '../fields/web-forms.ts'
import type { History } from '../history/history.ts'
import type { LiveChanges } from '../history/live-changes.ts'
import type { SiteDirectory } from '../sites/site-directory.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { FolderRemovals, RemovalQueue, Workflows } from '../storage/path-locks.ts'
import type { SiteUsage } from '../storage/quota.ts'
import type { UploadProgress } from '../storage/upload-progress.ts'
import type { DirectParts, UploadParts, UploadRecords } from '../storage/uploads/upload.ts'
import type { SecretSeals, Webhooks } from '../webhooks/webhooks.ts'

export interface Stores {
  readonly sites: SiteDirectory
  readonly grants: Grants
  readonly issuers: Issuers
  readonly accessValues: KeyedValues
  readonly people: People
  readonly attempts: SignInAttempts
  readonly webForms: WebForms
  readonly contents: Contents
  readonly links: CategoryLinks
  readonly files: ObjectStore
  readonly workflows: Workflows
  readonly removals: FolderRemovals
  readonly removalQueue: RemovalQueue
  readonly progress: UploadProgress
  readonly uploadRecords: UploadRecords
  readonly uploadParts: UploadParts
  readonly directParts?: DirectParts
  readonly history: History
  readonly live: LiveChanges
  readonly usage: SiteUsage
  readonly webhooks: Webhooks
  readonly seals: SecretSeals
}
