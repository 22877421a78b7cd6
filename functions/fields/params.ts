import type * as z from 'zod/mini'
import { ServiceError } from '../../lib/core/errors.ts'
import { parseId, type WebFormId } from '../../lib/core/ids.ts'

type Segments = Readonly<Record<string, string>>

/** Errors: webFormUnknown, also for a malformed id. */
export const webFormOf = ({ webForm = '' }: Segments): { webForm: WebFormId } => {
  const id = parseId<WebFormId>(webForm)
  if (id === undefined) throw new ServiceError('webFormUnknown')
  return { webForm: id }
}

export const fieldOf = (segments: Segments): { webForm: WebFormId; typeId: number } => {
  const typeId = parseId<number>(segments['field'] ?? '')
  const { webForm } = webFormOf(segments)
  if (typeId === undefined) throw new ServiceError('fieldUnknown')
  return { webForm, typeId }
}

// The XML reader loads with the first XML body.
export const bodyOf = <Body>(schema: () => Promise<z.core.$ZodType<Body>>) => ({
  schema,
  malformed: 'fieldsMalformed' as const,
  xml: async (text: string): Promise<unknown> => (await import('../../lib/http/read-xml.ts')).readXml(text),
})
