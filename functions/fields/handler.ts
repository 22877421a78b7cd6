import { createDirectoryStores } from '../../lib/aws/directory-stores.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb.ts'
import { createJournal } from '../../lib/aws/journal.ts'
import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createTelemetry } from '../../lib/aws/telemetry.ts'
import { createWebForms } from '../../lib/aws/web-forms.ts'
import { readFieldsSettings } from '../../lib/config.ts'
import { createFieldsDeps } from '../../lib/deps.ts'
import { createFieldsHandler } from './group.ts'

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
