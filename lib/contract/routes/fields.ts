const admin = '/api/v1/admin/sites'
const webForms = `${admin}/{site}/webforms` as const
const fields = `${webForms}/{webForm}/fields/system` as const
const field = `${fields}/{field}` as const
const group = 'fields'

export const fieldsRoutes = [
  { operation: 'getHealth', method: 'GET', path: '/health', group, public: true },
  { operation: 'getRoot', method: 'GET', path: '/', group, public: true },
  { operation: 'listSites', method: 'GET', path: admin, group },
  { operation: 'listFields', number: 1, method: 'GET', path: fields, group },
  { operation: 'getField', number: 2, method: 'GET', path: field, group },
  { operation: 'createField', number: 3, method: 'POST', path: fields, group },
  { operation: 'updateField', number: 4, method: 'PUT', path: field, group },
  { operation: 'deleteField', number: 5, method: 'DELETE', path: field, group },
  { operation: 'listWebForms', method: 'GET', path: webForms, group },
  { operation: 'getWebForm', method: 'GET', path: `${webForms}/{webForm}`, group },
  { operation: 'listFieldTypes', method: 'GET', path: `${admin}/{site}/webformfieldtypes/system`, group },
] as const
