import type { Command } from 'commander'
import { expect } from 'vitest'

/** Records that can be imported into a site without contents. */
export const sessionRecords = [
  { kind: 'webForm', id: 1, name: 'Contact' },
  { kind: 'field', webFormId: 1, typeId: -7, name: 'City', mandatory: true, order: 1 },
  { kind: 'category', id: 1, name: 'News' },
  { kind: 'news', id: 36, subject: 'Open', body: '<p>Come in.</p>' },
  { kind: 'blog', id: 37 },
  { kind: 'link', type: 'news', categoryId: 1, objectId: 36 },
]

const us = { id: 'us', url: 'https://us.example.com', default: true }
const shop = { id: 1001, name: 'Zoë’s shop', dataCentre: 'us', renderingEngine: true }
const old = { id: 7, name: 'Old', dataCentre: 'us', renderingEngine: false }
const small = { id: 8, name: 'Small', dataCentre: 'us', renderingEngine: true }
/** AWS counts the bytes only of sites with a quota. */
const unlimited = { quota: null, usedBytes: expect.toBeOneOf([0, null]) }
const contact = { id: 1, name: 'Contact' }
const survey = { id: 40, name: 'Survey' }
const hex = expect.stringMatching(/^[0-9a-f]{64}$/)
const expires = expect.stringMatching(/Z$/)
const imported = { imported: 6, skipped: 0, errors: [] }
const news = { id: 36, subject: 'Open', slug: 'open', enabled: true, releaseDate: expect.any(String) }
const removed = { removed: true }
const deployment = { id: hex, name: 'Deployment', expires, lastUsed: null }
const invited = (name: string) => ({
  name,
  invitation: expect.stringMatching(`^https://us\\.example\\.com/console#invitation=${name}\\.[0-9a-f]{64}$`),
  expires,
})
const bob = {
  ...{ name: 'bob', displayName: 'bob', email: '', disabled: false, invited: true, lastSignIn: null },
  ...{ role: 'author', rights: ['files:write:/news', 'files:write:/press', 'history:read'] },
}
const changed = (name: string, role: string | null, rights: readonly string[]) =>
  expect.objectContaining({ name, sites: [{ site: 1001, role, rights }] })
const usualRights = ['forms:write', 'categories:write', 'history:read']
const issued = {
  hash: hex,
  user: 'ann',
  sites: [1001],
  permissions: ['files'],
  rights: ['files:write', ...usualRights],
  expires,
}

const role = (name: string, rights: string, perFolder = false) => ({ role: name, rights: rights.split(' '), perFolder })
const roles = [
  role('owner', 'files:write forms:write categories:write history:write access:write'),
  role('editor', 'files:write forms:write categories:write history:read'),
  role('author', 'files:write history:read', true),
  role('viewer', 'files:read forms:read categories:read history:read'),
]

const issuer = { id: 'work', url: 'https://login.example.com/', audience: 'site-admin' }
const rule = {
  id: expect.stringMatching(/^[0-9a-f]{8}$/),
  issuer: 'work',
  claims: { ref: 'refs/heads/main' },
  site: 1001,
  rights: ['files:write'],
  ttl: 900,
}

type CommandCase = readonly [line: string, answer: unknown, history?: readonly string[]]

/**
 * Every command for one machine and AWS, in an order in which each succeeds, with its answer and the new types in the
 * history of site 1001. `{records}` is a file of `sessionRecords`, `{exported}` the file of an export, `{hash}` the
 * last hash that a command printed. `%20` is a space inside a word.
 */
