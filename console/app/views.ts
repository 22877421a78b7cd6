import type { ComponentType } from 'preact'
import { CategoriesView } from '../categories/categories-view.tsx'
import { FilesView } from '../files/files-view.tsx'
import { FormsView } from '../forms/forms-view.tsx'
import { HistoryView } from '../history/history-view.tsx'
import type { IconName } from '../parts/icon.tsx'
import type { Texts } from '../texts/en.ts'

export interface View {
  /** As it stands in the address. */
  readonly name: string
  readonly label: (texts: Texts) => string
  readonly icon: IconName
  readonly component: ComponentType
}

/** What the console can show, in the order of its navigation. */
export const views: readonly View[] = [
  { name: 'files', label: (texts) => texts.nav.files, icon: 'folder', component: FilesView },
  { name: 'forms', label: (texts) => texts.nav.forms, icon: 'form', component: FormsView },
  { name: 'categories', label: (texts) => texts.nav.categories, icon: 'category', component: CategoriesView },
  { name: 'history', label: (texts) => texts.nav.history, icon: 'history', component: HistoryView },
]
