import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { createTable, globalTableName, globalTables, tableOutput } from './constructs/tables.ts'
import { homeRegion, type Settings } from './settings.ts'

/** The directory of sites, data centres and tokens: global tables, replicated to the region of each data centre. */
export class DirectoryStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps & { readonly settings: Settings }) {
    super(scope, id, props)
    const { settings } = props
    const { prefix, dataCentres, deletionProtection, replicateDirectory } = settings
    const regions = new Set(Object.values(dataCentres).map(({ region }) => region))
    regions.delete(homeRegion(settings))
    const replicas = replicateDirectory ? [...regions].map((region) => ({ region, deletionProtection })) : []

    for (const name of globalTables) {
      const table = createTable(this, name, {
        tableName: globalTableName(prefix, name),
        deletionProtection,
        ...(replicas.length > 0 && { replicas }),
      })
      new CfnOutput(this, `${tableOutput(name)}Name`, { key: tableOutput(name), value: table.tableName })
    }
  }
}
