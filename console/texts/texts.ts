import { computed, signal } from '@preact/signals'
import { de } from './de.ts'
import { en, type Texts } from './en.ts'

/** All languages: a further one is a file beside these, with the keys of `en.ts`. */
const languages = { en, de } satisfies Record<string, Texts>
export type Language = keyof typeof languages
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

export const isLanguage = (text: unknown): text is Language => typeof text === 'string' && text in languages

/** The first language of the reader that there is. */
export const preferredLanguage = (wanted: readonly string[]): Language =>
  wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? 'en'

export const language = signal<Language>('en')

/** What is said, in the language of the page. */
export const texts = computed<Texts>(() => languages[language.value])

/** How dates and numbers are written: as the reader's own browser does in that language, such as `en-GB`. */
export const locale = computed(
  () => globalThis.navigator?.languages.find((tag) => tag.toLowerCase().startsWith(language.value)) ?? language.value,
)
