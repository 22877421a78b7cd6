/** The worker that finishes removals uses the same part of the SDK as the storage function. */
export { dynamodb, files, queue, used } from './storage-clients.ts'
