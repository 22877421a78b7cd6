import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { createTokensTable } from '../lib/access/tokens-table.ts'
import { createCategoryLinksTable } from '../lib/categories/category-links-table.ts'
import { createContentTable } from '../lib/categories/content-table.ts'
import { createDocumentClient } from '../lib/dynamodb.ts'
import { createWebFormsTable } from '../lib/fields/web-forms-table.ts'
import type { Site } from '../lib/sites/site.ts'
import { createSitesTable } from '../lib/sites/sites-table.ts'
import { createPagesTable } from '../lib/storage/pages-table.ts'
import { Refusal } from './refusal.ts'
import type { AreaStores, Stores } from './stores.ts'

/** The outputs of a stack, by name. */
type Outputs = (name: string) => string

const regionOf = async ({ config }: CloudFormationClient): Promise<string> => {
  try {
    return await config.region()
  } catch {
    throw new Refusal('No usable region is set. Set AWS_REGION to the home region of the directory.')
  }
}

/** What a person can do about a question to CloudFormation that failed; undefined when that is not known. */
const adviceOn = (error: unknown, where: string): string | undefined => {
  const name = error instanceof Error ? error.name : ''
  if (name === 'ValidationError') {
    return `There is no ${where}. Deploy first, or set AWS_REGION to the home region of the directory.`
  }
  if (name === 'CredentialsProviderError') {
    return 'There are no credentials for AWS. Set them as for any AWS tool, for example AWS_PROFILE.'
  }
  return undefined
}

const readOutputs = async (stack: string, region: string | undefined): Promise<Outputs> => {
  const client = new CloudFormationClient(region === undefined ? {} : { region })
  const where = `stack ${stack} in ${await regionOf(client)}`
  try {
    const { Stacks: [found] = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }))
    const outputs = new Map(found?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]))
    return (name) => {
      const value = outputs.get(name)
      if (value === undefined) throw new Refusal(`The ${where} has no output ${name}. Deploy the present version.`)
      return value
    }
  } catch (error) {
    const advice = adviceOn(error, where)
    throw advice === undefined ? error : new Refusal(advice)
  } finally {
    client.destroy()
  }
}

/** The stores of what is deployed: tables are found from the outputs of the stacks whose names begin with the prefix. */
export const openAwsStores = async (prefix: string): Promise<Stores> => {
  const directory = await readOutputs(`${prefix}-directory`, undefined)
  const documents = createDocumentClient()
  const sites = createSitesTable(documents, directory('SitesTable'))

  return {
    sites,
    tokens: createTokensTable(documents, directory('TokensTable')),
    async areas({ dataCentre }: Site): Promise<AreaStores> {
      const record = await sites.getDataCentre(dataCentre)
      if (!record?.region) throw new Refusal(`Data centre ${dataCentre} is not deployed.`)
      const outputs = await readOutputs(`${prefix}-${dataCentre}`, record.region)
      const regional = createDocumentClient({ region: record.region })
      return {
        webForms: createWebFormsTable(regional, outputs('WebFormsTable')),
        content: createContentTable({ client: regional, table: outputs('ContentTable') }),
        pages: createPagesTable(regional, outputs('PagesTable')),
        links: createCategoryLinksTable({ client: regional, table: outputs('CategoryLinksTable') }),
      }
    },
    async close() {
      documents.destroy()
    },
  }
}
