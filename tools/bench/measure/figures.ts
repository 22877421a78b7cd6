import { inColumns } from '../../../admin/terminal/output.ts'

type Cell = string | number

/** Figures with a title, printed or kept as JSON. */
export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

export type Bench = () => Promise<readonly Table[]>

export const verdict = (met: boolean): string => (met ? 'met' : 'MISSED')

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

/** The table in Markdown with aligned columns. */
export const print = ({ title, columns, rows }: Table): string => {
  const [head = [], ...body] = inColumns([columns, ...rows].map((cells) => cells.map(String)))
  const rule = head.map((cell) => '-'.repeat(cell.length))
  return [`### ${title}`, '', ...[head, rule, ...body].map(line)].join('\n')
}

/** The nearest-rank quantile; `share` is 0 to 1. */
export const quantile = (samples: readonly number[], share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5)
