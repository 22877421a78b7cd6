import { measureOneMachine } from './large/one-machine.ts'
import { measureOnS3 } from './large/s3.ts'
import { measureStreaming } from './large/streaming.ts'
import type { Bench } from './measure/figures.ts'

/**
 * Measures large files: resumable uploads on one machine, to S3 in requests of the size that API Gateway allows, and
 * through the streaming function.
 */
export const large: Bench = async () => [
  await measureOneMachine(),
  ...(await measureOnS3()),
  ...(await measureStreaming()),
]
