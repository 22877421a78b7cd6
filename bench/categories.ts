import { storesOver } from '../test/support/every-operation.ts'
import { askOver } from './categories/ask.ts'
import { measureBadInput } from './categories/bad-input.ts'
import { storeLibrary } from './categories/library.ts'
import { measureLinkTimes, measureLinkUnits } from './categories/link-cost.ts'
import { measureListTimes } from './categories/list-times.ts'
import { measureListUnits } from './categories/list-units.ts'
import { onMachine, onTables } from './grounds.ts'
import { meter } from './meter.ts'
import type { Bench, Table } from './table.ts'

/** As `npm start` has it unless told otherwise. */
const longestList = 20_000

const measureOnMachine = (): Promise<readonly Table[]> =>
  onMachine(async ({ stores, directory }) => {
    const token = await storeLibrary(stores)
    const ask = askOver(stores, token, longestList)
    return [...(await measureListTimes(directory.path, token)), await measureLinkTimes(ask), await measureBadInput(ask)]
  })

const measureOnTables = (): Promise<readonly Table[]> =>
  onTables(async (documents) => {
    const stores = storesOver(documents)
    const ask = askOver(stores, await storeLibrary(stores))
    const takeConsumed = meter(documents)
    // Finds out who calls.
    await ask('GET', '/webresources/api/v3/sites/1001/categories')
    return [await measureListUnits(ask, takeConsumed), await measureLinkUnits(ask, takeConsumed)]
  })

/** How lists of a category grow with it, and what linking and hostile requests cost: times on one machine, units in DynamoDB. Takes some minutes. */
export const categories: Bench = async () => [...(await measureOnMachine()), ...(await measureOnTables())]
