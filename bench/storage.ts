import { measureBundle } from './bundle.ts'
import { measureS3 } from './storage/s3.ts'
import { measureUpload } from './storage/upload.ts'
import type { Bench } from './table.ts'

const settings = {
  PAGES_TABLE: 'pages',
  UPLOADS_TABLE: 'uploads',
  FILES_BUCKET: 'files',
  REMOVALS_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/removals',
}

/** What storing files costs: in time, in memory, in a cold start. */
export const storage: Bench = async () => [
  await measureUpload(),
  ...(await measureS3()),
  await measureBundle({ group: 'storage', settings }),
]
