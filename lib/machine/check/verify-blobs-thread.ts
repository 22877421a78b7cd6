import { parentPort } from 'node:worker_threads'
import { faultOfBlob, type Verdict, type Verification } from './verify-blobs.ts'

parentPort?.on('message', ({ number, path, ...content }: Verification) => {
  parentPort?.postMessage({ number, fault: faultOfBlob(path, content) } satisfies Verdict)
})
