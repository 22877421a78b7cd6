import { signal } from '@preact/signals'

const key = 'site-admin-layout'

export type Layout = 'list' | 'grid'

const kept = (): Layout => (globalThis.localStorage?.getItem(key) === 'grid' ? 'grid' : 'list')

export const layout = signal<Layout>(kept())

export const chooseLayout = (chosen: Layout): void => {
  layout.value = chosen
  localStorage.setItem(key, chosen)
}
