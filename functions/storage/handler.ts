import { deployedStorage } from './deployed.ts'
import { createStorageHandler } from './group.ts'

/** The entry of the Lambda function. */
export const handler = createStorageHandler(deployedStorage())
