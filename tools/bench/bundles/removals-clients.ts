/** As for the storage: the worker that finishes removals is made from the same parts. */
export { dynamodb, files, queue, used } from './storage-clients.ts'
