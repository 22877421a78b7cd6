import { Refusal } from './refusal.ts'

interface Creation<Id extends number> {
  /** The id that a person has asked for. */
  readonly wanted: Id | undefined
  /** The lowest id that is given to something without a wish: the one behind the highest that there is. */
  readonly next: () => Promise<number>
  readonly largest: number
  /** Answers false, and creates nothing, when the id is taken. */
  readonly create: (id: Id) => Promise<boolean>
  /** The beginning of what a person is told whose id is taken. */
  readonly taken: string
}

/** Creates something under the id that is wanted, or else under the next one, and answers the id. Throws a Refusal. */
export const createUnderId = async <Id extends number>(creation: Creation<Id>): Promise<Id> => {
  const { wanted, next, largest, create, taken } = creation
  if (wanted !== undefined) {
    if (await create(wanted)) return wanted
    throw new Refusal(`${taken} ${wanted} already. Choose another --id, or leave it out.`)
  }
  // Another command may take the next id at the same moment; the one after it will do as well.
  for (let id = await next(); id <= largest; id++) {
    if (await create(id as Id)) return id as Id
  }
  throw new Refusal('The ids behind the highest one are used up. Choose a free one with --id.')
}
