import { computed } from '@preact/signals'
import type { Texts } from './en.ts'
import { enViews, type ViewTexts } from './en-views.ts'
import { texts } from './texts.ts'

export const viewTexts = computed<Texts & ViewTexts>(() => ({ ...enViews, ...texts.value }))
