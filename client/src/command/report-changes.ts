import { isRefusal } from '../follow-changes.ts'
import type { Change, ChangeType } from '../index.ts'
import { ServiceError } from '../service-error.ts'
import { tell } from './output.ts'
import type { Context } from './single.ts'
import { find } from './site-path.ts'

const types: readonly ChangeType[] = [
  ...(['stored', 'removed', 'moved', 'copied', 'restored'] as const).map((fate) => `file.${fate}` as const),
  ...(['created', 'removed', 'restored'] as const).map((fate) => `folder.${fate}` as const),
]

// In milliseconds: after this time, this process has the answers to its own requests.
const delay = 1_000

const pathsOf = ({ subject, details }: Change): readonly string[] => {
  const { names = [], to } = details ?? {}
  const uploaded = names.map((name) => (subject === '' ? name : `${subject}/${name}`))
  return [...(uploaded.length > 0 ? uploaded : [subject]), ...(to === undefined ? [] : [to])]
}

const isBelow = (folder: string, path: string): boolean =>
  folder === '' || path === folder || path.startsWith(`${folder}/`)

const ofWholeFolders: readonly ChangeType[] = ['folder.removed', 'folder.restored', 'file.moved', 'file.copied']

const concerns = (folder: string, change: Change): boolean =>
  pathsOf(change).some(
    (path) => isBelow(folder, path) || (ofWholeFolders.includes(change.type) && isBelow(path, folder)),
  )

const describe = (change: Change): string => {
  const { type, actor, details } = change
  const paths = pathsOf(change)
  const shown = details?.to !== undefined ? paths.join(' → ') : paths.slice(0, 3).join(', ')
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : ''
  return `Changed on the site: ${shown}${more} (${type}, by ${actor}).`
}

/**
 * Prints the changes that others make to the files below a folder, until the signal aborts. If the service refuses
 * this, prints one message. If another server refuses this, also prints one message, but continues. Errors: a
 * `ServiceError` with status 401.
 */
export const reportChanges = async (context: Context, wanted: string, signal: AbortSignal): Promise<void> => {
  let isTold = false
  const tellRefusal = ({ code, message }: ServiceError) => {
    if (!isTold) tell(context, { event: 'unwatched', code, message }, `Changes on the site are not shown: ${message}`)
    isTold = true
  }
  const onConnection = (failure?: ServiceError) => {
    if (failure && isRefusal(failure)) tellRefusal(failure)
  }
  try {
    // The push writes to the folder in the spelling of the site, too.
    const folder = (await find(context, wanted))?.path ?? wanted.normalize('NFC')
    for await (const change of context.client.changes.follow({ types, signal, onConnection })) {
      if (!concerns(folder, change) || context.isOwn(change.requestId)) continue
      const print = () => {
        if (signal.aborted || context.isOwn(change.requestId)) return
        tell(context, { event: 'changed', ...change }, describe(change))
      }
      setTimeout(print, delay).unref()
    }
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof ServiceError) || error.status === 401) throw error
    tellRefusal(error)
  }
}
