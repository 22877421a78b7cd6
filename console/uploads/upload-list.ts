import { computed, signal } from '@preact/signals'

/** `asking` means that the path is taken, and that the user must decide. */
export type Stage = 'waiting' | 'sending' | 'paused' | 'asking' | 'done' | 'failed' | 'skipped'

export interface Upload {
  readonly id: number
  /** Files that the user added together have the same group. One answer may apply to all of them. */
  readonly group: number
  readonly path: string
  readonly file: File
  readonly stage: Stage
  readonly sent: number
  readonly error?: unknown
  readonly address?: string | undefined
  /** The path with a number, if the address belongs to it. */
  readonly storedAs?: string | undefined
  readonly replace: boolean
}

export const isOpen = ({ stage }: Upload): boolean => stage !== 'done' && stage !== 'skipped' && stage !== 'failed'

/** Running files come first, and completed files last. Files of one rank stay in their order. */
const ranks: Readonly<Record<Stage, number>> = {
  sending: 0,
  paused: 0,
  asking: 0,
  failed: 1,
  waiting: 2,
  done: 3,
  skipped: 3,
}

export const runningFirst = (uploads: readonly Upload[]): readonly Upload[] => {
  const byRank = Map.groupBy(uploads, ({ stage }) => ranks[stage])
  return [0, 1, 2, 3].flatMap((rank) => byRank.get(rank) ?? [])
}

/** The bytes of skipped and failed files do not count. A skipped file counts as done. */
export interface Totals {
  readonly sent: number
  readonly bytes: number
  readonly done: number
  readonly open: number
}

const sum = (uploads: readonly Upload[]): Totals => {
  const totals = { sent: 0, bytes: 0, done: 0, open: 0 }
  for (const upload of uploads) {
    const { stage, sent, file } = upload
    if (stage === 'failed') continue
    totals[isOpen(upload) ? 'open' : 'done']++
    if (stage === 'skipped') continue
    totals.sent += sent
    totals.bytes += file.size
  }
  return totals
}

export const createUploadList = () => {
  /**
   * Mutable, because a dropped folder may have tens of thousands of files, and a copy for each change would block the
   * page.
   */
  const held = signal({ byId: new Map<number, Upload>() })
  const all = computed(() => [...held.value.byId.values()])

  const edit = (work: (byId: Map<number, Upload>) => void) => {
    const { byId } = held.peek()
    work(byId)
    held.value = { byId }
  }

  const get = (id: number) => held.peek().byId.get(id)

  return {
    all,
    totals: computed(() => sum(all.value)),
    get,
    edit,
    change(id: number, changes: Partial<Upload>) {
      const upload = get(id)
      if (upload) edit((byId) => byId.set(id, { ...upload, ...changes }))
    },
  }
}
