import { measureProgress } from './storage/progress.ts'
import { measureS3 } from './storage/s3.ts'
import { measureUpload } from './storage/upload.ts'
import type { Bench } from './table.ts'

/** What storing files costs: in time and in memory. */
export const storage: Bench = async () => [await measureUpload(), await measureProgress(), ...(await measureS3())]
