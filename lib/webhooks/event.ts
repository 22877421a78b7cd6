import type { ChangeType } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

export interface OutgoingEntry {
  readonly position: number
  readonly view: {
    readonly id: string
    readonly at: string
    readonly type: ChangeType
    readonly subject: string
  }
}

/** Entries of the history after a position, the oldest first, as callers of the service get them. */
export interface Outbox {
  after(site: SiteId, position: number, limit: number): Promise<readonly OutgoingEntry[]>
}

export const entryAt = async (outbox: Outbox, site: SiteId, position: number): Promise<OutgoingEntry | undefined> => {
  const [entry] = await outbox.after(site, position - 1, 1)
  return entry?.position === position ? entry : undefined
}

/** V-6. A CloudEvent in structured mode. `source` is the API address of the site. */
export const eventOf = (view: ReportedView, source: string) => ({
  specversion: '1.0',
  id: view.id,
  source,
  type: `site-admin.${view.type}`,
  ...(view.subject !== '' && { subject: view.subject }),
  time: view.at,
  datacontenttype: 'application/json',
  data: view,
})

export type ReportedView = Omit<OutgoingEntry['view'], 'type'> & { readonly type: ChangeType | 'webhook.test' }
