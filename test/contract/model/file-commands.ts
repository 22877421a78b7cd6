import fc from 'fast-check'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { expectFile, type Learn, request } from './commands.ts'
import {
  addFolder,
  copyPath,
  isThere,
  join,
  learnFiles,
  movePath,
  nameOf,
  putFile,
  removePath,
  type SiteModel,
  spell,
  spellFolder,
  targetOf,
} from './site-model.ts'

const folders = ['a', 'A', 'a/b', 'b.html', 'Templates', 'templates']
const names = ['a', 'A', 'b', 'B.html', 'b.html', 'n.txt', 'e\u0301.txt']
const paths = [...folders, ...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...names]
const contents = ['', 'x', '<p>y</p>', '{tag_pagecontent}', 'z'.repeat(20_000)]

const anyFolder = fc.constantFrom('', ...folders)
const anyName = fc.constantFrom(...names)
const anyContent = fc.constantFrom(...contents)
/** Most requests use one of these paths. */
export const busyPaths = ['a', 'A', 'a/b.html', 'A/b.html', 'b.html', 'Templates/b.html', 'templates/b.html']
const anyPath = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...busyPaths) },
  { weight: 1, arbitrary: fc.constantFrom(...paths) },
)
const asDraft = fc.constantFrom({}, {}, { version: 'draft' })

type Condition = Pick<Parameters<typeof request>[0], 'headers' | 'tag'>
const conditions = (['If-Match', 'If-None-Match'] as const).flatMap((header): readonly Condition[] => [
  { headers: { [header]: '*' } },
  { tag: { header, age: 'present' } },
  { tag: { header, age: 'earlier' } },
])
const anyCondition = fc.oneof(fc.constant<Condition>({}), fc.constantFrom<Condition>({}, ...conditions))
const isConditional = ({ headers, tag }: Condition): boolean => headers !== undefined || tag !== undefined

const written = (path: string): string => path.normalize('NFC')

const onSuccess =
  (change: (model: SiteModel) => void): Learn =>
  (model, { status }) => {
    if (status === 200) change(model)
  }

/** Like `change`, for a removal from a path. The removal may concern only a draft, which no list shows. */
const onLeaving =
  (path: string, change: (model: SiteModel) => void): Learn =>
  async (model, answer, sites) => {
    if (model.hasOtherDrafts && path.endsWith('.html')) await learnFiles(model, sites)
    else await onSuccess(change)(model, answer, sites)
  }

const put = fc.tuple(anyPath, asDraft, anyContent, anyCondition).map(([path, query, body, condition]) =>
  request(
    { method: 'PUT', ...targetOf(path), query, body, ...condition },
    onSuccess((model) => {
      putFile(model, spell(model, written(path), isConditional(condition)), body, query.version === 'draft')
    }),
  ),
)

type Parts = readonly (readonly [name: string, content: string])[]
const storeIn = (model: SiteModel, wanted: string, parts: Parts, condition: Condition) => {
  const folder = isConditional(condition) ? wanted : spellFolder(model, wanted)
  const [[only = ''] = []] = parts
  // S-34: a client that adds the name of the file to the path.
  if (parts.length === 1 && only === nameOf(folder) && !model.folders.has(folder)) {
    return putFile(model, folder, parts[0]?.[1] ?? '', false, true)
  }
  for (const [name, content] of parts) putFile(model, join(folder, written(name)), content, false, true)
}

const files = fc.uniqueArray(fc.tuple(anyName, anyContent), { minLength: 1, maxLength: 3 })
const post = fc.tuple(anyFolder, files, anyCondition).map(([wanted, parts, condition]) => {
  const body = multipart(parts.map(([name, content]) => ({ name, content }))).toString()
  const headers = { ...formHeaders, ...condition.headers }
  return request(
    { method: 'POST', ...targetOf(wanted), body, ...condition, headers },
    onSuccess((model) => storeIn(model, wanted, parts, condition)),
  )
})

/** The client disconnects before the body is complete. */
const interruptedPut = fc
  .tuple(anyPath, anyContent, fc.nat(3))
  .map(([path, body, cut]) => request({ method: 'PUT', ...targetOf(path), body, cut }))

type Command = ReturnType<typeof request>
const restart: Command = { check: () => true, run: (_, sites) => sites.restart(), toString: () => 'restart' }

const upload = fc
  .tuple(anyFolder, anyName, anyContent, fc.nat(3), fc.boolean())
  .map(([folder, name, content, cut, restarts]): Command => {
    const metadata = `filename ${Buffer.from(name).toString('base64')}`
    const headers = { 'Upload-Length': String(content.length), 'Upload-Metadata': metadata }
    return {
      check: () => true,
      async run(model, sites) {
        const asked = { method: 'POST', ...targetOf(folder), headers, body: content }
        const isStored = await sites.upload(asked, cut, async () => (restarts ? sites.restart() : undefined))
        if (isStored) storeIn(model, folder, [[name, content]], {})
      },
      toString: () => `upload ${folder} ${name} (${content.length}), cut at ${cut}${restarts ? ', restart' : ''}`,
    }
  })

