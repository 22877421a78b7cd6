const admin = '/api/v1/admin/sites'
const webForms = `${admin}/{site}/webforms` as const
const fields = `${webForms}/{webForm}/fields/system` as const
const field = `${fields}/{field}` as const
const group = 'fields'
const read = { group, right: 'forms:read' } as const
const write = { group, right: 'forms:write' } as const

export const fieldsRoutes = [
  { operation: 'getHealth', method: 'GET', path: '/health', group, public: true },
  { operation: 'getRoot', method: 'GET', path: '/', group, public: true },
  { operation: 'listSites', method: 'GET', path: admin, group },
  { operation: 'listFields', method: 'GET', path: fields, ...read },
  { operation: 'getField', method: 'GET', path: field, ...read },
  { operation: 'createField', method: 'POST', path: fields, ...write },
  { operation: 'updateField', method: 'PUT', path: field, ...write },
  { operation: 'deleteField', method: 'DELETE', path: field, ...write },
  { operation: 'listWebForms', method: 'GET', path: webForms, ...read },
  { operation: 'getWebForm', method: 'GET', path: `${webForms}/{webForm}`, ...read },
  { operation: 'listFieldTypes', method: 'GET', path: `${admin}/{site}/webformfieldtypes/system`, ...read },
] as const
