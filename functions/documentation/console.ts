import { readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { cachedLookup } from '../../lib/core/cached-lookup.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { isMissing } from '../../lib/core/system-failures.ts'
import type { PublicOperation } from '../../lib/http/operation.ts'
import { type Reply, text } from '../../lib/http/reply.ts'
import { acceptsGzip, tagOfText } from '../../lib/http/representation.ts'
import type { DocumentationDeps } from '../../lib/service/deps.ts'
import { pagePolicy } from './reference.ts'

// Only files with these extensions are served.
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
}

// The console shows stored pages in a frame with these headers. The pages run no script, load nothing, and cannot reach
// the console (K-45).
const frame = {
  file: 'frame.html',
  headers: {
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'self'",
  },
}

// The build names files by their content: `main-4QZ7XK2A.js`.
const isHashed = (name: string): boolean => /-[A-Za-z0-9]{8}\.\w+$/.test(name)

const notBuilt = { message: 'The console is not built. Run "npm run build:console", then repeat the request.' }

const readText = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

// The page runs only scripts of the service, and sends requests only to the data centres and the download URL. Trusted
// Types prevent the page from turning texts into HTML.
const policy = async ({ findDataCentres, downloadsUrl }: DocumentationDeps): Promise<string> => {
  const urls = [...(await findDataCentres()).map(({ url }) => url), ...(downloadsUrl ? [downloadsUrl] : [])]
  const origins = [...new Set(urls.map((url) => new URL(url).origin))].join(' ')
  const more = "frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
  return `${pagePolicy('blob:', origins)}; media-src 'self' ${origins}; ${more}`
}

// Features that the page does not use. The page may write to the clipboard, but not read it.
const unusedFeatures =
  'accelerometer autoplay camera clipboard-read display-capture geolocation gyroscope hid magnetometer ' +
  'microphone midi payment picture-in-picture publickey-credentials-get screen-wake-lock serial sync-xhr usb'

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': unusedFeatures.replaceAll(/\S+/g, '$&=()').replaceAll(' ', ', '),
}

/**
 * The console. Its addresses are relative, so the console works behind any prefix. 404/100004 if the console is not
 * built.
 */
export const getConsole: PublicOperation<DocumentationDeps> = async ({ path }, deps) => {
  if (path.endsWith('/')) return { status: 308, headers: { Location: '../console' } }
  const built = await readText(join(deps.consoleFolder, 'index.html'))
  if (built === undefined) throw new ServiceError('routeUnknown', notBuilt)
  const page = built.replace('%keptDays%', String(deps.keptDays)).replace('%baseUrl%', (await deps.findBaseUrl()) ?? '')
  const headers = { ...isolation, 'Content-Security-Policy': await policy(deps) }
  return { ...text('text/html', page, tagOfText(page)), headers }
}

const load = async (file: string): Promise<{ readonly plain: Reply; readonly gzipped: Reply }> => {
  const isFrame = basename(file) === frame.file
  const type = isFrame ? 'text/html' : types[extname(file)]
  const content = type && (await readText(file))
  if (type === undefined || content === undefined) throw new ServiceError('routeUnknown')
  const headers = {
    Vary: 'Accept-Encoding',
    ...(isFrame && frame.headers),
    ...(isHashed(file) && { 'Cache-Control': 'public, max-age=31536000, immutable' }),
  }
  const plain = { ...text(type, content, tagOfText(content)), headers }
  const bytes = await promisify(gzip)(content, { level: 9 })
  const gzipped = {
    status: 200,
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    content: { type: `${type}; charset=utf-8`, length: bytes.length, bytes, elsewhere: async () => plain },
  }
  return { plain, gzipped }
}

const assetOf = cachedLookup(load)

/** A file of the console. 404/100004 for other names. */
export const getConsoleAsset: PublicOperation<DocumentationDeps> = async (request, { consoleFolder }) => {
  const name = request.params['file'] ?? ''
  if (!/^[\w-]+(\.[\w-]+)+$/.test(name)) throw new ServiceError('routeUnknown')
  const file = join(consoleFolder, name)
  // The content of a file without a hash in its name changes with the next build.
  const { plain, gzipped } = await (isHashed(name) ? assetOf(file) : load(file))
  return acceptsGzip(request) ? gzipped : plain
}