export const commandSession: readonly CommandCase[] = [
  ['data-centre add us --url https://us.example.com/', us],
  ['data-centre list', [us]],
  ['site create --name %20Zoë’s%20shop%20', shop, ['site.created']],
  ['site create --name Old --id 7 --data-centre us --no-rendering-engine', old],
  ['site list', [old, shop]],
  ['site show 1001', { ...shop, ...unlimited, keptVersions: 0, keptBytes: 0 }],
  ['site rename 1001 --name Market', { ...shop, name: 'Market' }, ['site.changed']],
  ['site create --name Small --id 8 --data-centre us --quota 2000', { ...small, quota: 2_000 }],
  ['site show 8', { ...small, quota: 2_000, usedBytes: 0, keptVersions: 0, keptBytes: 0 }],
  ['site quota 8 none', { ...small, quota: null }],
  ['site remove 8 --yes', removed],
  ['site quota 1001 none', { ...shop, name: 'Market', quota: null }],
  ['site quota 1001 5000', { ...shop, name: 'Market', quota: 5_000 }, ['site.changed']],
  ['site quota 1001 none', { ...shop, name: 'Market', quota: null }, ['site.changed']],
  ['token issue --user ann --site 1001 --permission files', { token: hex, expires }, ['token.created']],
  ['token list --site 1001', expect.arrayContaining([issued])],
  ['token revoke {hash}', { revoked: true }, ['token.removed']],
  [
    'token issue --user bo --site 1001 --right files:write:/news --right files:read:/news',
    { token: hex, expires },
    ['token.created'],
  ],
  [
    'token list --site 1001',
    expect.arrayContaining([
      { hash: hex, user: 'bo', sites: [1001], permissions: ['files'], rights: ['files:write:/news'], expires },
    ]),
  ],
  ['token revoke {hash}', { revoked: true }, ['token.removed']],
  ['role list', roles],
  ['issuer add https://login.example.com/ --id work --audience site-admin', issuer, ['issuer.created']],
  ['issuer list', [{ ...issuer, clientId: null }]],
  [
    'rule add --issuer work --claim ref=refs/heads/main --site 1001 --right files:write --right files:read:/news',
    rule,
    ['rule.created'],
  ],
  ['rule list --site 1001', [rule]],
  ['issuer remove work', { removed: true, rules: 1 }, ['rule.removed', 'issuer.removed']],
  ['user add ann --site 1001 --role owner --email ann@example.com', invited('ann'), ['user.created']],
  ['user add bob --site 1001 --role author --folder /news --folder /press', invited('bob'), ['user.created']],
  ['user list --site 1001', [expect.objectContaining({ name: 'ann', role: 'owner', invited: true }), bob]],
  ['user invite ann', invited('ann'), ['user.invited']],
  [
    'key create --site 1001 --user ann --name Deployment --right files:write:/news --right forms:read --ttl 30d',
    { id: hex, key: expect.stringMatching(/^sak_[0-9A-Za-z]{49}$/), expires },
    ['key.created'],
  ],
  ['key list --site 1001', [{ ...deployment, user: 'ann', rights: ['files:write:/news', 'forms:read'] }]],
  ['key change {hash} --user bob', { id: hex, name: 'Deployment', user: 'bob' }, ['key.removed', 'key.created']],
  ['key list --site 1001', [{ ...deployment, user: 'bob', rights: ['files:write:/news'] }]],
  ['key revoke {hash}', { revoked: true }, ['key.removed']],
  ['user change bob --site 1001 --right files:read', changed('bob', null, ['files:read']), ['user.changed']],
  ['user disable bob', expect.objectContaining({ name: 'bob', disabled: true }), ['user.changed']],
  ['user change bob --enable', expect.objectContaining({ name: 'bob', disabled: false }), ['user.changed']],
  ['user change bob --email=bob@example.com', expect.objectContaining({ email: 'bob@example.com' }), ['user.changed']],
  ['user change bob --email=', expect.objectContaining({ email: '' }), ['user.changed']],
  ['user show bob', changed('bob', null, ['files:read'])],
  ['user remove bob --dry-run', { removed: false, sites: [1001], keys: 0 }],
  ['user remove bob --yes', removed, ['user.removed']],
  ['form create --site 1001 --name Contact', contact, ['form.created']],
  ['form create --site 1001 --name Survey --id 40', survey, ['form.created']],
  ['form create --site 1001 --name Newsletter', { id: 41, name: 'Newsletter' }, ['form.created']],
  ['form rename 41 --site 1001 --name %20Questions%20', { id: 41, name: 'Questions' }, ['form.changed']],
  ['form remove 41 --site 1001 --yes', removed, ['form.removed']],
  ['form list --site 1001', [contact, survey]],
  ['category create --site 1001 --name News', { id: 1, name: 'News' }, ['category.created']],
  [
    'import {records} --site 1001',
    imported,
    // The form and the category already exist.
    ['content.imported', 'content.imported', 'content.imported', 'link.added'],
  ],
  ['import {records} --site 1001', imported],
  ['export --site 1001 --out {exported}', { exported: 7, file: expect.any(String) }],
  ['form remove 1 --site 1001 --dry-run', { removed: false, fields: 1 }],
  ['category rename 1 --site 1001 --name Press', { id: 1, name: 'Press' }, ['category.changed']],
  ['category list --site 1001', [{ id: 1, name: 'Press' }]],
  ['category remove 1 --site 1001 --dry-run', { removed: false, links: 1 }],
  ['object create blog --site 1001', expect.objectContaining({ id: 38, blogName: 'Blog 38' }), ['object.created']],
  [
    'object create news --site 1001 --id 40 --members {"subject":"Two%20words","releaseDate":"2026-01-31"}',
    expect.objectContaining({ id: 40, slug: 'two-words', releaseDate: '2026-01-31T00:00:00', enabled: true, body: '' }),
    ['object.created'],
  ],
  ['object list news --site 1001', [news, expect.objectContaining({ id: 40, subject: 'Two words' })]],
  ['object show news 36 --site 1001', expect.objectContaining({ body: '<p>Come in.</p>', categories: [1] })],
  ['object remove news 36 --site 1001 --dry-run', { removed: false, links: 1 }],
  ['object remove news 36 --site 1001 --yes', removed, ['object.removed']],
  ['category remove 1 --site 1001 --yes', removed, ['category.removed']],
  ['workflow start b/c.html --site 1001', { path: 'b/c.html', workflow: 'running' }, ['workflow.created']],
  ['workflow start a.html --site 1001', { path: 'a.html', workflow: 'running' }, ['workflow.created']],
  ['workflow end a.html --site 1001', expect.anything(), ['workflow.removed']],
  ['workflow list --site 1001', [{ path: 'b/c.html', workflow: 'running' }]],
  ['workflow list --site 7', []],
  ['site remove 1001 --dry-run', expect.objectContaining({ removed: false, webForms: 2, workflows: 1 })],
]

/** The words of a line, with `{name}` replaced by these values. */
export const wordsOf = (line: string, values: Readonly<Record<string, string>>): string[] =>
  line.split(' ').map((word) => values[word.slice(1, -1)] ?? word.replaceAll('%20', ' '))

/** The hash of a token or key in an answer. */
export const hashIn = (answer: unknown): string | undefined =>
  /"(?:hash|id)":"(\w{64})"/.exec(JSON.stringify(answer))?.[1]

export const leavesOf = (command: Command, names: readonly string[] = []): readonly (readonly [string, Command])[] =>
  command.commands.length === 0
    ? [[names.join(' '), command]]
    : command.commands.flatMap((child) => leavesOf(child, [...names, child.name()]))
