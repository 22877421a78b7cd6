import { computed, signal } from '@preact/signals'
import { en, type Texts } from './en.ts'
import type { ViewTexts } from './en-views.ts'

type ShownTexts = Texts & Partial<ViewTexts>

/** To add a language, add a file with the keys of `en.ts` and `en-views.ts`. The new file is loaded on demand. */
const languages = {
  en: async (): Promise<ShownTexts> => en,
  de: async (): Promise<ShownTexts> => (await import('./de.ts')).de,
}
export type Language = keyof typeof languages
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

export const isLanguage = (text: unknown): text is Language => typeof text === 'string' && text in languages

/** Returns the first available language of the user's list. */
export const preferredLanguage = (wanted: readonly string[]): Language =>
  wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? 'en'

const shown = signal<{ readonly language: Language; readonly texts: ShownTexts }>({ language: 'en', texts: en })

export const language = computed<Language>(() => shown.value.language)

export const texts = computed<ShownTexts>(() => shown.value.texts)

/** Rejects if the texts cannot be loaded. The page then keeps its language. */
export const showLanguage = async (wanted: Language): Promise<void> => {
  shown.value = { language: wanted, texts: await languages[wanted]() }
}

/** Some browsers report languages that `Intl` does not know, such as `en-US@posix`. */
const isKnownLocale = (tag: string): boolean => {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

/** The locale of the browser for this language, such as `en-GB`. The page uses it for dates and numbers. */
export const locale = computed(
  () =>
    globalThis.navigator?.languages.find((tag) => tag.toLowerCase().startsWith(language.value) && isKnownLocale(tag)) ??
    language.value,
)
