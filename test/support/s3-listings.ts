import { type S3Answer, type S3Request, xmlAnswer } from './s3-messages.ts'
import { sizeOf } from './s3-pieces.ts'
import { compare, invalidArgument, type Versions } from './s3-versions.ts'
import { tag, urlEncoded } from './s3-xml.ts'

type Query = NonNullable<S3Request['query']>

/** S3 has no fractions of seconds. */
const wholeSecond = (moment: Date): string => `${moment.toISOString().slice(0, 19)}.000Z`

const folderOf = (key: string, prefix: string, delimiter: string): string | undefined => {
  const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1
  return end < 0 ? undefined : key.slice(0, end + 1)
}

/** At most this many keys after `after`, in order. If there is a delimiter, they are grouped into folders. */
const entriesBehind = (
  { endOf, keys, present, startBehind }: Versions,
  after: string,
  prefix: string,
  delimiter: string,
  most: number,
): string[] => {
  const entries: string[] = []
  const end = endOf(prefix)
  let index = startBehind(after, prefix)
  while (index < end && entries.length < most) {
    const key = keys[index++] ?? ''
    if (key === after || !present(key)) continue
    const folder = folderOf(key, prefix, delimiter)
    entries.push(folder ?? key)
    if (folder !== undefined) index = endOf(folder)
  }
  return entries
}

export const listObjects = (versions: Versions, query: Query): S3Answer => {
  const text = (name: string) => String(query[name] ?? '')
  const delimiter = text('delimiter')
  const write = text('encoding-type') === 'url' ? urlEncoded : String
  const most = Number(query['max-keys'] ?? 1000)
  const entries = entriesBehind(versions, text('start-after'), text('prefix'), delimiter, most + 1)
  const shown = entries.slice(0, most).map((key) => {
    const version = versions.present(key)
    // A key that ends in the delimiter also counts as that folder.
    if (!version || (delimiter && key.endsWith('/') && key !== query['prefix'])) {
      return `<CommonPrefixes>${tag('Prefix', write(key))}</CommonPrefixes>`
    }
    const described = tag('Size', sizeOf(version.pieces)) + tag('LastModified', wholeSecond(version.modified))
    return `<Contents>${tag('Key', write(key))}${tag('ETag', `"${version.etag}"`)}${described}</Contents>`
  })
  return xmlAnswer('ListBucketResult', tag('IsTruncated', `${shown.length < entries.length}`) + shown.join(''))
}

/** Versions and delete markers behind a key or version. A delimiter folds entries of a folder into one. */
const statesBehind = ({ endOf, keys, startBehind, versionsOf }: Versions, query: Query) => {
  const text = (name: string) => String(query[name] ?? '')
  const [prefix, key, id] = [text('prefix'), text('key-marker'), text('version-id-marker')]
  return keys.slice(startBehind(key, prefix), endOf(prefix)).flatMap((one) => {
    const versions = versionsOf(one).map((version, at) => ({ ...version, key: one, isLatest: at === 0 }))
    if (!key || compare(one, key) > 0) return versions
    if (one !== key || !id) return []
    const index = versions.findIndex((version) => version.id === id)
    if (index < 0) throw invalidArgument()
    return versions.slice(index + 1)
  })
}

const describeState = (state: ReturnType<typeof statesBehind>[number], write: (key: string) => string): string => {
  const { key, id, isLatest, pieces, etag, modified } = state
  const kind = pieces ? 'Version' : 'DeleteMarker'
  const known = tag('IsLatest', `${isLatest}`) + tag('LastModified', wholeSecond(modified))
  const content = pieces ? tag('Size', sizeOf(pieces)) + tag('ETag', `"${etag}"`) : ''
  return `<${kind}>${tag('Key', write(key))}${tag('VersionId', id)}${known}${content}</${kind}>`
}

export const listVersions = (versions: Versions, query: Query): S3Answer => {
  const isEncoded = query['encoding-type'] === 'url'
  const write = isEncoded ? urlEncoded : String
  const [prefix = '', delimiter = ''] = ['prefix', 'delimiter'].map((name) => String(query[name] ?? ''))
  // A folder appears once, at its first entry.
  const entries = new Map<string, { readonly key: string; readonly id: string }>()
  for (const state of statesBehind(versions, query)) {
    const folder = folderOf(state.key, prefix, delimiter)
    if (folder === undefined) entries.set(describeState(state, write), state)
    else entries.set(`<CommonPrefixes>${tag('Prefix', write(folder))}</CommonPrefixes>`, { key: folder, id: '' })
  }
  const shown = [...entries].slice(0, Number(query['max-keys'] ?? 1000))
  const last = shown.length < entries.size ? shown.at(-1)?.[1] : undefined
  const next = last ? tag('NextKeyMarker', write(last.key)) + tag('NextVersionIdMarker', last.id) : ''
  const about = tag('IsTruncated', `${last !== undefined}`) + (isEncoded ? tag('EncodingType', 'url') : '')
  return xmlAnswer('ListVersionsResult', about + next + shown.map(([xml]) => xml).join(''))
}
