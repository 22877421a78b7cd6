const admin = '/api/v1/admin/sites'
const webForms = `${admin}/{site}/webforms` as const
const fields = `${webForms}/{webForm}/fields/system` as const
const field = `${fields}/{field}` as const
const group = 'fields'

export const fieldsRoutes = [
  { operation: 'getHealth', method: 'GET', path: '/health', group, public: true },
  { operation: 'getRoot', method: 'GET', path: '/', group, public: true },
  { operation: 'listSites', method: 'GET', path: admin, group },
  { operation: 'listFields', method: 'GET', path: fields, group },
  { operation: 'getField', method: 'GET', path: field, group },
  { operation: 'createField', method: 'POST', path: fields, group },
  { operation: 'updateField', method: 'PUT', path: field, group },
  { operation: 'deleteField', method: 'DELETE', path: field, group },
  { operation: 'listWebForms', method: 'GET', path: webForms, group },
  { operation: 'getWebForm', method: 'GET', path: `${webForms}/{webForm}`, group },
  { operation: 'listFieldTypes', method: 'GET', path: `${admin}/{site}/webformfieldtypes/system`, group },
] as const
