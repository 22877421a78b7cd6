import { registerHooks } from 'node:module'

// Every process that starts with this module reads another source of one file. The file itself stays as it is.

const { CHANGED_FILE, CHANGED_SOURCE = '' } = process.env

registerHooks({
  load: (url, context, next) =>
    url === CHANGED_FILE
      ? { format: 'module-typescript', source: CHANGED_SOURCE, shortCircuit: true }
      : next(url, context),
})
