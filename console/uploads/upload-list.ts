import { computed, signal } from '@preact/signals'

/** `asking`: the path is taken, and the user must decide. */
export type Stage = 'waiting' | 'sending' | 'paused' | 'asking' | 'done' | 'failed' | 'skipped'

export interface Upload {
  readonly id: number
  /** Files that were added together: one answer may apply to all of them. */
  readonly group: number
  readonly path: string
  readonly file: File
  readonly stage: Stage
  readonly sent: number
  readonly error?: unknown
  readonly address?: string | undefined
  readonly replace: boolean
}

export const isOpen = ({ stage }: Upload): boolean => stage !== 'done' && stage !== 'skipped' && stage !== 'failed'

/** Sums over the files that were neither skipped nor failed. */
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
    if (stage === 'skipped' || stage === 'failed') continue
    totals.sent += sent
    totals.bytes += file.size
    totals[isOpen(upload) ? 'open' : 'done']++
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
