import type { UploadProgress } from '../../storage/upload-progress.ts'
import { inSeconds, openTable, type TableOptions } from './dynamodb.ts'

/** In milliseconds. */
const keptFor = 24 * 3600 * 1000

interface ProgressItem {
  readonly token: string
  readonly percent: number
  readonly expires: number
}

/** The progress of uploads in the table Uploads, by the hash of the token. */
export const createUploadProgress = ({ now = Date.now, ...options }: TableOptions): UploadProgress => {
  const table = openTable<ProgressItem>(options)
  const expires = () => inSeconds(now() + keptFor)

  return {
    // Arrival here decides which upload is the newest: a clock may be set back. A repeated call finds its upload as the
    // newest one, or as the one that the newest has replaced.
    async begin({ token, id }) {
      await table.update(
        { token },
        {
          update: 'SET #before = if_not_exists(#id, :none), #id = :id, #percent = :zero, #expires = :expires',
          condition: 'attribute_not_exists(#id) OR (#id <> :id AND #before <> :id)',
          values: { ':none': '', ':id': id, ':zero': 0, ':expires': expires() },
        },
      )
    },

    async report({ token, id }, percent) {
      const condition = '#id = :id AND #percent < :percent'
      await table.update({ token }, { set: { percent, expires: expires() }, condition, values: { ':id': id } })
    },

    async percentOf(token) {
      const item = await table.get({ token })
      return item && item.expires * 1000 > now() ? item.percent : 0
    },
  }
}
