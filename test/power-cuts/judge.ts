import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createIsHeld } from '../../lib/machine/backup/holds.ts'
import { checkDataDirectory } from '../../lib/machine/check/check-directory.ts'
import { openMachine } from '../../lib/machine/machine.ts'
import { messages } from '../support/messages.ts'
import { hostHere } from '../support/serve-here.ts'
import { startService } from '../support/spawned-service.ts'
import type { Expected, Judged } from './lanes.ts'
import { type Entry, markOf } from './record.ts'
import { laneNamed } from './workload.ts'

/** The expected state of each lane at a position of the log, and the token of the demo of an earlier start. */
export const expectationAt = (entries: readonly Entry[], position: number) => {
  const lanes = new Map<string, Expected<unknown>>()
  let token: string | undefined
  for (const entry of entries.slice(0, position)) {
    const mark = markOf(entry)
    if (mark && 'lane' in mark) lanes.set(mark.lane, mark)
    else token = mark?.token ?? token
  }
  return { lanes, token }
}

type Expectation = ReturnType<typeof expectationAt>

/** The process that checks the states needs no flushes. */
const withoutFlushes = { FSYNC: 'off' } as const

/** Runs the service in this process, because starting Node takes longer than everything else. */
const serveHere = async (data: string) => {
  Object.assign(process.env, withoutFlushes)
  try {
    return await hostHere(data, { say: console.error })
  } finally {
    delete process.env['FSYNC']
  }
}

/** Runs the service in a separate process, like `npm start`. */
const serveApart = (data: string) => startService(data, ['--port', '0', '--quiet'], withoutFlushes)

const faultOfLanes = async (judged: Judged, { lanes }: Expectation): Promise<string | undefined> => {
  for (const [name, expected] of lanes) {
    const fault = await laneNamed(name).faultIn(judged, expected)
    if (fault !== undefined) return `${name}: ${fault}`
  }
  return undefined
}

/** A running backup keeps blobs that no row refers to. The backup may have ended since the service started. */
type Serving = Awaited<ReturnType<typeof serveHere | typeof serveApart>>

const judgeServed = async (root: string, expectation: Expectation, service: Serving) => {
  try {
    const machine = await openMachine(join(root, 'data'), { durable: false })
    try {
      const isHeld = createIsHeld(machine.database.connection)(Date.now() - 5_000)
      if (service.token !== (expectation.token ?? service.token)) return { fault: 'the demo has another token', isHeld }
      return { fault: await faultOfLanes({ root, machine, request: service.request }, expectation), isHeld }
    } finally {
      await machine.close()
    }
  } finally {
    await service.stop()
  }
}

/** Starts the service on a state that a power cut may leave. Returns its first fault. */
export const judge = async (root: string, expectation: Expectation, isApart: boolean): Promise<string | undefined> => {
  const data = join(root, 'data')
  try {
    const service = await (isApart ? serveApart(data) : serveHere(data))
    const { fault, isHeld } = await judgeServed(root, expectation, service)
    if (fault !== undefined) return fault
    const findings = await checkDataDirectory(data, { withBytes: true })
    const finding = findings.find((each) => !(isHeld && each.fault.startsWith(messages.check.ofNoFile)))
    if (finding) return `check: ${finding.where}: ${finding.fault}`
    return existsSync(join(data, 'running')) ? 'the service has not closed the directory' : undefined
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}
