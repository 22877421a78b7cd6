import { createDirectoryStores } from '../../lib/aws/dynamodb/directory-stores.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { createJournal } from '../../lib/aws/dynamodb/journal.ts'
import { createWebForms } from '../../lib/aws/dynamodb/web-forms.ts'
import { lambdaHandler } from '../../lib/aws/lambda/lambda.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { readFieldsSettings } from '../../lib/config/config.ts'
import { createFieldsDeps } from '../../lib/service/deps.ts'
import { createFieldsHandler } from '../fields/group.ts'

const settings = readFieldsSettings()
const dynamodb = createDocumentClient()
const { record } = createJournal({ dynamodb, table: settings.journalTable })
const stores = {
  ...createDirectoryStores({ dynamodb, ...settings }),
  webForms: createWebForms({ dynamodb, table: settings.webFormsTable, record }),
}
const telemetry = createTelemetry('fields', settings.logLevel)

/** The entry of the Lambda function. */
export const handler = lambdaHandler(createFieldsHandler(createFieldsDeps(settings, stores, { telemetry })), settings)
