import { readFile } from 'node:fs/promises'

/** What was sent to an operation. */
interface Count {
  /** Requests of the fuzzing itself: those that a number of examples was asked for. */
  readonly examples: number
  /** How often each status was answered, to those and to all others. */
  readonly statuses: Readonly<Record<string, number>>
}

/** By method and path. */
type Tally = Readonly<Record<string, Count>>

interface Operation {
  readonly parameters: readonly unknown[]
  readonly requestBody?: unknown
}

/** What is read of the document. */
export interface FuzzedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Nothing was counted when the fuzzer had to be killed. */
export const readTally = async (file: string): Promise<Tally> => {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch {
    return {}
  }
}

/** The operations whose requests can differ: what takes no input has a single one, and the fuzzer sends it once. */
const variable = ({ paths }: FuzzedDocument): string[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters, requestBody }]) =>
      parameters.length > 0 || requestBody !== undefined ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  )

/** The operations that have had fewer examples than they need. */
export const lacking = (document: FuzzedDocument, tally: Tally, needed: number): string[] =>
  variable(document).filter((operation) => (tally[operation]?.examples ?? 0) < needed)

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

/** How many requests were sent, and what was answered to them. */
export const tableOf = (tally: Tally): string => {
  const rows = Object.entries(tally).map(([operation, { examples, statuses }]) => {
    const seen = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
    return { requests: sum(Object.values(statuses)), line: `  ${operation}  ${examples} examples; ${seen.join(', ')}` }
  })
  return [
    `Requests: ${sum(rows.map(({ requests }) => requests))}. Answers by operation:`,
    ...rows.map(({ line }) => line),
  ].join('\n')
}