const get = fc
  .tuple(anyPath, asDraft, fc.constantFrom('GET', 'HEAD'), anyCondition)
  .map(([path, query, method, condition]) =>
    request({ method, ...targetOf(path), query, ...condition }, (model, answer) => {
      if (method === 'GET' && !isConditional(condition))
        expectFile(model, answer, written(path), query.version === 'draft')
    }),
  )

const metaSwitches = fc.constantFrom({}, { recursive: 'true' }, { limit: '1' }, { recursive: 'true', limit: '2' })
const meta = fc
  .tuple(fc.oneof(anyPath, anyFolder), metaSwitches)
  .map(([path, query]) => request({ method: 'GET', ...targetOf(path), query: { meta: '', ...query } }))

const look = fc
  .tuple(
    fc.oneof(anyPath, anyFolder),
    fc.constantFrom('versions', 'deleted', 'removal'),
    fc.constantFrom({}, { limit: '1' }),
  )
  .map(([path, name, query]) => request({ method: 'GET', ...targetOf(path), query: { [name]: '', ...query } }))

const readVersion = fc
  .tuple(anyPath, fc.nat(3))
  .map(([path, version]) => request({ method: 'GET', ...targetOf(path), version }))

const makeFolder = fc.tuple(anyPath, anyCondition).map(([path, condition]) =>
  request(
    { method: 'PUT', ...targetOf(path), query: { type: 'folder' }, ...condition },
    onSuccess((model) => addFolder(model, spell(model, written(path), isConditional(condition)))),
  ),
)

const relocate = fc
  .tuple(
    anyPath,
    fc.oneof(fc.record({ name: anyName }), fc.record({ path: anyPath }), fc.record({ copyTo: anyPath })),
    anyCondition,
  )
  .map(([path, body, condition]) =>
    request(
      { method: 'PUT', ...targetOf(path), query: { meta: '' }, body, ...condition },
      onLeaving(path, (model) => {
        const asWritten = isConditional(condition)
        const source = written(path)
        const from = isThere(model, source) ? source : spell(model, source, asWritten)
        if ('name' in body)
          return movePath(model, from, join(from.slice(0, -nameOf(from).length - 1), written(body.name)))
        const to = spell(model, written('path' in body ? body.path : body.copyTo), asWritten)
        if ('path' in body) movePath(model, from, to)
        else copyPath(model, from, to)
      }),
    ),
  )

const deletions = fc.constantFrom({}, {}, { force: 'false' }, { version: 'draft' })
const remove = fc.tuple(anyPath, deletions, anyCondition).map(([path, query, condition]) =>
  request(
    { method: 'DELETE', ...targetOf(path), query, ...condition },
    onLeaving(path, (model) => {
      const asWritten = written(path)
      const found = isThere(model, asWritten) ? asWritten : spell(model, asWritten, isConditional(condition))
      removePath(model, found, 'version' in query)
    }),
  ),
)

const anyVersion = fc.option(fc.nat(3), { nil: undefined })
const restore = fc.tuple(anyPath, fc.constantFrom({}, {}, { replace: true }), anyVersion).map(([path, body, version]) =>
  request(
    { method: 'POST', ...targetOf(path), query: { restore: '' }, body, version },
    async (model, { status }, sites) => {
      if (status === 200) await learnFiles(model, sites)
    },
  ),
)

const purge = fc.tuple(anyPath, anyVersion, anyCondition).map(([path, version, condition]): Command => {
  const query = version === undefined ? { versions: '' } : {}
  const { run, ...command } = request({ method: 'DELETE', ...targetOf(path), query, version, ...condition })
  return {
    ...command,
    run(model, sites) {
      sites.settle()
      return run(model, sites)
    },
  }
})

const recount: Command = { check: () => true, run: (_, sites) => sites.recount(), toString: () => 'recount' }

const changes = fc
  .constantFrom({}, { after: '' }, { limit: '2' }, { type: 'file.stored' }, { subject: 'a/' })
  .map((query) => request({ method: 'GET', api: 'v2', path: 'changes', query }))

const often = [put, put, put, post, relocate, remove, restore]
const interruptions = [interruptedPut, upload, fc.constant(restart)]
export const anyFileCommand = fc.oneof(
  ...often,
  ...often,
  ...interruptions,
  purge,
  fc.constant(recount),
  get,
  get,
  meta,
  look,
  readVersion,
  makeFolder,
  changes,
)
