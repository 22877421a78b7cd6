import { createCategoryStores } from '../lib/aws/category-stores.ts'
import { createGrants, createSiteDirectory } from '../lib/aws/directory-stores.ts'
import { createDocumentClient } from '../lib/aws/dynamodb.ts'
import { createPathLocks } from '../lib/aws/path-locks.ts'
import { readStackOutputs } from '../lib/aws/stack-outputs.ts'
import { createWebForms } from '../lib/aws/web-forms.ts'
import type { Site } from '../lib/sites/site-directory.ts'
import { Refusal } from './output.ts'
import type { AdminStores, AreaStores } from './stores.ts'

/** The outputs of a stack, by name. */
type Outputs = (name: string) => string

const outputsOf = async (stack: string, wanted: string | undefined): Promise<Outputs> => {
  const { region, outputs } = await readStackOutputs(stack, wanted)
  if (region === undefined) throw new Refusal('No region is set. Set AWS_REGION to the home region of the directory.')
  const where = `stack ${stack} in ${region}`
  if (!outputs) {
    throw new Refusal(`There is no ${where}. Deploy first, or set AWS_REGION to the home region of the directory.`)
  }
  return (name) => {
    const value = outputs.get(name)
    if (value === undefined) throw new Refusal(`The ${where} has no output ${name}. Deploy the present version.`)
    return value
  }
}

/** The stores of what is deployed: tables are found from the outputs of the stacks whose names begin with the prefix. */
export const openAwsStores = async (prefix: string): Promise<AdminStores> => {
  const directory = await outputsOf(`${prefix}-directory`, undefined)
  const dynamodb = createDocumentClient()
  const sites = createSiteDirectory({ dynamodb, table: directory('SitesTable') })

  return {
    sites,
    grants: createGrants({ dynamodb, table: directory('TokensTable') }),
    async areas({ dataCentre }: Site): Promise<AreaStores> {
      const record = await sites.getDataCentre(dataCentre)
      if (!record?.region) throw new Refusal(`Data centre ${dataCentre} is not deployed.`)
      const outputs = await outputsOf(`${prefix}-${dataCentre}`, record.region)
      const regional = createDocumentClient({ region: record.region })
      return {
        webForms: createWebForms({ dynamodb: regional, table: outputs('WebFormsTable') }),
        ...createCategoryStores({
          dynamodb: regional,
          contentTable: outputs('ContentTable'),
          categoryLinksTable: outputs('CategoryLinksTable'),
        }),
        workflows: createPathLocks({ dynamodb: regional, table: outputs('PathLocksTable') }).workflows,
      }
    },
    async close() {
      dynamodb.destroy()
    },
  }
}
