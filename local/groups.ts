import type { Server } from 'node:http'
import { createCategoriesHandler } from '../functions/categories/group.ts'
import { createDocumentationHandler } from '../functions/documentation/group.ts'
import { createFieldsHandler } from '../functions/fields/group.ts'
import { createStorageHandler } from '../functions/storage/group.ts'
import type { MachineSettings } from '../lib/config.ts'
import { createCategoriesDeps, createDocumentationDeps, createFieldsDeps, createStorageDeps } from '../lib/deps.ts'
import type { Telemetry } from '../lib/http/observe.ts'
import type { Stores } from '../lib/stores.ts'
import { createServer, dispatch } from '../server/create-server.ts'

interface Options {
  readonly dataCentre: string
  /** All data centres of a machine share them. */
  readonly stores: Stores
  readonly settings: MachineSettings
  readonly telemetry: Telemetry
}

/** A server that answers for one data centre, with the operations of all groups. It does not listen yet. */
export const serverFor = ({ dataCentre, stores, settings, telemetry }: Options): Server => {
  const here = { dataCentre, ...settings }
  const surroundings = { telemetry }
  return createServer(
    dispatch({
      documentation: createDocumentationHandler(createDocumentationDeps(here, stores, surroundings)),
      fields: createFieldsHandler(createFieldsDeps(here, stores, surroundings)),
      categories: createCategoriesHandler(createCategoriesDeps(here, stores, surroundings)),
      storage: createStorageHandler(createStorageDeps(here, stores, surroundings)),
    }),
  )
}
