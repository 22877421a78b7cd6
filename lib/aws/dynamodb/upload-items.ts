import { storedId } from '../../core/ids.ts'
import type { Holding, Target, Upload } from '../../storage/uploads/upload.ts'
import { bytes, type Columns, flag, nested, nullable, number, optional, readColumns, text } from './columns.ts'

// The MD5 sums of all parts, joined: at most 640 of them, or 10 KiB.
interface StoredHolding extends Pick<Holding, 'name' | 'tail'> {
  readonly parts: Uint8Array
}

export interface UploadItem extends Omit<Upload, 'id' | 'site' | 'isComplete' | 'expires' | 'holding'> {
  readonly site: number
  readonly complete: boolean
  readonly ends: number
  readonly holding: StoredHolding | null
}

const targetColumns: Columns<Target> = {
  path: text,
  folder: optional(text),
  asDraft: flag,
  keepsDraft: optional(flag),
  key: text,
  contentType: text,
  ifMatch: optional(text),
  ifNoneMatch: optional(text),
}

const columns: Columns<UploadItem> = {
  site: number,
  user: text,
  target: nested(targetColumns),
  metadata: text,
  limit: number,
  length: nullable(number),
  offset: number,
  complete: flag,
  created: number,
  ends: number,
  holding: nullable(nested<StoredHolding>({ name: text, parts: bytes, tail: nullable(text) })),
}

export const storedHolding = ({ name, parts, tail }: Holding): StoredHolding => ({
  name,
  parts: Buffer.from(parts.join(''), 'hex'),
  tail,
})

const toHolding = ({ name, parts, tail }: StoredHolding): Holding => ({
  name,
  parts: Buffer.from(parts).toString('hex').match(/.{32}/g) ?? [],
  tail,
})

export const itemOf = ({ isComplete, expires, holding, id: _, ...upload }: Upload): UploadItem => ({
  ...upload,
  holding: holding && storedHolding(holding),
  complete: isComplete,
  ends: expires,
})

/** Throws an Error when the item is damaged. */
export const toUpload = (id: string, item: object): Upload => {
  const { site, complete, ends, holding, ...upload } = readColumns('The record of an upload', item, columns)
  return {
    ...upload,
    id,
    site: storedId(site),
    isComplete: complete,
    expires: ends,
    holding: holding && toHolding(holding),
  }
}
