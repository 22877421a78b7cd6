import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Template } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { functionName, functionNames } from '../../cdk/config/functions.ts'
import { administrationGrants, functionGrants, keyActions } from '../../cdk/config/grants.ts'
import { ownRules } from './support/choices.ts'
import { templatesOf } from './support/synthesise.ts'

const copies = 'arn:aws:backup:eu-west-1:123456789012:backup-vault:Copies'
const { directory, us, edge, watch } = templatesOf({
  ...ownRules(['us-east-1', 'eu-west-1']),
  backup: { copyTo: copies },
  changeEvents: true,
  webhooks: true,
  webApplicationFirewall: true,
  alarmEmail: 'ops@example.com',
  deploymentRole: { repository: 'example/site-admin' },
  dataCentres: { us: { region: 'us-east-1', streaming: true }, eu: { region: 'eu-west-1' } },
})

// biome-ignore lint/suspicious/noExplicitAny: templates have no types.
type Part = Readonly<Record<string, any>>

/** A permission of a role, a policy, the policy of a resource, or of a service that may invoke functions. */
interface Right {
  readonly holder: string
  readonly action: string
  /** The services through which the holder may use a key. */
  readonly through?: readonly string[] | undefined
}

const holderOf = (id: string): string => (/^(Custom|AWSCDK)/.test(id) ? 'CDK' : id.replace(/[0-9A-F]{8}$/, ''))

const rightsOf = (holder: string, statements: readonly Part[] = []): readonly Right[] =>
  statements
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource, Condition }) => {
      const through = Condition?.StringEquals?.['kms:ViaService']?.map((host: string) => host.split('.')[0])
      const place = JSON.stringify(Resource)?.includes('Failed') ? ' to dead letters' : ''
      return [Action].flat().map((action) => ({ holder, action: `${action}${place}`, through }))
    })

const rightsIn = (template: Template): readonly Right[] =>
  Object.entries<Part>(template.toJSON()['Resources'] ?? {}).flatMap(([id, { Type, Properties = {} }]) => {
    const {
      ManagedPolicyArns = [],
      Roles = [],
      Policies = [],
      PolicyDocument,
      KeyPolicy,
      Principal,
      Action,
    } = Properties
    if (Type === 'AWS::Lambda::Permission') return [{ holder: Principal, action: Action }]
    const holder = holderOf(Roles[0]?.Ref ?? id)
    const documents = [...Policies.map((policy: Part) => policy['PolicyDocument']), PolicyDocument, KeyPolicy]
    const policies = JSON.stringify(ManagedPolicyArns).match(/\w+(?="\]\])/g) ?? []
    return [
      ...policies.map((action) => ({ holder, action })),
      ...documents.flatMap((document) => rightsOf(holder, document?.Statement)),
    ]
  })

const rights = [directory, us, edge, watch].flatMap(rightsIn)
const nameOf = ({ holder, action }: Right): string => `${holder}: ${action}`
const namesOf = (found: readonly Right[]): readonly string[] => [...new Set(found.map(nameOf))].sort()

const actionsIn = ({
  tables,
  files = [],
  queue,
}: Pick<(typeof functionGrants)['storage'], 'tables' | 'files' | 'queue'>) => [
  ...tables.flatMap(({ actions }) => actions.map((action) => `dynamodb:${action}`)),
  ...files.map((action) => `s3:${action}`),
  ...(queue?.actions ?? []).map((action) => `sqs:${action}`),
]
const ofSecrets = keyActions.map((action) => `kms:${action}`)

/** Tests compare these permissions with calls. MiniStack checks them, and would not deploy without the last two. */
const tested: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(functionNames.map((name) => [`${functionName(name)}Role`, actionsIn(functionGrants[name])])),
  AccessFunctionRole: [...actionsIn(functionGrants.access), 'ssm:GetParameter'],
  WebhooksFunctionRole: [...actionsIn(functionGrants.webhooks), ...ofSecrets],
  StreamingRole: actionsIn(functionGrants.storage),
  AdministrationPolicy: [...actionsIn(administrationGrants), ...ofSecrets, 'cloudformation:DescribeStacks'],
  WebhooksSecretsKey: ['kms:*'],
  RegistrationFunctionRole: ['dynamodb:PutItem'],
}

/** The permissions and holders in the table of the document. */
const listed = readFileSync(join(import.meta.dirname, '../../docs/decisions/0012-checks-on-aws.md'), 'utf8')
  .split('## Permissions that no test exercises\n')[1]
  ?.split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => {
    const [holders = [], actions = []] = line.split(' | ').map((cell) => cell.match(/(?<=`)[\w:*. -]+(?=`)/g) ?? [])
    return holders.flatMap((holder) => actions.map((action) => ({ holder: holder.replace('*', ''), action })))
  })

test('Each permission is compared with calls, or listed with its reason (T-2)', () => {
  const isTested = ({ holder, action }: Right) => tested[holder]?.includes(action)
  const others = rights.filter((right) => !right.through && !isTested(right))
  const known = others.filter(({ holder, action }) =>
    listed?.some((row) => (holder === row.holder || holder.endsWith(row.holder)) && action === row.action),
  )
  expect(namesOf(known)).toEqual(namesOf(others))
  const isGiven = (row: Right) =>
    others.some(({ holder, action }) => holder.endsWith(row.holder) && action === row.action)
  expect(namesOf(listed?.filter((row) => !isGiven(row)) ?? [])).toEqual([])
})

/** The permissions on a key that a call needs, through its service, as the guides of the services say. */
const keyNeeds: readonly (readonly [RegExp, ...string[]])[] = [
  [/^dynamodb:/, 'dynamodb:Decrypt'],
  [/^s3:GetObject/, 's3:Decrypt'],
  [/^s3:PutObject$/, 's3:Decrypt', 's3:GenerateDataKey'],
  [/^sqs:ReceiveMessage/, 'sqs:Decrypt'],
  [/^sqs:SendMessage/, 'sqs:Decrypt', 'sqs:GenerateDataKey'],
  [/^ssm:GetParameter$/, 'ssm:Decrypt'],
]

test('Each role may use the key of the customer exactly as its calls need', () => {
  for (const [holder, own] of Map.groupBy(rights, (right) => right.holder)) {
    const onKey = own.flatMap(({ action, through = [] }) => through.map((by) => `${by}:${action.replace('kms:', '')}`))
    const needs = own.flatMap(({ action }) =>
      keyNeeds.flatMap(([call, ...needed]) => (call.test(action) ? needed : [])),
    )
    // AWS Backup encrypts the copies with the key too. The bucket of the CDK has a key of AWS.
    const others = { BackupRole: ['dynamodb:GenerateDataKey', 's3:DescribeKey'], CDK: ['s3:Decrypt'] }
    const needed = holder === 'CDK' ? others.CDK : [...needs, ...(holder === 'BackupRole' ? others.BackupRole : [])]
    expect([holder, ...new Set(onKey)].sort()).toEqual([holder, ...new Set(needed)].sort())
  }
})
