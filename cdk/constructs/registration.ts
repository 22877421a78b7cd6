import { CustomResource, Duration, Stack } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { Construct, IDependable } from 'constructs'
import { settingsOf } from '../../lib/config/config.ts'
import { environmentOf } from '../../lib/config/settings.ts'
import { nearestDirectory, type Settings } from '../config/settings.ts'
import { allowKeys } from './encryption.ts'
import { createServiceFunction } from './service-functions.ts'
import { allowOnTables } from './statements.ts'

interface Options {
  readonly bundle: string
  readonly directory: ITable
  readonly url: string
  readonly entrance: readonly IDependable[]
}

export const registerDataCentre = (scope: Construct, settings: Settings, id: string, options: Options): void => {
  const { bundle, directory, url, entrance } = options
  const { region } = Stack.of(scope)
  const directoryRegion = nearestDirectory(settings, { region })
  const lambda = createServiceFunction(scope, 'RegistrationFunction', {
    bundle,
    description: 'Writes the base URL of the data centre into the directory',
    environment: environmentOf(settingsOf.registration, { sitesTable: directory.tableName, directoryRegion }),
    memorySize: 256,
    timeout: Duration.seconds(30),
    settings: { ...settings, logLevel: 'INFO' },
  })
  for (const statement of allowKeys(settings, [directoryRegion], ['dynamodb'])) lambda.addToRolePolicy(statement)
  const ownItem = { table: 'sites', keys: `dc#${id}`, actions: ['PutItem'] } as const
  for (const statement of allowOnTables([ownItem], () => [directory.tableArn])) lambda.addToRolePolicy(statement)
  // CloudFormation cannot change the type of a resource, so a resource of another type needs another name.
  const registration = new CustomResource(scope, 'DataCentreRegistration', {
    resourceType: 'Custom::DataCentre',
    serviceToken: lambda.functionArn,
    // Lambda tries a failing function three times, with pauses of one and two minutes. Each try may take the whole time
    // of the function.
    serviceTimeout: Duration.minutes(5),
    properties: { id, url, region, isDefault: id === settings.defaultDataCentre },
  })
  registration.node.addDependency(...entrance)
}
