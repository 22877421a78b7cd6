import { parentPort } from 'node:worker_threads'
import { faultOfBlob, type Verification } from './verify-blobs.ts'

parentPort?.on('message', ({ path, ...content }: Verification) => parentPort?.postMessage(faultOfBlob(path, content)))
