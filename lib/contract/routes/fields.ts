/** The rows of this group in the route table (`lib/contract/routes/routes.ts`). */
export const fieldsRoutes = [
  { operation: 'getHealth', method: 'GET', path: '/health', group: 'fields', public: true },
  { operation: 'getRoot', method: 'GET', path: '/', group: 'fields', public: true },
  { operation: 'listSites', method: 'GET', path: '/api/v1/admin/sites', group: 'fields' },
  {
    operation: 'listFields',
    number: 1,
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system',
    group: 'fields',
  },
  {
    operation: 'getField',
    number: 2,
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  {
    operation: 'createField',
    number: 3,
    method: 'POST',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system',
    group: 'fields',
  },
  {
    operation: 'updateField',
    number: 4,
    method: 'PUT',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  {
    operation: 'deleteField',
    number: 5,
    method: 'DELETE',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  { operation: 'listWebForms', method: 'GET', path: '/api/v1/admin/sites/{site}/webforms', group: 'fields' },
  { operation: 'getWebForm', method: 'GET', path: '/api/v1/admin/sites/{site}/webforms/{webForm}', group: 'fields' },
  {
    operation: 'listFieldTypes',
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webformfieldtypes/system',
    group: 'fields',
  },
] as const
