import type { AreaRight } from '../page/rights.ts'
import { viewTexts } from '../texts/view-texts.ts'

/** The types of changes that a webhook can report, with the right to read them (V-1). */
const subjects = {
  files: { types: ['file.*', 'folder.*', 'workflow.*'], right: 'files:read' },
  forms: { types: ['form.*', 'field.*'], right: 'forms:read' },
  categories: { types: ['category.*', 'object.*', 'link.*'], right: 'categories:read' },
  access: { types: ['user.*', 'key.*', 'token.*', 'issuer.*', 'rule.*', 'webhook.*'], right: 'access:read' },
} as const satisfies Record<string, { readonly types: readonly string[]; readonly right: AreaRight }>

export type Reported = keyof typeof subjects

export const reportable: readonly Reported[] = ['files', 'forms', 'categories', 'access']

export const rightFor = (subject: Reported): AreaRight => subjects[subject].right

/**
 * If all subjects are chosen, the list is empty, which means every type. The webhook then also reports imports and
 * changes of the site.
 */
export const typesOf = (chosen: readonly Reported[]) =>
  chosen.length === reportable.length ? [] : chosen.flatMap((subject) => [...subjects[subject].types])

/** The rights that a change of a webhook with these types needs, besides `access:write` (V-1). */
export const rightsToChange = (types: readonly string[]): readonly string[] => {
  const kinds = new Set(types.map((type) => type.split('.')[0]))
  // An import may change both.
  const isOfImport = (subject: Reported) => kinds.has('content') && (subject === 'forms' || subject === 'categories')
  const isReported = (subject: Reported) =>
    isOfImport(subject) || subjects[subject].types.some((type) => kinds.has(type.split('.')[0]))
  return ['history:read', ...reportable.filter((subject) => types.length === 0 || isReported(subject)).map(rightFor)]
}

/** Names the subjects whose types are all in the list, then the remaining types. */
export const describeTypes = (types: readonly string[]): string => {
  const t = viewTexts.value.webhooks
  if (types.length === 0) return viewTexts.value.history.everything
  const whole = reportable.filter((subject) => subjects[subject].types.every((type) => types.includes(type)))
  const named = new Set<string>(whole.flatMap((subject) => [...subjects[subject].types]))
  return [...whole.map((subject) => t.subjects[subject]), ...types.filter((type) => !named.has(type))].join(', ')
}
