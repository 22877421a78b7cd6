import { inColumns } from '../../../admin/terminal/output.ts'
import { byName } from '../../../lib/core/names.ts'

type Cell = string | number

/** Figures with a title, which are printed or saved as JSON. */
export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

export type Bench = () => Promise<readonly Table[]>

export const verdict = (met: boolean): string => (met ? 'met' : 'MISSED')

/** Returns two cells of a row: the target, and whether the value meets the target. */
export const atLeast = (value: number, target: number, unit = '') =>
  [`>= ${target}${unit}`, verdict(value >= target)] as const

export const atMost = (value: number, target: number, unit = '') =>
  [`<= ${target}${unit}`, verdict(value <= target)] as const

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

/** The table in Markdown, with aligned columns. */
export const print = ({ title, columns, rows }: Table): string => {
  const [head = [], ...body] = inColumns([columns, ...rows].map((cells) => cells.map(String)))
  const rule = head.map((cell) => '-'.repeat(cell.length))
  return [`### ${title}`, '', ...[head, rule, ...body].map(line)].join('\n')
}

/** The nearest-rank quantile. `share` is from 0 to 1. */
export const quantile = (samples: readonly number[], share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5)

export const mebibyte = 1024 ** 2

export const seconds = async (run: () => unknown): Promise<number> => {
  const startedAt = performance.now()
  await run()
  return (performance.now() - startedAt) / 1000
}

/**
 * Returns the median of each figure. The first turn does not count. All figures are measured in each turn, so that
 * other load affects all of them.
 */
export const inTurns = async <Name extends string>(
  turns: number,
  figures: Readonly<Record<Name, (turn: number) => Promise<number>>>,
): Promise<Readonly<Record<Name, number>>> => {
  const names = Object.keys(figures) as Name[]
  const samples = byName(names, (): number[] => [])
  for (let turn = 0; turn <= turns; turn++) {
    for (const name of names) {
      const figure = await figures[name](turn)
      if (turn > 0) samples[name].push(figure)
    }
  }
  return byName(names, (name) => median(samples[name]))
}
