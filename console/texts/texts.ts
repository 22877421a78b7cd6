import { computed, signal } from '@preact/signals'
import { en, type Texts } from './en.ts'

/** All languages: a further one is a file beside these, with the keys of `en.ts`. It is asked for when it is wanted. */
const languages = {
  en: async (): Promise<Texts> => en,
  de: async (): Promise<Texts> => (await import('./de.ts')).de,
}
export type Language = keyof typeof languages
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

export const isLanguage = (text: unknown): text is Language => typeof text === 'string' && text in languages

/** The first language of the reader that there is. */
export const preferredLanguage = (wanted: readonly string[]): Language =>
  wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? 'en'

const shown = signal<{ readonly language: Language; readonly texts: Texts }>({ language: 'en', texts: en })

export const language = computed<Language>(() => shown.value.language)

/** The texts in the language of the page. */
export const texts = computed<Texts>(() => shown.value.texts)

/** Shows the page in a language. Rejects when its texts cannot be read; the page stays as it is then. */
export const showLanguage = async (wanted: Language): Promise<void> => {
  shown.value = { language: wanted, texts: await languages[wanted]() }
}

/** Some browsers name languages that they cannot write in themselves, such as `en-US@posix`. */
const isWritten = (tag: string): boolean => {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

/** The format of dates and numbers: the locale of the browser for this language, such as `en-GB`. */
export const locale = computed(
  () =>
    globalThis.navigator?.languages.find((tag) => tag.toLowerCase().startsWith(language.value) && isWritten(tag)) ??
    language.value,
)
