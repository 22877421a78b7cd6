import { signal } from '@preact/signals'
import { deviceStore } from '../parts/stores.ts'

const key = 'site-admin-layout'

export type Layout = 'list' | 'grid'

const kept = (): Layout => (deviceStore.getItem(key) === 'grid' ? 'grid' : 'list')

export const layout = signal<Layout>(kept())

export const chooseLayout = (chosen: Layout): void => {
  layout.value = chosen
  deviceStore.setItem(key, chosen)
}
