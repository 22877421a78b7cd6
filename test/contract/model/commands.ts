import type fc from 'fast-check'
import { expect } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import type { BothSites, Question } from './both-stores.ts'
import type { SiteModel } from './site-model.ts'

/** Checks the answer against the model, or applies the change to the model. */
export type Learn = (model: SiteModel, answer: Answer, sites: BothSites) => void | Promise<void>

/** The request as a report shows it. A long body is cut. */
const describeQuestion = ({ method, path, api: _, ...more }: Question): string =>
  `${method} ${path} ${JSON.stringify(more).slice(0, 300)}`

export const request = (question: Question, learn: Learn = () => {}): fc.AsyncCommand<SiteModel, BothSites> => ({
  check: () => true,
  run: async (model, sites) => learn(model, await sites.ask(question), sites),
  toString: () => describeQuestion(question),
})

/** Lists have totals and are sorted by id (C-2, C-3, C-20). */
export const expectLinks = ({ links }: SiteModel, answer: Answer, prefix: string): void => {
  if (answer.status !== 200) return
  const { items } = answer.json as { readonly items: readonly Record<string, number>[] }
  const expected = [...links].filter(([key]) => key.startsWith(prefix)).sort()
  expect(items.map(({ objectId, displayable }) => [`${prefix}${objectId}`, displayable])).toEqual(expected)
}

/** Fields are listed in their order (F-1). */
export const expectFields = ({ fields }: SiteModel, answer: Answer): void => {
  const { items } = answer.json as { readonly items: readonly Record<string, unknown>[] }
  const expected = [...fields].sort(([one], [other]) => one - other).map(([order, field]) => ({ ...field, order }))
  expect(items.map(({ id, mandatory, order }) => ({ id, mandatory, order }))).toEqual(expected)
}

/** Names are exact, drafts fall back to the live file, and a missing file cannot be deleted (S-3, S-71, S-92). */
export const expectFile = (
  { files, drafts, folders, hasOtherDrafts }: SiteModel,
  answer: Answer,
  path: string,
  asDraft: boolean,
): void => {
  if (asDraft && hasOtherDrafts && !drafts.has(path)) return
  const content = (asDraft ? drafts.get(path) : undefined) ?? files.get(path)
  const { status, text } = answer
  if (content !== undefined) expect({ status, text }).toEqual({ status: 200, text: content })
  const names = [files, drafts, folders].flatMap((part) => [...part.keys()])
  if (!names.some((name) => name.toLowerCase() === path.toLowerCase())) expect(status).toBe(404)
}
