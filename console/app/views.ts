import type { ComponentType } from 'preact'
import { FilesView } from '../files/files-view.tsx'
import type { IconName } from '../parts/icon.tsx'
import type { Texts } from '../texts/en.ts'

interface View {
  readonly name: string
  readonly label: (texts: Texts) => string
  readonly icon: IconName
  /** Loads the view when it is first shown. The first view is part of the page. */
  readonly load: () => Promise<ComponentType>
}

export const views: readonly View[] = [
  { name: 'files', label: (texts) => texts.nav.files, icon: 'folder', load: async () => FilesView },
  {
    name: 'trash',
    label: (texts) => texts.nav.trash,
    icon: 'restore',
    load: async () => (await import('../files/trash-view.tsx')).TrashView,
  },
  {
    name: 'forms',
    label: (texts) => texts.nav.forms,
    icon: 'form',
    load: async () => (await import('../forms/forms-view.tsx')).FormsView,
  },
  {
    name: 'categories',
    label: (texts) => texts.nav.categories,
    icon: 'category',
    load: async () => (await import('../categories/categories-view.tsx')).CategoriesView,
  },
  {
    name: 'history',
    label: (texts) => texts.nav.history,
    icon: 'history',
    load: async () => (await import('../history/history-view.tsx')).HistoryView,
  },
]
