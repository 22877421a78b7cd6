import { root, type StoragePath } from '../lib/storage/path.ts'

/** What lies below a folder comes, in the order of the bytes of its path, from here on … */
export const insideFolder = (folder: StoragePath): string => (folder === root ? '' : `${folder}/`)

/** … and before this: `0` follows `/`. Whatever is text comes before bytes. */
export const behindFolder = (folder: StoragePath): string | Uint8Array =>
  folder === root ? new Uint8Array() : `${folder}0`
