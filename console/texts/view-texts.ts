import { computed } from '@preact/signals'
import { enViews, type ViewTexts } from './en-views.ts'
import { texts } from './texts.ts'

export const viewTexts = computed<ViewTexts>(() => ({ ...enViews, ...texts.value }))
