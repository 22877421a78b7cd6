import { afterEach, expect, test, vi } from 'vitest'
import { formatDuration, formatMoment, formatSize } from '../../../console/parts/format.ts'
import { de } from '../../../console/texts/de.ts'
import { en } from '../../../console/texts/en.ts'
import { enViews } from '../../../console/texts/en-views.ts'
import { preferredLanguage, showLanguage, texts } from '../../../console/texts/texts.ts'

afterEach(async () => {
  vi.unstubAllGlobals()
  await showLanguage('en')
})

const speak = async (language: 'en' | 'de', ...languages: string[]) => {
  vi.stubGlobal('navigator', { languages })
  await showLanguage(language)
}

test('the page uses the first of the languages of the user that it supports', () => {
  expect(preferredLanguage(['fr-CA', 'de-AT', 'en'])).toBe('de')
  expect(preferredLanguage(['fr'])).toBe('en')
})

test('sizes and durations are formatted in the language of the page', async () => {
  await speak('de', 'de-DE')
  expect([0, 999, 1500, 999_999, 5_400_000_000].map((size) => formatSize(size).replaceAll('\u00a0', ' '))).toEqual([
    ...['0 B', '999 B', '1,5 kB', '1.000 kB', '5,4 GB'],
  ])
  expect(formatDuration(200).replace('\u00a0', ' ')).toBe('3 Min.')
  await speak('en', 'en-GB')
  expect(formatSize(1500)).toBe('1.5 kB')
})

test('a time without a zone is UTC, and an invalid time is shown unchanged', async () => {
  await speak('en', 'en-GB')
  expect(formatMoment('2026-09-04T09:00:00')).toBe(formatMoment('2026-09-04T09:00:00Z'))
  expect(formatMoment('soon')).toBe('soon')
  expect(formatMoment('2026-09-04')).toBe('4 Sept 2026')
})

test('words are in the singular or plural in both languages (H-14)', async () => {
  const counted = () => [texts.value.uploads.stillMissing, texts.value.files.comesBack, texts.value.files.deletedNone]
  const printed = () => counted().flatMap((text) => [text(1), text(2)])
  expect(printed()).toEqual([
    '1 file is still missing or different.',
    '2 files are still missing or different.',
    'You can restore deleted items for 1 day.',
    'You can restore deleted items for 2 days.',
    'Nothing was deleted from this site in the last 24 hours.',
    'Nothing was deleted from this site in the last 2 days.',
  ])
  await speak('de', 'de-DE')
  expect(printed()).toEqual([
    '1 Datei fehlt noch oder ist anders.',
    '2 Dateien fehlen noch oder sind anders.',
    'Gelöschtes können Sie 1 Tag lang wiederherstellen.',
    'Gelöschtes können Sie 2 Tage lang wiederherstellen.',
    'Auf dieser Website wurde in den letzten 24 Stunden nichts gelöscht.',
    'Auf dieser Website wurde in den letzten 2 Tagen nichts gelöscht.',
  ])
})

test('a browser with an unknown language tag gets a default language', async () => {
  await speak('en', 'en-US@posix')
  expect(texts.value.cancel).toBe('Cancel')
  expect(formatSize(2500)).toBe('2.5 kB')
})

/** Every text by its key, with its type: either a text, or a function that returns a text. */
const kindsOf = (some: object, way = ''): readonly string[] =>
  Object.entries(some).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? kindsOf(value, `${way}${name}.`)
      : [`${way}${name}: ${typeof value}${value === '' ? ', empty' : ''}`],
  )

test('English and German have the same keys, each with a text (K-18)', () => {
  const english = { ...en, ...enViews }
  expect(kindsOf(de).toSorted()).toEqual(kindsOf(english).toSorted())
  expect([...kindsOf(de), ...kindsOf(english)].filter((kind) => kind.endsWith('empty'))).toEqual([])
})
