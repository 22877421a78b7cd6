import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createCloudResources } from '../../lib/cloud-resources.ts'
import { readCategoriesConfig } from '../../lib/config.ts'
import { createCategoriesDeps } from '../../lib/deps.ts'
import { createCategoriesHandler } from './group.ts'

const config = readCategoriesConfig()

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createCategoriesHandler(createCategoriesDeps(config, createCloudResources('categories', config))),
  config.PATH_ENCODING,
)
