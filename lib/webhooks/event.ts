import type { ChangeType, viewOfChange } from '../core/history-entry.ts'

export interface ReportedView extends Pick<ReturnType<typeof viewOfChange>, 'id' | 'at' | 'subject'> {
  readonly type: ChangeType | 'webhook.test'
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
