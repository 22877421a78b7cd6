import { effect, signal } from '@preact/signals'
import { deviceStore } from '../parts/stores.ts'
import { isLanguage, type Language, language, preferredLanguage, showLanguage } from '../texts/texts.ts'

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const keys = { language: 'site-admin-language', theme: 'site-admin-theme' }

export const theme = signal<Theme>('auto')

export const chooseLanguage = async (chosen: Language): Promise<void> => {
  await showLanguage(chosen)
  deviceStore.setItem(keys.language, chosen)
}

export const chooseTheme = (chosen: Theme): void => {
  theme.value = chosen
  deviceStore.setItem(keys.theme, chosen)
}

export const followPreferences = async (): Promise<void> => {
  const kept = deviceStore.getItem(keys.language)
  theme.value = themes.find((each) => each === deviceStore.getItem(keys.theme)) ?? 'auto'
  effect(() => {
    document.documentElement.lang = language.value
  })
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value
  })
  // English is part of the page, and is shown if another language cannot be loaded.
  await showLanguage(isLanguage(kept) ? kept : preferredLanguage(navigator.languages)).catch(() => {})
}
