export const storage = '/api/v2/admin/sites/current/storage'
export const fields = '/api/v1/admin/sites/current/webforms/1/fields/system'
export const news = '/webresources/api/v3/sites/current/categories/1/news'
