import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { logLostEntry, type RecordChange } from '../../lib/aws/dynamodb/journal.ts'
import { openAreas, openDirectory, openIssuers, openJournal, openWebhooks } from '../../lib/aws/open-tables.ts'
import { readStackOutputs } from '../../lib/aws/stack-outputs.ts'
import { globalTableName, tableOutput, tableSettings } from '../../lib/config/tables.ts'
import { cachedLookup, onDemand } from '../../lib/core/cached-lookup.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import type { SiteDirectory } from '../../lib/sites/site-directory.ts'
import type { SecretSeals } from '../../lib/webhooks/webhooks.ts'
import { Refusal } from '../terminal/output.ts'
import type { AdminStores, AreaStores } from './admin-stores.ts'

const outputsOf = async (stack: string, wanted: string | undefined) => {
  const { region, outputs } = await readStackOutputs(stack, wanted)
  if (region === undefined)
    throw new Refusal('No valid region is set. Set AWS_REGION to the home region of the directory, such as us-east-1.')
  const where = `stack ${stack} in ${region}`
  if (!outputs) {
    throw new Refusal(`There is no ${where}. Deploy first, or set AWS_REGION to the home region of the directory.`)
  }
  const need = (name: string): string => {
    const value = outputs.get(name)
    if (value === undefined) throw new Refusal(`The ${where} has no output ${name}. Deploy the current version.`)
    return value
  }
  return { need, find: (name: string) => outputs.get(name) }
}

// Few commands need files or the key, so the first call loads their client.
const openFiles = async (
  bucket: string,
  region: string,
  records: Pick<ReturnType<typeof openAreas>, 'removals' | 'record'>,
) => {
  const [{ createS3Clients, openBucket }, { createS3ObjectStore }] = await Promise.all([
    import('../../lib/aws/s3/bucket.ts'),
    import('../../lib/aws/s3/s3-object-store.ts'),
  ])
  return createS3ObjectStore({ bucket: openBucket({ ...createS3Clients({ region }), name: bucket }), ...records })
}

const createSeals = (key: string, region: string): SecretSeals => {
  const open = onDemand(async () => (await import('../../lib/aws/kms-seals.ts')).createKmsSeals(key, { region }))
  return {
    seal: async (...given) => (await open()).seal(...given),
    open: async (...given) => (await open()).open(...given),
  }
}

const directoryTables = ['sites', 'tokens', 'users'] as const
const areaTables = ['journal', 'pathLocks', 'webForms', 'content', 'categoryLinks', 'webhooks'] as const

// In milliseconds.
const longestMemory = 60_000

/**
 * Opens the stores of a deployment by the outputs of the stacks with this prefix. `replica` is the region of a copy of
 * the directory: with it, the home region gets no calls, because the tables of a copy have the same names as the tables
 * at home.
 */
export const openAwsStores = async (prefix: string, replica?: string): Promise<AdminStores> => {
  const home = replica === undefined ? await outputsOf(`${prefix}-directory`, undefined) : undefined
  const dynamodb = createDocumentClient(replica === undefined ? {} : { region: replica })
  const openDataCentre = cachedLookup(async (id: string) => {
    const known = await sites.getDataCentre(id)
    if (!known?.region) throw new Refusal(`Data centre ${id} is not deployed. Deploy it, then repeat the command.`)
    const outputs = await outputsOf(`${prefix}-${id}`, known.region)
    return { ...outputs, region: known.region, dynamodb: createDocumentClient({ region: known.region }) }
  })

  // Sites and tokens are global. Their history is in the data centre of the site.
  const record: RecordChange = async (entry) => {
    try {
      const site = await sites.getSite(entry.site)
      const { need, dynamodb } = await openDataCentre(site?.dataCentre ?? '')
      await openJournal({ journalTable: need(tableOutput('journal')) }, { dynamodb }).record(entry)
    } catch (error) {
      logLostEntry(entry, error)
    }
  }
  const tables = tableSettings(
    directoryTables,
    (table) => home?.need(tableOutput(table)) ?? globalTableName(prefix, table),
  )
  const { sites: stored, grants, people } = openDirectory(tables, { dynamodb, record })
  const { issuers } = openIssuers(tables, { dynamodb, record })
  // Remembers the data centre of a site that this command removes.
  const sites: SiteDirectory = { ...stored, getSite: cachedLookup((id: SiteId) => stored.getSite(id)) }

  return {
    sites,
    grants,
    issuers,
    people,
    async areas({ dataCentre }): Promise<AreaStores> {
      const { need, find, region, dynamodb } = await openDataCentre(dataCentre)
      const tables = tableSettings(areaTables, (table) => need(tableOutput(table)))
      const { removals, record, ...areas } = openAreas(tables, { dynamodb })
      const { webhooks } = openWebhooks(tables, { dynamodb, record })
      const [bucket, key] = [need('FilesBucket'), find('WebhooksKey')]
      return {
        ...areas,
        webhooks,
        ...(key !== undefined && { seals: createSeals(key, region) }),
        files: onDemand(() => openFiles(bucket, region, { removals, record })),
      }
    },
    memory: async () => longestMemory,
    [Symbol.asyncDispose]: async () => dynamodb.destroy(),
  }
}
