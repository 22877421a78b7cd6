import type * as z from 'zod/mini'
import { ServiceError } from '../../lib/core/errors.ts'
import { parseId, type WebFormId } from '../../lib/core/ids.ts'

type Segments = Readonly<Record<string, string>>

/** The web form that a path names. Errors: webFormUnknown, also for what cannot be the id of one. */
export const webFormOf = ({ webForm = '' }: Segments): { webForm: WebFormId } => {
  const id = parseId<WebFormId>(webForm)
  if (id === undefined) throw new ServiceError('webFormUnknown')
  return { webForm: id }
}

/** The web form and the type of the field that a path names. Errors: webFormUnknown, fieldUnknown. */
export const fieldOf = (segments: Segments): { webForm: WebFormId; typeId: number } => {
  const typeId = parseId<number>(segments['field'] ?? '')
  const { webForm } = webFormOf(segments)
  if (typeId === undefined) throw new ServiceError('fieldUnknown')
  return { webForm, typeId }
}

/** A body of this group: in JSON or XML. The reader of XML is loaded when the first caller sends some: most never do. */
export const bodyOf = <Body>(schema: () => Promise<z.core.$ZodType<Body>>) => ({
  schema,
  malformed: 'fieldsMalformed' as const,
  xml: async (text: string): Promise<unknown> => (await import('../../lib/http/read-xml.ts')).readXml(text),
})
