import fc from 'fast-check'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { type BothSites, type BothStores, categories, createClock, objects, openBothStores } from './both-stores.ts'
import { expectFile, type request } from './commands.ts'
import { anyFileCommand, busyPaths } from './file-commands.ts'
import { createSiteModel, readFiles, type SiteModel, targetOf } from './site-model.ts'
import { anyFieldCommand, anyLinkCommand, listFields, listLinks } from './table-commands.ts'

// `npm run prove` sets a larger number of sequences, and a new seed each time.
const { PROVE_COUNT = '10', PROVE_SEED = '12', PROVE_PATH } = process.env

/** In milliseconds: enough for a busy machine. */
const patience = 60_000 + Number(PROVE_COUNT) * 10_000

// New stores are opened from time to time, because large ones are slow: a bucket in memory sorts all of its keys.
const sequencesPerStore = 40

/** In bytes: room for a few files, or for one or two large files. */
const anyQuota = fc.constantFrom(undefined, undefined, 40, 20_050, 45_000)

type AnyCommand = fc.Arbitrary<ReturnType<typeof request>>
const sequenceOf = (...commands: readonly AnyCommand[]) =>
  fc.commands([fc.oneof(...commands)], { maxCommands: 60, size: 'max' })
const anySequence = fc.oneof(
  { weight: 2, arbitrary: sequenceOf(anyFileCommand) },
  { weight: 1, arbitrary: sequenceOf(anyFieldCommand, anyLinkCommand) },
  { weight: 1, arbitrary: sequenceOf(anyFileCommand, anyFieldCommand, anyLinkCommand) },
)

/** At the end of a sequence, reads the whole site. */
const lookAtAll = async (model: SiteModel, sites: BothSites): Promise<void> => {
  const lists = (['news', 'blog'] as const).flatMap((kind) => [
    ...categories.map((category) => listLinks(kind, { category })),
    ...objects.map((object) => listLinks(kind, { object })),
  ])
  for (const list of [listFields, ...lists]) await list.run(model, sites)
  await sites.ask({ method: 'GET', api: 'v2', path: 'storage', query: { deleted: '' } })
  await sites.ask({ method: 'GET', api: 'v2', path: 'changes', query: { after: '', limit: '500' } })
  const { files, folders } = await readFiles(sites)
  expect([...files].sort(), 'files').toEqual([...model.files].sort())
  expect([...folders].sort(), 'folders').toEqual([...model.folders].sort())
  for (const path of new Set([...files.keys(), ...model.drafts.keys(), ...busyPaths])) {
    await sites.ask({ method: 'GET', ...targetOf(path), query: { versions: '' } })
    const query = { version: 'draft' }
    expectFile(model, await sites.ask({ method: 'GET', ...targetOf(path), query }), path, true)
  }
}

/** S-120, S-124, S-125: both stores count the same bytes, at least those of the model. An open upload counts, too. */
const expectUsage = async ({ files, drafts, hasOtherDrafts }: SiteModel, sites: BothSites): Promise<void> => {
  if (sites.quota === undefined) return
  const [machine = 0, aws] = await sites.usedBytes()
  expect([aws, machine <= sites.quota], 'used bytes').toEqual([machine, true])
  const stored = [...files.values(), ...drafts.values()].reduce((sum, content) => sum + Buffer.byteLength(content), 0)
  if (!hasOtherDrafts) expect(machine, 'used bytes').toBeGreaterThanOrEqual(stored)
}

/** S-121: uploads at the same time never exceed the quota together. */
const expectLimit = async (sites: BothSites): Promise<void> => {
  const { quota } = sites
  if (quota === undefined) return
  const question = { method: 'PUT', ...targetOf('Many/x') }
  const answers = await sites.askAll(
    Array.from({ length: 64 }, (_, index) => ({
      ...question,
      path: `${question.path}${index}`,
      body: 'x'.repeat(1 + ((index * quota) % 97)),
    })),
  )
  for (const { status } of answers.flat()) expect(status).toBeOneOf([200, 400])
  for (const used of await sites.usedBytes()) expect(used, 'used bytes').toBeLessThanOrEqual(quota)
}

let both: BothStores | undefined
let sequences = 0
afterAll(() => both?.close())

const openSite = async (quota: number | undefined): Promise<BothSites> => {
  sequences += 1
  if (sequences % sequencesPerStore === 1) {
    await both?.close()
    both = await openBothStores(clock)
  }
  if (!both) throw new Error('No stores are open')
  return both.openSite(quota)
}

// The clock advances in whole seconds, as on S3.
const clock = createClock(1_800_000_000_000)

test('both stores return what the model returns, for every sequence of requests', { timeout: patience }, async () => {
  vi.spyOn(Date, 'now').mockImplementation(clock.wall)
  onTestFinished(() => void vi.restoreAllMocks())
  const property = fc.asyncProperty(anySequence, anyQuota, fc.boolean(), async (commands, quota, isCrowded) => {
    const [model, sites] = [createSiteModel(), await openSite(quota)]
    await fc.asyncModelRun(() => ({ model, real: sites }), commands)
    await lookAtAll(model, sites)
    await expectUsage(model, sites)
    if (isCrowded) await expectLimit(sites)
  })
  await fc.assert(property, {
    numRuns: Number(PROVE_COUNT),
    seed: Number(PROVE_SEED),
    // The path of a shortened case begins with the number of the run that failed.
    ...(PROVE_PATH && { path: PROVE_PATH.replace(/:.*/, '') }),
    includeErrorInReport: true,
  })
})
