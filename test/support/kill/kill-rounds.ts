import { checkDataDirectory } from '../../../lib/machine/check/check-directory.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { startService } from '../spawned-service.ts'
import { fieldLane } from './field-lane.ts'
import { fileLane } from './file-lane.ts'
import { type Runner, runnerOf } from './lane.ts'
import { linkLane } from './link-lane.ts'
import { recordedLane } from './recorded-lane.ts'

export interface Finding {
  readonly round: number
  readonly finding: unknown
}

const mostAnswers = 25

/** Sends concurrent changes of every kind until the service is killed during some of these changes. */
const runUntilKilled = async (directory: string, lanes: readonly Runner[], fsync: 'on' | 'off'): Promise<void> => {
  const service = await startService(directory, ['--port', '0', '--quiet'], { FSYNC: fsync })
  let left = 1 + Math.floor(Math.random() * mostAnswers)
  const acknowledged = () => {
    left -= 1
    if (left === 0) service.kill('SIGKILL')
  }
  try {
    await Promise.all(lanes.map((lane) => lane.run(service, acknowledged)))
  } finally {
    service.kill('SIGKILL')
    await service.ended
  }
}

const isOneOf = (allowed: readonly unknown[], found: unknown): boolean =>
  allowed.some((each) => JSON.stringify(each) === JSON.stringify(found))

/** Contents that are missing in the directory, and contents without an object. */
const findingsOf = async (directory: string, lanes: readonly Runner[]): Promise<unknown[]> => {
  const findings: unknown[] = []
  const machine = await openMachine(directory, { role: 'service', durable: false })
  try {
    for (const lane of lanes) {
      const { allowed, found, step } = await lane.compare(machine)
      if (!isOneOf(allowed, found)) findings.push({ lane: lane.name, step, allowed, found })
    }
  } finally {
    await machine.close()
  }
  return [...findings, ...(await checkDataDirectory(directory))]
}

/** Kills the service repeatedly on one directory, and checks everything each time. Returns the first fault. */
export const killAgainAndAgain = async (
  directory: string,
  rounds: number,
  fsync: 'on' | 'off',
): Promise<Finding | undefined> => {
  const lanes = [
    ...['left', 'middle', 'right'].map((folder) =>
      runnerOf(recordedLane(fileLane(folder), ({ subject }) => subject.startsWith(`${folder}/`))),
    ),
    runnerOf(recordedLane(fieldLane(), ({ type }) => type.startsWith('field.'))),
    // A repeated link writes no history entry, so the entries of links are not counted.
    runnerOf(linkLane()),
  ]
  for (let round = 1; round <= rounds; round += 1) {
    await runUntilKilled(directory, lanes, fsync)
    const [finding] = await findingsOf(directory, lanes)
    if (finding !== undefined) return { round, finding }
  }
  return undefined
}
