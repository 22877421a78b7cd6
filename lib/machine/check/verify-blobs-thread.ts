import { parentPort } from 'node:worker_threads'
import { faultOfBlob } from './verify-blobs.ts'

parentPort?.on('message', (given: Parameters<typeof faultOfBlob>) => parentPort?.postMessage(faultOfBlob(...given)))
