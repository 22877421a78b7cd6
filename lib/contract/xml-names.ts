import type { Document } from '../http/reply.ts'

export const xmlNames = {
  credentials: { root: 'credentials' },
  token: { root: 'authToken' },
  sites: { root: 'sites', item: 'site' },
  field: { root: 'field' },
  fields: { root: 'fields', item: 'field' },
  webForm: { root: 'webForm' },
  webForms: { root: 'webForms', item: 'webForm' },
  fieldTypes: { root: 'fieldTypes', item: 'fieldType' },
} as const satisfies Record<string, Document['xml']>
