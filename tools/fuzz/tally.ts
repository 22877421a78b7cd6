import { readFile } from 'node:fs/promises'

interface Count {
  // `--examples` limits this number of requests in the fuzzing phase.
  readonly examples: number
  // The number of answers by status, over all phases.
  readonly statuses: Readonly<Record<string, number>>
}

// The key is a method and a path.
type Tally = Readonly<Record<string, Count>>

interface Operation {
  readonly parameters: readonly unknown[]
  readonly requestBody?: unknown
}

export interface FuzzedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Empty if the fuzzer was killed. */
export const readTally = async (file: string): Promise<Tally> => {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch {
    return {}
  }
}

// Operations without input have a single request.
const variable = ({ paths }: FuzzedDocument): string[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters, requestBody }]) =>
      parameters.length > 0 || requestBody !== undefined ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  )

export const lacking = (document: FuzzedDocument, tally: Tally, needed: number): string[] =>
  variable(document).filter((operation) => (tally[operation]?.examples ?? 0) < needed)

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

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
