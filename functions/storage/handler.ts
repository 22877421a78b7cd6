import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { readDeployedStorageConfig } from '../../lib/config.ts'
import { deployedStorage } from './deployed.ts'
import { createStorageHandler } from './group.ts'

const config = readDeployedStorageConfig()

/** The entry of the Lambda function. */
export const handler = lambdaHandler(createStorageHandler(deployedStorage(config)), config.PATH_ENCODING)
