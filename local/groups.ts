import type { Server } from 'node:http'
import { createCategoriesHandler } from '../functions/categories/group.ts'
import { createDocumentationHandler } from '../functions/documentation/group.ts'
import { createFieldsHandler } from '../functions/fields/group.ts'
import { catchAllGroup, prefixes } from '../functions/routes.ts'
import { createStorageHandler } from '../functions/storage/group.ts'
import type { MachineSettings } from '../lib/config.ts'
import { createCategoriesDeps, createDocumentationDeps, createFieldsDeps, createStorageDeps } from '../lib/deps.ts'
import type { Handler } from '../lib/http/handler.ts'
import type { Telemetry } from '../lib/http/observe.ts'
import type { Stores } from '../lib/stores.ts'
import { createHttpServer } from '../server/http-server.ts'

interface Options {
  readonly dataCentre: string
  readonly stores: Stores
  readonly settings: MachineSettings
  readonly telemetry: Telemetry
}

/** The handlers of all groups in one data centre, which shares its stores with the others. */
const handlersOf = ({ dataCentre, stores, settings, telemetry }: Options): Readonly<Record<string, Handler>> => {
  const here = { dataCentre, ...settings }
  const surroundings = { telemetry }
  return {
    documentation: createDocumentationHandler(createDocumentationDeps(here, stores, surroundings)),
    fields: createFieldsHandler(createFieldsDeps(here, stores, surroundings)),
    categories: createCategoriesHandler(createCategoriesDeps(here, stores, surroundings)),
    storage: createStorageHandler(createStorageDeps(here, stores, surroundings)),
  }
}

/** A server that answers for one data centre. */
export const serverFor = (options: Options): Server => {
  const handlers = handlersOf(options)
  return createHttpServer((path) => {
    const group =
      prefixes.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))?.group ?? catchAllGroup
    const handler = handlers[group]
    if (!handler) throw new Error(`There is no handler for the group ${group}`)
    return handler
  })
}
