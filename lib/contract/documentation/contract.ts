import * as z from 'zod/mini'
import { type GroupContract, named, ok, parameter, text } from '../contract.ts'
import { referenceAssets } from '../routes/documentation.ts'

const openApi = named(
  z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
  'OpenApi',
  'An OpenAPI document.',
)

export const serviceTag = { name: 'Service', description: 'The service and its documentation, without a token.' }

export const documentationContract: GroupContract<'documentation'> = {
  tag: serviceTag,
  shownByAddress: true,
  parameters: {
    asset: parameter('The name of the file.', 'swagger-ui.css', z.enum(Object.keys(referenceAssets))),
    file: text('The name of the file, as the page spells it.', 'licenses.txt'),
  },
  operations: {
    getOpenApi: {
      summary: 'Read this document',
      answers: ok('The document, with the address of the data centre that answers.', openApi, { headers: ['ETag'] }),
    },
    getReference: {
      summary: 'Read this document as a page',
      answers: { 200: { description: 'The page.', mediaTypes: ['text/html'] } },
    },
    getReferenceAsset: {
      summary: 'Get a file of the page',
      answers: ok('The file.', undefined, {
        mediaTypes: Object.values(referenceAssets).map(({ type }) => type),
        headers: ['ETag'],
      }),
      examples: Object.keys(referenceAssets).map((asset) => ({ path: { asset } })),
    },
    getConsole: {
      summary: 'Open the console',
      description:
        'A page for people. It asks for a token, or reads it from `#token=` in the address, which browsers ' +
        'never send to a server.',
      answers: {
        200: { description: 'The page.', mediaTypes: ['text/html'], headers: ['ETag'] },
        308: {
          description: 'The correct address of the page: the requested one had a slash at its end.',
          headers: ['Location'],
        },
      },
    },
    getConsoleAsset: {
      summary: 'Get a file of the console',
      description:
        'A name with a hash changes with the content, so caches may keep the file. The answer is compressed ' +
        'if the request accepts compression.',
      answers: ok('The file.', undefined, {
        mediaTypes: ['application/octet-stream', '*/*'],
        optionalHeaders: ['ETag', 'Cache-Control'],
      }),
    },
  },
}
