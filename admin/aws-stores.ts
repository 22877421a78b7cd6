import { createCategoryStores } from '../lib/aws/category-stores.ts'
import { createGrants, createSiteDirectory } from '../lib/aws/directory-stores.ts'
import { createDocumentClient } from '../lib/aws/dynamodb.ts'
import { createJournal, type RecordChange, tellLost } from '../lib/aws/journal.ts'
import { createPathLocks } from '../lib/aws/path-locks.ts'
import { readStackOutputs } from '../lib/aws/stack-outputs.ts'
import { createWebForms } from '../lib/aws/web-forms.ts'
import type { Site } from '../lib/sites/site-directory.ts'
import type { Kept } from '../lib/storage/object-store.ts'
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

/** The client of S3 is loaded by the one command that needs it. */
const countKeptIn = async (name: string, region: string, prefix: string): Promise<Kept> => {
  const [{ createS3Clients }, { openBucket }, { countKept }] = await Promise.all([
    import('../lib/aws/s3/clients.ts'),
    import('../lib/aws/s3/bucket.ts'),
    import('../lib/aws/s3/versions.ts'),
  ])
  return countKept(openBucket({ ...createS3Clients({ region }), name }), prefix)
}

/** The stores of what is deployed: tables are found from the outputs of the stacks whose names begin with the prefix. */
export const openAwsStores = async (prefix: string): Promise<AdminStores> => {
  const directory = await outputsOf(`${prefix}-directory`, undefined)
  const dynamodb = createDocumentClient()
  /** What is deployed of the data centre where a site lives. */
  const openDataCentre = async (id: string) => {
    const known = await sites.getDataCentre(id)
    if (!known?.region) throw new Refusal(`Data centre ${id} is not deployed.`)
    const outputs = await outputsOf(`${prefix}-${id}`, known.region)
    const regional = createDocumentClient({ region: known.region })
    return {
      outputs,
      regional,
      region: known.region,
      journal: createJournal({ dynamodb: regional, table: outputs('JournalTable') }),
    }
  }

  /** Sites and tokens are known everywhere; their history is that of each site, in its own data centre. */
  const record: RecordChange = async (entry) => {
    try {
      const site = await sites.getSite(entry.site)
      const { journal } = await openDataCentre(site?.dataCentre ?? '')
      await journal.record(entry)
    } catch (error) {
      tellLost(entry, error)
    }
  }
  const sites = createSiteDirectory({ dynamodb, table: directory('SitesTable'), record })

  return {
    sites,
    grants: createGrants({ dynamodb, table: directory('TokensTable'), record }),
    async areas({ dataCentre }: Site): Promise<AreaStores> {
      const { outputs, regional, region, journal } = await openDataCentre(dataCentre)
      const { record, history } = journal
      return {
        webForms: createWebForms({ dynamodb: regional, table: outputs('WebFormsTable'), record }),
        ...createCategoryStores({
          dynamodb: regional,
          contentTable: outputs('ContentTable'),
          categoryLinksTable: outputs('CategoryLinksTable'),
          record,
        }),
        workflows: createPathLocks({ dynamodb: regional, table: outputs('PathLocksTable'), record }).workflows,
        history,
        files: { keptBelow: (prefix) => countKeptIn(outputs('FilesBucket'), region, prefix) },
      }
    },
    async close() {
      dynamodb.destroy()
    },
  }
}
