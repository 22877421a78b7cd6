import type { Command } from 'commander'
import {
  addIssuer,
  type Issuer,
  isIssuerUrl,
  isPlainText,
  issuerOf,
  removeIssuer,
} from '../../lib/access/issuers/issuers.ts'
import type { ChangeType, HistoryEntry } from '../../lib/core/history-entry.ts'
import { type AdminStores, entryOf } from '../stores/admin-stores.ts'
import { onStores } from '../stores/stores.ts'
import { commandOf, groupOf, parsePlainId, parserIf } from '../terminal/arguments.ts'

const parseIssuerUrl = parserIf(
  isIssuerUrl,
  'It must be an https URL without a query, exactly as in the claim iss of its tokens. Only 127.0.0.1 may use http.',
)
const parseText = parserIf(isPlainText, 'It must be 1 to 255 ASCII characters without spaces.')

// People of every site may sign in through an issuer, so each site gets an entry.
const entriesOf = async ({ sites }: AdminStores, type: ChangeType, { id, url }: Issuer): Promise<HistoryEntry[]> =>
  (await sites.list()).sites.map((site) => entryOf(type, site.id, `issuer/${id}`, { url }))

const add = async (stores: AdminStores, url: string, options: Omit<Issuer, 'url'>) => {
  const { id, audience, clientId } = options
  const issuer: Issuer = { id, url, audience, ...(clientId !== undefined && { clientId }) }
  const entries = await entriesOf(stores, 'issuer.created', issuer)
  await stores.issuers.changeTrust((trust) => addIssuer(trust, issuer), entries)
  return issuer
}

const list = async ({ issuers }: AdminStores) =>
  (await issuers.trust()).issuers.map(({ id, url, audience, clientId = null }) => ({ id, url, audience, clientId }))

const remove = async (stores: AdminStores, id: string) => {
  const trust = await stores.issuers.trust()
  const entries = await entriesOf(stores, 'issuer.removed', issuerOf(trust, id))
  const rules = trust.rules.filter((rule) => rule.issuer === id)
  const ofRules = rules.map((rule) => entryOf('rule.removed', rule.site, `rule/${rule.id}`, { issuer: id }))
  await stores.issuers.changeTrust((present) => removeIssuer(present, id), [...ofRules, ...entries])
  return { removed: true, rules: rules.length }
}

const addExamples = [
  'issuer add https://token.actions.githubusercontent.com --id github --audience https://admin.example.com',
  'issuer add https://login.example.com --id work --audience https://admin.example.com --client-id site-admin',
]

export const issuerCommand = (): Command =>
  groupOf('issuer', 'identity providers whose tokens the service accepts', 'issuer list', [
    commandOf('add', 'trust an OpenID Connect issuer; then give its tokens rights with "rule add"', ...addExamples)
      .argument('<url>', 'the URL of the issuer, exactly as in the claim iss of its tokens', parseIssuerUrl)
      .requiredOption('--id <id>', 'a short name for the issuer, used in URLs and in other commands', parsePlainId)
      .requiredOption('--audience <audience>', 'the claim aud that tokens of programs must have', parseText)
      .option('--client-id <id>', 'the id of this service at the issuer, so that people can sign in', parseText)
      .action(onStores(add)),
    commandOf('list', 'list all issuers', 'issuer list').action(onStores(list)),
    commandOf(
      'remove',
      'remove an issuer with its rules; tokens of its programs expire within an hour',
      'issuer remove github',
    )
      .argument('<id>', 'the id of the issuer', parsePlainId)
      .action(onStores(remove)),
  ])
