/** One script contains both views, because they share code. */
export { CategoriesView } from '../categories/categories-view.tsx'
export { FormsView } from '../forms/forms-view.tsx'
