import { measureOneMachine } from './large/one-machine.ts'
import { measureOnS3 } from './large/s3.ts'
import { measureStreaming } from './large/streaming.ts'
import type { Bench } from './measure/figures.ts'

/**
 * Large files: resumable uploads on one machine, and to S3 in the requests that the gateway carries, and the function
 * that streams.
 */
export const large: Bench = async () => [
  await measureOneMachine(),
  ...(await measureOnS3()),
  ...(await measureStreaming()),
]
