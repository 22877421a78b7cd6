import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createCloudResources } from '../../lib/cloud-resources.ts'
import { readDocumentationConfig } from '../../lib/config.ts'
import { createDocumentationDeps } from '../../lib/deps.ts'
import { createDocumentationHandler } from './group.ts'

const config = readDocumentationConfig()

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createDocumentationHandler(createDocumentationDeps(config, createCloudResources('documentation', config))),
  config.PATH_ENCODING,
)
