import type { ComponentType } from 'preact'
import { FilesView } from '../files/files-view.tsx'
import type { AreaRight } from '../page/rights.ts'
import type { IconName } from '../parts/icon.tsx'
import type { Texts } from '../texts/en.ts'

interface View {
  readonly name: keyof Texts['nav']
  readonly icon: IconName
  /** Only callers with this right see the view (K-27). */
  readonly right: AreaRight
  /** Loads the view when it is first shown. The first view is part of the page. */
  readonly load: () => Promise<ComponentType>
}

export const views: readonly View[] = [
  {
    name: 'files',
    icon: 'folder',
    right: 'files:read',
    load: async () => FilesView,
  },
  {
    name: 'trash',
    icon: 'restore',
    right: 'files:read',
    load: async () => (await import('../files/on-demand.ts')).TrashView,
  },
  {
    name: 'forms',
    icon: 'form',
    right: 'forms:read',
    load: async () => (await import('./on-demand.ts')).FormsView,
  },
  {
    name: 'categories',
    icon: 'category',
    right: 'categories:read',
    load: async () => (await import('./on-demand.ts')).CategoriesView,
  },
  {
    name: 'history',
    icon: 'history',
    right: 'history:read',
    load: async () => (await import('../history/history-view.tsx')).HistoryView,
  },
  {
    name: 'access',
    icon: 'person',
    right: 'access:read',
    load: async () => (await import('../access/on-demand.ts')).AccessView,
  },
]
