/** As for the storage: the worker that finishes removals is made from the same parts. */
export { documents, files, queue, used } from './storage-clients.ts'
