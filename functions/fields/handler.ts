import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createCloudResources } from '../../lib/cloud-resources.ts'
import { readFieldsConfig } from '../../lib/config.ts'
import { createFieldsDeps } from '../../lib/deps.ts'
import { createFieldsHandler } from './group.ts'

const config = readFieldsConfig()

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createFieldsHandler(createFieldsDeps(config, createCloudResources('fields', config))),
  config.PATH_ENCODING,
)
