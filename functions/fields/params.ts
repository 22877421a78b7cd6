import { ServiceError } from '../../lib/core/errors.ts'
import { parseId, type SiteId, type WebFormId } from '../../lib/core/ids.ts'
import type { WebForm, WebForms } from '../../lib/fields/web-forms.ts'

type Segments = Readonly<Record<string, string>>

/** Errors: webFormUnknown, also for a malformed id. */
export const webFormOf = ({ webForm = '' }: Segments): { webForm: WebFormId } => {
  const id = parseId<WebFormId>(webForm)
  if (id === undefined) throw new ServiceError('webFormUnknown')
  return { webForm: id }
}

/** Errors: webFormUnknown, fieldUnknown. */
export const fieldOf = (segments: Segments): { webForm: WebFormId; typeId: number } => {
  const typeId = parseId<number>(segments['field'] ?? '')
  const { webForm } = webFormOf(segments)
  if (typeId === undefined) throw new ServiceError('fieldUnknown')
  return { webForm, typeId }
}

export const bodies = {
  schemas: () => import('../../lib/contract/fields/field-body.ts'),
  malformed: 'fieldsMalformed' as const,
  xml: async (text: string): Promise<unknown> => (await import('../../lib/http/read-xml.ts')).readXml(text),
}

/** Errors: webFormUnknown. */
export const findForm = async (webForms: WebForms, site: SiteId, id: WebFormId): Promise<WebForm> => {
  const form = await webForms.get(site, id)
  if (!form) throw new ServiceError('webFormUnknown')
  return form
}
