import { addOwner, keyChanges, peopleChanges, signIn, webhookChanges } from './access-lanes.ts'
import { adminChanges } from './admin-lane.ts'
import { draftChanges, fileChanges, versionChanges } from './file-lane.ts'
import { importChanges } from './import-lane.ts'
import { type Lane, Refusal, type Service } from './lanes.ts'
import type { Recording } from './record.ts'
import { fieldChanges, linkChanges } from './table-lanes.ts'
import { uploadChanges } from './upload-lane.ts'

/** The name of a lane is like `files:left`: the kind of changes, and a folder of the site. */
const kinds: Readonly<Record<string, (folder: string) => Lane<unknown>>> = {
  files: fileChanges,
  versions: versionChanges,
  drafts: draftChanges,
  uploads: (folder) => uploadChanges(folder, [40_000, 300_000]),
  // In bytes. The service flushes for the first time before it has written this many bytes.
  large: (folder) => uploadChanges(folder, [9_500_000]),
  admin: adminChanges,
  fields: fieldChanges,
  links: linkChanges,
  people: peopleChanges,
  keys: keyChanges,
  webhooks: webhookChanges,
  imports: importChanges,
}

export const laneNamed = (name: string): Lane<unknown> => {
  const [kind = '', folder = ''] = name.split(':')
  const lane = kinds[kind]?.(folder)
  if (!lane) throw new Error(`There is no lane ${name}`)
  return lane
}

interface Run {
  readonly recording: Recording
  readonly service: Service
  /** May kill the service, which ends the running lanes. */
  readonly answered?: () => void
}

const runLane = async (all: Run, lane: string, steps: number): Promise<void> => {
  const { recording, service, answered } = all
  const { start, next } = laneNamed(lane)
  let acknowledged = start
  recording.mark({ lane, acknowledged })
  for (let count = 0; count < steps; count += 1) {
    const step = next(acknowledged, count)
    recording.mark({ lane, acknowledged, underWay: step.after })
    try {
      acknowledged = await step.send(service, recording)
    } catch (error) {
      if (answered && !(error instanceof Refusal)) return
      throw error
    }
    recording.mark({ lane, acknowledged })
    answered?.()
  }
}

const run = async (all: Run, lanes: Readonly<Record<string, number>>): Promise<void> => {
  await Promise.all(Object.entries(lanes).map(([lane, steps]) => runLane(all, lane, steps)))
}

type RecordedService = Awaited<ReturnType<Recording['serve']>>

const runUntilKilled = async (recording: Recording, service: RecordedService, answers: number): Promise<void> => {
  let left = answers
  let killed: Promise<void> | undefined
  const answered = () => {
    left -= 1
    if (left === 0) killed = service.kill()
  }
  await run({ recording, service, answered }, dying)
  await killed
}

/** In seconds: versions have expired after this time. */
const longAgo = -31 * 24 * 3600

const early = { 'files:early': 12, 'files:earlier': 12 }
const files = {
  'files:left': 16,
  'files:middle': 16,
  'files:right': 16,
  'versions:pages': 10,
  'uploads:tus': 14,
  'drafts:drafts': 12,
}
const beside = { fields: 12, links: 8, imports: 3, 'admin:one': 3 }
const ofOwner = { people: 9, keys: 9, webhooks: 9 }
const dying = { 'files:dying': 99, 'files:dead': 99, 'uploads:dying-tus': 99, 'drafts:dying-drafts': 99 }
const late = { 'files:late': 8, 'files:later': 8, 'admin:two': 2, 'uploads:third-tus': 6, 'large:large': 2 }

/**
 * Makes changes of every kind with four services, one after the other. Versions of the first service have expired when
 * the second service starts. The second service is killed, and the others stop.
 */
export const runWorkload = async (recording: Recording): Promise<void> => {
  const first = await recording.serve(longAgo)
  // From now on, `check` compares the used bytes with the files.
  await recording.administer(['site', 'quota', '1001', '1000000000'])
  await addOwner(recording)
  await run({ recording, service: first }, early)
  await first.stop()
  const second = await recording.serve()
  await Promise.all([
    run({ recording, service: second }, { ...files, ...beside }),
    run({ recording, service: await signIn(second) }, ofOwner),
  ])
  await runUntilKilled(recording, second, 12)
  const third = await recording.serve()
  await run({ recording, service: third }, late)
  await third.stop()
  await (await recording.serve()).stop()
  recording.close()
}

export const runShortWorkload = async (recording: Recording): Promise<void> => {
  const service = await recording.serve()
  await run({ recording, service }, { 'files:left': 12, 'files:right': 12, 'uploads:tus': 10 })
  await service.stop()
  recording.close()
}
